"""Few tasks that tell most: models that predict a summary of all tasks from some."""
