"""Descriptions of games of one's own: what their expressions mean, what is refused, and where ROMs are looked for."""

import ctypes
import os
import pickle

import numpy as np
import pytest

import own_games
from arcademark.emulator.games import condition, own_game
from arcademark.emulator.machine import Machine
from arcademark.errors import ArcadeMarkError
from arcademark.suite.cartridges import ROM_BYTES, Cartridge
from arcademark.suite.expressions import MAX_CHARS, NAMES, evaluate, parse
from arcademark.suite.protocols import from_json, step_protocol, suite_protocol
from arcademark.suite.task_suites import load_suite

MEMORY = [0x10, 0x25, 3, *range(3, 128)]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("10 * bcd(ram[0x80]) + ram[0x81] & 0x0f", (100 + 0x25) & 15),  # as in Python
        ("10 * bcd(ram[0x80]) + (ram[0x81] & 0x0F)", 105),
        ("ram[128] - ram[0x81] * 2", 0x10 - 2 * 0x25),
        ("7 - 3 - 2", 2),
        ("-7 // 2 + 100 % 7", -4 + 2),
        ("ram[0x81] >> 4 & 3", 2),
        ("signed(255) + max(2, min(3, 9))", 2),
        ("1 // 0 + 1 % 0", 0),
        ("2147483647 + 1", -(2**31)),
        ("not lives == 3 or score >= 20 and score != 20", 0),
        ("lives == 3 and not score < 20", 1),
    ],
)
def test_expressions_mean_what_they_mean_in_python(text, value):
    assert evaluate(parse(text, NAMES), MEMORY, {"score": 20, "lives": 3}) == value


def any_expression(rng, depth):
    if not depth or rng.random() < 0.2:
        return rng.choice([str(rng.integers(300)), hex(rng.integers(2**31)), f"ram[{rng.integers(128, 256)}]"])
    one, two = any_expression(rng, depth - 1), any_expression(rng, depth - 1)
    operators = ["+", "-", "*", "//", "%", "&", ">>", "==", "!=", "<", "<=", ">", ">=", "and", "or"]
    kinds = [f"({one}) {rng.choice(operators)} ({two})", f"(not ({one}))", f"-({one})", f"bcd({one})"]
    return rng.choice([*kinds, *3 * kinds[:1], f"signed({one})", f"min({one}, {two})", f"max({one}, {two})"])


def test_the_core_and_python_agree_on_any_expression():
    rng = np.random.default_rng(0)
    cartridge = load_suite(str(own_games.FOLDER / "catch.toml")).cartridge("catch")
    machine = Machine(own_game("catch", cartridge, own_games.rom()), own_games.rom())
    compared = 0
    while compared < 400:
        if len(text := str(any_expression(rng, 3))) > MAX_CHARS:
            continue
        machine.memory[:] = rng.integers(256, size=128)
        code = condition({}, expression := parse(text))
        program = (ctypes.c_int32 * len(code))(*code)
        found = machine.core.console_evaluate(ctypes.c_void_p(machine.address), program, len(program))
        assert evaluate(expression, machine.memory.tolist(), {}) == found, text
        compared += 1


