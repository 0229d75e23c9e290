"""Results of ``arcademark subset search``: best subsets of one or several sizes, their certificates and models."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, log
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeAlias, TypedDict

import numpy as np

from arcademark import wording
from arcademark.analysis.subsets import predictors, summaries
from arcademark.analysis.subsets.dataset import Normalised
from arcademark.analysis.subsets.predictors import Others
from arcademark.errors import ArcadeMarkError
from arcademark.keywords import knowing
from arcademark.subset.predict.model import SubsetModel, from_candidate
from arcademark.subset.predict.spread import conformal_half_width, spread
from arcademark.subset.problem import FOLD_SEED, Problem, Progress, make_problem
from arcademark.subset.search import plan as plans
from arcademark.subset.search.plan import SearchStep
from arcademark.subset.search.prepared import Certificate, Incomplete, Nonnegative, SearchOptions
from arcademark.subset.search.search import Candidate, SearchResult, r2_of_all, search
from arcademark.subset.studies import validate
from arcademark.subset.studies.validate import PredictionInterval, Validation, Win
from arcademark.suite.subsets import LEVEL, Nested

Choose: TypeAlias = Literal["best", "charged"]
"""Criterion: the error on complete cases, or with incomplete cases charged."""
OBJECTIVES: Mapping[str, Incomplete] = {"best": "leave out", "charged": "charge"}
"""Treatment of incomplete cases, by criterion."""
LOG = "log10"
MAX_SIZES = 200
"""Maximum number of sizes searched at once."""
MINIMUM = 40
"""Games that an algorithm, and algorithms that a game must have on Atari (Atari-5, §4.1)."""


@knowing()
@dataclass(frozen=True)
class SearchRequest(SearchOptions):
    """Request of a search: its target and its options.

    size: Tasks of the subset; None with a plan.
    plan: A plan's name.
    target: One of `arcademark.subset.problem.SUMMARIES`, "hwrns median" on Atari, or a function of the user's own,
        ``path/to/file.py:function`` or ``package.module:function``, of an algorithm's normalised scores.
    transform: "log10" or "none".
    choose: Criterion for subsets.
    minimum_tasks, minimum_algorithms: Number of tasks that an algorithm, and of algorithms that a task must have; None
        for the usual: 40 on Atari, else half.
    nested: True to leave each paper out, search again without it, and predict its algorithms.
    papers: A CSV file, algorithm and paper, of papers that the catalogue does not know; another one is its own paper.
    """

    size: int | None = None
    plan: str | None = None
    target: str = "median"
    transform: str = "log10"
    choose: Choose = "best"
    fold_seed: int = FOLD_SEED
    minimum_tasks: int | None = None
    minimum_algorithms: int | None = None
    nested: bool = False
    papers: Path | None = None

    def options(self, **changed: object) -> dict[str, Any]:
        """Return the options of each search, with some of them changed."""
        options = {field.name: getattr(self, field.name) for field in dataclasses.fields(SearchOptions)}
        return {**options, "within": self.within or None, "incomplete": OBJECTIVES[self.choose], **changed}


class SearchKeywords(TypedDict, total=False):
    """The fields of `SearchRequest` except the size as keywords, for type checkers."""

    plan: str | None
    target: str
    include: Sequence[str]
    exclude: Collection[str]
    within: Collection[str] | None
    top: int
    nonnegative: Nonnegative
    folds: int
    fold_seed: int
    bounds: bool
    threads: int | None
    transform: str
    choose: Choose
    minimum_tasks: int | None
    minimum_algorithms: int | None
    nested: bool
    papers: Path | None


@dataclass(frozen=True)
class StepResult:
    """One search's result.

    name: The step of a plan, or "".
    model: The model of the best subset.
    nested: Errors on papers left out of the search; None if not requested.
    """

    name: str
    best: Candidate
    runners_up: tuple[Candidate, ...]
    certificate: Certificate
    model: SubsetModel
    nested: Validation | None = None

    @property
    def listed(self) -> tuple[tuple[int, Candidate], ...]:
        """The subsets with their ranks, from 1."""
        return tuple(enumerate((self.best, *self.runners_up), 1))

    @property
    def on_others(self) -> dict[str, float | None] | None:
        """The model's errors on papers of the catalogue that the scores lack; None where not measured."""
        papers = self.model.nested.other_papers if self.model.nested else ()
        if not papers or self.model.spread is None:
            return None
        every = np.concatenate(papers)
        half_width = conformal_half_width(self.model.spread.errors, LEVEL)
        return {
            "algorithms": len(every),
            "papers": len(papers),
            "mean": log(10) * float(np.mean(every)),
            "median": log(10) * float(np.median(every)),
            "factor": 10**half_width if isfinite(half_width) else None,
        }


