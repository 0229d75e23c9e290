"""Example of your own learner: it learns which action is best regardless of the screen, and mostly takes that one.

    arcademark run examples/my_learner.py:make_learner --games pong --training-episodes 3 --out runs/learner

It may be any function or class that takes the game's `EnvironmentSpec` and returns an object with the methods below.
It trains until its budget is spent. `checkpoint` saves it from time to time, and `restore` continues from there.
`arcademark.agents.base.Learner` describes each method.
"""

import json
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from arcademark.agents.base import Transition
from arcademark.environments.base import EnvironmentSpec


class Habit:
    """Learner with a running mean of the reward after each action; explores only in training.

    Parameters
    ----------
    env : EnvironmentSpec
        The game: its actions.
    step_size : float
        Weight of a new reward in the means.
    exploration : float
        Probability of a random action in training.
    """

    def __init__(self, env: EnvironmentSpec, *, step_size: float = 0.05, exploration: float = 0.1) -> None:
        self.values = np.zeros(env.num_actions)
        self.step_size = step_size
        self.exploration = exploration
        self.training = False

    def train(self) -> None:
        """Explore and learn from now on."""
        self.training = True

    def evaluate(self) -> None:
        """Neither learn nor change from now on."""
        self.training = False

    def act(
        self,
        observations: NDArray[np.uint8],
        first: NDArray[np.bool_],
        rngs: Sequence[np.random.Generator],
    ) -> NDArray[np.int64]:
        """Choose an action for each episode; all chance comes from its generator."""
        return np.array([self.choose(rng) for rng in rngs], np.int64)

    def choose(self, rng: np.random.Generator) -> int:
        """Choose an action of greatest value, or in training sometimes any action."""
        if self.training and rng.random() < self.exploration:
            return int(rng.integers(len(self.values)))
        return int(rng.choice(np.flatnonzero(self.values == self.values.max())))

    def learn(self, transition: Transition, rng: np.random.Generator) -> None:
        """Learn from one step of training."""
        action = transition.action
        self.values[action] += self.step_size * (transition.reward - self.values[action])

    def checkpoint(self) -> bytes:
        """Return everything that was learnt."""
        return json.dumps(self.values.tolist()).encode()

    def restore(self, checkpoint: bytes) -> None:
        """Continue from a checkpoint."""
        self.values = np.array(json.loads(checkpoint))


make_learner = Habit
