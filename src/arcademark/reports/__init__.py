"""One analysis, many renderers."""
