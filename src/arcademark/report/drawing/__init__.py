"""Figures by their forms: what one is made of, what draws it, what writes it to a file."""
