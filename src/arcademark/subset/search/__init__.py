"""Find the few tasks that best predict a summary of all, and prove that none are better.

It may import the modules of `arcademark.subset` itself (`problem`, `fitting`), but not `predict` and `studies`.
"""
