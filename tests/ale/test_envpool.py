"""EnvPool's environments on our emulator, beside what EnvPool 1.2.5 gave."""

import copy
import ctypes
import hashlib
import importlib
import os
import pickle
import sys
from concurrent.futures import ThreadPoolExecutor

import gymnasium
import numpy as np
import pytest
from ale_py import roms

from arcademark.ale import envpool
from arcademark.ale.envpool import game
from arcademark.emulator import build
from arcademark.environments.interfaces.batch import Crew
from arcademark.errors import ArcadeMarkError

LIVES = {"episodic_life": True, "reward_clip": True}
PLAYED = [
    ("Breakout-v5", LIVES, "c31c6fc972b1d177"),
    ("Breakout-v5", {"max_episode_steps": 30, "noop_max": 5, "episodic_life": True}, "58d15356709c767a"),
    ("Breakout-v5", {"gray_scale": False, "img_height": 90, "img_width": 50, "stack_num": 2}, "e909075698a5d041"),
    ("AirRaid-v5", LIVES, "8e9b7bf32103677e"),
    (
        "Qbert-v5",
        {"frame_skip": 3, "stack_num": 2, "noop_max": 1, "full_action_space": True} | LIVES,
        "9f2330007a130c8a",
    ),
    ("MsPacman-v5", {"frame_skip": 1, "repeat_action_probability": 0.25, "use_fire_reset": False}, "9193bd5ab5e04494"),
]
"""Tasks, settings, and the digest of what EnvPool gave; `test_envpool_gives_them` checks that it does."""


def digest(package, task, settings, steps=150):
    envs = package.make(task, env_type="gymnasium", num_envs=2, seed=7, **settings)
    rng, seen = np.random.default_rng(0), hashlib.sha256()
    results = envs.reset()
    for _ in range(steps):
        infos = results[-1]
        for array in (*results[:-1], *(infos[name] for name in ("env_id", "lives", "reward", "terminated"))):
            seen.update(array.tobytes())
        seen.update(infos["elapsed_step"].tobytes() + infos["ram"].tobytes() + infos["players"]["env_id"].tobytes())
        results = envs.step(rng.integers(envs.action_space.n, size=2))
    return seen.hexdigest()[:16]


@pytest.mark.parametrize(("task", "settings", "expected"), PLAYED)
def test_results_are_those_of_envpool(task, settings, expected):
    assert digest(envpool, task, settings) == expected


@pytest.mark.needs("envpool")
@pytest.mark.parametrize(("task", "settings", "expected"), PLAYED)
def test_envpool_gives_them(task, settings, expected):
    assert digest(importlib.import_module("envpool"), task, settings) == expected


def program(package, task, settings):
    """Return the digest of results in which resets, of all games or of some, come at any time."""
    steps = 20 if "noop_max" in settings and settings["noop_max"] > 1000 else 120
    envs = package.make_gymnasium(task, num_envs=3, seed=7, **settings)
    rng, seen, results = np.random.default_rng(0), hashlib.sha256(), envs.reset()
    for _ in range(steps):
        infos = results[-1]
        order = np.argsort(infos["env_id"])
        for array in (*results[:-1], *(infos[name] for name in ("env_id", "lives", "reward", "elapsed_step", "ram"))):
            seen.update(array[order].tobytes())
        chosen = rng.permutation(3)[: rng.integers(1, 4)].astype(np.int32)
        what = rng.random()
        if what < 0.1:
            results = envs.reset(chosen) if what < 0.05 else envs.reset()
        else:
            chosen = chosen if what < 0.2 else np.arange(3, dtype=np.int32)
            results = envs.step(rng.integers(envs.action_space.n, size=len(chosen)), chosen)
    return seen.hexdigest()[:16]


RESET = [
    ("Breakout-v5", LIVES, "ac37273ad3f92866"),
    ("Qbert-v5", {"episodic_life": True, "max_episode_steps": 17, "noop_max": 3}, "aa54179ce67c2a45"),
    ("Pong-v5", {"use_fire_reset": False, "env_seed": [4, 9, -5]}, "f843131f40dc211c"),
    (
        "Breakout-v5",
        {"use_inter_area_resize": False, "gray_scale": False, "img_height": 50, "img_width": 70},
        "c4b069c75034d3a9",
    ),
    ("Pooyan-v5", {"noop_max": 1900, "episodic_life": True, "frame_skip": 1}, "2ca4cca4689321c4"),  # no-ops end games
]
"""As `PLAYED`, of `program`."""


