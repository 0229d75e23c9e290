"""Engines, which play trials in this process, in worker processes or on Ray; all give the same scores."""
