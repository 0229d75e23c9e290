"""How much an agent loses where the game is changed: runs of variants against one of the protocol itself.

What is lost on a game is its score under the protocol less the mean of its scores in the variants of a kind, in percent
of the way from random play to the human average (HNS). Games count alike. Intervals are bootstraps
(`arcademark.metrics.uncertainty.intervals`): over what is lost by the seeds of a game, where each is one trained agent
in all
variants; of an only one, and of agents that were never trained, over episodes, each game and variant being a stratum of
its own. Where the same actions were
played under other colours, the episodes are the protocol's own, and nothing is lost.
"""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from arcademark.errors import ArcadeMarkError
from arcademark.metrics.uncertainty import intervals
from arcademark.reports.measures import Measure, atari
from arcademark.reports.record import Value
from arcademark.runs.playing.networks import learnt_in
from arcademark.runs.store import manifest
from arcademark.runs.store.reading import read_actions
from arcademark.scores.runs import RunScores, load_run, pooled
from arcademark.suite.protocols import AtariProtocol, Difference, differences
from arcademark.suite.variants import KINDS, Kind, kind_of, variants

BASE = "base"
"""The directory of the run under the protocol itself, beside those of the variants."""

MOST_RUNS = 1000
_Scores = Mapping[int, NDArray[np.float64]]
"""Of episodes, by seed."""
_Cell = tuple[str, str]  # game, variant's directory


@dataclass(frozen=True)
class Lost:
    """What is lost, in percent of HNS, with its 95 % interval; None where a reference, or what varies, is missing."""

    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Variant:
    """A game played in a variant.

    changed: What differs from the protocol, {"frame_skip": 8}.
    base, score: Mean score under the protocol and in the variant, in points.
    same: Whether its episodes are those of the protocol, as colours alone are changed and all actions are the same.
    """

    game: str
    kind: Kind
    changed: Mapping[str, Value]
    directory: str
    base: float
    score: float
    lost: Lost
    same: bool
    episodes: int


@dataclass(frozen=True)
class OfKind:
    """All variants of a kind: the mean over games of what is lost.

    games: Those that have a score in a variant, and both references.
    """

    kind: Kind
    games: tuple[str, ...]
    variants: int
    lost: Lost


@dataclass(frozen=True)
class Fewer:
    """A kind of change of which a game was played in fewer variants than others, and of how many it has."""

    game: str
    kind: Kind
    played: int
    exist: int


@dataclass(frozen=True)
class Failed:
    """A trial that failed: its game, its variant's directory, and why."""

    game: str
    directory: str
    reason: str


@dataclass(frozen=True)
class Robustness:
    """How much an agent loses by each kind of change.

    base: Mean over games under the protocol, in percent of HNS; None where no game has both references.
    overall: Mean over the kinds.
    one_seed: Whether intervals are over the episodes of one training, which leave out how trainings differ.
    trained: Whether the agent learns; it was trained under the protocol, and no more in the variants.
    unreferenced: Games without both references, in no mean.
    failed: Trials that failed, and why.
    incomplete: Other trials with fewer episodes than were asked for, in all runs.
    unmatched: Trials that are left out, as a run lacks their seed.
    """

    SCHEMA: ClassVar[str] = "arcademark.robustness/2"
    directory: str
    agent: str
    protocol: str
    games: tuple[str, ...]
    base: float | None
    overall: Lost
    kinds: tuple[OfKind, ...]
    variants: tuple[Variant, ...]
    fewer: tuple[Fewer, ...]
    unreferenced: tuple[str, ...]
    one_seed: bool
    trained: bool
    failed: tuple[Failed, ...]
    incomplete: int
    unmatched: int


