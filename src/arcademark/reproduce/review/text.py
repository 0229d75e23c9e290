"""Statements of the review's text that its scores, its own tables or other papers can decide.

Conventions
-----------
* A statement on scores is checked with the catalogue's scores and the suite's unrounded references. "Best" is among the
  13 algorithms of the review, or among those of the same kind if stated.
* Statements that cannot be decided are "not available", with the known facts beside them.

The paper is Fan, "A Review for Deep Reinforcement Learning in Atari: Benchmarks, Challenges, and Solutions", 2021.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from arcademark.catalogue import collections
from arcademark.catalogue.model import MODEL_FREE, Location
from arcademark.metrics.efficiency import DAYS_PER_YEAR, FRAMES_PER_SECOND, game_time_days, game_time_days_review
from arcademark.reproduce import comparison
from arcademark.reproduce.comparison import PrintedComparison, Reproduction, number
from arcademark.reproduce.review.values import (
    COLLECTION,
    PAPER,
    QUANTITIES,
    RECORD,
    as_rounded,
    known,
    ours,
    percentages,
    value,
)
from arcademark.suite.protocols import protocol
from arcademark.suite.tasks import game_name, games, suite

OTHER = "atari-5-training"
SAME_SCORES: Mapping[str, str] = {
    "Rainbow": "Rainbow (noop)",
    "IMPALA": "IMPALA (deep)",
    "LASER": "LASER No Sweep (200M)",
    "R2D2": "R2D2",
    "NGU": "NGU (32-0)",
    "Agent57": "Agent57",
    "MuZero": "MuZero",
    "DreamerV2": "DreamerV2",
    "GDI-I3": "GDI-I3",
    "GDI-H3": "GDI-H3(200M frames)",
}
"""Entries of the other collection with the scores of the paper that the review names."""

_HALF_HOUR = 30 * 60 * FRAMES_PER_SECOND

stated = partial(comparison.stated, PAPER)


def statements() -> tuple[Reproduction, ...]:
    """Check the text's statements, then the settings of each algorithm in Tables 1 and 2."""
    groups = {
        "Statements of the text: which algorithm is best in what": (*_figures(), *_bests(), *_duels()),
        "Statements of the text: records, means and game time": (*_records(), *_times()),
        "Statements of the text: whose scores are printed": tuple(_sources()),
        "Tables 1 and 2: settings": tuple(_settings()),
    }
    return tuple(Reproduction(PAPER, title, None, result) for title, result in groups.items())


def _figures() -> Iterator[PrintedComparison]:
    for key, algorithm, printed in (("hwrns-agent57", "Agent57", "125.92%"), ("hwrns-gdi-h3", "GDI-H3", "154.27%")):
        place = Location(0, "mean", algorithm, "hwrns")
        exact, rounded = (value(place, basis) or 0.0 for basis in (ours(), as_rounded()))
        plain, text = number(printed).is_rounding_of(exact), f"{exact:.3f}%"
        result = stated(key, text, plain or number(printed).is_rounding_of(rounded))
        yield result if plain else replace(result, why="with the references rounded as the review prints them")


def _bests() -> Iterator[PrintedComparison]:
    free = tuple(entry.algorithm for entry in collections.entries(COLLECTION) if entry.kind in MODEL_FREE)
    mean, median = (_ranked(row, "hns", free) for row in ("mean", "median"))
    text = f"by the mean {mean[0]}, by the median {median[0]}"
    yield stated("best-model-free", text, _first(mean) == "Agent57")
    for key, algorithm, row, quantity in (
        ("best-gdi", "GDI-H3", "mean", "hns"),
        ("best-gdi", "GDI-H3", "mean", "hwrns"),
        ("best-gdi", "GDI-H3", "median", "hwrns"),
        ("best-gdi", "GDI-H3", "median", "saber"),
        ("best-agent57", "Agent57", "mean", "saber"),
        ("best-muzero", "MuZero", "median", "hns"),
        ("best-gdi", "GDI-H3", "hwrb", "hwrns"),
    ):
        ranking = _ranked(row, quantity)
        measure = "HWRB" if row == "hwrb" else f"{row} {QUANTITIES[quantity]}"
        yield stated(key, ", ".join(ranking[:2]), _first(ranking) == algorithm, measure=measure)
    best = {
        f"{row} {name}": _ranked(f"{row} efficiency", quantity)
        for quantity, name in QUANTITIES.items()
        for row in ("mean", "median")
    }
    text = "; ".join(f"{measure} {ranking[0]}" for measure, ranking in best.items())
    yield stated("best-efficiency", text, all(_first(ranking) == "GDI-H3" for ranking in best.values()))


