"""The Atari-5 paper's statements on its results: §§5.1, 5.2, 5.4 to 5.5 and 6, with Figures 2 to 5."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from arcademark.metrics.ranking import inversions
from arcademark.reproduce.atari5 import data
from arcademark.reproduce.atari5.data import listed, stated
from arcademark.reproduce.comparison import PrintedComparison
from arcademark.subset.fitting import fold_means, held_out
from arcademark.subset.problem import fold_of_cases, log10_score_inverse
from arcademark.suite.subsets import subset
from arcademark.suite.tasks import game_name, games

GROUPS = 3
LEVEL = 0.05

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class LevelGroup:
    """Algorithms of similar true values: their number, and mean, mean absolute and RMS relative error."""

    size: int
    bias: float
    absolute: float
    rms: float


@dataclass(frozen=True)
class Fairness:
    """Relative errors by groups of true value, lowest first; sizes differ by at most one, larger groups first.

    P-values are of Welch's two-sided t-test for each pair of groups, (0, 1), (0, 2), (1, 2): of relative errors, of
    their absolute values, and of their squares.
    """

    groups: tuple[LevelGroup, ...]
    bias_p: tuple[float, ...]
    absolute_p: tuple[float, ...]
    square_p: tuple[float, ...]

    def differ(self) -> bool:
        """Return True if any pair differs in bias or in accuracy."""
        return min(*self.bias_p, *self.absolute_p, *self.square_p) < LEVEL


def fairness(true: Floats, predicted: Floats) -> Fairness:
    """Compare accuracy and bias of predictions between three groups of algorithms by true value, which is above 0."""
    from scipy import stats

    parts = np.array_split(((predicted - true) / true)[np.argsort(true, kind="stable")], GROUPS)
    groups = (LevelGroup(len(part), part.mean(), np.abs(part).mean(), math.sqrt(np.mean(part**2))) for part in parts)
    of_pairs = (
        tuple(
            float(stats.ttest_ind(size(a), size(b), equal_var=False).pvalue)
            for a, b in itertools.combinations(parts, 2)
        )
        for size in (np.asarray, np.abs, np.square)
    )
    return Fairness(tuple(groups), *of_pairs)


WELL, PAIRS, STRONG = 0.8, 24, 0.9
"""R² that counts as well predicted (§5.5); pairs in Figure 5, and the least correlation of its bold ones (§6)."""
LITTLE = 0.2
"""R² below which we consider a game's predictive power little; the paper states no number."""
SKIING = ("alien", "frostbite", "ms_pacman", "riverraid")
"""The games with which §6 calls Skiing most negatively correlated."""


