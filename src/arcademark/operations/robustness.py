"""Losses of an agent in changed games: runs of variants compared with one under the protocol itself.

The loss on a game is its score under the protocol minus the mean of its scores in the variants of a kind, in percent of
the human-normalised score (HNS). Games have equal weights. Intervals are bootstraps
(`arcademark.metrics.uncertainty.intervals`): over the losses of a game's seeds, if each is one trained agent in all
variants; for a single seed, and for untrained agents, over episodes, with each game and variant as a stratum. If the
same actions were played under other colours, the episodes are the protocol's own, and the loss is 0.
"""

from __future__ import annotations

import math
import os
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from arcademark import wording
from arcademark.analysis.measures import Measure, atari
from arcademark.analysis.settings import Value
from arcademark.analysis.uncertainty import Statistic
from arcademark.errors import ArcadeMarkError
from arcademark.metrics.uncertainty import intervals
from arcademark.records import manifest
from arcademark.records.model import RunRecord
from arcademark.records.reading import read_actions
from arcademark.runs.playing.networks import learnt_in
from arcademark.scores.runs import RunScores, load_run, pooled
from arcademark.suite.protocols import AtariProtocol, differences
from arcademark.suite.settings import format_setting
from arcademark.suite.tasks import game_name
from arcademark.suite.variants import KINDS, Kind, kind_of, variants

BASE = "base"
"""Directory of the run under the protocol itself, next to those of the variants."""

TITLES: Mapping[Kind, str] = {
    "switches": "difficulty or mode",
    "sticky_actions": "sticky actions",
    "frame_skip": "frame skip",
    "colours": "colours",
    "modification": "modified game",
}
SETTINGS = {"repeat_action_probability": "sticky", "frame_skip": "frame skip"}
_Cell = tuple[str, str]  # game, run's directory
_Scores = Mapping[int, NDArray[np.float64]]
"""Scores of episodes, by seed."""


@dataclass(frozen=True)
class Variant:
    """A game played in a variant.

    changed: Changed settings of the protocol, {"frame_skip": 8}.
    base, score: Mean score under the protocol and in the variant, in points.
    lost: Loss, in percent of HNS; None if a reference is missing, without an interval if nothing varies.
    same: Whether its episodes are those of the protocol, as only colours are changed and all actions are the same.
    """

    game: str
    kind: Kind
    changed: Mapping[str, Value]
    directory: str
    base: float
    score: float
    lost: Statistic
    same: bool
    episodes: int

    @property
    def change(self) -> str:
        """The change in words."""
        written = {setting: format_setting(value) for setting, value in self.changed.items()}
        if self.kind == "modification":
            return ", ".join(written.values()).replace("_", " ")
        return ", ".join(f"{SETTINGS.get(setting, setting)} {value}" for setting, value in written.items())


@dataclass(frozen=True)
class OfKind:
    """All variants of a kind, with the mean loss over games.

    games: Games with a score in a variant, and both references.
    """

    kind: Kind
    games: tuple[str, ...]
    variants: int
    lost: Statistic


@dataclass(frozen=True)
class Fewer:
    """A kind of change with fewer variants played of a game than of others, and the number that exist."""

    game: str
    kind: Kind
    played: int
    exist: int


@dataclass(frozen=True)
class FailedVariant:
    """A failed trial: its game, its variant's directory, and the reason."""

    game: str
    directory: str
    reason: str


