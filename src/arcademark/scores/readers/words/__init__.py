"""Meaning of what people write: names of columns, roles, numbers, and tools' names of logs and series."""
