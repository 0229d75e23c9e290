"""Emulators: `contract` is their interface, `atari` is ale-py, `described` a user's own game on it.

`emulator_state` packs ale-py's states; `modified` writes to a game's memory. `facts` and `palettes` are measurements of
ale-py.
"""
