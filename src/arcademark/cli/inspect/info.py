"""``arcademark info``: facts by topic, with their sources."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import click

from arcademark.cli import messages, options
from arcademark.cli.commands import CommandGroup
from arcademark.cli.counting import counting
from arcademark.cli.inspect import emulator, features, memory
from arcademark.cli.output import Output, with_output
from arcademark.errors import UnknownNameError
from arcademark.operations.info import TOPICS


class Info(CommandGroup):
    """Commands of two words, and the default command for a topic's name."""

    aliases = MappingProxyType({"console": "emulator"})

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Join two words that name a command, and accept a topic in the singular."""
        args = [*(self.aliases.get(word, word) for word in args[:1]), *args[1:]]
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
    """List games, suites, subsets, protocols, agents, algorithms, features or JSON schemas, or show one by NAME."""


@command.command("topic", short_help="List a topic's items, or show one by NAME; the word 'topic' is optional.")
@click.argument("topic", metavar="TOPIC")
@click.argument("name", required=False)
@with_output
def topic(topic: str, name: str | None, output: Output) -> None:
    """List games, suites, subsets, protocols, agents, algorithms, features or JSON schemas, or show one by NAME.

    NAME of games may be a file that describes games of your own (docs/own-games.md), that of suites any suite's file.
    """
    from arcademark.operations import info
    from arcademark.pages.render import json
    from arcademark.suite.task_suites import is_file
    from arcademark.suite.tasks import known_spelling

    if topic not in TOPICS:
        raise UnknownNameError("topic", topic, [*TOPICS, *command.commands])
    if topic == "schemas" and name is not None:
        messages.print_json(info.schema(name))
        return
    wanted = TOPICS[topic]
    if name is None:
        items = tuple(wanted.every())
    elif topic == "games" and not known_spelling(name) and is_file(name):
        wanted, items = info.OWN_GAMES, tuple(info.own_games(name))
    else:
        items = (wanted.one(name),)
    analysis = wanted.document(items)
    if name is None or len(items) > 1:
        output.show(analysis, "info", topic=topic, items=items, heads=wanted.columns)
    else:
        output.show(analysis, "info-details", **info.details(json.render(items[0])))


@command.command("suites check", short_help="Check that the tasks of a suite can be measured.")
@click.argument("suite", metavar="SUITE")
@click.option("--episodes", type=options.COUNT, default=10, help="Episodes of random play per task.")
@options.overrides
@options.workers
@with_output
def check(suite: str, episodes: int, overrides: Mapping[str, str], workers: int | None, output: Output) -> int:
    """Play every task of SUITE twice, and report differences.

    SUITE is a file, a name, or gymnasium:CartPole-v1,Pendulum-v1. A random agent plays each task, and its episodes are
    replayed in other processes; observations are compared byte by byte. It also shows what agents see and do, the
    scores of random play, and where planners can search. Exits with 1 if a task differs or cannot be played.
    """
    from arcademark.runs.replay.suite_check import check_suite
    from arcademark.suite.protocols import step_protocol
    from arcademark.suite.task_suites import load_suite

    rules = step_protocol(load_suite(suite)).override(overrides)
    with counting("playing", "episodes") as follow:
        checked = check_suite(rules, episodes, workers, follow)
    output.show(checked)
    return 0 if checked.ok else 1


for member in (features.show, features.actions, emulator.show, emulator.prove, memory.watch_ram):
    command.add_command(member)
