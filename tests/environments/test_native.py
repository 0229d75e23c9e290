"""The console behind the environments' contract: what an agent sees is what it would see on ale-py."""

import numpy as np
import pytest

from arcademark.console import build, prove
from arcademark.environments import registry
from arcademark.environments.emulation.atari import AtariConsole
from arcademark.environments.emulation.native import NativeConsole
from arcademark.environments.registry import choose_emulator, open_environment
from arcademark.errors import ArcadeMarkError


@pytest.fixture(scope="module", autouse=True)
def _core():
    if build.compiler() is None:
        pytest.skip("no C compiler: the console cannot be compiled")


def test_a_screen_that_was_not_expected_is_played_again(make_spec):
    """A game whose memory is observed draws no frame; looking at it changes nothing."""
    seen = {"observation": "ram", "screen_size": None, "frame_stack": 1, "max_pool": False}
    spec = make_spec("beam_rider", **seen)
    shown, hidden, unseen = (open_environment(spec, emulator=emulator) for emulator in ("ale", "console", "console"))
    for environment in (shown, hidden, unseen):
        environment.reset(np.random.default_rng(0))
    for action in np.random.default_rng(2).integers(18, size=120).tolist():
        assert len({environment.step(action) for environment in (shown, hidden, unseen)}) == 1
        if action % 3 == 0:
            assert np.array_equal(shown.render(), hidden.render())
            assert np.array_equal(shown.render(), hidden.render())
    assert hidden._console.save() == unseen._console.save()


@pytest.fixture
def nothing_remembered():
    """Ask anew whether there is a core, in the test and after it."""
    registry.core_missing.cache_clear()
    yield
    registry.core_missing.cache_clear()


def test_the_console_plays_where_it_is_proven_and_ale_py_elsewhere(make_spec, monkeypatch):
    assert choose_emulator("Space Invaders") == choose_emulator("pong", "console") == "console"
    assert choose_emulator("pong", "ale") == choose_emulator("toy") == "ale"
    assert isinstance(open_environment(make_spec("pong"))._console, NativeConsole)
    monkeypatch.setattr(prove, "proven", lambda: {"qbert": {}})
    assert choose_emulator("pong") == "ale"
    assert isinstance(open_environment(make_spec("pong"))._console, AtariConsole)
    with pytest.raises(ArcadeMarkError, match="game 'pong': the console is not proven for it"):
        open_environment(make_spec("pong"), emulator="console")


def test_choosing_compiles_nothing_where_it_is_asked_not_to(monkeypatch, tmp_path, nothing_remembered):
    monkeypatch.setenv("ARCADEMARK_CACHE", str(tmp_path))
    assert choose_emulator("pong", compiles=False) == "ale"
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ArcadeMarkError, match="not compiled yet"):
        choose_emulator("pong", "console", compiles=False)


def test_the_proof_of_another_core_does_not_count(monkeypatch):
    prove.proven.cache_clear()
    monkeypatch.setattr(prove, "version", lambda: "0" * 16)
    assert prove.proven() == {}
    monkeypatch.undo()
    prove.proven.cache_clear()
    assert prove.proven()
