"""The roles that columns of a table can have, and what their names say: data that the leaderboard's page shares."""

import json
from importlib.resources import files
from typing import Any, TypeAlias

Role: TypeAlias = str
RULES: dict[str, Any] = json.loads(files(__package__).joinpath("data/roles.json").read_text(encoding="utf-8"))
"""Names, words, patterns and questions by which roles are told; names and words are in lower case."""

ROLES: tuple[str, ...] = tuple(RULES["roles"])
"""Roles of columns; ``value`` is an algorithm's or a game's scores, whatever the column is called."""
