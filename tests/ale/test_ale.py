"""ale-py's interface and environments on our emulator, against ale-py itself."""

import ctypes
import functools
import gc
import importlib
import os
import pickle
import shutil
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import ale_py
import gymnasium
import msgspec
import numpy as np
import pytest
from ale_py import roms
from gymnasium.vector import AutoresetMode
from PIL import Image

import arcademark
import arcademark.ale
from arcademark.ale import environments as environments_of_both
from arcademark.ale import envpool
from arcademark.emulator import build, cartridge, translate
from arcademark.errors import ArcadeMarkError, ArcadeMarkWarning
from arcademark.suite import tasks
from arcademark.suite.subsets import resolve_tasks

ale_py.ALEInterface.setLoggerMode(ale_py.LoggerMode.Error)
ATARI_57 = resolve_tasks("atari-57")
SETTERS = {bool: "setBool", int: "setInt", float: "setFloat", str: "setString"}


@pytest.fixture(scope="module", autouse=True)
def core():
    if build.compiler() is None:
        pytest.skip("no C compiler: the emulator cannot be compiled")
    return build.core()


def interface(package, game, **settings):
    ale = package.ALEInterface()
    for key, value in ({"random_seed": 5} | settings).items():
        getattr(ale, SETTERS[type(value)])(key, value)
    ale.loadROM(roms.get_rom_path(game))
    return ale


def both(game, **settings):
    theirs, ours = (interface(package, game, **settings) for package in (ale_py, arcademark.ale))
    assert ours.emulator == "console"
    return theirs, ours


def seen(ale, *, screens=True):
    numbers = ale.lives(), ale.game_over(), ale.game_over(with_truncation=False), ale.game_truncated()
    memory = ale.getFrameNumber(), ale.getEpisodeFrameNumber(), ale.getRAM().tobytes()
    pictures = (ale.getScreen, ale.getScreenRGB, ale.getScreenGrayscale) if screens else ()
    return *numbers, *memory, *(picture().tobytes() for picture in pictures)


def assert_same_play(game, frames, strengths=(1.0,), written=0.0, **settings):
    """Play both alike, with resets, other modes, screens that are not always asked for, and bytes written to memory."""
    theirs, ours = both(game, **settings)
    rng = np.random.default_rng(frames)
    for name in ("LegalActionSet", "MinimalActionSet", "AvailableModes", "AvailableDifficulties", "ScreenDims"):
        assert getattr(theirs, f"get{name}")() == getattr(ours, f"get{name}")()
    assert seen(theirs) == seen(ours)
    actions = theirs.getLegalActionSet()
    for number in range(frames):
        if number % 4 == 0:
            action = actions[rng.integers(len(actions))]
        strength, looked = strengths[rng.integers(len(strengths))], rng.random() < 0.3
        assert theirs.act(action, strength) == ours.act(action, strength)
        assert seen(theirs, screens=looked) == seen(ours, screens=looked), number
        if rng.random() < written:
            address, value = (int(number) for number in rng.integers((128, 256)))
            for ale in (theirs, ours):
                ale.setRAM(address, value)
        if rng.random() < (0.05 if theirs.game_over() else 0.005):
            for what, positions in (("Mode", "Modes"), ("Difficulty", "Difficulties")):
                position = int(rng.choice(getattr(ours, f"getAvailable{positions}")()))
                for ale in (theirs, ours) if rng.random() < 0.3 else ():
                    getattr(ale, f"set{what}")(position)
            for ale in (theirs, ours):
                ale.reset_game()
            assert seen(theirs) == seen(ours)


