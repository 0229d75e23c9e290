"""What a table of scores says: one analysis of it, one of two algorithms in it, and what shows them."""
