"""The Atari-5 paper's statements on its data and search: the abstract, §§1 to 4, §8, §9 and Appendix D."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import pairwise

import numpy as np

from arcademark.catalogue import collections
from arcademark.reproduce.atari5 import data
from arcademark.reproduce.atari5.data import listed, stated
from arcademark.reproduce.comparison import PrintedComparison, decided
from arcademark.subset.fitting import fit
from arcademark.subset.predict.model import from_subset
from arcademark.subset.problem import log10_score_inverse
from arcademark.subset.search.plan import ATARI_5, follow
from arcademark.subset.search.search import SearchResult
from arcademark.suite.protocols import protocol
from arcademark.suite.subsets import subset
from arcademark.suite.tasks import game_name

MINIMUM = 40
"""Games that an algorithm, and algorithms that a game must have (§4.1)."""
LEAST_MEDIAN = 40.0
"""Percent that an algorithm's median must exceed in the public code, which the text does not mention."""
VISIBLE = 0.005
"""Least percentage that two decimals show."""
ALL_GAMES, SEARCHED, SIZE = 57, 56, 5
REGRESSIONS_A_SECOND = 1000
AGENT57_FRAMES = 90e9

FOUND = {
    "5": "five, of all games but Surround",
    "3": "three, of Atari-5",
    "1": "game, of Atari-3",
    "3-val": "three for tuning, without Atari-5",
    "5-val": "five for tuning, Atari-3-Val extended, without Atari-5",
    "10": "ten, Atari-5 extended, without Atari-5-Val",
}
"""Aim of each step of the search (§4.3)."""


def claims() -> Iterator[PrintedComparison]:
    """Check the claims of the abstract, §1, §8 and §9."""
    error = data.cross_validated(data.ATARI_5).log_error
    yield stated("within-ten-percent", f"{100 * error:.1f} % on average", error <= 0.10)
    ten = data.explained_share(data.ATARI_10, data.GAMES)
    yield stated("abstract-variance", f"{100 * ten:.1f}%", round(ten, 2) == 0.8)
    yield stated("one-tenth", f"5 / 57 = {100 * SIZE / ALL_GAMES:.1f}%", SIZE / ALL_GAMES < 0.1)
    yield stated("five-years", "five years", False)
    times = AGENT57_FRAMES / (protocol("dqn-2015").training_frames or 1)
    yield stated("frames-growth", f"{times:g} times", times > 1000)
    estimated = set(data.estimates("atari-5"))
    yield stated(
        "estimates-afterwards",
        f"{len(estimated)} of the {len(data.raw())} in the training table, those that have them",
        estimated == {name for name, scores in data.raw().items() if scores.keys() >= set(data.ATARI_5)},
    )
    yield stated("stochastic")


def order_preservation() -> Iterator[PrintedComparison]:
    """Check §3.1: Propositions 1 and 2, on the published models."""
    inside, outside = raised("Agent57")
    yield stated(
        "strictly-increasing",
        f"Agent57's Atari-5 score, each of its games doubled alone: unchanged by {outside.count(0.0)} of the "
        f"{len(outside)} others, raised by {sum(change > 0 for change in inside)} of the {len(inside)} games",
        set(outside) == {0.0} and min(inside) > 0,
    )
    lowest = min(min(subset(name).coefficients or ()) for name in data.PUBLISHED)
    yield stated("weakly-increasing", f"the smallest of the six published models' is {lowest}", lowest >= 0)


def raised(name: str) -> tuple[list[float], list[float]]:
    """Return changes of an algorithm's Atari-5 score by doubling one game's HNS: for its own games, and others."""
    model = from_subset(subset("atari-5"))
    percent = dict(zip(data.GAMES, data.percentages()[data.names().index(name)].tolist(), strict=True))

    def estimate(scores: dict[str, float]) -> float:
        return model.estimate(scores, max_frames_per_episode=model.max_frames_per_episode).value

    changes = {game: estimate({**percent, game: 2 * percent[game]}) - estimate(percent) for game in data.GAMES}
    inside = [changes.pop(game) for game in model.tasks]
    return inside, list(changes.values())


