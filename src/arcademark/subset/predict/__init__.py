"""Predict a summary of all tasks, and each of them, from a few: by models of chosen tasks, or from any tasks.

It may import `search`, from whose results models are made, and modules of `arcademark.subset`, but not `studies`.
"""
