"""Emulators: `console` is their contract, `atari` is ale-py, `described` a game of one's own on it.

`native` is our own console. `generative` is a game as planners search it, `emulator_state` its states; `modified`
writes to a game's memory. `facts` and `palettes` are what was measured of ale-py.
"""
