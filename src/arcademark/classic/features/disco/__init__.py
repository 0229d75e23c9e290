"""DISCO: objects of discovered classes, where they are and how they move to each other."""