@pytest.mark.parametrize(("task", "settings", "expected"), RESET)
def test_resets_at_any_time_are_those_of_envpool(task, settings, expected):
    assert program(envpool, task, settings) == expected


@pytest.mark.needs("envpool")
@pytest.mark.parametrize(("task", "settings", "expected"), RESET)
def test_envpool_resets_so(task, settings, expected):
    assert program(importlib.import_module("envpool"), task, settings) == expected


@pytest.mark.parametrize(("task", "settings", "expected"), RESET)
def test_ale_py_in_place_of_our_emulator_gives_the_same(task, settings, expected, monkeypatch):
    monkeypatch.setenv(build.SWITCH, "off")
    assert program(envpool, task, settings) == expected


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_results_do_not_depend_on_threads(threads):
    for task, settings, expected in RESET[:1] + RESET[3:]:
        assert program(envpool, task, settings | {"num_threads": threads}) == expected


def test_a_record_is_as_long_in_c():
    assert ctypes.sizeof(game.Record) == build.core().console_pooled_size()


@pytest.mark.parametrize(("batch_size", "call"), [(0, "hand_over"), (0, "settle"), (2, "hand_over"), (2, "wait")])
def test_an_interrupted_call_is_forgotten(batch_size, call, monkeypatch):
    envs = envpool.make_gymnasium("Pong-v5", num_envs=3, batch_size=batch_size, num_threads=2)
    envs.async_reset()
    games = envs.recv()[-1]["env_id"][:2]
    method = getattr(Crew, call)

    def interrupted(*given):
        monkeypatch.setattr(Crew, call, method)
        method(*given)
        raise KeyboardInterrupt

    monkeypatch.setattr(Crew, call, interrupted)
    with pytest.raises(KeyboardInterrupt):
        envs.step(np.zeros(2, int), games)
    with pytest.raises(ArcadeMarkError, match="0 games are being played"):
        envs.recv()
    envs.async_reset()
    assert (envs.recv()[-1]["elapsed_step"] == 0).all()


def test_threads_end_with_close_and_games_go_on():
    envs = envpool.make_gymnasium("Pong-v5", num_envs=4, num_threads=4)
    before = len(os.listdir("/proc/self/task"))
    envs.reset()
    envs.close()
    assert len(os.listdir("/proc/self/task")) == before - 3
    assert envs.step(np.zeros(4, int))[-1]["elapsed_step"].tolist() == [1] * 4


def test_a_reset_begins_another_game_whatever_lives_are_left():
    envs = envpool.make_gymnasium("Breakout-v5", num_envs=1, episodic_life=True)
    for _ in range(6):
        lives, elapsed = (envs.reset()[1][name].item() for name in ("lives", "elapsed_step"))
        assert (lives, elapsed) == (5, 0)
        for _ in range(24):
            *_, infos = envs.step(np.array([3]))
        assert infos["elapsed_step"].item() <= 24


def test_masks_reset_some_games_and_seeds_are_ignored():
    envs = envpool.make_gymnasium("Pong-v5", num_envs=3)
    envs.reset()
    _, infos = envs.reset(options={"reset_mask": np.array([True, False, True])})
    assert infos["env_id"].tolist() == [0, 2]
    with pytest.warns(UserWarning, match="ignores its seed"):
        envs.reset(seed=3)
    with pytest.warns(UserWarning, match="pass it to make"):
        envs.seed(3)
    for options in ({"mask": 1}, {"reset_mask": np.zeros(3, bool)}, {"reset_mask": [1, 0, 1]}):
        with pytest.raises(ArcadeMarkError, match="reset_mask"):
            envs.reset(options=options)


