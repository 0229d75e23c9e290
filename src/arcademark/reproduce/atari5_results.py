"""What the Atari-5 paper states of its results: §§5.1, 5.2, 5.4 to 5.5 and 6, with Figures 2 to 5."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np

from arcademark.reproduce import atari5_data as data
from arcademark.reproduce.claims import decided, gone
from arcademark.reproduce.comparison import Comparison
from arcademark.subset.fairness import Fairness, fairness
from arcademark.subset.study import inversions
from arcademark.suite.subsets import subset
from arcademark.suite.tasks import games

WELL, PAIRS, STRONG = 0.8, 24, 0.9
"""R² that counts as well predicted (§5.5); pairs that Figure 5 shows, and the correlation of its bold ones (§6)."""
LITTLE = 0.2
"""R² below which we take a game to have little predictive power; the paper gives no number."""


def single() -> tuple[Comparison, ...]:
    """Check §5.1 and Figure 2: how well one game predicts the median."""
    return tuple(_single())


def _single() -> Iterator[Comparison]:
    models = data.single_games()
    order = list(models)
    best, worst = order[-1], order[0]
    yield _said("§5.1: the best single game", "Zaxxon, 0.903", f"{data.name_of(best)}, {models[best].r2:.3f}")
    yield _said("§5.1: the worst single game", "Surround, 0.002", f"{data.name_of(worst)}, {models[worst].r2:.3f}")
    own = models["name_this_game"]
    yield _said(
        "§5.1: Name This Game's intercept and scale",
        "-0.03 and 1.01",
        f"{own.intercept:.2f} and {own.coefficients[0]:.2f}",
    )
    for title, chosen, printed in (
        ("Pong, Surround and Tennis, whose scores are capped", ("pong", "surround", "tennis"), "close to none"),
        ("the hard exploration games", data.HARD, "poor"),
    ):
        told = ", ".join(f"{data.name_of(game)} {models[game].r2:.3f} ({order.index(game) + 1})" for game in chosen)
        limit = LITTLE if printed == "close to none" else models[order[len(order) // 2]].r2
        yield decided(
            f"§5.1: predictive power of {title}",
            printed,
            f"R² (place from the worst): {told}; all below {limit:.3f}{'' if limit == LITTLE else ', the middle game'}",
            holds=all(models[game].r2 < limit for game in chosen),
        )


def subsets() -> tuple[Comparison, ...]:
    """Check §5.2: the best game against DQN-7, and how close Atari-5 comes."""
    one, seven = (data.cross_validated(subset(name).tasks) for name in ("atari-1", "dqn-7"))
    errors = np.array([abs(guess - true) / true for true, guess in data.estimates("atari-5").values()])
    within = int(np.count_nonzero(errors <= 0.1))
    names = list(data.printed(3))
    turned = inversions(*zip(*(data.estimates("atari-5")[name] for name in names), strict=True))
    pairs = "; ".join(f"{names[i]} and {names[j]}" for i, j in turned)
    log_error = data.cross_validated(data.ATARI_5).relative_error
    return (
        decided(
            "§5.2: one well-chosen game outperforms the seven of DQN",
            "R² 0.864 against 0.756",
            f"{one.r2:.3f} against {seven.r2:.3f}",
            holds=one.r2 > seven.r2,
        ),
        decided(
            "§5.2: Atari-5 is generally within 10% of the true median",
            "generally",
            f"{within} of {len(errors)} algorithms are, on average it is {100 * errors.mean():.1f}% off (in sample)",
            holds=within > len(errors) / 2,
        ),
        decided(
            "§5.2 and Appendix G: ln(10) times the log error is about the relative error",
            "a good approximation for small residuals",
            f"Atari-5: {100 * log_error:.1f}% by logs, {100 * _relative():.1f}% measured, both on the folds held out",
            holds=abs(log_error - _relative()) < 0.02,
        ),
        decided(
            "Table 3, caption: the ranking is generally preserved",
            "generally",
            f"{len(turned)} of 10 pairs is the other way round: {pairs}",
            holds=len(turned) <= 1,
        ),
    )


@cache
def _relative() -> float:
    """Return the mean relative error over the folds that the model was not fitted to."""
    from arcademark.subset.fitting import fold_means, held_out
    from arcademark.subset.problem import fold_of_cases, log10_score_inverse

    found = data.sample(data.ATARI_5)
    fold_of = fold_of_cases(len(found.targets))
    true = log10_score_inverse(found.targets)
    guess = log10_score_inverse(held_out(found.inputs, found.targets, fold_of))
    return float(np.mean(fold_means(np.abs(guess - true) / true, fold_of)))


@cache
def fair() -> Fairness:
    """Return the errors of Atari-5's published model by tertiles of the true median (§5.4)."""
    pairs = np.array(list(data.estimates("atari-5").values()))
    return fairness(pairs[:, 0], pairs[:, 1])


def fairness_by_tertiles() -> tuple[Comparison, ...]:
    """Check §5.4 and Figure 3, with the measures of both texts."""
    found = fair()
    sizes = ", ".join(str(len(group.places)) for group in found.groups)
    rows = []
    for text, values, p in (
        ("accuracy by average absolute relative error (arXiv)", [g.absolute for g in found.groups], found.absolute_p),
        ("accuracy by root mean squared relative error (ICML)", [g.rms for g in found.groups], found.square_p),
        ("bias by average relative error", [g.bias for g in found.groups], found.bias_p),
    ):
        shares = ", ".join(f"{100 * value:.1f}%" for value in values)
        chances = ", ".join(f"{value:.2f}" for value in p)
        told = (
            f"{shares} for the {sizes} algorithms of the thirds; p = {chances} (low and middle, low and high, middle "
            "and high)"
        )
        rows.append(decided(f"§5.4 and Figure 3: {text}", "no pair differs at 0.05", told, holds=min(p) > 0.05))
    where = "§5.4: the measure of accuracy"
    both = not found.differ()
    rows.append(data.slip(where, "both support the statement" if both else "they do not agree"))
    return tuple(rows)


