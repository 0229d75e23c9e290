"""What both texts of the Atari-5 paper print and state, recomputed from its training table."""
