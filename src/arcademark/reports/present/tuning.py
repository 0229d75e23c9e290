"""Settings of an agent that were tried: the best first, their scores below, and what to write to play with the best."""

from __future__ import annotations

from collections.abc import Iterator

from arcademark.reports import wording
from arcademark.reports.blocks import Cell, Document, Prose, Table, section, table
from arcademark.reports.runs.tuning import Setting, Tuned
from arcademark.suite.tasks import game_name


def document(shown: Tuned) -> Document:
    """Show the settings of one run."""
    title = f"{wording.plural(len(shown.settings), 'setting')} under {shown.protocol}"
    scores = table(
        ("", *map(game_name, shown.games)),
        (
            (str(rank), *(wording.score(setting.scores[game], 1) for game in shown.games))
            for rank, setting in enumerate(shown.settings, start=1)
        ),
    )
    return Document(
        title, "tuning", "", (section("", _places(shown)), section("Scores", scores), section("", *_advice(shown)))
    )


def _places(shown: Tuned) -> Table:
    names = list(shown.settings[0].values)
    rows: list[tuple[Cell | str, ...]] = [
        (
            str(rank),
            *(setting.values[name] for name in names),
            Cell(wording.fixed(setting.mean, 3), "strong"),
            _half_width(setting),
        )
        for rank, setting in enumerate(shown.settings, start=1)
    ]
    columns = ("", *names, "mean place", "95 %")
    caption = "Mean place: 0 is the worst setting of each game, 1 the best, averaged over games."
    return table(columns, rows, names=1 + len(names), caption=caption)


def _advice(shown: Tuned) -> Iterator[Prose]:
    if shown.uninformative:
        same = wording.listing(map(game_name, shown.uninformative))
        yield Prose(f"On {same} all settings score the same: left out of the mean.", "weak")
    best = shown.settings[0]
    if best.mean is None:
        yield Prose("No setting is better than another on these games and episodes; try more of them.")
        return
    yield Prose(f"Best: {' '.join(f'--set {name}={value}' for name, value in best.values.items())}", "strong")
    if level := shown.level_with_best:
        yield Prose(f"{wording.plural(len(level), 'other setting')} cannot be distinguished from it by these episodes.")
    elif best.low is None:
        yield Prose("Single episodes do not show how much scores vary: play more (--episodes, --seeds).")
    if shown.learnt_once:
        yield Prose("Each setting was trained once; how much trainings differ is not in these intervals (--seeds).")


def _half_width(setting: Setting) -> str:
    if setting.mean is None or setting.high is None:
        return wording.MISSING
    half = setting.high - setting.mean
    return f"±{half:.2f}" if half < 1 else "over ±1"
