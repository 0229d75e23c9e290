"""What a report says of how its scores were made: protocol, what was played, with what and on what, and papers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from arcademark import wording
from arcademark.catalogue.reading import read_bibtex, read_sources

Value: TypeAlias = str | int | float | bool | tuple[int, ...] | None
"""Of a protocol's setting."""


@dataclass(frozen=True)
class PlanningCost:
    """What a planner's decisions cost in a model of the game.

    decisions: Actions of the scored episodes.
    simulated_frames: Frames that the model emulated to choose them.
    """

    decisions: int
    simulated_frames: int
    frames_per_decision: float


@dataclass(frozen=True)
class ProtocolSetting:
    """One field of a protocol.

    field: The name that ``--override`` takes.
    title: In words.
    value: In force.
    text: The value in words, with its unit.
    overridden: Whether the run changed it.
    original, original_text: The named protocol's own; the same as `value` unless overridden.
    status: Whether the protocol's source states it, or leaves it open.
    note: Where it is stated, or why it was chosen.
    """

    field: str
    title: str
    value: Value
    text: str
    overridden: bool
    original: Value
    original_text: str
    status: Literal["cited", "choice"]
    note: str


@dataclass(frozen=True)
class ProtocolView:
    """The protocol of a run: name, label (overrides included), title, citation and every setting.

    unit: What lengths and budgets are counted in: emulated frames on Atari, steps elsewhere.
    """

    name: str
    label: str
    title: str
    citation: str
    unit: Literal["frame", "step"]
    settings: tuple[ProtocolSetting, ...]

    @property
    def values(self) -> dict[str, Value]:
        """The value of each setting in force."""
        return {setting.field: setting.value for setting in self.settings}

    @property
    def originals(self) -> dict[str, Value]:
        """The named protocol's own values."""
        return {setting.field: setting.original for setting in self.settings}

    @property
    def texts(self) -> dict[str, str]:
        """The value of each setting in words."""
        return {setting.field: setting.text for setting in self.settings}


@dataclass(frozen=True)
class TrialEntry:
    """One agent on one game with one seed, and how far it is.

    id: As the store names it.
    agent: The agent's label.
    game: The game's name.
    seed: The trial's seed.
    status: Nothing played yet; begun; complete; given up.
    episodes: Episodes that make its score so far.
    planned_episodes: Episodes asked for.
    error: Why it failed, one line; "" if it did not.
    """

    id: str
    agent: str
    game: str
    seed: int
    status: Literal["pending", "running", "done", "failed"]
    episodes: int
    planned_episodes: int
    error: str


@dataclass(frozen=True)
class ImportedSource:
    """Where the scores of an imported run come from, which no replay can confirm.

    formats: Of the logs.
    files: From the path of each log to its SHA-256.
    averages: Agents whose training is known by averages only.
    assumed: What the logs do not say and was taken for granted.
    doubts: Agent, game's name, and why its scores are hardly raw ones of whole games.
    """

    formats: tuple[str, ...]
    files: Mapping[str, str]
    averages: tuple[str, ...]
    assumed: tuple[str, ...]
    doubts: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True)
class Person:
    """A person who played episodes of a run.

    agent: The label.
    stepped: Whether the game stood still until an action was chosen; else it went on in real time.
    episodes: Recorded.
    seconds: That they took, with pauses.
    game_seconds: That they take at 60 frames a second, starts that nobody sees included.
    """

    agent: str
    stepped: bool
    episodes: int
    seconds: float
    game_seconds: float


@dataclass(frozen=True)
class Run:
    """One run directory: what was asked for, with what, and how it went.

    name: Unique in the report.
    directory: As it was given.
    agents: Labels, as planned.
    games: Names.
    episodes: The different numbers of scored episodes a trial was asked for (one, unless the plan mixes them).
    frames: Played in finished episodes, training included.
    simulated_frames: Emulated by planners to choose the actions of these; 0 where no agent plans.
    counted_frames: What the protocol counts as used: the frames played, or those and the simulated ones.
    trials: In the plan's order.
    commands: The command lines that made it, in order.
    versions, machine: What it was made with, "2.9.0, then 2.10.0" where it was continued with another, and on.
    roms: From a game's name to its ROM's MD5.
    emulators: From a game's name to what it was played on, "ale-py 0.12.1" or "console 5f43e732cb187f58" (ours, and its
        core).
    imported: Where its scores come from, if it was not played here.
    parts: The directories, where several that were played apart are shown as one run.
    people: The agents that are people.
    """

    name: str
    directory: str
    protocol: ProtocolView
    agents: tuple[str, ...]
    games: tuple[str, ...]
    seeds: tuple[int, ...]
    episodes: tuple[int, ...]
    frames: int
    simulated_frames: int
    counted_frames: int
    trials: tuple[TrialEntry, ...]
    commands: tuple[str, ...]
    versions: Mapping[str, str]
    machine: Mapping[str, str | int | float | bool]
    roms: Mapping[str, str]
    emulators: Mapping[str, tuple[str, ...]]
    imported: ImportedSource | None = None
    parts: tuple[str, ...] = ()
    people: tuple[Person, ...] = ()

    @property
    def troubles(self) -> tuple[TrialEntry, ...]:
        """The trials that failed or are not finished."""
        return tuple(trial for trial in self.trials if trial.status != "done")

    @property
    def libraries(self) -> list[str]:
        """What agents were made with, beside what every run has."""
        every = {"arcademark", "ale-py", "numpy", "python"}
        return [f"{name} {version}" for name, version in self.versions.items() if name not in every]

    @property
    def played_on(self) -> str:
        """What emulated the games, "our emulator (core 5f43…) in 55 games, ale-py 0.12.1 in 2"; "" of the toy game."""
        counts = Counter(self.emulators.values()).most_common()
        labels = [(wording.listing(map(_emulator, used)), count) for used, count in counts]
        if len(labels) == 1:
            return labels[0][0]
        first = [f"{name} in {wording.plural(count, 'game')}" for name, count in labels[:1]]
        return ", ".join([*first, *(f"{name} in {count:,}" for name, count in labels[1:])])


def _emulator(label: str) -> str:
    kind, _, version = label.partition(" ")
    return f"our emulator (core {version})" if kind == "console" else label


@dataclass(frozen=True)
class Citation:
    """A paper that the report leans on: its key, how it reads in a sentence, where it is, and its BibTeX entry."""

    key: str
    text: str
    url: str
    bibtex: str


OF_NOTICES: Mapping[str, tuple[str, ...]] = {
    "best_of": ("bellemare-2013",),
    "efficiency": ("fan-2021",),
    "episodes_as_runs": ("agarwal-2021",),
    "hard_exploration": ("aitchison-2023",),
}
"""By a notice's kind, the papers that its text names."""

OF_SUMMARIES = "agarwal-2021"
"""IQM and optimality gap, which stand in every document of scores."""


def cited(keys: Iterable[str]) -> tuple[Citation, ...]:
    """Return the papers with these keys that have a BibTeX entry, sorted by key."""
    wanted, papers = set(keys), read_sources()
    return tuple(
        Citation(bibtex.partition("{")[2].partition(",")[0], papers[key].short, url, bibtex)
        for key, (url, bibtex) in read_bibtex().items()
        if key in wanted
    )