def test_batches_are_received_in_the_order_in_which_actions_were_sent():
    envs = envpool.make_gymnasium("Pong-v5", num_envs=5, batch_size=2, num_threads=3)
    whole = envpool.make_gymnasium("Pong-v5", num_envs=5)
    first, _ = whole.reset()
    assert (envs.is_async, whole.is_async, envs.config["batch_size"], whole.config["batch_size"]) == (True, False, 2, 5)
    envs.async_reset()
    received = []
    for _ in range(10):
        observed, *_, infos = envs.recv()
        received += infos["env_id"].tolist()
        if infos["elapsed_step"].max() == 0:
            assert np.array_equal(observed, first[infos["env_id"]])
        envs.send(np.zeros(2, np.int32), infos["env_id"])
    assert received == [0, 1, 2, 3, 4] * 4
    for call in (lambda: envs.send(np.zeros(2, int), infos["env_id"]), envs.async_reset):
        with pytest.raises(ArcadeMarkError, match="already being played"):
            call()
    for _ in range(2):
        envs.recv()
    with pytest.raises(ArcadeMarkError, match="1 games are being played; call send or reset first"):
        envs.recv()


def test_actions_may_be_a_dictionary():
    envs = envpool.make_gymnasium("Pong-v5", num_envs=3)
    envs.reset()
    assert envs.step({"action": np.array([1, 2]), "env_id": np.array([2, 0])})[-1]["env_id"].tolist() == [2, 0]


@pytest.mark.parametrize(
    "actions",
    [
        *(np.array([1.0, 0.0]), np.array([[1], [0]]), np.array([True, False]), [1, 0]),
        *(np.array([1.9, -0.9], np.float16), np.array(["1", "0"]), np.array(["1", 0.5], object)),
        *(np.ma.array([1, 0], mask=[True, False]), np.array([1, 9, 0, 9], ">i2")[::2]),
    ],
)
def test_actions_have_any_type_and_shape(actions):
    played = [envpool.make_gymnasium("Pong-v5", num_envs=2, seed=3) for _ in range(2)]
    for envs in played:
        envs.reset()
    first, second = played[0].step(actions), played[1].step(np.array([1, 0], np.int32))
    assert np.array_equal(first[0], second[0])


@pytest.mark.parametrize("games", [np.array([2.0, 0.5]), np.array([[2], [0]], np.uint8), np.array(["2", "0"])])
def test_games_have_any_type_and_shape(games):
    envs = envpool.make_gymnasium("Pong-v5", num_envs=3)
    assert envs.reset(games)[1]["env_id"].tolist() == [2, 0]
    assert envs.step(np.array([1, 0]), games)[-1]["env_id"].tolist() == [2, 0]


@pytest.mark.parametrize("settings", [{"num_envs": 3}, {"num_envs": 3, "batch_size": 3}])
def test_no_games_give_arrays_of_none(settings):
    envs, none = envpool.make_gymnasium("Pong-v5", **settings), np.array([], np.int32)
    observed, infos = envs.reset(none)
    assert (observed.shape, infos["ram"].shape) == ((0, 4, 84, 84), (0, 128))
    assert [one.shape for one in envs.step(none, none)[:4]] == [(0, 4, 84, 84), (0,), (0,), (0,)]
    with pytest.raises(ArcadeMarkError, match="0 games are being played"):
        envs.recv()


def test_games_are_not_copied_and_are_closed():
    envs = envpool.make_gymnasium("Pong-v5", num_envs=2)
    for call in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="cannot pickle or copy 'EnvPool'"):
            call(envs)
    envs.close()
    assert envs.closed
    assert envs.reset()[0].shape == (2, 4, 84, 84)  # and go on, as EnvPool's


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        (lambda: envpool.make_gymnasium("Pong-v5").reset(options={"x": 1}), ValueError),
        (lambda: envpool.make_gymnasium("Pong-v5").reset(options={"reset_mask": np.zeros(1, bool)}), ValueError),
        (lambda: envpool.make_gymnasium("Pong-v5").reset(options=5), TypeError),
        (lambda: envpool.make_gymnasium("Pong-v5", inter_area=False), TypeError),
        (lambda: envpool.make_gymnasium("Pong-v5", render_mode="x"), ValueError),
        (lambda: envpool.make_gymnasium("Pong-v5").render(), RuntimeError),
        (lambda: envpool.make_gymnasium("Pong-v5", mode=7), RuntimeError),
        (lambda: envpool.make_gymnasium("Pong-v5", difficulty=9), RuntimeError),
        (lambda: envpool.make_gymnasium("Pong-v5", gym_reset_return_info=False), ValueError),
    ],
)
def test_errors_are_of_envpools_types(call, kind):
    with pytest.raises(ArcadeMarkError) as raised:
        call()
    assert isinstance(raised.value, kind)