def assert_same_restores(game, frames, include_rng):
    """Restore both alike; of our emulator the screen is the state's at once, of ale-py from the next frame on."""
    theirs, ours = both(game, repeat_action_probability=0.25)
    other = interface(arcademark.ale, game, random_seed=6)
    rng, saved = np.random.default_rng(frames), []
    for number in range(frames):
        if rng.random() < 0.05:
            saved.append((*(ale.cloneState(include_rng=include_rng) for ale in (theirs, ours)), seen(ours)[-1]))
        if saved and rng.random() < 0.05:
            their, our, shown = saved[rng.integers(len(saved))]
            theirs.restoreState(their)
            read = arcademark.ale.ALEState(our.serialize())
            assert read == pickle.loads(pickle.dumps(our)) == our
            assert hash(read) == hash(our)
            for ale in (other, ours):
                ale.restoreState(read)
                assert ale.cloneState(include_rng=include_rng).serialize() == our.serialize()
                assert seen(ale)[-1] == shown
            assert seen(theirs, screens=False) == seen(ours, screens=False) == seen(other, screens=False)
            assert [our.getFrameNumber(), our.getEpisodeFrameNumber(), our.getCurrentMode(), our.getDifficulty()] == [
                *(their.getFrameNumber(), their.getEpisodeFrameNumber(), their.getCurrentMode(), their.getDifficulty())
            ]
        if theirs.game_over() or rng.random() < 0.01:
            for ale in (theirs, ours):
                ale.reset_game()
        action = int(rng.integers(18))
        assert theirs.act(action) == ours.act(action)
        assert seen(theirs) == seen(ours), number


def environments(game, **keywords):
    name = "".join(word.title() for word in game.split("_"))
    return [gymnasium.make(f"{space}/{name}-v5", **keywords) for space in ("ALE", "ArcadeMark")]


def assert_same_environments(game, steps, seed=0, **keywords):
    theirs, ours = environments(game, **keywords)
    assert ours.unwrapped.ale.emulator == "console"
    assert (theirs.action_space, theirs.observation_space) == (ours.action_space, ours.observation_space)
    ours.action_space.seed(seed)
    resets = True
    for number in range(steps):
        if resets:
            (one, *info), (two, *our_info) = (env.reset(seed=None if number else seed) for env in (theirs, ours))
        else:
            action = ours.action_space.sample()
            (one, *info), (two, *our_info) = theirs.step(action), ours.step(action)
        assert one.tobytes() == two.tobytes()
        assert info == our_info
        resets = any(info[1:3]) or number % 60 == 59
    assert ours.render().shape[2] == 3 if ours.render_mode else True


SETTINGS = [
    {"repeat_action_probability": 0.1, "frame_skip": 3, "max_num_frames_per_episode": 150},
    {"repeat_action_probability": 0.0, "truncate_on_loss_of_life": True, "frame_skip": 2},
    {"repeat_action_probability": 0.5, "random_seed": -7},
]


@pytest.mark.parametrize(("game", "settings"), [("breakout", SETTINGS[0]), ("riverraid", {})])
def test_frames_are_those_of_ale_py(game, settings):
    assert_same_play(game, 120, strengths=(1.0, 0.3, np.float32(0.77), -1.5), written=0.05, **settings)


@pytest.mark.slow
@pytest.mark.parametrize("game", ["adventure", "amidar", "double_dunk", "galaxian", "qbert", "skiing"])
def test_settings_are_those_of_ale_py(game):
    """Steps that a reset contains are subject to them too."""
    for settings in SETTINGS:
        assert_same_play(game, 100, (1.0, 0.4), **settings)


def test_restored_games_are_those_of_ale_py():
    assert_same_restores("breakout", 60, include_rng=True)


@pytest.mark.slow
@pytest.mark.parametrize("game", ["alien", "elevator_action", "qbert"])
def test_restored_games_of_other_kinds_are_those_of_ale_py(game):
    """Cut frames, memory in the cartridge, a partial frame at the start."""
    assert_same_restores(game, 200, include_rng=False)


KEYWORDS = [
    {},
    {"obs_type": "grayscale", "frameskip": (2, 5), "render_mode": "rgb_array"},
    {"obs_type": "ram", "repeat_action_probability": 0.0, "full_action_space": True, "mode": 4, "difficulty": 1},
    {"continuous": True, "frameskip": 1, "max_num_frames_per_episode": 50},
]


@pytest.mark.parametrize("keywords", KEYWORDS[:2])
def test_environments_are_those_of_ale_py(keywords):
    assert_same_environments("breakout", 40, **keywords)


@pytest.mark.slow
def test_environments_with_other_keywords_are_those_of_ale_py():
    for keywords in KEYWORDS[2:]:
        assert_same_environments("breakout", 100, **keywords)


@pytest.mark.slow
@pytest.mark.parametrize("game", ATARI_57)
def test_a_game_is_as_on_ale_py(game):
    assert_same_play(game, 40)
    if game != "yars_revenge":  # of which ale-py's states lack something
        assert_same_restores(game, 30, include_rng=False)