@dataclass(frozen=True)
class Robustness:
    """Losses of an agent by each kind of change.

    base: Mean over games under the protocol, in percent of HNS; None if no game has both references.
    overall: Mean over the kinds.
    by_seed: Whether intervals are over seeds, each a separate training, or over the episodes of all seeds.
    one_seed: Whether intervals are over the episodes of one training on a game, without the variation of trainings.
    one_seed_games: Games with a single training.
    trained: Whether the agent learns; it was trained under the protocol only.
    unreferenced: Games without both references, which are in no mean.
    failed: Failed trials, with reasons.
    incomplete: Other trials with fewer episodes than requested, in all runs.
    unmatched: Trials that are left out, as a run lacks their seed.
    """

    SCHEMA: ClassVar[str] = "arcademark.robustness/2"
    directory: str
    agent: str
    protocol: str
    games: tuple[str, ...]
    base: float | None
    overall: Statistic
    kinds: tuple[OfKind, ...]
    variants: tuple[Variant, ...]
    fewer: tuple[Fewer, ...]
    unreferenced: tuple[str, ...]
    one_seed: bool
    one_seed_games: tuple[str, ...]
    by_seed: bool
    trained: bool
    failed: tuple[FailedVariant, ...]
    incomplete: int
    unmatched: int

    @property
    def placed(self) -> int:
        """Number of games with both references."""
        return len(self.games) - len(self.unreferenced)

    @property
    def by_kind(self) -> list[tuple[str, Statistic, str | int, str | int]]:
        """Loss by each kind of change, with its numbers of games and variants; then the mean."""
        rows = ((TITLES[row.kind], row.lost, len(row.games), row.variants) for row in self.kinds)
        return [*rows, ("mean of these", self.overall, "", "")]

    @property
    def few(self) -> Mapping[tuple[str, int, int], list[str]]:
        """Games played in fewer variants, by the kind of change and the numbers played and existing."""
        alike = defaultdict[tuple[str, int, int], list[str]](list)
        for row in self.fewer:
            alike[TITLES[row.kind], row.played, row.exist].append(game_name(row.game))
        return alike

    @property
    def failures(self) -> list[tuple[str, FailedVariant]]:
        """Failed trials with the names of their games."""
        return [(game_name(trial.game), trial) for trial in self.failed]

    @property
    def over(self) -> str:
        """Units that intervals are over, in words."""
        if not self.by_seed:
            return "the episodes of all seeds"
        if len(self.one_seed_games) == len(self.games):
            return "the episodes of the only seed"
        alone = wording.shortened(map(game_name, self.one_seed_games))
        return f"seeds{alone and f'; on {alone}, with one seed, over its episodes'}"

    @property
    def unplaced(self) -> tuple[str, ...]:
        """Names of the games without both references."""
        return tuple(map(game_name, self.unreferenced))


def robustness(directory: str | os.PathLike[str]) -> Robustness:
    """Compare the runs of variants in a directory with the one under the protocol.

    Raises
    ------
    ArcadeMarkError
        If there is no run under the protocol itself, it has no score, or a run next to it is not one of its variants.
    """
    path = Path(directory)
    base = load_run(path / BASE)
    agent, rules = _agent(base), base.record.protocol
    if not isinstance(rules, AtariProtocol):
        raise ArcadeMarkError(f"{path / BASE}: is not a run of Atari games; only these have variants")
    games = tuple(game for game in base.table.tasks if (agent, game) in base.episodes)
    if not games:
        raise ArcadeMarkError(f"{path / BASE}: no game has a score yet; continue with the same command")
    kinds, runs = _variants(path, base)
    every = _every_score({BASE: base, **runs}, games)
    matched = _with_shared_seeds(every)
    if disjoint := [game for game in games if not matched[game, BASE]]:
        raise ArcadeMarkError(f"{path}: on {disjoint[0]} the runs have no seed in common; give the same command again")
    cells = [cell for cell in matched if cell[1] != BASE]
    same = {
        (game, name)
        for game, name in cells
        if kinds[name] == "colours"
        and _actions(base.record, game, matched[game, BASE]) == _actions(runs[name].record, game, matched[game, BASE])
    }
    measure, by_seed = atari()["hns"], agent in base.apart
    differing = {cell: scores for cell, scores in matched.items() if cell not in same}

    def lost(*groups: Sequence[_Cell]) -> Statistic:
        return _lost(groups, differing, measure, apart=by_seed)

    of_kind = {kind: [cell for cell in cells if kinds[cell[1]] == kind] for kind in KINDS}
    known = [game for game in games if game in measure.known]
    points = {cell: intervals.score(pooled([*scores.values()], apart=by_seed)) for cell, scores in matched.items()}
    single = tuple(game for game in games if by_seed and len(matched[game, BASE]) == 1)
    short = [(name, trial) for name, run in {BASE: base, **runs}.items() for trial in run.incomplete]
    return Robustness(
        directory=str(path),
        agent=agent,
        protocol=rules.label,
        games=games,
        base=float(measure.line([points[game, BASE] for game in known], known).mean()) if known else None,
        overall=lost(*of_kind.values()),
        kinds=tuple(
            OfKind(kind, tuple(dict.fromkeys(game for game, _ in mine if game in known)), len(mine), lost(mine))
            for kind, mine in of_kind.items()
            if mine
        ),
        variants=tuple(
            Variant(
                game=game,
                kind=kinds[name],
                changed={change.setting: change.b for change in differences(rules, runs[name].record.protocol)},
                directory=name,
                base=points[game, BASE],
                score=points[game, name],
                lost=lost([(game, name)]),
                same=(game, name) in same,
                episodes=sum(map(len, matched[game, name].values())),
            )
            for game, name in sorted(cells, key=lambda cell: games.index(cell[0]))
        ),
        fewer=_fewer(
            of_kind if len({*kinds.values()}) > 1 else [k for k in KINDS if of_kind[k]], of_kind, games, rules
        ),
        unreferenced=tuple(game for game in games if game not in known),
        one_seed=bool(single),
        one_seed_games=single,
        by_seed=by_seed,
        trained=any(trial.learns for trial in base.record.trials),
        failed=tuple(FailedVariant(trial.task, name, trial.error) for name, trial in short if trial.error is not None),
        incomplete=sum(trial.error is None for _, trial in short),
        unmatched=sum(len(scores) - len(matched[cell]) for cell, scores in every.items()),
    )


