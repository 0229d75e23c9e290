"""Trainers of libraries: a module a library, which is imported where it is used.

::

    stable_baselines.py  Stable-Baselines3 and sb3-contrib
    algorithms.py        every algorithm of the review: what trains it here
"""
