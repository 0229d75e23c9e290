"""Reproduction of the 2013 paper from its recovered scores (collection "ale-2013")."""
