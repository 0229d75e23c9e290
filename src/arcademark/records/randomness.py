"""Random generators of episodes: every draw depends on (seed, phase, episode's number, stream) alone."""

from __future__ import annotations

from typing import Literal

import numpy as np

from arcademark.records.model import Phase

Stream = Literal["environment", "agent"]

_PHASES: dict[Phase, int] = {"training": 0, "evaluation": 1}
_STREAMS: dict[Stream, int] = {"environment": 0, "agent": 1}


def episode_rng(seed: int, phase: Phase, episode: int, stream: Stream) -> np.random.Generator:
    """Return the generator of one episode: the environment and the agent each have their own."""
    key = (_PHASES[phase], episode, _STREAMS[stream])
    return np.random.default_rng(np.random.SeedSequence(entropy=seed, spawn_key=key))
