"""What a reader must be told before believing a comparison; see `arcademark.reports.notices`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from arcademark.metrics.uncertainty.intervals import LEVEL
from arcademark.reports import wording
from arcademark.reports.document import Notice
from arcademark.reports.notices import notice, sort
from arcademark.reports.tables import coverage
from arcademark.reports.tables.comparison import Pair, Side
from arcademark.reports.tables.dataset import Dataset
from arcademark.reports.tables.notices import how_made, measures, same_games, shared
from arcademark.reports.tables.uncertainty import Bootstrap


def collect(
    dataset: Dataset, sides: Sequence[Side], pairs: Sequence[Pair], bootstrap: Bootstrap, confidence: float
) -> tuple[Notice, ...]:
    """Gather all notices of a comparison, warnings first."""
    duels, noun = [(pair.first, pair.second) for pair in pairs], dataset.benchmark.noun
    few_runs = coverage.of_pairs(dataset, duels, measures(pairs[0].summaries, dataset), bootstrap.method)
    return sort(
        [
            *how_made(dataset),
            *_pairs(dataset, pairs),
            *_tests(pairs, confidence, noun),
            *_power(pairs, confidence, noun),
            *shared(dataset, few_runs, [(side.name, side.most_runs) for side in sides], bootstrap),
        ]
    )


def _pairs(dataset: Dataset, pairs: Sequence[Pair]) -> Iterator[Notice]:
    noun = dataset.benchmark.noun
    if len(pairs) > 1:
        yield from same_games(dataset, "Each pair is compared on the {}s that both have")
    elif pairs[0].left_out:
        yield notice(
            "games_differ",
            f"Compared on the {wording.plural(len(pairs[0].games), noun)} that both have; only one of them has "
            f"{wording.shortened(pairs[0].left_out)}.",
        )
    fewest = min(len(pair.games) for pair in pairs)
    inside = min(sum(game.game in dataset.benchmark.tasks for game in pair.games) for pair in pairs)
    if fewest == 1:
        yield notice("comparison", f"Only one {noun} is compared; the result does not extend to others.")
    elif inside < len(dataset.benchmark.tasks):
        yield notice(
            "partial_suite",
            f"{'Only' if len(pairs) == 1 else 'As few as'} {inside} of the "
            f"{wording.plural(len(dataset.benchmark.tasks), noun)} of {dataset.benchmark.view.name} are compared; "
            "the others may differ.",
        )


def _tests(pairs: Sequence[Pair], confidence: float, noun: str) -> Iterator[Notice]:
    games = sum(len(pair.games) for pair in pairs)
    untested = sum(pair.untested for pair in pairs)
    if untested < games:
        yield notice(
            "tests",
            f"Better and worse: two-tailed Welch's t-tests on each {noun} at {100 * confidence:g} % (Bellemare et al. "
            f"2013, §4.3), not corrected for their number: of a hundred {noun}s that do not differ, about one is "
            "decided.",
        )
    why = dict.fromkeys(game.why for pair in pairs for game in pair.games if game.verdict == "untested")
    if untested:
        together = f", those of {wording.plural(len(pairs), 'pair')} counted together" if len(pairs) > 1 else ""
        yield notice(
            "untested",
            f"No test could be made on {untested:,} of {wording.plural(games, noun)}{together}: "
            f"{wording.shortened(why, most=3)}.",
        )


def _power(pairs: Sequence[Pair], confidence: float, noun: str) -> Iterator[Notice]:
    if any(pair.power for pair in pairs):
        yield notice(
            "power",
            "Runs needed: of each algorithm, to find the difference seen four times in five, if it and the spread "
            f"between runs are as seen. On a {noun} it is found by the test at {100 * confidence:g} %, in a summary by "
            f"its {100 * LEVEL:g} % interval. A difference that was seen is often larger than the true one, so more "
            "may be needed.",
        )
