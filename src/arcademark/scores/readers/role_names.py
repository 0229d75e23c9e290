"""The roles that columns of a table can have."""

from typing import Literal, get_args

Role = Literal[
    "algorithm",
    "game",
    "run",
    "seed",
    "score",
    "episode",
    "frames",
    "protocol",
    "spread",
    "count",
    "normalised",
    "rank",
    "index",
    "summary",
    "note",
    "value",
]
"""``value``: an algorithm's or a game's scores, whatever the column is called."""

ROLES: tuple[str, ...] = get_args(Role)
