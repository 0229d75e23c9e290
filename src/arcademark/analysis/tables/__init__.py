"""Tables of scores: loading, benchmarks, protocols, plausibility, and the result types of their analyses."""
