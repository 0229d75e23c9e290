"""The 37 baselines: random, and const and perturb for each of the 18 actions.

These agents have no knowledge of the game (Bellemare et al. 2013, §3.1.2); together they are the paper's set of
baselines (Figure 2b). The paper prints the best Const and the best Perturb of each game; here every variant is run and
recorded, and the best is selected from their scores.

Const and Perturb name their action by its meaning on the console. A variant does not play a game without that action
(Skiing has no fire button; a minimal set lacks actions), so no two variants play the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from arcademark.agents.base import Actions, Flags, Generators, Observations
from arcademark.agents.parameters import Share
from arcademark.environments.base import EnvironmentSpec
from arcademark.suite.tasks import joystick_action

citation = "Bellemare et al. 2013, §4.1.2"


def lacks_action(env: EnvironmentSpec, *, action: str | int) -> str | None:
    """Return why an agent of this action cannot play this game; None if it can."""
    name = joystick_action(action)
    if name in env.action_meanings:
        return None
    return f"{env.game} has no action {name} in its {env.atari.action_set} set ({', '.join(env.action_meanings)})"


def _frames_per_action(env: EnvironmentSpec) -> int | None:
    return 1 if env.protocol.name == "ale-2013" else None


class Random:
    """Chooses uniformly among the actions: each step, under ale-2013 each frame."""

    citation = "Bellemare et al. 2013, §3.1.2"

    draws = True

    def __init__(self, env: EnvironmentSpec) -> None:
        self.num_actions, self.arrays = len(env.action_meanings), env.array_actions
        self.frames_per_action = _frames_per_action(env)

    def act(self, observations: Observations, first: Flags, rngs: Generators) -> Actions:
        """Draw an action for each episode from its own generator."""
        if self.arrays is not None:
            return np.array([self.arrays.sample(rng) for rng in rngs])
        return np.array([rng.integers(self.num_actions) for rng in rngs], dtype=np.int64)


class Const:
    """Plays one action throughout; without a parameter, 18 agents, one for each action.

    Parameters
    ----------
    action : str or int
        A name ("FIRE") or the console's index (1).
    """

    citation = "Bellemare et al. 2013, §3.1.2"

    supports = staticmethod(lacks_action)
    draws = False

    def __init__(self, env: EnvironmentSpec, *, action: str) -> None:
        self.action = env.action_meanings.index(joystick_action(action))

    def act(self, observations: Observations, first: Flags, rngs: Generators) -> Actions:
        """Return the action, N times."""
        return np.full(len(first), self.action, dtype=np.int64)


class Perturb:
    """Plays one action with probability 0.95, else any; without a parameter, 18 agents, one for each action.

    The other draw is uniform among all actions, including this one. The agent draws each agent step; under ``ale-2013``
    each *frame*. The paper states this of Random only, but its scores agree with draws per frame: the best Perturb
    scores 12,089 on Atlantis, where LEFTFIRE scores 12,175 with draws per frame and 2,760 with draws per five frames
    (means of four and five episodes).

    Parameters
    ----------
    action : str or int
        A name ("FIRE") or the console's index (1).
    probability : float
        Probability of the action; 0.95 in the paper.
    """

    citation = "Bellemare et al. 2013, §3.1.2"

    draws = True

    @staticmethod
    def supports(env: EnvironmentSpec, *, action: str, **_: Any) -> str | None:
        """Return why this game cannot be played; None if it can."""
        return lacks_action(env, action=action)

    def __init__(self, env: EnvironmentSpec, *, action: str, probability: Share = 0.95) -> None:
        self.action = env.action_meanings.index(joystick_action(action))
        self.probability = probability
        self.num_actions = env.num_actions
        self.frames_per_action = _frames_per_action(env)

    def act(self, observations: Observations, first: Flags, rngs: Generators) -> Actions:
        """Draw an action for each episode from its own generator."""
        return np.array(
            [self.action if rng.random() < self.probability else rng.integers(self.num_actions) for rng in rngs],
            dtype=np.int64,
        )
