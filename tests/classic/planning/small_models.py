"""Small games with the interface of a generative model, and what is needed to plan in them."""

from dataclasses import replace

import numpy as np

from arcademark.environments.base import EnvironmentSpec, Step
from arcademark.environments.generative import State
from arcademark.suite.protocols import protocol


def place(node, frames, ended, lives=0):
    """Return a state: where in the graph, and after how many frames. Equal ones have equal futures."""
    return State("pong", node, 0, frames, lives, ended)


START = place(0, 0, False)


class SmallModel:
    """A graph as a game: action a leads from node i to ``edges[i][a]`` and gives ``rewards[i][a]``.

    The episode ends in the nodes `ends`, and is cut off after `cap` frames. No step is possible after it.
    """

    keeps = True

    def __init__(self, edges, rewards, ends=(), cap=10**9, frame_skip=1):
        self.edges, self.rewards, self.ends, self.cap = edges, rewards, frozenset(ends), cap
        self.num_actions = len(edges[0])
        settings = replace(protocol("ale-2013"), frame_skip=frame_skip)
        self.spec = EnvironmentSpec("pong", settings, ("NOOP",) * self.num_actions, (1,))
        self.frames = 0
        self.at = START

    @property
    def ended(self):
        return self.at.ended

    def save(self):
        return self.at

    def restore(self, state):
        self.at = state

    def step(self, action):
        assert not self.at.ended, "a step after the end"
        node, frames = self.edges[self.at.inner][action], self.at.frames + self.spec.protocol.frame_skip
        self.frames += self.spec.protocol.frame_skip
        reward = float(self.rewards[self.at.inner][action])
        terminated = node in self.ends
        truncated = not terminated and frames >= self.cap
        self.at = place(node, frames, terminated or truncated)
        return Step(reward, terminated, truncated)

    def use(self, rng):
        pass


def random_model(seed, *, num_nodes=9, num_actions=3, ends=1, cap=10**9, frame_skip=1):
    """Make a random game with few different rewards, so that ties and duplicates are common."""
    rng = np.random.default_rng(seed)
    edges = rng.integers(num_nodes, size=(num_nodes, num_actions))
    rewards = rng.choice([0, 0, 0, 1, 1, -1, 4], size=(num_nodes, num_actions))
    over = rng.choice(np.arange(1, num_nodes), size=min(ends, num_nodes - 1), replace=False)
    return SmallModel(edges.tolist(), rewards.tolist(), over.tolist(), cap, frame_skip)


def chain(rewards, ends=True):
    """Make a game of one action that gives these rewards in turn."""
    edges = [[i + 1] for i in range(len(rewards))] + [[len(rewards)]]
    return SmallModel(edges, [[reward] for reward in rewards] + [[0]], [len(rewards)] if ends else [])


def decide(planner, model, state, first, rng):
    """Let a planner decide; return the action and how often it yielded."""
    plan, yields = planner.plan(model, state, first, rng), 0
    while True:
        try:
            next(plan)
        except StopIteration as stop:
            return stop.value, yields
        yields += 1


def play(planner, model, seed, decisions, start=None, first=True):
    """Play an episode as the runner does; return the actions and the model's state after them."""
    rng = np.random.default_rng(seed)
    state = start or START
    actions = []
    for i in range(decisions):
        action, _ = decide(planner, model, state, first and i == 0, rng)
        actions.append(action)
        model.restore(state)
        model.step(action)
        state = model.save()
        if state.ended:
            break
    return actions, state


def shape(node):
    """Write a tree as nested tuples, to compare."""
    children = tuple(shape(child) for child in node.children)
    return (node.action, node.reward, node.ended, node.visits, node.value, children)
