"""Repeated episodes of a run: if only the start is random, equal actions give equal episodes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from arcademark.records.model import RunRecord, TrialRecord, scored_phase
from arcademark.records.randomness import episode_rng
from arcademark.records.reading import action_digests
from arcademark.suite.protocols import AtariProtocol
from arcademark.suite.tasks import TOY


def starts(record: RunRecord, game: str) -> int | None:
    """Return the number of different episodes of a deterministic agent in a game; None if unknown."""
    return None if game == TOY else record.protocol.starts


def kinds(record: RunRecord, trials: Sequence[TrialRecord]) -> NDArray[np.int64] | None:
    """Number the scored episodes of an agent on a game, so that equal episodes have the same number.

    Episodes with the same start and the same actions are equal, if nothing else is random.

    Parameters
    ----------
    record : RunRecord
    trials : sequence of TrialRecord
        At least one, of the agent's seeds.

    Returns
    -------
    int64 array, shape (episodes,), or None
        Trial by trial. None, as all differ, if more than the start is random, training is scored, or no actions are
        recorded.
    """
    protocol = record.protocol
    evaluated = all(scored_phase(protocol, bool(trial.learns)) == "evaluation" for trial in trials)
    if starts(record, trials[0].game) is None or not evaluated or "imported" in record.manifest:
        return None
    assert isinstance(protocol, AtariProtocol)
    scored = [record.scored_episodes(trial) for trial in trials]
    ends = np.cumsum([len(episodes) for episodes in scored])
    numbers = np.arange(ends[-1])
    seen = np.concatenate([each.score.view(np.int64) * 31 + each.frames * 37 + each.steps * 41 for each in scored])
    _, group, counts = np.unique(seen, return_inverse=True, return_counts=True)
    known: dict[tuple[int, bytes], int] = {}
    for trial, episodes, alike, places in zip(
        trials, scored, *(np.split(column, ends[:-1]) for column in (counts[group] > 1, numbers)), strict=True
    ):
        actions = action_digests(record, trial.id) if alike.any() else {}
        for place, episode in zip(places[alike].tolist(), episodes.episode[alike].tolist(), strict=True):
            start = _start(protocol, trial.seed, episode) if protocol.noop_max else 0
            numbers[place] = known.setdefault((start, actions[episode]), place)
    return numbers


def _start(protocol: AtariProtocol, seed: int, episode: int) -> int:
    """Return the number of no-ops with which an evaluation episode began."""
    taken = protocol.noops(episode)
    return taken or protocol.drawn_noops(episode_rng(seed, "evaluation", episode, "environment"))
