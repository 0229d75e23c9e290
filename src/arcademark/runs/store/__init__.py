"""Write a run's directory (`arcademark.records` defines its format and reads it): one process writes, any may read.

`recording` is the only writer, `entering` begins a run or continues it with a plan, `provenance` records code and
machine, `seal` marks this user's own unfinished episodes; `merging`, `salvage` and `importing` make runs from other
runs, from damaged ones, and from logs.
"""
