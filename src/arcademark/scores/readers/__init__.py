"""Readers of the tables and logs that people already have, one module a tool or a layout."""
