"""The published scores, selected by collection, protocol, training, year and kind.

If two of the selected collections have an algorithm of the same name, both names are followed by the source in
brackets: "Agent57 (Fan 2021)". Missing scores are NaN. Scores are the correct ones; ``as_published=True`` returns the
source's own, `Result.as_published`, where these are incorrect.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from arcademark.catalogue import reading
from arcademark.catalogue.model import ALGORITHM_KINDS, MODEL_FREE, REPORTED, Entry, PublishedCheckpoint, Result, Source
from arcademark.errors import ArcadeMarkError, UnknownNameError
from arcademark.keywords import Names, knowing
from arcademark.scores.table import ScoreTable
from arcademark.suite import protocols, tasks


@knowing()
@dataclass(frozen=True)
class Filter:
    """Filter of entries; a field that is None keeps all.

    Parameters
    ----------
    protocol : str, optional
        A named protocol, or "" for entries without a known one.
    min_training_frames, max_training_frames : int, optional
        Inclusive bounds; entries with unknown training frames are left out.
    year, since, until : int, optional
        Year of first publication: exactly, at least, at most.
    kind, reported : str or sequence of str, optional
        Kinds from `ALGORITHM_KINDS`, or "model-free" for `MODEL_FREE`; values from `REPORTED`.
    """

    protocol: str | None = None
    min_training_frames: int | None = None
    max_training_frames: int | None = None
    year: int | None = None
    since: int | None = None
    until: int | None = None
    kind: Names | None = None
    reported: Names | None = None

    def __post_init__(self) -> None:
        if self.protocol and self.protocol not in protocols.protocols():
            raise UnknownNameError("protocol", self.protocol, protocols.protocols())
        kinds = ("model-free", *ALGORITHM_KINDS)
        for what, names, known in (("kind", self.kind, kinds), ("report", self.reported, REPORTED)):
            for name in _listed(names):
                if name not in known:
                    raise UnknownNameError(what, name, known)

    def keeps(self, entry: Entry) -> bool:
        """Return True if the filter keeps an entry."""
        year = entry.year
        return (
            self.protocol in (None, entry.protocol)
            and _between(entry.training_frames, self.min_training_frames, self.max_training_frames)
            and _between(year, self.since, self.until)
            and self.year in (None, year)
            and (self.kind is None or entry.kind in _kinds(self.kind))
            and (self.reported is None or entry.reported in _listed(self.reported))
        )


def sources() -> Mapping[str, Source]:
    """Return the papers by key: "fan-2021"."""
    return reading.read_sources()


def collections() -> tuple[str, ...]:
    """Return the collections' names, in alphabetical order."""
    return reading.read_names()


def entries(collection: str | None = None) -> tuple[Entry, ...]:
    """Return a collection's algorithms, in the source's order; by default those of all collections."""
    return tuple(entry for name in _chosen(collection) for entry in reading.read_entries(name).values())


def results(collection: str | None = None, *, as_published: bool = False) -> tuple[Result, ...]:
    """Return a collection's scores in its file's order; by default those of all collections."""
    found = (result for name in _chosen(collection) for result in reading.read_results(name))
    return tuple(result.published if as_published else result for result in found)


def checkpoints() -> tuple[PublishedCheckpoint, ...]:
    """Return scores of algorithms in the middle of their training, from published learning curves."""
    return reading.read_checkpoints()


def scores_of(entry: Entry, *, as_published: bool = False) -> Mapping[str, Result]:
    """Return an entry's scores by game, in the order of its collection's file."""
    return _by_entry(entry.collection, as_published)[entry.algorithm]


def benchmarked(games: Collection[str], fewest: int) -> Mapping[str, Entry]:
    """Return the algorithms with scores on at least ``fewest`` of the games, each once, by their names in a table.

    If several collections have an algorithm of a paper, the one with the most of the games is used. References and
    baselines are left out.
    """
    result: dict[tuple[str, Source], dict[str, dict[str, int]]] = {}
    named = select()
    for name, entry in named.items():
        scored = 0 if entry.unavailable else len(scores_of(entry).keys() & set(games))
        if scored >= fewest and entry.kind not in ("reference", "baseline"):
            copies = result.setdefault((entry.identity, entry.origin), {})
            copies.setdefault(entry.collection, {})[name] = scored
    kept = {name for copies in result.values() for name in max(copies.values(), key=lambda copy: max(copy.values()))}
    return {name: entry for name, entry in named.items() if name in kept}


def select(
    collection: Names | None = None, algorithms: Collection[str] | None = None, keep: Filter | None = None
) -> Mapping[str, Entry]:
    """Return the selected entries by their names in a table.

    Parameters
    ----------
    collection : str or sequence of str, optional
        Names of collections; all if none is named.
    algorithms : collection of str, optional
        Only these, in this order. A name without brackets selects the algorithm in every collection that has it.
    keep : Filter, optional
    """
    result = _named(_chosen(collection))
    if algorithms is not None:
        result = {name: result[name] for wanted in _listed(algorithms) for name in _matching(wanted, result)}
    return {name: entry for name, entry in result.items() if keep is None or keep.keeps(entry)}


