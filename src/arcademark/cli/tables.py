"""Options that ``arcademark report`` and ``arcademark compare`` share: tables, measures and readers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from arcademark.cli import options
from arcademark.errors import ArcadeMarkError
from arcademark.scores.readers.words.role_names import ROLES

if TYPE_CHECKING:
    from arcademark.analysis.tables.dataset import ScoreOptions

F = TypeVar("F", bound=Callable[..., Any])

suite = click.option(
    "--suite",
    metavar="NAME",
    help="atari-57, ale-55, atari-100k, ale-47, or a suite of other tasks.  [default: the runs' own, else atari-57]",
)
references = click.option(
    "--references",
    type=options.PATH,
    metavar="FILE",
    help="Reference scores of another benchmark: a table with the columns task, low (0 %) and high (100 %), or "
    "random and human.",
)
algorithms = click.option("--algorithms", metavar="NAMES", help="Only these algorithms, separated by commas.")
protocol = click.option("--protocol", metavar="NAME", help="Protocol of the scores, if the table does not state it.")
level = click.option(
    "--level",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.9,
    help="Confidence level of the intervals.",
)
estimated_by = click.option(
    "--estimator",
    "model",
    default="any",
    metavar="NAME",
    help="Estimator of medians if games are missing: any, or a published model such as atari-5.",
)
measured_by = options.combine(
    suite,
    references,
    click.option(
        "--games",
        metavar="NAMES",
        help="A suite, a subset or games; or 'common', the games that every algorithm has.  [default: all]",
    ),
    click.option(
        "--normalize",
        "metrics",
        metavar="NAMES",
        help="hns,capped_hns,hwrns,saber,min_max, …  [default: the benchmark's own]",
    ),
    protocol,
    click.option(
        "--frames",
        multiple=True,
        metavar="[NAME=]N",
        help="Training frames, of all or of one algorithm: 200M, DQN=50M. May be repeated.",
    ),
)
intervals = options.fields(
    "intervals",
    "Method of the intervals, method=symmetric, expanded or percentile",
    {"method": click.STRING, "resamples": options.COUNT, "seed": options.WHOLE},
)
tolerance = click.option(
    "--tolerance",
    type=options.SHARE,
    metavar="SHARE",
    help="Also show a tolerance interval for this share of runs: 90%.",
)
read_as = options.fields(
    "read",
    "Override how input files are parsed (docs/tables.md)",
    {
        **options.each(click.STRING, "format", "algorithm", "game", "tag", "pattern", "table"),
        "run": options.WHOLE,
        "last": options.COUNT,
        "decimal": click.Choice([".", ","]),
    },
    parameter="reading",
    others=("roles", ROLES),
)


def score_options(
    *,
    suite: str | None,
    references: Path | None,
    games: str | None,
    metrics: str | None,
    frames: tuple[str, ...],
    intervals: Mapping[str, Any],
    reading: Mapping[str, Any],
    **others: Any,
) -> ScoreOptions:
    """Make `ScoreOptions` of the command line's options; ArcadeMarkError: two contradict each other."""
    from arcademark.analysis.tables.dataset import ScoreOptions

    if suite is not None and references is not None:
        raise ArcadeMarkError(f"--suite {suite} and --references {references} each name a benchmark; leave one out")
    chosen = names("games", games)
    return ScoreOptions(
        suite=suite,
        references=references,
        games=chosen,
        metrics=names("normalize", metrics),
        frames=training_frames(frames),
        reading=read_options(references, chosen, reading),
        **intervals,
        **others,
    )


def read_options(references: Path | None, games: tuple[str, ...], reading: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the reader's options by the reader's names."""
    from arcademark.suite import subsets, tasks

    given = dict(reading)
    if "game" in given:
        game = given.pop("game")
        given["task"] = game if references else tasks.canonical_game(game)
    if given.get("format") == "rliable" and games:
        given["tasks"] = games if references else subsets.resolve_tasks(",".join(games))
    return given


def names(option: str, text: str | None) -> tuple[str, ...]:
    """Split an option's list of names; empty if it is not given, an error if it is blank."""
    from arcademark.suite.tasks import listed

    return () if text is None else listed(text, f"--{option}")


def training_frames(given: tuple[str, ...]) -> dict[str, int]:
    """Read ``--frames``: a number for all ("") or NAME=number for one; raise for no number, or a name given twice."""
    frames: dict[str, int] = {}
    for item in given:
        name, _, number = item.rpartition("=")
        try:
            count = options.COUNT.convert(number, None, None)
        except click.BadParameter as error:
            raise ArcadeMarkError(f"--frames {item!r}: {error.message}, as in --frames 200M or NAME=200M") from None
        if name.strip() in frames:
            raise ArcadeMarkError(f"--frames {item!r}: {name.strip() or 'all algorithms'} given twice; give it once")
        frames[name.strip()] = count
    return frames
