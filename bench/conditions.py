"""Test if conditions of play matter to predictions: sticky actions, the frame cap, and the start of episodes.

::

    python bench/conditions.py                                 # takes minutes
    python bench/conditions.py --write docs/research/conditions.md   # writes the table into this page

Atari-5 (Aitchison et al. 2023, §8.1) says that stochastic and deterministic variants of its data "do not seem to make a
significant difference", and that another frame cap could. Here algorithms of one condition are predicted from the same
games by the distribution (`arcademark.subset.predict.joint`) fitted to algorithms of the other condition, without their
paper; and by distributions fitted to as many algorithms of any condition, drawn from all other papers. Both errors are
of the same algorithms and are compared in pairs; each paper has the same weight, intervals are Student's over papers.

An algorithm's condition is known from its entry's protocol and settings, or those of another entry of the same
algorithm and paper; before 2018 there were no sticky actions (Machado et al. 2018). Algorithms of unknown condition are
in neither group, but can be drawn.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Mapping
from math import log, sqrt
from pathlib import Path

import numpy as np
from scipy.special import stdtrit

from arcademark.analysis.subsets import predictors
from arcademark.catalogue import collections
from arcademark.catalogue.model import Entry
from arcademark.subset.predict import calibration
from arcademark.subset.predict.any_tasks import MEDIAN
from arcademark.subset.predict.joint import Joint, fit_joint
from arcademark.subset.problem import log10_score
from arcademark.suite import protocols
from arcademark.suite.subsets import resolve_tasks
from estimates import put

SUBSETS = ("atari-5", "atari-10", "atari-14")
DRAWS, SEED, FEWEST, SINCE_STICKY = 10, 7, 10, 2018
BEGIN = "<!-- bench/conditions.py -->"
CONDITIONS = {
    "sticky": ("sticky actions", "none"),
    "cap": ("a cap of 18,000 frames", "108,000"),
    "starts": ("human starts", "no-ops"),
}


def conditions(entry: Entry) -> Mapping[str, int | None]:
    """Return the index of an entry's value of each of `CONDITIONS`, or None if it is unknown."""
    rules, settings = protocols.protocols().get(entry.protocol), entry.settings
    sticky = _sticky(entry)
    if sticky is None:
        same = (
            one for one in collections.select().values() if (one.identity, one.origin) == (entry.identity, entry.origin)
        )
        sticky = next((known for one in same if (known := _sticky(one)) is not None), None)
    if sticky is None and entry.year < SINCE_STICKY:
        sticky = 0.0
    length = str(settings.get("max episode length", ""))
    minutes, cap = re.match(r"(\d+) min", length), re.match(r"([\d,]+) frames", length)
    frames = int(minutes[1]) * 3600 if minutes else int(cap[1].replace(",", "")) if cap else None
    frames = frames or (rules.max_frames_per_episode if rules else None)
    start = str(settings.get("start", entry.protocol))
    return {
        "sticky": None if sticky is None else int(sticky == 0),
        "cap": {18_000: 0, 108_000: 1}.get(frames or 0),
        "starts": 0 if "human" in start else 1 if "no-ops" in start or "noop" in start else None,
    }


def _sticky(entry: Entry) -> float | None:
    rules = protocols.protocols().get(entry.protocol)
    known = entry.settings.get("sticky actions", rules.repeat_action_probability if rules else None)
    return None if known is None else float(known)


