"""Human bars: which games are at human level, which world records are broken, and whether anybody had broken them."""

from __future__ import annotations

from collections.abc import Mapping

from arcademark.metrics import aggregate, normalise
from arcademark.reports import measures, published
from arcademark.reports.document import Breakthrough
from arcademark.suite import references, tasks


def breakthroughs(means: Mapping[str, float], name: str) -> tuple[Breakthrough, ...]:
    """Tell which games reach the human average and the world record, of an algorithm's mean scores."""
    hns, hwrns = measures.atari()["hns"], measures.atari()["hwrns"]
    names = [task for task in means if task in hns.known]
    at_level = aggregate.at_human_level(hns.normaliser([means[task] for task in names], names), names)
    level = Breakthrough(
        "human_level", "games at human level", "at human level", _named(at_level.tasks), len(names), ()
    )
    names = [task for task in means if task in hwrns.known]
    broken = normalise.hwrb(hwrns.normaliser([means[task] for task in names], names), names)
    new = tuple(task for task in broken.tasks if not _broken_by_others(task, name))
    return level, Breakthrough(
        "hwrb", "human world records broken", "records broken", _named(broken.tasks), len(names), _named(new)
    )


def _named(games: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(tasks.games()[task].name for task in games)


def _broken_by_others(task: str, name: str) -> bool:
    best = published.best(task, but=[name])
    return best is not None and best.score >= references.scores("human_world_record")[task]
