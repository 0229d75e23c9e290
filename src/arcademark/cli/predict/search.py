"""``arcademark subset search``: find the best few tasks, with a proof."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arcademark.cli import commands, messages, options, tables
from arcademark.cli.counting import counting
from arcademark.cli.output import Output, with_output
from arcademark.errors import ArcadeMarkError
from arcademark.files import write_document

if TYPE_CHECKING:
    from arcademark.analysis.subsets.dataset import Normalised
    from arcademark.analysis.subsets.searching import EverySize, Searched, SearchRequest
    from arcademark.subset.problem import Progress

where_from = options.combine(
    click.argument("places", nargs=-1, metavar="[TABLE]…"),
    tables.suite,
    tables.references,
    tables.algorithms,
)
ONE_SUBSET = ("size", "plan")
"""Options that cannot be combined with --sizes."""
TASKS = ("include", "exclude", "within")
"""Settings of --tasks."""
AT_LEAST_ONE = click.IntRange(min=1)


def scores_of(given: dict[str, Any], *, players: bool = True) -> Normalised:
    """Read the scores; the values of `where_from` and of the reader's options are removed from ``given``."""
    from arcademark.analysis.subsets import dataset
    from arcademark.analysis.tables.dataset import ScoreOptions

    references, places = given.pop("references"), given.pop("places")
    if not places:
        raise ArcadeMarkError("no scores named; name a table, or catalogue:atari-5-training")
    chosen = ScoreOptions(
        suite=given.pop("suite"),
        references=references,
        algorithms=tables.names("algorithms", given.pop("algorithms")),
        reading=tables.read_options(references, (), given.pop("reading")),
    )
    return dataset.normalised(places, chosen, players=players)


@contextmanager
def following() -> Iterator[Callable[[str, int], Progress] | None]:
    """Show the progress of searches, one after another, on a terminal; nothing elsewhere."""
    with ExitStack() as stack:

        def begin(name: str, size: int) -> Progress:
            """Show the progress of a search of subsets of a size; of other work, by its name, if that is 0."""
            stack.close()
            what = f"subsets of {size}{f' ({name})' if name else ''}" if size else name
            return stack.enter_context(counting("searching", what))

        yield begin if messages.open_console().is_terminal else None


@commands.command(
    "search",
    "algorithms references size sizes target tasks settings nested form saved",
    short_help="Find the best few tasks, with a proof.",
)
@where_from
@click.option("--size", type=options.COUNT, help="Tasks of the subset.")
@click.option("--sizes", metavar="SIZES", help="Search every size, 1-10 or 3,5,8-10, and show the error by size.")
@click.option("--plan", metavar="NAME", help="atari-5: the paper's six searches, each built on those before.")
@click.option(
    "--target",
    default="median",
    metavar="NAME",
    help="median, mean, iqm, at human level, hwrns median, or your own function FILE.py:NAME.",
)
@options.fields(
    "tasks",
    "Tasks that every subset includes, tasks that none includes, or the only tasks to choose from, as in "
    "include=pong,qbert",
    options.each(click.STRING, *TASKS),
)
@options.fields(
    "set",
    "How subsets are searched. choose=best ranks by the error on algorithms with all scores, choose=charged by the "
    "error on all algorithms; top, how many subsets are listed; papers, a CSV file algorithm,paper for --nested; "
    "transform of scores, log10 or none; nnls=yes fits without negative coefficients instead of dropping such models; "
    "folds of the cross-validation and the seed that shuffles them; minimum scores of an algorithm and of a task; "
    "bounds=no cross-validates each subset, with the same result",
    {
        "choose": click.Choice(["best", "charged"]),
        "top": options.COUNT,
        "papers": options.PATH,
        "transform": click.STRING,
        **options.each(click.BOOL, "nnls", "bounds"),
        "folds": options.COUNT,
        "fold_seed": options.WHOLE,
        **options.each(AT_LEAST_ONE, "minimum_tasks", "minimum_algorithms"),
    },
    parameter="settings",
)
@click.option(
    "--nested", is_flag=True, help="Also hold out each paper in turn: search without it, and predict its algorithms."
)
@click.option("--out", type=options.PATH, metavar="FILE", help="Write the model to FILE; several models to a folder.")
@with_output
@tables.read_as
def command(sizes: str | None, out: Path | None, output: Output, **given: Any) -> int:
    """Find the subsets of TABLE's tasks that best predict a summary of all tasks, and prove that none is better.

    TABLE is as in 'arcademark report': a file, a folder, a run's directory, or catalogue:atari-5-training.
    """
    from arcademark.analysis.subsets import searching
    from arcademark.subset.predict import files as models_as

    several = _check(out, sizes, plan=given["plan"], listed="top" in given["settings"])
    name = _name(given["places"])
    scores = scores_of(given)
    wanted = _wanted(scores, **given)
    result: Searched | EverySize
    with following() as begin:
        if sizes is None:
            result = searching.searched(scores, wanted, name, begin)
            models = [one.model for one in result.results]
        else:  # in both ways to choose unless one is named
            both = "choose" not in given["settings"]
            result = searching.every_size(scores, wanted, searching.read_sizes(sizes), name, begin, both=both)
            models = [item.model for series in result.series for item in series.sizes]
    paths = [] if out is None else [out / f"{model.name}.json" for model in models] if several else [out]
    for path, model in zip(paths, models, strict=False):
        write_document(path, models_as.dumps(model))
    output.show(result)
    output.tell(*(f"model: {path}" for path in paths))
    return 0


def _name(places: tuple[str, ...]) -> str:
    """Name the scores, for the models' names."""
    if places and ":" not in places[0]:
        return Path(places[0]).stem
    return (places[0].partition(":")[2] if places else "") or "catalogue"


def _check(out: Path | None, sizes: str | None, *, plan: str | None, listed: bool) -> bool:
    """Refuse options that contradict each other, before anything is read; return whether several models are made."""
    from arcademark.analysis.subsets.searching import read_sizes

    if sizes is not None:
        read_sizes(sizes)
        for name in (*(f"--{name}" for name in ONE_SUBSET if options.given(name)), *(["--set top"] * listed)):
            raise ArcadeMarkError(f"{name} cannot be combined with --sizes, which shows the best of each; omit one")
    several = plan is not None or sizes is not None
    if out is not None and several and (out.suffix or (out.exists() and not out.is_dir())):
        raise ArcadeMarkError(f"--out {out}: there are several models, one per file; name a folder")
    if out is not None and not several and out.is_dir():
        raise ArcadeMarkError(f"--out {out}: is a folder; name a file, as in --out {out / 'model.json'}")
    return several


def _wanted(scores: Normalised, settings: Mapping[str, Any], tasks: Mapping[str, str], **given: Any) -> SearchRequest:
    from arcademark.analysis.subsets.searching import SearchRequest

    for name in TASKS:
        named = tables.names(f"tasks {name}", tasks.get(name))
        given[name] = tuple(map(scores.benchmark.canonical, named))
    how = {name: value for name, value in settings.items() if name != "nnls"}
    return SearchRequest(**given, **how, nonnegative="nnls" if settings.get("nnls") else "drop")
