"""Expected lengths, progress and measured speed of trials, which give the order in which they begin."""
