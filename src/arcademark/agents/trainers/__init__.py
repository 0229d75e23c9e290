"""Trainers of libraries: a module a library, which is imported where it is used.

::

    stable_baselines.py  the algorithms of Stable-Baselines3 and sb3-contrib; model.py trains, keeps and plays one
    algorithms.py        every algorithm of the review: what trains it here
"""