@pytest.mark.deep
@pytest.mark.parametrize("game", ATARI_57)
def test_long_play_is_as_on_ale_py(game):
    for seed in range(2):
        assert_same_play(game, 1_000, random_seed=seed)
        for keywords in ({}, KEYWORDS[1], {"obs_type": "ram", "repeat_action_probability": 0.0}):
            assert_same_environments(game, 100, seed, **keywords)
    if game != "yars_revenge":
        assert_same_restores(game, 300, include_rng=True)


def test_states_with_the_generator_repeat_what_follows():
    ale = interface(arcademark.ale, "freeway", repeat_action_probability=0.5)
    ale.act(ale_py.Action.UP)
    with_generator, without = ale.cloneSystemState(), ale.cloneState()
    assert with_generator != without
    endings = []
    for state in (with_generator, with_generator, without):
        ale.restoreSystemState(state)
        ale.act(0)
        ale.act(2)
        for action in [2, 5] * 20:
            ale.act(action)
        endings.append(ale.cloneState())
    assert endings[0].equals(endings[1])
    assert endings[0] != endings[2]


def test_written_memory_may_cut_frames_short():
    assert_same_play("assault", 250, written=0.05)
    ale = interface(arcademark.ale, "pong")
    ale.act(2)
    state, screen = ale.cloneState(), ale.getScreen()
    ale.setRAM(3, 7)
    ale.act(5)
    ale.restoreState(state)
    assert np.array_equal(ale.getScreen(), screen)


def test_what_is_no_state_is_refused():
    ale = interface(arcademark.ale, "pong")
    state = ale.cloneState(include_rng=True)
    with pytest.raises(ArcadeMarkError, match="damaged"):
        arcademark.ale.ALEState(state.serialize()[:-9])
    theirs, other = interface(ale_py, "pong").cloneState(), interface(arcademark.ale, "freeway").cloneState()
    for damaged in (b"", b"junk", b"\xff" * 100, theirs.serialize()[:100]):
        with pytest.raises(ArcadeMarkError, match="damaged"):
            arcademark.ale.ALEState(damaged)
    assert arcademark.ale.ALEState(theirs.serialize()) == theirs
    changed = [{"state": b"1"}, {"before": b"1"}, {"chance": b"1"}, {"chance": b"\xff" * 2500}, {"pictures": b"12"}]
    changed += [{"drawn": -1}, {"drawn": 2**32}, {"action": 2**31}, {"mode": 77}, {"difficulty": -1}]
    others = SimpleNamespace(_saved=5), object.__new__(arcademark.ale.ALEState), ale_py.ALEState()
    for wrong in (None, theirs, other, *others, *(altered(state, **change) for change in changed)):
        with pytest.raises(ArcadeMarkError, match="not a state of 'pong' that our emulator saved") as raised:
            ale.restoreState(wrong)
        assert isinstance(raised.value, TypeError)
    assert ale.cloneState(include_rng=True) == state


def altered(saved, /, **change):
    return arcademark.ale.ALEState._of(msgspec.structs.replace(saved._saved, **change))


def test_errors_are_of_the_same_types():
    theirs, ours = both("pong")
    screens = [np.zeros(shape, kind) for shape, kind in (((160, 210), np.uint8), ((210, 160), np.int32), (9, np.uint8))]
    calls = [
        *((name, screen) for screen in screens for name in ("getScreen", "getScreenRGB", "getScreenGrayscale")),
        *(("getRAM", np.zeros(size, kind)) for size, kind in ((1, np.uint8), (128, np.int32))),
        *(("setRAM", *pair) for pair in ((128, 1), (-1, 1), (1, 256), (1, -1))),
        *(("setMode", 99), ("setDifficulty", 99), ("setInt", "nothing", 1), ("setString", "frame_skip", "4")),
        *(("act", "up"), ("act", None), ("act", 1.5), ("act", -1), ("isSupportedROM", "nowhere"), ("loadROM", None)),
        *(
            ("act", 2**32 + 1),
            ("act", 10**30),
            ("act", 1, "1"),
            ("act", 1, 10**400),
            ("setMode", 2**32),
            ("setMode", 0.0),
        ),
        *(("game_over", 1), ("cloneState", None), ("restoreState", 5), ("restoreState", None), ("getRAM", None)),
        *(
            ("getRAM", bytes(128)),
            ("getRAM", bytearray(127)),
            ("getScreen", memoryview(bytes(33600)).cast("B", (210, 160))),
        ),
        *(
            ("getScreen", bytearray(33600)),
            ("getScreenRGB", np.zeros((210, 160, 3), np.uint8)[::-1]),
            ("setRAM", 0, 1.0),
        ),
        *(("saveScreenPNG", None), ("saveScreenPNG", b"x"), ("isSupportedROM", "/"), ("loadROM", 3)),
    ]
    for name, *arguments in calls:
        with pytest.raises(Exception) as expected:  # noqa: PT011 - whatever ale-py raises
            getattr(theirs, name)(*arguments)
        with pytest.raises(type(expected.value)):
            getattr(ours, name)(*arguments)
    for action in (18, 40, np.int64(3), np.uint8(4), True):
        assert theirs.act(action) == ours.act(action)
        assert seen(theirs) == seen(ours)
    with pytest.raises(ArcadeMarkError, match="sound_obs"):
        ours.getAudio()


