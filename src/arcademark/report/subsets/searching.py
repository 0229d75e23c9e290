"""What ``arcademark subset search`` shows: the best subsets of a table, how sure they are, and the models to keep."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Literal, TypeAlias

from arcademark.errors import ArcadeMarkError
from arcademark.report.subsets import summaries, validating
from arcademark.report.subsets.dataset import Normalised
from arcademark.report.subsets.validating import Resampled, Validation
from arcademark.subset import plan as plans
from arcademark.subset import search as searches
from arcademark.subset import stability, validate
from arcademark.subset.consensus import consensus
from arcademark.subset.model import SubsetModel, from_candidate
from arcademark.subset.plan import Step
from arcademark.subset.problem import FOLD_SEED, FOLDS, Problem, make_problem
from arcademark.subset.progress import Progress
from arcademark.subset.search import Candidate, Certificate
from arcademark.subset.stability import Win

Choose: TypeAlias = Literal["best", "charged", "consensus"]
CHOICES: Mapping[str, Callable[..., searches.SearchResult]] = MappingProxyType(
    {"best": searches.search, "charged": partial(searches.search, incomplete="charge"), "consensus": consensus}
)
"""How a subset is chosen."""
MINIMUM = 40
"""Games an algorithm, and algorithms a game must have on Atari (Atari-5, §4.1)."""


@dataclass(frozen=True)
class Asked:
    """What is searched for, and how.

    Parameters
    ----------
    size : int or None
        Tasks of the subset; None with a plan.
    plan : str or None
        A plan's name.
    target : str
        One of `arcademark.subset.problem.SUMMARIES`, "hwrns median" on Atari, or a function of the user's own,
        ``path/to/file.py:function`` or ``package.module:function``, of an algorithm's normalised scores.
    transform : str
        "log10" or "none".
    include, exclude, within : tuple of str
        Tasks that every subset has, that none has, and the only ones to choose from (all if empty).
    top : int
        Subsets to list, the best among them.
    nonnegative : {"drop", "nnls"}
        Drop models with negative coefficients, or fit every model without.
    choose : {"best", "charged", "consensus"}
        By the error on complete cases; with incomplete cases charged; or by what the near-best of these agree on.
    folds, fold_seed : int
    minimum_tasks, minimum_algorithms : int or None
        How many tasks an algorithm, and how many algorithms a task must have; None for the usual: 40 on Atari, else
        half.
    bounds : bool
        Whether to leave out what a bound proves to be worse.
    seeds : int
        Other fold seeds to repeat each search with.
    nested : bool
        Whether to leave each paper out, search again without it, and predict its algorithms.
    papers : path or None
        A CSV file, algorithm and paper, for what the catalogue does not know; whoever is in neither is its own paper.
    bootstrap : int
        Samples of the algorithms to repeat each search on, drawn by ``fold_seed``.
    """

    size: int | None = None
    plan: str | None = None
    target: str = "median"
    transform: str = "log10"
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    within: tuple[str, ...] = ()
    top: int = 10
    nonnegative: Literal["drop", "nnls"] = "drop"
    choose: Choose = "best"
    folds: int = FOLDS
    fold_seed: int = FOLD_SEED
    minimum_tasks: int | None = None
    minimum_algorithms: int | None = None
    bounds: bool = True
    seeds: int = 0
    nested: bool = False
    papers: Path | None = None
    bootstrap: int = 0


@dataclass(frozen=True)
class Found:
    """One search's result.

    Parameters
    ----------
    name : str
        The step of a plan, or "".
    best : Candidate
    runners_up : tuple of Candidate
    certificate : Certificate
    winners : tuple of Win
        Which subsets were best with other fold seeds, and with how many; empty if none were tried.
    model : SubsetModel
        The best one's.
    nested : Validation or None
        Errors on papers left out of the search; None if not asked for.
    bootstrap : Resampled or None
        What wins on samples of the algorithms; None if not asked for.
    """

    name: str
    best: Candidate
    runners_up: tuple[Candidate, ...]
    certificate: Certificate
    winners: tuple[Win, ...]
    model: SubsetModel
    nested: Validation | None = None
    bootstrap: Resampled | None = None


@dataclass(frozen=True)
class Setup:
    """What is searched, as every renderer shows it.

    Parameters
    ----------
    target, unit, transform : str
        What is predicted, and in which unit: "%", "games", or "" for a plain number.
    metric : str
        What the scores are: "hns" or "normalised", in percent.
    algorithms, tasks : int
        How many take part.
    left_out : mapping of str to str
        Algorithms and tasks that do not, each with the reason.
    folds, fold_seed : int
    titles : mapping of str to str
        Tasks' names for people.
    noun : str
        What a task is called.
    sources, remarks : tuple of str
    """

    target: str
    unit: str
    transform: str
    metric: str
    algorithms: int
    tasks: int
    left_out: Mapping[str, str]
    folds: int
    fold_seed: int
    titles: Mapping[str, str]
    noun: str
    sources: tuple[str, ...]
    remarks: tuple[str, ...]


@dataclass(frozen=True)
class Searched(Setup):
    """A search, or a plan's searches.

    Parameters
    ----------
    choose : {"best", "charged", "consensus"}
        How subsets were chosen.
    results : tuple of Found
        In order.
    """

    SCHEMA: ClassVar[str] = "arcademark.subset-search/1"
    choose: Choose
    results: tuple[Found, ...]


def searched(
    scores: Normalised, asked: Asked, name: str, progress: Callable[[str, int], Progress] | None = None
) -> Searched:
    """Search, and put together what is shown.

    Parameters
    ----------
    scores : Normalised
    asked : Asked
    name : str
        Of the table, for the models' names.
    progress : callable, optional
        Given a step's name and size, returns what is told how far its search is.

    Raises
    ------
    ArcadeMarkError
        Where neither a size nor a plan is asked for, or both are; and as `search` and `make_problem`.
    """
    if (asked.size is None) == (asked.plan is None):
        raise ArcadeMarkError("subset search: ask for either --size N or --plan atari-5")
    problem = problem_of(scores, asked)
    steps = plans.plan(asked.plan) if asked.plan else (Step("", asked.size or 0),)
    if asked.plan and asked.within:
        raise ArcadeMarkError("--within goes with --size; a plan says itself what its subsets are chosen from")
    results = _results(problem, steps, asked, progress)

    def bar(title: str) -> Progress | None:
        return None if progress is None else progress(title, 0)

    winners = _winners(problem, steps, asked, bar("other shuffles") if asked.seeds else None)
    nested = _nested(problem, steps, asked, scores, bar("papers left out") if asked.nested else None)
    samples = _bootstrap(problem, steps, asked, bar("samples") if asked.bootstrap else None)
    how = "" if asked.choose == "best" else f"-{asked.choose}"
    found = tuple(
        Found(
            step,
            result.best,
            result.runners_up,
            result.certificate,
            winners.get(step, ()),
            model_of(
                result.best,
                problem,
                scores,
                asked,
                model_name(name, asked, f"{step or asked.size}{how}"),
                _citation(asked.choose, result.certificate.subsets, name),
                nested.get(step),
            ),
            nested.get(step),
            samples.get(step),
        )
        for step, result in results.items()
    )
    return Searched(**setup(problem, scores, asked), choose=asked.choose, results=found)


def setup(problem: Problem, scores: Normalised, asked: Asked) -> dict[str, Any]:
    """Return the fields of `Setup`."""
    noun = scores.benchmark.noun
    return {
        "target": summaries.title(asked.target, scores.metric, noun),
        "unit": summaries.unit(asked.target, noun),
        "transform": asked.transform,
        "metric": scores.metric,
        "algorithms": len(problem.algorithms),
        "tasks": len(problem.tasks),
        "left_out": problem.left_out,
        "folds": asked.folds,
        "fold_seed": asked.fold_seed,
        "titles": {task: scores.title(task) for task in scores.tasks},
        "noun": noun,
        "sources": scores.sources,
        "remarks": scores.remarks,
    }


def model_of(
    best: Candidate,
    problem: Problem,
    scores: Normalised,
    asked: Asked,
    name: str,
    citation: str,
    nested: Validation | None,
) -> SubsetModel:
    """Make the model of a subset, with what is known of its errors on other papers."""
    noun = scores.benchmark.noun
    return from_candidate(
        best,
        name,
        target=f"{summaries.title(asked.target, scores.metric, noun)} over all {noun}s",
        citation=citation,
        transform=asked.transform,
        references={task: (scores.low[task], scores.high[task]) for task in problem.tasks},
        nested=validating.kept(nested),
        spread=validating.spread(nested, problem, best.tasks),
        summary=asked.target,
        unit=summaries.unit(asked.target, noun),
    )


def problem_of(scores: Normalised, asked: Asked) -> Problem:
    """Make the problem that is searched.

    Raises
    ------
    ArcadeMarkError
        As `make_problem`.
    """
    usual = MINIMUM if scores.benchmark.atari else None
    tasks = usual if usual is not None else len(scores.tasks) // 2
    algorithms = usual if usual is not None else len(scores.algorithms) // 2
    problem = make_problem(
        scores.percent,
        scores.algorithms,
        scores.tasks,
        target=summaries.truth(scores, asked.target),
        transform=asked.transform,
        minimum_tasks=tasks if asked.minimum_tasks is None else asked.minimum_tasks,
        minimum_algorithms=algorithms if asked.minimum_algorithms is None else asked.minimum_algorithms,
    )
    empty = dict.fromkeys(scores.unscored, "no algorithm has a score on it")
    return dataclasses.replace(problem, left_out=MappingProxyType({**problem.left_out, **empty}))


def _results(
    problem: Problem, steps: Sequence[Step], asked: Asked, progress: Callable[[str, int], Progress] | None
) -> Mapping[str, searches.SearchResult]:
    options: dict[str, Any] = {"top": asked.top, "bounds": asked.bounds, **_options(asked)}
    choose = CHOICES[asked.choose]
    if asked.plan:
        told = None if progress is None else lambda step: progress(step.name, step.size)
        return plans.follow(
            problem, steps, include=asked.include, exclude=asked.exclude, progress=told, choose=choose, **options
        )
    (step,) = steps
    return {
        "": choose(
            problem,
            step.size,
            include=asked.include,
            exclude=asked.exclude,
            within=asked.within or None,
            progress=None if progress is None else progress("", step.size),
            **options,
        )
    }


def _winners(
    problem: Problem, steps: Sequence[Step], asked: Asked, progress: Progress | None
) -> Mapping[str, tuple[Win, ...]]:
    """Search again with other fold seeds, the plan's steps each from what its own seed found before."""
    repeated = stability.over_fold_seeds(
        lambda seed: _best(problem, steps, dataclasses.replace(asked, fold_seed=seed)), range(asked.seeds), progress
    )
    return {name: found.wins for name, found in repeated.items()}


