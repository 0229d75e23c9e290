"""What ``run``, ``plan``, ``tune`` and ``robustness`` share: how agents are to be played, and playing them."""

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
from arcademark.files import MOST_DIGITS

if TYPE_CHECKING:
    from arcademark.agents.loading import AgentSpec
    from arcademark.environments.registry import Emulator
    from arcademark.runs.plan import AllStarts, Plan
    from arcademark.runs.playing.events import Event, Summary
    from arcademark.suite.protocols import Protocol

SECONDS = click.FloatRange(min=0, min_open=True)

asked = options.combine(
    options.protocol,
    options.settings,
    click.option(
        "--seeds",
        default="1",
        metavar="N",
        help="A count (2 means seeds 0 and 1) or a list (3,7; one seed alone: 3,). One trial a game and seed.",
    ),
    click.option(
        "--episodes",
        type=options.Episodes(),
        help="Episodes a trial, or all-starts: every no-op start of the protocol once.  [default: the protocol's]",
    ),
    click.option("--frames", type=options.COUNT, help="Training frames of a learner.  [default: the protocol's]"),
    click.option(
        "--training-episodes",
        type=options.COUNT,
        help="The same in episodes, instead of --frames.  [default: the protocol's, if it counts so]",
    ),
    options.workers,
    options.override,
    options.suite,
    options.fields(
        "engine",
        "Where trials run, local or ray, and how (docs/cluster.md)",
        {
            **options.each(click.STRING, "engine", "address", "scratch"),
            "gpus": click.FLOAT,
            "emulator": click.Choice(["console", "ale"]),
            **options.each(SECONDS, "answer_seconds", "episode_seconds"),
        },
        first="engine",
        was={"--agent-timeout": "answer_seconds={}"},
    ),
    click.option(
        "--shard",
        metavar="K/N",
        callback=lambda _, __, text: text and shard_of(text),
        help="Play shard K of N, of about as many frames as the others; 'arcademark runs merge' makes one run of them.",
    ),
)

asked_of_one = options.combine(
    click.argument("agent", metavar="[AGENT]", required=False),
    options.games,
    asked,
    click.option("--name", metavar="TEXT", help="What reports call the agent, as in --name 'PPO (ours)'."),
    click.option(
        "--agent-command",
        "commands",
        multiple=True,
        metavar="COMMAND",
        help="Play a program in any language, as in './my_agent --fast' (docs/protocol.md). May be repeated.",
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
    tensorboard: Path | None = None  # where scores go as they happen, see `arcademark.runs.replay.scalars`
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
        from arcademark.cli.play.progress import Display
        from arcademark.runs.execution import execute
        from arcademark.runs.replay.scalars import logged

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
    engine: Mapping[str, Any],
    workers: int | None,
) -> Playing:
    """Read the options."""
    from arcademark.runs.execution import placed

    where = engine.get("engine", "local")
    how = {"engine": where, **placed(where, engine.get("address"), engine.get("gpus")), "workers": workers}
    if "scratch" in engine:
        how["scratch"] = os.path.expandvars(engine["scratch"])
    if "episode_seconds" in engine:
        how["episode_seconds"] = engine["episode_seconds"]
    return Playing(
        options.rules(protocol, suite, override),
        options.pairs("set", settings),
        seed_list(seeds),
        (episodes, frames, training_episodes),
        engine.get("emulator"),
        how,
    )


def playing_one(
    agent: str | None, *, commands: tuple[str, ...], name: str | None, **asked: Any
) -> tuple[Playing, tuple[AgentSpec, ...]]:
    """Read the options of one agent, and of those that commands start."""
    from arcademark.agents.command import ANSWER_SECONDS
    from arcademark.agents.loading import agent_specs, command_spec, named

    if agent is None and not commands:
        raise click.UsageError("Missing argument 'AGENT', or --agent-command.")
    patience = asked["engine"].get("answer_seconds")
    if patience is not None and not commands:
        raise ArcadeMarkError("--engine answer_seconds: goes with --agent-command; leave it out")
    way = playing(**asked)
    specs = () if agent is None else agent_specs(agent, way.settings)
    specs += tuple(command_spec(text, way.settings, patience or ANSWER_SECONDS) for text in commands)
    return way, specs if name is None else named(specs, name)


def shard_of(text: str) -> tuple[int, int]:
    """Read ``3/20``."""
    number, _, count = text.partition("/")
    if not (number.isdecimal() and count.isdecimal() and len(text) < 20):
        raise click.BadParameter(f"'{text}': expected the shard's number and how many there are, as in 3/20")
    return int(number), int(count)


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


def seed_list(text: str) -> tuple[int, ...]:
    """Read ``--seeds``: a count, or a list with commas."""
    numbers = [part.strip() for part in text.split(",") if part.strip()]
    if not numbers or not all(number.isdecimal() for number in numbers):
        raise ArcadeMarkError(f"--seeds {text!r}: expected a count such as 2, or a list of seeds such as 3,7")
    if any(len(number) > MOST_DIGITS for number in numbers):
        raise ArcadeMarkError(f"--seeds {text[:MOST_DIGITS]}…: expected numbers of at most {MOST_DIGITS} digits")
    values = tuple(map(int, numbers))
    if len(set(values)) < len(values):
        raise ArcadeMarkError(f"--seeds {text!r}: a seed is listed twice")
    if "," in text:
        return values
    if values[0] < 1:
        raise ArcadeMarkError("--seeds 0: at least one seed is needed; for seed 0 alone write --seeds 0,")
    from arcademark.runs.store.database import MOST_TRIALS

    if values[0] > MOST_TRIALS:
        raise ArcadeMarkError(f"--seeds {text}: expected at most {MOST_TRIALS:,}")
    return tuple(range(values[0]))
