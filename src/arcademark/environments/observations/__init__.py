"""Observations from screens and memory: `making`, with its fast `kernels` and `area`; `spaces`."""
