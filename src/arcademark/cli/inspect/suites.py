"""``arcademark info suites check``: suites of other tasks than Atari games."""

from __future__ import annotations

from collections.abc import Mapping

import click

from arcademark.cli import commands, options
from arcademark.cli.counting import counting
from arcademark.cli.output import Output, with_output


@commands.command("suites check", short_help="Check that tasks beyond Atari can be measured on.")
@click.argument("suite", metavar="SUITE")
@click.option("--episodes", type=options.COUNT, default=10, help="Of random play, a task.")
@options.overrides
@options.workers
@with_output
def check(suite: str, episodes: int, overrides: Mapping[str, str], workers: int | None, output: Output) -> int:
    """Play every task of SUITE twice, and tell where the second time differs.

    SUITE is a file, a name, or gymnasium:CartPole-v1,Pendulum-v1. A random agent plays each task, and its episodes are
    replayed in other processes; observations are compared to the byte. Told are also what agents see and do, the scores
    of random play, and where planners can search. Exits with 1 if a task differs or cannot be played.
    """
    from arcademark.environments.registry import load_suite
    from arcademark.reports.runs.verification import SuiteCheck
    from arcademark.runs.replay.suite_check import check_suite
    from arcademark.suite.protocols import step_protocol

    rules = step_protocol(load_suite(suite)).override(overrides)
    with counting("playing", "episodes") as follow:
        checked = check_suite(rules, episodes, workers, follow)
    output.show(SuiteCheck(**vars(checked)))
    return 0 if checked.ok else 1
