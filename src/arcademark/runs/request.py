"""Requests to play agents, as `arcademark.run` and the commands receive them."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

from arcademark.agents.checkpoints import hub, paths
from arcademark.agents.command import ANSWER_SECONDS
from arcademark.agents.loading import AgentSpec, agent_specs, command_spec, made_spec, named
from arcademark.environments.registry import EmulatorName
from arcademark.errors import ArcadeMarkError
from arcademark.keywords import Names
from arcademark.records import manifest, queue
from arcademark.records.database import SHARDS, clear_errors
from arcademark.runs.execution import OnEvent, execute, placed
from arcademark.runs.plan import AllStarts, Plan, Seeds, make_plan
from arcademark.runs.playing.events import Event, RunSummary
from arcademark.runs.replay.scalars import logged
from arcademark.runs.scheduling import lengths as scheduling
from arcademark.suite.protocols import DEFAULT_PROTOCOL, Protocol, rules_of
from arcademark.suite.settings import format_setting
from arcademark.suite.subsets import REPORTED

Agent = str | AgentSpec | Callable[..., Any] | object
Place = str | os.PathLike[str]


class RunOptions(TypedDict, total=False):
    """Options of playing agents; ``arcademark run`` has the same names, except where noted here.

    suite: Other tasks than Atari games, under their own protocol instead of a named one, or games of your own: a
        suite's file, its name, or ``"gymnasium:CartPole-v1"``.
    overrides: Settings of the protocol to change (``--override``), as ``{"fire_reset": True}``; the run is labelled as
        modified.
    settings: The agent's own parameters (``--set``).
    seeds: Number of seeds, counted from 0, or the seeds themselves; one by default.
    episodes: Episodes per trial, or "all-starts", every no-op start once; the protocol's number by default.
    frames, training_episodes: Training budget of a learner, in one of the two units; the protocol's by default.
    name: Name of the agent in reports; by default its reference, or the name of its class or function.
    commands: Programs in any language that play (``--agent-command``), in addition to the agents.
    answer_seconds: Seconds that an answer of such a program may take, 60 by default.
    workers: Number of processes; one per core by default. Agents made in Python play in this process.
    engine: "local", or "ray" for a cluster, with its ``address``, and ``gpus`` per worker.
    scratch: Folder on a local disk to record in, which is copied to the run's directory.
    emulator: "console" or "ale"; by default our own emulator where it is available.
    episode_seconds: Seconds that an episode may take before its trial is given up.
    shard: Number of the shard, from 1, and of all shards, which ``arcademark runs merge`` joins.
    out: The run's directory; by default in ``runs``, named after the agent, and the protocol if it is not
        world-records.
    tensorboard: Folder for TensorBoard's event files, to which scores are added during play.
    wandb: Project of W&B in which scores are logged; the package ``wandb`` must be installed.
    slurm: Parameters of jobs of a SLURM cluster that play, by the names of ``--slurm``: ``{"time": "4:00:00",
        "cpus": 4, "mem": "2G*attempt", "merge:partition": "cpu"}``; lists for several lines of ``setup``. The call
        returns when the jobs have ended; they continue if it is interrupted. Only for agents that a command can name.
    """

    suite: Place | None
    overrides: Mapping[str, object] | None
    settings: Mapping[str, object] | None
    seeds: Seeds
    episodes: int | AllStarts | None
    frames: int | None
    training_episodes: int | None
    name: str | None
    commands: Names
    answer_seconds: float | None
    workers: int | None
    engine: str
    address: str | None
    gpus: float | None
    scratch: Place | None
    emulator: EmulatorName | None
    episode_seconds: float | None
    shard: tuple[int, int] | None
    out: Place | None
    tensorboard: Place | None
    wandb: str | None
    slurm: Mapping[str, object] | None


_OF_ENGINE = ("engine", "address", "scratch", "gpus", "emulator", "answer_seconds", "episode_seconds")
"""Settings of ``--engine``."""

DEFAULTS: RunOptions = {
    **dict.fromkeys(RunOptions.__annotations__),  # type: ignore[typeddict-item]
    "overrides": {},
    "settings": {},
    "seeds": 1,
    "commands": (),
    "engine": "local",
}
"""Values of options that are not given; None stands for the defaults of `RunOptions`."""


@dataclass(frozen=True)
class Request:
    """Agents and the options of playing them.

    directory: Directory of the run, or of its shard.
    named_game: Game that a model was trained on, by its name.
    """

    agents: tuple[AgentSpec, ...]
    protocol: Protocol
    directory: Path
    options: RunOptions
    named_game: str | None = None

    def plan(self, games: Names | None) -> Plan:
        """Plan all trials on games, the usual ones if None; errors as in `make_plan`."""
        budget: dict[str, Any] = self._given("episodes", "frames", "training_episodes", "emulator")
        wanted = self.usual_games() if games is None else games
        return make_plan(self.agents, wanted, self.protocol, self.options["seeds"], **budget)

    def usual_games(self, part: str = "") -> str | list[str]:
        """Return the games of the existing run or of its shards, which is continued; the default of a new run.

        ``part`` is the run's folder within a directory of several runs.
        """
        if self.protocol.suite:
            return "all"
        places = (self.directory / part, *sorted(self.directory.glob(str(Path(SHARDS, "*", part)))))
        existing = next((place for place in places if (place / manifest.FILE).is_file()), None)
        if existing is None:
            return self.named_game or REPORTED
        document = manifest.read(existing)
        if "suite" in document["protocol"]:
            raise ArcadeMarkError(f"{existing}: was played on tasks of a suite; name it again: --suite")
        return [*document["games"]]

    def of_shard(self, plan: Plan) -> Plan:
        """Return the requested shard of a plan; the whole plan if none is requested."""
        shard = self.options["shard"]
        return plan if shard is None else scheduling.shard(plan, *shard)

    def submit(self, plan: Plan, play: Sequence[str]) -> None:
        """Submit a plan as jobs of SLURM that run a command with these arguments, and wait until they have ended."""
        from arcademark.runs.cluster import slurm

        if any(self.options[name] is not None for name in ("shard", "tensorboard", "wandb", "address")):
            raise ArcadeMarkError("slurm: leave out shard, tensorboard, wandb and address, which apply to one process")
        pairs = [
            (name, str(text))
            for name, value in (self.options["slurm"] or {}).items()
            for text in (value if isinstance(value, list | tuple) else [value])
        ]
        where = [f"--out={self.directory}", *(f"--slurm={name}={text}" for name, text in pairs)]
        if workers := self.options["workers"]:
            where.append(f"--workers={workers}")
        folder = self.directory.absolute()
        if not queue.active(folder, look=True):
            with clear_errors(self.directory):
                work = slurm.submission(pairs, {"": plan}, self.directory, play, [*play, *where], workers)
                if work.left:
                    work.submit({""})
        queue.wait(folder)

    def play(self, plan: Plan, hear: OnEvent, directory: Path | None = None) -> RunSummary:
        """Play the missing episodes of a plan; errors as in `arcademark.runs.execution.execute`.

        A plan that jobs of SLURM play is refused, since it would be played twice.
        """
        where = directory or self.directory
        for folder in (where, where.parent):  # of the run, or of several runs, such as variants
            queue.check_idle(folder, look=True)
        how = self._given("workers", "engine", "address", "gpus", "episode_seconds", "scratch")
        with logged(plan, where, self.options["tensorboard"], self.options["wandb"]) as log:

            def hear_all(event: Event) -> None:
                hear(event)
                log(event)

            return execute(plan, where, on_event=hear_all, **how)

    def _given(self, *names: str) -> dict[str, Any]:
        return {name: value for name, value in self.options.items() if name in names and value is not None}


def request(agent: Agent | Sequence[Agent], protocol: str | Protocol | None, options: RunOptions) -> Request:
    """Read a request; ArcadeMarkError: a name is unknown, or options contradict each other."""
    wanted: RunOptions = {**DEFAULTS, **options}
    placed(wanted["engine"], wanted["address"], wanted["gpus"])
    commands, patience = wanted["commands"], wanted["answer_seconds"]
    if patience is not None and not commands:
        raise ArcadeMarkError("answer_seconds applies to programs that play (--agent-command); leave it out")
    model = agent if isinstance(agent, str) and agent.startswith(hub.PREFIX) else ""
    if model and protocol is None and wanted["suite"] is None and hub.game_of(model):
        protocol = hub.PROTOCOL
    rules = rules_of(protocol, wanted["suite"], wanted["overrides"] or {})
    given = _agents(agent)
    settings = wanted["settings"] or {}
    specs: list[AgentSpec] = []
    for item in given:
        if isinstance(item, str):
            specs += agent_specs(item, settings)
        else:
            specs.append(item if isinstance(item, AgentSpec) else made_spec(item, settings))
    specs += [command_spec(text, settings, patience or ANSWER_SECONDS) for text in commands]
    if not specs:
        raise ArcadeMarkError("no AGENT is named; name one, or a program with --agent-command")
    if (name := wanted["name"]) is not None:
        specs = list(named(specs, name))
    called = "agents" if len(given) > 1 else given[0] if given and isinstance(given[0], str) else specs[0]
    out = wanted["out"]
    directory = Path(out) if out is not None else default_directory(called, rules, wanted["shard"])
    return Request(tuple(specs), rules, directory, wanted, hub.game_of(model))


def _agents(given: Agent | Sequence[Agent]) -> list[Agent]:
    return list(given) if isinstance(given, Sequence) and not isinstance(given, str) else [given]


def words(
    agent: Agent | Sequence[Agent],
    games: Names | None,
    protocol: str | Protocol | None,
    given: RunOptions,
) -> list[str]:
    """Return the arguments of ``arcademark`` for a call of `arcademark.run`; ArcadeMarkError: no command can do it."""
    agents = _agents(agent)
    if len(agents) > 1 or not all(isinstance(one, str) for one in agents):
        raise ArcadeMarkError("slurm: jobs play one agent that a command can name, as in 'my_agent.py:make_agent'")
    if protocol is not None and not isinstance(protocol, str):
        raise ArcadeMarkError("slurm: name the protocol, and give the changed settings as overrides")
    seeds, commands = given.get("seeds", 1), given.get("commands", ())
    written: list[tuple[str, object]] = [
        ("games", games if games is None else ",".join(games)),
        ("protocol", protocol),
        ("seeds", seeds if isinstance(seeds, int) else "".join(f"{seed}," for seed in seeds)),
        *((name.replace("_", "-"), given.get(name)) for name in ("episodes", "frames", "training_episodes", "suite")),
        ("name", given.get("name")),
        *(("agent-command", one) for one in commands),
        *(("override", f"{name}={format_setting(value)}") for name, value in (given.get("overrides") or {}).items()),
        *(("set", f"{name}={format_setting(value)}") for name, value in (given.get("settings") or {}).items()),
        *(("engine", f"{name}={given[name]}") for name in _OF_ENGINE if given.get(name) is not None),  # type: ignore[literal-required]
    ]
    return ["run", *map(str, agents), *(f"--{name}={value}" for name, value in written if value is not None)]


def default_directory(
    agent: str | AgentSpec, rules: Protocol, shard: tuple[int, int] | None = None, prefix: str = ""
) -> Path:
    """Name the run's directory after the agent, the suite of other tasks, and the protocol if it is not the default.

    ``runs/random``, ``runs/random-machado-2018``, ``runs/random-minigrid``, of checkpoints ``runs/models-pong``, of a
    pattern ``runs/models``, of a command ``runs/my_agent-fast``, of a shard ``runs/random-1-of-2``.
    """
    if isinstance(agent, AgentSpec):
        name = agent.label
    elif paths.is_checkpoint(agent):
        path = Path(agent)
        name = paths.short(str(path.absolute())) if "{" in agent else "-".join((*path.parts[-2:-1], path.stem))
    else:
        source, _, factory = agent.rpartition(":")
        name = f"{Path(source).name.removesuffix('.py')}-{factory}" if source else agent
    about = dict.fromkeys([*([rules.suite.name] if rules.suite else []), rules.name])
    name = "-".join((prefix + name, *(part for part in about if part != DEFAULT_PROTOCOL)))
    plain = "".join(character if character.isalnum() or character in "._-" else "-" for character in name)
    plain = re.sub("-+", "-", plain).strip("-") or "run"
    return Path("runs") / (plain if shard is None else f"{plain}-{shard[0]}-of-{shard[1]}")