def test_settings_may_be_numbers_as_files_of_settings_have_them():
    def given(**settings):
        return envpool.make_spec("Pong-v5", **settings).config

    assert given(reward_clip=1, episodic_life=np.True_, use_fire_reset=None, gray_scale=np.int64(1)) == given(
        reward_clip=True, episodic_life=True, use_fire_reset=False
    )


def test_wrappers_of_both_of_gymnasiums_classes_take_games():
    envs = envpool.make_gymnasium("Pong-v5", num_envs=2)
    one, several = gymnasium.Wrapper(envs), gymnasium.wrappers.vector.RecordEpisodeStatistics(envs)
    for wrapped in (one, several):
        assert wrapped.reset()[0].shape == (2, 4, 84, 84)
        assert len(wrapped.step(np.zeros(2, int))) == 5
    with envs as entered:
        assert entered.unwrapped is envs


def test_specs_have_envpools_names():
    spec = envpool.make_spec("Pong-v5", num_envs=3, stack_num=2, gray_scale=False, seed=[1, 2, 3])
    assert (spec.config.task, spec.config.batch_size, spec.config.seed) == ("pong", 3, 0)
    assert spec.config.env_seed == [1, 2, 3]
    assert spec.state_array_spec["obs"].shape == [6, 84, 84]
    assert spec.action_array_spec["action"].maximum == 5
    shape, kind, *bounds = spec.state_array_spec["obs"]
    assert (shape, kind.itemsize, bounds) == ([6, 84, 84], 1, [0, 255])
    assert not spec.action_array_spec["action"].is_discrete
    assert envpool.__version__.count(".") == 2
    assert spec.observation_space.shape == (6, 84, 84)
    assert str(spec).startswith("AtariEnvSpec(num_envs=3, batch_size=3, num_threads=0,")
    envs = envpool.make("Pong-v5", num_envs=2, zero_discount_on_life_loss=True)
    assert envs.spec.config._asdict() == envs.config
    assert str(envs).startswith("EnvPool(num_envs=2, ")
    assert {"Breakout-v5", "TicTacToe3d-v5"} <= {*envpool.list_all_envs()}
    assert envpool.make_spec("Pong-v5", task="breakout").action_space.n == 4
    assert spec.gen_config(num_envs=4)[:2] == (4, 0)


@pytest.mark.parametrize("name", ["python.api", "python.protocol", "python.envpool", "registration"])
def test_envpools_modules_have_its_names(name):
    module = importlib.import_module(f"arcademark.ale.envpool.{name}")
    assert module.EnvPool is envpool.GymnasiumEnvPool is envpool.python.envpool.EnvPoolMixin
    assert module.make_gym is envpool.make_gym


@pytest.mark.needs("envpool")
def test_public_names_are_envpools():
    assert {*importlib.import_module("envpool").__all__} == {*envpool.__all__, "register"}


def test_screens_are_rendered():
    envs = envpool.make_gymnasium("Pong-v5", num_envs=2, render_mode="rgb_array", render_env_id=1)
    envs.reset()
    assert np.array_equal(envs.render()[0], envs._games[1].ale.getScreenRGB())
    assert envs.render([0, 1]).shape == (2, 210, 160, 3)
    with pytest.raises(ArcadeMarkError, match="render_mode='rgb_array'"):
        envpool.make_gymnasium("Pong-v5").render()


@pytest.mark.parametrize("threads", [1, 2])
def test_what_was_sent_is_rendered_once_it_is_played(threads):
    """Threads may play it meanwhile, so that a screen would depend on time, and drawing it would disturb them."""
    envs = envpool.make_gymnasium("Pong-v5", num_envs=2, num_threads=threads, frame_skip=200, render_mode="rgb_array")
    first = (envs.reset(), envs.render([0, 1]))[1]
    envs.send(np.zeros(2, np.int32))
    played = envs.render([0, 1])
    envs.recv()
    assert np.array_equal(played, envs.render([0, 1]))
    assert not np.array_equal(played, first)


