"""From names to environments: what is played, what is refused, and the facts about ROMs it rests on."""

import pickle
import subprocess
import sys
from pathlib import Path

import ale_py
import numpy as np
import pytest
from ale_py import roms

from arcademark.environments.emulation import facts
from arcademark.environments.emulation.atari import rom_path
from arcademark.environments.emulation.palettes import gray_table, rgb_table
from arcademark.environments.registry import as_asked, environment_spec, open_environment, rom_checksum
from arcademark.errors import ArcadeMarkError
from arcademark.suite.protocols import differences, protocol, protocols
from arcademark.suite.tasks import games

SOME = ["pong", "pacman", "air_raid", "carnival", "skiing"]


@pytest.mark.parametrize(
    ("game", "name", "changes", "shape", "actions"),
    [
        ("pong", "ale-2013", {}, (210, 160), 18),
        ("pong", "ale-v5", {}, (210, 160, 3), 6),
        ("pong", "ale-2013", {"observation": "ram"}, (128,), 18),
        ("pacman", "ale-2013", {}, (250, 160), 18),
        ("skiing", "world-records", {}, (4, 84, 84), 9),
        ("pong", "world-records", {"frame_stack": 1}, (84, 84), 18),
        ("toy", "world-records", {}, (4, 8, 8), 18),
        ("toy", "world-records", {"action_set": "minimal"}, (4, 8, 8), 3),
    ],
)
def test_shapes_and_actions(game, name, changes, shape, actions):
    chosen = protocol(name).override(changes)
    if name == "ale-v5":
        chosen = chosen.override({"action_set": "minimal"})
    spec = environment_spec(game, chosen)
    assert (spec.observation_shape, spec.num_actions) == (shape, actions)
    assert pickle.loads(pickle.dumps(spec)) == spec
    env = open_environment(spec)
    env.reset(np.random.default_rng(0))
    env.observe(np.empty(shape, np.uint8))


@pytest.mark.parametrize(
    ("game", "kind", "shape"),
    [
        ("pong", "palette", (210, 160)),
        ("carnival", "palette", (214, 160)),
        ("pong", "ram", (128,)),
        ("toy", "ram", (8,)),
    ],
)
def test_other_observations_leave_the_rest_of_the_protocol_as_it_is(game, kind, shape):
    spec = environment_spec(game, protocol("world-records"))
    seen = as_asked(spec, kind)
    assert seen.observation_shape == shape
    assert {difference.setting for difference in differences(spec.protocol, seen.protocol)} <= {
        *("observation", "screen_size", "max_pool", "frame_stack"),
    }
    assert seen.protocol.observation == kind
    assert as_asked(seen, kind) == seen
    assert as_asked(spec, None) == spec


def test_frames_per_action_replaces_the_frame_skip():
    spec = environment_spec("toy", protocol("ale-2013"), frames_per_action=1)
    assert spec.frames_per_action == spec.protocol.frame_skip == 1
    assert as_asked(environment_spec("toy", protocol("ale-2013")), None, 1) == spec
    env = open_environment(spec)
    env.reset(np.random.default_rng(0))
    env.step(0)
    assert env.episode_frames == 1
    with pytest.raises(ArcadeMarkError, match="at least 1 frame"):
        environment_spec("toy", protocol("ale-2013"), frames_per_action=0)


def test_every_runnable_protocol_gives_a_spec_and_the_others_say_why_not():
    for name, each in protocols().items():
        if each.runnable:
            environment_spec("pong", each)
        else:
            with pytest.raises(ArcadeMarkError, match=f"{name}.*human play"):
                environment_spec("pong", each)


@pytest.mark.parametrize(
    ("game", "changes", "message"),
    [
        ("pong", {"mode": 7}, "game 'pong' has no mode 7; it has 0, 1"),
        ("pong", {"difficulty": 9}, "game 'pong' has no difficulty 9; it has"),
        ("toy", {"mode": 1}, "game 'toy' has no mode 1"),
        ("pong", {"screen_size": (211, 84)}, "does not fit into the 210x160 screen of 'pong'"),
    ],
)
def test_what_a_game_cannot_do_is_refused_before_it_is_loaded(game, changes, message):
    with pytest.raises(ArcadeMarkError, match=message):
        environment_spec(game, protocol("world-records").override(changes))


