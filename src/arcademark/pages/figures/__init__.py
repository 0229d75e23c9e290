"""Figures: what one is made of (`model`), what draws it (`drawing`, `pictures`), what writes it (`files`)."""
