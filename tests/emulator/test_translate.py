"""Translated cartridges against the interpreter, to the last byte of the state."""

import ctypes
import hashlib
import os
import subprocess
import sys
from pathlib import Path
from threading import Event, Thread
from time import sleep
from types import SimpleNamespace

import numpy as np
import pytest
from random_programs import GAMES, cartridge, random_body

from arcademark.emulator import build, games, program, translate
from arcademark.emulator.cartridge import Player
from arcademark.emulator.machine import Machine
from arcademark.environments.emulation.atari import rom_path
from arcademark.errors import ArcadeMarkError
from arcademark.suite.cartridges import Cartridge

STOPS = {0x02, 0x12, 0x22, 0x32, 0x42, 0x52, 0x62, 0x72, 0x92, 0xB2, 0xD2, 0xF2}
"""Instructions that stop the processor."""


@pytest.fixture(scope="module", autouse=True)
def quickly(tmp_path_factory):
    """Compile without optimising, into a folder of the tests' own."""
    if build.compiler() is None:
        pytest.skip("no C compiler: the emulator cannot be compiled")
    build.core()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(translate, "CORE_FLAGS", ("-std=c11", "-O0", "-fPIC", "-shared"))
        patch.setenv("ARCADEMARK_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


def assert_same(game, rom, frames, *, seed=0, never_over=False):
    """Play on both, every other frame drawn, and restore the start halfway."""
    interpreted, on_translation = Machine(game, rom), Machine(game, rom, chosen=translate.translated(game, rom))
    assert on_translation.core is not interpreted.core
    start = interpreted.save()
    assert on_translation.save() == start
    for number, action in enumerate(np.random.default_rng(seed).integers(18, size=frames).tolist()):
        both = [console.act if number & 1 else console.act_unseen for console in (interpreted, on_translation)]
        if never_over:
            interpreted._numbers[3] = on_translation._numbers[3] = 0
        assert both[0](action) == both[1](action)
        assert interpreted.save() == on_translation.save(), number
        if number & 1:
            assert np.array_equal(interpreted.pictures(), on_translation.pictures()), number
        if number == frames // 2:
            interpreted.restore(start)
            on_translation.restore(start)


def noise(size, seed):
    """A cartridge of random instructions that do not stop the processor, and vectors into it."""
    rom = np.random.default_rng(seed).integers(256, size=size, dtype=np.uint8)
    rom[np.isin(rom, list(STOPS))] = 0xEA
    rom[2048 - 4 :: 2048] = 0x80
    rom[2048 - 3 :: 2048] = 0xF1
    return rom.tobytes()


def test_translations_of_kinds_of_one_rom_are_kept_apart():
    rom = noise(8192, 1)
    facts = {"rom": "mine.bin", "sha256": hashlib.sha256(rom).hexdigest(), "score": "0", "end": "0"}
    own = [games.own_game("mine", Cartridge(**facts, kind=kind), rom) for kind in ("F8", "FE")]
    assert len({translate._parts(rules, rom) for rules in own}) == 2
    assert translate._parts("pong", rom)[2:] == ("pong", facts["sha256"])  # as libraries were kept before


@pytest.mark.slow
@pytest.mark.parametrize("game", ["pong", "asterix"])
def test_a_translation_plays_as_the_interpreter(game):
    assert_same(game, rom_path(game).read_bytes(), 400)


@pytest.mark.slow
@pytest.mark.parametrize(
    "game",
    ["elevator_action", "klax", "montezuma_revenge", "ms_pacman", "pitfall2", "road_runner", "robotank", "seaquest"],
)
def test_other_kinds_of_cartridges(game):
    assert_same(game, rom_path(game).read_bytes(), 1_500)


@pytest.mark.slow
@pytest.mark.parametrize(("game", "size"), [("skiing", 2048), ("asterix", 8192), ("pitfall2", 10240)])
def test_random_programs(game, size):
    assert_same(game, noise(size, size), 60)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_random_programs_that_read_collisions(seed):
    rng = np.random.default_rng(seed)
    rom = cartridge(random_body(rng), int(rng.integers(1, 9)))
    assert_same(GAMES[seed], rom, 60, seed=seed, never_over=True)


@pytest.mark.slow
def test_what_was_not_reached_is_interpreted(monkeypatch):
    monkeypatch.setattr(translate, "_seen", lambda *_: {})
    rom = rom_path("gopher").read_bytes() + b"\0"  # not kept under the key of the whole one
    assert len(program.Program(rom, "4K", {}).instructions) < 50
    assert_same("gopher", rom, 100)


@pytest.mark.slow
def test_random_play_finds_what_tables_lead_to():
    rom = rom_path("gopher").read_bytes()
    seen = translate._seen("gopher", rom)
    assert len(program.Program(rom, "4K", seen).instructions) > 1_000


@pytest.mark.slow
def test_what_is_kept_is_found_without_compiling(monkeypatch):
    rom = rom_path("pong").read_bytes()
    translate.translated("pong", rom)
    monkeypatch.setattr("subprocess.Popen", lambda *_, **__: pytest.fail("compiled"))
    assert translate.cached("pong", rom) is not None
    assert translate.cached("pong", rom + b"\0") is None
    monkeypatch.setattr(build, "compiler", lambda: None)
    assert translate.cached("pong", rom) is not None


@pytest.mark.slow
def test_one_process_compiles_while_another_goes_on(monkeypatch):
    rom, found = rom_path("pong").read_bytes() + b"\0\0", []
    compile_ = build._compile

    def meanwhile(*words, **how):
        if len(words[1]["blocks.inc"]):  # not what notes jumps
            found.append(translate.translated("pong", rom, wait=False))
        compile_(*words, **how)

    monkeypatch.setattr(build, "_compile", meanwhile)
    assert translate.translated("pong", rom, wait=False) is not None
    assert found[-1] is None
    assert not list(build._cache().glob("*.lock"))


def test_what_a_process_left_that_was_killed_is_removed():
    flags = ("-std=c11", "-O0", "-fPIC", "-shared")
    path = build._cache() / build._name(("left",), build._for_this_processor(flags))
    left = path.with_name(f"{path.stem}-left")
    left.mkdir()
    assert build.library(("left",), translate._tracer, flags) is not None
    assert not left.exists()


def test_who_waited_for_a_lock_that_is_gone_holds_the_next_one(tmp_path):
    path, held, done = tmp_path / "console-1.so", Event(), Event()

    def wait():
        with build._alone(path, True):
            held.set()
            done.wait(60)

    waiting, opened = Thread(target=wait), Event()
    with pytest.MonkeyPatch.context() as patch, build._alone(path, True):
        flock = build.fcntl.flock
        patch.setattr(build.fcntl, "flock", lambda *how: (opened.set(), flock(*how)))
        waiting.start()
        assert opened.wait(60)
    assert held.wait(60)
    with build._alone(path, False) as lock:
        assert lock is None
    done.set()
    waiting.join()
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("how", ["os._exit(0)", "os.kill(os.getpid(), 9)", "sys.exit()"])
def test_a_compiler_ends_with_the_process_that_wants_it_and_leaves_nothing(tmp_path, how):
    """However the process ends: a run's workers are killed."""
    cache, compiler, begun = tmp_path / "cache", tmp_path / "cc", tmp_path / "begun"
    compiler.write_text(f"#!/bin/sh\nsh -c 'echo $$ > {begun}.draft; mv {begun}.draft {begun}; sleep 60; :'\n:\n")
    compiler.chmod(0o755)
    code = (
        "import os, sys, threading, time\nfrom arcademark.emulator import build\n"
        "compile = lambda: build.library(('new',), dict, (), wait=False)\n"
        "threading.Thread(target=compile, daemon=True).start()\n"
        f"while not os.path.exists({str(begun)!r}):\n    time.sleep(0.01)\n{how}\n"
    )
    environment = {**os.environ, "CC": str(compiler), "ARCADEMARK_CACHE": str(cache)}
    subprocess.run([sys.executable, "-c", code], env=environment, timeout=50, stderr=subprocess.DEVNULL)
    status = Path("/proc", begun.read_text().strip(), "stat")
    for _ in range(500):
        left = [*cache.iterdir()], status.exists() and ") Z " not in status.read_text()
        if not any(left):
            break
        sleep(0.01)
    assert left == ([], False)


def test_what_was_not_used_for_longest_goes_first(monkeypatch, tmp_path):
    names = ["console-1.so", "console-1.frames", "console-2.so", "console-3.so", "console-4.so", "other.so"]
    for age, name in enumerate(names):
        (tmp_path / name).write_bytes(bytes(10_000))
        os.utime(tmp_path / name, (age, age))
    monkeypatch.setattr(build, "MAX_CACHE_BYTES", 25_000)
    os.utime(tmp_path / "console-2.so")
    build._make_room(tmp_path / "console-4.so")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["console-2.so", "console-4.so", "other.so"]
    monkeypatch.setattr(build, "MAX_CACHE_BYTES", 1)
    build._make_room(tmp_path / "console-2.so")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["console-2.so", "other.so"]


def test_frames_of_all_processes_count(monkeypatch, tmp_path):
    monkeypatch.setenv("ARCADEMARK_CACHE", str(tmp_path / "cache"))
    assert [build.played(("a",), (), frames) for frames in (3_500, 2_000, 999)] == [3_000, 5_000, 5_000]
    assert build.played(("b",), (), 1_000) == 1_000
    (count,) = (tmp_path / "cache").glob(build._name(("a",), build._for_this_processor(())).replace(".so", ".frames"))
    count.unlink()
    count.symlink_to(tmp_path / "elsewhere")
    assert build.played(("a",), (), 4_000) == 4_000
    assert not (tmp_path / "elsewhere").exists()
    monkeypatch.setattr(build, "_cache", lambda: None)
    assert build.played(("a",), (), 7_000) == 7_000


def test_a_translation_calls_the_core_that_it_is_given():
    """Without it the core would hold its interpreter alone: all frames are played by what is noted here."""
    tracer = build.TranslatedCore(build.library(("given",), translate._tracer, ("-std=c11", "-O0", "-fPIC", "-shared")))
    noted = ctypes.create_string_buffer(8 * 4096)
    machine = Machine("pong", rom_path("pong").read_bytes())
    tracer.translation.console_trace(noted)
    machine.act_unseen(0)
    assert not any(noted.raw)
    machine.use(tracer)
    machine.act_unseen(0)
    assert any(noted.raw)
    tracer.translation.console_trace(None)


@pytest.mark.slow
def test_another_cartridge_is_refused():
    rom = rom_path("pong").read_bytes()
    core = translate.translated("pong", rom)
    for name, other in (("pong", bytes([rom[0] ^ 1]) + rom[1:]), ("gopher", rom)):
        with pytest.raises(ArcadeMarkError, match="cannot be used on this core"):
            Machine(name, other, chosen=core)


def test_frames_count_of_what_outlives_the_module(monkeypatch):
    """When a process ends, names of modules may be gone before what plays."""

    class Played(Player):
        played = 3

    player, counted = Played(), SimpleNamespace(released=0)
    player._counted_in = counted
    monkeypatch.setattr("arcademark.emulator.cartridge.sys", None)
    player.__del__()
    assert counted.released == 3
    player._counted_in = None
