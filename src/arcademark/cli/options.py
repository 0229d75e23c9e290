"""Options with the same meaning on every command, with their defaults."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from arcademark.errors import ArcadeMarkError, UnknownNameError

F = TypeVar("F", bound=Callable[..., Any])

_COUNT = re.compile(r"(\d[\d_]*(?:\.\d+)?(?:[eE]\+?\d{1,2})?)([kKmMbB]?)")
_THOUSANDS = {"": 1, "k": 1_000, "m": 1_000_000, "b": 1_000_000_000}
_MOST = 2**63 - 1


class CountType(click.ParamType[int]):
    """A whole number of at least one; ``1_000``, ``2e6``, ``200k``, ``200M`` and ``10B`` are accepted, too."""

    name = "number"
    expected = "a whole number of at least 1"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Read the number, or fail with the expected value."""
        match = _COUNT.fullmatch(str(value).strip())
        number = Decimal(match[1].replace("_", "")) * _THOUSANDS[match[2].lower()] if match else Decimal(0)
        if not 1 <= number <= _MOST or number != int(number):
            self.fail(f"{value!r} is not {self.expected}", param, ctx)
        return int(number)


class EpisodesType(CountType):
    """A number of episodes, or ``all-starts``."""

    expected = f"{CountType.expected}, or all-starts"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read the number or the word, or fail with the expected value."""
        return value if value == "all-starts" else super().convert(value, param, ctx)


class Share(click.ParamType[float]):
    """A share above nothing: ``15%``, or the fraction ``0.15``."""

    name = "share"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Read the share, or fail with the expected value."""
        text = str(value).strip()
        try:
            number = float(text.removesuffix("%")) / (100.0 if text.endswith("%") else 1.0)
        except ValueError:
            number = 0.0
        if not 0 < number < float("inf") or (number >= 1 and not text.endswith("%")):
            self.fail(f"{value!r} is not a share above 0; write 15%, or 0.15", param, ctx)
        return number


class SettingsOption(click.Option):
    """An option of several settings, whose names are `settings`; empty if it takes any name."""

    def __init__(self, *args: Any, settings: Sequence[str] = (), **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        self.settings = (*settings,)


PATH = click.Path(path_type=Path)
WHOLE = click.IntRange(min=0)
COUNT = CountType()
SHARE = Share()


def each(type: click.ParamType[Any], *names: str) -> dict[str, click.ParamType[Any]]:
    """Give several settings the same type."""
    return dict.fromkeys(names, type)


def fields(
    option: str,
    help: str,
    types: Mapping[str, click.ParamType[Any]],
    *,
    parameter: str = "",
    first: str = "",
    others: tuple[str, Sequence[str]] = ("", ()),
) -> Callable[[F], F]:
    """Make an option of several settings, NAME=VALUE,…, whose parameter maps the given names to values.

    Parameters
    ----------
    option, help, parameter : str
    types : mapping of str to click.ParamType
        By the settings' names.
    first : str
        The setting whose value may stand without its name, in the first place: ``--engine ray,gpus=1``.
    others : (str, sequence of str)
        The setting that gathers any other names, and the values that these may have: ``--read "DQN std=spread"``.
    """
    gathers, values_of_others = others
    any_other = f"|[^,=]+=(?:{'|'.join(values_of_others)})(?:,|$)" if gathers else ""
    between = re.compile(rf",\s*(?=(?:{'|'.join(types)})={any_other})")

    def read(ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]) -> Mapping[str, Any]:
        parts = [part for text in texts for part in between.split(text)]
        values: dict[str, Any] = {}
        for name, text in pairs(
            option, [f"{first}={part}" if first and "=" not in part else part for part in parts]
        ).items():
            if name not in types and text in values_of_others:
                values.setdefault(gathers, {})[name] = text
                continue
            if name not in types:
                raise UnknownNameError(f"setting of --{option}", name, types)
            try:
                values[name] = types[name].convert(text, param, ctx)
            except click.BadParameter as error:
                raise ArcadeMarkError(f"--{option} {name}={text}: {error.message}") from None
        return values

    return click.option(
        f"--{option}",
        *([parameter] if parameter else []),
        cls=SettingsOption,
        settings=(*types,),
        multiple=True,
        metavar="NAME=VALUE,…",
        callback=read,
        help=f"{help}. Names: {', '.join(types)}. May be repeated.",
    )


def settings_of(option: str, parameter: str, metavar: str, help: str) -> Callable[[F], F]:
    """Make an option of any settings, NAME=VALUE, whose parameter is a mapping of texts."""
    return click.option(
        f"--{option}",
        parameter,
        cls=SettingsOption,
        multiple=True,
        metavar=metavar,
        callback=lambda _, __, items: pairs(option, items),
        help=f"{help} May be repeated.",
    )


games = click.option(
    "--games",
    metavar="NAMES",
    help="A suite, a subset or games, separated by commas: atari-57, pong,qbert.  [default: those of an existing "
    "run, else atari-5; all of a --suite]",
)
suite = click.option(
    "--suite",
    metavar="SUITE",
    help="Other tasks, under their own protocol, or Atari games of your own: a suite's file, its name, or "
    "gymnasium:CartPole-v1.",
)
trusted_suite = click.option(
    "--suite",
    metavar="SUITE",
    help="For a run on other tasks or games of your own: the suite that may be used to replay them.",
)
protocol = click.option(
    "--protocol",
    metavar="NAME",
    help="The environment's settings; 'arcademark info protocols' lists them.  [default: world-records]",
)
overrides = settings_of(
    "override", "overrides", "FIELD=VALUE", "Change one setting of the protocol; the run is labelled as modified."
)
settings = settings_of(
    "set",
    "settings",
    "NAME=VALUE",
    "A parameter of the agent; for a network's file also device=cuda, and trust=true, which runs the file's code "
    "if it cannot be read otherwise.",
)
workers = click.option(
    "--workers", type=COUNT, help="Number of processes, per job with --slurm.  [default: one per core]"
)
quiet = click.option("--quiet", "-q", is_flag=True, help="Print only the estimates and the location of the page.")
run_directory = click.argument("run_directory", metavar="RUN", type=PATH)

EPISODE = {"game": click.STRING, "agent": click.STRING, "seed": WHOLE, "episode": WHOLE, "trial": click.STRING}
"""Criteria that choose an episode of a run: episodes count from 0; the beginning of a trial's id suffices."""


def only(*names: str) -> Callable[[F], F]:
    """Make the option that selects by some of `EPISODE`, by default all; its parameter is ``choice``."""
    return fields("only", "Select episodes", {name: EPISODE[name] for name in names or EPISODE}, parameter="choice")


def combine(*options: Callable[[F], F]) -> Callable[[F], F]:
    """Make one decorator of several options, shown in the order given."""

    def decorate(function: F) -> F:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


def given(option: str) -> bool:
    """Return True if the user gave an option of the current command."""
    return click.get_current_context().get_parameter_source(option) is not ParameterSource.DEFAULT


def pairs(option: str, items: Sequence[str]) -> dict[str, str]:
    """Read repeated ``name=value`` options, each name once."""
    values: dict[str, str] = {}
    for item in items:
        name, equals, value = item.partition("=")
        if not equals or not name.strip():
            raise ArcadeMarkError(f"--{option} {item!r}: expected name=value, as in --{option} name=1")
        if name.strip() in values:
            raise ArcadeMarkError(f"--{option} {name.strip()} is given twice; give it once")
        values[name.strip()] = value.strip()
    return values