def _every_score(runs: Mapping[str, RunScores], games: Sequence[str]) -> Mapping[_Cell, _Scores]:
    """Return the scores of each run in each of the games; cells without any are left out."""
    return {
        (game, name): scores
        for name, run in runs.items()
        for game in run.table.tasks
        if game in games and (scores := _scores(run.record, game))
    }


def _with_shared_seeds(every: Mapping[_Cell, _Scores]) -> Mapping[_Cell, _Scores]:
    """Return the scores of the seeds that all runs of a game have, in ascending order."""
    shared: dict[str, set[int]] = {}
    for (game, _), scores in every.items():
        shared[game] = shared.get(game, set(scores)) & set(scores)
    return {cell: {seed: scores[seed] for seed in sorted(shared[cell[0]])} for cell, scores in every.items()}


def _fewer(
    kinds: Iterable[Kind], of_kind: Mapping[Kind, Sequence[_Cell]], games: Sequence[str], rules: AtariProtocol
) -> tuple[Fewer, ...]:
    """Return games with fewer variants of one of the kinds than the most that a game has of any kind."""
    played = {kind: Counter(game for game, _ in mine) for kind, mine in of_kind.items()}
    most = max((count for games in played.values() for count in games.values()), default=1)
    return tuple(
        Fewer(game, kind, played[kind][game], len(variants(kind, game, rules)))
        for kind in kinds
        for game in games
        if played[kind][game] < most
    )


