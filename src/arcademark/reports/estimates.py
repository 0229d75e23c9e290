"""What the published subset models say of the whole suite, or why they say nothing."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from arcademark.metrics import intervals
from arcademark.reports import measures
from arcademark.reports.document import Estimate
from arcademark.subset.model import FrameCap, from_subset
from arcademark.suite import subsets, tasks
from arcademark.suite.subsets import LEVEL, Subset

DEFAULT = "atari-5"

Seeds = Mapping[str, Sequence[NDArray[np.float64]]]
"""By task an array of episodes' scores a seed."""

_model = cache(from_subset)


def short_title(subset: Subset) -> str:
    """Return a subset's bare name, "Atari-5"."""
    return subset.title.partition(":")[0]


def choose(played: Collection[str]) -> Subset:
    """Return the largest subset with a model whose games are all played, those for evaluation first; else Atari-5."""
    with_models = [entry for entry in subsets.subsets().values() if entry.coefficients is not None]
    complete = [entry for entry in with_models if set(entry.tasks) <= set(played)]
    if not complete:
        return subsets.subset(DEFAULT)
    return max(complete, key=lambda entry: (entry.purpose == "evaluation", len(entry.tasks)))


def choose_together(played: Sequence[Collection[str]]) -> tuple[Subset, ...]:
    """Choose for algorithms that are shown side by side, so that their estimates compare where they can.

    As `choose` for each, unless some have the games of Atari-5 and others those of a larger model too: then Atari-5.
    """
    own = tuple(map(choose, played))
    able = [subset for subset, games in zip(own, played, strict=True) if set(subset.tasks) <= set(games)]
    standard = subsets.subset(DEFAULT)
    if len({subset.name for subset in able}) > 1 and all(set(standard.tasks) <= set(item.tasks) for item in able):
        return (standard,) * len(own)
    return own


def estimate(subset: Subset, played: Seeds, frame_cap: FrameCap, seed: int) -> Estimate:
    """Estimate the suite's median human-normalised score by a subset's model, with draws of this seed.

    Without a value, and with the missing games named, where not all of the subset's are there. The frame cap is that of
    the protocol that they were played under; None for no cap.
    """
    title, suite = short_title(subset), tasks.suite(subset.suite).name
    missing = tuple(tasks.games()[task].name for task in subset.tasks if task not in played)
    if missing:
        printed, nested = subset.relative_error, subset.nested.mean if subset.nested else None
        return Estimate(subset.name, title, suite, None, LEVEL, None, None, printed, None, None, missing, (), nested)
    model, hns = _model(subset), measures.atari()["hns"]

    def normalised(scores: NDArray[np.float64]) -> NDArray[np.float64]:
        return hns.line(scores.T, model.tasks).T

    seeds = {task: played[task] for task in model.tasks}
    scores = normalised(np.array([intervals.score(runs) for runs in seeds.values()]))
    found = model.estimate(dict(zip(model.tasks, scores, strict=True)), max_frames_per_episode=frame_cap)
    sampled = intervals.interval(
        seeds, lambda drawn: model.predict(normalised(drawn)), np.random.default_rng(seed), method="symmetric"
    )
    lowest = float(model.predict(np.zeros(len(model.tasks))))  # published coefficients are positive
    return Estimate(
        subset=subset.name,
        title=title,
        suite=suite,
        value=found.value,
        level=found.level,
        low=found.low,
        high=found.high,
        printed_error=found.relative_error,
        sampling_low=None if sampled.low is None else max(sampled.low, lowest),
        sampling_high=sampled.high,
        missing=(),
        warnings=found.warnings,
        nested_error=found.nested.mean if found.nested else None,
    )
