"""Results of ``arcademark subset study``: estimates beside true values, for the catalogue or any table.

A study of the catalogue is the table for comparing a new algorithm's estimate with others' estimates (Atari-5, §8).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from arcademark import wording
from arcademark.analysis import published
from arcademark.analysis.subsets import models, summaries
from arcademark.analysis.subsets.dataset import Normalised
from arcademark.analysis.subsets.predictors import TRAINING
from arcademark.analysis.tables.protocols import PlayConditions, frame_cap
from arcademark.catalogue import collections
from arcademark.errors import ArcadeMarkError
from arcademark.subset.predict.model import SubsetModel
from arcademark.subset.studies.study import Agreement, Study, StudyRow, study

MODELS = models.NESTED
SAME_SHARE, SAME_LEAST = 0.9, 20
"""Scores are those of the training table if at least this share, and at least this number of games, is equal."""
EQUAL = 0.5
"""Points by which equal scores may differ, because sources round."""


@dataclass(frozen=True)
class Line:
    """One algorithm with its estimates.

    fitted: The algorithm of the models' own training table with these scores; "" if there is none.
    frame_cap: Frame cap of its episodes; None for none, and where `frame_cap_known` is False.
    """

    row: StudyRow
    fitted: str
    frame_cap: int | None
    frame_cap_known: bool


@dataclass(frozen=True)
class Kind:
    """Agreement of each model on one kind of algorithms."""

    title: str
    agreements: tuple[Agreement, ...]


@dataclass(frozen=True)
class Studied:
    """Estimates compared with true values.

    models: Their names for people.
    summary, target, unit: Predicted quantity, in a word and in full, and its unit: "%", "games", or "" for a plain
        number.
    lines: Algorithms with at least one estimate, from the highest true value; those without one last.
    left_out: Algorithms without any estimate.
    kinds: All algorithms; if some are of the training table, also these and the others separately. An algorithm of the
        training table counts once, even if its scores have several names; algorithms under another frame cap than the
        models' data are left out, unless all are.
    published: True if a model is a published one.
    corrected: Algorithms of the training table with tasks whose score was corrected after the models were fitted.
    scored_otherwise: Algorithms under another frame cap than the models' data.
    frame_caps: Frame caps of the models' data.
    sources, remarks: Sources of the scores, and remarks on them.
    """

    SCHEMA: ClassVar[str] = "arcademark.subset-study/2"
    models: tuple[str, ...]
    summary: str
    target: str
    unit: str
    lines: tuple[Line, ...]
    left_out: tuple[str, ...]
    kinds: tuple[Kind, ...]
    relative_to: str | None
    minimum_tasks: int
    published: bool
    corrected: Mapping[str, tuple[str, ...]]
    scored_otherwise: tuple[str, ...]
    frame_caps: tuple[int, ...]
    sources: tuple[str, ...]
    remarks: tuple[str, ...]

    @property
    def caption(self) -> str:
        """The units of values and errors."""
        units = {"%": "in percent", "": "as they are"}.get(self.unit, f"in {self.unit}")
        return f"True values and estimates {units}; off: error of the estimate relative to the true value."

    @property
    def agreements(self) -> tuple[tuple[str, str, Agreement], ...]:
        """The agreement of each model for each kind of algorithms."""
        return tuple(
            (kind.title, *pair) for kind in self.kinds for pair in zip(self.models, kind.agreements, strict=True)
        )

    def inversions(self, kind: Kind) -> Iterator[tuple[str, str]]:
        """Yield models with the pairs of algorithms that they order wrongly."""
        for name, item in zip(self.models, kind.agreements, strict=True):
            if item.inversions:
                yield name, "; ".join(f"{better} and {worse}" for better, worse in item.inversions)


def studied(
    scores: Normalised,
    names: Sequence[str] = MODELS,
    *,
    target: str | None = None,
    relative_to: str | None = None,
    minimum_tasks: int | None = None,
) -> Studied:
    """Estimate every algorithm by every model, published ones or files.

    ``target`` names the predicted quantity if model files do not state it, or state a user's function. A value counts
    as true if it is over at least ``minimum_tasks``, by default 55 on Atari, else half of the tasks.
    """
    chosen = tuple(models.model(name) for name in names)
    for model in chosen:
        check_references(model, scores)
    summary = common_summary(chosen, target)
    truth = summaries.truth(scores, summary)
    least = minimum_tasks or (published.MIN_TRUE_GAMES if scores.benchmark.atari else max(1, len(scores.tasks) // 2))
    known = training_twins(scores) if any(not model.references for model in chosen) else {}
    otherwise = _scored_otherwise(chosen, scores)
    beside = {*_repeated(known), *otherwise}

    def part(rows: Sequence[int], baseline: str | None) -> Study:
        values = truth if isinstance(truth, str) or callable(truth) else truth[list(rows)]
        algorithms = [scores.algorithms[row] for row in rows]
        return study(
            scores.percent[list(rows)], algorithms, scores.tasks, chosen,
            target=values, minimum_tasks=least, relative_to=baseline, beside=beside,
        )  # fmt: skip

    whole = part(range(len(scores.algorithms)), relative_to)
    estimated = [row for row in whole.rows if any(item.value is not None for item in row.estimates)]
    if not estimated:
        raise ArcadeMarkError(
            f"no algorithm has all games of {wording.listing(map(models.title, chosen), 'or')}; choose another --models"
        )
    kinds = [Kind("all algorithms", whole.agreements)]
    if known and len(known) < len(scores.algorithms):
        for title, keep in (("in the training table", True), ("others", False)):
            rows = [place for place, name in enumerate(scores.algorithms) if (name in known) == keep]
            kinds.append(Kind(title, part(rows, None).agreements))
    return Studied(
        models=tuple(map(models.title, chosen)),
        summary=summaries.short(summary),
        target=summaries.title(summary, scores.metric, scores.benchmark.noun),
        unit=summaries.unit(summary, scores.benchmark.noun),
        lines=tuple(_line(row, known, scores.plays) for row in estimated),
        left_out=tuple(row.algorithm for row in whole.rows if row not in estimated),
        kinds=tuple(kinds),
        relative_to=relative_to,
        minimum_tasks=least,
        published=any(model.published for model in chosen),
        corrected=_corrected(known, scores) if known else {},
        scored_otherwise=tuple(row.algorithm for row in estimated if row.algorithm in otherwise),
        frame_caps=tuple(sorted(_caps(chosen))),
        sources=scores.sources,
        remarks=scores.remarks,
    )


def common_summary(chosen: Sequence[SubsetModel], requested: str | None) -> str:
    """Return the common target of all models, as ``--target`` names it; ``requested`` is the user's name.

    Raises if models predict different quantities, or another one than requested; without a request also if a model
    does not state its target, or names a function.
    """
    for model in chosen:
        named = model.summary
        if requested is None and named is None:
            raise ArcadeMarkError(
                f"{model.name} predicts the {model.target!r}, and its file does not state how to compute it; add "
                f"--target ({wording.listing(summaries.targets(), 'or')}, or FILE.py:NAME)"
            )
        if requested is None and summaries.is_function(named or ""):
            raise ArcadeMarkError(
                f"{model.name} predicts {named}, a function of its author's, which is not run for being named in a "
                "file; add --target FILE.py:NAME to compute it"
            )
        # Functions are compared by their own names, because files move.
        if requested is not None and named is not None and requested.rpartition(":")[2] != named.rpartition(":")[2]:
            raise ArcadeMarkError(f"{model.name} predicts {named!r}, not {requested!r}; leave --target out")
    named_all = sorted({requested or model.summary or "" for model in chosen})
    if len(named_all) > 1:
        raise ArcadeMarkError(
            f"the models predict different quantities, {wording.listing(map(repr, named_all))}; study one at a time"
        )
    return named_all[0]


def check_references(model: SubsetModel, scores: Normalised) -> None:
    """Raise if scores are normalised by other references than those that a model was fitted with."""
    if not model.references and not scores.benchmark.atari:
        raise ArcadeMarkError(f"{model.name} is a model of Atari games, but the references are another benchmark's")
    for task, (low, high) in model.references.items():
        if task in scores.low and (scores.low[task], scores.high[task]) != (low, high):
            raise ArcadeMarkError(
                f"{model.name} was fitted with {low:g} and {high:g} as references of {task}, but here they are "
                f"{scores.low[task]:g} and {scores.high[task]:g}; use the same"
            )


def training_twins(scores: Normalised) -> Mapping[str, str]:
    """Return algorithms with the scores of an algorithm that published models were fitted to, with its name."""
    if not scores.benchmark.atari:
        return {}
    table = collections.load(TRAINING)
    trained = table.select(tasks=[task for task in scores.tasks if task in table.tasks]).mean_over_runs()
    columns = [scores.tasks.index(task) for task in scores.tasks if task in table.tasks]
    twins = {}
    for row, name in enumerate(scores.algorithms):
        own = scores.raw[row, columns]
        both = np.isfinite(own) & np.isfinite(trained)
        same = (both & (np.abs(own - trained) <= EQUAL)).sum(axis=1)
        place = int(np.argmax(same))
        if same[place] >= max(SAME_LEAST, SAME_SHARE * both[place].sum()):
            twins[name] = table.algorithms[place]
    return twins


def _line(row: StudyRow, known: Mapping[str, str], plays: Mapping[str, PlayConditions]) -> Line:
    cap = frame_cap(plays.get(row.algorithm, PlayConditions()))
    return Line(row, known.get(row.algorithm, ""), cap if isinstance(cap, int) else None, cap != "unknown")


def _repeated(known: Mapping[str, str]) -> set[str]:
    """Return algorithms that repeat a training algorithm's scores, except one: its namesake, else the first."""
    kept: dict[str, str] = {}
    for name, twin in known.items():
        if twin not in kept or name == twin:
            kept[twin] = name
    return {name for name, twin in known.items() if kept[twin] != name}


