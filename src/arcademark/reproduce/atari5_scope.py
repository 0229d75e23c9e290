"""What the Atari-5 paper states of its data and its search: the abstract, §§1 to 4, §8, §9 and Appendix D."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from arcademark.catalogue import collections
from arcademark.reproduce import atari5_data as data
from arcademark.reproduce.claims import decided, gone
from arcademark.reproduce.comparison import Comparison
from arcademark.subset.fitting import fit
from arcademark.subset.model import from_subset
from arcademark.subset.problem import log10_score_inverse
from arcademark.suite.protocols import protocol
from arcademark.suite.subsets import subset

MINIMUM = 40
"""Games that an algorithm, and algorithms that a game must have (§4.1)."""
LEAST_MEDIAN = 40.0
"""Percent that an algorithm's median exceeds in the public code, of which the text says nothing."""
VISIBLE = 0.005
"""Percent that a figure of two decimals shows."""
ALL_GAMES, SEARCHED, SIZE = 57, 56, 5
REGRESSIONS_A_SECOND = 1000
AGENT57_FRAMES = 90e9


def claims() -> tuple[Comparison, ...]:
    """Check what the abstract, §1, §8 and §9 promise."""
    share = SIZE / ALL_GAMES
    ten = data.explained(data.ATARI_10, data.GAMES)
    error = data.cross_validated(data.ATARI_5).relative_error
    estimated = set(data.estimates("atari-5"))
    times = AGENT57_FRAMES / (protocol("dqn-2015").training_frames or 1)
    return (
        data.slip("Abstract and §9", f"{100 * error:.1f} % on average", holds=error <= 0.10),
        decided(
            "Abstract: variance that Atari-10 recovers over all games",
            "80%",
            f"{100 * ten:.1f}%",
            holds=round(ten, 2) == 0.8,
        ),
        decided(
            "§1, §8, §9: what Atari-5 takes of a full evaluation",
            "less than one-tenth",
            f"5 / 57 = {100 * share:.1f}%",
            holds=share < 0.1,
        ),
        data.slip("§1: from DQN (2015) to Agent57 (2020)", "five years"),
        data.slip("§1: growth of training frames from 2015's DQN to Agent57", f"{times:g} times", holds=times > 1000),
        decided(
            "§8: which algorithms can have an Atari-5 estimate afterwards",
            "those with scores for the five games",
            f"{len(estimated)} of the {len(data.raw())} in the training table, those that have them",
            holds=estimated == {name for name, scores in data.raw().items() if scores.keys() >= set(data.ATARI_5)},
        ),
        gone(
            "§8.1: stochastic and deterministic settings in the dataset make no significant difference",
            "no significant difference",
            "The training table does not say of an algorithm which it was.",
        ),
    )


def order_preservation() -> tuple[Comparison, ...]:
    """Check §3.1: Propositions 1 and 2, on the published models."""
    models = [subset(name).coefficients or () for name in data.PUBLISHED]
    lowest = min(min(weights) for weights in models)
    inside, outside = raised("Agent57")
    return (
        decided(
            "§3.1, Proposition 1: no subset score is strictly increasing",
            "raising a score outside the subset leaves it unchanged",
            f"Agent57's Atari-5 score, each of its games doubled alone: unchanged by {outside.count(0.0)} of the "
            f"{len(outside)} others, raised by {sum(change > 0 for change in inside)} of the {len(inside)} games",
            holds=set(outside) == {0.0} and min(inside) > 0,
        ),
        decided(
            "§3.1, Proposition 2: subset scores are weakly increasing",
            "coefficients of 0 and more",
            f"the smallest of the six published models' is {lowest}",
            holds=lowest >= 0,
        ),
    )


def raised(name: str) -> tuple[list[float], list[float]]:
    """Return by how much Atari-5's score of an algorithm changes once one game's HNS is doubled: its own, others."""
    model = from_subset(subset("atari-5"))
    percent = dict(zip(data.GAMES, data.percentages()[data.names().index(name)].tolist(), strict=True))
    cap = model.max_frames_per_episode

    def changed(game: str) -> float:
        more = {**percent, game: 2 * percent[game]}
        return (
            model.estimate(more, max_frames_per_episode=cap).value
            - model.estimate(percent, max_frames_per_episode=cap).value
        )

    return [changed(game) for game in model.tasks], [changed(game) for game in data.GAMES if game not in model.tasks]


def dataset() -> tuple[Comparison, ...]:
    """Check §4.1 and Appendix D: algorithms and games."""
    return tuple(_dataset())


