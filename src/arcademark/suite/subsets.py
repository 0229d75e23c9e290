"""Subsets: named tasks of a suite, with the published model if there is one.

Conventions
-----------
* Coefficients apply to log10(1 + max(0, s)) of scores s normalised in **percent**, in the order of the tasks.
* The log error, "relative error" in the paper, is a fraction (0.104 for its 10.4 %).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from arcademark.errors import ArcadeMarkError, UnknownNameError
from arcademark.suite.tables import read_named
from arcademark.suite.task_suites import TaskSuite
from arcademark.suite.tasks import TOY, canonical_game, games, suite, suites

Purpose = Literal["evaluation", "tuning", "comparison"]


LEVEL = 0.9
"""Default coverage of intervals."""
REPORTED = "atari-5"
"""Games that are played by default."""
VALIDATION = ("atari-3-val", "atari-5-val")
"""Subsets for tuning agents that are then scored on `REPORTED`, without its games (Aitchison et al. 2023, §8)."""


@dataclass(frozen=True)
class Nested:
    """Errors of a model's method of selection for algorithms of papers that were left out of the selection.

    Each paper was left out in turn, the search repeated without it, and its algorithms, `n` in all, were predicted.
    `mean`, `median` and `worst` are those of the log errors, ln 10 × the error in log₁₀ space, as fractions; `errors`
    are absolute errors in transformed units, one tuple per paper with one number per algorithm. `other_papers` are
    those of the chosen model itself on papers that are not in its table.
    """

    mean: float
    median: float
    worst: float
    n: int
    errors: tuple[tuple[float, ...], ...]
    other_papers: tuple[tuple[float, ...], ...] = ()

    @property
    def every(self) -> tuple[tuple[float, ...], ...]:
        """Absolute errors by paper, of papers left out and of others."""
        return (*self.errors, *self.other_papers)

    def __post_init__(self) -> None:
        least = min(self.mean, self.median, self.worst, *(size for sizes in self.every for size in sizes))
        if not all(self.every) or not sum(map(len, self.errors)) == self.n > 0 or least < 0:
            raise ArcadeMarkError("nested: expected errors of 0 or more for each paper, and n of them")


@dataclass(frozen=True)
class Subset:
    """Some tasks of a suite, chosen by a paper.

    Parameters
    ----------
    name, title, citation : str
        Stable id, one line for people, and its publication.
    suite : str
        The suite whose tasks they are, and whose median the model predicts.
    purpose : {"evaluation", "tuning", "comparison"}
        Purpose: results, development, or comparison with papers that used it.
    advice : str
        The purpose in a sentence, with the section of the paper.
    coefficients : tuple of float or None
        The model's coefficients, one per task; None if none were published.
    r_squared, log_error : float or None
        The published fit of the model: R² in log space, and the log error, a fraction.
    nested : Nested or None
        Errors on papers left out, measured by `arcademark.subset.studies.validate`.
    papers : tuple of str
        Keys in the catalogue's ``sources.toml`` of the papers in `citation`.
    max_frames_per_episode : int or None
        The frame cap of the scores that the model was fitted to; estimates from others should not be used (§5.3).
    """

    name: str
    title: str
    suite: str
    tasks: tuple[str, ...]
    purpose: Purpose
    advice: str
    citation: str
    papers: tuple[str, ...] = ()
    coefficients: tuple[float, ...] | None = None
    r_squared: float | None = None
    log_error: float | None = None
    nested: Nested | None = None
    max_frames_per_episode: int | None = None


@cache
def subsets() -> Mapping[str, Subset]:
    """Return the subsets by name."""
    return read_named("subsets.toml", Subset)


def subset(name: str) -> Subset:
    """Return the subset of that name; raise `UnknownNameError` if there is none."""
    if name.lower() not in subsets():
        raise UnknownNameError("subset", name, subsets())
    return subsets()[name.lower()]


def training_games() -> tuple[str, ...]:
    """Return the five games that the 2013 paper designs and tunes on (§3.1.2)."""
    return suite("ale-55").training_tasks


def usual_games(protocol: str) -> tuple[str, ...]:
    """Return the games to tune on under a protocol: the 2013 paper's own, otherwise the first of `VALIDATION`."""
    return training_games() if protocol == "ale-2013" else subset(VALIDATION[0]).tasks


def for_testing(tasks: Sequence[str], of: TaskSuite | None = None) -> tuple[str, ...]:
    """Return the games, or tasks of a suite, that are for testing.

    For Atari these are the suites' games without those that a source uses for tuning; another suite defines its own.
    """
    tested = of.test_tasks if of else _test_games()
    return tuple(task for task in tasks if task in tested)


@cache
def _test_games() -> frozenset[str]:
    tuning = {*training_games(), *(task for name in VALIDATION for task in subset(name).tasks)}
    return frozenset(task for known in suites().values() for task in known.tasks) - tuning


def resolve_tasks(text: str) -> tuple[str, ...]:
    """Return the games in a list of suites, subsets and games, "atari-5,Q*bert", each once, in order.

    ArcadeMarkError: the list is empty, or a name is neither a suite, a subset nor a game (`UnknownNameError`).
    """
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise ArcadeMarkError("no games named; expected a suite, a subset or games, e.g. 'atari-5' or 'pong,qbert'")
    return tuple(dict.fromkeys(task for name in names for task in _tasks(name)))


def tasks_to_play(games: Sequence[str], of: TaskSuite | None) -> tuple[str, ...]:
    """Return the tasks of a suite, or the games, in lists as for `resolve_tasks`, which may include the toy game."""
    if of:
        return of.resolve(",".join(games))
    return tuple(task for text in games for task in ((TOY,) if text.strip().lower() == TOY else resolve_tasks(text)))


def _tasks(name: str) -> tuple[str, ...]:
    if name.lower() in suites():
        return suites()[name.lower()].tasks
    if name.lower() in subsets():
        return subsets()[name.lower()].tasks
    try:
        return (canonical_game(name),)
    except UnknownNameError:
        raise UnknownNameError("game", name, [*suites(), *subsets(), *games()]) from None
