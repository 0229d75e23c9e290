"""An agent that says what it was made for is not played with anything else."""

from types import SimpleNamespace

import numpy as np
import pytest
from gymnasium import spaces

from arcademark.agents.adapters import adapt
from arcademark.environments.registry import environment_spec, load_suite
from arcademark.errors import ArcadeMarkError
from arcademark.suite.protocols import protocol, step_protocol

SCREENS = spaces.Box(0, 255, (4, 84, 84), np.uint8)


class Model:
    """As Stable-Baselines3's: it plays whatever it is shown."""

    def __init__(self, actions=None, observations=None):
        self.action_space, self.observation_space = actions, observations

    def predict(self, observation):
        return 0


def pong(**changes):
    return environment_spec("pong", protocol("machado-2018").override(changes))


@pytest.mark.parametrize(
    ("actions", "observations"),
    [
        (None, None),
        (spaces.Discrete(18), SCREENS),
        (SimpleNamespace(n=np.int64(18)), SimpleNamespace(shape=(4, 84, 84), dtype=np.dtype("uint8"))),
        (18, "screens"),
        (list(range(18)), None),
    ],
)
def test_what_fits_or_says_nothing_plays(actions, observations):
    assert adapt(Model(actions, observations), "a", pong()).where == "agent a on pong"


def box(*shape, dtype=np.uint8):
    return spaces.Box(0, 1 if dtype == np.float32 else 255, shape, dtype)


def test_a_model_that_turns_colour_pictures_itself_plays():
    env = pong(observation="rgb", screen_size="none", frame_stack=1)
    assert adapt(Model(None, box(3, 210, 160)), "a", env).where == "agent a on pong"


@pytest.mark.parametrize(
    ("actions", "observations", "message"),
    [
        (spaces.Discrete(4), None, "the game has 18 actions under machado-2018; load the model for this game"),
        (spaces.Discrete(6), None, "18 actions .*; try --override action_set=minimal, which has 6"),
        (spaces.Discrete(18, start=1), None, "18 actions .*; expected a discrete one"),
        (spaces.Box(-1, 1, (18,)), None, r"made for Box\(.*; expected a discrete one, of actions from 0 to 17"),
        (None, box(84, 84, 4), r"puts the screens last: np\.moveaxis\(observation, 0, -1\)"),
        (None, box(84, 84), "try --override frame_stack=1"),
        (None, box(4, 96, 80), "try --override screen_size=96x80"),
        (None, box(210, 160, 3), "--override observation=rgb --override frame_stack=1 --override screen_size=none"),
        (None, box(5, 5, 5, 5, 5), "wrap it in an agent that reshapes them"),
        (None, box(4, 84, 84, dtype=np.float32), "float32.* and uint8 under machado-2018; wrap it in an agent that"),
        (None, spaces.Dict(screen=SCREENS), r"made for Dict\(.*; expected arrays of shape"),
    ],
)
def test_others_are_refused_with_the_remedy(actions, observations, message):
    with pytest.raises(ArcadeMarkError, match=f"^agent a on pong: .*{message}"):
        adapt(Model(actions, observations), "a", pong())


def test_the_observation_that_it_asks_for_counts():
    agent = SimpleNamespace(act=lambda observations, first, rngs: [0], observation="ram", observation_space=box(128))
    assert adapt(agent, "a", pong()).observation == "ram"
    agent.observation = "palette"
    with pytest.raises(ArcadeMarkError, match=r"\(128,\).* the game gives \(210, 160\)"):
        adapt(agent, "a", pong())


@pytest.mark.parametrize(
    ("task", "actions", "told"),
    [
        ("cartpole_v1", spaces.Discrete(2), ""),
        ("cartpole_v1", spaces.Discrete(3), "expected 2 actions"),
        ("pendulum_v1", spaces.Box(-2, 2, (1,)), ""),
        ("pendulum_v1", spaces.MultiBinary(1), ""),  # its n is no number of actions
        ("pendulum_v1", spaces.Box(-2, 2, (2,)), "expected arrays of shape"),
    ],
)
def test_spaces_of_other_tasks(task, actions, told):
    env = environment_spec(task, step_protocol(load_suite("gymnasium:CartPole-v1,Pendulum-v1")))
    if not told:
        assert adapt(Model(actions), "model", env)
        return
    with pytest.raises(ArcadeMarkError, match=told):
        adapt(Model(actions), "model", env)
