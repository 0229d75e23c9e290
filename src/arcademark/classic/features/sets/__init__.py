"""Feature sets of the papers, and their common parts (`tiles`, `offsets`, `pairs`)."""
