"""The Atari-5 paper's Figures 2 to 5 from its training table. Figure 1 shows screens of five games."""

from __future__ import annotations

from collections.abc import Iterable

from arcademark.reproduce.atari5 import data, results
from arcademark.reproduce.figures import Panel, PanelSeries, PaperFigure
from arcademark.suite.tasks import game_name

TERTILES = ("low", "middle", "high")


def figure(number: int) -> PaperFigure:
    """Return Figure 2, 3, 4 or 5, made from the collection "atari-5-training"."""
    return {2: single_games, 3: fairness, 4: all_games, 5: structure}[number]()


def single_games() -> PaperFigure:
    """Return Figure 2: R² of predictions of the median from single games."""
    ordered = sorted(data.single_games().items(), key=lambda item: -item[1].r2)
    return PaperFigure(
        data.PAPER,
        2,
        "Figure 2: single games as predictors of the median",
        "R² of the 57-game median from one game, with an intercept, both in log space, in sample; over the algorithms "
        "that have the game. The best is first here and last in the paper.",
        (_bars("R²", [game_name(game) for game, _ in ordered], [model.r2 for _, model in ordered]),),
    )


def fairness() -> PaperFigure:
    """Return Figure 3: accuracy and bias of Atari-5's estimates by tertiles of the true median."""
    groups = results.fair().groups
    series = (
        PanelSeries("mean absolute", tuple(100 * group.absolute for group in groups)),
        PanelSeries("root mean square", tuple(100 * group.rms for group in groups)),
        PanelSeries("mean (bias)", tuple(100 * group.bias for group in groups)),
    )
    labels = tuple(f"{name}: {group.size} algorithms" for name, group in zip(TERTILES, groups, strict=True))
    return PaperFigure(
        data.PAPER,
        3,
        "Figure 3: accuracy and bias of Atari-5 by tertiles",
        "Relative errors of Atari-5's estimates, in sample, of the third of algorithms with the lowest true median, "
        "the middle third and the highest. The arXiv text measures accuracy by the first, the ICML text by the second.",
        (Panel("Relative error", "bars", "%", series, labels),),
    )


def all_games() -> PaperFigure:
    """Return Figure 4: R² of predictions of every game from Atari-5."""
    models = data.game_models(data.ATARI_5)
    kinds = {game: "hard exploration" if game in data.HARD else "other games" for game in data.GAMES}
    kinds |= dict.fromkeys(data.ATARI_5, "predicted from themselves")
    order = ("predicted from themselves", "other games", "hard exploration")
    games = sorted(data.GAMES, key=lambda game: (order.index(kinds[game]), -models[game].r2, game))
    names, values = [game_name(game) for game in games], [models[game].r2 for game in games]
    return PaperFigure(
        data.PAPER,
        4,
        "Figure 4: every game from Atari-5",
        "R² of each game's log score from those of the five, with an intercept, in sample. 17 games are above 0.8, "
        "including the five themselves. The groups are ours: the text does not say what the figure marks.",
        (_bars("R²", names, values, [kinds[game] for game in games], marks=(results.WELL,)),),
    )


def structure() -> PaperFigure:
    """Return Figure 5: the most correlated pairs of games."""
    pairs = list(data.correlations().items())[: results.PAIRS]
    kinds = {pair: _kind(*pair) for pair, _ in pairs}
    strongest = {kinds[pair]: value for pair, value in reversed(pairs)}
    ordered = sorted(pairs, key=lambda item: (-strongest[kinds[item[0]]], kinds[item[0]], -item[1]))
    names = [data.listed(pair, " – ") for pair, _ in ordered]
    return PaperFigure(
        data.PAPER,
        5,
        "Figure 5: the 24 most correlated pairs of games",
        "Pearson's correlation of log scores over the algorithms that have both games, grouped by the games' category. "
        "The paper draws the pairs as edges, those above 0.9 in bold.",
        (_bars("Correlation", names, [value for _, value in ordered], [kinds[p] for p, _ in ordered], marks=(0.9,)),),
    )


def _kind(first: str, second: str) -> str:
    mine, theirs = sorted((results.category(first), results.category(second)))
    return f"both {mine}" if mine == theirs else "of two categories"


def _bars(
    title: str,
    names: Iterable[str],
    values: Iterable[float],
    details: Iterable[str] = (),
    marks: tuple[float, ...] = (),
) -> Panel:
    return Panel(
        title, "bars", "", (PanelSeries(title, tuple(values)),), tuple(names), tuple(details), marks=marks, decimals=3
    )
