"""Small games whose memory and screen can be seen."""

import numpy as np
from small_models import SmallModel, random_model


class SeeingModel(SmallModel):
    """A small game with a memory of a few bytes for each node; the others of the 128 are 0.

    The screen of a node is that of 210 × 160 bytes in `screens`, or black.
    """

    def __init__(self, edges, rewards, memory, ends=(), cap=10**9, frame_skip=1, screens=None):
        super().__init__(edges, rewards, ends, cap, frame_skip)
        self.memory, self.screens = memory, screens or {}
        self.ram_size, self.screen_shape = 128, (210, 160)

    def ram(self, out):
        out[:] = 0
        out[: len(self.memory[self.at.inner])] = self.memory[self.at.inner]

    def screen(self, out):
        out[:] = self.screens.get(self.at.inner, 0)


def seeing_model(seed, *, num_nodes=12, num_bytes=2, num_values=3, **more):
    """Make a random game in which a few bytes take a few values."""
    model = random_model(seed, num_nodes=num_nodes, **more)
    memory = np.random.default_rng(seed).integers(num_values, size=(num_nodes, num_bytes)).tolist()
    return SeeingModel(
        model.edges, model.rewards, memory, model.ends, model.cap, model.spec.protocol.frame_skip
    )  # fmt: skip


def tile_screen(*patches):
    """Make a black screen with (row, column, colour) patches, one pixel each, in tiles of 15 × 10."""
    screen = np.zeros((210, 160), np.uint8)
    for row, column, colour in patches:
        screen[15 * row + 7, 10 * column + 3] = 2 * colour
    return screen


def paths(root):
    """Return all nodes of a tree by the actions that lead to them, in the order of `walk`."""
    found, waiting = {}, [(root, ())]
    while waiting:
        node, path = waiting.pop()
        found[path] = node
        waiting.extend((child, (*path, child.action)) for child in reversed(node.children))
    return found


class Replayer:
    """Reaches each place of a model by playing all actions from a start; keeps nothing."""

    def __init__(self, model, start):
        self.model, self.start = model, start

    def __call__(self, path):
        """Return the place, the last reward and the atoms there."""
        self.model.restore(self.start)
        reward, ram = 0.0, np.zeros(128, np.uint8)
        for action in path:
            reward = self.model.step(action).reward
        self.model.ram(ram)
        return self.model.at, reward, set(enumerate(ram.tolist()))
