"""``arcademark subset``: the few most informative tasks: searched for, predicted from, and put to the test."""

from __future__ import annotations

import click

from arcademark.cli import subset_coverage, subset_predict, subset_search, subset_study
from arcademark.cli.groups import Group


@click.group("subset", cls=Group)
def command() -> None:
    """Find the few most informative tasks, predict from them, and see how well that works."""


for member in (subset_search, subset_study, subset_predict, subset_coverage):
    command.add_command(member.command)
