"""Results: from score tables and run records to frozen, fully computed dataclasses, whose fields are the JSON.

* ``tables``: tables and benchmarks loaded. ``scoring``: `score`, `report` and `compare`.
* ``runs``: run directories: listing, progress, ledger, tuning, learning curves, notices.
* ``subsets``: searches, predictions and studies. ``reproductions``: papers beside what is recomputed.
* `catalogue`: published scores. ``site``: the leaderboard's data.

`published`, `citations`, `measures` and `cells` bring what several of these need. `arcademark.pages` shows results.
"""
