"""Commands and groups of them: a short help and a full one, the closest name for an unknown one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import click

from arcademark.cli import messages
from arcademark.errors import ArcadeMarkError, UnknownNameError

WORDS = "arcademark.arguments"
"""Where a command's context keeps what the user wrote."""

FULL = "arcademark.help"
"""Where it keeps that help is to be full."""

ALL = "Show this message with all options and exit."

PRINTED = ("json", "latex", "markdown")
"""Formats in which a document can be printed."""

FORMER_OPTIONS: Mapping[str, Callable[[str], tuple[str, ...]]] = MappingProxyType(
    {
        "--to": lambda value: ("--format", value) if value in (*PRINTED, "csv", "wide") else ("--save", value),
        "--metric": lambda value: ("--normalize", value),
        "--model": lambda value: ("--estimator", value),
        "--try": lambda value: ("--grid", value),
        "--catalogue": lambda value: ("--collection", value),
        "--figure": lambda value: ("--save", value),
        "--curves": lambda value: ("--figure", "learning", "--save", value),
    }
)
"""What to write now instead of an option that had another name, and its value."""


class UsualCommand(click.Command):
    """A command whose help shows some of its options, the usual ones, if these are named; --help-all shows all."""

    def __init__(self, *args: Any, usual: str = "", **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        self.usual = usual.split()
        if self.usual:
            self.params.append(
                click.Option(["--help-all"], is_flag=True, is_eager=True, expose_value=False, callback=_full, help=ALL)
            )

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the arguments, and keep them."""
        words = list(self._renamed(ctx, args))
        ctx.meta[WORDS] = [*words]
        return super().parse_args(ctx, words)

    def _renamed(self, ctx: click.Context, args: list[str]) -> Iterator[str]:
        """Yield the arguments with the names that options have now, and say which."""
        known = {name for one in self.get_params(ctx) for name in one.opts}
        rest = iter(args)
        for word in rest:
            name, equals, value = word.partition("=")
            if name in known or name not in FORMER_OPTIONS or (not equals and (value := next(rest, "")) == ""):
                yield word
                if word == "--":
                    yield from rest
                continue
            words = FORMER_OPTIONS[name](value)
            if words[0] not in known:
                yield from (word,) if equals else (word, value)
                continue
            messages.say(f"{name} is now {' '.join(word for word in words if word != value)}; {name} will be removed")
            yield from words

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Show the usual options, or all."""
        every = [one for one in self.get_params(ctx) if isinstance(one, click.Option)]
        some = every
        if self.usual and FULL not in ctx.meta:
            some = [one for one in every if one.name in (*self.usual, "help_all") or one not in self.params]
        with formatter.section("Options"):
            formatter.write_dl([record for one in some if (record := one.get_help_record(ctx))])
        if len(every) > len(some):
            formatter.write_paragraph()
            formatter.write_text(f"--help-all shows {len(every) - len(some)} more.")


class CommandGroup(click.Group):
    """A group whose unknown commands are refused with the closest known one."""

    command_class = UsualCommand
    folder = ""
    """What to do with a folder that stands in place of a command, `{0}`."""
    former: Mapping[str, str] = MappingProxyType({})
    """Names that commands had, and those that they have now."""
    aliases: Mapping[str, str] = MappingProxyType({})
    """Second names of commands."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Refuse an unknown command."""
        known = self.list_commands(ctx)
        if args and args[0] in self.aliases:
            args = [self.aliases[args[0]], *args[1:]]
        if args and not args[0].startswith("-") and args[0] not in known:
            if self.folder and Path(args[0]).is_dir():
                raise ArcadeMarkError(f"{args[0]}: is a folder; expected a command: {self.folder.format(args[0])}")
            kind = "command" if ctx.parent is None else f"{self.name} command"
            for name in (" ".join(args[:2]), args[0]):
                if name in self.former:
                    raise ArcadeMarkError(f"unknown {kind} '{name}'; it is 'arcademark {self.former[name]}' now")
            raise UnknownNameError(kind, args[0], known)
        return super().resolve_command(ctx, args)


def command(name: str, usual: str = "", **attributes: Any) -> Callable[[Callable[..., Any]], UsualCommand]:
    """Make a command of a function, with the names of its usual options where it has many."""
    return click.command(name, cls=UsualCommand, usual=usual, **attributes)


def _full(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        ctx.meta[FULL] = True
        messages.write(f"{ctx.get_help()}\n")
        ctx.exit()
