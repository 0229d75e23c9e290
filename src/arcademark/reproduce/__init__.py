"""The papers' tables and statements, recomputed and compared with the printed values."""
