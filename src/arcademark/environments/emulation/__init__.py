"""Emulators: `console` is their contract, `atari` is ale-py, `described` a user's own game on it.

`native` is our own console. `generative` is a game as planners search it, `emulator_state` its states; `modified`
writes to a game's memory. `facts` and `palettes` are what was measured of ale-py.
"""
