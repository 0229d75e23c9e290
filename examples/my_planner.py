"""A planner of one's own: it tries every action in a model of the game, and takes the one that brings most.

    arcademark run examples/my_planner.py:make_planner --games pong --episodes 1 --set steps=20 --out runs/planner

Any function or class will do that takes the game's `EnvironmentSpec` and returns an object with `plan`. It is asked for
each action of the real game; whatever it tries in the model before it answers is counted, and shows nowhere else.
A planner that keeps something between decisions also has `checkpoint` and `restore`, see `arcademark.agents.base`.
"""

import numpy as np

from arcademark.environments.base import EnvironmentSpec
from arcademark.environments.generative import GenerativeModel, State


class Lookahead:
    """Holds each action for some steps in the model and adds up the rewards; breaks ties at random.

    Parameters
    ----------
    env : EnvironmentSpec
        The game: its actions.
    steps : int
        How far to look.
    """

    def __init__(self, env: EnvironmentSpec, *, steps: int = 10) -> None:
        self.num_actions = env.num_actions
        self.steps = steps

    def plan(self, model: GenerativeModel, state: State, first: bool, rng: np.random.Generator) -> int:
        """Choose an action where the real game stands at `state`."""
        returns = [self.hold(model, state, action) for action in range(self.num_actions)]
        return int(rng.choice(np.flatnonzero(np.array(returns) == max(returns))))

    def hold(self, model: GenerativeModel, state: State, action: int) -> float:
        """Return the rewards that an action brings when it is held."""
        model.restore(state)
        total = 0.0
        for _ in range(self.steps):
            reward, terminated, truncated = model.step(action)
            total += reward
            if terminated or truncated:
                break
        return total


make_planner = Lookahead
