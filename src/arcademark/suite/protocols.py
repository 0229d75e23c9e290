"""Protocols: every environment setting that can change a score, as pure data.

Conventions
-----------
* Lengths and budgets are in emulated frames (60 a second), never in agent steps.
* ``max_frames_per_episode`` counts as the emulator does: every frame emulated since the episode's reset, no-op starts
  included. Reaching it truncates the episode, which is not termination.
* A setting that the protocol's source leaves open is our choice and says so in ``provenance``.
* What people type, what JSON holds and what ``data/protocols.toml`` says is read by one parser a setting, see
  `arcademark.suite.settings`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from arcademark.errors import ArcadeMarkError, UnknownNameError
from arcademark.suite.settings import (
    ADDED,
    SETTINGS,
    STEP_SETTINGS,
    VARIED,
    ActionSet,
    Colours,
    CountedFrames,
    EpisodeEnd,
    MaxPool,
    ObservationKind,
    Parser,
    Reporting,
    Start,
    TrainingEpisodeEnd,
    contradictions,
    format_setting,
)
from arcademark.suite.tables import read_tables
from arcademark.suite.task_suites import TaskSuite, parse_suite
from arcademark.suite.tasks import game_name

_NOTHING: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True)
class Provenance:
    """Where a setting's value comes from: cited from the protocol's source, or silent there and chosen by us.

    `note` is the paper and section; for a choice, its reason.
    """

    status: Literal["cited", "choice"]
    note: str


_OLDER = Provenance("choice", "as it was before there was this setting")
_UNCHANGED = Provenance("choice", "the game as it is: the protocol's source changes nothing in it")


@dataclass(frozen=True)
class Difference:
    """A setting in which two protocols differ, and its value in either."""

    setting: str
    a: Any
    b: Any

    def __str__(self) -> str:
        return f"{self.setting}: {format_setting(self.a)} against {format_setting(self.b)}"


@dataclass(frozen=True, kw_only=True)
class Protocol:
    """Everything about the environment and its evaluation that can change a score: what all protocols share.

    An `AtariProtocol` counts emulated frames; a `StepProtocol`, of any other suite, steps. Generic code calls either
    frames, and `unit` is what they are.

    Parameters
    ----------
    name, title, citation : str
        Stable id, one line for people, the paper that defines it.
    training_episodes : int or None
        A learner's budget in episodes, None where training is counted in frames.
    evaluation_episodes : int
        Episodes whose average is the score (the k of "average of k episodes").
    reported_episodes : {"evaluation", "training_last_k"}
        Separate episodes after training, or the last k of training.
    provenance : mapping of str to Provenance
        One entry a setting, for the named protocol's value.
    overrides : mapping of str to object
        The settings that differ from the named protocol, with the named protocol's value. Empty if unmodified.

    Raises
    ------
    ArcadeMarkError
        If the settings contradict each other.
    """

    parsers: ClassVar[Mapping[str, Parser]]
    unit: ClassVar[Literal["frame", "step"]]

    name: str
    title: str
    citation: str
    training_episodes: int | None
    evaluation_episodes: int
    reported_episodes: Reporting
    provenance: Mapping[str, Provenance] = field(default_factory=lambda: _NOTHING, compare=False, repr=False)
    overrides: Mapping[str, Any] = field(default_factory=lambda: _NOTHING, hash=False, repr=False)

    if TYPE_CHECKING:  # settings of one, what they amount to in the other

        @property
        def frame_skip(self) -> int:
            """Frames that an action takes."""

        @property
        def max_frames_per_episode(self) -> int | None:
            """Frames after which an episode is truncated; None where the protocol sets no cap."""

        @property
        def training_frames(self) -> int | None:
            """A learner's budget in frames, None where training is counted in episodes."""

        @property
        def training_reward_clipping(self) -> bool:
            """Whether a learner is given the sign of the reward; scores are never clipped."""

        @property
        def counted_frames(self) -> CountedFrames:
            """What counts as frames used."""

        @property
        def suite(self) -> TaskSuite | None:
            """What the tasks are; None of Atari games."""

    def __post_init__(self) -> None:
        if problems := list(self.contradictions()):
            raise ArcadeMarkError(f"protocol {self.name!r}: {'; '.join(problems)}")

    def __reduce__(self) -> tuple[Callable[[dict[str, Any]], Protocol], tuple[dict[str, Any]]]:
        return Protocol.from_json, (self.to_json(),)

    def contradictions(self) -> Iterator[str]:
        """Yield what does not fit together in the settings, each as one clause that says how to correct it."""
        raise NotImplementedError

    def cap(self, task: str) -> int | None:
        """Return the frames after which an episode of a task is truncated; None where nothing says so."""
        return self.max_frames_per_episode

    def task_name(self, task: str) -> str:
        """Name a task for people: an Atari game by its title, any other by its id."""
        return task if self.suite else game_name(task)

    @property
    def runnable(self) -> bool:
        """Whether an episode can be played here."""
        return True

    @property
    def starts(self) -> int | None:
        """Starts an episode can have, which are all that chance decides; None where more is left to it, or unknown."""
        return None

    def noops(self, episode: int) -> int | None:
        """Return how many no-ops begin an evaluation episode, by its number; None where that is not said."""
        return None

    def every_start(self) -> Self:
        """Return the protocol with each of its no-op starts once; an ArcadeMarkError if it has none."""
        raise ArcadeMarkError(
            f"protocol {self.label} has no no-op starts to be played once each; expected one with start=noop "
            "('arcademark info protocols'), or a number of episodes"
        )

    @property
    def label(self) -> str:
        """The name, and what was changed: "world-records (frame_skip=5)"."""
        changes = ", ".join(f"{name}={format_setting(getattr(self, name))}" for name in self.overrides)
        return f"{self.name} ({changes})" if changes else self.name

    @property
    def departures(self) -> Mapping[str, Any]:
        """The overrides that change what a score is the mean of: not those that play each of its starts once."""
        return self.overrides

    def settings(self) -> dict[str, Any]:
        """Return every setting's value by name, in the order of `parsers`."""
        return {name: getattr(self, name) for name in self.parsers}

    def override(self, changes: Mapping[str, object]) -> Self:
        """Return the protocol with some settings changed, `overrides` saying which.

        `changes` are values, or as people type them: ``{"frame_skip": "5", "screen_size": "none"}``. A value equal to
        the named protocol's undoes an earlier change of that setting. ArcadeMarkError: a name is no setting
        (`UnknownNameError`), a value is not one that it accepts, or the settings then contradict each other.
        """
        values = self.settings() | {name: _parse(self.parsers, name, value) for name, value in changes.items()}
        named = self.settings() | dict(self.overrides)
        overrides = {name: named[name] for name in self.parsers if values[name] != named[name]}
        return dataclasses.replace(self, **values, overrides=MappingProxyType(overrides))

    def of_trial(self, task: str) -> dict[str, Any]:
        """Return as JSON values what can change the score of an episode of a task."""
        settings: dict[str, Any] = self.to_json()["settings"]
        del settings["evaluation_episodes"]
        for name, before in ADDED.items():
            if name in settings and settings[name] == before:
                del settings[name]  # so that trials of older versions keep their names
        return settings

    def to_json(self) -> dict[str, Any]:
        """Return everything as JSON values; `from_json` restores an equal protocol."""
        return {
            "name": self.name,
            "title": self.title,
            "citation": self.citation,
            "settings": {name: _jsonable(value) for name, value in self.settings().items()},
            "overrides": {name: _jsonable(value) for name, value in self.overrides.items()},
            "provenance": {name: dataclasses.asdict(entry) for name, entry in self.provenance.items()},
        }

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Protocol:
        """Return the protocol that `to_json` wrote, today or in an older version, whatever the definitions say today.

        ArcadeMarkError: a part is missing or a value is not one that the setting accepts.
        """
        try:
            if "suite" in data:
                return StepProtocol(suite=parse_suite(data["suite"], "suite"), **_restored(STEP_SETTINGS, data))
            return AtariProtocol(**_restored(SETTINGS, data))
        except (KeyError, TypeError, AttributeError) as error:
            raise ArcadeMarkError(f"protocol as JSON: {error!r}; expected what Protocol.to_json writes") from error


