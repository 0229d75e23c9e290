"""What to do: the trials of a run.

A trial is (agent with its parameters, game, protocol with its overrides, seed), and what it has to give: so many
evaluation episodes, after so many training frames if the agent learns.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from arcademark.agents.loading import AgentSpec, agent_specs, applies, kind
from arcademark.environments.registry import environment_spec
from arcademark.errors import ArcadeMarkError, one_line
from arcademark.runs.checks import MOST_EPISODES
from arcademark.suite import protocols
from arcademark.suite.protocols import Protocol
from arcademark.suite.subsets import resolve_tasks

MAX_STORED = 2**63 - 1
"""The largest number that the store holds."""


@dataclass(frozen=True)
class Trial:
    """The unit of work and of resuming.

    Parameters
    ----------
    agent : AgentSpec
    game : str
        The task's id.
    protocol : Protocol
    seed : int
        With an episode's number it fixes every random draw of that episode.
    episodes : int
        Evaluation episodes.
    training_frames : int or None
        A learner's budget; None where its training is counted in episodes.
    training_episodes : int or None
        The budget in episodes; None where it is counted in frames.
    """

    agent: AgentSpec
    game: str
    protocol: Protocol
    seed: int
    episodes: int
    training_frames: int | None = None
    training_episodes: int | None = None

    @cached_property
    def id(self) -> str:
        """Stable name, such as "random-pong-s0-1a2b3c4d".

        The last part is a hash of all that can change the score of an episode: not of how many there are, nor of where
        an own agent's file lies (what is in it is in the run's manifest).
        """
        identity = {
            "agent": self.agent.label,
            "game": self.game,
            "protocol": self.protocol.to_json()["settings"],
            "seed": self.seed,
            "training_frames": self.training_frames,
        }
        del identity["protocol"]["evaluation_episodes"]
        if self.training_episodes not in (None, self.protocol.training_episodes):
            identity["training_episodes"] = self.training_episodes
        canonical = json.dumps(identity, sort_keys=True, separators=(",", ":"))
        digest = hashlib.sha256(canonical.encode()).hexdigest()[:8]
        agent = re.sub(r"[^a-z0-9_]+", "-", self.agent.label.lower().replace(".py:", "-")).strip("-")[:32]
        return f"{agent}-{self.game}-s{self.seed}-{digest}"


@dataclass(frozen=True)
class LeftOut:
    """An agent that does not play a game, and why."""

    agent: str
    game: str
    reason: str


@dataclass(frozen=True)
class Plan:
    """Every trial of a run.

    Parameters
    ----------
    trials : tuple of Trial
        In the order in which they are begun.
    agents : tuple of AgentSpec
    games : tuple of str
    protocol : Protocol
    seeds : tuple of int
    episodes : int
        Evaluation episodes a trial.
    frames : int or None
        Training frames that were asked for; None for the protocol's.
    training_episodes : int or None
        Training episodes that were asked for, likewise.
    left_out : tuple of LeftOut
        The combinations that have no trial.
    """

    trials: tuple[Trial, ...]
    agents: tuple[AgentSpec, ...]
    games: tuple[str, ...]
    protocol: Protocol
    seeds: tuple[int, ...]
    episodes: int
    frames: int | None
    left_out: tuple[LeftOut, ...]
    training_episodes: int | None = None

    @property
    def training_asked(self) -> bool:
        """Whether a training budget was asked for."""
        return (self.frames, self.training_episodes) != (None, None)


def make_plan(
    agents: str | Sequence[AgentSpec],
    games: str | Sequence[str],
    protocol: str | Protocol = "world-records",
    seeds: Sequence[int] = (0,),
    episodes: int | None = None,
    frames: int | None = None,
    training_episodes: int | None = None,
) -> Plan:
    """Plan a run: a trial for each seed, game and agent.

    Parameters
    ----------
    agents : str or sequence of AgentSpec
        A name or reference, as `agent_specs` reads it, or what that returned.
    games : str or sequence of str
        A suite, a subset or games, as `resolve_tasks` reads them, or games one by one, in any spelling.
    protocol : str or Protocol
    seeds : sequence of int
    episodes : int, optional
        Evaluation episodes a trial; the protocol's by default, those of planners if all agents are.
    frames : int, optional
        A learner's training budget in frames; the protocol's by default.
    training_episodes : int, optional
        The same in episodes, instead of `frames`.

    Raises
    ------
    UnknownNameError
        If an agent, a game or the protocol is unknown.
    ArcadeMarkError
        If the protocol cannot be run here, a number is out of range, training has two budgets or no agent that learns,
        two agents cannot be told apart by their labels, or no agent plays any of the games.
    """
    specs = agent_specs(agents) if isinstance(agents, str) else tuple(dict.fromkeys(agents))
    _check_labels(specs)
    kinds = {kind(spec) for spec in specs}
    rules = protocols.protocol(protocol) if isinstance(protocol, str) else protocol
    if episodes is None:
        episodes = protocols.planner_episodes(rules) if kinds == {"planner"} else rules.evaluation_episodes
    budget = _training(rules, frames, training_episodes)
    _check(rules, seeds, episodes, *budget)
    if specs and kinds <= {"policy", "planner"} and (frames, training_episodes) != (None, None):
        option = "--training-episodes" if frames is None else "--frames"
        raise ArcadeMarkError(f"agent {specs[0].label} does not learn, so it cannot be trained; leave {option} out")
    tasks = resolve_tasks(games) if isinstance(games, str) else _games(games, rules)
    reasons = {(spec.label, task): applies(spec, environment_spec(task, rules)) for task in tasks for spec in specs}
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
    return Plan(trials, specs, tasks, rules, tuple(seeds), episodes, frames, left_out, training_episodes)


def _training(rules: Protocol, frames: int | None, episodes: int | None) -> tuple[int | None, int | None]:
    """Return a learner's budget in frames or in episodes, one of them None: what was asked for, else the protocol's."""
    if frames is not None and episodes is not None:
        raise ArcadeMarkError(f"training of {frames:,} frames and of {episodes:,} episodes: expected one of the two")
    if frames is None and episodes is None:
        return rules.training_frames, rules.training_episodes
    return frames, episodes


def _games(names: Sequence[str], protocol: Protocol) -> tuple[str, ...]:
    """Return the games' ids, each once."""
    return tuple(dict.fromkeys(environment_spec(name, protocol).game for name in names))


