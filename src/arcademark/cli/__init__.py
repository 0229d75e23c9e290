"""The command line: one file per command, one grammar for all."""
