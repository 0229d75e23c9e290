"""Parts of the terminal view that several documents share."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from arcademark.report import runs, wording
from arcademark.report.document import HardExploration, HardGame, Report
from arcademark.report.layout import WIDE, prose, section, table
from arcademark.report.learning import sparkline

MOST_ALGORITHMS = 8
"""Algorithms whose scores on the hard-exploration games are shown, unless all are asked for."""

SPARKLINE, SHORT_SPARKLINE = 40, 16
"""Characters of a learning curve on a line, in a wide and in a narrower terminal."""


def hard_exploration(found: HardExploration, *, everyone: bool = False) -> Iterator[RenderableType]:
    """Yield the section on hard-exploration games.

    Parameters
    ----------
    found : HardExploration
    everyone : bool, optional
        Whether to show more than the first few algorithms.
    """
    title = "Hard exploration, of which small subsets say little"
    if not found.played:
        names = wording.listing((game.name for game in found.games), last="or")
        yield from section(title, Text(f"No score on {names}: where exploration matters, play these too."))
        return
    several = len(found.games[0].scores) > 1
    made = prose(table("game", "score", "HNS", "random", "human", "best other", "published by"))
    made.columns[-1].min_width = 12
    for game in found.games:
        anchors = _anchors(game)
        if not several:
            score = game.scores[0]
            made.add_row(Text(game.name), *_score(score.score, score.hns), *anchors)
            continue
        made.add_row(Text(game.name, style="bold"), "", "", *anchors)
        if game not in found.played:
            continue
        for score in game.scores if everyone else game.scores[:MOST_ALGORITHMS]:
            who = Padding(Text(score.algorithm), (0, 0, 0, 2))
            made.add_row(who, *_score(score.score, score.hns), "", "", "", "")
    more = len(found.games[0].scores) - MOST_ALGORITHMS
    rest = [] if everyone or more < 1 else [Text(f"and {wording.plural(more, 'algorithm')} more: --all shows them")]
    yield from section(title, made, *rest)


def planning(report: Report) -> Iterator[RenderableType]:
    """Yield the section on what planners simulated; nothing where no agent plans."""
    several = len(report.algorithms) > 1
    who = ["game", "algorithm"] if several else ["game"]
    made = table(*who, "decisions", "simulated frames", "a decision", left=len(who))
    for game in report.games:
        for algorithm in report.algorithms:
            for cost in (score.planning for score in algorithm.scores if score.game == game.id and score.planning):
                numbers = (wording.count(cost.decisions), wording.count(cost.simulated_frames))
                named = (Text(game.name), Text(algorithm.name))[: len(who)]
                made.add_row(*named, *numbers, wording.count(round(cost.frames_per_decision)))
    if made.row_count:
        told = (Text(runs.frames_used(run)) for run in report.runs if run.simulated_frames)
        yield from section("Planning on the emulator", made, *told)


def training(report: Report, width: int) -> Iterator[RenderableType]:
    """Yield the section on how learners got on; nothing where no agent learns."""
    several = len(report.algorithms) > 1
    made = table("game", "episodes", "frames", "first", "last", "")
    made.columns[-1].justify = "left"
    wide = SPARKLINE if width >= WIDE else SHORT_SPARKLINE
    for game in report.games:
        shown = [curve for curve in report.learning if curve.game == game.id]
        if several and shown:
            made.add_row(Text(game.name, style="bold"), *[""] * 5)
        for curve in shown:
            who = Padding(Text(curve.algorithm), (0, 0, 0, 2)) if several else Text(game.name)
            numbers = (wording.count(curve.episodes), wording.count(curve.frames))
            scores = (wording.score(curve.first), Text(wording.score(curve.last), style="bold"))
            line = sparkline(curve.mean()[1], wide)
            made.add_row(who, *numbers, *scores, Text(line + ("" if curve.finished else " …"), style="cyan"))
    if made.row_count:
        windows = sorted({curve.window for curve in report.learning})
        means = "episode" if windows == [1] else f"{wording.listing(map(str, windows), last='or')} episodes"
        told = f"First and last: the mean score of the first and the last {means} of training, averaged over seeds."
        going = "" if all(curve.finished for curve in report.learning) else " …: training goes on."
        yield from section("Training", made, Text(told + going, style="dim"))


def _score(score: float | None, hns: float | None) -> tuple[RenderableType, ...]:
    return Text(wording.score(score), style="bold"), wording.percent(hns)


def _anchors(game: HardGame) -> tuple[str, ...]:
    by = f"{game.best_algorithm}, {game.best_source}" if game.best_algorithm else wording.MISSING
    return wording.reference(game.random), wording.reference(game.human), wording.reference(game.best), by
