"""ale-py's vector environment on our emulator, step by step beside ale-py's own."""

import importlib
import itertools
import pickle
import signal
import threading
import time
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from queue import Empty, SimpleQueue

import ale_py
import numpy as np
import pytest

import arcademark
from arcademark.ale import AtariVectorEnv
from arcademark.ale.vector import ALEVectorInterface
from arcademark.emulator import build
from arcademark.errors import ArcadeMarkError
from arcademark.suite.subsets import resolve_tasks

GAMES = 3
ATARI = [game for game in resolve_tasks("atari-57") if game != "double_dunk"]  # which is left to ale-py
SETTINGS = {
    "usual": {},
    "lives": {"episodic_life": True, "repeat_action_probability": 0.25},
    "same step": {"autoreset_mode": "SameStep", "max_num_frames_per_episode": 90, "full_action_space": True},
    "colours": {"grayscale": False, "img_height": 90, "img_width": 50, "life_loss_info": True},
    "blocks": {"img_height": 42, "img_width": 40, "grayscale": False, "max_num_frames_per_episode": 61},
    "single frames": {"frameskip": 1, "stack_num": 2, "img_height": 210, "img_width": 160, "use_fire_reset": False},
    "not pooled": {"frameskip": 3, "maxpool": False, "noop_max": 0, "reward_clipping": False},
    "continuous": {"continuous": True, "repeat_action_probability": 0.1},
    "all repeated": {"repeat_action_probability": float("nan")},
}


@pytest.fixture(autouse=True)
def _core():
    if build.compiler() is None:
        pytest.skip("no C compiler: the emulator cannot be compiled")


def assert_same(ours, theirs, step):
    """Compare what `reset` or `step` returned; of the last observations, those of the games that ended."""
    infos = ours[-1], theirs[-1]
    assert infos[0].keys() == infos[1].keys(), step
    if "final_obs" in infos[0]:
        ended = theirs[2] | theirs[3]
        assert np.array_equal(*(info.pop("final_obs")[ended] for info in infos)), step
    pairs = [*zip(ours[:-1], theirs[:-1], strict=True), *((infos[0][key], infos[1][key]) for key in infos[1])]
    for a, b in pairs:
        assert a.dtype == b.dtype, step
        assert np.array_equal(a, b), step


def patiently(call, *arguments, **keywords):
    """Call ale-py's; its threads wait for each other for ever once in some ten thousand steps."""
    results = SimpleQueue()
    threading.Thread(target=lambda: results.put(call(*arguments, **keywords)), daemon=True).start()
    try:
        return results.get(timeout=60)
    except Empty:
        pytest.skip("ale-py's own vector environment hangs")


