"""Uncertainty from few episodes and runs: bootstraps (`bootstrap`), `intervals`.

`tolerance` has intervals of single runs; `coverage` says how often intervals held the truth in simulations.
"""
