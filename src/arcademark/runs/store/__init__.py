"""Writes a run's directory, whose format and readers are `arcademark.records`: one process writes, any read.

`recording` is the one writer, `entering` begins a run or continues it with what a plan asks for, `provenance` says of
which code and machine, `seal` tells this user's own state of a run; `merging`, `salvage` and `importing` make runs of
other runs, of damaged ones, and of logs.
"""
