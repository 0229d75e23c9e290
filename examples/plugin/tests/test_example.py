import numpy as np
import pytest
from arcademark_example.agents import Sticky
from arcademark_example.features import Bytes

from arcademark import protocol
from arcademark.environments.registry import environment_spec
from arcademark.testing import check_agent, check_features


@pytest.mark.parametrize("hold", [1, 4])
def test_the_agent_conforms(hold: int) -> None:
    env = environment_spec("toy", protocol("world-records"))
    check_agent(lambda: Sticky(env, hold=hold), env, np.random.default_rng(0))


def test_the_features_conform() -> None:
    env = environment_spec("toy", protocol("ale-2013"))
    check_features(lambda: Bytes(env), env, np.random.default_rng(0))
