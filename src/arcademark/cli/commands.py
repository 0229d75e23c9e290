"""Commands and groups of them: a short help and a full one, older names, the closest name for an unknown one."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import click

from arcademark.cli import messages
from arcademark.errors import UnknownNameError

PARTS = "arcademark.arguments"
"""Where a command's context keeps what the user wrote: each option with its value, under its name of today."""

FULL = "arcademark.help"
"""Where it keeps that help is to be full."""

ALL = "Show this message with all options and exit."


class Option(click.Option):
    """An option that had other names.

    Parameters
    ----------
    was : mapping of str to str
        From an older name, ``--html``, to what is given to this option in its place; "{}" stands for its value.
    """

    def __init__(self, *args: Any, was: Mapping[str, str] | None = None, **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        self.was = was or {}


class Command(click.Command):
    """A command whose help shows some of its options, the usual ones, if these are named; --help-all shows all."""

    def __init__(self, *args: Any, usual: str = "", **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        self.usual = usual.split()
        if self.usual:
            self.params.append(
                click.Option(["--help-all"], is_flag=True, is_eager=True, expose_value=False, callback=_full, help=ALL)
            )

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the arguments, those of older names as what they are now."""
        ctx.meta[PARTS] = [*self._parts(args)]
        return super().parse_args(ctx, [text for part in ctx.meta[PARTS] for text in part])

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Show the usual options, or all."""
        shown = [one for one in self.get_params(ctx) if isinstance(one, click.Option)]
        every = len(shown)
        if self.usual and FULL not in ctx.meta:
            shown = [one for one in shown if one.name in (*self.usual, "help_all") or one not in self.params]
        with formatter.section("Options"):
            formatter.write_dl([record for one in shown if (record := one.get_help_record(ctx))])
        if every > len(shown):
            formatter.write_paragraph()
            formatter.write_text(f"--help-all shows {every - len(shown)} options more.")

    def _parts(self, args: list[str]) -> Iterator[list[str]]:
        options = [one for one in self.params if isinstance(one, click.Option)]
        with_value = {name for one in options if not one.is_flag for name in one.opts}
        renamed = {
            old: (one.opts[0], value) for one in options if isinstance(one, Option) for old, value in one.was.items()
        }
        rest = deque(args)
        while rest:
            text = rest.popleft()
            name, equals, value = text.partition("=")
            if text == "--":
                yield [text, *rest]
                return
            if name in renamed:
                new, template = renamed[name]
                if "{}" in template and not equals:
                    alone = not rest or (template == "{}" and rest[0].startswith("-"))
                    value = name.lstrip("-") if alone else rest.popleft()  # --png is what --figure calls png
                yield [f"{new}={template.replace('{}', value)}"]
            elif text in with_value and rest:
                yield [text, rest.popleft()]
            else:
                yield [text]


class Group(click.Group):
    """A group whose unknown commands are refused with the closest known one."""

    command_class = Command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Refuse an unknown command."""
        known = self.list_commands(ctx)
        if args and not args[0].startswith("-") and args[0] not in known:
            kind = "command" if ctx.parent is None else f"{self.name} command"
            raise UnknownNameError(kind, args[0], known)
        return super().resolve_command(ctx, args)


def command(name: str, usual: str = "", **attributes: Any) -> Callable[[Callable[..., Any]], Command]:
    """Make a command of a function, with the names of its usual options where it has many."""
    return click.command(name, cls=Command, usual=usual, **attributes)


def _full(ctx: click.Context, _: click.Parameter, asked: bool) -> None:
    if asked:
        ctx.meta[FULL] = True
        messages.write(f"{ctx.get_help()}\n")
        ctx.exit()
