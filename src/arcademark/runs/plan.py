"""Planning a run: its trials, from agents, games, a protocol and seeds."""

from __future__ import annotations

import dataclasses
import math
import reprlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from arcademark.agents.loading import AgentSpec, NetworkSpec, agent_specs, applies, kind, with_checkpoints
from arcademark.environments.base import EnvironmentSpec
from arcademark.environments.emulation import facts
from arcademark.environments.registry import EmulatorName, choose_emulator, environment_spec
from arcademark.errors import MAX_QUOTED_CHARS, ArcadeMarkError, one_line
from arcademark.keywords import Names, knowing
from arcademark.records.database import MAX_STORED, MAX_TRIALS
from arcademark.records.manifest import training_budget, trial_id
from arcademark.records.model import TrialRecord
from arcademark.suite import protocols
from arcademark.suite.protocols import Protocol
from arcademark.suite.settings import MAX_EPISODES
from arcademark.suite.subsets import tasks_to_play

SNAPSHOTS = (0.8, 0.85, 0.9, 0.95)
"""Shares of a learner's training after which the learner is evaluated, too."""
SNAPSHOT_EPISODES = 0.2
"""Share of the evaluation episodes that each of these evaluations plays."""
AllStarts = Literal["all-starts"]
Seeds: TypeAlias = Annotated[int | Sequence[int], "how many, or whole numbers one by one"]
ALL_STARTS: AllStarts = "all-starts"
"""Value instead of a number of episodes: every start that the protocol draws from, once."""


@dataclass(frozen=True)
class Learnt:
    """State of a learner or trainer at the end of its training in another run.

    run, trial: Directory of the run and id of the trial there.
    protocol: Protocol of the training.
    frames: Length of the training.
    sha256: SHA-256 of the checkpoint.
    """

    run: Path
    trial: str
    protocol: Protocol
    frames: int
    sha256: str


@dataclass(frozen=True)
class Trial:
    """The unit of work and of resuming: agent with parameters, game, protocol with overrides, seed."""

    agent: AgentSpec
    game: str  # the task's id
    protocol: Protocol
    seed: int  # with an episode's number it determines every random draw of that episode
    episodes: int  # evaluation episodes
    training_frames: int | None = None  # budget of a learner; None if its budget is in episodes
    training_episodes: int | None = None  # budget in episodes; None if it is in frames
    learnt: Learnt | None = None  # result of training in another run, with which it plays

    @property
    def network(self) -> NetworkSpec | None:
        """The agent, if it is a trained network played from its file."""
        return self.agent if isinstance(self.agent, NetworkSpec) else None

    @property
    def checkpoint(self) -> str:
        """SHA-256 of a network's file, or of a checkpoint of another run; "" if there is neither."""
        elsewhere = self.learnt or self.network
        return elsewhere.sha256 if elsewhere else ""

    @property
    def snapshot_episodes(self) -> int:
        """Number of evaluation episodes that a learner plays at each of `SNAPSHOTS`, if its evaluation is scored."""
        return math.ceil(SNAPSHOT_EPISODES * self.episodes)

    def spent(self, frames: int, episodes: int) -> tuple[int, int]:
        """Return the part of the training budget that this much training spends, and the budget, in its own unit."""
        if self.training_frames is not None:
            return frames, self.training_frames
        return episodes, self.training_episodes or 0

    @cached_property
    def id(self) -> str:
        """The trial's stable name, "random-pong-s0-1a2b3c4d"; see `manifest.trial_id`."""
        budget = self.training_frames, self.training_episodes
        return trial_id(self.agent.label, self.game, self.protocol, self.seed, *budget, self.checkpoint)

    @property
    def record(self) -> TrialRecord:
        """The trial's record before it begins."""
        return TrialRecord(
            id=self.id,
            agent=self.agent.label,
            game=self.game,
            seed=self.seed,
            episodes=self.episodes,
            training_frames=self.training_frames,
            training_episodes=self.training_episodes,
        )


@dataclass(frozen=True)
class LeftOut:
    """Agent that does not play a game, with the reason."""

    agent: str
    game: str
    reason: str


