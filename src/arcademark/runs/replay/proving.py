"""Replay of recorded episodes on our emulator, compared with the record and with ale-py after each frame."""

from __future__ import annotations

import numpy as np

from arcademark.environments.base import one_by_one
from arcademark.errors import ArcadeMarkError
from arcademark.records.reading import read_actions
from arcademark.records.replayed import Finding
from arcademark.runs.replay.episodes import open_recorded, replay
from arcademark.runs.replay.verify import EpisodeCheck, finding_of, verify_episode
from arcademark.suite.protocols import AtariProtocol
from arcademark.suite.tasks import TOY


def prove_episode(task: EpisodeCheck) -> Finding:
    """Replay an episode on our emulator, then frame by frame on it and ale-py, and return the first difference."""
    trial, row = task.recorded
    if not isinstance(task.protocol, AtariProtocol) or trial.game == TOY:
        return finding_of(task.recorded, "unverifiable", "our emulator plays Atari games only")
    try:
        finding = verify_episode(task, open_recorded(task.protocol, trial, row.phase, "console"))
        difference = _difference(task) if finding.outcome == "confirmed" else ""
    except ArcadeMarkError as error:
        return finding_of(task.recorded, "unverifiable", str(error))
    return finding_of(task.recorded, "differs", difference) if difference else finding


def _difference(task: EpisodeCheck) -> str:
    """Return the first difference between our emulator and ale-py after the same frame; "" if there is none."""
    trial, row = task.recorded
    actions = one_by_one(read_actions(task.directory, trial.id, row.episode, row.phase))
    ours, theirs = (open_recorded(task.protocol, trial, row.phase, emulator) for emulator in ("console", "ale"))
    memories = np.zeros((2, *ours.spec.observation_shape), ours.spec.observation_dtype)
    frames = (replay(environment, task.recorded, actions, by_frame=True) for environment in (ours, theirs))
    for number, (our_step, their_step) in enumerate(zip(*frames, strict=False), start=1):
        for environment, memory in zip((ours, theirs), memories, strict=True):
            environment.observe(memory)
        for what, same in (
            ("reward or end", our_step == their_step),
            ("memory", np.array_equal(*memories)),
            ("picture", np.array_equal(ours.render(), theirs.render())),
        ):
            if not same:
                return f"the {what} after frame {number:,} of play differs on ale-py"
    return ""
