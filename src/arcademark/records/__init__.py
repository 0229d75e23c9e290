"""A run's directory as a file format: its contents and their readers.

`manifest` is the request; `database` defines and checks the tables; `model` has the records; `reading`, `live` and
`ledger` read a whole run, its progress, and many runs; `queue` asks SLURM for its jobs; `rows` reads and checks its
episodes; `repeats` finds equal episodes, `randomness` returns their generators; `combined` reads several runs as one,
`imported` describes runs from logs. No emulator is needed.
"""