class Tensor:
    """Something that knows DLPack only, as PyTorch's tensors do."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **how):
        return self.array.__dlpack__(**how)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class OldTensor(Tensor):
    """One of a library that does not say what is read-only."""

    def __dlpack__(self):
        return self.array.__dlpack__()


BUFFERS = {
    "bytearray": lambda memory, shape: memory if len(shape) == 1 else memoryview(memory).cast("B", shape),
    "view": lambda memory, shape: memoryview(memory).cast("B", shape),
    "tensor": lambda memory, shape: Tensor(np.frombuffer(memory, np.uint8).reshape(shape)),
    "old tensor": lambda memory, shape: OldTensor(np.frombuffer(memory, np.uint8).reshape(shape)),
    "capsule": lambda memory, shape: np.frombuffer(memory, np.uint8).reshape(shape).__dlpack__(),
    "PyTorch": lambda memory, shape: torch().frombuffer(memory, dtype=torch().uint8).reshape(shape),
}


def torch():
    return importlib.import_module("torch")


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=pytest.mark.needs("torch") if kind == "PyTorch" else ()) for kind in BUFFERS]
)
def test_what_ale_py_fills_is_filled(kind):
    for ale in both("pong"):
        for name in ("getRAM", "getScreen", "getScreenGrayscale", "getScreenRGB"):
            expected = getattr(ale, name)()
            memory = bytearray(expected.nbytes)
            assert getattr(ale, name)(buffer=BUFFERS[kind](memory, expected.shape)) is None
            assert memory == expected.tobytes()


def test_what_would_end_the_interpreter_is_refused():
    """Whatever plays: ale-py dies of buffers of ctypes."""
    for settings in ({}, {"sound_obs": True}):
        ale = interface(arcademark.ale, "pong", **settings)
        for name, size in (
            ("getRAM", 128),
            ("getScreen", 33600),
            ("getScreenGrayscale", 33600),
            ("getScreenRGB", 100800),
        ):
            for wrong in ((ctypes.c_uint8 * size)(), (ctypes.c_char * size)(), Tensor(5), Tensor(np.zeros(size))):
                with pytest.raises(TypeError, match="writable, contiguous memory of uint8"):
                    getattr(ale, name)(wrong)
        other = interface(arcademark.ale, "freeway", **settings)
        for action in (18, 41, 2**32 - 1):  # of the games with paddles ale-py takes them for none
            assert ale.act(action) == 0
            with pytest.raises(ArcadeMarkError, match=f"action {action}: expected 0 to 17"):
                other.act(action)
        before = ale.getRAM()
        for state in (other.cloneState(), ale_py.ALEState(), SimpleNamespace()):
            with pytest.raises(ArcadeMarkError, match=r"restore (one of its own|another)"):
                ale.restoreState(state)
            assert np.array_equal(ale.getRAM(), before)  # ale-py restores a part, and dies when it goes on
        ale.reset_game()
        assert ale.act(ale_py.Action.FIRE) == 0
    with pytest.raises(TypeError, match="expected an ALEInterface"):
        arcademark.ale.ALEInterface.act(ale_py.ALEInterface(), 0)
    for name in ("getRAM", "getScreen", "getScreenDims", "cloneState", "lives", "reset_game"):
        with pytest.raises(ArcadeMarkError, match="loadROM first"):
            getattr(arcademark.ale.ALEInterface(), name)()


def test_threads_take_turns():
    """What one thread does is whole before another's call: no frame is lost, and no state is of two moments."""
    ale = interface(arcademark.ale, "pong")
    state = ale.cloneState(include_rng=True)

    def play():
        for number in range(150):
            ale.act(number % 18)
            ale.setRAM(5, number)
            assert len(ale.cloneState().serialize()) > 100
            ale.getScreenRGB()

    with ThreadPoolExecutor(4) as threads:
        for playing in [threads.submit(play) for _ in range(4)]:
            playing.result()
    assert ale.getFrameNumber() == 600
    ale.restoreState(state)
    assert ale.cloneState(include_rng=True) == state


