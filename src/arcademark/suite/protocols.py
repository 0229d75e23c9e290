"""Protocols: every environment setting that can change a score, as pure data.

Conventions
-----------
* Lengths and budgets are in emulated frames (60 a second), never in agent steps.
* ``max_frames_per_episode`` counts as the emulator does: every frame emulated since the episode's reset, no-op starts
  included. Reaching it truncates the episode, which is not termination.
* A field that the protocol's source leaves open is our choice and says so in ``provenance``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

from arcademark.errors import ArcadeMarkError, UnknownNameError

EpisodeEnd = Literal["game_over", "life_lost"]
ActionSet = Literal["full", "minimal"]
Start = Literal["reset", "noop", "human"]
ObservationKind = Literal["grayscale", "rgb", "palette", "ram"]
Reporting = Literal["evaluation", "training_last_k"]


@dataclass(frozen=True)
class Provenance:
    """Where a field's value comes from.

    Parameters
    ----------
    status : {"cited", "choice"}
        Stated by the protocol's source, or silent there and chosen by us.
    note : str
        The paper and section; for a choice, its reason.
    """

    status: Literal["cited", "choice"]
    note: str


@dataclass(frozen=True)
class Protocol:
    """Everything about the environment and its evaluation that can change a score.

    Parameters
    ----------
    name, title, citation : str
        Stable id, one line for people, the paper that defines it.
    frame_skip : int
        Emulated frames an agent step; the action is repeated on each.
    repeat_action_probability : float
        Probability that a frame repeats the action of the frame before (sticky actions).
    action_set : {"full", "minimal"}
        The console's joystick actions (18; 9 in Skiing), or those that the game uses.
    max_frames_per_episode : int or None
        Emulated frames after which an episode is truncated; None for no cap.
    training_episode_end, evaluation_episode_end : {"game_over", "life_lost"}
        What terminates an episode.
    start : {"reset", "noop", "human"}
        How an episode starts; "human" needs recorded human play and cannot be run.
    noop_max : int
        With ``start="noop"``: no-op frames are drawn uniformly from 1 to this number.
    mode, difficulty : int or None
        The game's switches; None for the ROM's default.
    observation : {"grayscale", "rgb", "palette", "ram"}
        What the agent sees: luminance, colours, 7-bit palette indices, or the 128 bytes of RAM.
    screen_size : (int, int) or None
        Height and width after area resizing; None for the console's 210 × 160.
    max_pool : bool
        Whether a screen is the pixelwise maximum of the step's last two frames.
    frame_stack : int
        Screens an observation holds, oldest first.
    training_reward_clipping : bool
        Whether a learner is given the sign of the reward; scores are never clipped.
    training_frames : int or None
        A learner's budget in frames, None where training is counted in episodes.
    training_episodes : int or None
        A learner's budget in episodes, None where training is counted in frames.
    evaluation_episodes : int
        Episodes whose average is the score (the k of "average of k episodes").
    reported_episodes : {"evaluation", "training_last_k"}
        Separate episodes after training, or the last k of training.
    counted_frames : str
        What must be counted as frames used.
    runnable : bool
        Whether an episode can be played here ("human" starts cannot).
    provenance : mapping of str to Provenance
        One entry a setting.
    overrides : mapping of str to (value of the named protocol)
        The settings that differ from the named protocol, with that protocol's value. Empty if unmodified.
    """

    name: str
    title: str
    citation: str
    frame_skip: int
    repeat_action_probability: float
    action_set: ActionSet
    max_frames_per_episode: int | None
    training_episode_end: EpisodeEnd
    evaluation_episode_end: EpisodeEnd
    start: Start
    noop_max: int
    mode: int | None
    difficulty: int | None
    observation: ObservationKind
    screen_size: tuple[int, int] | None
    max_pool: bool
    frame_stack: int
    training_reward_clipping: bool
    training_frames: int | None
    training_episodes: int | None
    evaluation_episodes: int
    reported_episodes: Reporting
    counted_frames: str
    provenance: Mapping[str, Provenance] = field(default_factory=lambda: MappingProxyType({}), compare=False, repr=False)
    overrides: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}), repr=False)
