"""``arcademark subset``: the few most informative tasks: searched for, predicted from, and put to the test."""

from __future__ import annotations

import click

from arcademark.cli.commands import Group
from arcademark.cli.predict import coverage, predict, search, study


@click.group("subset", cls=Group)
def command() -> None:
    """Find the few most informative tasks, predict from them, see how well that works, and what playing takes."""


for member in (search, study, predict, coverage):
    command.add_command(member.command)
