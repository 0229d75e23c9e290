"""Results: from score tables and run records to frozen, fully computed dataclasses, whose fields are the JSON.

* ``tables``: loading of tables and benchmarks. ``scoring``: `score`, `report` and `compare`.
* ``runs``: run directories: listing, progress, ledger, tuning, learning curves, notices.
* ``subsets``: searches, predictions and studies. ``reproductions``: papers beside their recomputation.
* `catalogue`: published scores. ``site``: the leaderboard's data.

Several of these use `published`, `citations`, `measures` and `cells`. `arcademark.pages` shows results.
"""
