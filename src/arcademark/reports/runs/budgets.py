"""What a learner was given to learn with, in words, beside what its protocol gives.

A protocol that was overridden is compared with the named one: a smaller budget is told however it was asked for.
"""

from __future__ import annotations

from arcademark.reports import wording
from arcademark.suite.protocols import Protocol


def training(frames: int | None, episodes: int | None) -> str:
    """Say a budget of training, "50 episodes" or "200,000,000 frames"; "" where there is none."""
    if frames is not None:
        return wording.plural(frames, "frame")
    return "" if episodes is None else wording.plural(episodes, "episode")


def named(protocol: Protocol) -> str:
    """Say what the named protocol gives to train with, whatever was overridden."""
    fields = ("training_frames", "training_episodes")
    return training(*(protocol.overrides.get(field, getattr(protocol, field)) for field in fields))


def named_episodes(protocol: Protocol) -> int:
    """Return how many evaluation episodes the named protocol averages."""
    return int(protocol.overrides.get("evaluation_episodes", protocol.evaluation_episodes))