def _check_labels(specs: Sequence[AgentSpec]) -> None:
    by_label: dict[str, AgentSpec] = {}
    for spec in specs:
        if any("\ud800" <= char <= "\udfff" for char in spec.label):
            raise ArcadeMarkError(f"agent {one_line(spec.label)}: its name holds bytes that are no text; rename it")
        other = by_label.setdefault(spec.label, spec)
        if other is not spec:
            raise ArcadeMarkError(f"agent {spec.label} is {other.ref} and {spec.ref}; rename one, or play them apart")


def _check(
    protocol: Protocol, seeds: Sequence[int], episodes: int, frames: int | None, training_episodes: int | None
) -> None:
    if not protocol.runnable:
        raise ArcadeMarkError(
            f"protocol {protocol.name} cannot be run: it needs recorded human starts; see 'arcademark info protocols'"
        )
    if not seeds or len(set(seeds)) < len(seeds) or min(seeds) < 0 or max(seeds) > MAX_STORED:
        raise ArcadeMarkError(f"seeds {list(seeds)}: expected different whole numbers from 0 to {MAX_STORED}")
    if not 1 <= episodes <= MOST_EPISODES:
        raise ArcadeMarkError(f"episodes {episodes}: expected 1 to {MOST_EPISODES:,} a trial")
    for what, budget in (("frames", frames), ("episodes", training_episodes)):
        if budget is not None and not 0 <= budget <= MAX_STORED:
            raise ArcadeMarkError(f"training {what} {budget}: expected 0 to {MAX_STORED}")
