"""Commands that estimate results on all tasks from a few."""
