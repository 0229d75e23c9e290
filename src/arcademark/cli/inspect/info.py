"""``arcademark info``: what there is, with its sources."""

from __future__ import annotations

import click

from arcademark.cli import messages
from arcademark.cli.commands import Group
from arcademark.cli.inspect import console, features, suites
from arcademark.cli.output import Output, with_output
from arcademark.errors import UnknownNameError
from arcademark.reports.info import TOPICS


class Info(Group):
    """Commands of two words, beside one that is meant by any other word, a topic's name."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Take two words together if they name a command, and the singular for the plural."""
        if args and f"{args[0]}s" in TOPICS:
            args = [f"{args[0]}s", *args[1:]]
        name = " ".join(args[:2])
        if name in self.commands:
            return name, self.commands[name], args[2:]
        if args and args[0] not in self.commands:
            args = [topic.name or "", *args]
        return super().resolve_command(ctx, args)


@click.group("info", cls=Info, subcommand_metavar="TOPIC [NAME] | COMMAND [ARGS]...")
def command() -> None:
    """List games, suites, subsets, protocols, agents, algorithms, features, JSON schemas; with NAME, all of one."""


@command.command("topic", short_help="List a topic, or show one NAME of it; the word 'topic' may be left out.")
@click.argument("topic", metavar="|".join(TOPICS))
@click.argument("name", required=False)
@with_output
def topic(topic: str, name: str | None, output: Output) -> None:
    """List games, suites, subsets, protocols, agents, algorithms, features, JSON schemas; with NAME, all of one."""
    from arcademark.reports import info as topics
    from arcademark.reports.present import info as present
    from arcademark.reports.render import json

    if topic not in TOPICS:
        raise UnknownNameError("topic", topic, [*TOPICS, *command.commands])
    if topic == "schemas" and name is not None:
        messages.print_json(topics.schema(name))
        return
    chosen = TOPICS[topic]
    items = tuple(chosen.every()) if name is None else (chosen.one(name),)
    if name is None:
        output.show(chosen.document(items), lambda: present.listing(topic, chosen.headings, map(chosen.row, items)))
    else:
        output.show(chosen.document(items), lambda: present.details(json.render(items[0])))


for member in (features.show, features.actions, suites.check, console.console, console.prove):
    command.add_command(member)
