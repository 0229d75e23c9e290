"""A console of our own: the Atari 2600 as ale-py models it, in C."""
