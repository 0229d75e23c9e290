"""Plan trials, play them and keep what happened; `plan` says what, `execution` has it played and recorded.

* ``playing``: one trial, episode by episode. ``engines``: where trials are played: here, in processes, on Ray.
* ``store``: a run's directory: written, read, checked, merged. ``replay``: recorded episodes again: verified, watched.
* ``cluster``: shards of a plan as jobs of SLURM.

`plan` and `store` reach no emulator.
"""
