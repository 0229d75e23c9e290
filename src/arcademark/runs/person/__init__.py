"""A person plays: the keyboard or a gamepad, a window, and the games recorded as a run."""
