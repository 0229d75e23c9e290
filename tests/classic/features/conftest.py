import pytest

from arcademark.environments.registry import environment_spec
from arcademark.suite.protocols import protocol


@pytest.fixture(scope="session")
def make_env():
    """Give the spec of a game under a named protocol with some settings changed."""

    def make(game, name="ale-2013", **changes):
        return environment_spec(game, protocol(name).override(changes) if changes else protocol(name))

    return make
