"""The score table, in which scores from runs, papers and files meet, and its readers."""
