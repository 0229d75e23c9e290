"""The one grammar: options that mean the same on every command, with their defaults."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from arcademark.errors import ArcadeMarkError
from arcademark.files import MOST_DIGITS

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


COUNT = Count()
SHARE = Share()

games = click.option(
    "--games",
    default=DEFAULT_GAMES,
    show_default=True,
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
    show_default=True,
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
    multiple=True,
    metavar="NAME=VALUE",
    help="One of the agent's own parameters. May be repeated.",
)
seeds = click.option(
    "--seeds",
    default="1",
    show_default=True,
    metavar="N",
    help="A count (2 means seeds 0 and 1) or a list (3,7; one seed alone: 3,). One trial a game and seed.",
)
episodes = click.option(
    "--episodes",
    type=Episodes(),
    help="Episodes a trial, or all-starts: every no-op start of the protocol once.  [default: the protocol's]",
)
frames = click.option("--frames", type=COUNT, help="Training frames of a learner.  [default: the protocol's]")
training_episodes = click.option(
    "--training-episodes",
    type=COUNT,
    help="The same in episodes, instead of --frames.  [default: the protocol's, if it counts so]",
)
engine = click.option(
    "--engine", default="local", show_default=True, metavar="NAME", help="Where trials run: local or ray."
)
address = click.option(
    "--address",
    metavar="HOST:PORT",
    help="With --engine ray, the cluster; 'auto' is the one that this machine is a node of.  [default: start Ray here]",
)
gpus = click.option(
    "--gpus", type=float, metavar="NUMBER", help="With --engine ray, GPUs of each worker, 0.5 say.  [default: none]"
)
shard = click.option(
    "--shard",
    metavar="K/N",
    callback=lambda _, __, text: text and shard_of(text),
    help="Play shard K of N, of about as many frames as the others; 'arcademark merge' makes one run of them.",
)
workers = click.option(
    "--workers", type=COUNT, help="Processes that play, in each job of 'submit'.  [default: one a core]"
)
scratch = click.option(
    "--scratch",
    metavar="FOLDER",
    help="Record in this folder, on a local disk of the machine that plays, '$TMPDIR' say, and copy the run to its "
    "directory every minute and at the end.",
)
emulator = click.option(
    "--emulator",
    type=click.Choice(["console", "ale"]),
    help="What plays the games, to the same scores.  [default: our own console where it can be had, else ale-py]",
)
as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
one_trial = click.option("--trial", metavar="ID", help="Only this trial; the beginning of its id is enough.")
one_game = click.option("--game", metavar="NAME", help="Only this game.")
one_agent = click.option("--agent", metavar="LABEL", help="Only this agent, as the report names it.")
one_seed = click.option("--seed", type=click.IntRange(min=0), help="Only this seed.")
one_episode = click.option("--episode", type=click.IntRange(min=0), help="Only this episode, counted from 0.")
run_directory = click.argument("run_directory", metavar="RUN", type=click.Path(path_type=Path))


def shard_of(text: str) -> tuple[int, int]:
    """Read ``3/20``."""
    number, _, count = text.partition("/")
    if not (number.isdecimal() and count.isdecimal() and len(text) < 20):
        raise click.BadParameter(f"'{text}': expected the shard's number and how many there are, as in 3/20")
    return int(number), int(count)


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


def seed_list(text: str) -> tuple[int, ...]:
    """Read ``--seeds``: a count, or a list with commas."""
    numbers = [part.strip() for part in text.split(",") if part.strip()]
    if not numbers or not all(number.isdecimal() for number in numbers):
        raise ArcadeMarkError(f"--seeds {text!r}: expected a count such as 2, or a list of seeds such as 3,7")
    if any(len(number) > MOST_DIGITS for number in numbers):
        raise ArcadeMarkError(f"--seeds {text[:MOST_DIGITS]}…: expected numbers of at most {MOST_DIGITS} digits")
    values = tuple(map(int, numbers))
    if len(set(values)) < len(values):
        raise ArcadeMarkError(f"--seeds {text!r}: a seed is listed twice")
    if "," in text:
        return values
    if values[0] < 1:
        raise ArcadeMarkError("--seeds 0: at least one seed is needed; for seed 0 alone write --seeds 0,")
    from arcademark.runs.checks import MOST_TRIALS

    if values[0] > MOST_TRIALS:
        raise ArcadeMarkError(f"--seeds {text}: expected at most {MOST_TRIALS:,}")
    return tuple(range(values[0]))