def _duels() -> Iterator[PrintedComparison]:
    def ahead(key: str, row: str, quantity: str, first: str, *others: str, **names: str) -> PrintedComparison:
        mine, theirs = known(row, quantity, first), {other: known(row, quantity, other) for other in others}
        text = f"{first} {mine:.2f}; " + ", ".join(f"{other} {score:.2f}" for other, score in theirs.items())
        return stated(key, text, mine > max(theirs.values()), **names)

    yield ahead("go-explore", "mean", "hns", "Go-Explore", "Agent57", "NGU", "R2D2")
    for row in ("mean", "median"):
        yield ahead("agent57-and-muzero", row, "hns", "MuZero", "Agent57", measure=row)
    yield ahead("muzero-hns", "median", "hns", "MuZero", "GDI-H3")
    yield ahead("muzero-hwrns", "median", "hwrns", "GDI-H3", "MuZero")
    for other in ("Agent57", "Go-Explore"):
        yield ahead("explorers", "mean", "hns", "GDI-H3", other, algorithm=other)
    hns = percentages("Go-Explore", "hns", ours())
    failed = ("demon_attack", "breakout", "boxing", "phoenix")
    yield stated("go-explore-fails", ", ".join(f"{game_name(task)} {hns[task]:.0f}%" for task in failed))
    ranks = [1 + [name.split()[0] for name in _ranked(row, "hns")].index("Muesli") for row in ("median", "mean")]
    yield stated("muesli", f"{ranks[0]}th of 13 by the median, {ranks[1]}th by the mean")


def _records() -> Iterator[PrintedComparison]:
    tasks = suite("atari-57").tasks
    names = tuple(ours().scores)
    rows = [percentages(name, "hwrns", ours()) for name in names]
    unbroken = sum(all(not row.get(task, np.nan) >= 100 for row in rows) for task in tasks)
    most = int(max(known("hwrb", "hwrns", name) for name in names))
    text = f"{unbroken} by none of the algorithms; {len(tasks) - most} not by the best of them alone"
    yield stated("unbroken", text, unbroken >= 35)
    yield stated("simple-breaks", f"{known('hwrb', 'hwrns', 'SimPLe'):.0f}")
    hns = percentages("Agent57", "hns", ours())
    least = min(hns, key=lambda task: hns[task])
    text = f"{sum(score >= 100 for score in hns.values())}; least on {game_name(least)}, {hns[least]:.2f}%"
    yield stated("above-human", text, min(hns.values()) >= 100)
    capped = {name: np.clip(list(percentages(name, "hns", ours()).values()), 0, 100) for name in names}
    full = [f"{name} ({len(scores)} games)" for name, scores in capped.items() if scores.mean() == 100]
    holds = any(name.startswith("Agent57") for name in full)
    yield stated("best-capped", f"100% on average: {', '.join(full)}", holds)
    fewer = [f"{name} {len(scores)}" for name, scores in ours().scores.items() if len(scores) < len(tasks)]
    yield stated("averaged-games", f"57, save {', '.join(fewer)}", not fewer)
    high = max(score["chopper_command"] for score in (*ours().scores.values(), ours().references[RECORD]))
    yield stated("chopper-command", f"up to {high:.0f}", high <= 999900)


