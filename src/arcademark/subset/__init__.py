"""The most informative few tasks: models that predict a summary of all tasks from some."""
