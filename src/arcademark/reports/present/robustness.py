"""What an agent loses where the game is changed: by kind of change, then by game and variant."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from arcademark.reports import wording
from arcademark.reports.blocks import Cell, Document, Prose, section, table
from arcademark.reports.runs.robustness import Lost, Robustness, Variant
from arcademark.suite.settings import format_setting
from arcademark.suite.tasks import game_name
from arcademark.suite.variants import Kind

_KINDS: dict[Kind, str] = {
    "switches": "difficulty or mode",
    "sticky_actions": "sticky actions",
    "frame_skip": "frame skip",
    "colours": "colours",
    "modification": "modified game",
}
_SETTINGS = {"repeat_action_probability": "sticky", "frame_skip": "frame skip"}


def document(shown: Robustness) -> Document:
    """Show what is lost by each kind, then each variant, then what is missing."""
    kinds = table(
        ("change", "lost", "95 %", "games", "variants"),
        (
            *(
                (_KINDS[row.kind], *_lost(row.lost), wording.count(len(row.games)), wording.count(row.variants))
                for row in shown.kinds
            ),
            ("mean of these", *_lost(shown.overall), "", ""),
        ),
        caption=""
        if shown.base is None
        else (
            f"Lost: the mean score over games under {shown.protocol}, {wording.percent(shown.base)} over all games, "
            "less that in the variants, on games that have such; negative where these give more. 0 % is random play, "
            "100 % the human average."
        ),
    )
    rows = [
        (
            game_name(row.game),
            _changed(row),
            wording.score(row.base),
            Cell(wording.score(row.score), "strong"),
            *((Cell(wording.percent(0.0), "weak"), "same episodes") if row.same else _lost(row.lost)),
        )
        for row in shown.variants
    ]
    variants = table(("game", "change", "score", "changed", "lost", "95 %"), rows, names=2, grouped=True, most=60)
    games = wording.plural(len(shown.games) - len(shown.unreferenced), "game")
    title = f"{shown.agent}: {wording.percent(shown.overall.value)} lost on {games}"
    return Document(
        title,
        "robustness",
        f"{shown.directory}, {shown.protocol}",
        (section("", kinds), section("Variants", variants), section("", *_notes(shown))),
    )


def _changed(row: Variant) -> str:
    return ", ".join(
        written.replace("_", " ") if row.kind == "modification" else f"{_SETTINGS.get(setting, setting)} {written}"
        for setting, written in zip(row.changed, map(format_setting, row.changed.values()), strict=True)
    )


def _lost(lost: Lost) -> tuple[Cell, str]:
    limits = wording.MISSING
    if lost.low is not None and lost.high is not None:
        limits = f"{wording.percent(lost.low)} … {wording.percent(lost.high)}"
    return Cell(wording.percent(lost.value), "strong"), limits


def _notes(shown: Robustness) -> Iterator[Prose]:
    if shown.trained:
        yield Prose("The agent was trained without these changes and learnt nothing more in the variants.")
    if shown.one_seed:
        yield Prose("It was trained with one seed: intervals are over its episodes and leave out how trainings differ.")
    for failed in shown.failed:
        yield Prose(f"{game_name(failed.game)}, {failed.directory}: failed, {failed.reason}", "bad")
    alike = defaultdict[tuple[Kind, int, int], list[str]](list)
    for row in shown.fewer:
        alike[row.kind, row.played, row.exist].append(game_name(row.game))
    for (kind, played, exist), names in alike.items():
        said = f"{played} of {wording.plural(exist, 'variant')}" if exist else "there is none to play"
        yield Prose(f"{wording.shortened(names)}, {_KINDS[kind]}: {said}.", "weak")
    if any(row.same for row in shown.variants):
        yield Prose("Same episodes: the agent acts alike under these colours.", "weak")
    if shown.unreferenced:
        games = wording.listing(map(game_name, shown.unreferenced))
        yield Prose(f"Without a random or human reference score, in no mean: {games}.", "weak")
    if shown.incomplete:
        trials = wording.plural(shown.incomplete, "trial")
        yield Prose(f"{trials} with fewer episodes than were asked for; play on with the same command.", "strong")
    if shown.unmatched:
        trials = wording.plural(shown.unmatched, "trial")
        yield Prose(f"{trials} left out, as a run lacks the seed; play on with the same command.", "strong")