def _times() -> Iterator[PrintedComparison]:
    yield stated("half-hour", f"{_HALF_HOUR:,}", _HALF_HOUR == 1e5)
    text = f"frames / (108,000 · 2 · 24): Eq. 6 is {_HALF_HOUR / 1e5 - 1:.0%} too long"
    yield stated("equation-6", text, _HALF_HOUR == 1e5)
    for key, printed, frames in (("days-200m", 42, 2e8), ("days-200m-again", 41, 2e8), ("days-100b", 20833, 1e11)):
        exact, review = float(game_time_days(frames)), game_time_days_review(frames)
        yield stated(key, f"{exact:,.2f} at 60 per second; {review:,.2f} by Eq. 6", abs(exact - printed) <= 0.5)
    years, by_review = (float(time(1e11)) / DAYS_PER_YEAR for time in (game_time_days, game_time_days_review))
    text = f"{years:.1f} at 60 per second; {by_review:.1f} by Eq. 6"
    yield stated("years-100b", text, round(years) == 57)
    yield stated("years-agent57", text, years > 57)
    spent = [ours().frames[name] for name in ("R2D2", "Agent57")]
    text = " and ".join(f"{count / 1e9:g}B" for count in spent)
    yield stated("frames-trained", text, spent == [10**10, 10**11])
    yield stated("broken", "HWRNS ≥ 100 %", False)
    yield stated("muesli-spelled", "Muesli", False)


def _sources() -> Iterator[PrintedComparison]:
    others = {entry.algorithm: collections.scores_of(entry, as_published=True) for entry in collections.entries(OTHER)}
    for algorithm, name in SAME_SCORES.items():
        mine, theirs = ours().scores[algorithm], others[name]
        both = [task for task in mine if task in theirs]
        # one of two equal scores may be rounded, at most to whole points
        differing = [task for task in both if abs(mine[task] - theirs[task].score) > 0.5]
        text = f"{len(both) - len(differing)} of {len(both)} are the same there"
        if 0 < len(differing) <= 3:
            text += f"; not {', '.join(game_name(task) for task in differing)}"
        yield stated("same-scores", text, not differing, algorithm=algorithm)


def _settings() -> Iterator[PrintedComparison]:
    yield stated("bold")
    sizes = Counter(len(games()[task].minimal_actions) for task in suite("atari-57").tasks)
    text = f"{min(sizes)} to {max(sizes)}, 4 in {sizes[4]} of 57 games"
    yield stated("useful-actions", text, sizes.keys() == {4})
    listed = {entry.algorithm: entry.settings for entry in collections.entries(COLLECTION) if entry.settings}
    life = listed["Rainbow"]["life information in training"]
    yield stated("life", "an episode ends with a life", life == "yes")
    dataset = ", ".join(name for name in listed if name in SAME_SCORES)
    for names, cap in ((dataset, protocol("noop-108000")), ("Go-Explore", protocol("go-explore"))):
        frames = cap.max_frames_per_episode or 0
        text = f"{frames:,} frames, {frames / FRAMES_PER_SECOND / 60:.0f} min (Aitchison et al. 2023, §5.3)"
        yield stated("episode-length", text, frames == _HALF_HOUR, algorithms=names)
    five = protocol("machado-2018").max_frames_per_episode or 0
    yield stated("machado-length", f"{five:,} frames", five == 5 * 60 * FRAMES_PER_SECOND)
    ends = protocol("ale-2013").evaluation_episode_end
    yield stated("bellemare-end", str(ends).replace("_", " "), ends == "game_over")
    yield stated("repeats")
    for name, settings in listed.items():
        if name in ("Muesli", "SimPLe"):
            text = f"{settings['image size']}, {settings['colour']}"
            yield stated("image", algorithm=name, settings=text)


def _ranked(row: str, quantity: str, among: Sequence[str] = ()) -> list[str]:
    """Return algorithms with their values, the best first: "GDI-H3 9623.90"."""
    values = {name: known(row, quantity, name) for name in among or ours().scores}
    form = ".2E" if "efficiency" in row else ".0f" if row == "hwrb" else ".2f"
    return [f"{name} {values[name]:{form}}" for name in sorted(values, key=lambda name: -values[name])]


def _first(ranking: Sequence[str]) -> str:
    return ranking[0].split()[0]
