"""Figures: their data (`model`), layouts (`comparisons`, `scores`, …), drawing (`rows`, `curves`, …) and `files`."""
