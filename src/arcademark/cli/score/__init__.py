"""Commands that report and compare scores."""