def test_the_longest_sum_is_read_worked_out_and_compiled():
    text = "1" + "+1" * ((MAX_CHARS - 1) // 2)
    assert evaluate(parse(text), MEMORY, {}) == (MAX_CHARS + 1) // 2
    assert len(condition({}, parse(text))) < 4096 // 3


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("ram[0x10]", "character 5, '0x10': expected an address from 0x80 to 0xff (byte 0 of getRAM is 0x80;"),
        ("ram[0x100]", "character 5, '0x100'"),
        ("ram[ram[0x80]]", "character 5, 'ram': expected an address"),
        ("__import__('os')", "character 1, '__import__'"),
        ("score", "character 1, 'score': expected a number"),
        ("1 < 2 < 3", "character 7, '<': expected 'and'"),
        ("1 + ", "character 5, its end: expected a number"),
        ("1 $ 2", "character 3, '$': expected an operator"),
        ("ram[$80]", "character 5, '$': expected an address, such as 0x80"),
        ("1 + 010", "character 5, '010': expected a number without a leading 0"),
        ("٣", "character 1, '٣': expected a number"),
        ("ram[١٢٨]", "character 5, '١': expected an address, such as 0x80"),
        ("2147483648", "expected a number up to 2,147,483,647"),
        ("(" * 17 + "1" + ")" * 17, "at most 16 parentheses"),
        ("1 or 1 and 1 == 1 & 1 >> 1 + 1 * (" * 6 + "1" + ")" * 6, "more than 32 intermediate values"),
        ("1" + "+1" * 250, "501 characters; expected at most 500"),
        ("", "its end"),
    ],
)
def test_what_is_no_expression_is_refused_where_it_goes_wrong(text, what):
    with pytest.raises(ValueError, match=r".") as error:
        parse(text)
    assert what in str(error.value)


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"rom": '"../catch.bin"'}, "rom: expected a file in the folder of this one or below, as in 'catch.bin'"),
        ({"rom": '"/etc/passwd"'}, "rom: expected a file in the folder"),
        ({"rom": '"roms/../../catch.bin"'}, "rom: expected a file in the folder"),
        ({"sha256": '"1234"'}, "expected 64 hexadecimal digits in lower case - at `$.cartridge.sha256`"),
        ({"controller": '"mouse"'}, "'mouse'; expected 'joystick' or 'paddles' - at `$.cartridge.controller`"),
        ({"television": '"SECAM"'}, "'SECAM'; expected 'NTSC' or 'PAL' - at `$.cartridge.television`"),
        ({"live": '"1"'}, "unknown field 'live'; did you mean 'lives'"),
        ({"score": '"ram[1]"'}, "tasks.catch: score, character 5, '1': expected an address"),
        ({"lives": '"score"'}, "lives, character 1, 'score'"),
        ({"end": None}, "missing required field `end`"),
        ({"kind": '"3F"'}, "kind '3F': expected one of 2K, 4K, F8"),
        ({"actions": '["FIRE"]'}, "actions: expected NOOP and others"),
        ({"actions": '["NOOP", "JUMP"]'}, "actions: expected NOOP and others"),
        ({"starting_actions": '[["JUMP", 1]]'}, "starting_actions, 'JUMP': expected RESET or an action"),
        ({"starting_actions": '[["FIRE", 0]]'}, "starting_actions[0][1]"),
        ({"reward": '"1"'}, "unknown field 'reward'"),
    ],
)
def test_a_wrong_description_is_refused_with_its_place(changes, what, tmp_path):
    path = own_games.describe(tmp_path, **changes)
    with pytest.raises(ArcadeMarkError) as error:
        load_suite(str(path))
    assert str(error.value).startswith(f"{path}: tasks.catch")
    assert what in str(error.value)


def test_names_of_known_games_and_mixed_suites_are_refused(tmp_path):
    for name in ("pong", "toy", "q_bert"):
        with pytest.raises(
            ArcadeMarkError, match=r"expected another name, because .* is already a game of the emulator"
        ):
            load_suite(str(own_games.describe(tmp_path, name=name, keep=False, score='"0"', end='"0"')))
    path = own_games.describe(tmp_path)
    text = path.read_text()
    path.write_text(text + '\n[tasks.pole]\nenvironment = "CartPole-v1"')
    with pytest.raises(ArcadeMarkError, match="some are cartridges and some environments"):
        load_suite(str(path))
    path.write_text(text + "\n[protocol]\nevaluation_episodes = 3")
    with pytest.raises(ArcadeMarkError, match="played under any protocol; leave the table out"):
        load_suite(str(path))
    path.write_text(text.replace("[tasks.catch]", "[tasks.catch]\nmax_steps = 10"))
    with pytest.raises(ArcadeMarkError, match="only for environments"):
        load_suite(str(path))


def test_a_suite_has_a_bounded_number_of_games(tmp_path):
    path = own_games.describe(tmp_path)
    games = (f'[tasks.g{i}.cartridge]\nrom = "a"\nsha256 = "{"0" * 64}"\nscore = "0"\nend = "0"' for i in range(501))
    path.write_text("\n".join(games))
    with pytest.raises(ArcadeMarkError, match="501 cartridges; expected at most 500; correct the suite"):
        load_suite(str(path))


