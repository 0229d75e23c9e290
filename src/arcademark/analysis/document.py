"""What reports of runs and of tables both say: frozen data, shown by every renderer.

* Normalised scores and summaries are in percent; errors are fractions.
* What could not be computed is None (never NaN), and a `Notice` says why.
* Order is the order to show.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Literal

from arcademark import wording
from arcademark.scores.readers.base import grouped
from arcademark.subset.predict.calibration import Covered
from arcademark.suite.subsets import LEVEL

WIDEST = 20.0
"""How many times its lower end the upper end of an estimate's interval may be, both in percent and 1 added, as they are
estimated: from random play, 0 %, to 19 %, or from 50 % to 1,000 %. What is wider says nothing."""

REPORTED = {"training": "training", "evaluation": "evaluation", "best": "the best policy"}
"""What scores are of, in words."""

Level = Literal["warning", "note"]


def same_fields(kind: type[Any], source: object) -> dict[str, Any]:
    """Return the attributes of an object that a dataclass has as fields, too."""
    return {field.name: getattr(source, field.name) for field in fields(kind) if hasattr(source, field.name)}


@dataclass(frozen=True)
class Notice:
    """Something the reader must know before believing a number.

    kind: Stable name, one of the ``KINDS`` of `arcademark.analysis.notices`; others on pages alone.
    level: Whether it puts a number in doubt, or explains one.
    text: One or two sentences, naming what is concerned.
    hint: What to do about it on the command line; shown there only.
    """

    kind: str
    level: Level
    text: str
    hint: str = ""


class Noticed:
    """Any document with notices."""

    notices: tuple[Notice, ...]

    @property
    def warnings(self) -> tuple[Notice, ...]:
        """The notices that put a number in doubt."""
        return tuple(notice for notice in self.notices if notice.level == "warning")

    @property
    def notes(self) -> tuple[Notice, ...]:
        """The notices that explain a number."""
        return tuple(notice for notice in self.notices if notice.level == "note")


@dataclass(frozen=True)
class Breakthrough:
    """In how many games a human bar is reached.

    metric: "human_level" (HNS ≥ 100 %) or "hwrb" (HWRNS ≥ 100 %).
    title, short: How it is called in print, and in a narrow column.
    reached: Names of the games where it is.
    games: Games with the reference scores to tell.
    unprecedented: Of the records broken, those that no other algorithm in the catalogue has broken; else empty.
    """

    metric: str
    title: str
    short: str
    reached: tuple[str, ...]
    games: int
    unprecedented: tuple[str, ...]


@dataclass(frozen=True)
class Estimate:
    """What some games say of the whole suite, or why they say nothing.

    subset, title: What it was made from, "any" and "5 games", or a published model, "atari-5" and "Atari-5".
    suite: "atari-57", or "atari-100k".
    value: Estimated median human-normalised score of the suite in percent; None if refused, or if the interval reaches
        below all medians that errors are known of (`below`).
    level: Of the interval.
    low, high: The prediction interval for an algorithm of another paper, from errors on papers left out; None if
        refused.
    printed_log_error: The typical log error printed with a published model, a fraction: an average over the algorithms
        that it was fitted to, no interval.
    sampling_low, sampling_high: 95 % bootstrap interval of the value over runs (of a game with one: its episodes), the
        error of predicting apart.
    nested_log_error: Mean log error on papers that a published model's games were not chosen with, a fraction:
        measured, not published.
    covered: From any games: how many published algorithms' medians such intervals cover, each predicted without its
        paper.
    left_out: From any games: the paper that nothing was learnt from, as it has this algorithm; "" of all others.
    missing: Names of the subset's games without a score: why it is refused.
    warnings: Why it should not be relied on; empty if nothing speaks against it.
    """

    subset: str
    title: str
    suite: str
    value: float | None = None
    level: float = LEVEL
    low: float | None = None
    high: float | None = None
    printed_log_error: float | None = None
    sampling_low: float | None = None
    sampling_high: float | None = None
    missing: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    nested_log_error: float | None = None
    covered: Covered | None = None
    left_out: str = ""

    @property
    def below(self) -> bool:
        """Whether it is only known to be below the upper end of its interval."""
        return self.value is None and self.high is not None

    @property
    def headline(self) -> str:
        """The value in words: "70.0 %", or "below 5.21 %"."""
        return f"below {wording.percent(self.high)}" if self.below else wording.percent(self.value)

    @property
    def telling(self) -> bool:
        """Whether it says anything: whether its interval is no wider than `WIDEST`."""
        if self.low is None or self.high is None:
            return self.value is not None and self.printed_log_error is not None
        return 1.0 + self.high <= WIDEST * (1.0 + self.low)

    @property
    def interval(self) -> str:
        """The prediction interval in words."""
        return wording.between(self.low, self.high)

    @property
    def sampling_interval(self) -> str:
        """The interval that runs or episodes leave, in words."""
        return wording.between(self.sampling_low, self.sampling_high)

    @property
    def errors(self) -> str:
        """The printed error and, after a comma, the one on papers that the model was not chosen with."""
        if self.value is None or self.printed_log_error is None:
            return wording.MISSING
        errors = [self.printed_log_error, *([] if self.nested_log_error is None else [self.nested_log_error])]
        return ", ".join([*(wording.number(100 * each) for each in errors[:-1]), wording.share(errors[-1])])


@dataclass(frozen=True)
class HardScore:
    """One algorithm on a hard-exploration game.

    score, hns: In points, and in percent; None where it has no score.
    """

    algorithm: str
    score: float | None
    hns: float | None


@dataclass(frozen=True)
class HardGame:
    """A hard-exploration game, with what the scores are to be seen beside.

    id, name: "private_eye", "Private Eye".
    random, human: Reference scores in points.
    best, best_hns: The best score in the catalogue, of algorithms that are not shown here, whatever its protocol.
    best_algorithm, best_source: Whose it is, and the paper that published it; "" where there is none.
    scores: One an algorithm, in the document's order.
    """

    id: str
    name: str
    random: float
    human: float
    best: float | None
    best_algorithm: str
    best_source: str
    best_hns: float | None
    scores: tuple[HardScore, ...]


@dataclass(frozen=True)
class HardExploration:
    """The hard-exploration games by themselves (Aitchison et al. 2023, §8.1; Bellemare et al. 2016).

    games: All seven, whether played or not.
    """

    games: tuple[HardGame, ...]

    @property
    def played(self) -> tuple[HardGame, ...]:
        """The games on which at least one algorithm has a score."""
        return tuple(game for game in self.games if any(item.score is not None for item in game.scores))

    @property
    def rows(self) -> tuple[tuple[HardGame, HardScore], ...]:
        """The games played with each algorithm's score."""
        return tuple((game, score) for game in self.played for score in game.scores)

    @property
    def missing(self) -> str:
        """The games without a score, "" if there is none."""
        return wording.listing((game.name for game in self.games if game not in self.played), last="or")


