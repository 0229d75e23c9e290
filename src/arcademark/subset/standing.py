"""Where a subset stands among all of its size, how error falls with size, and what depends on how folds were drawn."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from arcademark.errors import ArcadeMarkError
from arcademark.subset.enumeration import Progress, enumerate_subsets
from arcademark.subset.kernels import TIE
from arcademark.subset.problem import FOLD_SEED, FOLDS, Problem
from arcademark.subset.question import ask
from arcademark.subset.search import Candidate, Certificate, SearchResult, evaluate, search

MOST_AHEAD = 10_000


@dataclass(frozen=True)
class Standing:
    """Where a subset stands.

    Parameters
    ----------
    candidate : Candidate
        The subset.
    rank : int
        1 for the best, by ``cv_mse``; of subsets that tie, those whose tasks come first are ahead.
    loss : float
        By what share of the best one's ``cv_mse`` its own is above.
    ahead : tuple of Candidate
        The best of those ahead, in order.
    certificate : Certificate
        Of the search that counted them.
    """

    candidate: Candidate
    rank: int
    loss: float
    ahead: tuple[Candidate, ...]
    certificate: Certificate


@dataclass(frozen=True)
class Seeds:
    """What searches with several fold seeds choose.

    Parameters
    ----------
    wins : tuple of (tuple of str, int)
        Each winning subset and how often it wins, most often first.
    chosen : tuple of (str, int)
        Each task of any winner and in how many it is, most often first.
    average : tuple of (Candidate, float)
        Each winner under the first seed, and its ``cv_mse`` averaged over all seeds, the lowest average first.
    """

    wins: tuple[tuple[tuple[str, ...], int], ...]
    chosen: tuple[tuple[str, int], ...]
    average: tuple[tuple[Candidate, float], ...]


def standing(
    problem: Problem,
    tasks: Sequence[str],
    *,
    include: Sequence[str] = (),
    exclude: Collection[str] = (),
    within: Collection[str] | None = None,
    folds: int = FOLDS,
    fold_seed: int | None = FOLD_SEED,
    list_ahead: int = 10,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Standing:
    """Count the subsets of its size that are better than a given one, with proof.

    Parameters
    ----------
    problem : Problem
        What to predict from what.
    tasks : sequence of str
        The subset; without negative coefficients.
    include, exclude, within, folds, fold_seed, threads, progress
        As for `arcademark.subset.search.search`.
    list_ahead : int, optional
        How many of those ahead to list.

    Raises
    ------
    UnknownNameError
        Where a task is not in the problem.
    ArcadeMarkError
        Where the subset is not among those searched, or more than `MOST_AHEAD` are ahead of it.
    """
    mine = evaluate(problem, tasks, folds=folds, fold_seed=fold_seed)
    subset = problem.positions(mine.tasks)
    question = ask(
        problem, len(tasks), include=include, exclude=exclude, within=within, folds=folds, fold_seed=fold_seed,
        top=MOST_AHEAD,
    )  # fmt: skip
    limit = mine.cv_mse * (1.0 + TIE)
    found, counts = enumerate_subsets(question, True, threads or os.cpu_count() or 1, progress, limit)
    if subset not in found:
        raise ArcadeMarkError(
            f"{', '.join(mine.tasks)}: more than {MOST_AHEAD:,} subsets are ahead of it, or it is not among those "
            "searched: it needs all tasks to be included, none to be excluded, and no negative coefficient"
        )
    rank = 1 + found.index(subset)
    names = [[problem.tasks[j] for j in other] for other in found[: min(list_ahead, rank - 1)]]
    ahead = tuple(evaluate(problem, other, folds=folds, fold_seed=fold_seed) for other in names)
    first = evaluate(problem, [problem.tasks[j] for j in found[0]], folds=folds, fold_seed=fold_seed)
    certificate = Certificate.of(question.subsets, counts)
    return Standing(mine, rank, mine.cv_mse / first.cv_mse - 1.0, ahead, certificate)


def by_size(problem: Problem, sizes: Iterable[int], **options: Any) -> Iterator[tuple[int, SearchResult]]:
    """Search size after size: how error falls with the number of tasks.

    Parameters
    ----------
    problem : Problem
        What to predict from what.
    sizes : iterable of int
        Sizes, in the order in which they are searched.
    **options
        Of every `arcademark.subset.search.search`.

    Yields
    ------
    (int, SearchResult)
        As soon as one is proven.
    """
    for size in sizes:
        yield size, search(problem, size, **options)


def over_seeds(problem: Problem, size: int, seeds: Sequence[int], **options: Any) -> Seeds:
    """Search with fold seed after fold seed, to see how much the choice depends on how folds were drawn.

    Parameters
    ----------
    problem : Problem
        What to predict from what.
    size : int
        Tasks of a subset.
    seeds : sequence of int
        What cases are shuffled with.
    **options
        Of every `arcademark.subset.search.search`, save ``fold_seed`` and ``top``.

    Raises
    ------
    ArcadeMarkError
        Where no seed is given; and as `search`.
    """
    if not seeds:
        raise ArcadeMarkError("fold seeds: none given, expected at least one")
    wins: Counter[tuple[str, ...]] = Counter()
    for seed in seeds:
        wins[search(problem, size, fold_seed=seed, **(options | {"top": 1})).best.tasks] += 1
    chosen = Counter({task: 0 for tasks in wins for task in tasks})
    for tasks, times in wins.items():
        chosen.update(dict.fromkeys(tasks, times))
    judged = {key: options[key] for key in ("folds", "nonnegative") if key in options}
    average = []
    for tasks in wins:
        each = [evaluate(problem, tasks, fold_seed=seed, **judged) for seed in seeds]
        average.append((each[0], sum(candidate.cv_mse for candidate in each) / len(each)))
    return Seeds(
        tuple(sorted(wins.items(), key=lambda item: (-item[1], item[0]))),
        tuple(sorted(chosen.items(), key=lambda item: (-item[1], item[0]))),
        tuple(sorted(average, key=lambda item: (item[1], item[0].tasks))),
    )
