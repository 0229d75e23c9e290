"""How long trials take and in which order they begin: progress, expected lengths, measured speed."""
