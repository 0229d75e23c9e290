"""What is found in the memory of a ROM that nobody has described."""

import tracemalloc

import numpy as np
import pytest

import own_games
from arcademark.emulator.watching import _bytes, read_actions, watch
from arcademark.environments.emulation.atari import rom_path
from arcademark.environments.registry import environment_spec, open_environment
from arcademark.errors import ArcadeMarkError
from arcademark.operations import info
from arcademark.suite.protocols import suite_protocol
from arcademark.suite.task_suites import load_suite


def found(watched):
    return {byte.address: (byte.may_be, byte.expression) for byte in watched.bytes if byte.may_be}


def test_score_and_lives_are_found_and_make_a_description_that_is_read(tmp_path):
    own_games.describe(tmp_path)
    watched = watch(tmp_path / "catch.bin", 18_000)
    assert (watched.kind, watched.television, watched.known_as, watched.frames) == ("2K", "NTSC", "", 18_000)
    assert found(watched) == {0x80: ("score", "ram[0x80]"), 0x81: ("lives", "ram[0x81]")}
    assert [byte.address for byte in watched.bytes] == [*range(0x80, 0x87)]
    assert watched.bytes[0].why == "counts up, to 3 in 20 games (too few to tell decimal digits)"
    (tmp_path / "found.toml").write_text(watched.description)
    cartridge = load_suite(str(tmp_path / "found.toml")).cartridge("catch")
    assert (cartridge.score, cartridge.lives, cartridge.end) == ("ram[0x80]", "ram[0x81]", "lives == 0")
    assert cartridge.read_rom(str(tmp_path), "catch") == own_games.rom()


@pytest.mark.parametrize(
    ("game", "facts"),
    [
        ("breakout", {0xB9: ("lives", "ram[0xb9]"), 0xCD: ("score", "ram[0xcd]")}),
        ("seaquest", {0xBB: ("lives", "ram[0xbb]"), 0xBA: ("score", "bcd(ram[0xba])")}),
    ],
)
def test_known_games_keep_theirs_where_they_are_found(game, facts):
    assert facts.items() <= found(watch(rom_path(game), 18_000)).items()


def test_given_actions_are_played_over_and_over(tmp_path):
    own_games.describe(tmp_path)
    watched = watch(tmp_path / "catch.bin", 400, read_actions("reset:4, NOOP:196"))
    assert watched.actions == "RESET:4,NOOP:196"
    byte = next(byte for byte in watched.bytes if byte.address == 0x80)
    assert (byte.highest, byte.may_be) == (2, "score")  # the first ball of each of two games is caught, at least
    assert 0x82 not in {byte.address for byte in watched.bytes}  # the paddle stays


@pytest.mark.parametrize(
    ("game", "file", "task", "kind", "rows"),
    [
        (None, 'a"b.bin', "a_b", None, None),
        (None, "training.bin", "my_training", None, None),
        ("montezuma_revenge", "E0.bin", "e0", "E0", None),
        ("breakout", "Breakout.bin", "my_breakout", None, None),
        ("pitfall2", "x" * 70 + ".bin", "x" * 64, None, None),
        ("carnival", "Carnival v2.bin", "my_carnival_v2", None, 214),
    ],
)
def test_descriptions_are_read_and_show_the_game_as_it_was_watched(game, file, task, kind, rows, tmp_path):
    (tmp_path / file).write_bytes(rom_path(game).read_bytes() if game else own_games.rom())
    watched = watch(tmp_path / file, 20, paddles=game == "breakout")
    (tmp_path / "found.toml").write_text(watched.description)
    suite = load_suite(str(tmp_path / "found.toml"))
    cartridge = suite.cartridge(task)
    controller = "paddles" if game == "breakout" else None
    assert (cartridge.rom, cartridge.kind, cartridge.rows, cartridge.controller) == (file, kind, rows, controller)
    assert watched.rows == cartridge.screen_rows
    open_environment(environment_spec(task, suite_protocol(suite)), emulator="console").close()


def test_a_kind_and_paddles_that_were_given_are_described(tmp_path):
    (tmp_path / "Möine (1).bin").write_bytes(4 * own_games.rom())
    watched = watch(tmp_path / "Möine (1).bin", 5, kind="FE", paddles=True)
    assert watched.description.startswith('[tasks.moine_1.cartridge]\nrom = "Möine (1).bin"\n')
    assert '\nkind = "FE"\ncontroller = "paddles"\n' in watched.description


def test_a_recording_is_looked_at_a_byte_at_a_time():
    memory = np.zeros((50_000, 128), np.uint8)
    memory[25_000:, 3] = 1
    tracemalloc.start()
    assert len([*_bytes(memory, [0])]) == 1
    assert tracemalloc.get_traced_memory()[1] < memory.nbytes / 2
    tracemalloc.stop()


@pytest.mark.parametrize("name", ["catch.bin", "pong.bin", "all.bin", "a \"b' (1).bin", ".bin", "游戏.bin"])
def test_a_description_is_read_as_it_is_shown(name, tmp_path):
    (tmp_path / name).write_bytes(own_games.rom())
    (tmp_path / "suite.toml").write_text(watch(tmp_path / name, 40).description, encoding="utf-8")
    (game,) = info.own_games(str(tmp_path / "suite.toml"))
    assert (game.rom, game.emulators) == (str(tmp_path / name), ("console",))


@pytest.mark.parametrize("name", ["a\nb.bin", "a\x1b[31m.bin", "a\udcff.bin", "a\\b.bin"])
def test_a_name_that_no_description_can_hold_is_refused(name, tmp_path):
    (tmp_path / name).write_bytes(own_games.rom())
    with pytest.raises(ArcadeMarkError, match=r"a description cannot contain this name; rename the file"):
        watch(tmp_path / name, 1)


@pytest.mark.parametrize("text", ["FIRE", "FIRE:0", "FIRE:10001", "FIRE:x", "", ":3", "JUMP:1", "FIRE:1,,"])
def test_what_are_no_actions_is_refused(text):
    with pytest.raises(ArcadeMarkError):
        read_actions(text)


def test_what_is_no_rom_is_refused(tmp_path):
    (tmp_path / "odd.bin").write_bytes(bytes(100))
    with pytest.raises(ArcadeMarkError, match=r"game 'odd.bin': its ROM has 100 bytes; expected one of 2,048"):
        watch(tmp_path / "odd.bin", 10)
    with pytest.raises(ArcadeMarkError, match="kind '3F': expected one of 2K"):
        watch(tmp_path / "odd.bin", 10, kind="3F")
    with pytest.raises(ArcadeMarkError, match="has 100 bytes, but ROMs of the kind DPC have 10,240 to 10,495; give"):
        watch(tmp_path / "odd.bin", 10, kind="DPC")
    with pytest.raises(ArcadeMarkError, match="1,000,001 frames to watch; expected at most 1,000,000"):
        watch(tmp_path / "odd.bin", 1_000_001, kind="4K")
    (tmp_path / "odd.bin").write_bytes(bytes(20_000))
    with pytest.raises(ArcadeMarkError, match="holds more than 16,384 bytes"):
        watch(tmp_path / "odd.bin", 10)
