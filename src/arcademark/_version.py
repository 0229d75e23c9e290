"""The version, for the package itself, for what it writes and for pyproject.toml."""

__version__ = "0.9.0"
