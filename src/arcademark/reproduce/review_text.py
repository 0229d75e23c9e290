"""What the review's text states that its scores, its own tables or the other papers that were read can decide.

Conventions
-----------
* A statement is named by its section and put in our words; figures stand as printed.
* A statement that rests on scores is checked with the catalogue's scores and the suite's references in full. "Best" is
  among the 13 algorithms of the review, those of the same kind where it says so.
* What none of these decides is "not available", with what is known beside it.

The paper is Fan, "A Review for Deep Reinforcement Learning in Atari: Benchmarks, Challenges, and Solutions", 2021.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache

import numpy as np

from arcademark.catalogue import collections
from arcademark.catalogue.errata import errata
from arcademark.catalogue.model import Erratum, Location
from arcademark.catalogue.printed import printed_number
from arcademark.metrics.efficiency import DAYS_PER_YEAR, FRAMES_PER_SECOND, game_time_days, game_time_days_review
from arcademark.metrics.normalise import broken_records
from arcademark.reproduce.comparison import Comparison, Reproduction, Verdict
from arcademark.reproduce.review_values import COLLECTION, RECORD, as_rounded, ours, percentages, value
from arcademark.suite.protocols import protocol
from arcademark.suite.tasks import games, suite

PAPER = "fan-2021"
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
"""Which entry of the other collection has the scores of the paper that the review names."""

_NAMES = {"hns": "HNS", "hwrns": "HWRNS", "saber": "SABER"}
_FAILING = "HNS, all above the average human and all below GDI-H3's; what counts as failing is not said."
_HALF_HOUR = 30 * 60 * FRAMES_PER_SECOND


def statements() -> tuple[Reproduction, ...]:
    """Check what the text states, then what Tables 1 and 2 print of each algorithm's settings."""
    groups = {
        "Statements of the text: which algorithm is best in what": (*_figures(), *_bests()),
        "Statements of the text: records, means and game time": (*_records(), *_times(), *_terms()),
        "Statements of the text: whose scores are printed": tuple(_sources()),
        "Tables 1 and 2: settings": tuple(_settings()),
    }
    return tuple(Reproduction(PAPER, title, None, tuple(map(_explained, found))) for title, found in groups.items())


def _figures() -> Iterator[Comparison]:
    for algorithm, printed in (("Agent57", "125.92%"), ("GDI-H3", "154.27%")):
        place = Location(0, "mean", algorithm, "hwrns")
        exact, rounded = value(place, ours()), value(place, as_rounded())
        number = printed_number(printed.rstrip("%"))
        assert exact is not None
        assert rounded is not None
        assert number is not None
        holds = number.is_rounding_of(exact) or number.is_rounding_of(rounded)
        why = "" if number.is_rounding_of(exact) else "with the references rounded as the review prints them"
        said = _said(f"Human World Records Baseline: mean HWRNS of {algorithm}", printed, f"{exact:.3f}%", holds)
        yield replace(said, why=why)


def _bests() -> Iterator[Comparison]:
    free = tuple(entry.algorithm for entry in collections.entries(COLLECTION) if entry.kind == "model-free")
    mean, median = (_ranked(row, "hns", free) for row in ("mean", "median"))
    where = "Human World Records Baseline: the best model-free algorithm on HNS"
    yield _said(where, "Agent57", f"by the mean {mean[0]}, by the median {median[0]}", _first(mean) == "Agent57")
    claims = (
        ("GDI and Summary of Benchmark Results", "GDI-H3", ("mean", "hns")),
        ("GDI and Summary of Benchmark Results", "GDI-H3", ("mean", "hwrns")),
        ("GDI and Summary of Benchmark Results", "GDI-H3", ("median", "hwrns")),
        ("GDI and Summary of Benchmark Results", "GDI-H3", ("median", "saber")),
        ("Summary of Benchmark Results", "Agent57", ("mean", "saber")),
        ("Summary of Benchmark Results", "MuZero", ("median", "hns")),
    )
    for section, algorithm, (row, quantity) in claims:
        ranking = _ranked(row, quantity)
        where = f"{section}: the best in {row} {_NAMES[quantity]}"
        yield _said(where, algorithm, ", ".join(ranking[:2]), _first(ranking) == algorithm)
    ranking = _ranked("hwrb", "hwrns")
    yield _said(
        "GDI and Summary of Benchmark Results: the best in HWRB",
        "GDI-H3",
        ", ".join(ranking[:2]),
        _first(ranking) == "GDI-H3",
    )
    best = {
        (row, quantity): _ranked(f"{row} efficiency", quantity) for quantity in _NAMES for row in ("mean", "median")
    }
    found = "; ".join(f"{row} {_NAMES[quantity]} {ranking[0]}" for (row, quantity), ranking in best.items())
    holds = all(_first(ranking) == "GDI-H3" for ranking in best.values())
    yield _said("Summary of Benchmark Results: the best in learning efficiency", "GDI", found, holds)
    yield from _duels()


