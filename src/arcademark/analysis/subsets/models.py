"""Look-up of models: published ones by name, or model files."""

from __future__ import annotations

import os
from pathlib import Path

from arcademark.errors import ArcadeMarkError, UnknownNameError
from arcademark.files import read_text
from arcademark.subset.predict import files
from arcademark.subset.predict.model import SubsetModel, from_subset
from arcademark.suite import references
from arcademark.suite.subsets import Subset, subset, subsets

MAX_BYTES = 2**20
"""Largest size of a model file."""
NESTED = ("atari-1", "atari-3", "atari-5", "atari-10")
"""Published models, each of which includes the games of those before it."""
ANY = "any"
"""Word for any games, in place of a model's name."""


def model(name: str) -> SubsetModel:
    """Return a published model by its name, "atari-5", or the model of a file by its path; raise if there is none."""
    if name.lower() in subsets():
        return from_subset(subset(name))
    path = Path(name)
    if path.suffix.lower() == ".json" or os.path.exists(path):
        read = files.loads(read_text(path, MAX_BYTES), str(path))
        unknown = [task for task in read.tasks if task not in references.scores("random")]
        if unknown and not read.references:
            raise ArcadeMarkError(
                f"{path}: no references, and not every task is a game of atari-57 ({', '.join(unknown)}); add the "
                "scores that are 0 % and 100 % of every task"
            )
        return read
    raise UnknownNameError("model", name, (*published(), ANY))


def published() -> tuple[str, ...]:
    """Return the names of the published models, those for evaluation first, from the smallest to the largest."""
    fitted = [entry for entry in subsets().values() if entry.coefficients is not None]
    return tuple(entry.name for entry in sorted(fitted, key=lambda item: (item.purpose, len(item.tasks))))


def short_title(subset: Subset) -> str:
    """Return a subset's bare name, "Atari-5"."""
    return subset.title.partition(":")[0]


def title(model: SubsetModel) -> str:
    """Name a model for people."""
    known = subsets().get(model.name)
    return short_title(known) if known else model.name