def test_roms_of_a_folder(tmp_path):
    (tmp_path / "atari/roms").mkdir(parents=True)
    with pytest.raises(ArcadeMarkError, match="it cannot be read"):
        envpool.make("Pong-v5", base_path=str(tmp_path))
    (tmp_path / "atari/roms/pong.bin").write_bytes(roms.get_rom_path("pong").read_bytes())
    observed, _ = envpool.make("Pong-v5", base_path=str(tmp_path)).reset()
    assert np.array_equal(observed, envpool.make("Pong-v5").reset()[0])


@pytest.mark.needs("dm_env")
def test_games_are_an_environment_of_dm_env():
    dm_env, envs = importlib.import_module("dm_env"), envpool.make_dm("Pong-v5")
    assert isinstance(envs, dm_env.Environment)
    assert envs.reward_spec() == dm_env.specs.Array((), float, "reward")
    assert (envs.discount_spec().minimum, envs.discount_spec().maximum) == (0, 1)


@pytest.mark.needs("dm_env")
def test_time_steps_of_dm_env():
    envs = envpool.make_dm("Breakout-v5", num_envs=2, episodic_life=True, zero_discount_on_life_loss=True, seed=1)
    kinds, step, like = set(), envs.reset(), envpool.make("Breakout-v5", num_envs=2, episodic_life=True, seed=1)
    like.reset()
    assert step.observation._fields == ("env_id", "players", "obs", "lives", "reward", "terminated", "ram")
    for _ in range(120):
        kinds |= {*step.step_type.tolist()}
        assert (step.discount == (step.step_type != 2)).all()
        step, observed = envs.step(np.array([1, 3])), like.step(np.array([1, 3]))[0]
        assert np.array_equal(step.observation.obs, observed)
    assert kinds == {0, 1, 2}
    assert envs.action_spec().num_values == 4
    assert envs.observation_spec().obs.shape == (4, 84, 84)


@pytest.mark.needs("jax")
def test_jax_steps_games():
    jax = importlib.import_module("jax")
    envs, like = (envpool.make("Breakout-v5", num_envs=2, seed=3, episodic_life=True) for _ in range(2))
    handle, recv, send, step = envs.xla()
    envs.async_reset()
    handle, first = jax.jit(recv)(handle)
    assert np.array_equal(first[0], like.reset()[0])
    actions = np.random.default_rng(0).integers(4, size=(40, 2)).astype(np.int32)
    handle, played = jax.jit(lambda handle: jax.lax.scan(step, handle, actions))(handle)
    handle = send(handle, actions[0], envs.all_env_ids)
    jax.block_until_ready((handle, played))
    expected = [like.step(one) for one in actions]
    for number, name in enumerate(("observations", "rewards", "terminated", "truncated")):
        assert np.array_equal(played[number], np.stack([one[number] for one in expected])), name
    assert np.array_equal(played[-1]["ram"], np.stack([one[-1]["ram"] for one in expected]))
    assert np.array_equal(envs.recv()[0], like.step(actions[0])[0])


