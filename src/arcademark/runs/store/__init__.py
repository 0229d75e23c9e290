"""A run's directory: its manifest and database, written by one process and read by any.

`manifest` says what was asked for, `database` is the layout, `recording` the one writer; `reading`, `live` and `ledger`
read a whole run, its progress, and many runs; `checks` and `rows` refuse what does not belong in one; `merging`,
`combined`, `salvage` and `imported` make runs of other runs, of damaged ones, and of logs. Reaches no emulator.
"""