def all_games() -> tuple[Comparison, ...]:
    """Check §5.5 and Figure 4: how well five and ten games predict the others."""
    return tuple(_all_games())


def _all_games() -> Iterator[Comparison]:
    five = data.game_models(data.ATARI_5)
    well = [game for game, model in five.items() if model.r2 > WELL]
    own = [game for game in well if game in data.ATARI_5]
    yield decided(
        "§5.5 and Figure 4: games with R² above 0.8, the five themselves among them",
        "17",
        f"{len(well)}, {len(own)} of them the five",
        holds=len(well) == 17,
    )
    yield data.slip("§5.5: games predicted with R² above 0.8", f"{len(well) - len(own)} of the other {57 - 5}")
    for number, chosen, share in ((5, data.ATARI_5, "71.5%"), (10, data.ATARI_10, "80.0%")):
        exact = 100 * data.explained(chosen, data.GAMES)
        yield _said(f"§5.5: variance that Atari-{number}'s models explain over all 57 games", share, f"{exact:.1f}%")
        rest = [game for game in data.GAMES if game not in chosen]
        told = f"{100 * data.explained(chosen, rest):.1f} % over the other {len(rest)} games"
        yield data.slip(f"§5.5: variance that Atari-{number}'s models explain", told)
    yield _said("§5.5: Atari-10's share of the environments", "17.5%", f"{100 * 10 / 57:.1f}%")
    hard, others = ([g for g in data.GAMES if (g in data.HARD) == kind] for kind in (True, False))
    pooled = [100 * data.explained(data.ATARI_5, part) for part in (hard, others)]
    told = ", ".join(f"{data.name_of(game)} {five[game].r2:.2f}" for game in hard)
    yield decided(
        "§5.5, §8.1 and Figure 4: the hard exploration games are predicted poorly",
        "poorly",
        f"{pooled[0]:.1f}% of their variance, {pooled[1]:.1f}% of the others'; {told}",
        holds=pooled[0] < pooled[1],
    )


def structure() -> tuple[Comparison, ...]:
    """Check §6 and Figure 5: which games go together."""
    return tuple(_structure())


def _structure() -> Iterator[Comparison]:
    pairs = list(data.correlations().items())
    first, second = pairs[0][0]
    told = f"{data.name_of(first)} and {data.name_of(second)}, {pairs[0][1]:.3f}"
    yield decided(
        "§6: the most correlated pair", "Alien and Ms. Pac-Man", told, holds={first, second} == {"alien", "ms_pacman"}
    )
    strong = [pair for pair, value in pairs if value > STRONG]
    yield decided(
        "§6 and Figure 5: pairs with a correlation above 0.9 (bold), of the 24 shown",
        "some",
        f"{len(strong)}: " + "; ".join(_pair(pair) for pair in strong),
        holds=0 < len(strong) < PAIRS,
    )
    last, next_one = pairs[PAIRS - 1][1], pairs[PAIRS][1]
    yield decided(
        "§6 and Figure 5: the 24 most correlated pairs",
        "24",
        f"from {pairs[0][1]:.3f} down to {last:.3f}; the 25th has {next_one:.3f}",
        holds=last > next_one,
    )
    shares = [_same_category([pair for pair, _ in part]) for part in (pairs[:PAIRS], pairs)]
    yield decided(
        "§6: games of similar categories are often clustered",
        "often",
        f"{100 * shares[0]:.0f}% of the 24 pairs are of one category, {100 * shares[1]:.0f}% of all pairs",
        holds=shares[0] > shares[1],
    )
    for game, text in (("alien", "-0.51"), ("frostbite", "-0.55"), ("ms_pacman", "-0.51"), ("riverraid", "-0.50")):
        exact = data.correlation("skiing", game)
        where = f"§6, correlation of Skiing with {data.name_of(game)}"
        found = _said(where, text, f"{exact:.2f}")
        yield data.explained_by(found)
    lowest = [pair for pair, _ in pairs[::-1][:4]]
    mates = {game for pair in lowest for game in pair} - {"skiing"}
    yield decided(
        "§6: with which games Skiing is most negatively correlated",
        "Alien, Frostbite, Ms. Pac-Man, River Raid",
        ", ".join(sorted(map(data.name_of, mates))),
        holds=mates == {"alien", "frostbite", "ms_pacman", "riverraid"},
    )
    yield gone(
        "§6: why Skiing differs",
        "all its score comes at the end",
        "A cause, which correlations neither show nor exclude.",
    )


def category(game: str) -> str:
    """Return a game's category, by which Figure 5 is coloured."""
    return games()[game].category


def _pair(pair: Sequence[str]) -> str:
    return " and ".join(map(data.name_of, pair))


def _same_category(pairs: Sequence[tuple[str, str]]) -> float:
    return sum(category(a) == category(b) for a, b in pairs) / len(pairs)


def _said(where: str, printed: str, recomputed: str) -> Comparison:
    return decided(where, printed, recomputed, holds=printed == recomputed)
