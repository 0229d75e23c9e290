"""``arcademark tune``: try an agent's parameters on training games."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arcademark.cli import commands, messages, options
from arcademark.cli.output import Output, with_whole_output
from arcademark.cli.play import playing
from arcademark.cli.play.jobs import Jobs, with_jobs
from arcademark.errors import ArcadeMarkError

if TYPE_CHECKING:
    from arcademark.agents.loading import AgentSpec

MAX_SETTINGS = 1000


@commands.command("tune", usual="tried games protocol settings seeds episodes frames out form saved")
@click.argument("agent", metavar="AGENT")
@click.option(
    "--grid",
    "tried",
    multiple=True,
    required=True,
    metavar="NAME=A,B,…",
    help="A parameter and the values to try. May be repeated: every combination is played.",
)
@click.option(
    "--games",
    metavar="NAMES",
    help="A suite, a subset or games.  [default: atari-3-val, under ale-2013 its paper's five training games, or "
    "a --suite's training tasks]",
)
@playing.shared
@with_jobs
@click.option("--out", type=options.PATH, help="The run's directory.  [default: runs/tune-AGENT]")
@with_whole_output
def command(
    agent: str,
    tried: tuple[str, ...],
    games: str | None,
    jobs: Jobs | None,
    out: Path | None,
    output: Output,
    **given: Any,
) -> int:
    """Play every combination of parameters of AGENT on training games, and rank them.

    The best setting's score is biased upwards on the games that selected it; score it on others. The default games,
    atari-3-val, are in neither atari-5 nor atari-10, and the 57-game median of each setting is estimated from them. The
    file of a --suite names the training tasks. The same command resumes; more values, games, seeds or episodes extend
    the run. --slurm works as in 'arcademark run'.
    """
    from arcademark.analysis.runs import tuning
    from arcademark.runs.request import default_directory
    from arcademark.suite.subsets import resolve_tasks, usual_games
    from arcademark.wording import prose

    specs, values = _settings(agent, tried, given["settings"])
    wanted = playing.request(specs, **given)
    suite = wanted.protocol.suite
    if suite:
        chosen = suite.resolve(games or ("training" if suite.training_tasks else "all"))
    else:
        chosen = usual_games(wanted.protocol.name) if games is None else resolve_tasks(games)
    plan = wanted.plan(chosen)
    if warning := tuning.warning(chosen, suite):
        messages.say(f"warning: {warning}")
    if suite and not suite.training_tasks:
        messages.say(f"note: {prose.text('ledger', 'unsplit', suites=[suite.name])}")
    directory = out or default_directory(agent, wanted.protocol, prefix="tune-")
    if jobs is not None:
        return jobs.submit({"": plan}, directory, "tune", given["workers"], "the same command without --slurm")
    summary = playing.play(wanted, wanted.of_shard(plan), directory)
    if summary.interrupted:
        return 130
    if "shard" not in given["engine"]:
        output.show(tuning.tuned(directory, values))
    return 1 if summary.failed else 0


def _settings(
    agent: str, tried: Sequence[str], fixed: Mapping[str, str]
) -> tuple[list[AgentSpec], dict[str, dict[str, Any]]]:
    """Return the agent with every combination of the values to try, and these values by its label."""
    from arcademark.agents.loading import agent_specs, all_parameters

    specs: list[AgentSpec] = []
    values = {}
    for combination in _combinations(tried, fixed):
        variants = agent_specs(agent, {**fixed, **combination})
        if len(variants) != 1:
            raise ArcadeMarkError(f"agent {agent} is {len(variants)} agents; name one, as in --set action=FIRE")
        if variants[0] in specs:
            raise ArcadeMarkError(f"--grid: {variants[0].label} occurs twice in the combinations; give each value once")
        specs += variants
        typed = all_parameters(variants[0])
        values[variants[0].label] = {name: typed[name] for name in combination}
    if len(values) < 2:
        raise ArcadeMarkError("--grid leaves one setting only; give a parameter two values or more")
    return specs, values


def _combinations(tried: Sequence[str], fixed: Mapping[str, str]) -> list[dict[str, str]]:
    """Return every combination of the values to try, in the order given."""
    by_name = options.pairs("grid", tried)
    lists = {name: [value.strip() for value in text.split(",")] for name, text in by_name.items()}
    for name, values in lists.items():
        if name in fixed:
            raise ArcadeMarkError(f"parameter {name} is both in --grid and in --set; name it once")
        if "" in values or len(set(values)) < len(values):
            raise ArcadeMarkError(f"--grid {name}={by_name[name]}: expected different values, as in --grid {name}=1,2")
    combinations = [dict(zip(lists, values, strict=True)) for values in itertools.product(*lists.values())]
    if len(combinations) > MAX_SETTINGS:
        raise ArcadeMarkError(f"--grid: {len(combinations):,} combinations; expected {MAX_SETTINGS:,} at most")
    return combinations
