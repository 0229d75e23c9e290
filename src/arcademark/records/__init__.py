"""A run's directory as a file format: what is in it, and its readers.

`manifest` says what was asked for; `database` is the layout and what its tables may hold; `model` has the records;
`reading`, `live` and `ledger` read a whole run, its progress, and many runs; `queue` asks SLURM for its jobs; `rows`
refuses what does not belong in one; `repeats` finds equal episodes, `randomness` their generators; `combined` reads
several runs as one, `imported` what logs say. Reaches no emulator.
"""
