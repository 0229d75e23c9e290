"""A run's directory: its manifest and database, written by one process and read by any.

`manifest` says what was asked for, and `provenance` of which code and machine; `database` is the layout and what its
tables may hold, `recording` the one writer; `reading`, `live` and `ledger` read a whole run, its progress, and many
runs; `rows` refuses what does not belong in one, `repeats` finds equal episodes, `seal` tells this user's own state of
one; `merging`, `combined`, `salvage` and `imported` make runs of other runs, of damaged ones, and of logs. Reaches no
emulator.
"""
