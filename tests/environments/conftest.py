import pytest

from arcademark.environments.registry import environment_spec, open_environment
from arcademark.suite.protocols import protocol


@pytest.fixture
def make_spec():
    """Give the spec of a game under a named protocol with some settings changed."""

    def make(game, name="world-records", **changes):
        return environment_spec(game, protocol(name).override(changes) if changes else protocol(name))

    return make


@pytest.fixture
def open_game(make_spec):
    """Open a game under a named protocol with some settings changed."""

    def open_it(game, name="world-records", *, training=False, **changes):
        return open_environment(make_spec(game, name, **changes), training=training)

    return open_it
