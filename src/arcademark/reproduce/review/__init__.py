"""Reproduction of the review from its raw scores."""
