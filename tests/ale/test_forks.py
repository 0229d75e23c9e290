"""Games that threads play are played on in forked processes."""

import hashlib
import os
import signal
from threading import Event, Thread

import numpy as np
import pytest
from ale_py import roms

import arcademark
from arcademark.ale import ALEInterface, AtariVectorEnv, envpool
from arcademark.emulator import build
from arcademark.errors import ArcadeMarkError

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")

SECONDS = 20
"""After which a process that hangs is killed."""


def forked(call):
    """Return what a call returns, bytes, in a forked process; b"" if it raises, or never returns."""
    read, write = os.pipe()
    process = os.fork()
    if process == 0:
        try:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(SECONDS)
            os.write(write, call())
        finally:
            os._exit(0)
    os.close(write)
    with open(read, "rb") as file:
        given = file.read()
    os.waitpid(process, 0)
    return given


def digest(results):
    seen = hashlib.sha256()
    for array in results[:-1]:
        seen.update(np.asarray(array).tobytes())
    return seen.digest()


def played(envs, sent):
    """Return what games give while they play on: as many as were sent are received each time."""

    def play():
        results = []
        for _ in range(6):
            results.append(digest(received := envs.recv()))
            envs.send(*sent(received[-1]["env_id"]))
        return b"".join(results)

    return play


def of_envpool(batch_size):
    envs = envpool.make_gymnasium("Pong-v5", num_envs=8, batch_size=batch_size, num_threads=4, seed=1)
    envs.async_reset()
    return played(envs, lambda games: (np.zeros(len(games), int), games))


def of_vector(batch_size):
    envs = AtariVectorEnv("pong", 8, batch_size=batch_size, num_threads=4)
    envs.reset(seed=3)
    envs.send(np.zeros(batch_size, int))
    return played(envs, lambda games: (np.zeros(len(games), int),))


def of_protocol(_):
    envs = arcademark.make_vec("pong", 8, threads=4)
    envs.reset(seed=0)
    return lambda: b"".join(digest(envs.step(np.zeros(8, int))) for _ in range(5))


@pytest.mark.parametrize(
    ("begin", "batch_size"), [(of_envpool, 0), (of_envpool, 3), (of_vector, 8), (of_vector, 3), (of_protocol, 0)]
)
def test_what_threads_play_is_played_on_in_both_processes(begin, batch_size):
    play = begin(batch_size)
    there = [forked(lambda: play() + forked(play)) for _ in range(2)]
    here = play()
    assert [given[: len(here)] for given in there] == [here, here]
    assert {len(given) for given in there} == {2 * len(here)}  # and from there into another


def test_a_forked_process_has_no_threads_until_it_plays():
    play = of_envpool(0)
    count = b"%d" % len(os.listdir("/proc/self/task"))
    assert forked(lambda: b"%d" % len(os.listdir("/proc/self/task"))) == b"1" != count
    play()


def test_a_game_that_another_thread_plays_is_played_on():
    ale = ALEInterface()
    ale.setInt("frame_skip", 100)
    ale.loadROM(roms.get_rom_path("pong"))
    ended = Event()

    def play():
        while not ended.is_set():
            ale.act(0)

    thread = Thread(target=play)
    thread.start()
    try:
        assert [forked(lambda: b"%d" % ale.act(0) and b"played") for _ in range(10)] == [b"played"] * 10
    finally:
        ended.set()
        thread.join()


def test_what_ale_py_plays_is_refused_in_a_forked_process(monkeypatch):
    monkeypatch.setenv(build.SWITCH, "off")
    envs = AtariVectorEnv("pong", 2, num_threads=2)
    envs.reset(seed=0)

    def refused():
        with pytest.raises(ArcadeMarkError, match="a forked process has none"):
            envs.step(np.zeros(2, int))
        return b"refused"

    assert forked(refused) == b"refused"
    assert envs.step(np.zeros(2, int))[0].shape[0] == 2