@dataclass(frozen=True)
class Setup:
    """Setup of a search.

    target, unit, transform: Predicted quantity, and its unit: "%", "games", or "" for a plain number.
    metric: Measure of the scores: "hns" or "normalised", in percent.
    algorithms, tasks: Numbers of those that the search uses.
    left_out: Algorithms and tasks that it does not use, each with the reason.
    titles: Tasks' names for people.
    noun: Noun for a task.
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

    @property
    def log(self) -> bool:
        """True if errors are relative."""
        return self.transform == LOG

    @property
    def reasons(self) -> list[str]:
        """The algorithms and tasks left out, each with the reason."""
        return [f"{self.titles.get(name, name)} ({reason})" for name, reason in self.left_out.items()]

    def names(self, item: Candidate | Win) -> str:
        """Name a subset's tasks."""
        return ", ".join(self.titles[task] for task in item.tasks)

    def error(self, value: float) -> str:
        """Write an error: a share of the prediction, or in its unit without a transform."""
        return wording.share(value) if self.log else f"{value:.3g}"

    def width(self, item: PredictionInterval) -> str:
        """Write the width of an interval: its factor or, without a transform, its half-width."""
        size = item.factor if self.log else item.half_width
        return wording.MISSING if size is None else f"{size:.3g}"


@dataclass(frozen=True)
class Searched(Setup):
    """Best subsets of a search, or of each search of a plan.

    choose: Criterion for subsets.
    results: In order.
    """

    SCHEMA: ClassVar[str] = "arcademark.subset-search/4"
    choose: Choose
    results: tuple[StepResult, ...]

    LEVEL: ClassVar = LEVEL
    STEPS: ClassVar[Mapping[str, str]] = {
        "5": "The best five",
        "3": "The best three of these",
        "1": "The best one of these",
        "3-val": "The best three for tuning, none of the five among them",
        "5-val": "These and two more for tuning",
        "10": "The five and the best five more, none for tuning among them",
    }

    def chosen_by(self, item: Candidate) -> float:
        """Return the error by which a subset is chosen, in the unit of errors."""
        return item.log_error if self.log else item.cv_mae

    @staticmethod
    def counted(proof: Certificate) -> list[str]:
        """Describe how many subsets were evaluated, pruned or inadmissible."""
        done = {
            "cross-validated": proof.evaluated,
            "proven to be worse by a bound": proof.pruned,
            "with too few algorithms": proof.inadmissible,
        }
        return [f"{number:,} {text}" for text, number in done.items() if number or text == "cross-validated"]

    def weights(self, best: Candidate) -> list[tuple[str, str]]:
        """Return tasks' names with their coefficients."""
        return [(self.titles[task], f"{one:.4f}") for task, one in zip(best.tasks, best.coefficients, strict=True)]

    def errors(self, step: StepResult) -> tuple[tuple[str, str, str, str, str], ...]:
        """Return rows of the error that chose a subset, and of nested errors: mean, median, worst, algorithms."""
        chosen = ("cross-validated, as it was chosen", self.error(self.chosen_by(step.best)), "", "", "")
        if step.nested is None:
            return (chosen,)
        mean, median, worst = map(self.error, (step.nested.mean, step.nested.median, step.nested.worst))
        return (chosen, ("nested: chosen without the paper", mean, median, worst, str(len(step.nested.held_out))))


@dataclass(frozen=True)
class Sized:
    """The best subset of a size.

    error, spread: Cross-validated error and its standard error: a log error, as a fraction, where scores are
        log-transformed, else in the target's own units.
    r2_of_all: R² over all algorithms; those left out count as predicted by the mean. None without variance.
    nested: Errors on papers left out of the search; None if not requested.
    """

    size: int
    best: Candidate
    error: float
    spread: float
    r2_of_all: float | None
    certificate: Certificate
    model: SubsetModel
    nested: Validation | None = None


@dataclass(frozen=True)
class Series:
    """The best subsets by one objective.

    incomplete: Treatment of algorithms without scores on all of a subset's tasks.
    sizes: Ascending.
    """

    incomplete: Incomplete
    sizes: tuple[Sized, ...]


