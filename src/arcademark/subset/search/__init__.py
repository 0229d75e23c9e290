"""Find the few tasks that best predict a summary of all, and prove that none are better.

It may touch the modules beside it (problem, fitting, least squares, progress), and nothing of `predict` and `studies`.
"""
