import pytest

from arcademark.environments.base import EnvironmentSpec
from arcademark.suite.protocols import protocol
from arcademark.suite.tasks import JOYSTICK_ACTIONS


def make_spec(actions=JOYSTICK_ACTIONS, protocol_name="world-records", shape=(4, 6, 5), game="pong"):
    return EnvironmentSpec(game, protocol(protocol_name), tuple(actions), shape)


@pytest.fixture
def env():
    return make_spec()


@pytest.fixture
def small_env():
    return make_spec(("NOOP", "RIGHT", "LEFT"))


@pytest.fixture
def make_env():
    return make_spec
