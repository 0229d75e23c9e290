"""An environment of any spaces, to be made by Gymnasium: it shows and takes whatever is in them."""

import dataclasses

import gymnasium
import numpy as np
from gymnasium import spaces

from arcademark.environments.base import EnvironmentSpec
from arcademark.environments.registry import environment_spec
from arcademark.environments.tasks import fill
from arcademark.suite.protocols import step_protocol
from arcademark.suite.task_suites import read_suite

OBSERVED = {
    "vector": spaces.Box(-1, 1, (3,)),
    "grid": spaces.Box(0, 1, (4, 4, 2), bool),
    "number": spaces.Discrete(5),
    "later": spaces.Discrete(5, start=2),
    "numbers": spaces.MultiDiscrete([3, 4]),
    "switches": spaces.MultiBinary(6),
    "picture": spaces.Box(0, 255, (40, 40, 3), np.uint8),
    "small": spaces.Box(0, 255, (7, 7, 3), np.uint8),
    "parts": spaces.Dict({"at": spaces.Discrete(4), "speed": spaces.Box(-9, 9, (2,)), "grid": spaces.MultiBinary(3)}),
    "spoken": spaces.Dict({"said": spaces.Text(9), "both": spaces.Tuple((spaces.Discrete(2), spaces.Box(0, 9, (2,))))}),
    "text": spaces.Text(4),
}
TAKEN = {
    "two": spaces.Discrete(2),
    "reals": spaces.Box(np.array([-2, -1], "f4"), np.array([2, 3], "f4")),
    "levels": spaces.MultiDiscrete([2, 3]),
    "buttons": spaces.MultiBinary(3),
    "steps": spaces.Box(0, 3, (2,), np.int32),
}


class Spaces(gymnasium.Env):
    def __init__(self, observed, taken):
        self.observation_space, self.action_space = OBSERVED[observed], TAKEN[taken]

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.observation_space.seed(int(self.np_random.integers(2**31)))
        return self.observation_space.sample(), {}

    def step(self, action):
        assert self.action_space.contains(action), action
        return self.observation_space.sample(), float(np.sum(action)), bool(self.np_random.random() < 0.1), False, {}


gymnasium.register("Spaces-v0", Spaces)


def spec_of(observed: str, taken: str = "two") -> EnvironmentSpec:
    """Return a task of these spaces."""
    given = f'observed = "{observed}", taken = "{taken}"'
    text = f'[tasks.made]\nenvironment = "fakes.spaces:Spaces-v0"\nkwargs = {{ {given} }}\n'
    rules = step_protocol(read_suite(text, "made.toml", "made"))
    return dataclasses.replace(environment_spec("made", rules), seed=3)


def sampled(spec: EnvironmentSpec, observed: str, rows: int) -> np.ndarray:
    """Return rows of observations of a task."""
    out = np.zeros((rows, *spec.observation_shape), spec.observation_dtype)
    OBSERVED[observed].seed(0)
    for row in range(rows):
        fill(out[row, ...], OBSERVED[observed].sample(), OBSERVED[observed])
    return out
