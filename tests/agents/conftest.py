from pathlib import Path

import pytest

from arcademark.environments.base import EnvironmentSpec
from arcademark.suite.protocols import protocol
from arcademark.suite.tasks import JOYSTICK_ACTIONS

ROOT = Path(__file__).parents[2]


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


@pytest.fixture
def fakes():
    return ROOT / "tests" / "fakes"


@pytest.fixture
def own_agent(tmp_path):
    """Write an agent file and give its reference."""

    def write(code, factory="make_agent", name="own.py"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(code)
        return f"{path}:{factory}"

    return write
