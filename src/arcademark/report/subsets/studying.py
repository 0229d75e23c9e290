"""What ``arcademark subset study`` shows: estimates beside true medians, of the whole catalogue or any table.

Of the catalogue it is the table that a newcomer's estimate is compared with: estimates with estimates (Atari-5, §8).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from arcademark.catalogue import collections
from arcademark.errors import ArcadeMarkError
from arcademark.report import wording
from arcademark.report.subsets import models
from arcademark.report.subsets.material import Normalised
from arcademark.report.tables.protocols import Play, frame_cap
from arcademark.subset.model import SubsetModel
from arcademark.subset.study import MINIMUM_TASKS, Agreement, Row, study

SCHEMA = "arcademark.subset-study/1"
MODELS = ("atari-1", "atari-3", "atari-5", "atari-10")
TRAINING = "atari-5-training"
SAME_SHARE, SAME_LEAST = 0.9, 20
"""Scores are the training table's if so large a share of so many games at least is equal."""
EQUAL = 0.5
"""Points by which sources may differ that round."""


@dataclass(frozen=True)
class Line:
    """One algorithm with its estimates.

    Parameters
    ----------
    row : Row
    fitted : str
        The algorithm of the models' own training table that has these scores; "" if it is none of these.
    frame_cap : int or None
        Of its episodes; None for none, and where `frame_cap_known` is False.
    frame_cap_known : bool
    """

    row: Row
    fitted: str
    frame_cap: int | None
    frame_cap_known: bool


@dataclass(frozen=True)
class Kind:
    """How well the models do on some of the algorithms; one agreement a model."""

    title: str
    agreements: tuple[Agreement, ...]


@dataclass(frozen=True)
class Studied:
    """A study, as every renderer shows it.

    Parameters
    ----------
    models : tuple of str
        Their names for people.
    lines : tuple of Line
        Algorithms with at least one estimate, from the highest true median; those without one last.
    left_out : tuple of str
        Algorithms without any estimate.
    kinds : tuple of Kind
        All algorithms; where some are of the training table, these and the others apart, too.
    relative_to : str or None
    minimum_tasks : int
    sources, remarks : tuple of str
    """

    models: tuple[str, ...]
    lines: tuple[Line, ...]
    left_out: tuple[str, ...]
    kinds: tuple[Kind, ...]
    relative_to: str | None
    minimum_tasks: int
    sources: tuple[str, ...]
    remarks: tuple[str, ...]


