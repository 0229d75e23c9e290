"""The command line: one file a command, one grammar for all."""
