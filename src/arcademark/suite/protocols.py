"""Protocols: every environment setting that can change a score, as pure data.

Conventions
-----------
* Lengths and budgets are in emulated frames (60 per second), never in agent steps.
* ``max_frames_per_episode`` counts as the emulator does: every frame emulated since the episode's reset, no-op starts
  included. Reaching it truncates the episode, which is not termination.
* A setting that the protocol's source leaves open is our choice, which ``provenance`` records.
* A setting is a field of the dataclass, whose metadata define how it is parsed, written and shown
  (`arcademark.suite.settings`): on the command line, in JSON and in ``data/protocols.toml``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, TypeAlias

from arcademark.errors import ArcadeMarkError, UnknownNameError
from arcademark.keywords import knowing
from arcademark.suite.settings import (
    MAX_EPISODES,
    MAX_FRAMES,
    MAX_FRAMES_PER_ACTION,
    MAX_STACKED,
    MAX_SWITCHES,
    MODIFICATION,
    PROBABILITY,
    SIZE,
    YES_OR_NO,
    ActionSet,
    BaseProtocol,
    Colours,
    CountedFrames,
    EpisodeEnd,
    MaxPool,
    ObservationKind,
    Reporting,
    Setting,
    SettingSource,
    Start,
    TrainingEpisodeEnd,
    declare,
    duration,
    recorded_end,
    whole,
)
from arcademark.suite.tables import Named, read_tables
from arcademark.suite.task_suites import TaskSuite, load_suite, parse_suite
from arcademark.suite.tasks import game_name

if TYPE_CHECKING:
    import numpy as np

DEFAULT_PROTOCOL = "world-records"
"""The default protocol."""

_BUDGET = whole(1, MAX_FRAMES)
_UNCHANGED = "the game as it is: the protocol's source changes nothing in it"


@dataclass(frozen=True)
class Difference:
    """A setting in which two protocols differ, and its value in each."""

    setting: str
    a: Any
    b: Any


_TRAINING_EPISODES = Setting("Training episodes", {None: "counted otherwise"}, _BUDGET, text="{:,}".format)
_EVALUATION_EPISODES = Setting(
    "Episodes averaged, k", reader=whole(1, MAX_EPISODES), text="{:,}".format, published="averaged episodes"
)
_REPORTED_EPISODES = Setting(
    "Score is of",
    {
        "evaluation": "evaluation episodes",
        "training_last_k": "the last k of training; evaluation, if it does not learn",
    },
)
_ENDS = {"game_over": "game over", "life_lost": "a life lost"}
_DEFAULT = {None: "the game's default"}


@dataclass(frozen=True, kw_only=True)
class AtariProtocol(BaseProtocol):
    """Protocol of Atari games; lengths and budgets are in emulated frames.

    Parameters
    ----------
    frame_skip : int
        Emulated frames per agent step; the action is repeated on each.
    repeat_action_probability : float
        Probability that a frame repeats the previous frame's action (sticky actions).
    action_set : {"full", "minimal"}
        The console's joystick actions (18; 9 in Skiing), or those that the game uses.
    max_frames_per_episode : int or None
        Emulated frames after which an episode is truncated; None for no cap.
    training_episode_end : {"game_over", "life_lost", "episodic_life"}
        Termination of an episode in training. After "life_lost" the next one begins a new game, as in Gymnasium's
        ``AtariPreprocessing``; with "episodic_life" it goes on in the same game after one agent step of no action, as
        in Stable-Baselines3's ``EpisodicLifeEnv``: steps are played in full, the last life ends with the game, and the
        episodes that are recorded are whole games.
    evaluation_episode_end : {"game_over", "life_lost"}
        Termination of an episode in evaluation. The next one begins a new game.
    start : {"reset", "noop", "every_noop", "human"}
        Start of an episode. With "noop", it follows no-op frames, whose number is uniform from 1 to `noop_max`; with
        "every_noop", evaluation uses these numbers in turn, so that `noop_max` episodes have every start once, and
        their mean is the expectation under "noop". "human" needs recorded human play and cannot be run.
    noop_max : int
        Maximum number of no-op frames; 0 if `start` has none.
    fire_reset : bool
        True if FIRE is pressed for the agent, as by Stable-Baselines3's ``FireResetEnv`` around its
        ``EpisodicLifeEnv``, in games whose action 1 is FIRE: at the start, after the no-ops, actions 1 and 2 are
        applied for one step each, which are not steps of the agent; the same after one no-op step whenever a life is
        lost and the game goes on, also in evaluation. Their rewards count in scores, but learners do not get them;
        their frames count. If lost lives end training episodes ("episodic_life"), observations then also begin anew in
        evaluation.
    mode, difficulty : int or None
        The game's switches; None for the ROM's default.
    modification : str or None
        Changes of the game by writing to its memory, see `arcademark.suite.modifications`; None for no changes.
    colours : {"original", "inverted", "rotated", "gray", "shuffled"}
        Treatment of the console's colours before a screen is processed: unchanged, with light and dark exchanged, with
        other hues of similar brightness, without hues, or with a fixed permutation of colours. Memory is not changed.
    observation : {"grayscale", "rgb", "palette", "ram"}
        Kind of observation: luminance, colours, 7-bit palette indices, or the 128 bytes of RAM.
    screen_size : (int, int) or None
        Height and width after area resizing; None for the console's 210 × 160.
    max_pool : bool, "rgb" or "resized"
        True if a screen is the pixelwise maximum of the step's last two frames (of one, if `frame_skip` is 1): of
        observations, as in Gymnasium's ``AtariPreprocessing``; for "rgb", always of the three colours, before the
        luminance is computed, as in Stable-Baselines3's wrappers; for "resized", of observations after resizing, as in
        RLlib's.
    frame_stack : int
        Number of screens in an observation, oldest first.
    training_reward_clipping : bool
        True if a learner gets the sign of the reward; scores are never clipped.
    training_frames : int or None
        A learner's budget in frames, None if training is counted in episodes.
    counted_frames : {"emulated", "played"}
        Definition of frames used: all frames emulated for the agent, including planning on the emulator, or only those
        of its episodes.
    suite : TaskSuite or None
        User-defined games that are played under it, in place of the emulator's; a pickle also contains the paths of
        their ROMs.
    """

    unit: ClassVar[Literal["frame", "step"]] = "frame"

    frame_skip: int = declare(
        "Action held for",
        reader=whole(1, MAX_FRAMES_PER_ACTION),
        text=lambda frames: f"{frames:,} frame{'' if frames == 1 else 's'}",
        published="action repeats",
    )
    repeat_action_probability: float = declare(
        "Sticky actions",
        reader=PROBABILITY,
        text=lambda value: f"probability {value:g}" if value else "none",
        published="sticky actions",
    )
    action_set: ActionSet = declare(
        "Actions",
        {"full": "all of the joystick's (18)", "minimal": "the game's own"},
        published="actions",
        published_values={"full": 18, "minimal": "minimal set"},
    )
    max_frames_per_episode: int | None = declare(
        "Frame cap",
        {None: "none"},
        _BUDGET,
        text=lambda frames: f"{frames:,} frames ({duration(frames)})",
        published="max episode length",
    )
    training_episode_end: TrainingEpisodeEnd = declare(
        "Training episode ends at",
        _ENDS | {"episodic_life": "a life lost; the game goes on"},
        published="life information in training",
        published_values={"life_lost": "yes", "episodic_life": "yes", "game_over": "no"},
    )
    evaluation_episode_end: EpisodeEnd = declare(
        "Evaluation episode ends at",
        _ENDS,
        published="episode end",
        published_values={"game_over": "all lives lost", "life_lost": "a life lost"},
    )
    start: Start = declare(
        "Episode starts from",
        {
            "reset": "the reset",
            "noop": "no-op frames after the reset",
            "every_noop": "each number of no-op frames after the reset in turn",
            "human": "positions from human play",
        },
        published="start",
        published_values={"noop": "no-ops", "every_noop": "no-ops"},
    )
    noop_max: int = declare("Most no-op frames", reader=whole(0, MAX_FRAMES_PER_ACTION))
    fire_reset: bool = declare("FIRE pressed for the agent", YES_OR_NO, before=False)
    mode: int | None = declare("Game mode", _DEFAULT, whole(0, MAX_SWITCHES))
    difficulty: int | None = declare("Difficulty", _DEFAULT, whole(0, MAX_SWITCHES))
    modification: str | None = declare(
        "Changed in the game",
        {None: "nothing"},
        MODIFICATION,
        text=lambda name: str(name).replace("_", " "),
        before=None,
    )
    colours: Colours = declare(
        "Colours",
        {
            "original": "the console's",
            "inverted": "light for dark",
            "rotated": "other hues",
            "gray": "no hues",
            "shuffled": "exchanged",
        },
        before="original",
    )
    observation: ObservationKind = declare(
        "Observation",
        {
            "grayscale": "grayscale screen",
            "rgb": "colour screen",
            "palette": "screen of 7-bit palette indices",
            "ram": "128 bytes of RAM",
        },
        published="colour",
        published_values={"rgb": "RGB"},
    )
    screen_size: tuple[int, int] | None = declare(
        "Resized to", {None: "not resized"}, SIZE, text="{0[0]} × {0[1]}".format, published="image size"
    )
    max_pool: MaxPool = declare(
        "Maximum of last two frames", {**YES_OR_NO, "rgb": "yes, of colours", "resized": "yes, after resizing"}
    )
    frame_stack: int = declare("Screens stacked", reader=whole(1, MAX_STACKED), published="frame stack")
    training_reward_clipping: bool = declare("Rewards clipped in training", YES_OR_NO)
    training_frames: int | None = declare("Training frames", {None: "counted in episodes"}, _BUDGET, text="{:,}".format)
    training_episodes: int | None = field(metadata={"setting": _TRAINING_EPISODES})
    evaluation_episodes: int = field(metadata={"setting": _EVALUATION_EPISODES})
    reported_episodes: Reporting = field(metadata={"setting": _REPORTED_EPISODES})
    counted_frames: CountedFrames = declare(
        "Frames counted",
        {"emulated": "all that were emulated, planning included", "played": "those of the episodes played"},
    )
    suite: TaskSuite | None = field(default=None, hash=False)

    def contradictions(self) -> Iterator[str]:
        """Yield the conflicts of the settings."""
        if self.suite and not self.suite.of_games:
            yield f"the suite {self.suite.name} is of other tasks than Atari games and has a protocol of its own"
        if (self.start in ("noop", "every_noop")) != (self.noop_max > 0):
            yield "noop_max must be at least 1 with start=noop or every_noop, and 0 with any other start"
        if (self.training_frames is None) == (self.training_episodes is None):
            yield "give either training_frames or training_episodes and set the other to none"
        end = self.evaluation_episode_end
        if self.reported_episodes == "training_last_k" and recorded_end(self.training_episode_end) != end:
            yield f"training episodes are the score: set training_episode_end={end} or reported_episodes=evaluation"
        if self.observation == "ram" and self.frame_stack != 1:
            yield "observation=ram is not stacked: set frame_stack=1"
        if self.observation in {"ram", "palette"} and self.screen_size is not None:
            yield f"observation={self.observation} cannot be resized: set screen_size=none"
        if self.observation in {"ram", "palette"} and self.max_pool:
            yield f"observation={self.observation} has no brighter pixel to pool: set max_pool=false"

    def observed(self, kind: Literal["palette", "ram"]) -> Self:
        """Return the protocol with observations of one whole screen of palette indices, or of the memory."""
        return replace(self, observation=kind, screen_size=None, max_pool=False, frame_stack=1)

    def cap(self, task: str) -> int | None:
        """Return the frames after which an episode of a task is truncated; None without a cap."""
        return self.max_frames_per_episode

    def task_name(self, task: str) -> str:
        """Name a task for people."""
        return game_name(task)

    @property
    def runnable(self) -> bool:
        """True if episodes can be played; human starts need recordings that were never published."""
        return self.start != "human"

    @property
    def starts(self) -> int | None:
        """The number of possible starts, if nothing else of the game is random; else None."""
        return None if self.repeat_action_probability or self.start == "human" else max(1, self.noop_max)

    def noops(self, episode: int) -> int | None:
        """Return the number of no-ops at the start of an evaluation episode if `start` is "every_noop"; else None."""
        return episode % self.noop_max + 1 if self.start == "every_noop" else None

    def drawn_noops(self, rng: np.random.Generator) -> int:
        """Draw the number of no-ops at the start of an episode; 0, without a draw, if the protocol has none."""
        return int(rng.integers(1, self.noop_max + 1)) if self.noop_max else 0

    @property
    def departures(self) -> Mapping[str, Any]:
        """The overrides that change the episodes of a score, without those of `every_start`."""
        if (self.start, self.overrides.get("start")) != ("every_noop", "noop"):
            return self.overrides
        return {name: value for name, value in self.overrides.items() if name not in ("start", "evaluation_episodes")}

    def of_trial(self, task: str) -> dict[str, Any]:
        """Return all that can change the score of an episode: the settings, and the definition of a user's game."""
        own = {"task": self.suite.tasks[task].played()} if self.suite else {}
        return super().of_trial(task) | own

    def to_json(self) -> dict[str, Any]:
        """Return all fields as JSON values, except the paths of ROMs."""
        return super().to_json() | ({"suite": self.suite.to_json()} if self.suite else {})

    @classmethod
    def restored(cls, data: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fields that `to_json` wrote."""
        suite = parse_suite(data["suite"], "suite") if "suite" in data else None
        return super().restored(data) | {"suite": suite}


@dataclass(frozen=True, kw_only=True)
class StepProtocol(BaseProtocol):
    """Protocol of the tasks of a suite file; lengths and budgets are in steps.

    Parameters
    ----------
    max_steps_per_episode : int or None
        Steps after which an episode is truncated, unless its environment does so sooner; None for only the caps of the
        environment and of the task's `max_steps`.
    training_steps : int or None
        A learner's budget in steps, None if training is counted in episodes.
    suite : TaskSuite
        Suite of the tasks, which makes the protocol sufficient to play them.
    """

    unit: ClassVar[Literal["frame", "step"]] = "step"
    frame_skip: ClassVar[int] = 1
    training_reward_clipping: ClassVar[bool] = False
    counted_frames: ClassVar[CountedFrames] = "emulated"
    runnable: ClassVar[bool] = True
    starts: ClassVar[int | None] = None

    max_steps_per_episode: int | None = declare(
        "Step cap", {None: "the environment's own"}, _BUDGET, text="{:,} steps".format, default=None
    )
    training_steps: int | None = declare(
        "Training steps", {None: "counted in episodes"}, _BUDGET, text="{:,}".format, default=100_000
    )
    training_episodes: int | None = field(metadata={"setting": _TRAINING_EPISODES}, default=None)
    evaluation_episodes: int = field(metadata={"setting": _EVALUATION_EPISODES}, default=100)
    reported_episodes: Reporting = field(metadata={"setting": _REPORTED_EPISODES}, default="evaluation")
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
        """Yield the conflicts of the settings."""
        if self.suite.of_games:
            yield "its suite is of Atari games, which are played under one of Atari's protocols"
        if (self.training_steps is None) == (self.training_episodes is None):
            yield "give either training_steps or training_episodes and set the other to none"

    def cap(self, task: str) -> int | None:
        """Return the steps after which an episode is truncated, besides the environment's cap; None without a cap."""
        return min(filter(None, (self.max_steps_per_episode, self.suite.tasks[task].max_steps)), default=None)

    def task_name(self, task: str) -> str:
        """Name a task for people: by its id."""
        return task

    def noops(self, episode: int) -> int | None:
        """Return None: no no-ops begin an episode."""
        return None

    @property
    def departures(self) -> Mapping[str, Any]:
        """The overrides."""
        return self.overrides

    def of_trial(self, task: str) -> dict[str, Any]:
        """Return all that can change the score of an episode of a task: the settings, and the task's own definition."""
        return super().of_trial(task) | {"task": self.suite.tasks[task].played()}

    def to_json(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        return super().to_json() | {"suite": self.suite.to_json()}

    @classmethod
    def restored(cls, data: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fields that `to_json` wrote."""
        return super().restored(data) | {"suite": parse_suite(data["suite"], "suite")}


Protocol: TypeAlias = AtariProtocol | StepProtocol


def from_json(data: Mapping[str, Any]) -> Protocol:
    """Return the protocol that `to_json` wrote; errors are those of `BaseProtocol.from_json`."""
    has_suite = isinstance(data, Mapping) and "suite" in data
    of_steps = has_suite and not parse_suite(data["suite"], "suite").of_games
    return (StepProtocol if of_steps else AtariProtocol).from_json(data)


@cache
def protocols() -> Mapping[str, AtariProtocol]:
    """Return the named protocols by name."""
    return Named({name: _protocol(name, entry) for name, entry in _tables().items()})


def _protocol(name: str, entry: Mapping[str, Any]) -> AtariProtocol:
    given = {
        setting: entry.get(setting, {"value": declared.before, "choice": _UNCHANGED})
        for setting, declared in AtariProtocol.declarations().items()
    }
    statuses: tuple[Literal["cited", "choice"], ...] = ("cited", "choice")
    return AtariProtocol(
        name=name,
        title=entry["title"],
        citation=entry["citation"],
        **AtariProtocol.parsed({setting: one["value"] for setting, one in given.items()}),
        provenance={key: SettingSource(of, one[of]) for key, one in given.items() for of in statuses if of in one},
    )


@cache
def _tables() -> Mapping[str, Mapping[str, Any]]:
    return read_tables("protocols.toml")


@knowing()
def protocol(name: str) -> AtariProtocol:
    """Return a protocol by its name; raise `UnknownNameError` if there is none."""
    if name.lower() not in protocols():
        raise UnknownNameError("protocol", name, protocols())
    return protocols()[name.lower()]


_UNSTATED = SettingSource("choice", "the suite does not say; as most evaluations on few seeds")


def suite_protocol(suite: TaskSuite, named: str | Protocol | None = None) -> Protocol:
    """Return the protocol under which the suite of a file is played.

    For games it is the named one, `DEFAULT_PROTOCOL` if None; other suites have their own. ArcadeMarkError: as
    `step_protocol`, or a protocol is named for a suite that has its own.
    """
    if suite.of_games and not isinstance(named, StepProtocol):
        base = named if isinstance(named, AtariProtocol) else protocol(named or DEFAULT_PROTOCOL)
        return replace(base, suite=suite)
    if named is not None:
        raise ArcadeMarkError("suite and protocol: a suite has its own protocol; leave the protocol out")
    return step_protocol(suite)


def rules_of(
    named: str | Protocol | None, suite: str | os.PathLike[str] | None, overrides: Mapping[str, object]
) -> Protocol:
    """Return the named protocol, or a suite's, with overrides."""
    if suite is not None:
        named = suite_protocol(load_suite(suite), named)
    elif not isinstance(named, BaseProtocol):
        named = protocol(DEFAULT_PROTOCOL if named is None else named)
    return named.override(overrides)


def step_protocol(suite: TaskSuite) -> StepProtocol:
    """Return the protocol of a file's suite of other tasks, with the settings of the file.

    ArcadeMarkError: the file has an unknown setting, or a value that a setting does not accept.
    """
    given = StepProtocol.parsed(suite.protocol)
    if "training_episodes" in given:
        given.setdefault("training_steps", None)
    stated = SettingSource("cited", f"the suite {suite.name}" + (f" ({suite.citation})" if suite.citation else ""))
    return StepProtocol(
        name=suite.name,
        title=suite.title,
        citation=suite.citation,
        **given,
        provenance={name: stated if name in given else _UNSTATED for name in StepProtocol.declarations()},
        suite=suite,
    )


def planner_episodes(rules: Protocol) -> int:
    """Return the number of episodes that planners play: that of the protocol's source, if it states one.

    An overridden ``evaluation_episodes`` applies to all agents.
    """
    own = _tables().get(rules.name, {}).get("planner_episodes")
    return rules.evaluation_episodes if own is None or "evaluation_episodes" in rules.overrides else int(own["value"])


def learner_trials(rules: Protocol) -> int | None:
    """Return the number of a learner's trials per game in the protocol's source; None if it does not state one."""
    own = _tables().get(rules.name, {}).get("learner_trials")
    return None if own is None else int(own["value"])


def papers(rules: Protocol) -> tuple[str, ...]:
    """Return the keys of the papers that define the named protocol."""
    return tuple(_tables().get(rules.name, {}).get("papers", ()))


def differences(a: Protocol, b: Protocol) -> tuple[Difference, ...]:
    """Return the settings in which two protocols differ, in the settings' order; names and titles do not count."""
    names = dict.fromkeys((*a.declarations(), *b.declarations()))
    pairs = ((name, getattr(a, name, None), getattr(b, name, None)) for name in names)
    return tuple(Difference(name, first, second) for name, first, second in pairs if first != second)