@dataclass(frozen=True)
class Peer:
    """One algorithm among those of a similar budget, over the games that all of them have.

    source: The paper that published its scores, "Hessel et al. 2018"; "" for an algorithm of the report.
    paper: Its key in the catalogue, "hessel-2018"; likewise.
    training_frames: Emulated frames.
    reported: What its scores are of: "training", "evaluation", "best" or "unknown".
    protocol: The named one of its scores, "" where none is known to fit, and for an algorithm of the report.
    mean_hns, median_hns, mean_hwrns, median_hwrns, mean_saber, median_saber: In percent.
    records: Human world records broken.
    hns_a_frame, median_hns_a_frame, records_a_frame: Learning efficiency: mean HNS, as a fraction, median HNS likewise,
        and records broken, by training frames.
    differs: The settings in which its protocol is known to differ from that of the report's algorithms, with both
        values.
    """

    name: str
    source: str
    paper: str
    training_frames: int
    reported: str
    mean_hns: float
    median_hns: float
    mean_hwrns: float
    median_hwrns: float
    mean_saber: float
    median_saber: float
    records: int
    hns_a_frame: float
    median_hns_a_frame: float
    records_a_frame: float
    differs: tuple[str, ...] = ()
    protocol: str = ""


@dataclass(frozen=True)
class Similar:
    """Algorithms of the report with the same budget, protocol and games, beside published ones of a similar budget.

    training_frames: Theirs.
    games: Ids of the games that everything is over.
    factor: How many times more or fewer frames a similar budget is at most.
    within: Whether there are published algorithms within it; else the nearest are shown.
    own, published: Published ones with a score on every game; the nearest budgets first.
    lacking: Other published algorithms of such budgets, without a score on some of the games.
    """

    training_frames: int
    games: tuple[str, ...]
    factor: float
    within: bool
    own: tuple[Peer, ...]
    published: tuple[Peer, ...]
    lacking: tuple[str, ...]

    @property
    def peers(self) -> tuple[Peer, ...]:
        """All that is set side by side."""
        return (*self.own, *self.published)

    @property
    def nearest(self) -> float | None:
        """How many times as many frames the nearest published one was trained for; None without any."""
        return self.published[0].training_frames / self.training_frames if self.published else None

    @property
    def differing(self) -> tuple[tuple[tuple[str, ...], list[str]], ...]:
        """In what published algorithms' protocols are known to differ, and whose do."""
        return tuple(grouped((item.differs, item.name) for item in self.published if item.differs).items())
