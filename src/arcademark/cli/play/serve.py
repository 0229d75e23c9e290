"""``arcademark serve``: offer a game, or another task, to a training program in any language."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

import click

from arcademark.cli import commands, options
from arcademark.errors import ArcadeMarkError


@commands.command("serve")
@click.argument("games", metavar="GAMES")
@options.suite
@options.protocol
@options.overrides
@click.option("--envs", type=options.COUNT, metavar="N", help="Number of environments.  [default: one per game]")
@click.option("--seed", type=options.WHOLE, default=0, help="Seed of the first reset.")
@click.option("--training", is_flag=True, help="End episodes and clip rewards as the protocol does in training.")
def command(
    games: str,
    suite: str | None,
    protocol: str | None,
    overrides: Mapping[str, str],
    envs: int | None,
    seed: int,
    training: bool,
) -> int:
    """Offer GAMES under a protocol to the program that starts this command, over its standard input and output.

    docs/messages.md describes the messages. It ends when its standard input closes.
    """
    from arcademark.environments.interfaces.gymnasium import make_vec
    from arcademark.environments.interfaces.serving import Server
    from arcademark.suite.protocols import rules_of

    if sys.stdin.isatty():
        raise ArcadeMarkError("serve: is for the program that starts it, not for a terminal; see docs/messages.md")
    rules = rules_of(protocol, suite, overrides)
    vector = make_vec(games, envs, rules, training=training, render_mode="rgb_array", copy=False)
    outgoing = os.dup(1)
    os.dup2(2, 1)  # so that output of libraries is not read as messages
    Server(vector, seed, 0, outgoing).serve()
    return 0
