"""Simple UCT on ale-py, with which `planning.py` compares ours."""

from __future__ import annotations

import math
import random
from typing import Any

import ale_py

FRAMES = 5
EXPLORATION = 0.1
DISCOUNT = 0.999


class PlainNode:
    """A node of the tree with its state."""

    def __init__(self, state: Any, reward: float, ended: bool) -> None:
        self.state, self.reward, self.ended = state, reward, ended
        self.children: dict[int, PlainNode] = {}
        self.visits, self.total = 0, 0.0

    def best_child(self) -> PlainNode:
        return max(self.children.values(), key=self.bound)

    def bound(self, child: PlainNode) -> float:
        return child.total / child.visits + EXPLORATION * math.sqrt(math.log(self.visits) / child.visits)


class PlainUCT:
    """Planner that simulates from an emulator's present state.

    Parameters
    ----------
    ale : ale_py.ALEInterface
    num_actions : int
        Number of the console's actions to use, from the first.
    horizon : int
        Length of simulations in actions.
    """

    def __init__(self, ale: ale_py.ALEInterface, num_actions: int, horizon: int) -> None:
        self.ale, self.actions, self.horizon = ale, range(num_actions), horizon
        self.start = ale.cloneState()
        self.frames = 0
        """Frames of the last search."""

    def search(self, simulations: int) -> PlainNode:
        self.rng, self.frames = random.Random(0), 0
        root = PlainNode(self.start, 0.0, False)
        for _ in range(simulations):
            self.simulate(root)
        return root

    def step(self, action: int) -> float:
        reward = 0
        for _ in range(FRAMES):
            reward += self.ale.act(action)
            self.frames += 1
            if self.ale.game_over():
                break
        return float(reward)

    def descend(self, root: PlainNode) -> list[PlainNode]:
        path = [root]
        while path[-1].visits and not path[-1].ended and len(path) <= self.horizon:
            node = path[-1]
            untried = [action for action in self.actions if action not in node.children]
            if untried:
                action = self.rng.choice(untried)
                self.ale.restoreState(node.state)
                reward = self.step(action)
                node.children[action] = PlainNode(self.ale.cloneState(), reward, self.ale.game_over())
                path.append(node.children[action])
            else:
                path.append(node.best_child())
        return path

    def simulate(self, root: PlainNode) -> None:
        path = self.descend(root)
        result, discount = 0.0, DISCOUNT
        self.ale.restoreState(path[-1].state)
        for _ in range(self.horizon + 1 - len(path)):
            if self.ale.game_over():
                break
            result += discount * self.step(self.rng.choice(self.actions))
            discount *= DISCOUNT
        for node in reversed(path):
            result += node.reward
            node.total += result
            node.visits += 1
            result *= DISCOUNT
