"""What is found in the memory of a ROM that nobody has described."""

import pytest

import own_games
from arcademark.emulator.watching import read_actions, watch
from arcademark.environments.emulation.atari import rom_path
from arcademark.errors import ArcadeMarkError
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


@pytest.mark.parametrize("text", ["FIRE", "FIRE:0", "FIRE:10001", "FIRE:x", "", ":3", "JUMP:1", "FIRE:1,,"])
def test_what_are_no_actions_is_refused(text):
    with pytest.raises(ArcadeMarkError):
        read_actions(text)


def test_what_is_no_rom_is_refused(tmp_path):
    (tmp_path / "odd.bin").write_bytes(bytes(100))
    with pytest.raises(ArcadeMarkError, match=r"game 'odd.bin': a ROM of 100 bytes may be of any kind"):
        watch(tmp_path / "odd.bin", 10)
    with pytest.raises(ArcadeMarkError, match="kind '3F': expected one of 2K"):
        watch(tmp_path / "odd.bin", 10, kind="3F")
    (tmp_path / "odd.bin").write_bytes(bytes(20_000))
    with pytest.raises(ArcadeMarkError, match="holds more than 16,384 bytes"):
        watch(tmp_path / "odd.bin", 10)
