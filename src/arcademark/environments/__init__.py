"""Environments under a protocol: `base` is the contract, `registry` opens one, `play` plays its steps.

* ``emulation``: emulators, which play frames: ale-py, its states, modified games. `native` is our own emulator.
* ``observations``: from screens and memory to what an agent sees.
* ``interfaces``: the same environments for Gymnasium, as vectors, and for programs in any language.

`generative` is the model that planners search; `tasks` makes environments of other suites; `toy` is a game for tests.
"""
