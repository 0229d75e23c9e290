"""A protocol made runnable: `base` is the contract, `registry` opens an environment, `play` plays a step of it.

* ``emulation``: what plays frames: ale-py, our own console, states and modified games.
* ``observations``: from screens and memory to what an agent sees.
* ``interfaces``: the same environments for others: Gymnasium, vectors, programs in any language.

`tasks` makes environments of other suites than Atari; `toy` is the game of tests.
"""
