"""``arcademark info``: what there is, with its sources."""

from __future__ import annotations

import click

from arcademark.cli import messages
from arcademark.cli.output import Output
from arcademark.cli.output import options as with_output
from arcademark.errors import UnknownNameError
from arcademark.reports.topics import TOPICS


@click.command("info")
@click.argument("topic", metavar="|".join(TOPICS))
@click.argument("name", required=False)
@with_output
def command(topic: str, name: str | None, output: Output) -> None:
    """List games, suites, subsets, protocols, agents, algorithms, features, JSON schemas; with NAME, all of one."""
    from arcademark.reports import topics
    from arcademark.reports.present import topics as present
    from arcademark.reports.render import json

    topic = topic if topic in TOPICS or f"{topic}s" not in TOPICS else f"{topic}s"
    if topic not in TOPICS:
        raise UnknownNameError("topic", topic, TOPICS)
    if topic == "schemas" and name is not None:
        messages.print_json(topics.schema(name))
        return
    asked = TOPICS[topic]
    items = tuple(asked.every()) if name is None else (asked.one(name),)
    output.show(
        lambda: json.render(asked.document(items)),
        lambda: (
            present.listing(topic, asked.headings, map(asked.row, items))
            if name is None
            else present.details(json.render(items[0]))
        ),
    )
