"""ArcadeMark's own emulator: the Atari 2600 as ale-py models it, in C."""
