"""The hard-exploration games by themselves, of which a subset that predicts the median says little.

Aitchison et al. 2023, §8.1, recommend individual results on these games beside Atari-5. Which games they are: its
Table 7, the taxonomy of Bellemare et al. 2016.
"""

from __future__ import annotations

from collections.abc import Mapping

from arcademark.reports import measures, published
from arcademark.reports.document import HardExploration, HardGame, HardScore
from arcademark.suite import references, subsets, tasks

SUBSET = "hard-exploration-7"


def games() -> tuple[str, ...]:
    """Return the ids of the hard-exploration games."""
    return subsets.subset(SUBSET).tasks


def section(algorithms: Mapping[str, Mapping[str, float]]) -> HardExploration:
    """Set each algorithm, with its mean score by task, beside random play, humans and the best published score."""
    return HardExploration(tuple(_game(task, algorithms) for task in games()))


def _game(task: str, algorithms: Mapping[str, Mapping[str, float]]) -> HardGame:
    hns = measures.atari()["hns"]
    best = published.best(task, but=algorithms.keys())
    return HardGame(
        id=task,
        name=tasks.games()[task].name,
        random=references.scores("random")[task],
        human=references.scores("human")[task],
        best=None if best is None else best.score,
        best_algorithm="" if best is None else best.algorithm,
        best_source="" if best is None else best.source,
        best_hns=None if best is None else hns.of(task, best.score),
        scores=tuple(
            HardScore(name, scores.get(task), hns.of(task, scores.get(task))) for name, scores in algorithms.items()
        ),
    )
