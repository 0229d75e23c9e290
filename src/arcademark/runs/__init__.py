"""Planning, playing and recording of trials: `plan` makes the trials, `execution` plays and records them.

* ``playing``: one trial, episode by episode. ``engines``: where trials are played: here, in processes, on Ray.
* ``scheduling``: how long trials take, and in which order they begin. ``person``: a person plays.
* ``store``: writes a run's directory, whose format is `arcademark.records`; merges, salvages and imports runs.
* ``replay``: verifies, renders and exports recorded episodes. ``cluster``: shards of a plan as jobs of SLURM.

`plan` and `store` reach no emulator.
"""
