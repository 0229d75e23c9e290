"""The one grammar: options that mean the same on every command, with their defaults."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from arcademark.cli.commands import Option
from arcademark.errors import ArcadeMarkError, UnknownNameError

if TYPE_CHECKING:
    from arcademark.suite.protocols import Protocol
    from arcademark.suite.task_suites import TaskSuite

F = TypeVar("F", bound=Callable[..., Any])

DEFAULT_GAMES = "atari-5"
DEFAULT_PROTOCOL = "world-records"

_COUNT = re.compile(r"(\d[\d_]*(?:\.\d+)?(?:[eE]\+?\d{1,2})?)([kKmMbB]?)")
_THOUSANDS = {"": 1, "k": 1_000, "m": 1_000_000, "b": 1_000_000_000}
_MOST = 2**63 - 1


class Count(click.ParamType[int]):
    """A whole number of at least one; ``1_000``, ``2e6``, ``200k``, ``200M`` and ``10B`` are understood too."""

    name = "number"
    expected = "a whole number of at least 1"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Read the number or say what was expected."""
        found = _COUNT.fullmatch(str(value).strip())
        number = Decimal(found[1].replace("_", "")) * _THOUSANDS[found[2].lower()] if found else Decimal(0)
        if not 1 <= number <= _MOST or number != int(number):
            self.fail(f"{value!r} is not {self.expected}", param, ctx)
        return int(number)


class Episodes(Count):
    """A number of episodes, or ``all-starts``."""

    expected = f"{Count.expected}, or all-starts"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read the number or the word, or say what was expected."""
        return value if value == "all-starts" else super().convert(value, param, ctx)


class Share(click.ParamType[float]):
    """A share above nothing: ``15%``, or the fraction ``0.15``."""

    name = "share"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Read the share or say what was expected."""
        text = str(value).strip()
        try:
            number = float(text.removesuffix("%")) / (100.0 if text.endswith("%") else 1.0)
        except ValueError:
            number = 0.0
        if not 0 < number < float("inf") or (number >= 1 and not text.endswith("%")):
            self.fail(f"{value!r} is no share above 0; write 15%, or 0.15", param, ctx)
        return number


PATH = click.Path(path_type=Path)
WHOLE = click.IntRange(min=0)
COUNT = Count()
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
    was: Mapping[str, str] | None = None,
    alone: bool = True,
) -> Callable[[F], F]:
    """Make an option of several settings, NAME=VALUE,…, whose parameter is a mapping of those that are given.

    Parameters
    ----------
    option, help, parameter : str
    types : mapping of str to click.ParamType
        By the settings' names.
    first : str
        The setting whose value may stand without its name, in the first place: ``--engine ray,gpus=1``.
    was : mapping of str to str
        Older names, see `arcademark.cli.commands.Option`.
    alone : bool
        Whether each setting was an option of its own before: ``--episode 1`` is ``--only episode=1``.
    """
    between = re.compile(rf",\s*(?=(?:{'|'.join(types)})=)")

    def read(ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]) -> Mapping[str, Any]:
        parts = [part for text in texts for part in between.split(text)]
        given = pairs(option, tuple(f"{first}={part}" if first and "=" not in part else part for part in parts))
        found = {}
        for name, text in given.items():
            if name not in types:
                raise UnknownNameError(f"setting of --{option}", name, types)
            try:
                found[name] = types[name].convert(text, param, ctx)
            except click.BadParameter as error:
                raise ArcadeMarkError(f"--{option} {name}={text}: {error.message}") from None
        return found

    old = {f"--{name.replace('_', '-')}": f"{name}={{}}" for name in types if alone and name != first}
    names = [parameter] if parameter else []
    return click.option(
        f"--{option}",
        *names,
        cls=Option,
        was=old | dict(was or {}),
        multiple=True,
        metavar="NAME=VALUE,…",
        callback=read,
        help=f"{help}: {', '.join(types)}. May be repeated.",
    )


games = click.option(
    "--games",
    default=DEFAULT_GAMES,
    metavar="NAMES",
    help="A suite, a subset or games, separated by commas: atari-57, atari-5, pong,qbert.",
)
suite = click.option(
    "--suite",
    metavar="SUITE",
    help="Other tasks than Atari games, under their own protocol: a suite's file, its name, or gymnasium:CartPole-v1.",
)
trusted_suite = click.option(
    "--suite",
    metavar="SUITE",
    help="Of a run on other tasks than Atari games: the suite as which they may be made to play them again.",
)
protocol = click.option(
    "--protocol",
    default=DEFAULT_PROTOCOL,
    metavar="NAME",
    help="The environment's settings; 'arcademark info protocols' lists them.",
)
override = click.option(
    "--override",
    multiple=True,
    metavar="FIELD=VALUE",
    help="Change one setting of the protocol; the run is labelled as modified. May be repeated.",
)
settings = click.option(
    "--set",
    "settings",
    cls=Option,
    was={"--device": "device={}", "--trust": "trust=true"},
    multiple=True,
    metavar="NAME=VALUE",
    help="One of the agent's own parameters; of a checkpoint also device=cuda, and trust=true, which lets code in it "
    "run where it cannot be read otherwise. May be repeated.",
)
workers = click.option(
    "--workers", type=COUNT, help="Processes that play, in each job of --slurm.  [default: one a core]"
)
as_json = click.option(
    "--to",
    "as_json",
    cls=Option,
    was={"--json": "json"},
    type=click.Choice(["json"]),
    callback=lambda _, __, form: form is not None,
    help="Print JSON instead.",
)
run_directory = click.argument("run_directory", metavar="RUN", type=PATH)

EPISODE = {"game": click.STRING, "agent": click.STRING, "seed": WHOLE, "episode": WHOLE, "trial": click.STRING}
"""By what an episode of a run is chosen: episodes count from 0, of a trial's id the beginning is enough."""


def only(*names: str) -> Callable[[F], F]:
    """Make the option that chooses by some of `EPISODE`, all where none is named; its parameter is ``choice``."""
    return fields("only", "Choose by", {name: EPISODE[name] for name in names or EPISODE}, parameter="choice")


def combine(*options: Callable[[F], F]) -> Callable[[F], F]:
    """Make one decorator of several options, shown in the order given."""

    def decorate(function: F) -> F:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


def given(option: str) -> bool:
    """Tell whether the user wrote an option of the command that runs."""
    return click.get_current_context().get_parameter_source(option) is not ParameterSource.DEFAULT


def pairs(option: str, items: tuple[str, ...]) -> Mapping[str, str]:
    """Read repeated ``name=value`` options, each name once."""
    found: dict[str, str] = {}
    for item in items:
        name, equals, value = item.partition("=")
        if not equals or not name.strip():
            raise ArcadeMarkError(f"--{option} {item!r}: expected name=value, as in --{option} name=1")
        if name.strip() in found:
            raise ArcadeMarkError(f"--{option} {name.strip()} is given twice; give it once")
        found[name.strip()] = value.strip()
    return found


def rules(protocol: str, suite: str | TaskSuite | None, override: tuple[str, ...]) -> Protocol:
    """Return the protocol that --protocol names, or that of --suite, with what --override changes."""
    from arcademark.environments.registry import load_suite
    from arcademark.suite import protocols

    if suite is None:
        found: Protocol = protocols.protocol(protocol)
    elif given("protocol"):
        raise ArcadeMarkError("--suite and --protocol: a suite has its own protocol; leave --protocol out")
    else:
        found = protocols.step_protocol(load_suite(suite))
    return found.override(pairs("override", override))