def studied(
    scores: Normalised,
    names: Sequence[str] = MODELS,
    *,
    relative_to: str | None = None,
    minimum_tasks: int | None = None,
) -> Studied:
    """Estimate every algorithm by every model.

    Parameters
    ----------
    scores : Normalised
    names : sequence of str, optional
        Published models or model files.
    relative_to : str, optional
        An algorithm whose values are 1.
    minimum_tasks : int, optional
        Games for a median to count as true; 40 on Atari, else half of the tasks.

    Raises
    ------
    ArcadeMarkError
        Where a model was normalised otherwise, the baseline has no median, or no algorithm has a model's games.
    """
    found = tuple(models.model(name) for name in names)
    for model in found:
        check_references(model, scores)
    least = minimum_tasks or (MINIMUM_TASKS if scores.yardstick.atari else max(1, len(scores.tasks) // 2))
    options = {"minimum_tasks": least, "relative_to": relative_to}
    whole = study(scores.percent, scores.algorithms, scores.tasks, found, **options)  # type: ignore[arg-type]
    told = [row for row in whole.rows if any(item.value is not None for item in row.estimates)]
    if not told:
        raise ArcadeMarkError(
            f"no algorithm has all games of {wording.listing(map(models.title, found), 'or')}; choose another --models"
        )
    known = training_twins(scores) if any(not model.references for model in found) else {}
    kinds = [Kind("all algorithms", whole.agreements)]
    if known and len(known) < len(scores.algorithms):
        for title, keep in (("in the training table", True), ("others", False)):
            rows = [place for place, name in enumerate(scores.algorithms) if (name in known) == keep]
            part = study(
                scores.percent[rows], [scores.algorithms[row] for row in rows], scores.tasks, found, minimum_tasks=least
            )
            kinds.append(Kind(title, part.agreements))
    return Studied(
        models=tuple(map(models.title, found)),
        lines=tuple(_line(row, known, scores.plays) for row in told),
        left_out=tuple(row.algorithm for row in whole.rows if row not in told),
        kinds=tuple(kinds),
        relative_to=relative_to,
        minimum_tasks=least,
        sources=scores.sources,
        remarks=(*scores.remarks, *_remarks(found, told, known, scores), *_without_truth(told, least)),
    )


def check_references(model: SubsetModel, scores: Normalised) -> None:
    """Refuse scores that are normalised otherwise than those that a model was fitted to.

    Raises
    ------
    ArcadeMarkError
        Where a task's references differ, or Atari's published models meet another benchmark.
    """
    if not model.references and not scores.yardstick.atari:
        raise ArcadeMarkError(f"{model.name} is made of Atari games, and the references are another benchmark's")
    for task, (low, high) in model.references.items():
        if task in scores.low and (scores.low[task], scores.high[task]) != (low, high):
            raise ArcadeMarkError(
                f"{model.name} was fitted with {low:g} and {high:g} as references of {task}, here they are "
                f"{scores.low[task]:g} and {scores.high[task]:g}; use the same"
            )


def training_twins(scores: Normalised) -> Mapping[str, str]:
    """Return which algorithms have the scores of one that the published models were fitted to, and of which."""
    if not scores.yardstick.atari:
        return {}
    table = collections.load(TRAINING)
    trained = table.select(tasks=[task for task in scores.tasks if task in table.tasks]).mean_over_runs()
    columns = [scores.tasks.index(task) for task in scores.tasks if task in table.tasks]
    found = {}
    for row, name in enumerate(scores.algorithms):
        own = scores.raw[row, columns]
        both = np.isfinite(own) & np.isfinite(trained)
        same = (both & (np.abs(own - trained) <= EQUAL)).sum(axis=1)
        place = int(np.argmax(same))
        if same[place] >= max(SAME_LEAST, SAME_SHARE * both[place].sum()):
            found[name] = table.algorithms[place]
    return found


def _line(row: Row, known: Mapping[str, str], plays: Mapping[str, Play]) -> Line:
    cap = frame_cap(plays.get(row.algorithm, Play()))
    return Line(row, known.get(row.algorithm, ""), cap if isinstance(cap, int) else None, cap != "unknown")


def _without_truth(told: Sequence[Row], least: int) -> tuple[str, ...]:
    if any(row.true is not None for row in told):
        return ()
    return (f"No true median to compare with: no algorithm here has {least} tasks, which --minimum-tasks asks for.",)


def _remarks(
    found: Sequence[SubsetModel], told: Sequence[Row], known: Mapping[str, str], scores: Normalised
) -> list[str]:
    remarks = []
    published = next((model for model in found if not model.references), None)
    if known:
        remarks.append(
            "Algorithms marked * are among those that the published models were fitted to: their errors are too kind."
        )
    if published is not None and (cap := published.max_frames_per_episode):
        caps = {row.algorithm: frame_cap(scores.plays.get(row.algorithm, Play())) for row in told}
        others = [name for name, value in caps.items() if value not in (cap, "unknown")]
        if others:
            remarks.append(
                f"The published models hold for episodes of at most {cap:,} frames. Scored otherwise: "
                f"{wording.listing(others)}; their estimates should not be used (Aitchison et al. 2023, §5.3, §8.1)."
            )
    remarks.append("Compare estimates with estimates, not with medians: they are biased differently (§8).")
    return remarks
