"""Analyses of runs, including learners, planners and settings."""
