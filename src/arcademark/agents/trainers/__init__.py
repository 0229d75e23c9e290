"""Trainers of libraries: a module a library, which is imported where it is used.

::

    network.py           what they share: a network's settings, how it is kept and played
    stable_baselines.py  the algorithms of Stable-Baselines3 and sb3-contrib; model.py trains and keeps one
    algorithms.py        every algorithm of the review: what trains it here
"""
