"""Studies of chosen subsets and their models: errors on papers left out, and estimates beside true values.

It may import `predict` and `search`, but not the other way round.
"""
