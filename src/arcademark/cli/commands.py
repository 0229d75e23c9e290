"""Commands and groups of them: a short help and a full one, the closest name for an unknown one."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import click

from arcademark.cli import messages
from arcademark.errors import ArcadeMarkError, UnknownNameError, one_line

WORDS = "arcademark.arguments"
"""Key of the user's arguments in a command's context."""

FULL = "arcademark.help"
"""Key of the request for full help in a command's context."""

HELP = "Show this message and exit; --help all shows every option."

PRINTED = ("json", "latex", "markdown")
"""Formats in which a document can be printed."""


def _setting(option: str, name: str) -> Callable[[str], tuple[str, ...]]:
    return lambda value: (f"--{option}", f"{name}={value}")


FORMER_OPTIONS: Mapping[str, Callable[[str], tuple[str, ...]]] = MappingProxyType(
    {
        "--to": lambda value: ("--format", value) if value in (*PRINTED, "csv", "wide") else ("--save", value),
        "--metric": lambda value: ("--normalize", value),
        "--model": lambda value: ("--estimator", value),
        "--try": lambda value: ("--grid", value),
        "--catalogue": lambda value: ("--collection", value),
        "--collection": lambda value: (f"catalogue:{value}",),
        "--figure": lambda value: ("--save", value),
        "--curves": lambda value: ("--figure", "learning", "--save", value),
        "--shard": lambda value: ("--engine", f"shard={value}"),
        "--cite": lambda value: ("--entry", value),
        "--paper": lambda value: ("--entry", f"paper={value}"),
        **{f"--{name}": _setting("entry", name) for name in ("kind", "name")},
        "--seed": _setting("only", "seed"),
        **{f"--{name}": _setting("look", name) for name in ("scale", "pictures", "speed")},
        **{f"--{name}": _setting("tasks", name) for name in ("include", "exclude", "within")},
        **{f"--{name}": _setting("set", name) for name in ("choose", "top", "papers", "transform")},
    }
)
"""Replacement of a renamed option and its value."""

FORMER_FLAGS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "--help-all": ("--help", "all"),
        "--dry-run": ("--slurm", "dry_run=yes"),
        "--wait": ("--slurm", "wait=yes"),
        "--actions": ("--look", "actions=yes"),
        "--no-films": ("--no-animations",),
    }
)
"""Replacement of a renamed option without a value."""

DROPPED_FLAGS: Mapping[str, tuple[tuple[str, ...], str]] = MappingProxyType(
    {
        "--minari": (("runs export",), "not needed: --out NAME-v0 writes a Minari dataset"),
        "--overwrite": (
            ("watch", "catalogue export", "info features actions"),
            "ignored: an existing file that is not replaced has to be removed first",
        ),
    }
)
"""Commands of removed options, and why these are no longer needed."""


class UsualCommand(click.Command):
    """A command whose help shows only its usual options, if these are given; --help all shows all."""

    def __init__(self, *args: Any, usual: str = "", **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        self.usual = usual.split()

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        """Return the help option, with the value "all" if there are more than the usual options."""
        return _help_option(self.get_help_option_names(ctx)) if self.usual else super().get_help_option(ctx)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the arguments, and keep them."""
        words = list(self._renamed(ctx, args))
        ctx.meta[WORDS] = [*words]
        return super().parse_args(ctx, words)

    def _renamed(self, ctx: click.Context, args: list[str]) -> Iterator[str]:
        """Yield the arguments with the current names of options, and print the changes."""
        known = {name: one for one in self.get_params(ctx) for name in one.opts}
        rest = iter(args)
        for word in rest:
            name, equals, value = word.partition("=")
            commands, why = DROPPED_FLAGS.get(word, ((), ""))
            if name not in known and ctx.command_path.endswith(tuple(f" {one}" for one in commands)):
                messages.say(f"{name} is {why}; {name} will be removed")
                continue
            if name not in known and (words := FORMER_FLAGS.get(word)) is not None and words[0] in known:
                messages.say(f"{name} is now {' '.join(words)}; {name} will be removed")
                yield from words
                continue
            if name in known or name not in FORMER_OPTIONS:
                yield word
                if word == "--":
                    yield from rest
                continue
            value = value if equals else next(rest, "")
            missing = not value or (not equals and value.startswith("--"))
            words = FORMER_OPTIONS[name]("VALUE" if missing else value)
            if words[0] not in known and words[0] in FORMER_OPTIONS:
                words = FORMER_OPTIONS[words[0]](words[1])
            settings = getattr(known.get(words[0]), "settings", None)
            place = len(words) == 1 and any(one.name == "places" for one in self.params)
            if (not place and words[0] not in known) or (
                settings is not None and words[1].partition("=")[0] not in settings
            ):
                yield from (word,) if equals or not value else (word, value)
                continue
            if missing:
                raise click.UsageError(f"{name} is now {' '.join(words)}; give a value", ctx)
            messages.say(f"{name} is now {one_line(shlex.join(words), 200)}; {name} will be removed")
            yield from words

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Show the usual options, or all."""
        every = [one for one in self.get_params(ctx) if isinstance(one, click.Option)]
        some = every
        if self.usual and FULL not in ctx.meta:
            some = [one for one in every if one.name in self.usual or one not in self.params]
        with formatter.section("Options"):
            formatter.write_dl([record for one in some if (record := one.get_help_record(ctx))])
        if len(every) > len(some):
            formatter.write_paragraph()
            formatter.write_text(f"--help all shows {len(every) - len(some)} more.")


class CommandGroup(click.Group):
    """A group whose unknown commands are refused with the closest known one."""

    command_class = UsualCommand
    folder = ""
    """Remedy for a folder given instead of a command, `{0}`."""
    former: Mapping[str, str] = MappingProxyType({})
    """Former and current names of commands."""
    aliases: Mapping[str, str] = MappingProxyType({})
    """Second names of commands."""

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        """Return the help option, with the value "all" for the help of each command, too."""
        return _help_option(self.get_help_option_names(ctx))

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
    """Make a command from a function, with the names of its usual options if it has many."""
    return click.command(name, cls=UsualCommand, usual=usual, **attributes)


def _help_option(names: list[str]) -> click.Option | None:
    if not names:
        return None
    return click.Option(
        names,
        is_flag=False,
        flag_value="usual",
        metavar="[all]",
        is_eager=True,
        expose_value=False,
        callback=_help,
        help=HELP,
    )


def _help(ctx: click.Context, _: click.Parameter, wanted: str | None) -> None:
    if wanted and not ctx.resilient_parsing:
        if wanted == "all":
            ctx.meta[FULL] = True
        messages.write("\n\n\n".join(_helps(ctx)) + "\n")
        ctx.exit()


def _helps(ctx: click.Context) -> Iterator[str]:
    """Yield a command's help and, for --help all, that of each command below it."""
    yield ctx.get_help()
    if FULL in ctx.meta and isinstance(ctx.command, click.Group):
        for name in ctx.command.list_commands(ctx):
            below = ctx.command.get_command(ctx, name)
            if below is not None and not below.hidden:
                yield from _helps(click.Context(below, parent=ctx, info_name=name))
