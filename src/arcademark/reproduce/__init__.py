"""The papers' own tables and statements, recomputed and set side by side with what is printed."""
