"""Settings of an agent that were tried: the best first, their scores below, and what to write to play with the best."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from arcademark.metrics import hyperparameters
from arcademark.reports import wording
from arcademark.reports.blocks import Cell, Document, Prose, Section, Table, section, table
from arcademark.reports.runs import tuning
from arcademark.reports.runs.tuning import Sensitivity, Setting, Tuned
from arcademark.reports.subsets.models import short_title
from arcademark.suite.settings import format_setting
from arcademark.suite.subsets import subset


def document(shown: Tuned) -> Document:
    """Show the settings of one run."""
    titled = partial(tuning.titled, suite=shown.suite)
    title = f"{wording.plural(len(shown.settings), 'setting')} under {shown.protocol}"
    scores = table(
        ("", *map(titled, shown.games)),
        (
            (str(rank), *(wording.score(setting.scores[game], 1) for game in shown.games))
            for rank, setting in enumerate(shown.settings, start=1)
        ),
    )
    return Document(
        title,
        "tuning",
        "",
        (
            section("", _places(shown)),
            section("Scores", scores),
            *([_sensitivity(shown.sensitivity, shown.suite)] if shown.sensitivity else []),
            section("", *_advice(shown)),
        ),
    )


def _places(shown: Tuned) -> Table:
    names = list(shown.settings[0].values)
    rows: list[tuple[Cell | str, ...]] = [
        (
            str(rank),
            *(format_setting(setting.values[name]) for name in names),
            Cell(wording.fixed(setting.mean, 3), "strong"),
            _half_width(setting),
            wording.percent(setting.estimate),
        )
        for rank, setting in enumerate(shown.settings, start=1)
    ]
    columns = ("", *names, "mean place", "95 %", "median of all, estimated" if shown.model else None)
    noun = _noun(shown.suite)
    caption = f"Mean place: 0 is the worst setting of each {noun}, 1 the best, averaged over {noun}s."
    if shown.model:
        title = short_title(subset(shown.model))
        caption += f" Estimated median: HNS of all games by {title}'s published model (Aitchison et al. 2023, §8)."
    return table(columns, rows, names=1 + len(names), caption=caption)


def _noun(suite: str) -> str:
    return wording.noun("step" if suite else "frame")


def _sensitivity(shown: Sensitivity, suite: str) -> Section:
    """Show what tuning game by game gives, and how many parameters it takes."""
    noun = _noun(suite)
    apart = (f"on other {shown.unit}s", "95 %") if shown.unit else (None, None)
    by_count = table(
        (f"tuned {noun} by {noun}", "score", "of all tuned", *apart),
        (
            (
                ", ".join(row.parameters) or "none: the best fixed setting",
                Cell(wording.fixed(row.score, 3), "strong"),
                f"{100 * row.share:.0f} %",
                wording.fixed(row.held_out, 3),
                _between(row.low, row.high),
            )
            for row in shown.by_count
        ),
        caption=f"Score: mean over {noun}s, each from the 5th percentile of its scores (0) to the 95th (1).",
    )
    names = list(shown.fixed)
    best = table(
        ("", *names),
        (
            ("best fixed setting", *map(format_setting, shown.fixed.values())),
            *(
                (tuning.titled(game, suite), *map(format_setting, values.values()))
                for game, values in shown.best.items()
            ),
        ),
    )
    return section("Sensitivity to parameters", by_count, best, *_sensitive(shown, noun))


def _sensitive(shown: Sensitivity, noun: str) -> Iterator[Prose]:
    apart = ""
    if shown.held_out is not None:
        limits = f" (95 %: {_between(shown.low, shown.high)})" if shown.low is not None else ""
        apart = f", and {wording.fixed(shown.held_out, 3)}{limits} on {shown.unit}s that did not choose the settings"
    yield Prose(
        f"Sensitivity: tuning {noun} by {noun} gives {wording.fixed(shown.value, 3)} more than the best fixed "
        f"setting{apart}. Effective dimensionality: {wording.plural(shown.dimensionality, 'parameter')} of "
        f"{len(shown.by_count) - 1}, tuned {noun} by {noun}, {'reaches' if shown.dimensionality == 1 else 'reach'} "
        f"{100 * hyperparameters.SHARE:.0f} % of what all give (Adkins et al. 2024)."
    )
    if shown.unit:
        yield Prose(
            f"Scores of the settings that are best on the same {shown.unit}s are too good, more so the more is tuned. "
            f"On other {shown.unit}s: chosen on all but one of {shown.parts} parts, scored on that one, in turn.",
            "weak",
        )
    else:
        yield Prose(
            "These are scores of the settings that are best on the same episodes: too good, more so the more is tuned. "
            "With more episodes or seeds they are scored on others, too.",
            "weak",
        )


def _between(low: float | None, high: float | None) -> str:
    return wording.MISSING if low is None or high is None else f"{wording.fixed(low, 2)} … {wording.fixed(high, 2)}"


def _advice(shown: Tuned) -> Iterator[Prose]:
    if shown.uninformative:
        same = wording.listing(tuning.titled(game, shown.suite) for game in shown.uninformative)
        yield Prose(f"On {same} all settings score the same: left out of the mean.", "weak")
    best = shown.settings[0]
    if best.mean is None:
        yield Prose(f"No setting is better than another on these {_noun(shown.suite)}s and episodes; try more of them.")
        return
    told = " ".join(f"--set {name}={format_setting(value)}" for name, value in best.values.items())
    yield Prose(f"Best: {told}", "strong")
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