@dataclass(frozen=True)
class Plan:
    """Trials of a run, or of a shard of it."""

    trials: tuple[Trial, ...]  # in the order in which they begin
    agents: tuple[AgentSpec, ...]
    games: tuple[str, ...]
    protocol: Protocol
    seeds: tuple[int, ...]
    episodes: int  # evaluation episodes per trial
    frames: int | None  # requested training frames; None for the protocol's
    left_out: tuple[LeftOut, ...]  # combinations of agent and game without a trial
    training_episodes: int | None = None  # requested training episodes, likewise
    emulator: EmulatorName | None = None  # requested emulator, None to choose; it changes no score
    shard: tuple[int, int] | None = None  # number of the shard, from 1, and of all shards; None for the whole run
    elsewhere: tuple[Trial, ...] = ()  # trials of the other shards


@knowing()
def make_plan(
    agents: Annotated[str | AgentSpec | Sequence[str | AgentSpec], "a name, or several"],
    games: Names,
    protocol: str | Protocol = "world-records",
    seeds: Seeds = (0,),
    episodes: int | AllStarts | None = None,
    frames: int | None = None,
    training_episodes: int | None = None,
    emulator: EmulatorName | None = None,
) -> Plan:
    """Plan a run: a trial for each seed, game and agent.

    Parameters
    ----------
    agents : str, AgentSpec or a sequence of these
        A name or reference, as `agent_specs` reads it, or its result.
    games : str or sequence of str
        Suites, subsets and games in any spelling, with a suite that is a file its tasks and subsets; in a text with
        commas or one by one.
    protocol : str or Protocol
    seeds : int or sequence of int
        Number of seeds, from 0, or the seeds themselves.
    episodes : int or "all-starts", optional
        Evaluation episodes per trial; by default the protocol's, or those of planners if all agents are. "all-starts"
        plays each no-op start once, under the protocol changed so (`AtariProtocol.every_start`).
    frames : int, optional
        A learner's training budget in frames; the protocol's by default.
    training_episodes : int, optional
        The same in episodes, instead of `frames`.
    emulator : {"ale", "console"}, optional
        Emulator, ale-py or our own; by default our own where it is available.

    Raises
    ------
    UnknownNameError
        If an agent, a game or the protocol is unknown.
    ArcadeMarkError
        If the protocol cannot be run here or has no set of starts, checkpoints are missing or cannot be played, a
        number is out of range, training has two budgets or no agent that learns, two agents have the same label, or no
        agent plays any of the games.
    """
    each = [agents] if isinstance(agents, str | AgentSpec) else agents
    specs = tuple(dict.fromkeys(spec for one in each for spec in (agent_specs(one) if isinstance(one, str) else [one])))
    _check_labels(specs)
    kinds = {kind(spec) for spec in specs}
    rules = protocols.rules_of(protocol, None, {})
    if episodes == ALL_STARTS:
        rules = rules.every_start()
        episodes = rules.evaluation_episodes
    elif episodes is None:
        episodes = protocols.planner_episodes(rules) if kinds == {"planner"} else rules.evaluation_episodes
    if frames is not None and training_episodes is not None:
        raise ArcadeMarkError(
            f"training of {frames:,} frames and of {training_episodes:,} episodes: expected one of the two"
        )
    budget = training_budget(rules, frames, training_episodes)
    seeds = range(min(seeds, MAX_TRIALS + 1)) if isinstance(seeds, int) else seeds
    _check(rules, seeds, episodes, *budget)
    if specs and kinds <= {"policy", "planner"} and (frames, training_episodes) != (None, None):
        option = "--training-episodes" if frames is None else "--frames"
        raise ArcadeMarkError(f"agent {specs[0].label} does not learn, so it cannot be trained; leave {option} out")
    if "trainer" in kinds and budget[0] is None:
        trainer = next(spec.label for spec in specs if kind(spec) == "trainer")
        raise ArcadeMarkError(f"agent {trainer} trains for a number of frames, not of episodes; give --frames")
    tasks = tasks_to_play(games, rules.suite)
    environments = {env.game: env for env in (environment_spec(name, rules) for name in tasks)}
    tasks = tuple(environments)
    if len(seeds) * len(tasks) * len(specs) > MAX_TRIALS:
        raise ArcadeMarkError(
            f"{len(specs):,} agents on {len(tasks):,} games with {len(seeds):,} seeds: a run has at most "
            f"{MAX_TRIALS:,} trials; play fewer, or in several runs"
        )
    reasons = {
        (spec.label, task): _unplanned(spec, task, emulator) or applies(spec, env)
        for task, env in environments.items()
        for spec in specs
    }
    left_out = tuple(LeftOut(agent, game, reason) for (agent, game), reason in reasons.items() if reason)
    trials = tuple(
        Trial(spec, task, rules, seed, episodes, *budget)
        for seed in seeds
        for task in tasks
        for spec in specs
        if not reasons[spec.label, task]
    )
    if not trials:
        if not left_out:
            raise ArcadeMarkError("nothing to play; name at least one agent and a game")
        more = f" (and {len(left_out) - 1:,} more)" if len(left_out) > 1 else ""
        raise ArcadeMarkError(f"nothing to play: {left_out[0].agent} on {left_out[0].game}: {left_out[0].reason}{more}")
    trials = tuple(_with_checkpoints(trials, environments))
    return Plan(trials, specs, tasks, rules, tuple(seeds), episodes, frames, left_out, training_episodes, emulator)


