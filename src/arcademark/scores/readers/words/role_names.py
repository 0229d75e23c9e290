"""Roles of a table's columns, and their names: data that the leaderboard's page shares."""

import json
from importlib.resources import files
from typing import Any, TypeAlias

Role: TypeAlias = str
RULES: dict[str, Any] = json.loads(
    files("arcademark.scores.readers").joinpath("data/roles.json").read_text(encoding="utf-8")
)
"""Names, words, patterns and questions that determine roles; names and words are in lower case."""

ROLES: tuple[str, ...] = tuple(RULES["roles"])
"""Roles of columns; ``value`` is an algorithm's or a game's scores, whatever the column is called."""
