"""Reproduction of both texts of the Atari-5 paper from its training table."""
