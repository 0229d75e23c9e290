"""Trainers of libraries: one module per library, imported at first use.

::

    network.py           their base: a network's settings, checkpoints and play
    stable_baselines.py  the algorithms of Stable-Baselines3 and sb3-contrib; model.py trains and saves one
    algorithms.py        every algorithm of the review, with its agent here
"""