def _lost(
    groups: Sequence[Sequence[_Cell]], scores: Mapping[_Cell, _Scores], measure: Measure, *, apart: bool
) -> Statistic:
    """Return the mean loss, over groups of variants, their games, and the variants of a game.

    A variant without scores has those under the protocol. Seeds are ``apart`` if each is a separate training.
    """
    groups = [known for group in groups if (known := [cell for cell in group if cell[0] in measure.known])]
    weights = defaultdict[_Cell, float](float)
    for group in groups:
        played = Counter(game for game, _ in group)
        for game, name in group:
            if (game, name) in scores:
                span = measure.high[game] - measure.low[game]
                share = 100 / span / len(groups) / len(played) / played[game]
                weights[game, BASE] += share
                weights[game, name] -= share
    if not weights:
        return Statistic(0.0 if groups else None)
    strata: dict[str, list[NDArray[np.float64]]] = {}
    by_seed: dict[str, NDArray[np.float64]] = {}
    for (game, name), weight in weights.items():
        parts = pooled([*scores[game, name].values()], apart=apart)
        if len(parts) == 1:
            strata[f"{game}/{name}"] = [weight * parts[0]]
        else:
            by_seed[game] = by_seed.get(game, 0.0) + weight * np.array([part.mean() for part in parts])
    strata |= {game: [*seeds[:, None]] for game, seeds in by_seed.items()}
    mean = intervals.interval(strata, lambda values: np.asarray(values.sum(-1)), np.random.default_rng(0))
    if mean.low is None or mean.high is None or math.isclose(mean.low, mean.high, abs_tol=1e-9):
        return Statistic(mean.value)
    return Statistic(mean.value, mean.low, mean.high)


def _agent(run: RunScores) -> str:
    if len(run.table.algorithms) != 1:
        raise ArcadeMarkError(f"{run.record.directory}: {len(run.table.algorithms)} agents; expected the run of one")
    return run.table.algorithms[0]


def _variants(path: Path, base: RunScores) -> tuple[Mapping[str, Kind], Mapping[str, RunScores]]:
    """Read the runs of variants, "frame_skip=8", next to that of the protocol itself, kind by kind.

    Within a kind they are ordered by settings, and by values from small to large.
    """
    rules, trained = base.record.protocol, any(trial.learns for trial in base.record.trials)
    trainings = learnt_in(path / BASE).items()
    learnt = {manifest.game_and_seed(game, seed): one.sha256 for (_, game, seed), one in trainings if one}
    kept = {**_checkpoints(base), **learnt}
    ordered = []
    for place in sorted(path.iterdir()):
        if "=" not in place.name or not (place / manifest.FILE).is_file():
            continue
        run = load_run(place)
        kind = kind_of(rules, run.record.protocol)
        wrong = ""
        if _agent(run) != _agent(base):
            wrong = f"its agent is {_agent(run)}, not {_agent(base)}"
        elif kind is None:
            wrong = f"its protocol is not changed in one of {', '.join(KINDS)} from that of {BASE}"
        elif trained and any(trial.learns for trial in run.record.trials):
            wrong = f"its agent was trained again there, not in {BASE}"
        elif any(kept.get(trial) != digest for trial, digest in _checkpoints(run).items() if trial in kept or trained):
            wrong = f"its checkpoints are not those of {BASE}"
        if wrong or kind is None:
            raise ArcadeMarkError(f"{place}: {wrong}; move it elsewhere")
        changes = differences(rules, run.record.protocol)
        strength = [(change.setting, change.b is not None, change.b) for change in changes]
        ordered.append((KINDS.index(kind), strength, place.name, run))
    ordered.sort(key=lambda one: one[:2])
    return {name: KINDS[place] for place, _, name, _ in ordered}, {name: run for _, _, name, run in ordered}


def _checkpoints(run: RunScores) -> Mapping[str, str]:
    """Return the SHA-256 of checkpoints trained in other runs, by game and seed, "pong 0"."""
    return {
        trial: digest for one in run.record.manifest["agents"] for trial, digest in one.get("checkpoints", {}).items()
    }


def _scores(record: RunRecord, game: str) -> _Scores:
    """Return the scores of each seed's scored episodes; seeds without any are left out."""
    trials = (trial for trial in record.trials if trial.game == game)
    return {trial.seed: scores for trial in trials if (scores := record.scored_episodes(trial).score).size}


def _actions(record: RunRecord, game: str, seeds: Collection[int]) -> Mapping[int, list[bytes]]:
    """Return the actions of each seed's scored episodes."""
    return {
        trial.seed: [
            read_actions(record.directory, trial.id, row.episode, row.phase).tobytes()
            for row in record.scored_episodes(trial)
        ]
        for trial in record.trials
        if trial.game == game and trial.seed in seeds
    }