def dataset() -> Iterator[PrintedComparison]:
    """Check §4.1 and Appendix D: algorithms and games."""
    counts = {name: len(scores) for name, scores in data.raw().items()}
    by_game = {game: sum(game in scores for scores in data.raw().values()) for game in data.GAMES}
    few = [game for game, count in by_game.items() if count < MINIMUM]
    yield stated("before-removal")
    yield stated("algorithms", f"{len(counts) - 1} and the human reference", False)
    yield stated("games-each", f"{min(counts.values())} or more", min(counts.values()) >= MINIMUM)
    text = ", ".join(f"{game_name(game)} ({by_game[game]})" for game in few)
    yield stated("few-algorithms", text, few == ["surround"])
    row = data.percentages()[data.names().index("MuZero")]
    without = float(np.nanmedian(np.delete(row, data.GAMES.index("surround"))))
    yield stated(
        "surround",
        f"excluded from subsets only: MuZero's median is {data.medians()['MuZero']:.1f} with it, {without:.1f} "
        f"without, and {data.printed(8)['MuZero'][1]} is printed",
        False,
    )
    lowest = min(data.medians().values())
    yield stated("removed", f"the lowest included median is {lowest:.1f} %", lowest <= LEAST_MEDIAN)
    negative = int(np.count_nonzero(data.percentages() < 0))
    scores = np.count_nonzero(~np.isnan(data.percentages()))
    yield stated("clipped", f"{negative} of {scores:,} scores", negative > 0)
    read = sum("Papers with Code" in entry.read_in for entry in collections.entries(data.COLLECTION))
    yield stated("names", f"{read} of the {len(counts)}", False)


def search() -> Iterator[PrintedComparison]:
    """Check §4.3: the number of subsets, the best one, and the subsets of other sizes derived from it."""
    count = math.comb(SEARCHED, SIZE)
    hours = count / REGRESSIONS_A_SECOND / 3600
    yield stated("one-hour", f"C(56,5) = {count:,} take {hours:.2f} hours", round(hours) == 1)
    yield from _winners()
    names = ("atari-1", "atari-3", "atari-5", "atari-10", "atari-3-val", "atari-5-val")
    one, three, five, ten, val_three, val_five = (set(subset(name).tasks) for name in names)
    nested = one < three < five < ten and val_three < val_five and not val_five & ten
    yield stated("nested", "so are Table 2's" if nested else "not so in Table 2", nested)
    errors = [data.cross_validated(subset(name).tasks).log_error for name in names[:4]]
    gains = [100 * (a - b) / games for (a, b), games in zip(pairwise(errors), (2, 2, 5), strict=True)]
    yield stated(
        "diminishing",
        f"{gains[0]:.1f} points of relative error per game from 1 to 3, {gains[1]:.1f} from 3 to 5, "
        f"{gains[2]:.1f} to 10",
        gains[0] > gains[1] > gains[2],
    )
    inputs, targets = data.sample(data.ATARI_5)
    with_one, without = (
        float(log10_score_inverse(fit(inputs, targets, intercept=constant).predict([[0.0] * SIZE]))[0])
        for constant in (True, False)
    )
    text = f"with one, Atari-5 would give it {with_one:.2f} %; without, {without:g}"
    yield stated("no-intercept", text, without == 0 and abs(with_one) >= VISIBLE)
    least = min(data.model(data.ATARI_5).coefficients)
    yield stated("negative-coefficients", f"Atari-5's smallest is {least:.4f}: it makes no difference", False)


@cache
def _results() -> Mapping[str, SearchResult]:
    """Follow the paper's plan of searches on its training table."""
    return follow(data.problem(), ATARI_5)


def _winners() -> Iterator[PrintedComparison]:
    """Check that each published subset is the best of its candidates."""
    for name, result in _results().items():
        chosen, certificate = subset(f"atari-{name}").tasks, result.certificate
        proof = f"proven best of {certificate.subsets:,}" if certificate.holds else "not proven"
        yield decided(
            f"§4.3 and Table 2: the best {FOUND[name]}",
            listed(sorted(chosen)),
            f"{listed(sorted(result.best.tasks))}: {proof}",
            set(result.best.tasks) == set(chosen) and certificate.holds,
        )
    five = _results()["5"]
    second = five.runners_up[0]
    yield stated(
        "ranking",
        f"by cross-validated error of all {five.certificate.subsets:,} the same five; next best: "
        f"{listed(second.tasks)}, whose squared error is {100 * (second.cv_mse / five.best.cv_mse - 1):.1f} % larger",
        False,
    )