def _dataset() -> Iterator[Comparison]:
    counts = {name: len(scores) for name, scores in data.raw().items()}
    by_game = {game: sum(game in scores for scores in data.raw().values()) for game in data.GAMES}
    few = [game for game, count in by_game.items() if count < MINIMUM]
    lowest = min(data.medians().values())
    yield gone(
        "§4.1: algorithms before those with too few games were removed",
        "116",
        "Only those that were kept are available.",
    )
    yield data.slip("§4.1 and Table 8: how many algorithms", f"{len(counts) - 1} and the human reference")
    yield decided(
        "§4.1 and Appendix D: games of each algorithm",
        "40 or more",
        f"{min(counts.values())} or more",
        holds=min(counts.values()) >= MINIMUM,
    )
    told = ", ".join(f"{data.name_of(game)} ({by_game[game]})" for game in few)
    yield decided("§4.1: games that fewer than 40 algorithms have", "only Surround", told, holds=few == ["surround"])
    with_it = data.medians()["MuZero"]
    row = data.percentages()[data.names().index("MuZero")]
    without = float(np.nanmedian(np.delete(row, data.GAMES.index("surround"))))
    yield data.slip(
        "§4.1 and Table 8: Surround",
        f"excluded from subsets only: MuZero's median is {with_it:.1f} with it, {without:.1f} without, and "
        f"{data.printed(8)['MuZero'][1]} is printed",
    )
    yield data.slip(
        "§4.1, which algorithms were removed",
        f"the lowest median that was kept is {lowest:.1f} %",
        holds=lowest <= LEAST_MEDIAN,
    )
    negative = int(np.count_nonzero(data.percentages() < 0))
    yield decided(
        "§4.1: scores slightly worse than random, which have to be clipped",
        "occasionally",
        f"{negative} of {np.count_nonzero(~np.isnan(data.percentages())):,} scores",
        holds=negative > 0,
    )
    read = sum("Papers with Code" in entry.read_in for entry in collections.entries(data.COLLECTION))
    yield data.slip("Appendix D: where the algorithms' names are from", f"{read} of the {len(counts)}")


def search() -> tuple[Comparison, ...]:
    """Check §4.3: how many subsets there are, which is best, and how those of other sizes are made of it."""
    return tuple(_search())


def _search() -> Iterator[Comparison]:
    from arcademark.reproduce import atari5_plan

    count = math.comb(SEARCHED, SIZE)
    hours = count / REGRESSIONS_A_SECOND / 3600
    yield decided(
        "§4.3 and its footnote: an hour for all subsets of five, at 1,000 models a second",
        "approximately 1 hour",
        f"C(56,5) = {count:,} take {hours:.2f} hours",
        holds=round(hours) == 1,
    )
    yield from atari5_plan.winners()
    names = ("atari-1", "atari-3", "atari-5", "atari-10", "atari-3-val", "atari-5-val")
    one, three, five, ten, val_three, val_five = (set(subset(name).tasks) for name in names)
    nested = one < three < five < ten and val_three < val_five and not val_five & ten
    yield decided(
        "§4.3: smaller subsets are part of larger ones, and validation shares no game with them",
        "1 in 3 in 5 in 10; 3-Val in 5-Val; no common game",
        "so are Table 2's" if nested else "not so in Table 2",
        holds=nested,
    )
    errors = [data.cross_validated(subset(name).tasks).relative_error for name in names[:4]]
    gains = [100 * (a - b) / games for a, b, games in zip(errors, errors[1:], (2, 2, 5), strict=False)]
    yield decided(
        "§4.3, footnote: returns diminish after five games",
        "diminishing",
        f"{gains[0]:.1f} points of relative error a game from 1 to 3, {gains[1]:.1f} from 3 to 5, {gains[2]:.1f} to 10",
        holds=gains[0] > gains[1] > gains[2],
    )
    found = data.sample(data.ATARI_5)
    random = [[0.0] * SIZE]
    with_one, without = (
        float(log10_score_inverse(fit(found.inputs, found.targets, intercept=constant).predict(random))[0])
        for constant in (True, False)
    )
    yield decided(
        "§4.3: why models have no intercept",
        "a random policy is to score 0",
        f"with one, Atari-5 would give it {with_one:.2f} %; without, {without:g}",
        holds=without == 0 and abs(with_one) >= VISIBLE,
    )
    weights = data.model(data.ATARI_5).coefficients
    least = min(weights)
    yield data.slip(
        "§4.3 and Algorithm 1: negative coefficients", f"Atari-5's smallest is {least:.4f}: it makes no difference"
    )