def _with_checkpoints(trials: Sequence[Trial], environments: Mapping[str, EnvironmentSpec]) -> Iterator[Trial]:
    """Yield the trials, with facts of the files of trained networks, which must all be playable."""
    played: dict[str, list[EnvironmentSpec]] = {}
    specs = {trial.network.label: trial.network for trial in trials if trial.network}
    for trial in filter(lambda trial: trial.network, trials):
        env = dataclasses.replace(environments[trial.game], seed=trial.seed)
        played.setdefault(trial.agent.label, []).append(env)
    agents = {label: with_checkpoints(specs[label], games) for label, games in played.items()}
    for trial in trials:
        agent = agents[trial.agent.label][trial.game, trial.seed] if trial.network else trial.agent
        yield dataclasses.replace(trial, agent=agent)


def _unplanned(spec: AgentSpec, game: str, emulator: EmulatorName | None) -> str | None:
    """Return why an agent that plans cannot do so in a game; None if it can, or does not plan."""
    if game in facts.NOT_EXACT and kind(spec) == "planner" and choose_emulator(game, emulator) == "ale":
        return "ale-py's saved states do not replay exactly there, so planners cannot play it; our emulator's do"
    return None


def _check_labels(specs: Sequence[AgentSpec]) -> None:
    by_label: dict[str, AgentSpec] = {}
    for spec in specs:
        if any("\ud800" <= char <= "\udfff" for char in spec.label):
            raise ArcadeMarkError(f"agent {one_line(spec.label)}: its name contains bytes that are not text; rename it")
        if len(spec.label) > MAX_QUOTED_CHARS:
            raise ArcadeMarkError(
                f"agent {one_line(spec.label, 60)}: its settings are longer than the {MAX_QUOTED_CHARS:,} "
                "characters of a name; give it one with --name"
            )
        other = by_label.setdefault(spec.label, spec)
        if other is not spec:
            raise ArcadeMarkError(f"agent {spec.label} is {other.ref} and {spec.ref}; rename one, or use two runs")


def _check(
    protocol: Protocol, seeds: Sequence[int], episodes: int, frames: int | None, training_episodes: int | None
) -> None:
    if not protocol.runnable:
        raise ArcadeMarkError(
            f"protocol {protocol.name} cannot be run: it needs recorded human starts; see 'arcademark info protocols'"
        )
    if len(seeds) > MAX_TRIALS:
        raise ArcadeMarkError(f"more than {MAX_TRIALS:,} seeds: a run has at most this many trials; give fewer")
    if not seeds or len(set(seeds)) < len(seeds) or min(seeds) < 0 or max(seeds) > MAX_STORED:
        raise ArcadeMarkError(
            f"seeds {reprlib.repr(list(seeds))}: expected different whole numbers from 0 to {MAX_STORED}"
        )
    if not 1 <= episodes <= MAX_EPISODES:
        raise ArcadeMarkError(f"episodes {episodes}: expected 1 to {MAX_EPISODES:,} per trial")
    for what, budget in (("frames", frames), ("episodes", training_episodes)):
        if budget is not None and not 0 <= budget <= MAX_STORED:
            raise ArcadeMarkError(f"training {what} {budget}: expected 0 to {MAX_STORED}")
