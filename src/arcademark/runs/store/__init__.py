"""Writing of a run's directory, whose format and readers are `arcademark.records`: one process writes, any may read.

`recording` is the only writer, `entering` begins a run or continues it with a plan, `provenance` records code and
machine, `seal` marks this user's own unfinished episodes; `merging`, `salvage` and `importing` make runs of other runs,
of damaged ones, and of logs.
"""
