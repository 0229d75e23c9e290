"""Episodes of runs, sorted by algorithm and game.

A family of the 2013 baselines (one agent per action) is shown as one algorithm, the best agent on each game, as in its
paper (Bellemare et al. 2013, §3.1.2).
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arcademark.grouping import grouped
from arcademark.metrics.uncertainty.intervals import FEWEST, score
from arcademark.metrics.uncertainty.samples import independent
from arcademark.records import repeats
from arcademark.records.manifest import agents_of, game_and_seed
from arcademark.records.model import Episodes, RunRecord, TrialRecord
from arcademark.scores.runs import RunCollection, RunScores, pooled, trained_apart

FAMILY = re.compile(r"(const|perturb)\(action=(\w+)\)")
"""Labels of the baselines with one agent per action: family, action."""


@dataclass(frozen=True)
class PlanningCost:
    """Cost of a planner's decisions in a model of the game.

    decisions: Actions of the scored episodes.
    simulated_frames: Frames that the model emulated to choose them.
    """

    decisions: int
    simulated_frames: int
    frames_per_decision: float


def planning_cost(decisions: int, simulated_frames: int) -> PlanningCost | None:
    """Return the cost of decisions; None without any."""
    return PlanningCost(decisions, simulated_frames, simulated_frames / decisions) if decisions else None


@dataclass(frozen=True)
class PlayedGame:
    """One agent's episodes on one game.

    runs: Scores of the scored episodes: if each seed was trained separately, an array for each seed that has any, whose
        number is in `numbers`; else one array of all, numbered 0.
    truncated: True for each episode that the frame cap ended, over all seeds in order.
    planned: Requested episodes, over all seeds.
    variant: Name within its family; "" without a family.
    planning: Cost of a planner's decisions in these episodes; None for other agents.
    kinds: A number per episode, over all seeds, the same for equal ones (`runs.repeats`). None if all are distinct.
    possible: Number of distinct episodes that a deterministic agent can play; None if it is not known.
    """

    agent: str
    runs: tuple[NDArray[np.float64], ...]
    truncated: tuple[bool, ...]
    planned: int
    variant: str = ""
    planning: PlanningCost | None = None
    numbers: tuple[int, ...] = ()
    kinds: NDArray[np.int64] | None = None
    possible: int | None = None

    @property
    def different(self) -> int:
        """The number of distinct episodes."""
        return len(self.truncated) if self.kinds is None else np.unique(self.kinds).size

    @property
    def exact(self) -> bool:
        """True if every possible episode was played equally often, so that more episodes cannot change the score."""
        if self.kinds is None or self.possible != self.different:
            return False
        counts = np.unique(self.kinds, return_counts=True)[1]
        return bool((counts == counts[0]).all())

    def units(self) -> NDArray[np.float64]:
        """Return the scores of all seeds' episodes that vary independently; equal episodes count once."""
        scores = np.concatenate(self.runs)
        if self.exact:  # nothing varies, even with few episodes
            return np.full(FEWEST, scores.mean())
        return scores if self.kinds is None else independent(scores, self.kinds, self.possible)


@dataclass(frozen=True)
class PlayedAlgorithm:
    """One algorithm to be shown.

    name: Name, unique in the report.
    trials: All of its trials.
    cells: The planned games, in the plan's order.
    variants: Agents of which each cell is the best; 1 for a single agent.
    """

    name: str
    run: RunScores
    trials: tuple[TrialRecord, ...]
    cells: Mapping[str, PlayedGame]
    variants: int = 1

    @property
    def agents(self) -> Iterable[str]:
        """The labels of its agents."""
        return dict.fromkeys(trial.agent for trial in self.trials)

    @cached_property
    def apart(self) -> bool:
        """True if each seed is a training run of its own; otherwise all seeds count as one run."""
        return any(trained_apart(self.run.record, agent) for agent in self.agents)

    @cached_property
    def trained(self) -> bool:
        """True if it was trained: as a learner, as a network, or earlier, in files that its parameters name."""
        known = agents_of(self.run.record.manifest)
        return self.apart or any(keeps(known.get(agent, {})) for agent in self.agents)


def names_by_label(run: RunScores) -> dict[str, str]:
    """Return the names of a run's agents in its table, by label."""
    labels = dict.fromkeys(trial.agent for trial in run.record.trials)
    return dict(zip(labels, run.table.algorithms, strict=True))


