from pathlib import Path

import numpy as np
import pytest

from arcademark.agents.conformance import check_agent
from arcademark.agents.loading import agent_specs, make_policy
from arcademark.runs.execution import execute
from arcademark.runs.plan import make_plan
from arcademark.runs.verify import verify
from arcademark.suite.protocols import protocol

EXAMPLE = f"{Path(__file__).parents[2]}/examples/my_agent.py:make_agent"


@pytest.mark.parametrize("shape", [(4, 84, 84), (210, 160, 3), (128,)])
@pytest.mark.parametrize("settings", [{}, {"boredom": "1", "pixels": "16"}])
def test_the_example_conforms_on_every_kind_of_observation(shape, settings, make_env):
    env = make_env(shape=shape)
    (spec,) = agent_specs(EXAMPLE, settings)
    check_agent(lambda: make_policy(spec, env), env, np.random.default_rng(0))


def test_the_example_holds_its_action_until_it_is_bored(env):
    policy = make_policy(agent_specs(EXAMPLE, {"boredom": "5"})[0], env)
    observation = np.zeros((1, *env.observation_shape), np.uint8)
    rngs = [np.random.default_rng(0)]
    actions = [int(policy.act(observation, np.array([step == 0]), rngs)[0]) for step in range(30)]
    assert len(set(actions[:5])) == 1
    assert len(set(actions)) > 3


def test_the_example_plays_the_emulator(tmp_path):
    rules = protocol("world-records").override({"max_frames_per_episode": 400})
    plan = make_plan(agent_specs(EXAMPLE, {"boredom": "2"}), ["pong", "toy"], rules, episodes=2)
    assert plan.trials[0].agent.label == "my_agent.py:make_agent(boredom=2)"
    assert execute(plan, tmp_path / "run", workers=2).complete
    assert verify(tmp_path / "run", workers=1).confirmed == 4
