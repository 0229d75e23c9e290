"""Analyses of subsets: searches, predictions, studies and coverage."""