def _scored_otherwise(chosen: Sequence[SubsetModel], scores: Normalised) -> set[str]:
    """Return the algorithms with another frame cap than the models' data; none if that would be all."""
    caps = _caps(chosen)
    cap_of = {name: frame_cap(scores.plays.get(name, PlayConditions())) for name in scores.algorithms}
    others = {name for name, cap in cap_of.items() if cap != "unknown" and caps and cap not in caps}
    return set() if len(others) == len(scores.algorithms) else others


def _caps(chosen: Sequence[SubsetModel]) -> set[int]:
    return {model.max_frames_per_episode for model in chosen if model.max_frames_per_episode is not None}


def _corrected(known: Mapping[str, str], scores: Normalised) -> Mapping[str, tuple[str, ...]]:
    """Return by algorithm the tasks whose scores the catalogue has corrected since the models were fitted."""
    now, then = (collections.load(TRAINING, as_published=printed) for printed in (False, True))
    fresh, old = (dict(zip(table.algorithms, table.mean_over_runs(), strict=True)) for table in (now, then))
    corrected = {}
    for name, twin in known.items():
        own = dict(zip(scores.tasks, scores.raw[scores.algorithms.index(name)], strict=True))
        changed = tuple(
            scores.benchmark.title(task)
            for place, task in enumerate(now.tasks)
            if task in own
            and abs(own[task] - fresh[twin][place]) <= EQUAL
            and abs(old[twin][then.tasks.index(task)] - fresh[twin][place]) > EQUAL
        )
        if changed:
            corrected[name] = changed
    return corrected
