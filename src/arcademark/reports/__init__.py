"""One analysis, many renderers: documents of scores, runs, subsets, papers and the catalogue.

An analysis returns one frozen dataclass, which is its JSON; `presenter` makes a document of it by its template in
``templates/``, with the columns beside its fields (`columns`); renderers write any document.

* ``tables``: scores of tables and runs, `score`, `report` and `compare`. ``runs``: what runs are, took and learned.
* ``subsets``: searches, predictions and studies. ``reproductions``: papers beside what is recomputed.
* ``catalogue``: published scores. ``features``: feature sets. ``site``: a leaderboard. `info`: all that `info` lists.
* ``figures``: what figures show, and their drawing. ``render``: blocks to terminal, page, LaTeX, Markdown and JSON.

`published`, `record`, `measures` and `cells` bring what several of these need.
"""
