"""How far few episodes and runs leave a number uncertain: bootstraps (`bootstrap`), `intervals`.

`tolerance` has intervals of single runs; `coverage` says how often intervals held the truth in simulations.
"""
