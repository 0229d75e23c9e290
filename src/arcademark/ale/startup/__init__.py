"""The folder that `arcademark.ale.install` puts on PYTHONPATH."""
