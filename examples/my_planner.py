"""Example of your own planner: it tries every action in a model of the game, and takes the one that earns most.

    arcademark run examples/my_planner.py:make_planner --games pong --episodes 1 --set steps=20 --out runs/planner

It may be any function or class that takes the game's `EnvironmentSpec` and returns an object with `plan`, which is
called for each action of the real game. The frames that it plays in the model are counted, and have no other effect.
A planner that keeps data between decisions also has `checkpoint` and `restore`, see `arcademark.agents.base`.
"""

import numpy as np

from arcademark.environments.base import EnvironmentSpec
from arcademark.environments.generative import GenerativeModel, State


class Lookahead:
    """Planner that repeats each action for some steps in the model and adds up the rewards; breaks ties at random.

    Parameters
    ----------
    env : EnvironmentSpec
        The game: its actions.
    steps : int
        Number of steps to look ahead.
    """

    def __init__(self, env: EnvironmentSpec, *, steps: int = 10) -> None:
        self.num_actions = env.num_actions
        self.steps = steps

    def plan(self, model: GenerativeModel, state: State, first: bool, rng: np.random.Generator) -> int:
        """Choose an action for the real game, which is in state `state`."""
        returns = [self.hold(model, state, action) for action in range(self.num_actions)]
        return int(rng.choice(np.flatnonzero(np.array(returns) == max(returns))))

    def hold(self, model: GenerativeModel, state: State, action: int) -> float:
        """Return the sum of rewards when an action is repeated."""
        model.restore(state)
        total = 0.0
        for _ in range(self.steps):
            reward, terminated, truncated = model.step(action)
            total += reward
            if terminated or truncated:
                break
        return total


make_planner = Lookahead