@knowing(Filter)
def load(
    collection: Names | None = None, *, algorithms: Names | None = None, as_published: bool = False, **where: Any
) -> ScoreTable:
    """Return published scores as a table.

    Parameters
    ----------
    collection, algorithms
        As in `select`.
    as_published : bool, optional
        True to return the source's own score where it is incorrect: with "atari-5-training", the table that the
        Atari-5 models were fitted to.
    **where
        Fields of `Filter`: protocol, min_training_frames, max_training_frames, year, since, until, kind, reported.

    Returns
    -------
    ScoreTable
        A score for each run where these are published; else one run, whose score may be the mean of several. Algorithms
        whose scores are lost (`Entry.unavailable`) are not in it.

    Raises
    ------
    UnknownNameError
        If the name of a collection, algorithm, protocol, kind, `REPORTED` value or keyword is unknown.
    ArcadeMarkError
        If nothing is left, or a named algorithm has no scores.
    """
    keep = Filter(**where)
    for name in _listed(algorithms):
        lost = [entry.unavailable for entry in select(collection, [name], keep).values()]
        if lost and all(lost):
            raise ArcadeMarkError(f"catalogue: the scores of {name!r} are not available: {lost[0]}")
    return table(
        select(collection, None if algorithms is None else _listed(algorithms), keep), as_published=as_published
    )


def table(found: Mapping[str, Entry], *, as_published: bool = False) -> ScoreTable:
    """Return the scores of entries as a table with the given names; see `load`."""
    scored = {name: entry for name, entry in found.items() if not entry.unavailable}
    if not scored:
        raise ArcadeMarkError("catalogue: no algorithm matches all filters; 'arcademark catalogue list' shows them")
    published = [scores_of(entry, as_published=as_published) for entry in scored.values()]
    present = {task for results in published for task in results}
    columns = {task: column for column, task in enumerate(in_order(present))}
    runs = max(len(result.per_run) or 1 for results in published for result in results.values())
    scores = np.full((len(scored), len(columns), runs), np.nan)
    for row, results in enumerate(published):
        for task, result in results.items():
            own = result.per_run or (result.score,)
            scores[row, columns[task], : len(own)] = own
    return ScoreTable(
        tuple(scored),
        tuple(columns),
        scores,
        tuple(entry.protocol for entry in scored.values()),
        tuple(citation(entry) for entry in scored.values()),
    )


def citation(entry: Entry) -> str:
    """Return the citation of an entry: the publication of its scores, their table, and the copy they were read in."""
    place = f"{entry.source.short}, {entry.table}"
    if entry.paper is not None and entry.paper != entry.source:
        place = f"{entry.paper.short}, as given in {place}"
    return f"{place}; read at second hand in {entry.read_in}" if entry.hand == "second" else place


def in_order(games: Collection[str]) -> tuple[str, ...]:
    """Sort games in the order of the first suite that has all of them; else those of atari-57 first, then by name."""
    orders = [suite.tasks for suite in tasks.suites().values()]
    order = next((order for order in orders if set(games) <= set(order)), orders[0])
    return (*(game for game in order if game in games), *sorted(set(games) - set(order)))


def _chosen(collection: Names | None) -> tuple[str, ...]:
    known = collections()
    if collection is None:
        return known
    for name in _listed(collection):
        if name not in known:
            raise UnknownNameError("collection", name, known)
    return tuple(dict.fromkeys(_listed(collection)))


def _named(chosen: Sequence[str]) -> dict[str, Entry]:
    """Return the entries of collections by name, with the source in brackets where two share a name."""
    result = [entry for name in chosen for entry in entries(name)]
    shared = Counter(entry.algorithm for entry in result)
    same_source = Counter((entry.algorithm, entry.source.key) for entry in result)
    named = {}
    for entry in result:
        alone = same_source[entry.algorithm, entry.source.key] == 1
        name = entry.qualified if alone else f"{entry.algorithm} ({entry.collection})"
        named[name if shared[entry.algorithm] > 1 else entry.algorithm] = entry
    return named


def _matching(wanted: str, named: Mapping[str, Entry]) -> tuple[str, ...]:
    """Return the names in the table that match a name, ignoring case."""
    key = wanted.strip().lower()
    exact = tuple(name for name in named if name.lower() == key)
    result = exact or tuple(name for name, entry in named.items() if entry.algorithm.lower() == key)
    if not result:
        raise UnknownNameError("algorithm", wanted, [*named, *(entry.algorithm for entry in named.values())])
    return result


@cache
def _by_entry(collection: str, as_published: bool) -> Mapping[str, Mapping[str, Result]]:
    found: dict[str, dict[str, Result]] = {algorithm: {} for algorithm in reading.read_entries(collection)}
    for result in results(collection, as_published=as_published):
        found[result.entry.algorithm][result.task] = result
    return found


def _listed(names: Names | Iterable[str] | None) -> tuple[str, ...]:
    return () if names is None else (names,) if isinstance(names, str) else tuple(names)


def _kinds(names: Names) -> tuple[str, ...]:
    return tuple(kind for name in _listed(names) for kind in (MODEL_FREE if name == "model-free" else (name,)))


def _between(value: int | None, low: int | None, high: int | None) -> bool:
    if low is None and high is None:
        return True
    return value is not None and (low is None or value >= low) and (high is None or value <= high)
