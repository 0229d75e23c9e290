"""Human bars: which games are at human level, which world records are broken, and whether anybody had broken them."""

from __future__ import annotations

from collections.abc import Mapping

from arcademark.metrics.normalise import reaching
from arcademark.reports import measures, published
from arcademark.reports.document import Breakthrough
from arcademark.suite import references, tasks


def reached(means: Mapping[str, float], name: str) -> tuple[Breakthrough, ...]:
    """Tell which games reach the human average and the world record, of an algorithm's mean scores."""
    hns, hwrns = measures.atari()["hns"], measures.atari()["hwrns"]
    names = [task for task in means if task in hns.known]
    at_level = reaching(hns.normaliser([means[task] for task in names], names), names)
    at_human_level = tuple(map(tasks.game_name, at_level.tasks))
    level = Breakthrough("human_level", "games at human level", "at human level", at_human_level, len(names), ())
    names = [task for task in means if task in hwrns.known]
    broken = reaching(hwrns.normaliser([means[task] for task in names], names), names)
    records, best = (
        references.scores("human_world_record"),
        {task: published.best(task, but=[name]) for task in broken.tasks},
    )
    others = {task for task, other in best.items() if other is not None and other.score >= records[task]}
    records_broken = tuple(map(tasks.game_name, broken.tasks))
    new = tuple(tasks.game_name(task) for task in broken.tasks if task not in others)
    return level, Breakthrough("hwrb", "human world records broken", "records broken", records_broken, len(names), new)
