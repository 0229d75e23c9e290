"""What ``arcademark run``, ``submit``, ``plan`` and ``tune`` share: how agents are to be played, and playing them."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arcademark.cli import messages, options
from arcademark.errors import ArcadeMarkError

if TYPE_CHECKING:
    from arcademark.agents.loading import AgentSpec
    from arcademark.environments.registry import Emulator
    from arcademark.runs.events import Event, Summary
    from arcademark.runs.plan import AllStarts, Plan
    from arcademark.suite.protocols import Protocol

asked = options.combine(
    options.suite,
    options.protocol,
    options.override,
    options.settings,
    options.seeds,
    options.episodes,
    options.frames,
    options.training_episodes,
    options.engine,
    options.workers,
    options.address,
    options.gpus,
    options.scratch,
    options.emulator,
)

asked_of_one = options.combine(
    click.argument("agent", metavar="[AGENT]", required=False),
    click.option(
        "--agent-command",
        "commands",
        multiple=True,
        metavar="COMMAND",
        help="Play a program in any language, as in './my_agent --fast' (docs/protocol.md). May be repeated.",
    ),
    click.option(
        "--agent-timeout",
        type=click.FloatRange(min=0, min_open=True),
        metavar="SECONDS",
        help="Give a trial up when an answer of its command takes longer.  [default: 60]",
    ),
    options.games,
    asked,
    click.option(
        "--episode-seconds",
        type=click.FloatRange(min=0, min_open=True),
        metavar="SECONDS",
        help="Give a trial up when one of its episodes takes longer.  [default: never]",
    ),
    click.option("--name", metavar="TEXT", help="What reports call the agent, as in --name 'PPO (ours)'."),
    click.option(
        "--device", type=click.Choice(["cpu", "cuda"]), help="Where a checkpoint's network runs.  [default: cpu]"
    ),
    click.option(
        "--trust",
        is_flag=True,
        help="Let code in a checkpoint run, where it cannot be read otherwise; it may do anything.",
    ),
)


@dataclass(frozen=True)
class Playing:
    """How agents are to be played."""

    protocol: Protocol
    settings: Mapping[str, str]  # of the agents
    seeds: tuple[int, ...]
    budget: tuple[int | AllStarts | None, int | None, int | None]
    """Episodes, training frames and training episodes of a trial; None for the protocol's."""
    emulator: Emulator | None  # what plays the games, None to choose
    how: Mapping[str, Any]  # options of `arcademark.runs.execution.execute`
    tensorboard: Path | None = None  # where scores go as they happen, see `arcademark.runs.scalars`
    wandb: str | None = None

    def plan(self, specs: Sequence[AgentSpec], games: str | Sequence[str]) -> Plan:
        """Plan these agents on these games; errors are those of `make_plan`."""
        from arcademark.runs.plan import make_plan

        if self.protocol.unit == "step" and isinstance(games, str) and not options.given("games"):
            games = "all"
        return make_plan(specs, games, self.protocol, self.seeds, *self.budget, self.emulator)

    def play(self, plan: Plan, directory: Path, *, tell_all: bool = True) -> Summary:
        """Play what is missing of a plan, and show it; how it ended only if something happened, unless `tell_all`."""
        from arcademark.agents.linear import settings as linear
        from arcademark.cli.progress import Display
        from arcademark.runs.execution import execute
        from arcademark.runs.scalars import logged

        for note in dict.fromkeys(linear.origin(agent.parameters) for agent in plan.agents if agent.ref == linear.NAME):
            if note:
                messages.say(f"note: {note}")
        with logged(plan, directory, self.tensorboard, self.wandb) as log, Display(unit=plan.protocol.unit) as display:

            def hear(event: Event) -> None:
                display.hear(event)
                log(event)

            summary = execute(plan, directory, on_event=hear, **self.how)
        if tell_all or summary.episodes or summary.failed or summary.interrupted:
            display.close(summary)
        return summary


def playing(
    *,
    suite: str | None,
    protocol: str,
    override: tuple[str, ...],
    settings: tuple[str, ...],
    seeds: str,
    episodes: int | AllStarts | None,
    frames: int | None,
    training_episodes: int | None,
    emulator: Emulator | None,
    engine: str,
    address: str | None,
    gpus: float | None,
    scratch: str | None,
    **how: Any,
) -> Playing:
    """Read the options."""
    from arcademark.runs.execution import placed

    placing = placed(engine, address, gpus)
    return Playing(
        options.rules(protocol, suite, override),
        options.pairs("set", settings),
        options.seed_list(seeds),
        (episodes, frames, training_episodes),
        emulator,
        {"engine": engine, **placing, "scratch": scratch and os.path.expandvars(scratch), **how},
    )


def playing_one(
    agent: str | None,
    *,
    commands: tuple[str, ...],
    agent_timeout: float | None,
    name: str | None,
    device: str | None,
    trust: bool,
    **asked: Any,
) -> tuple[Playing, tuple[AgentSpec, ...]]:
    """Read the options of one agent, and of those that commands start."""
    from arcademark.agents.command import ANSWER_SECONDS
    from arcademark.agents.loading import agent_specs, command_spec, named

    if agent is None and not commands:
        raise click.UsageError("Missing argument 'AGENT', or --agent-command.")
    if agent_timeout is not None and not commands:
        raise ArcadeMarkError("--agent-timeout goes with --agent-command; leave it out")
    way = playing(**asked)
    of_network = ({"device": device} if device else {}) | ({"trust": "true"} if trust else {})
    specs = () if agent is None else agent_specs(agent, {**way.settings, **of_network})
    specs += tuple(command_spec(text, way.settings, agent_timeout or ANSWER_SECONDS) for text in commands)
    return way, specs if name is None else named(specs, name)


def default_directory(agent: str | AgentSpec, protocol: str, prefix: str = "") -> Path:
    """Name the run's directory after the agent, and its protocol if that is not the default one.

    ``runs/random``, ``runs/random-machado-2018``, of checkpoints ``runs/models-pong``, of a pattern ``runs/models``, of
    a command ``runs/my_agent-fast``.
    """
    from arcademark.agents.checkpoints import paths

    if not isinstance(agent, str):
        name = agent.label
    elif paths.is_checkpoint(agent):
        path = Path(agent)
        name = paths.short(str(path.absolute())) if "{" in agent else "-".join((*path.parts[-2:-1], path.stem))
    else:
        source, _, factory = agent.rpartition(":")
        name = f"{Path(source).name.removesuffix('.py')}-{factory}" if source else agent
    name = prefix + name + ("" if protocol == options.DEFAULT_PROTOCOL else f"-{protocol}")
    plain = "".join(character if character.isalnum() or character in "._-" else "-" for character in name)
    return Path("runs") / (re.sub("-+", "-", plain).strip("-") or "run")
