"""Tables with made-up scores: plausible numbers for looks and layout, measured by nobody."""

import numpy as np

from arcademark.scores.table import ScoreTable
from arcademark.suite import references, tasks

ATARI_57 = tasks.suite("atari-57").tasks
SKILL = {"mine": 0.9, "yours": 0.55, "theirs": 1.6}


def made_up_table(
    algorithms=("mine", "yours"),
    games=ATARI_57,
    *,
    runs=5,
    protocols=None,
    spread=0.5,
):
    """Scores around a share of the human average that is each algorithm's own."""
    random, human = references.scores("random"), references.scores("human")
    rows = []
    for algorithm in algorithms:
        count = runs if isinstance(runs, int) else runs[algorithm]
        for game in games:
            rng = np.random.default_rng(list(f"{algorithm} {game}".encode()))
            low, high = random.get(game, 0.0), human.get(game, 100.0)
            for run, draw in enumerate(rng.gamma(1 / spread**2, spread**2, count)):
                rows.append((algorithm, game, run, round(low + (high - low) * SKILL.get(algorithm, 1.0) * draw, 1)))
    return ScoreTable.from_rows(rows, protocols=protocols, sources=dict.fromkeys(algorithms, "made up"))


def table(scores, **known):
    """The table of scores by algorithm, game and run."""
    rows = (
        (name, game, run, score)
        for name, games in scores.items()
        for game, runs in games.items()
        for run, score in enumerate(runs)
    )
    return ScoreTable.from_rows(rows, **known)