def _best(problem: Problem, steps: Sequence[Step], asked: Asked) -> Mapping[str, Candidate]:
    again = dataclasses.replace(asked, top=1)
    return {name: result.best for name, result in _results(problem, steps, again, None).items()}


def _nested(
    problem: Problem, steps: Sequence[Step], asked: Asked, scores: Normalised, progress: Progress | None
) -> Mapping[str, Validation]:
    if not asked.nested:
        return {}
    papers = validating.origins(problem.algorithms, scores.papers, asked.papers)
    found = validate.nested(problem, papers, lambda sample: _best(sample, steps, asked), progress)
    return {name: validating.validation(item, asked.transform) for name, item in found.items()}


def _bootstrap(
    problem: Problem, steps: Sequence[Step], asked: Asked, progress: Progress | None
) -> Mapping[str, Resampled]:
    rng = validating.generator(asked.fold_seed)
    found = stability.bootstrap(problem, lambda sample: _best(sample, steps, asked), asked.bootstrap, rng, progress)
    return {name: validating.resampled(item) for name, item in found.items()}


def _options(asked: Asked) -> dict[str, Any]:
    return {"nonnegative": asked.nonnegative, "folds": asked.folds, "fold_seed": asked.fold_seed}


def gap(best: Candidate, other: Candidate) -> float:
    """Say how much larger another's squared error is, a fraction of the best's; 0 where both are 0."""
    return other.cv_mse / best.cv_mse - 1.0 if best.cv_mse else 0.0


def model_name(table: str, asked: Asked, size: str) -> str:
    """Name the model of a size, or of a plan's step: by the table, by what it predicts unless that is the median."""
    target = "" if asked.target == "median" else f"-{summaries.slug(asked.target)}"
    return f"{table}{target}-{size}"


def _citation(choose: Choose, subsets: int, name: str) -> str:
    if choose == "consensus":
        return f"what the near-best subsets of {name} agree on"
    return f"the best of {subsets:,} subsets of {name}"