def test_roms_are_read_only_where_the_reader_has_them(tmp_path):
    path = own_games.describe(tmp_path)
    suite = load_suite(str(path))
    cartridge = suite.cartridge("catch")
    assert cartridge.read_rom(suite.folder, "catch") == own_games.rom()
    with pytest.raises(ArcadeMarkError, match="a run does not contain its ROM"):
        cartridge.read_rom("", "catch")
    (tmp_path / "catch.bin").write_bytes(b"\0" * 2048)
    with pytest.raises(ArcadeMarkError, match=r"catch.bin has the SHA-256 e5a00aa9\w+, expected \w+; put the right"):
        cartridge.read_rom(suite.folder, "catch")
    (tmp_path / "catch.bin").write_bytes(bytes(20_000))
    with pytest.raises(ArcadeMarkError, match="holds more than 16,384 bytes"):
        cartridge.read_rom(suite.folder, "catch")
    (tmp_path / "catch.bin").unlink()
    os.mkfifo(tmp_path / "catch.bin")
    with pytest.raises(ArcadeMarkError, match="is a named pipe"):
        cartridge.read_rom(suite.folder, "catch")


@pytest.mark.parametrize(
    ("size", "kind", "expected"),
    [
        (0, None, "2,048, 4,096, 8,192, 10,240 to 10,495, 16,384; use a whole ROM"),
        (1024, None, "2,048, 4,096, 8,192, 10,240 to 10,495, 16,384; use a whole ROM"),
        (1024, "2K", "of the kind 2K have 2,048; give another kind"),
        (2048, "4K", "of the kind 4K have 4,096; give another kind"),  # its program would never start
        (4096, "F8", "of the kind F8 have 8,192; give another kind"),
        (10_496, "DPC", "of the kind DPC have 10,240 to 10,495; give another kind"),
    ],
)
def test_only_whole_roms_are_played(size, kind, expected):
    cartridge = Cartridge("a.bin", "0" * 64, "0", "0", kind=kind)
    with pytest.raises(ArcadeMarkError, match=rf"game 'mine': its ROM has {size:,} bytes.* {expected}"):
        cartridge.wiring(bytes(size), "mine")


def test_the_example_is_the_same_game_on_larger_cartridges_of_every_kind():
    played = set()
    for size in (2048, 4096, 8192, 10_240, 16_384):
        for kind in (None, *(kind for kind, (least, _) in ROM_BYTES.items() if least == size)):
            rom = own_games.rom() * (size // 2048)
            cartridge = Cartridge("a.bin", "0" * 64, "bcd(ram[0x80])", "ram[0x81] == 0", "ram[0x81]", kind=kind)
            machine = Machine(own_game("catch", cartridge, rom), rom)
            rng = np.random.default_rng(0)
            rewards = tuple(machine.act(int(rng.integers(18))) for _ in range(120))
            played.add((rewards, machine.memory.tobytes(), machine.game_over()))
    assert len(played) == 1


def test_no_text_is_no_suite():
    with pytest.raises(ArcadeMarkError, match="suite '': expected a file or a name"):
        load_suite("")


def test_a_protocol_with_games_goes_to_processes_with_their_folder_and_to_manifests_without(tmp_path):
    suite = load_suite(str(own_games.describe(tmp_path)))
    rules = suite_protocol(suite, "machado-2018").override({"frame_skip": 4})
    assert (rules.name, rules.unit, rules.frame_skip) == ("machado-2018", "frame", 4)
    sent = pickle.loads(pickle.dumps(rules))
    assert sent == rules
    assert sent.suite.folder == str(tmp_path)
    written = rules.to_json()
    assert str(tmp_path) not in str(written)
    read = from_json(written)
    assert read.suite.folder == ""
    assert read.of_trial("catch") == rules.of_trial("catch")
    assert "rom" not in rules.of_trial("catch")["task"]
    written["suite"]["folder"] = "/"
    with pytest.raises(ArcadeMarkError, match="suite: folder: leave it out; ROMs are read in the folder of the suite"):
        from_json(written)
    with pytest.raises(ArcadeMarkError, match="of Atari games, which are played under one of Atari's protocols"):
        step_protocol(suite)
    with pytest.raises(ArcadeMarkError, match="a suite has its own protocol"):
        suite_protocol(load_suite("gymnasium:CartPole-v1"), "world-records")
