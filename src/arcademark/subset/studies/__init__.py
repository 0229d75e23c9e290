"""Put chosen subsets and their models to the test: on papers left out, and beside true values.

It may touch `predict` and `search`; neither touches it.
"""
