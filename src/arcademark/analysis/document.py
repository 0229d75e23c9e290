"""Result types shared by reports of runs and of tables: frozen data for every renderer.

* Normalised scores and summaries are in percent; errors are fractions.
* What could not be computed is None (never NaN), and a `Notice` says why.
* Order is the order to show.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Literal

from arcademark._version import __version__
from arcademark.grouping import grouped

REPORTED = {"training": "training", "evaluation": "evaluation", "best": "the best policy"}
"""Phases or selections that scores are of, in words."""

GENERATOR = f"ArcadeMark {__version__}"
"""The program, as documents name it."""

Level = Literal["warning", "note"]
CAVEATS = frozenset(
    [
        "read_as",
        "read",
        "left_out",
        "runs",
        "untested",
        "human",
        "episodes_truncated",
        "fewer_episodes",
        "fewer_trials",
        "action_interval",
        "planning",
        "best_of",
        "played_apart",
    ]
)
"""Kinds of notes on what a number measures: documents show them beside it, and other notes with the details."""


def same_fields(kind: type[Any], source: object) -> dict[str, Any]:
    """Return the attributes of an object whose names are fields of a dataclass."""
    return {field.name: getattr(source, field.name) for field in fields(kind) if hasattr(source, field.name)}


@dataclass(frozen=True)
class Notice:
    """A caveat or an explanation of a number.

    kind: Stable name, one of the ``KINDS`` of `arcademark.analysis.notices`, or another one that only pages use.
    level: Severity: a "warning" puts a number in doubt, a "note" explains one.
    text: One or two sentences that name the numbers concerned.
    hint: Remedy on the command line; shown only there.
    """

    kind: str
    level: Level
    text: str
    hint: str = ""


@dataclass(frozen=True)
class Peer:
    """One algorithm among those of a similar budget, over the games that all of them have.

    source: The paper that published its scores, "Hessel et al. 2018"; "" for an algorithm of the report.
    paper: The paper's key in the catalogue, "hessel-2018"; "" for an algorithm of the report.
    training_frames: Emulated frames.
    reported: Phase or selection that its scores are of: "training", "evaluation", "best" or "unknown".
    protocol: Name of its scores' protocol; "" if none is known to match, and for an algorithm of the report.
    mean_hns, median_hns, mean_hwrns, median_hwrns, mean_saber, median_saber: In percent.
    records: Human world records broken.
    hns_a_frame, median_hns_a_frame, records_a_frame: Learning efficiency: mean and median HNS, as fractions, and
        records broken per training frame.
    differs: Settings in which its protocol is known to differ from that of the report's algorithms, with both values.
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

    training_frames: Budget of the report's algorithms.
    games: Ids of the games that all numbers are over.
    factor: Largest ratio of training frames of similar budgets.
    within: True if there are published algorithms within this ratio; else the nearest are shown.
    own, published: Algorithms of the report, and published ones with a score on every game, the nearest budgets first.
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
        """All compared algorithms."""
        return (*self.own, *self.published)

    @property
    def nearest(self) -> float | None:
        """Training frames of the nearest published algorithm divided by these; None if there is none."""
        return self.published[0].training_frames / self.training_frames if self.published else None

    @property
    def differing(self) -> tuple[tuple[tuple[str, ...], list[str]], ...]:
        """Known protocol differences, each with the published algorithms that have it."""
        return tuple(grouped((item.differs, item.name) for item in self.published if item.differs).items())
