"""``arcademark info``: what there is, with its sources."""

from __future__ import annotations

from dataclasses import replace

import click

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
    from arcademark.reports.present import topics

    topic = topic if topic in TOPICS or f"{topic}s" not in TOPICS else f"{topic}s"
    if topic not in TOPICS:
        raise UnknownNameError("topic", topic, TOPICS)
    headings, rows, details = TOPICS[topic]
    if name is not None:
        known = details(name)
        output = replace(output, as_json=True) if topic == "schemas" else output
        output.show(lambda: known, lambda: topics.details(str(known.get("name") or name), known))
        return
    listed = rows()
    output.show(
        lambda: [dict(zip(headings, row, strict=True)) for row in listed],
        lambda: topics.listing(topic, headings, listed),
    )
