"""From a sheet to scores: roles of its columns and rows, then a score for each algorithm, game and run."""
