"""What ``arcademark subset search`` shows: the best subsets of a table, how sure they are, and the models to keep."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Literal, TypeAlias, TypedDict

from arcademark.errors import ArcadeMarkError
from arcademark.reports.subsets import predictors, summaries, validating
from arcademark.reports.subsets.dataset import Normalised
from arcademark.reports.subsets.predictors import Others
from arcademark.reports.subsets.validating import Validation
from arcademark.subset.predict.model import SubsetModel, from_candidate
from arcademark.subset.problem import FOLD_SEED, Problem, make_problem
from arcademark.subset.progress import Progress
from arcademark.subset.search import plan as plans
from arcademark.subset.search.plan import Step
from arcademark.subset.search.prepared import Nonnegative, SearchOptions
from arcademark.subset.search.search import Candidate, Certificate, SearchResult, search
from arcademark.subset.studies import validate

Choose: TypeAlias = Literal["best", "charged"]
"""By the error on complete cases, or with incomplete cases charged."""
MINIMUM = 40
"""Games an algorithm, and algorithms a game must have on Atari (Atari-5, §4.1)."""


@dataclass(frozen=True)
class Asked(SearchOptions):
    """What is searched for, and how.

    size: Tasks of the subset; None with a plan.
    plan: A plan's name.
    target: One of `arcademark.subset.problem.SUMMARIES`, "hwrns median" on Atari, or a function of the user's own,
        ``path/to/file.py:function`` or ``package.module:function``, of an algorithm's normalised scores.
    transform: "log10" or "none".
    choose: How subsets are chosen.
    minimum_tasks, minimum_algorithms: How many tasks an algorithm, and how many algorithms a task must have; None for
        the usual: 40 on Atari, else half.
    nested: Whether to leave each paper out, search again without it, and predict its algorithms.
    papers: A CSV file, algorithm and paper, for what the catalogue does not know; whoever is in neither is its own
        paper.
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

    def options(self) -> dict[str, Any]:
        """Return the options of each search."""
        found = {field.name: getattr(self, field.name) for field in dataclasses.fields(SearchOptions)}
        charged = {"incomplete": "charge"} if self.choose != "best" else {}
        return {**found, "within": self.within or None, **charged}


class SearchKeywords(TypedDict, total=False):
    """The fields of `Asked` but for the size as keywords, for type checkers."""

    plan: str | None
    target: str
    include: Sequence[str]
    exclude: Collection[str]
    within: Collection[str] | None
    top: int
    nonnegative: Nonnegative
    folds: int
    fold_seed: int
    minimum_cases: int
    bounds: bool
    threads: int | None
    transform: str
    choose: Choose
    minimum_tasks: int | None
    minimum_algorithms: int | None
    nested: bool
    papers: Path | None


@dataclass(frozen=True)
class Found:
    """One search's result.

    name: The step of a plan, or "".
    model: The best one's.
    nested: Errors on papers left out of the search; None if not asked for.
    """

    name: str
    best: Candidate
    runners_up: tuple[Candidate, ...]
    certificate: Certificate
    model: SubsetModel
    nested: Validation | None = None


@dataclass(frozen=True)
class Setup:
    """What is searched.

    target, unit, transform: What is predicted, and in which unit: "%", "games", or "" for a plain number.
    metric: What the scores are: "hns" or "normalised", in percent.
    algorithms, tasks: How many take part.
    left_out: Algorithms and tasks that do not, each with the reason.
    titles: Tasks' names for people.
    noun: What a task is called.
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

    choose: How subsets were chosen.
    results: In order.
    """

    SCHEMA: ClassVar[str] = "arcademark.subset-search/3"
    choose: Choose
    results: tuple[Found, ...]


Begin: TypeAlias = Callable[[str, int], Progress] | None
"""Given a step's name and size, returns what is told how far its search is."""


def searched(scores: Normalised, asked: Asked, name: str, progress: Begin = None) -> Searched:
    """Search, and put together what is shown; ``name`` is the table's, for the models' names."""
    if (asked.size is None) == (asked.plan is None):
        raise ArcadeMarkError("subset search: ask for either --size N or --plan atari-5")
    session = Session(scores, asked, name, progress)
    steps = plans.plan(asked.plan) if asked.plan else (Step("", asked.size or 0),)
    if asked.plan and asked.within:
        raise ArcadeMarkError("--within goes with --size; a plan says itself what its subsets are chosen from")
    results = _results(session.problem, steps, asked, progress)

    def best(sample: Problem) -> Mapping[str, Candidate]:
        """Search again, a plan's steps each from what was found before."""
        again = dataclasses.replace(asked, top=1)
        return {step: result.best for step, result in _results(sample, steps, again, None).items()}

    nested = session.nested(best)
    how = "" if asked.choose == "best" else f"-{asked.choose}"
    found = tuple(
        Found(
            step,
            result.best,
            result.runners_up,
            result.certificate,
            session.model(result.best, f"{step or asked.size}{how}", result.certificate, nested.get(step)),
            nested.get(step),
        )
        for step, result in results.items()
    )
    return Searched(**session.setup(), choose=asked.choose, results=found)