@pytest.mark.parametrize(("module", "call"), [("jax", "xla"), ("dm_env", "make_dm")])
def test_what_is_not_installed_is_named(module, call, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(gymnasium.error.DependencyNotInstalled, match="pip install"):
        envpool.make("Pong-v5").xla() if call == "xla" else envpool.make_dm("Pong-v5")


def test_games_step_apart_and_as_in_gym():
    config, rendering = envpool._config("Pong-v5", {"num_envs": 3, "gym_reset_return_info": False})
    envs = envpool.EnvPool(config, rendering, gymnasium.spaces, old=True)
    first = envs.reset()
    assert (first.shape, len(envs), envs.num_envs) == ((3, 4, 84, 84), 3, 3)
    observed, rewards, ended, infos = envs.step(np.array([2, 3]), np.array([2, 0]))
    assert infos["env_id"].tolist() == [2, 0]
    assert (rewards.dtype, ended.dtype, observed.shape) == (np.float32, np.bool_, (2, 4, 84, 84))
    assert infos["elapsed_step"].tolist() == [1, 1]
    assert infos["TimeLimit.truncated"].tolist() == [False, False]


@pytest.mark.parametrize(
    ("arguments", "settings", "match"),
    [
        (("Breakout-v9",), {}, "'Breakout-v5'"),
        (("Pong-v5", "jax"), {}, "'gymnasium', 'gym' or 'dm'"),
        (("Pong-v5",), {"inter_area": False}, "inter_area: not known; .* frame_skip"),
        (("Pong-v5",), {"num_envs": 4, "batch_size": 5}, "0 to num_envs"),
        (("Pong-v5",), {"img_height": 300}, "at most 210 by 160"),
        (("Pong-v5",), {"num_envs": 2, "seed": [1, 2, 3]}, "expected 2 seeds"),
        (("Pong-v5",), {"num_envs": 2, "seed": []}, "expected 2 seeds"),
        (("Pong-v5",), {"max_num_players": 2}, "max_num_players 1"),
        (("Pong-v5",), {"task": "Pong"}, "'ms_pacman'"),
        (("Pong-v5",), {"render_mode": "human"}, "no window is shown"),
        (("Pong-v5",), {"from_pixels": True}, "no from_pixels"),
        (("Pong-v5",), {"gym_reset_return_info": False}, "only with gym before 0.26"),
    ],
)
def test_what_is_not_known_is_refused(arguments, settings, match):
    with pytest.raises(ArcadeMarkError, match=match):
        envpool.make(*arguments, **settings)


@pytest.mark.parametrize(
    "settings",
    [
        *({"num_envs": number} for number in (0, -1, 10**6, 2**31, 1.0, None)),
        *(
            {"stack_num": 0},
            {"frame_skip": 0},
            {"frame_skip": 10**9},
            {"img_height": 0},
            {"seed": 2**31},
            {"seed": "1"},
        ),
        *(
            {"mode": 99},
            {"difficulty": 9},
            {"gray_scale": "1"},
            {"gray_scale": 0.5},
            {"repeat_action_probability": "x"},
        ),
    ],
)
def test_settings_are_checked(settings):
    with pytest.raises(ArcadeMarkError, match=r"expected|is not among"):
        envpool.make("Pong-v5", **settings)


@pytest.mark.parametrize("switch", ["", "off"])  # then ale-py plays
@pytest.mark.parametrize("setting", ["mode", "difficulty"])
def test_modes_and_difficulties_that_there_are_not_are_refused(switch, setting, monkeypatch):
    monkeypatch.setenv(build.SWITCH, switch)
    with pytest.raises(ArcadeMarkError, match=f"breakout: .*{setting}"):
        envpool.make("Breakout-v5", **{setting: 99})


def test_games_and_actions_are_whole_numbers_and_one_thread_calls():
    envs = envpool.make("Pong-v5", num_envs=2)
    envs.reset()
    for games in ([-1], [2], [0, 0], [0.0], "0", 5, [[0]], np.array([True, True]), np.array([2.5])):
        with pytest.raises(ArcadeMarkError, match="expected"):
            envs.reset(games)
    for actions in (
        np.full(2, 9.5),
        np.full(2, np.nan),
        np.full(2, 1e30),
        np.array(["x", "y"]),
        [0, None],
        np.zeros((2, 2), int),
        5,
        "00",
        [0, 2**40],
    ):
        with pytest.raises(ArcadeMarkError, match="expected"):
            envs.step(actions)
    with envs._one_thread, ThreadPoolExecutor(1) as other:
        for call in (envs.reset, lambda: envs.step([0, 0])):
            with pytest.raises(ArcadeMarkError, match="another thread"):
                other.submit(call).result()


def test_actions_are_checked():
    envs = envpool.make_gym("Pong-v5", num_envs=2)
    envs.reset()
    for actions in ([0], [0, 6], [-1, 0]):
        with pytest.raises(ArcadeMarkError, match="each from 0 to 5"):
            envs.step(np.array(actions))