def _duels() -> Iterator[Comparison]:
    def ahead(row: str, quantity: str, first: str, others: Sequence[str], where: str, printed: str) -> Comparison:
        mine, theirs = _value(row, quantity, first), {other: _value(row, quantity, other) for other in others}
        text = f"{first} {mine:.2f}; " + ", ".join(f"{other} {score:.2f}" for other, score in theirs.items())
        return _said(where, printed, text, mine > max(theirs.values()))

    section = "Human Average Score Baseline"
    others = ("Agent57", "NGU", "R2D2")
    yield ahead(
        "mean", "hns", "Go-Explore", others, f"{section}: Go-Explore by mean HNS", "ahead of Agent57, NGU, R2D2"
    )
    for row in ("mean", "median"):
        where = f"Capped Normalized Score: Agent57 and MuZero by {row} HNS"
        yield ahead(row, "hns", "MuZero", ("Agent57",), where, "MuZero ahead")
    section = "Human World Records Baseline: MuZero and GDI-H3 by"
    yield ahead("median", "hns", "MuZero", ("GDI-H3",), f"{section} median HNS", "MuZero much higher")
    yield ahead("median", "hwrns", "GDI-H3", ("MuZero",), f"{section} median HWRNS", "MuZero lower")
    for other in ("Agent57", "Go-Explore"):
        where = f"Hard Exploration Problem: mean HNS of {other}"
        yield ahead("mean", "hns", "GDI-H3", (other,), where, "lower than others that explore less")
    hns = percentages("Go-Explore", "hns", ours())
    failed = ("demon_attack", "breakout", "boxing", "phoenix")
    text = ", ".join(f"{games()[task].name} {hns[task]:.0f}%" for task in failed)
    where = "Human Average Score Baseline: games that Go-Explore fails to handle"
    yield Comparison(where, "Demon Attack, Breakout, Boxing, Phoenix", text, "not available", _FAILING)
    ranks = [1 + [name.split()[0] for name in _ranked(row, "hns")].index("Muesli") for row in ("median", "mean")]
    where = "Human Average Score Baseline: Muesli's median and mean HNS"
    text = f"{ranks[0]}th of 13 by the median, {ranks[1]}th by the mean"
    yield Comparison(where, "a high median, a poor mean", text, "not available", "What high and poor are is not said.")


