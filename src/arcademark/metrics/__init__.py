"""Normalised scores and their summaries: pure functions on arrays."""