class Scores:
    """Transformed scores of the algorithms that predictions are learnt from, and their conditions."""

    def __init__(self) -> None:
        trained = predictors.atari().trained
        self.start, self.tasks = trained.joint, trained.joint.tasks
        entries = collections.select()
        rows = np.flatnonzero(trained.fitted)
        self.trained, self.percent = trained, trained.percent[rows]
        self.logs = log10_score(self.percent)
        self.papers = np.array([trained.groups[row] for row in rows])
        held = [conditions(entries[trained.algorithms[row]]) for row in rows]
        self.values = {name: np.array([-1 if one[name] is None else one[name] for one in held]) for name in CONDITIONS}

    def usable(self, rows: np.ndarray) -> np.ndarray:
        """Return a mask of the games on which at least five of these algorithms have scores, not all equal."""
        some = self.logs[rows]
        return np.asarray((np.isfinite(some).sum(axis=0) >= 5) & (np.nanmax(some, axis=0) > np.nanmin(some, axis=0)))

    def errors(self, rows: np.ndarray, columns: np.ndarray, of: np.ndarray, games: np.ndarray) -> np.ndarray:
        """Return ln((estimate + 1) / (truth + 1)) of the algorithms ``of``, learnt from those in ``rows``."""
        names = [task for task, one in zip(self.tasks, columns, strict=True) if one]
        at = np.flatnonzero(columns)
        start = Joint(tuple(names), self.start.mean[at], self.start.covariance[np.ix_(at, at)], np.eye(len(at)), 0)
        joint = fit_joint(self.logs[np.ix_(rows, at)], names, start)
        result, noise = np.full(len(of), np.nan), predictors.noise(len(at))
        for place, row in enumerate(of):
            percent = self.percent[row, at]
            has_score = np.isfinite(percent)
            if not (known := has_score & games[at]).any():
                continue
            drawn = calibration.draw(self.trained, joint, percent[np.newaxis], known, (MEDIAN,), noise[::4], has_score)
            estimate, _ = drawn.estimates(self.trained, MEDIAN)
            result[place] = log(10) * float(estimate[0] - log10_score(np.median(percent[has_score])))
        return result


def compared(scores: Scores, condition: str, target: int, rng: np.random.Generator) -> Iterator[tuple[str, ...]]:
    """Yield one row per subset, for algorithms of one value of a condition predicted from those of the other."""
    values = scores.values[condition]
    others, papers = values == 1 - target, list(dict.fromkeys(scores.papers[values == target]))
    if others.sum() < FEWEST:
        return
    without = {paper: np.flatnonzero(others & (scores.papers != paper)) for paper in papers}
    columns = np.all([scores.usable(rows) for rows in without.values()], axis=0)
    found: dict[str, list[tuple[float, ...]]] = {name: [] for name in SUBSETS}
    for paper, rows in without.items():
        of = np.flatnonzero((values == target) & (scores.papers == paper))
        free = np.flatnonzero(scores.papers != paper)
        drawn: list[np.ndarray] = []
        while len(drawn) < DRAWS:
            some = np.sort(rng.choice(free, len(rows), replace=False))
            if scores.usable(some)[columns].all():
                drawn.append(some)
        for name in SUBSETS:
            games = np.isin(scores.tasks, resolve_tasks(name))
            own = scores.errors(rows, columns, of, games)
            mixed = np.array([scores.errors(some, columns, of, games) for some in drawn])
            kept = np.isfinite(own)
            if kept.any():
                some, any_of = own[kept], mixed[:, kept]
                sizes = float(np.mean(np.abs(some))), float(np.mean(np.abs(any_of)))
                found[name].append((int(kept.sum()), *sizes, float(np.mean(some)), float(np.mean(any_of))))
    names = CONDITIONS[condition]
    for name, parts in found.items():
        n, own, mixed, signed, mixed_signed = np.array(parts).T
        difference = own - mixed
        reach = float(stdtrit(len(difference) - 1, 0.95)) * np.std(difference, ddof=1) / sqrt(len(difference))
        yield (
            f"{names[target]}, from {names[1 - target]}",
            name,
            f"{int(n.sum())} ({len(n)})",
            *(f"{100 * np.mean(part):.1f}" for part in (own, mixed)),
            "{:+.1f} ({:+.1f} to {:+.1f})".format(*(100 * (np.mean(difference) + by) for by in (0.0, -reach, reach))),
            *(f"{100 * np.mean(part):+.1f}" for part in (signed, mixed_signed)),
        )


def lines() -> Iterator[str]:
    """Yield the table."""
    scores, rng = Scores(), np.random.default_rng(SEED)
    heads = (
        "predicted, fitted to",
        "games",
        "n (papers)",
        "error",
        "any condition",
        "difference (90 %)",
        "signed error",
        "any condition",
    )
    yield f"| {' | '.join(heads)} |"
    yield "|---" * len(heads) + "|"
    for condition in CONDITIONS:
        for target in (0, 1):
            for row in compared(scores, condition, target, rng):
                yield f"| {' | '.join(row)} |"


def main() -> None:
    """Print or write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", type=Path, help="page with the table's marks")
    put(lines(), BEGIN, parser.parse_args().write)


if __name__ == "__main__":
    main()
