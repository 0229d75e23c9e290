"""A checkpoint played here, action by action, to be held against its own library; and one that may not be opened."""

from pathlib import Path

import numpy as np

from arcademark.agents.checkpoints.paths import checksum
from arcademark.agents.checkpoints.policy import CheckpointPlayer
from arcademark.environments.registry import open_environment


def here(path, spec, episodes, most, trust=False):
    """Play some episodes, at most so many steps together; return each one's actions and its rewards."""
    agent, environment = CheckpointPlayer(spec, path, checksum(path), trust=trust), open_environment(spec)
    seen, first = np.zeros((1, *spec.observation_shape), np.uint8), np.ones(1, np.bool_)
    actions, rewards = [], []
    for _ in range(episodes):
        environment.reset(np.random.default_rng(0))
        actions.append([])
        rewards.append([])
        first[0], over = True, False
        while not over and most:
            environment.observe(seen[0])
            action = int(agent.act(seen, first, [np.random.default_rng(0)])[0])
            step = environment.step(action)
            actions[-1].append(action)
            rewards[-1].append(step.reward)
            first[0], over, most = False, step.terminated or step.truncated, most - 1
    return actions, rewards


class Evil:
    """Its pickle touches a file."""

    def __init__(self, touched):
        self.touched = touched

    def __reduce__(self):
        return (Path.touch, (self.touched,))