def _restored(parsers: Mapping[str, Parser], data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that all protocols write as JSON."""
    older = ADDED.keys() & parsers.keys() - data["settings"].keys()
    given = {**data["settings"], **{name: ADDED[name] for name in older}}
    notes = {**data["provenance"], **dict.fromkeys(older, dataclasses.asdict(_OLDER))}
    overrides = {name: _parse(parsers, name, value) for name, value in data["overrides"].items()}
    return {
        "name": data["name"],
        "title": data["title"],
        "citation": data["citation"],
        **{name: _parse(parsers, name, given[name]) for name in parsers},
        "provenance": MappingProxyType({name: Provenance(**notes[name]) for name in parsers}),
        "overrides": MappingProxyType(overrides),
    }


@dataclass(frozen=True, kw_only=True)
class AtariProtocol(Protocol):
    """How Atari games are played; lengths and budgets are in emulated frames.

    Parameters
    ----------
    frame_skip : int
        Emulated frames an agent step; the action is repeated on each.
    repeat_action_probability : float
        Probability that a frame repeats the action of the frame before (sticky actions).
    action_set : {"full", "minimal"}
        The console's joystick actions (18; 9 in Skiing), or those that the game uses.
    max_frames_per_episode : int or None
        Emulated frames after which an episode is truncated; None for no cap.
    training_episode_end : {"game_over", "life_lost", "episodic_life"}
        What terminates an episode in training. After "life_lost" the next one begins a new game, as in Gymnasium's
        ``AtariPreprocessing``; with "episodic_life" it goes on in the same game after one agent step of no action, as
        in Stable-Baselines3's ``EpisodicLifeEnv``: steps are played in full, the last life ends with the game, and the
        episodes that are recorded are whole games.
    evaluation_episode_end : {"game_over", "life_lost"}
        What terminates an episode in evaluation. The next one begins a new game.
    start : {"reset", "noop", "every_noop", "human"}
        How an episode starts. With "noop" after no-op frames, whose number is drawn uniformly from 1 to `noop_max`;
        with "every_noop" evaluation takes these numbers in turn, so that `noop_max` episodes are every start once,
        whose mean is what "noop" draws from. "human" needs recorded human play and cannot be run.
    noop_max : int
        Most no-op frames; 0 where `start` has none.
    fire_reset : bool
        Whether FIRE is pressed for the agent, as by Stable-Baselines3's ``FireResetEnv`` above its ``EpisodicLifeEnv``,
        in games whose action 1 is FIRE: at the start, after the no-ops, an agent step each of actions 1 and 2, which
        are no steps of the agent; after each lost life that does not end the game's play the same, in evaluation too,
        after one of no action. Their rewards count in scores and are not told in training, their frames count. Where
        lost lives end training episodes ("episodic_life"), what the agent sees then begins anew in evaluation too.
    mode, difficulty : int or None
        The game's switches; None for the ROM's default.
    modification : str or None
        What is changed in the game by writing to its memory, see `arcademark.suite.modifications`; None for nothing.
    colours : {"original", "inverted", "rotated", "gray", "shuffled"}
        What becomes of the console's colours before anything is made of a screen: as they are, light for dark, other
        hues of about the same brightness, no hues, or each another, always the same. Memory is not touched.
    observation : {"grayscale", "rgb", "palette", "ram"}
        What the agent sees: luminance, colours, 7-bit palette indices, or the 128 bytes of RAM.
    screen_size : (int, int) or None
        Height and width after area resizing; None for the console's 210 × 160.
    max_pool : bool, "rgb" or "resized"
        Whether a screen is the pixelwise maximum of the step's last two frames (of one, if `frame_skip` is 1): of what
        is shown, as in Gymnasium's ``AtariPreprocessing``; always of the three colours, before any luminance is taken,
        as in Stable-Baselines3's wrappers; or of what is shown, after each was resized, as in RLlib's.
    frame_stack : int
        Screens an observation holds, oldest first.
    training_reward_clipping : bool
        Whether a learner is given the sign of the reward; scores are never clipped.
    training_frames : int or None
        A learner's budget in frames, None where training is counted in episodes.
    counted_frames : {"emulated", "played"}
        What counts as frames used: all that were emulated for the agent, planning on the emulator included; or those
        of its episodes only.
    """

    parsers = SETTINGS
    unit = "frame"
    suite = None

    frame_skip: int
    repeat_action_probability: float
    action_set: ActionSet
    max_frames_per_episode: int | None
    training_episode_end: TrainingEpisodeEnd
    evaluation_episode_end: EpisodeEnd
    start: Start
    noop_max: int
    fire_reset: bool
    mode: int | None
    difficulty: int | None
    modification: str | None
    colours: Colours
    observation: ObservationKind
    screen_size: tuple[int, int] | None
    max_pool: MaxPool
    frame_stack: int
    training_reward_clipping: bool
    training_frames: int | None
    counted_frames: CountedFrames

    def contradictions(self) -> Iterator[str]:
        """Yield what does not fit together in the settings."""
        return contradictions(self.settings())

    @property
    def runnable(self) -> bool:
        """Whether an episode can be played here: human starts need recordings that were never published."""
        return self.start != "human"

    @property
    def starts(self) -> int | None:
        """Starts an episode can have, where chance decides nothing else."""
        return None if self.repeat_action_probability or self.start == "human" else max(1, self.noop_max)

    def noops(self, episode: int) -> int | None:
        """Return how many no-ops begin an evaluation episode where `start` takes them in turn."""
        return episode % self.noop_max + 1 if self.start == "every_noop" else None

    @property
    def departures(self) -> Mapping[str, Any]:
        """The overrides but for those of `every_start`, whose mean is what the named protocol draws from."""
        if (self.start, self.overrides.get("start")) != ("every_noop", "noop"):
            return self.overrides
        return {name: value for name, value in self.overrides.items() if name not in ("start", "evaluation_episodes")}

    def every_start(self) -> Self:
        """Return the protocol with each of its no-op starts once."""
        if not self.noop_max:
            return super().every_start()
        return self.override({"start": "every_noop", "evaluation_episodes": self.noop_max})


@dataclass(frozen=True, kw_only=True)
class StepProtocol(Protocol):
    """How the tasks of a suite that is a file are played; lengths and budgets are in steps.

    Parameters
    ----------
    max_steps_per_episode : int or None
        Steps after which an episode is truncated, where its environment does not do so sooner; None for no more than
        what the environment and the task's own `max_steps` say.
    training_steps : int or None
        A learner's budget in steps, None where training is counted in episodes.
    suite : TaskSuite
        What the tasks are, so that whoever has the protocol can play them.
    """

    parsers = STEP_SETTINGS
    unit = "step"
    frame_skip = 1
    training_reward_clipping = False
    counted_frames: ClassVar[CountedFrames] = "emulated"

    max_steps_per_episode: int | None
    training_steps: int | None
    suite: TaskSuite = field(hash=False)

    @property
    def max_frames_per_episode(self) -> int | None:
        """`max_steps_per_episode`."""
        return self.max_steps_per_episode

    @property
    def training_frames(self) -> int | None:
        """`training_steps`."""
        return self.training_steps

    def contradictions(self) -> Iterator[str]:
        """Yield what does not fit together in the settings."""
        if (self.training_steps is None) == (self.training_episodes is None):
            yield "give either training_steps or training_episodes and set the other to none"

    def cap(self, task: str) -> int | None:
        """Return the steps after which an episode is truncated, if not by the environment; None where nothing says."""
        return min(filter(None, (self.max_steps_per_episode, self.suite.tasks[task].max_steps)), default=None)

    def of_trial(self, task: str) -> dict[str, Any]:
        """Return what can change the score of an episode of a task: the settings, and the task's own definition."""
        return super().of_trial(task) | {"task": self.suite.tasks[task].played()}

    def to_json(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        return super().to_json() | {"suite": self.suite.to_json()}


def _parse(parsers: Mapping[str, Parser], name: str, value: object) -> Any:
    if name not in parsers:
        raise UnknownNameError("protocol setting", name, parsers)
    try:
        return parsers[name](value)
    except ValueError as error:
        raise ArcadeMarkError(f"protocol setting {name}={value}: expected {error}") from None


def _jsonable(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value


@cache
def protocols() -> Mapping[str, AtariProtocol]:
    """Return the named protocols by name."""
    return MappingProxyType({name: _protocol(name, entry) for name, entry in _tables().items()})


def _protocol(name: str, entry: Mapping[str, Any]) -> AtariProtocol:
    settings = {setting: entry[setting] for setting in SETTINGS if setting not in VARIED}
    return AtariProtocol(
        name=name,
        title=entry["title"],
        citation=entry["citation"],
        **{setting: _parse(SETTINGS, setting, given["value"]) for setting, given in settings.items()},
        **{setting: ADDED[setting] for setting in VARIED},
        provenance=MappingProxyType(
            {setting: _provenance(settings[setting]) if setting in settings else _UNCHANGED for setting in SETTINGS}
        ),
    )


def _provenance(given: Mapping[str, Any]) -> Provenance:
    if "cited" in given:
        return Provenance("cited", given["cited"])
    return Provenance("choice", given["choice"])


@cache
def _tables() -> Mapping[str, Mapping[str, Any]]:
    return read_tables("protocols.toml")


def protocol(name: str) -> AtariProtocol:
    """Return the protocol of that name; an `UnknownNameError` if there is none."""
    if name.lower() not in protocols():
        raise UnknownNameError("protocol", name, protocols())
    return protocols()[name.lower()]


_UNSAID = Provenance("choice", "the suite does not say; as most evaluations on few seeds")
_STEP_DEFAULTS: Mapping[str, Any] = MappingProxyType(
    {
        "max_steps_per_episode": None,
        "training_steps": 100_000,
        "training_episodes": None,
        "evaluation_episodes": 100,
        "reported_episodes": "evaluation",
    }
)


def step_protocol(suite: TaskSuite) -> StepProtocol:
    """Return the protocol of a suite that is a file, of the settings that it gives.

    ArcadeMarkError: it gives a setting that there is not, or a value that the setting does not accept.
    """
    given = {name: _parse(STEP_SETTINGS, name, value) for name, value in suite.protocol.items()}
    if "training_episodes" in given:
        given.setdefault("training_steps", None)
    said = Provenance("cited", f"the suite {suite.name}" + (f" ({suite.citation})" if suite.citation else ""))
    return StepProtocol(
        name=suite.name,
        title=suite.title,
        citation=suite.citation,
        **{**_STEP_DEFAULTS, **given},
        provenance=MappingProxyType({name: said if name in given else _UNSAID for name in STEP_SETTINGS}),
        suite=suite,
    )


def planner_episodes(rules: Protocol) -> int:
    """Return the episodes that planners play: their own number where the protocol's source gives one.

    An overridden ``evaluation_episodes`` counts for all agents.
    """
    own = _tables().get(rules.name, {}).get("planner_episodes")
    return rules.evaluation_episodes if own is None or "evaluation_episodes" in rules.overrides else int(own["value"])


def learner_trials(rules: Protocol) -> int | None:
    """Return how many trials of a learner on a game the protocol's source averages; None where it does not say."""
    own = _tables().get(rules.name, {}).get("learner_trials")
    return None if own is None else int(own["value"])


def papers(rules: Protocol) -> tuple[str, ...]:
    """Return the keys of the papers that define the named protocol."""
    return tuple(_tables().get(rules.name, {}).get("papers", ()))


def differences(a: Protocol, b: Protocol) -> tuple[Difference, ...]:
    """Return the settings in which two protocols differ, in the settings' order; names and titles do not count."""
    names = dict.fromkeys((*a.parsers, *b.parsers))
    pairs = ((name, getattr(a, name, None), getattr(b, name, None)) for name in names)
    return tuple(Difference(name, first, second) for name, first, second in pairs if first != second)
