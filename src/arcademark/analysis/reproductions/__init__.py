"""Papers recomputed: printed numbers beside our recomputation, and their documents."""