def _records() -> Iterator[Comparison]:
    tasks = suite("atari-57").tasks
    names = tuple(ours().scores)
    rows = [percentages(name, "hwrns", ours()) for name in names]
    hwrns = [[row.get(task, np.nan) for task in tasks] for row in rows]
    unbroken = len(broken_records(hwrns, names, tasks).unbroken)
    most = int(max(_value("hwrb", "hwrns", name) for name in ours().scores))
    text = f"{unbroken} by none of the algorithms; {len(tasks) - most} not by the best of them alone"
    yield _said("Human World Record: records not broken by current algorithms", "at least 35", text, unbroken >= 35)
    none = _value("hwrb", "hwrns", "SimPLe")
    yield _said("Figure 4: records that SimPLe breaks", "0", f"{none:.0f}", none == 0)
    hns = percentages("Agent57", "hns", ours())
    least = min(hns, key=lambda task: hns[task])
    text = f"{sum(score >= 100 for score in hns.values())}; least on {games()[least].name}, {hns[least]:.2f}%"
    yield _said("Introduction: games in which Agent57 beats the average human", "57", text, min(hns.values()) >= 100)
    capped = {name: np.clip(list(percentages(name, "hns", ours()).values()), 0, 100) for name in ours().scores}
    full = [f"{name} ({len(scores)} games)" for name, scores in capped.items() if scores.mean() == 100]
    text = f"100% on average: {', '.join(full)}"
    holds = any(name.startswith("Agent57") for name in full)
    yield _said("Capped Normalized Score: the best in capped HNS", "Agent57", text, holds)
    fewer = {name: len(scores) for name, scores in ours().scores.items() if len(scores) < len(tasks)}
    text = ", ".join(f"{name} {count}" for name, count in fewer.items())
    yield _said("Mean and median HNS and HWRNS: games averaged over", "57", f"57, save {text}", not fewer)
    high = max(score["chopper_command"] for score in (*ours().scores.values(), ours().references[RECORD]))
    yield _said("Raw Score: the scale of Chopper Command", "[0, 999900]", f"up to {high:.0f}", high <= 999900)


def _times() -> Iterator[Comparison]:
    def days(frames: float) -> str:
        return f"{game_time_days(frames):,.2f} at 60 a second; {game_time_days_review(frames):,.2f} by Eq. 6"

    yield _said("Maximum Episode Length: 30 minutes in frames", "1E+5", f"{_HALF_HOUR:,}", _HALF_HOUR == 1e5)
    shown = f"frames / (108,000 · 2 · 24): Eq. 6 is {_HALF_HOUR / 1e5 - 1:.0%} too long"
    yield _said("Eq. 6: days of game time", "frames / (100000 · 2 · 24)", shown, _HALF_HOUR == 1e5)
    for where, printed, frames in (
        ("Game Time: 200 million frames in days", "42", 2e8),
        ("Learning Efficiency: 200 million frames in days", "41", 2e8),
        ("Game Time: 100 billion frames in days", "20833", 1e11),
    ):
        number = printed_number(printed)
        assert number is not None
        yield _said(where, printed, days(frames), number.is_rounding_of(float(game_time_days(frames))))
    exact, review = (time(1e11) / DAYS_PER_YEAR for time in (game_time_days, game_time_days_review))
    text = f"{exact:.1f} at 60 a second; {review:.1f} by Eq. 6"
    yield _said("Game Time: 100 billion frames in years", "57", text, round(float(exact)) == 57)
    where = "Learning Efficiency: Agent57's game time in years"
    yield _said(where, "more than 57", text, float(exact) > 57)
    spent = {name: ours().frames[name] for name in ("R2D2", "Agent57")}
    holds = spent == {"R2D2": 10**10, "Agent57": 10**11}
    where = "Learning Efficiency: training frames of R2D2 and Agent57"
    yield _said(where, "10B and 100B", " and ".join(f"{count / 1e9:g}B" for count in spent.values()), holds)


def _terms() -> Iterator[Comparison]:
    where = "Human World Records Baseline: what says that a world record is broken"
    yield _said(where, "HNS ≥ 100 %", "HWRNS ≥ 100 %", False)
    where = "Other SOTA algorithms, Promising Solutions, Tables 1 and 2: how the algorithm is spelled"
    yield _said(where, "Musile", "Muesli", False)


def _sources() -> Iterator[Comparison]:
    others = {entry.algorithm: collections.scores_of(entry, as_published=True) for entry in collections.entries(OTHER)}
    for algorithm, name in SAME_SCORES.items():
        mine, theirs = ours().scores[algorithm], others[name]
        both = [task for task in mine if task in theirs]
        apart = [task for task in both if not _same(mine[task], theirs[task].score)]
        text = f"{len(both) - len(apart)} of {len(both)} are the same there"
        if 0 < len(apart) <= 3:
            text += f"; not {', '.join(games()[task].name for task in apart)}"
        where = f"Appendix: scores of {algorithm}, with the Atari-5 training table"
        yield _said(where, "the paper's", text, not apart)


