"""What trials are expected to cost, in frames: what order they are begun in, and how they are dealt out, follows.

An episode is taken to be as long as the recorded ones of its game on average. Of a game of which nothing is recorded it
is as long as random play's (`arcademark.suite.tasks.Game.random_frames`), by as much longer or shorter as the recorded
games are, and never longer than the protocol's cap.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from arcademark.agents.loading import kind
from arcademark.errors import ArcadeMarkError
from arcademark.runs.plan import Plan, Trial
from arcademark.runs.progress import Standing
from arcademark.suite.protocols import Protocol
from arcademark.suite.tasks import games

if TYPE_CHECKING:
    from arcademark.runs.store import RunRecord

PLANNED = 100.0
"""Frames that planners, whose searches have tens to thousands, are taken to simulate for each that they play."""


class Lengths:
    """How long evaluation episodes are expected to be, in frames.

    `recorded` yields a game, the frames of some of its episodes together, and how many these are; any game may come
    more than once.
    """

    def __init__(self, recorded: Iterable[tuple[str, int, int]] = ()) -> None:
        frames, episodes = Counter[str](), Counter[str]()
        for game, some, count in recorded:
            frames[game] += some
            episodes[game] += count
        self._means = {game: frames[game] / count for game, count in episodes.items() if count}
        self._factor = sum(self._means.values()) / sum(map(_random, self._means)) if self._means else 1.0

    def of(self, game: str, protocol: Protocol) -> float:
        """Return the expected length of a game's episodes."""
        length = self._means.get(game) or self._factor * _random(game)
        cap = protocol.max_frames_per_episode
        return length if cap is None else min(length, cap)


@cache
def _random(game: str) -> float:
    """Return the length of random play, of all games on average where it is not known."""
    known = games()
    return known[game].random_frames if game in known else sum(one.random_frames for one in known.values()) / len(known)


def costs(standings: Sequence[Standing], lengths: Lengths) -> list[float]:
    """Return what is left of each trial, in frames that are emulated, as far as its agent's class tells."""
    kinds = {spec.label: kind(spec) for spec in {standing.trial.agent for standing in standings}}
    found = []
    for standing in standings:
        known, trial = kinds[standing.trial.agent.label], standing.trial
        length = lengths.of(trial.game, trial.protocol)
        learner = replace(standing, learns=True) if known in ("learner", "trainer") else standing
        found.append((learner.frames_left(length, length) or 0.0) * (PLANNED if known == "planner" else 1.0))
    return found


def expected_frames(trials: Sequence[Trial], record: RunRecord | None, protocol: Protocol) -> float:
    """Return what a game's trials, which may be none, are expected to cost in frames: at least one."""
    known = {trial.id: trial for trial in record.trials} if record else {}
    rows = {name: record.evaluation(trial) for name, trial in known.items()} if record else {}
    lengths = Lengths((known[name].game, int(some.frames.sum()), len(some)) for name, some in rows.items())
    learns = any(trial.learns for trial in known.values())
    standings = [
        Standing(trial, episodes=done, learns=learns and not done)
        for trial in trials
        for done in [len(rows.get(trial.id, ()))]
    ]
    each = (lengths.of(standing.trial.game, protocol) for standing in standings)
    left = (standing.frames_left(length, length) or 0.0 for standing, length in zip(standings, each, strict=True))
    return max(1.0, sum(left))


def deal(costs: Sequence[float], count: int) -> list[list[int]]:
    """Deal what costs so much out in `count` parts, each the places of its items, in order.

    The dearest first, each to the part that costs least so far.
    """
    parts: list[list[int]] = [[] for _ in range(count)]
    least = [(0.0, 0, number) for number in range(count)]
    for place in sorted(range(len(costs)), key=lambda place: -costs[place]):
        cost, size, number = heapq.heappop(least)
        parts[number].append(place)
        heapq.heappush(least, (cost + costs[place], size + 1, number))
    return [sorted(part) for part in parts]


def shard(plan: Plan, number: int, count: int) -> Plan:
    """Return part `number`, from 1, of a plan that is played in `count` parts, each in a directory of its own.

    Always the same part, of about as many frames as the others, by what is known before anything is played.
    `arcademark.runs.merging` makes one run of all.

    Raises
    ------
    ArcadeMarkError
        If there is no such part, or fewer trials than parts.
    """
    if not 1 <= number <= count <= len(plan.trials):
        raise ArcadeMarkError(
            f"shard {number}/{count}: expected a number from 1 to how many there are, and at most one a trial "
            f"({len(plan.trials):,} here)"
        )
    mine = deal(costs([Standing(trial) for trial in plan.trials], Lengths()), count)[number - 1]
    return replace(plan, trials=tuple(plan.trials[place] for place in mine))
