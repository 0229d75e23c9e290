"""From screens and memory to what an agent sees: `making`, with its fast `kernels` and `area`; `spaces`."""
