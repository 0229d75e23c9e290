"""Which model is meant: a published one by its name, or a model file."""

from __future__ import annotations

from pathlib import Path

from arcademark.errors import ArcadeMarkError, UnknownNameError
from arcademark.subset import files
from arcademark.subset.model import SubsetModel, from_subset
from arcademark.suite.subsets import subset, subsets


def model(name: str) -> SubsetModel:
    """Return a model.

    Parameters
    ----------
    name : str
        A published model's name, "atari-5", or the path of a model file.

    Raises
    ------
    UnknownNameError
        Where it is neither.
    ArcadeMarkError
        Where a subset has no model, or a file is none.
    """
    if name.lower() in subsets():
        return from_subset(subset(name))
    path = Path(name)
    if path.suffix.lower() == ".json" or path.exists():
        try:
            return files.loads(path.read_text(encoding="utf-8"), str(path))
        except (OSError, UnicodeDecodeError) as error:
            raise ArcadeMarkError(f"{path}: cannot read the model ({error}); name another file") from None
    raise UnknownNameError("model", name, published())


def published() -> tuple[str, ...]:
    """Return the names of the published models, those for evaluation first, from the smallest."""
    found = [entry for entry in subsets().values() if entry.coefficients is not None]
    return tuple(entry.name for entry in sorted(found, key=lambda item: (item.purpose, len(item.tasks))))


def title(found: SubsetModel) -> str:
    """Name a model for people."""
    known = subsets().get(found.name)
    return known.title.partition(":")[0] if known else found.name
