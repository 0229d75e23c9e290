"""Papers recomputed: what is printed beside what we compute, and what shows it."""
