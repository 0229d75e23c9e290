"""What is shown of the catalogue: its entries with their scores and HNS, as documents and as CSV.

HNS is in percent, with the random and human scores of the suite "atari-57", and None on games that are not in it.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from arcademark.catalogue import collections
from arcademark.catalogue.check import Check
from arcademark.catalogue.model import Entry, Erratum, Result, Source
from arcademark.metrics.aggregate import mean, median
from arcademark.metrics.normalise import hns
from arcademark.scores.formulas import escaped
from arcademark.suite import references, tasks

SCHEMA = "arcademark.catalogue/1"

LONG_COLUMNS = (
    *("algorithm", "game", "score", "uncertainty", "uncertainty_kind", "runs", "note"),
    *("collection", "kind", "training_frames", "protocol", "reported", "published_by", "year", "source", "table"),
    *("hand", "read_in", "same_as", "as_published"),
)
"""Columns of the long CSV: a row a score."""


@dataclass(frozen=True)
class ScoreLine:
    """One score with what it is worth.

    Parameters
    ----------
    result : Result
    name : str
        The game's title.
    random, human : float or None
        The references, in game points; None on games that are not in atari-57.
    hns : float or None
        In percent.
    """

    result: Result
    name: str
    random: float | None
    human: float | None
    hns: float | None


@dataclass(frozen=True)
class Scored:
    """An entry with all its scores.

    Parameters
    ----------
    name : str
        What it goes by among those shown.
    entry : Entry
    lines : tuple of ScoreLine
        In a suite's order; empty where the scores are lost.
    mean_hns, median_hns : float or None
        Over the games that have one, in percent; None where none has.
    """

    name: str
    entry: Entry
    lines: tuple[ScoreLine, ...]
    mean_hns: float | None
    median_hns: float | None

    @property
    def hns_games(self) -> int:
        """Games that mean and median are over."""
        return sum(1 for line in self.lines if line.hns is not None)


def scored(found: Mapping[str, Entry]) -> tuple[Scored, ...]:
    """Put entries together with their scores.

    Parameters
    ----------
    found : mapping of str to Entry
        As `arcademark.catalogue.collections.select` gives them.
    """
    return tuple(_scored(name, entry) for name, entry in found.items())


def document(found: Mapping[str, Entry]) -> dict[str, Any]:
    """Return entries with their scores as a JSON document."""
    return {"schema": SCHEMA, "algorithms": [_whole(item) for item in scored(found)]}


def listing(found: Mapping[str, Entry]) -> dict[str, Any]:
    """Return entries without their scores as a JSON document."""
    return {"schema": SCHEMA, "algorithms": [entry_document(name, entry) for name, entry in found.items()]}


def entry_document(name: str, entry: Entry) -> dict[str, Any]:
    """Return all that is known of an entry but its scores."""
    return {
        "name": name,
        "collection": entry.collection,
        "algorithm": entry.algorithm,
        "same_as": entry.same_as or None,
        "kind": entry.kind,
        "year": entry.year,
        "published_by": None if entry.paper is None else source_document(entry.paper),
        "source": source_document(entry.source),
        "table": entry.table,
        "citation": collections.citation(entry),
        "hand": entry.hand,
        "read_in": entry.read_in,
        "training_frames": entry.training_frames,
        "protocol": entry.protocol or None,
        "reported": entry.reported,
        "settings": dict(entry.settings),
        "assumed": list(entry.assumed),
        "games": len(collections.scores_of(entry)),
        "unavailable": entry.unavailable or None,
        "note": entry.note,
    }


def source_document(source: Source) -> dict[str, Any]:
    """Return a paper's particulars."""
    return {
        "key": source.key,
        "authors": source.authors,
        "title": source.title,
        "venue": source.venue,
        "year": source.year,
    }


def check_document(found: Check) -> dict[str, Any]:
    """Return what a check found as a JSON document."""
    return {
        "schema": SCHEMA,
        "ok": not found.findings,
        "findings": [vars(finding) for finding in found.findings],
        "collections": [vars(count) for count in found.counts],
        "files": found.files,
        "sources": found.sources,
        "printed_cells": found.printed_cells,
        "errata": found.errata,
        "disagreements": found.disagreements,
    }


def errata_document(slips: Sequence[Erratum]) -> dict[str, Any]:
    """Return errata as a JSON document."""
    shown = [vars(slip) | {"place": None if slip.place is None else vars(slip.place)} for slip in slips]
    return {"schema": SCHEMA, "errata": shown}


def long_csv(found: Mapping[str, Entry]) -> str:
    """Return the scores as CSV, a row a score, which the readers of score tables understand."""
    rows = [_long_row(item, line.result) for item in scored(found) for line in item.lines]
    return _csv([LONG_COLUMNS, *rows])


def wide_csv(found: Mapping[str, Entry]) -> str:
    """Return the scores as CSV, a row a game and a column an algorithm; empty where there is no score."""
    shown = [item for item in scored(found) if item.lines]
    by_game = [{line.result.task: line.result.score for line in item.lines} for item in shown]
    games = collections.in_order({game for scores in by_game for game in scores})
    rows = [[game, *(_number(scores.get(game)) for scores in by_game)] for game in games]
    return _csv([["game", *(item.name for item in shown)], *rows])


def _scored(name: str, entry: Entry) -> Scored:
    results = collections.scores_of(entry)
    low, high = references.scores("random"), references.scores("human")
    order = collections.in_order(results)
    anchored = [game for game in order if game in low]
    values = hns([results[game].score for game in anchored], low, high, anchored)
    worth = dict(zip(anchored, values.tolist(), strict=True))
    lines = tuple(
        ScoreLine(results[game], tasks.games()[game].name, low.get(game), high.get(game), worth.get(game))
        for game in order
    )
    if not anchored:
        return Scored(name, entry, lines, None, None)
    return Scored(name, entry, lines, float(np.asarray(mean(values))), float(np.asarray(median(values))))


def _whole(item: Scored) -> dict[str, Any]:
    return entry_document(item.name, item.entry) | {
        "mean_hns": item.mean_hns,
        "median_hns": item.median_hns,
        "scores": [
            {
                "game": line.result.task,
                "score": line.result.score,
                "hns": line.hns,
                "uncertainty": line.result.uncertainty,
                "uncertainty_kind": line.result.uncertainty_kind,
                "runs": line.result.runs,
                "note": line.result.note,
                "as_published": line.result.as_published,
            }
            for line in item.lines
        ],
    }


def _long_row(item: Scored, result: Result) -> list[str]:
    entry = item.entry
    return [
        item.name,
        result.task,
        _number(result.score),
        _number(result.uncertainty),
        result.uncertainty_kind,
        "" if result.runs is None else str(result.runs),
        result.note,
        entry.collection,
        entry.kind,
        "" if entry.training_frames is None else str(entry.training_frames),
        entry.protocol,
        entry.reported,
        "" if entry.paper is None else entry.paper.short,
        str(entry.year),
        entry.source.short,
        entry.table,
        entry.hand,
        entry.read_in,
        entry.same_as,
        _number(result.as_published),
    ]


def _number(value: float | None) -> str:
    return "" if value is None else repr(float(value)).removesuffix(".0")


def _csv(rows: list[Any]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(map(escaped, row) for row in rows)
    return text.getvalue()