def robustness(directory: str | os.PathLike[str]) -> Robustness:
    """Set the runs of a directory against each other.

    Raises
    ------
    ArcadeMarkError
        Where there is no run under the protocol itself, it has no score, or a run beside it is not one of its variants.
    """
    path = Path(directory)
    base = load_run(path / BASE)
    (agent,), rules = _agents(base), base.record.protocol
    if not isinstance(rules, AtariProtocol):
        raise ArcadeMarkError(f"{path / BASE}: is not of Atari games, which alone have variants")
    scored = tuple(game for game in base.table.tasks if (agent, game) in base.episodes)
    if not scored:
        raise ArcadeMarkError(f"{path / BASE}: no game has a score yet; play on with the same command")
    runs = {name: load_run(path / name) for name in _beside(path)}
    kinds = {name: _kind(path / name, base, run) for name, run in runs.items()}
    changes = {name: differences(rules, run.record.protocol) for name, run in runs.items()}
    runs = {name: runs[name] for name in sorted(runs, key=lambda name: _strength(changes[name]))}
    trained = any(trial.learns for trial in base.record.trials)
    kept = _kept(path / BASE, base)
    for name, run in runs.items():
        if trained and any(trial.learns for trial in run.record.trials):
            raise ArcadeMarkError(f"{path / name}: its agent was trained there anew, not in {BASE}; move it elsewhere")
        if any(kept.get(trial) != digest for trial, digest in _checkpoints(run).items() if trial in kept or trained):
            raise ArcadeMarkError(f"{path / name}: what plays there is not what {BASE} has now; move it elsewhere")
    cells = [
        (game, name)
        for kind in KINDS
        for name in runs
        if kinds[name] == kind
        for game in runs[name].table.tasks
        if game in scored and (agent, game) in runs[name].episodes
    ]
    measure = atari()["hns"]
    every = {(game, BASE): _scores(base, agent, game) for game in scored}
    every |= {(game, name): _scores(runs[name], agent, game) for game, name in cells}
    seeds = {
        game: sorted(set.intersection(*(set(scores) for (of, _), scores in every.items() if of == game)))
        for game in scored
    }
    if apart := [game for game in scored if not seeds[game]]:
        raise ArcadeMarkError(f"{path}: on {apart[0]} the runs have no seed in common; give the same command again")
    matched = {cell: {seed: scores[seed] for seed in seeds[cell[0]]} for cell, scores in every.items()}
    same = {
        (game, name): kinds[name] == "colours"
        and _actions(base, agent, game, seeds[game]) == _actions(runs[name], agent, game, seeds[game])
        for game, name in cells
    }
    short = [(name, trial) for name, run in ((BASE, base), *runs.items()) for trial in run.incomplete]
    by_seed = agent in base.apart
    losses = _Losses(
        by_seed,
        {game: matched[game, BASE] for game in scored},
        {cell: matched[cell] for cell in cells if not same[cell]},
        measure,
    )
    of_kinds = [_of_kind(kind, [cell for cell in cells if kinds[cell[1]] == kind], losses) for kind in KINDS]
    known = [game for game in scored if game in measure.known]
    played = Counter((game, kinds[name]) for game, name in cells)
    of_which = {kind for _, kind in played}
    points = {cell: intervals.score(pooled([*scores.values()], apart=by_seed)) for cell, scores in matched.items()}
    return Robustness(
        directory=str(path),
        agent=agent,
        protocol=rules.label,
        games=scored,
        base=float(measure.line([points[game, BASE] for game in known], known).mean()) if known else None,
        overall=losses.lost([[cell for cell in cells if kinds[cell[1]] == kind] for kind in KINDS]),
        kinds=tuple(kind for kind in of_kinds if kind.variants),
        variants=tuple(
            Variant(
                game=game,
                kind=kinds[name],
                changed={change.setting: change.b for change in changes[name]},
                directory=name,
                base=points[game, BASE],
                score=points[game, name],
                lost=losses.lost([[(game, name)]]),
                same=same[game, name],
                episodes=sum(map(len, matched[game, name].values())),
            )
            for game, name in sorted(cells, key=lambda cell: scored.index(cell[0]))
        ),
        fewer=tuple(
            Fewer(game, kind, played[game, kind], len(variants(kind, game, rules)))
            for kind in KINDS
            for game in scored
            if played[game, kind] < max(played.values(), default=1) and (len(of_which) > 1 or kind in of_which)
        ),
        unreferenced=tuple(game for game in scored if game not in measure.known),
        one_seed=by_seed and any(len(found) == 1 for found in seeds.values()),
        trained=trained,
        failed=tuple(Failed(trial.task, name, trial.error) for name, trial in short if trial.error is not None),
        incomplete=sum(trial.error is None for _, trial in short),
        unmatched=sum(len(scores) - len(matched[cell]) for cell, scores in every.items()),
    )