@dataclass(frozen=True)
class EverySize(Setup):
    """The best subsets of every size.

    series: By the mean over complete cases and, where scores are missing, also with a charge for left-out algorithms;
        or only by the requested criterion.
    """

    SCHEMA: ClassVar[str] = "arcademark.subset-sizes/4"
    series: tuple[Series, ...]

    SERIES: ClassVar[Mapping[str, str]] = {
        "leave out": "The best subset of every size",
        "charge": "The best where whoever is left out counts",
    }

    def steps(self, series: Series) -> Iterator[tuple[int, str]]:
        """Yield each size with its tasks; tasks that the previous size lacks are marked with "+"."""
        before = frozenset[str]()
        for item in series.sizes:
            names = (f"{'' if task in before else '+'}{self.titles[task]}" for task in item.best.tasks)
            yield item.size, ", ".join(names)
            before = frozenset(item.best.tasks)


Results: TypeAlias = Mapping[str, SearchResult]
"""Results by the name of a step, or by size."""
Begin: TypeAlias = Callable[[str, int], Progress] | None
"""Function of a step's name and size that returns the progress callback of its search."""


def searched(scores: Normalised, request: SearchRequest, name: str, progress: Begin = None) -> Searched:
    """Search subsets; ``name`` is the table's name, which begins the models' names."""
    if (request.size is None) == (request.plan is None):
        raise ArcadeMarkError("subset search: choose either --size N or --plan atari-5")
    session = _Session(scores, request, name, progress)
    steps = plans.plan(request.plan) if request.plan else (SearchStep("", request.size or 0),)

    def follow(problem: Problem, begin: Begin, **changed: object) -> Results:
        """Search step by step, each from the results of earlier ones."""
        bars = None if begin is None else lambda step: begin(step.name, step.size)
        return plans.follow(problem, steps, progress=bars, **request.options(**changed))

    results = follow(session.problem, progress)
    known = session.known(results, lambda sample: follow(sample, None, top=1), request.choose)
    every = (StepResult(name=name, runners_up=results[name].runners_up, **fields) for name, fields in known)
    return Searched(**session.setup(), choose=request.choose, results=tuple(every))


class _Session:
    """State shared by searches of one size and of every size: scores, request, and the problem made of both."""

    def __init__(self, scores: Normalised, request: SearchRequest, name: str, progress: Begin) -> None:
        if request.papers is not None and not request.nested:
            raise ArcadeMarkError("papers requires nested, which leaves papers out; add it")
        self.scores, self.request, self._name, self._progress = scores, request, name, progress
        self.log = request.transform == LOG
        self._noun = scores.benchmark.noun
        tasks, algorithms = (
            MINIMUM if scores.benchmark.atari else size // 2 for size in (len(scores.tasks), len(scores.algorithms))
        )
        problem = make_problem(
            scores.percent,
            scores.algorithms,
            scores.tasks,
            target=summaries.truth(scores, request.target),
            transform=request.transform,
            minimum_tasks=tasks if request.minimum_tasks is None else request.minimum_tasks,
            minimum_algorithms=algorithms if request.minimum_algorithms is None else request.minimum_algorithms,
        )
        empty = dict.fromkeys(scores.unscored, "no algorithm has a score on it")
        self.problem = dataclasses.replace(problem, left_out={**problem.left_out, **empty})
        self._target = summaries.title(request.target, scores.metric, self._noun)
        self._unit = summaries.unit(request.target, self._noun)

    def bar(self, title: str, size: int = 0) -> Progress | None:
        """Return the progress callback of a search."""
        return None if self._progress is None else self._progress(title, size)

    def setup(self) -> dict[str, Any]:
        """Return the fields of `Setup`."""
        scores, request, problem = self.scores, self.request, self.problem
        return {
            "target": self._target,
            "unit": self._unit,
            "transform": request.transform,
            "metric": scores.metric,
            "algorithms": len(problem.algorithms),
            "tasks": len(problem.tasks),
            "left_out": problem.left_out,
            "folds": request.folds,
            "fold_seed": request.fold_seed,
            "titles": {task: scores.benchmark.title(task) for task in scores.tasks},
            "noun": self._noun,
            "sources": scores.sources,
            "remarks": scores.remarks,
        }

    def known(
        self, results: Results, again: Callable[[Problem], Results], choose: Choose
    ) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield by name each search's best subset with its certificate, its model and its nested errors."""
        nested: Mapping[str, Validation] = {}
        if self.request.nested:
            papers = predictors.origins(self.problem.algorithms, self.scores.papers, self.request.papers)
            nested = validate.nested(
                self.problem,
                papers,
                lambda sample: {name: result.best for name, result in again(sample).items()},
                self.bar("papers left out"),
                log=self.log,
            )
        how = "" if choose == "best" else f"-{choose}"
        for name, result in results.items():
            errors = nested.get(name)
            model = self.model(result.best, f"{name or self.request.size}{how}", result.certificate, errors)
            yield name, {"best": result.best, "certificate": result.certificate, "model": model, "nested": errors}

    def model(self, best: Candidate, ending: str, certificate: Certificate, nested: Validation | None) -> SubsetModel:
        """Make the model of a subset, named by the table and, unless it is the median, by its target."""
        request, scores = self.request, self.scores
        target = "" if request.target == "median" else f"-{summaries.slug(request.target)}"
        return from_candidate(
            best,
            f"{self._name}{target}-{ending}",
            target=f"{self._target} over all {self._noun}s",
            citation=f"the best of {certificate.subsets:,} subsets of {self._name}",
            transform=request.transform,
            references={task: (scores.low[task], scores.high[task]) for task in self.problem.tasks},
            summary=request.target,
            unit=self._unit,
            **self._errors(best, nested),
        )

    def _errors(self, best: Candidate, nested: Validation | None) -> dict[str, Any]:
        """Return a model's errors: on papers left out and, for Atari's median, on papers not in the searched table."""
        if nested is None:
            return {}
        usual = spread(self.problem, best.tasks, nested.errors(usual=True))
        ours = self.scores.benchmark.view.name == predictors.ATARI and self.request.target == "median"
        others: Others = ()
        if ours and self.log:
            papers = predictors.origins(self.problem.algorithms, self.scores.papers, self.request.papers)
            unknown = [name for name in self.problem.algorithms if papers[name] == name]
            others = predictors.other_papers(best, {*papers.values(), *self.scores.papers.values()}, unknown)
        more = tuple(tuple(size / usual.extrapolation(at) for size, at in errors) for errors in others)
        return {
            "nested": Nested(
                nested.mean,
                nested.median,
                nested.worst,
                len(nested.held_out),
                nested.errors(),
                tuple(tuple(size for size, _ in errors) for errors in others),
            ),
            "spread": dataclasses.replace(usual, errors=(*usual.errors, *more)),
        }