def keeps(agent: Mapping[str, Any]) -> bool:
    """Return True if an agent of a manifest plays from files."""
    return bool(agent.get("checkpoints") or agent.get("files"))


def played_algorithms(collection: RunCollection, *, every_variant: bool) -> tuple[PlayedAlgorithm, ...]:
    """Return the algorithms to be shown, run by run; ``every_variant`` also shows the members of families."""
    found: list[PlayedAlgorithm] = []
    for run, name in zip(collection.runs, collection.names, strict=True):
        for algorithm in _of_run(run, every_variant=every_variant):
            clash = any(algorithm.name == other.name for other in found)
            found.append(dataclasses.replace(algorithm, name=f"{algorithm.name} [{name}]") if clash else algorithm)
    return tuple(found)


def _of_run(run: RunScores, *, every_variant: bool) -> Iterator[PlayedAlgorithm]:
    trials = grouped((trial.agent, trial) for trial in run.record.trials)
    shown = names_by_label(run)
    cells = _cells(run, shown)
    singles = {
        agent: PlayedAlgorithm(shown[agent], run, tuple(mine), {trial.game: cells[agent, trial.game] for trial in mine})
        for agent, mine in trials.items()
    }
    families = grouped((_family(agent), algorithm) for agent, algorithm in singles.items())
    for agent, algorithm in singles.items():
        family = _family(agent)
        if family and len(families[family]) > 1:
            if algorithm is families[family][0]:
                yield best_of(families[family], f"best {family}")
            if not every_variant:
                continue
        yield algorithm


def _family(agent: str) -> str:
    found = FAMILY.fullmatch(agent)
    return found[1] if found else ""


def best_of(members: Sequence[PlayedAlgorithm], name: str) -> PlayedAlgorithm:
    """Return one algorithm for a family, with the episodes of the best member on each game."""
    by_game = grouped(
        (game, dataclasses.replace(cell, variant=FAMILY.sub(r"\2", cell.agent)))
        for member in members
        for game, cell in member.cells.items()
    )
    best = {
        game: max(cells, key=lambda cell: score(cell.runs) if cell.runs else -np.inf) for game, cells in by_game.items()
    }
    return PlayedAlgorithm(
        name, members[0].run, tuple(trial for member in members for trial in member.trials), best, len(members)
    )


def _cells(run: RunScores, shown: Mapping[str, str]) -> dict[tuple[str, str], PlayedGame]:
    record = run.record
    rows = grouped(((trial.agent, trial.game), (trial, record.scored_episodes(trial))) for trial in record.trials)
    known = agents_of(record.manifest)
    return {
        (agent, game): _cell(
            sorted(found, key=lambda row: row[0].seed),
            run.kinds.get((shown[agent], game)),
            _possible(known.get(agent, {}), record, game, [trial.seed for trial, scored in found if scored]),
            apart=shown[agent] in run.apart,
        )
        for (agent, game), found in rows.items()
    }


def _possible(known: Mapping[str, Any], record: RunRecord, game: str, seeds: Sequence[int]) -> int | None:
    """Return the number of distinct episodes of a game that an agent's networks, or its seeds, can play."""
    starts = repeats.starts(record, game) if known.get("draws") is False else None
    networks = {known.get("checkpoints", {}).get(game_and_seed(game, seed), seed) for seed in seeds}
    return starts * len(networks) if starts and networks else None


def _cell(
    rows: Sequence[tuple[TrialRecord, Episodes]], kinds: NDArray[np.int64] | None, possible: int | None, *, apart: bool
) -> PlayedGame:
    played = {trial.seed: scored.score for trial, scored in rows if scored}
    planned = [scored for trial, scored in rows if trial.plans]
    return PlayedGame(
        agent=rows[0][0].agent,
        runs=pooled([*played.values()], apart=apart),
        truncated=tuple(chain.from_iterable(scored.truncated.tolist() for _, scored in rows)),
        planned=sum(trial.episodes for trial, _ in rows),
        planning=planning_cost(
            sum(int(scored.steps.sum()) for scored in planned),
            sum(int(scored.simulated_frames.sum()) for scored in planned),
        ),
        numbers=tuple(played) if apart or not played else (0,),
        kinds=kinds,
        possible=None if kinds is None else possible,
    )
