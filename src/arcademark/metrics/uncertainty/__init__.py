"""Uncertainty from few episodes and runs: bootstraps (`bootstrap`), `intervals`.

`tolerance` computes intervals of single runs; `coverage` has the coverage of intervals in simulations.
"""
