"""What a report says of how its scores were made: the protocol in force, what was played, with what and on what.

Frozen data, a part of `arcademark.reports.runs.document.Report`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

Value: TypeAlias = str | int | float | bool | tuple[int, ...] | None
"""Of a protocol's setting."""


@dataclass(frozen=True)
class Planning:
    """What a planner's decisions cost in a model of the game.

    Parameters
    ----------
    decisions : int
        Actions of the scored episodes.
    simulated_frames : int
        Frames that the model emulated to choose them.
    frames_per_decision : float
    """

    decisions: int
    simulated_frames: int
    frames_per_decision: float


@dataclass(frozen=True)
class Setting:
    """One field of a protocol.

    Parameters
    ----------
    field : str
        The name that ``--override`` takes.
    title : str
        In words.
    value : str, number, bool, tuple of int or None
        In force.
    text : str
        The value in words, with its unit.
    overridden : bool
        Whether the run changed it.
    original, original_text : as `value`, str
        The named protocol's own; the same as `value` unless overridden.
    status : {"cited", "choice"}
        Whether the protocol's source states it, or leaves it open.
    note : str
        Where it is stated, or why it was chosen.
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
    """The protocol of a run: name, label (overrides included), title, citation and every setting."""

    name: str
    label: str
    title: str
    citation: str
    settings: tuple[Setting, ...]


@dataclass(frozen=True)
class Trial:
    """One agent on one game with one seed, and how far it is.

    Parameters
    ----------
    id : str
        As the store names it.
    agent : str
        The agent's label.
    game : str
        The game's name.
    seed : int
        The trial's seed.
    status : {"pending", "running", "done", "failed"}
        Nothing played yet; begun; complete; given up.
    episodes : int
        Episodes that make its score so far.
    planned_episodes : int
        Episodes asked for.
    error : str
        Why it failed, one line; "" if it did not.
    """

    id: str
    agent: str
    game: str
    seed: int
    status: Literal["pending", "running", "done", "failed"]
    episodes: int
    planned_episodes: int
    error: str

    @property
    def complete(self) -> bool:
        """Whether its score is what was asked for."""
        return self.status == "done" and self.episodes >= self.planned_episodes


@dataclass(frozen=True)
class Imported:
    """Where the scores of an imported run come from, which no replay can confirm.

    Parameters
    ----------
    formats : tuple of str
        Of the logs.
    files : mapping of str to str
        From the path of each log to its SHA-256.
    averages : tuple of str
        Agents whose training is known by averages only.
    assumed : tuple of str
        What the logs do not say and was taken for granted.
    doubts : tuple of (str, str, str)
        Agent, game's name, and why its scores are hardly raw ones of whole games.
    """

    formats: tuple[str, ...]
    files: Mapping[str, str]
    averages: tuple[str, ...]
    assumed: tuple[str, ...]
    doubts: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True)
class Run:
    """One run directory: what was asked for, with what, and how it went.

    Parameters
    ----------
    name : str
        Unique in the report.
    directory : str
        As it was given.
    protocol : ProtocolView
    agents : tuple of str
        Labels, as planned.
    games : tuple of str
        Names.
    seeds : tuple of int
    episodes : tuple of int
        The different numbers of scored episodes a trial was asked for (one, unless the plan mixes them).
    frames : int
        Played in finished episodes, training included.
    simulated_frames : int
        Emulated by planners to choose the actions of these; 0 where no agent plans.
    counted_frames : int
        What the protocol counts as used: the frames played, or those and the simulated ones.
    trials : tuple of Trial
        In the plan's order.
    commands : tuple of str
        The command lines that made it, in order.
    versions, machine : mapping of str to str
        What it was made with and on.
    roms : mapping of str to str
        From a game's name to its ROM's MD5.
    emulators : mapping of str to (tuple of str)
        From a game's name to what it was played on, "ale-py 0.12.1" or "console 5f43e732cb187f58" (ours, and its core).
    imported : Imported or None
        Where its scores come from, if it was not played here.
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
    trials: tuple[Trial, ...]
    commands: tuple[str, ...]
    versions: Mapping[str, str]
    machine: Mapping[str, str]
    roms: Mapping[str, str]
    emulators: Mapping[str, tuple[str, ...]]
    imported: Imported | None = None

    @property
    def troubles(self) -> tuple[Trial, ...]:
        """The trials that failed or are not finished."""
        return tuple(trial for trial in self.trials if not trial.complete)


@dataclass(frozen=True)
class Citation:
    """A paper that the report leans on: its key, how it reads in a sentence, where it is, and its BibTeX entry."""

    key: str
    text: str
    url: str
    bibtex: str
