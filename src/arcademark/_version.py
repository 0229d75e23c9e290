"""The version, for the package itself, for what it writes and for pyproject.toml."""

__version__ = "1.0.0rc1"
