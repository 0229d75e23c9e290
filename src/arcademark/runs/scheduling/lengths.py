"""Expected remaining frames of trials, from which their order and their division into shards follow.

An episode is expected to be as long as the mean of the recorded ones of its game. In a game without recorded episodes,
its length is that of random play (`arcademark.suite.tasks.Game.random_frames`), scaled by the ratio in the recorded
games, and at most the protocol's cap.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from arcademark.agents.loading import kind
from arcademark.errors import ArcadeMarkError
from arcademark.runs.plan import Plan, Trial
from arcademark.runs.scheduling.progress import TrialStanding, mean_lengths
from arcademark.suite.protocols import Protocol
from arcademark.suite.tasks import games

if TYPE_CHECKING:
    from arcademark.records.model import RunRecord

SIMULATED_PER_PLAYED = 100.0
"""Assumed number of frames that planners simulate per frame played; searches have tens to thousands."""


class Lengths:
    """Expected lengths of evaluation episodes, in frames, by the recorded episodes of some trials."""

    def __init__(self, standings: Iterable[TrialStanding]) -> None:
        means = mean_lengths((one.trial.game, one.frames, one.episodes) for one in standings)
        self._means = {game: mean for game, mean in means.items() if game is not None}
        self._factor = sum(self._means.values()) / sum(map(_random_play_frames, self._means)) if self._means else 1.0

    def expected(self, game: str, protocol: Protocol) -> float:
        """Return the expected length of a game's episodes."""
        length = self._means.get(game) or self._factor * _random_play_frames(game)
        cap = protocol.cap(game)
        return length if cap is None else min(length, cap)


@cache
def _random_play_frames(game: str) -> float:
    """Return the length of random play; the mean over games where it is unknown."""
    known = games()
    return known[game].random_frames if game in known else sum(one.random_frames for one in known.values()) / len(known)


def frames_left(standings: Sequence[TrialStanding], lengths: Lengths | None = None) -> list[float]:
    """Return the remaining frames to emulate of each trial, as far as they are known from its agent's class.

    `lengths` are by default those that follow from the standings.
    """
    lengths = lengths or Lengths(standings)
    kinds = {spec.label: kind(spec) for spec in {standing.trial.agent for standing in standings}}
    left = []
    for standing in standings:
        known, trial = kinds[standing.trial.agent.label], standing.trial
        length = lengths.expected(trial.game, trial.protocol)
        trains = known == "trainer"
        learner = replace(standing, learns=True, trains=trains) if trains or known == "learner" else standing
        emulated = SIMULATED_PER_PLAYED if known == "planner" else 1.0
        left.append((learner.frames_left(length, length) or 0.0) * emulated)
    return left


def recorded_standings(trials: Iterable[Trial], record: RunRecord | None) -> list[TrialStanding]:
    """Return the standings of trials in the record of their run; initial ones without a record."""
    known = {trial.id: trial for trial in record.trials} if record else {}
    learners = {trial.agent for trial in known.values() if trial.learns}
    standings = []
    for trial in trials:
        row = known.get(trial.id)
        frames = int(record.evaluation(row).frames.sum()) if record and row else 0
        standings.append(TrialStanding.from_record(trial, row, frames))
        standings[-1].learns |= trial.agent.label in learners
    return standings


def expected_frames(trials: Iterable[Trial], record: RunRecord | None) -> Mapping[str, float]:
    """Return the remaining frames to emulate of each game's trials."""
    standings = recorded_standings(trials, record)
    left = defaultdict[str, float](float)
    for standing, frames in zip(standings, frames_left(standings), strict=True):
        left[standing.trial.game] += frames
    return left


def deal(weights: Sequence[float], count: int) -> list[list[int]]:
    """Divide items of given weights into `count` shards; each is the list of its items' indices, in order.

    Items are assigned heaviest first, each to the lightest shard so far.
    """
    shards: list[list[int]] = [[] for _ in range(count)]
    least = [(0.0, 0, number) for number in range(count)]
    for place in sorted(range(len(weights)), key=lambda place: -weights[place]):
        weight, size, number = heapq.heappop(least)
        shards[number].append(place)
        heapq.heappush(least, (weight + weights[place], size + 1, number))
    return [sorted(shard) for shard in shards]


def dealt(plans: Mapping[str, Plan], count: int) -> list[dict[str, tuple[Trial, ...]]]:
    """Divide plans into `count` shards: for each, the trials of every plan, by the plan's name.

    The division is always the same, with about equal expected frames, and uses nothing recorded. The first plan is
    divided; trials of the others follow those of their game and seed.

    Raises
    ------
    ArcadeMarkError
        If there are fewer trials than shards.
    """
    first, *others = plans
    trials = plans[first].trials
    if not 1 <= count <= len(trials):
        raise ArcadeMarkError(f"{count:,} shards: expected at most the number of trials, {len(trials):,}")
    places = deal(frames_left([TrialStanding(trial) for trial in trials]), count)
    parts: list[dict[str, tuple[Trial, ...]]] = [{first: tuple(trials[place] for place in mine)} for mine in places]
    numbers: defaultdict[tuple[str, int], set[int]] = defaultdict(set)
    for number, part in enumerate(parts):
        for trial in part[first]:
            numbers[trial.game, trial.seed].add(number)
    for name in others:
        theirs: defaultdict[int, list[Trial]] = defaultdict(list)
        for trial in plans[name].trials:
            for number in numbers[trial.game, trial.seed]:
                theirs[number].append(trial)
        for number, mine in theirs.items():
            parts[number][name] = tuple(mine)
    return parts


def shards(plans: Mapping[str, Plan], number: int, count: int) -> dict[str, Plan]:
    """Return shard `number`, from 1, of plans that are played in `count` shards, each in directories of its own.

    Plans without trials in it are left out. `arcademark.runs.store.merging` merges the shards.

    Raises
    ------
    ArcadeMarkError
        If the number is out of range, or there are fewer trials than shards.
    """
    trials = len(next(iter(plans.values())).trials)
    if not 1 <= number <= count <= trials:
        raise ArcadeMarkError(
            f"shard {number}/{count}: expected K/N, with K from 1 to N, and N at most the number of trials, {trials:,}"
        )
    mine = dealt(plans, count)[number - 1]
    return {name: _part(plans[name], here, (number, count)) for name, here in mine.items()}


def shard(plan: Plan, number: int, count: int) -> Plan:
    """Return shard `number` of a single plan, as `shards` does."""
    return shards({"": plan}, number, count)[""]


def _part(plan: Plan, here: tuple[Trial, ...], shard: tuple[int, int]) -> Plan:
    """Return a plan of some of its trials, with the others as those of other shards."""
    ids = {trial.id for trial in here}
    elsewhere = tuple(trial for trial in plan.trials if trial.id not in ids)
    return replace(plan, trials=here, shard=shard, elsewhere=elsewhere)