def single() -> Iterator[PrintedComparison]:
    """Check §5.1 and Figure 2: predictions of the median from one game."""
    models = data.single_games()
    order = list(models)
    for key, game in (("best-game", order[-1]), ("worst-game", order[0])):
        yield stated(key, f"{game_name(game)}, {models[game].r2:.3f}")
    own = models["name_this_game"]
    yield stated("name-this-game", f"{own.intercept:.2f} and {own.coefficients[0]:.2f}")
    middle = models[order[len(order) // 2]].r2
    for key, chosen, limit, note in (
        ("capped-games", ("pong", "surround", "tennis"), LITTLE, ""),
        ("hard-games", data.HARD, middle, ", the middle game"),
    ):
        places = ", ".join(f"{game_name(game)} {models[game].r2:.3f} ({order.index(game) + 1})" for game in chosen)
        text = f"R² (place from the worst): {places}; all below {limit:.3f}{note}"
        yield stated(key, text, all(models[game].r2 < limit for game in chosen))


def subsets() -> Iterator[PrintedComparison]:
    """Check §5.2: the best game against DQN-7, and the errors of Atari-5."""
    one, seven = (data.cross_validated(subset(name).tasks).r2 for name in ("atari-1", "dqn-7"))
    yield stated("one-beats-seven", f"{one:.3f} against {seven:.3f}", one > seven)
    errors = np.array([abs(guess - true) / true for true, guess in data.estimates("atari-5").values()])
    within = int(np.count_nonzero(errors <= 0.1))
    yield stated(
        "generally-within",
        f"{within} of {len(errors)} algorithms are, on average it is {100 * errors.mean():.1f}% off (in sample)",
        within > len(errors) / 2,
    )
    by_logs, measured = data.cross_validated(data.ATARI_5).log_error, _relative_error()
    text = f"Atari-5: {100 * by_logs:.1f}% by logs, {100 * measured:.1f}% measured, both on the folds held out"
    yield stated("log-error", text, abs(by_logs - measured) < 0.02)
    names = list(data.printed(3))
    turned = inversions(*({name: data.estimates("atari-5")[name][side] for name in names} for side in (0, 1)))
    pairs = "; ".join(map(" and ".join, turned))
    text = f"{len(turned)} of 10 pairs is the other way round: {pairs}"
    yield stated("ranking-preserved", text, len(turned) <= 1)


@cache
def _relative_error() -> float:
    """Return the mean relative error on held-out folds."""
    inputs, targets = data.sample(data.ATARI_5)
    fold_of = fold_of_cases(len(targets))
    true = log10_score_inverse(targets)
    guess = log10_score_inverse(held_out(inputs, targets, fold_of))
    return float(np.mean(fold_means(np.abs(guess - true) / true, fold_of)))


@cache
def fair() -> Fairness:
    """Return the errors of Atari-5's published model by tertiles of the true median (§5.4)."""
    pairs = np.array(list(data.estimates("atari-5").values()))
    return fairness(pairs[:, 0], pairs[:, 1])


def fairness_by_tertiles() -> Iterator[PrintedComparison]:
    """Check §5.4 and Figure 3, with the measures of both texts."""
    result = fair()
    sizes = ", ".join(str(group.size) for group in result.groups)
    for measure, values, p in (
        ("accuracy by average absolute relative error (arXiv)", [g.absolute for g in result.groups], result.absolute_p),
        ("accuracy by root mean squared relative error (ICML)", [g.rms for g in result.groups], result.square_p),
        ("bias by average relative error", [g.bias for g in result.groups], result.bias_p),
    ):
        shares = ", ".join(f"{100 * value:.1f}%" for value in values)
        text = (
            f"{shares} for the {sizes} algorithms of the thirds; p = {', '.join(f'{value:.2f}' for value in p)} (low "
            "and middle, low and high, middle and high)"
        )
        yield stated("fairness", text, min(p) > 0.05, measure=measure)
    yield stated("accuracy-measure", "they do not agree" if result.differ() else "both support the statement", False)


def all_games() -> Iterator[PrintedComparison]:
    """Check §5.5 and Figure 4: predictions of the other games from five and ten games."""
    five = data.game_models(data.ATARI_5)
    well = [game for game, model in five.items() if model.r2 > WELL]
    own = sum(game in data.ATARI_5 for game in well)
    yield stated("well-predicted", f"{len(well)}, {own} of them the five", len(well) == 17)
    yield stated("well-predicted-others", f"{len(well) - own} of the other {57 - 5}", False)
    for key, chosen in (("variance-5", data.ATARI_5), ("variance-10", data.ATARI_10)):
        yield stated(key, f"{100 * data.explained_share(chosen, data.GAMES):.1f}%")
        rest = [game for game in data.GAMES if game not in chosen]
        text = f"{100 * data.explained_share(chosen, rest):.1f} % over the other {len(rest)} games"
        yield stated(f"{key}-others", text, False)
    yield stated("share-10", f"{100 * 10 / 57:.1f}%")
    hard, others = ([g for g in data.GAMES if (g in data.HARD) == kind] for kind in (True, False))
    pooled = [100 * data.explained_share(data.ATARI_5, part) for part in (hard, others)]
    shares = ", ".join(f"{game_name(game)} {five[game].r2:.2f}" for game in hard)
    text = f"{pooled[0]:.1f}% of their variance, {pooled[1]:.1f}% of the others'; {shares}"
    yield stated("hard-predicted", text, pooled[0] < pooled[1])


def structure() -> Iterator[PrintedComparison]:
    """Check §6 and Figure 5: correlations between games."""
    pairs = list(data.correlations().items())
    best, highest = pairs[0]
    yield stated("most-correlated", f"{_pair(best)}, {highest:.3f}", set(best) == {"alien", "ms_pacman"})
    strong = [_pair(pair) for pair, value in pairs if value > STRONG]
    yield stated("strong-pairs", f"{len(strong)}: {'; '.join(strong)}", 0 < len(strong) < PAIRS)
    last, next_one = pairs[PAIRS - 1][1], pairs[PAIRS][1]
    text = f"from {highest:.3f} down to {last:.3f}; the 25th has {next_one:.3f}"
    yield stated("pairs-shown", text, last > next_one)
    shown, every = (np.mean([category(a) == category(b) for (a, b), _ in part]) for part in (pairs[:PAIRS], pairs))
    text = f"{100 * shown:.0f}% of the 24 pairs are of one category, {100 * every:.0f}% of all pairs"
    yield stated("clustered", text, shown > every)
    for game in SKIING:
        yield stated(f"skiing-{game}", f"{data.correlation('skiing', game):.2f}")
    mates = {game for pair, _ in pairs[-4:] for game in pair} - {"skiing"}
    yield stated("skiing-mates", ", ".join(sorted(map(game_name, mates))), mates == set(SKIING))
    yield stated("why-skiing")


def category(game: str) -> str:
    """Return a game's category, by which Figure 5 is coloured."""
    return games()[game].category


def _pair(pair: Sequence[str]) -> str:
    return listed(pair, " and ")
