"""``arcademark run``: play an agent, and show its score."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from arcademark.cli import messages, options


@click.command("run", short_help="Play an agent and show its score.")
@click.argument("agent", metavar="AGENT")
@options.combine(
    options.games,
    options.protocol,
    options.override,
    options.settings,
    options.seeds,
    options.episodes,
    options.frames,
    options.training_episodes,
    options.engine,
    options.workers,
)
@click.option(
    "--episode-seconds",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="Give a trial up when one of its episodes takes longer.  [default: never]",
)
@click.option(
    "--out", type=click.Path(path_type=Path), help="The run's directory.  [default: runs/ and the agent's name]"
)
@click.option(
    "--until-error",
    type=options.SHARE,
    metavar="SHARE",
    help="Play games, those that tell most first, until the median's 90 % interval reaches no further: 15%.",
)
@options.as_json
def command(
    agent: str,
    games: str,
    protocol: str,
    override: tuple[str, ...],
    settings: tuple[str, ...],
    seeds: str,
    episodes: int | None,
    frames: int | None,
    training_episodes: int | None,
    engine: str,
    workers: int | None,
    episode_seconds: float | None,
    out: Path | None,
    until_error: float | None,
    as_json: bool,
) -> int:
    """Play AGENT on games under a protocol and show its score.

    AGENT is a built-in agent ('arcademark info agents') or your own: path/to/file.py:factory or package.module:factory.

    Every episode is kept with its actions in the run's directory. The same command again continues where it stopped, a
    planner even within an episode; with more games, seeds or episodes the run grows.

    With --until-error games are chosen one by one, after those of --games if given, for most taken off the uncertainty
    of the 57-game median per frame, until the truth is within SHARE of the estimate at 90 %; the prediction follows the
    report.
    """
    from arcademark.agents.loading import agent_specs
    from arcademark.cli.progress import Display
    from arcademark.cli.report import show
    from arcademark.report.ledger import foretold
    from arcademark.runs.execution import execute
    from arcademark.runs.plan import make_plan
    from arcademark.suite import protocols
    from arcademark.suite.subsets import resolve_tasks

    rules = protocols.protocol(protocol).override(options.pairs("override", override))
    specs = agent_specs(agent, options.pairs("set", settings))
    directory = out if out is not None else default_directory(agent)
    how: dict[str, Any] = {"engine": engine, "workers": workers, "episode_seconds": episode_seconds}
    numbers = options.seed_list(seeds)
    if until_error is not None:
        from arcademark.cli import until

        first = resolve_tasks(games) if options.given("games") else ()
        budget = episodes, frames, training_episodes
        asked = until.Asked(until_error, specs, first, rules, numbers, *budget, directory, how)
        return until.run(asked, as_json=as_json)
    plan = make_plan(specs, games, rules, numbers, episodes, frames, training_episodes)
    for told in foretold(plan, directory):
        messages.say(f"warning: with this run, {told}")
    with Display() as display:
        summary = execute(plan, directory, on_event=display.hear, **how)
    display.close(summary)
    if summary.interrupted:
        return 130
    show([directory], as_json=as_json)
    return 1 if summary.failed else 0


def default_directory(agent: str, prefix: str = "") -> Path:
    """Name the run's directory after the agent: ``runs/random``, ``runs/my_agent-make_agent``."""
    source, _, factory = agent.rpartition(":")
    name = f"{Path(source).name.removesuffix('.py')}-{factory}" if source else agent
    name = prefix + name
    return Path("runs") / "".join(character if character.isalnum() or character in "._-" else "-" for character in name)