@pytest.mark.parametrize(
    ("key", "value"),
    [*(("repeat_action_probability", float(value)) for value in ("nan", "inf", "-inf", "1e30")), ("frame_skip", 0)],
)
def test_odd_settings_are_taken_as_ale_py_takes_them(key, value):
    theirs, ours = both("breakout", **{key: value})
    assert [theirs.act(action) for action in (1, 3, 3, 4)] == [ours.act(action) for action in (1, 3, 3, 4)]
    assert seen(theirs) == seen(ours)


def test_settings_count_from_the_next_rom_on():
    theirs, ours = both("pong")
    for key in ("random_seed", "frame_skip", "repeat_action_probability", "sound", "truncate_on_loss_of_life", "cpu"):
        for get in ("getInt", "getFloat", "getBool", "getString"):
            assert getattr(theirs, get)(key) == getattr(ours, get)(key)
    assert ours.getFloat("repeat_action_probability") == 0.25
    for ale in (theirs, ours):
        ale.setInt("frame_skip", 4)
        ale.setInt("max_num_frames_per_episode", 2)
        ale.act(0)
    assert seen(theirs) == seen(ours)


@pytest.mark.parametrize(
    "settings", [{"sound_obs": True}, {"color_averaging": True}, {"reward_max": 0}, {"record_screen_dir": "/tmp"}, None]
)
def test_ale_py_plays_what_the_emulator_lacks(settings, monkeypatch):
    if settings is None:
        monkeypatch.setenv(build.SWITCH, "off")
    ale = interface(arcademark.ale, "pong", **(settings or {}))
    assert ale.emulator == "ale"
    if settings != {"record_screen_dir": "/tmp"}:
        assert ale.act(0) == 0
    assert len(ale.getAudio()) == ale.getAudioSize() == 512
    state = ale.cloneState()
    ale.restoreState(arcademark.ale.ALEState(state.serialize()))
    assert type(state) is ale_py.ALEState


def test_roms_that_would_end_the_interpreter_are_refused(tmp_path):
    ale = arcademark.ale.ALEInterface()
    with pytest.raises(ArcadeMarkError, match="loadROM first"):
        ale.act(0)
    (tmp_path / "mine.bin").write_bytes(bytes(2048))
    for path, why in ((tmp_path / "mine.bin", "does not know it"), (roms.get_rom_path("warlords"), "two players")):
        with pytest.raises(ArcadeMarkError, match=why):
            ale.loadROM(path)
    os.mkfifo(tmp_path / "fifo")
    for path in (tmp_path / "none.bin", tmp_path, tmp_path / "fifo", "/dev/zero", "a\0b", "", "x" * 10_000):
        for call in (ale.loadROM, ale.isSupportedROM):
            with pytest.raises(RuntimeError, match="load another"):
                call(path)
    for name, size in (("pong", 2048), ("pong", 100), ("freeway", 2**20)):  # of the first, ale-py never reaches a mode
        (tmp_path / f"{name}.bin").write_bytes(np.random.default_rng(0).bytes(size))
        with pytest.raises(ArcadeMarkError, match=r"is not reached|not as long"):
            ale.loadROM(tmp_path / f"{name}.bin")
    copy = tmp_path / "renamed.bin"
    copy.write_bytes(roms.get_rom_path("pong").read_bytes())
    ale.loadROM(os.fspath(copy))
    assert ale.emulator == "console"


def test_a_rom_that_cannot_be_loaded_leaves_what_played():
    ale = interface(arcademark.ale, "pong")
    ale.setInt("frame_skip", -1)
    with pytest.raises(ArcadeMarkError, match="frame_skip -1"):
        ale.loadROM(roms.get_rom_path("breakout"))
    assert (ale.act(0), ale.emulator) == (0, "console")