@pytest.mark.parametrize("game", sorted(facts.TWO_PLAYER))
def test_roms_that_end_the_interpreter_are_never_loaded(game):
    with pytest.raises(ArcadeMarkError, match="two players"):
        rom_path(game)


def test_missing_and_wrong_roms_are_refused(tmp_path, monkeypatch):
    spec = environment_spec("pong", protocol("world-records"))
    monkeypatch.setenv("ALE_ROMS_DIR", str(tmp_path))
    with pytest.raises(ArcadeMarkError, match=r"no ROM .*pong\.bin"):
        open_environment(spec)
    (tmp_path / "pong.bin").write_bytes(b"not a ROM" * 100)
    with pytest.raises(ArcadeMarkError, match="not the ROM"):
        open_environment(spec)
    (tmp_path / "pong.bin").write_bytes(Path(roms.__path__[0], "breakout.bin").read_bytes())
    with pytest.raises(ArcadeMarkError, match="not the ROM"):
        open_environment(spec)


def test_checksums_are_those_of_ale():
    expected = roms._get_expected_bin_hashes()
    assert rom_checksum("Q*bert") == expected["qbert.bin"]
    assert rom_checksum("toy") == ""


def test_a_spec_needs_no_emulator_and_play_on_our_emulator_no_numba():
    code = (
        "import sys; from arcademark.environments.registry import choose_emulator, environment_spec;"
        "from arcademark.suite.protocols import protocol; environment_spec('pong', protocol('saber'));"
        "assert not {'ale_py', 'numba', 'gymnasium'} & set(sys.modules);"
        "from arcademark.runs.plan import make_plan; from arcademark.runs.playing.trial import TrialPlayer;"
        "short = protocol('world-records').override({'max_frames_per_episode': 100});"
        "played = list(TrialPlayer(make_plan('random', 'pong', short).trials[0], choose_emulator('pong')).play([0]));"
        "assert played and 'numba' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("game", [pytest.param(one, marks=() if one in SOME else pytest.mark.slow) for one in games()])
def test_facts_of_roms(game):
    ale = ale_py.ALEInterface()
    ale.loadROM(roms.get_rom_path(game))
    assert ale.getScreenDims() == facts.screen_shape(game)
    assert ale.getRAMSize() == facts.RAM_SIZE
    actions = ale_py.Action.__members__
    assert [actions[name] for name in games()[game].full_actions] == ale.getLegalActionSet()
    assert [actions[name] for name in games()[game].minimal_actions] == ale.getMinimalActionSet()
    assert games()[game].modes == tuple(ale.getAvailableModes())
    assert games()[game].difficulties == tuple(ale.getAvailableDifficulties())
    rgb, gray = rgb_table(facts.standard(game)), gray_table(facts.standard(game))
    rng = np.random.default_rng(0)
    for frame in range(200):
        ale.act(int(rng.integers(18)))
        if frame % 10 == 0:
            screen = ale.getScreen()
            np.testing.assert_array_equal(rgb[screen], ale.getScreenRGB())
            np.testing.assert_array_equal(gray[screen], ale.getScreenGrayscale())


@pytest.mark.slow
def test_nearly_every_colour_of_both_standards_is_right():
    """Random bytes in the console's memory bring out the colours that play does not."""
    for game in ("atlantis", "air_raid"):
        ale = ale_py.ALEInterface()
        ale.loadROM(roms.get_rom_path(game))
        rgb, gray = rgb_table(facts.standard(game)), gray_table(facts.standard(game))
        rng = np.random.default_rng(0)
        seen = set()
        for frame in range(600):
            for _ in range(8):
                ale.setRAM(int(rng.integers(128)), int(rng.integers(256)))
            ale.act(int(rng.integers(18)))
            screen = ale.getScreen()
            seen |= set((screen.ravel()[::7] // 2).tolist())
            np.testing.assert_array_equal(rgb[screen], ale.getScreenRGB())
            np.testing.assert_array_equal(gray[screen], ale.getScreenGrayscale())
            if frame % 50 == 49:
                ale.reset_game()
        assert len(seen) > 100