class _Losses:
    """What is lost, of scores under the protocol by game, and in variants by game and variant.

    Seeds are `apart` where each is a training of its own.
    """

    def __init__(
        self, apart: bool, base: Mapping[str, _Scores], varied: Mapping[_Cell, _Scores], measure: Measure
    ) -> None:
        self._apart, self._base, self._varied, self._measure = apart, base, varied, measure

    def known(self, cells: Sequence[_Cell]) -> tuple[str, ...]:
        """Return the games of some variants that have both references."""
        return tuple(dict.fromkeys(game for game, _ in cells if game in self._measure.known))

    def lost(self, groups: Sequence[Sequence[_Cell]]) -> Lost:
        """Return the mean over groups of variants, of games, of the variants of a game."""
        groups = [known for group in groups if (known := [cell for cell in group if self.known([cell])])]
        weights: dict[tuple[str, ...], float] = {}
        for group in groups:
            games = self.known(group)
            for game, name in group:
                span = self._measure.high[game] - self._measure.low[game]
                share = 100 / span / len(groups) / len(games) / sum(of == game for of, _ in group)
                if (game, name) in self._varied:  # else its episodes are those of the protocol
                    weights[game,] = weights.get((game,), 0.0) + share
                    weights[game, name] = weights.get((game, name), 0.0) - share
        if not weights:
            return Lost(0.0 if groups else None, None, None)
        strata: dict[str, list[NDArray[np.float64]]] = {}
        by_seed: dict[str, NDArray[np.float64]] = {}
        for key, weight in weights.items():
            seeds = self._base[key[0]] if len(key) == 1 else self._varied[key[0], key[1]]
            scores = pooled([*seeds.values()], apart=self._apart)
            if len(scores) == 1:
                strata["/".join(key)] = [weight * scores[0]]
            else:
                by_seed[key[0]] = by_seed.get(key[0], 0.0) + weight * np.array([found.mean() for found in scores])
        strata |= {game: [*lost[:, None]] for game, lost in by_seed.items()}
        found = intervals.interval(
            strata,
            lambda scores: np.asarray(scores.sum(-1)),
            np.random.default_rng(0),
        )
        if found.low is None or found.high is None or math.isclose(found.low, found.high, abs_tol=1e-9):
            return Lost(found.value, None, None)
        return Lost(found.value, found.low, found.high)


def _of_kind(kind: Kind, cells: Sequence[_Cell], losses: _Losses) -> OfKind:
    return OfKind(kind, losses.known(cells), len(cells), losses.lost([cells]))


def _strength(changes: Sequence[Difference]) -> list[tuple[str, bool, object]]:
    """Return what orders variants of a kind: by settings, and of these from small to large."""
    return [(change.setting, change.b is not None, change.b) for change in changes]


def _agents(run: RunScores) -> tuple[str, ...]:
    if len(run.table.algorithms) != 1:
        raise ArcadeMarkError(f"{run.record.directory}: {len(run.table.algorithms)} agents; expected the run of one")
    return run.table.algorithms


def _beside(path: Path) -> list[str]:
    """Return the runs of variants, "frame_skip=8", beside that of the protocol itself."""
    found = sorted(entry.name for entry in path.iterdir() if "=" in entry.name and (entry / manifest.FILE).is_file())
    if len(found) > MOST_RUNS:
        raise ArcadeMarkError(f"{path}: {len(found):,} runs; expected {MOST_RUNS:,} at most")
    return found


def _kind(path: Path, base: RunScores, run: RunScores) -> Kind:
    if _agents(run) != _agents(base):
        raise ArcadeMarkError(f"{path}: its agent is {_agents(run)[0]}, not {_agents(base)[0]}; move it elsewhere")
    kind = kind_of(base.record.protocol, run.record.protocol)
    if kind is None:
        raise ArcadeMarkError(
            f"{path}: its protocol is not changed in one of {', '.join(KINDS)} from that of {BASE}; move it elsewhere"
        )
    return kind


def _checkpoints(run: RunScores) -> Mapping[str, str]:
    """Return the SHA-256 of what plays that was trained elsewhere, by game and seed, "pong 0"."""
    return {
        trial: digest for one in run.record.manifest["agents"] for trial, digest in one.get("checkpoints", {}).items()
    }


def _kept(path: Path, base: RunScores) -> Mapping[str, str]:
    """Return the SHA-256 of what plays under the protocol itself, as `_checkpoints`, trained there or elsewhere."""
    learnt = {f"{game} {seed}": one.sha256 for (_, game, seed), one in learnt_in(path).items() if one is not None}
    return {**_checkpoints(base), **learnt}


def _scores(run: RunScores, agent: str, game: str) -> _Scores:
    """Return the scores of each seed's scored episodes; without those that have none."""
    mine = (trial for trial in run.record.trials if (trial.agent, trial.game) == (agent, game))
    found = {trial.seed: run.record.scored_episodes(trial).score for trial in mine}
    return {seed: scores for seed, scores in found.items() if scores.size}


def _actions(run: RunScores, agent: str, game: str, seeds: Sequence[int]) -> list[tuple[int, list[bytes]]]:
    """Return the actions of each seed's scored episodes."""
    found = []
    for trial in run.record.trials:
        if (trial.agent, trial.game) == (agent, game) and trial.seed in seeds:
            rows = run.record.scored_episodes(trial)
            found.append(
                (
                    trial.seed,
                    [read_actions(run.record.directory, trial.id, row.episode, row.phase).tobytes() for row in rows],
                )
            )
    return sorted(found)