def read_sizes(text: str) -> tuple[int, ...]:
    """Read sizes, "1-10" or "3,5,8-10", at most `MAX_SIZES`; return them ascending."""
    numbers: set[int] = set()
    for part in text.split(","):
        ends = re.fullmatch(r"\s*(\d{1,4})\s*(?:[-\N{EN DASH}]\s*(\d{1,4})\s*)?", part)
        first, last = (int(ends[1]), int(ends[2] or ends[1])) if ends else (0, 0)
        if not 1 <= first <= last:
            raise ArcadeMarkError(f"--sizes {text}: {part.strip()!r} is not a size; expected 1-10, or 3,5,8-10")
        numbers.update(range(first, last + 1))
    if len(numbers) > MAX_SIZES:
        raise ArcadeMarkError(f"--sizes {text}: {len(numbers):,} sizes, expected at most {MAX_SIZES}")
    return tuple(sorted(numbers))


def every_size(
    scores: Normalised,
    request: SearchRequest,
    sizes: Sequence[int],
    name: str,
    progress: Begin = None,
    *,
    both: bool = True,
) -> EverySize:
    """Search subsets of every size.

    Where scores are missing, ``both`` searches by both criteria, and not only by ``request.choose``.
    """
    session = _Session(scores, request, name, progress)
    every: tuple[Choose, ...] = ("best", "charged") if both and np.isnan(session.problem.X).any() else (request.choose,)
    series = tuple(Series(OBJECTIVES[choose], tuple(_series(session, choose, sizes))) for choose in every)
    return EverySize(**session.setup(), series=series)


def _series(session: _Session, choose: Choose, sizes: Sequence[int]) -> Iterator[Sized]:
    options = session.request.options(incomplete=OBJECTIVES[choose], top=1)
    title = "all charged" if choose == "charged" else ""
    results = {str(size): search(session.problem, size, progress=session.bar(title, size), **options) for size in sizes}

    def again(sample: Problem) -> Results:
        return {str(size): search(sample, size, **options) for size in sizes}

    for name, fields in session.known(results, again, choose):
        best = results[name].best
        r2 = r2_of_all(session.problem, best)
        yield Sized(
            size=int(name),
            error=best.log_error if session.log else best.cv_mae,
            spread=best.standard_error * (log(10) if session.log else 1.0),
            r2_of_all=r2 if np.isfinite(r2) else None,
            **fields,
        )