def _settings() -> Iterator[Comparison]:
    bold = "The text that was read has no bold print."
    where = "Tables 1 and 2: settings that were assumed, in bold"
    yield Comparison(where, "bold", "", "not available", bold)
    sizes = Counter(len(games()[task].minimal_actions) for task in suite("atari-57").tasks)
    text = f"{min(sizes)} to {max(sizes)}, 4 in {sizes[4]} of 57 games"
    yield _said(
        "Tables 1 and 2, Rainbow and SimPLe; Action Set: actions of the useful set", "4", text, sizes.keys() == {4}
    )
    listed = [entry for entry in collections.entries(COLLECTION) if entry.settings]
    rainbow = next(entry for entry in listed if entry.algorithm == "Rainbow")
    life = rainbow.settings["life information in training"]
    where = "Table 1, Rainbow: life information in training, with the text's Episode Termination"
    yield _said(where, "Yes", "an episode ends with a life", life == "yes")
    dataset = ", ".join(entry.algorithm for entry in listed if entry.algorithm in SAME_SCORES)
    for names, cap in ((dataset, protocol("noop-108000")), ("Go-Explore", protocol("go-explore"))):
        frames = cap.max_frames_per_episode or 0
        text = f"{frames:,} frames, {frames / FRAMES_PER_SECOND / 60:.0f} min (Aitchison et al. 2023, §5.3)"
        yield _said(f"Tables 1 and 2: maximum episode length of {names}", "30min", text, frames == _HALF_HOUR)
    five = protocol("machado-2018").max_frames_per_episode or 0
    where = "Maximum Episode Length: that of Machado et al. 2018"
    yield _said(where, "5min", f"{five:,} frames", five == 5 * 60 * FRAMES_PER_SECOND)
    ends = protocol("ale-2013").evaluation_episode_end
    where = "Episode Termination: that of Bellemare et al. 2013"
    yield _said(where, "when all lives are lost", str(ends).replace("_", " "), ends == "game_over")
    nowhere = "None of the papers that were read says it elsewhere."
    where = "Tables 1 and 2: action repeats, frame stacks and averaged episodes"
    yield Comparison(where, "4; 1 or 4; 5 to 1000", "", "not available", nowhere)
    for entry in listed:
        if entry.algorithm in ("Muesli", "SimPLe"):
            where = f"Tables 1 and 2, {entry.algorithm}: image size and colour"
            shown = f"{entry.settings['image size']}, {entry.settings['colour']}"
            yield Comparison(where, shown, "", "not available", nowhere)


def _said(where: str, printed: str, recomputed: str, holds: bool) -> Comparison:
    verdict: Verdict = "agrees" if holds else "differs"
    return Comparison(where, printed, recomputed, verdict)


def _explained(item: Comparison) -> Comparison:
    erratum = _errata().get(item.where)
    if item.verdict == "differs" and erratum:
        return replace(item, why=erratum.why, category=erratum.category)
    return item


@cache
def _errata() -> Mapping[str, Erratum]:
    return {erratum.where: erratum for erratum in errata(PAPER) if erratum.place is None}


def _value(row: str, quantity: str, algorithm: str) -> float:
    found = value(Location(0, row, algorithm, quantity), ours())
    assert found is not None, algorithm
    return found


def _ranked(row: str, quantity: str, among: Sequence[str] = ()) -> list[str]:
    """Algorithms with their values, the best first: "GDI-H3 9623.90"."""
    values = {name: _value(row, quantity, name) for name in among or ours().scores}
    form = ".2E" if "efficiency" in row else ".0f" if row == "hwrb" else ".2f"
    return [f"{name} {values[name]:{form}}" for name in sorted(values, key=lambda name: -values[name])]


def _first(ranking: Sequence[str]) -> str:
    return ranking[0].split()[0]


def _same(mine: float, theirs: float) -> bool:
    """Whether one of two scores can be the other rounded, to whole points at the coarsest."""
    return abs(mine - theirs) <= 0.5
