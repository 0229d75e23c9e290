"""Expected lengths, progress and measured speed of trials; the longest trials begin first."""