class Session:
    """What searches of one size and of every size share: scores, what is asked, and the problem made of both."""

    def __init__(self, scores: Normalised, asked: Asked, name: str, progress: Begin) -> None:
        if asked.papers is not None and not asked.nested:
            raise ArcadeMarkError("--papers goes with --nested, which leaves papers out; give it, too")
        self.scores, self.asked, self._name, self._progress = scores, asked, name, progress
        self.problem = problem_of(scores, asked)
        self._noun = scores.benchmark.noun
        self._target = summaries.title(asked.target, scores.metric, self._noun)
        self._unit = summaries.unit(asked.target, self._noun)

    def bar(self, title: str, size: int = 0) -> Progress | None:
        """Return what is told how far a search is."""
        return None if self._progress is None else self._progress(title, size)

    def setup(self) -> dict[str, Any]:
        """Return the fields of `Setup`."""
        scores, asked, problem = self.scores, self.asked, self.problem
        return {
            "target": self._target,
            "unit": self._unit,
            "transform": asked.transform,
            "metric": scores.metric,
            "algorithms": len(problem.algorithms),
            "tasks": len(problem.tasks),
            "left_out": problem.left_out,
            "folds": asked.folds,
            "fold_seed": asked.fold_seed,
            "titles": {task: scores.title(task) for task in scores.tasks},
            "noun": self._noun,
            "sources": scores.sources,
            "remarks": scores.remarks,
        }

    def nested(self, choose: validate.Choose) -> Mapping[str, Validation]:
        """Leave papers out, if that is asked for."""
        if not self.asked.nested:
            return {}
        papers = validating.origins(self.problem.algorithms, self.scores.papers, self.asked.papers)
        found = validate.nested(self.problem, papers, choose, self.bar("papers left out"))
        return {name: validating.validation(item, self.asked.transform) for name, item in found.items()}

    def model(self, best: Candidate, ending: str, certificate: Certificate, nested: Validation | None) -> SubsetModel:
        """Make the model of a subset, named by the table and by what it predicts unless that is the median."""
        asked, scores = self.asked, self.scores
        target = "" if asked.target == "median" else f"-{summaries.slug(asked.target)}"
        return from_candidate(
            best,
            f"{self._name}{target}-{ending}",
            target=f"{self._target} over all {self._noun}s",
            citation=f"the best of {certificate.subsets:,} subsets of {self._name}",
            transform=asked.transform,
            references={task: (scores.low[task], scores.high[task]) for task in self.problem.tasks},
            summary=asked.target,
            unit=self._unit,
            **self._errors(best, nested),
        )

    def _errors(self, best: Candidate, nested: Validation | None) -> dict[str, Any]:
        """Return what a model keeps of its errors: on papers left out and, of Atari's median, on those not searched."""
        if nested is None:
            return {}
        spread = validating.spread_of(nested, self.problem, best.tasks)
        ours = self.scores.benchmark.view.name == predictors.ATARI and self.asked.target == "median"
        others: Others = ()
        if ours and self.asked.transform == validating.LOG:
            papers = validating.origins(self.problem.algorithms, self.scores.papers, self.asked.papers)
            unknown = [name for name in self.problem.algorithms if papers[name] == name]
            others = predictors.other_papers(best, {*papers.values(), *self.scores.papers.values()}, unknown)
        usual = [[size / spread.extrapolation(at) for size, at in errors] for errors in others]
        return {
            "nested": dataclasses.replace(
                validating.kept(nested), other_papers=tuple(tuple(size for size, _ in errors) for errors in others)
            ),
            "spread": dataclasses.replace(spread, errors=(*spread.errors, *map(tuple, usual))),
        }


def problem_of(scores: Normalised, asked: Asked) -> Problem:
    """Make the problem that is searched; errors are those of `make_problem`."""
    sizes = (len(scores.tasks), len(scores.algorithms))
    tasks, algorithms = (MINIMUM if scores.benchmark.atari else size // 2 for size in sizes)
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


def _results(problem: Problem, steps: Sequence[Step], asked: Asked, progress: Begin) -> Mapping[str, SearchResult]:
    options = asked.options()
    if asked.plan:
        del options["within"]  # each step's own
        bars = None if progress is None else lambda step: progress(step.name, step.size)
        return plans.follow(problem, steps, progress=bars, **options)
    (step,) = steps
    return {"": search(problem, step.size, progress=None if progress is None else progress("", step.size), **options)}


def gap(best: Candidate, other: Candidate) -> float:
    """Say how much larger another's squared error is, a fraction of the best's; 0 where both are 0."""
    return other.cv_mse / best.cv_mse - 1.0 if best.cv_mse else 0.0
