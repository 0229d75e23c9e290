"""Predict a summary of all tasks, and each of them, from a few: by models of chosen tasks, or from any.

It may touch `search`, whose results models are made of, and the modules beside it; nothing of `studies`.
"""
