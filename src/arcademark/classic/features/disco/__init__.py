"""DISCO: features of objects in discovered classes, of their positions and relative motion."""