def compare(game, steps, seed=0, **settings):
    """Play both, reset some games now and then, and return how many episodes ended."""
    both = [kind(game, GAMES, **settings) for kind in (AtariVectorEnv, ale_py.AtariVectorEnv)]
    assert both[0].ale.emulator == "console"
    rng, ends = np.random.default_rng(seed), 0
    assert_same(*(patiently(envs.reset, seed=seed) for envs in both), "reset")
    for step in range(steps):
        actions = rng.integers(both[0].single_action_space.n, size=GAMES) if "continuous" not in settings else None
        if actions is None:
            actions = rng.uniform([0, -np.pi, 0], [1, np.pi, 1], (GAMES, 3)).astype(np.float32)
        results = [patiently(envs.step, actions) for envs in both]
        ends += int((results[1][2] | results[1][3]).sum())
        assert_same(*results, step)
        if step % 50 == 49:
            seeds = np.array([step, -1])
            mask = {"reset_mask": np.arange(GAMES) != step // 50 % GAMES}
            assert_same(*(patiently(envs.reset, seed=seeds, options=mask) for envs in both), step)
    return ends


@pytest.mark.parametrize("name", SETTINGS)
def test_results_are_those_of_ale_py(name):
    ends = compare("breakout", 120, seed=5, **SETTINGS[name])
    assert ends or name not in ("lives", "same step", "blocks")


@pytest.mark.parametrize("game", ["qbert", "name_this_game", "berzerk", "demon_attack"])
def test_resets_are_those_of_ale_py(game):
    """Q*bert's is cut short, choosing a mode takes frames in the second, and steps in the third."""
    assert compare(game, 55, max_num_frames_per_episode=70, repeat_action_probability=0.25)


@pytest.mark.needs("jax")
def test_jax_plays_the_same():
    jax = importlib.import_module("jax")
    plain, within = (AtariVectorEnv("pong", GAMES) for _ in range(2))
    handle, reset, step = within.xla()
    handle, results = reset(handle, seed=4)
    assert_same(plain.reset(seed=4), jax.tree.map(np.asarray, results), "reset")
    actions = np.random.default_rng(0).integers(6, size=(40, GAMES), dtype=np.int32)
    handle, rows = jax.lax.scan(step, handle, actions)
    for i in range(len(actions)):
        assert_same(plain.step(actions[i]), jax.tree.map(lambda row, i=i: np.asarray(row[i]), rows), i)
    mask = np.arange(GAMES) == 1
    handle, results = reset(handle, seed=np.array([9]), reset_mask=mask)
    expected = plain.reset(seed=np.array([9]), options={"reset_mask": mask})
    assert_same(expected, jax.tree.map(np.asarray, results), "one")
    handle, again = reset(handle, [9], [False, True, *[False] * (GAMES - 2)])
    assert_same(plain.reset(seed=np.array([9]), options={"reset_mask": mask}), jax.tree.map(np.asarray, again), "list")
    for call, arguments in (
        *((step, (wrong,)) for wrong in (np.zeros(GAMES + 1, int), np.zeros(GAMES), np.zeros(GAMES, np.uint8), 0)),
        *((reset, (seed,)) for seed in (np.int64(1), np.zeros(GAMES + 1, int))),
        (reset, (None, np.zeros(GAMES, int))),
    ):
        with pytest.raises(ArcadeMarkError, match=r"of shape \(.*; expected \("):
            jax.jit(call)(handle, *arguments) if call is step else call(handle, *arguments)


def test_pictures_that_cut_frames_leave_are_those_of_ale_py():
    """While Video Checkers thinks, frames show what earlier ones left, which were not drawn."""
    compare("video_checkers", 40)


@pytest.mark.deep
@pytest.mark.parametrize(("game", "names"), [*zip(ATARI, itertools.cycle(itertools.combinations(SETTINGS, 2)))])
def test_results_are_those_of_ale_py_in_all_games(game, names):
    for name in names:
        compare(game, 200, **SETTINGS[name])


def played(threads, **settings):
    envs = AtariVectorEnv("pong", 8, num_threads=threads, repeat_action_probability=0.25, **settings)
    rng = np.random.default_rng(0)
    results = [envs.reset(seed=3)]
    results += [envs.step(rng.integers(6, size=envs.batch_size)) for _ in range(60)]
    envs.close()
    return results


@pytest.mark.parametrize("batch_size", [0, 3])
def test_results_do_not_depend_on_threads(batch_size):
    for step, (one, several) in enumerate(zip(*(played(n, batch_size=batch_size) for n in (1, 3)), strict=True)):
        assert_same(one, several, step)


def test_a_batch_of_some_games_gives_what_all_together_give():
    """Each game's results under its own actions are those that it has in step with all others."""
    actions = np.random.default_rng(0).integers(6, size=(60, 8))
    everyone = AtariVectorEnv("pong", 8)
    expected = [everyone.reset(seed=0)[0], *(everyone.step(row)[0] for row in actions)]
    some = AtariVectorEnv("pong", 8, batch_size=3, num_threads=2)
    observed, infos = some.reset(seed=0)
    taken = np.zeros(8, int)
    for _ in range(100):
        games = infos["env_id"]
        assert all(np.array_equal(observed[row], expected[taken[i]][i]) for row, i in enumerate(games))
        observed, *_, infos = some.step(actions[taken[games], games])
        taken[games] += 1
    assert taken.min() > 30


@pytest.mark.parametrize(
    ("call", "batch_size", "error"),
    [
        (lambda ale: ale.reset([0], [1]), 0, RuntimeError),
        (lambda ale: ale.reset([0], [1]), 1, RuntimeError),
        (lambda ale: ale.reset([0, 0], [1, 1]), 0, ValueError),
        (lambda ale: ale.reset([2], [1]), 0, IndexError),
        (lambda ale: ale.reset([0, 1], [1]), 0, ValueError),
        (lambda ale: (ale.reset([0, 1], [-1, -1]), ale.send([0], [1.0])), 0, ValueError),
        (lambda ale: (ale.reset([0, 1], [-1, -1]), ale.send([0, 0], [1.0])), 0, ValueError),
        (lambda ale: (ale.reset([0, 1], [-1, -1]), ale.reset([0], [1])), 1, ValueError),
    ],
)
def test_errors_are_those_of_ale_py(call, batch_size, error):
    path = ale_py.roms.get_rom_path("pong")
    messages = []
    for kind in (ALEVectorInterface, ale_py.ALEVectorInterface):
        with pytest.raises(error) as raised:
            call(kind(path, 2, batch_size=batch_size))
        messages.append(str(raised.value))
    assert messages[0] == messages[1]


@pytest.mark.parametrize("kind", [list, tuple, bytearray, np.array, deque])
def test_any_sequence_of_whole_numbers_is_taken_as_ale_py_takes_it(kind):
    results = []
    for interface in (ALEVectorInterface, ale_py.ALEVectorInterface):
        ale = interface(ale_py.roms.get_rom_path("pong"), 2)
        ale.reset(kind([0, 1]), kind([3, 5]))
        ale.send(kind([2, 3]), kind([1, 1]))
        results.append(patiently(ale.recv))
    assert_same(*results, kind)


def test_actions_out_of_range_and_steps_without_a_reset_are_refused():
    ale = ALEVectorInterface(ale_py.roms.get_rom_path("pong"), 2)
    with pytest.raises(RuntimeError, match="call reset"):
        ale.recv()
    with pytest.raises(RuntimeError, match="call reset"):
        ale.send([0, 0], [1.0, 1.0])
    ale.reset([0, 1], [-1, -1])
    with pytest.raises(IndexError, match="from 0 to 5"):
        ale.send([0, 6], [1.0, 1.0])


@pytest.mark.parametrize("game", ["pong", "adventure"])  # the second is left to ale-py
def test_what_ends_the_interpreter_or_never_returns_is_refused(game):
    path = ale_py.roms.get_rom_path(game)
    for settings in (
        *({"num_envs": count} for count in (0, -1, 10**6, 2**31 - 1)),
        *({"batch_size": 3}, {"batch_size": -1}, {"frame_skip": 0}, {"frame_skip": 10**6}, {"noop_max": 10**9}),
        *(
            {"stack_num": 0},
            {"stack_num": 10**6},
            {"img_height": 0},
            {"img_height": 10**4, "img_width": 10**4, "num_envs": 99},
        ),
    ):
        with pytest.raises(ArcadeMarkError, match="expected"):
            ALEVectorInterface(path, **({"num_envs": 2} | settings))
    for settings in ({"num_envs": 2**31}, {"grayscale": 1}, {"frame_skip": 1.0}, {"noop_max": None}, {"noop_max": "4"}):
        with pytest.raises(TypeError, match="expected"):
            ALEVectorInterface(path, **({"num_envs": 2} | settings))
    ale = ALEVectorInterface(path, np.int64(2), num_threads=1)
    with pytest.raises(RuntimeError, match="call reset"):
        ale.recv()
    assert ale.reset([1, 0], [1, 2])[1]["env_id"].tolist() == [0, 1]
    with pytest.raises(RuntimeError, match="call reset or send"):
        ale.recv()
    for actions, strengths, error in (
        *(((0, 99), (1, 1), IndexError), ((0, 2**32), (1, 1), TypeError), ((0, 0.0), (1, 1), TypeError)),
        *((np.zeros((2, 1), int), (1, 1), TypeError), ((0, 0), np.ones((2, 0)), TypeError), ((0, 0), "11", TypeError)),
    ):
        with pytest.raises(error):
            ale.send(actions, strengths)
    ale.send([0, 1], [1, 1])
    with pytest.raises(RuntimeError, match="no games wait"):
        ale.send([0, 1], [1, 1])
    assert ale.recv()[-1]["env_id"].tolist() == [0, 1]


@pytest.mark.parametrize(
    "path", ["", "/", "/dev/zero", "/proc/self/mem", "nowhere", ale_py.roms.get_rom_path("warlords")]
)
def test_what_is_no_rom_is_refused(path):
    with pytest.raises(ArcadeMarkError, match="load another"):
        ALEVectorInterface(path, 2)


@pytest.mark.parametrize("game", ["pong", "adventure"])
def test_one_thread_calls_at_a_time(game, monkeypatch):
    ale = ALEVectorInterface(ale_py.roms.get_rom_path(game), 2, num_threads=1)
    ale.reset([0, 1], [1, 2])
    entered, go_on = threading.Event(), threading.Event()
    receive = ale._receive
    monkeypatch.setattr(ale, "_receive", lambda: (entered.set(), go_on.wait(30), receive())[2])
    ale.send([0, 1], [1, 1])
    with ThreadPoolExecutor(1) as other:
        received = other.submit(ale.recv)
        assert entered.wait(30)
        for call in (ale.recv, lambda: ale.send([0, 1], [1, 1]), lambda: ale.reset([0, 1], [1, 2])):
            with pytest.raises(ArcadeMarkError, match="another thread"):
                call()
        go_on.set()
        assert received.result()[-1]["env_id"].tolist() == [0, 1]
    ale.send([0, 1], [1, 1])  # from any thread, one after the other


@pytest.mark.parametrize("settings", [{"img_height": 300}, {"img_width": 200}])
def test_ale_py_plays_what_the_emulator_lacks(settings):
    envs = AtariVectorEnv("pong", 1, **settings)
    assert envs.ale.emulator == AtariVectorEnv("adventure", 1).ale.emulator == "ale"
    assert envs.reset(seed=0)[0].shape == envs.observation_space.shape


@pytest.mark.parametrize("make", [lambda: arcademark.make_vec("pong", 8, threads=2), lambda: AtariVectorEnv("pong", 8)])
def test_interrupted_steps_leave_nothing_playing(make):
    """Wherever an interrupt comes, a reset of all goes on, and nothing is written into what is released."""
    envs, ends = make(), time.monotonic() + 1.5
    envs.reset(seed=0)
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        while time.monotonic() < ends:
            try:
                signal.setitimer(signal.ITIMER_REAL, 0.0031)
                while True:
                    envs.step(np.zeros(8, np.int64))
            except (KeyboardInterrupt, RuntimeError, ArcadeMarkError):
                signal.setitimer(signal.ITIMER_REAL, 0)
                envs.reset(seed=0)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    first = envs.reset(seed=1)[0]
    assert np.array_equal(first, make().reset(seed=1)[0])


def test_a_vector_is_no_copy_of_another():
    with pytest.raises(TypeError, match=r"^cannot pickle 'ALEVectorInterface' object"):
        pickle.dumps(ALEVectorInterface(ale_py.roms.get_rom_path("pong"), 2))


def test_a_closed_vector_plays_on_alone():
    envs = arcademark.make_vec("pong", 8, threads=2)
    envs.close()
    envs.reset(seed=0)
    assert envs.step(np.zeros(8, np.int64))[0].shape[0] == 8