def test_methods_of_a_subclass_are_called():
    class Counting(arcademark.ale.ALEInterface):
        acts = 0

        def act(self, *arguments):
            self.acts += 1
            return super().act(*arguments)

    ale = Counting()
    ale.loadROM(roms.get_rom_path("pong"))
    assert (ale.act(0), ale.act(1, 0.5), ale.acts) == (0, 0, 2)


@pytest.mark.parametrize("library", [ale_py, arcademark.ale])
def test_methods_of_the_class_can_be_patched(library, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(library.ALEInterface, "lives", lambda ale: 9)
        ale = interface(library, "pong")
        assert ale.lives() == 9
    assert ale.lives() == 0


def test_methods_have_the_names_and_documentation_of_ale_pys():
    for name in ("act", "getScreenRGB", "game_over"):
        ours, theirs = getattr(arcademark.ale.ALEInterface, name), getattr(ale_py.ALEInterface, name)
        assert (ours.__name__, ours.__doc__) == (theirs.__name__, theirs.__doc__)


def test_its_modules_are_imported_as_ale_pys():
    from arcademark.ale.env import AtariEnv
    from arcademark.ale.roms import get_rom_path

    assert AtariEnv is arcademark.ale.AtariEnv
    assert get_rom_path is roms.get_rom_path


def test_screens_are_saved_as_ale_py_saves_them(tmp_path):
    pictures = []
    for number, ale in enumerate(both("pong")):
        ale.saveScreenPNG(os.fspath(tmp_path / f"{number}.png"))
        pictures.append(np.asarray(Image.open(tmp_path / f"{number}.png").convert("RGB")))
    assert np.array_equal(*pictures)


def test_every_id_of_ale_py_has_its_counterpart():
    registered = gymnasium.registry.values()
    ids = {spec.id.removeprefix("ALE/") for spec in registered if str(spec.entry_point).endswith(":AtariEnvOfAle")}
    ours = {id for id in gymnasium.registry if id.startswith("ArcadeMark/")}
    assert {id.removeprefix("ArcadeMark/") for id in ours} == ids
    assert len([id for id in ids if id.endswith("-v5")]) == len(tasks.games())


def test_ids_of_ale_py_warn_once_that_ale_py_plays_them(monkeypatch):
    monkeypatch.setattr(environments_of_both, "_warned", [])
    with pytest.warns(
        ArcadeMarkWarning, match="'ALE/Pong-v5', are played by ale-py; .* 'ArcadeMark/Pong-v5'"
    ) as caught:
        env = gymnasium.make("PongNoFrameskip-v4")
    assert caught[0].filename == __file__
    assert type(env.unwrapped) is ale_py.AtariEnv
    assert "AtariEnv" in gymnasium.spec("PongNoFrameskip-v4").entry_point  # by which programs know Atari games
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert type(gymnasium.make("ALE/Pong-v5").unwrapped) is ale_py.AtariEnv
        assert type(gymnasium.make("ArcadeMark/Pong-v5").unwrapped) is arcademark.ale.AtariEnv
    monkeypatch.setattr(environments_of_both, "_warned", [])
    with pytest.warns(ArcadeMarkWarning, match="'ALE/Breakout-v5'"):
        assert type(gymnasium.make_vec("ALE/Breakout-v5", 1)) is ale_py.AtariVectorEnv


def test_environments_go_through_pickle_and_vectors():
    env = gymnasium.make("arcademark.ale:ArcadeMark/Pong-v5")
    copy = pickle.loads(pickle.dumps(env.unwrapped))
    assert type(copy) is arcademark.ale.AtariEnv is type(env.unwrapped)
    first, second = (one.reset(seed=4) for one in (env.unwrapped, copy))
    assert np.array_equal(first[0], second[0])
    envs = gymnasium.make_vec(
        "ArcadeMark/PongNoFrameskip-v4", 2, "sync", vector_kwargs={"autoreset_mode": AutoresetMode.SAME_STEP}
    )
    observations, _ = envs.reset(seed=4)
    assert observations.shape == (2, 210, 160, 3)
    assert all(one.unwrapped.ale.emulator == "console" for one in envs.envs)


@pytest.mark.slow
def test_another_process_makes_the_environment():
    code = (
        "import pickle, sys; env = pickle.load(sys.stdin.buffer); print(env.reset(seed=1)[0].sum(), env.ale.emulator)"
    )
    env = gymnasium.make("ArcadeMark/Pong-v5").unwrapped
    given = pickle.dumps(env)
    said = subprocess.run([sys.executable, "-c", code], input=given, capture_output=True, check=True).stdout.decode()
    assert said.splitlines()[-1].split() == [str(env.reset(seed=1)[0].sum()), "console"]


@pytest.mark.slow
def test_every_game_goes_on_from_its_first_state():
    """Backgammon begins with a difficulty that is not among its own."""
    for game in tasks.games():
        ale = interface(arcademark.ale, game)
        for state in (ale.cloneState(), ale.cloneSystemState(), pickle.loads(pickle.dumps(ale.cloneState()))):
            ale.restoreState(state)
        ale.act(0)


def test_errors_are_of_the_types_that_ale_py_raises():
    """A program may compare the type itself, as ale-py's own tests do."""
    ours, theirs = interface(arcademark.ale, "tetris"), interface(ale_py, "tetris")
    for call in (lambda ale: ale.setMode(8), lambda ale: ale.setDifficulty(8)):
        for ale in (ours, theirs):
            with pytest.raises(RuntimeError) as found:
                call(ale)
            assert found.type is RuntimeError
    for buffer in (np.empty(128, np.int32), np.empty(1, np.uint8)):
        for ale in (ours, theirs):
            with pytest.raises(TypeError, match=r"incompatible function arguments\. The following argument types are"):
                ale.getRAM(buffer)


def test_frames_of_games_that_are_gone_count(monkeypatch):
    """A translation may be worth it for many short lives of a game, whatever plays it."""
    monkeypatch.setattr(cartridge, "_translation", functools.cache(cartridge.Translation))
    translation = cartridge.translation("pong", roms.get_rom_path("pong").read_bytes())

    def frames(play):
        before = translation._played
        play()
        gc.collect()
        return translation._played - before

    def one(env, action):
        env.reset(seed=0)
        env.step(action)

    assert frames(lambda: interface(arcademark.ale, "pong").act(0)) == 1
    assert frames(lambda: one(arcademark.make("pong"), 0)) == 4
    assert frames(lambda: one(arcademark.ale.AtariVectorEnv("pong", 2), np.zeros(2, np.int64))) >= 8


@pytest.fixture
def translated(monkeypatch, tmp_path, translating_at_once):
    """A translation after 20 frames of Pong: a copy of the interpreter stands for it."""
    core = build._declare(ctypes.CDLL(shutil.copy(build.core()._name, tmp_path / "translated.so")))
    monkeypatch.setattr(translate, "cached", lambda *_: None)
    monkeypatch.setattr(translate, "translated", lambda *_, **__: core)
    monkeypatch.setattr(translate, "played", lambda *_: 0)
    monkeypatch.setattr(cartridge, "_translation", functools.cache(cartridge.Translation))
    monkeypatch.setattr(cartridge, "FRAMES_PER_BYTE", 0.009)
    return core


def test_games_that_are_handed_out_in_batches_take_up_a_translation(translated):
    """Others are being played then: each takes it up when it waits for its next action."""
    settings = {"num_envs": 3, "batch_size": 2, "max_num_frames_per_episode": 8}
    ours = arcademark.ale.AtariVectorEnv("pong", **settings)
    ours.reset(seed=0)
    for _ in range(12):
        ours.send(np.zeros(2, np.int64))
        ours.recv()
    assert ours.ale._core is translated


def test_envpools_games_take_up_a_translation(translated):
    ours = envpool.make("Pong-v5", num_envs=2, max_episode_steps=4)
    ours.reset()
    for _ in range(12):
        ours.step(np.zeros(2, np.int64))
    step = ctypes.cast(translated.console_pooled_step, ctypes.c_void_p).value
    assert [game._record.step.play for game in ours._games] == [step] * 2


@pytest.mark.parametrize("restore", [False, True])
def test_a_translation_is_taken_up_at_a_reset_and_at_a_restored_state(translated, restore):
    theirs, ours = both("pong")
    begun = [(ale, ale.cloneState()) for ale in (theirs, ours)]
    for core in (build.core(), translated):
        for action in [2, 3] * 10:
            assert theirs.act(action) == ours.act(action)
            assert seen(theirs) == seen(ours)
        assert ours._played._machine.core is core
        for ale, state in begun:
            ale.restoreState(state) if restore else ale.reset_game()
