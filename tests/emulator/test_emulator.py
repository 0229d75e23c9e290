"""Our emulator against ale-py, on as much as a test may take; ``arcademark info emulator prove`` compares more."""

import csv
import dataclasses
import io
import json
import math
import os
import shutil
import subprocess
from functools import partial
from importlib.resources import files
from pathlib import Path

import ale_py
import numpy as np
import pytest
from click.testing import CliRunner

from arcademark.cli.main import cli
from arcademark.emulator import build, comparison, games, prove, translate
from arcademark.emulator.machine import Machine
from arcademark.environments.emulation.atari import rom_path
from arcademark.environments.native import NativeEmulator
from arcademark.errors import ArcadeMarkError, ArcadeMarkWarning
from arcademark.suite import tasks
from arcademark.suite.tables import read_text

SAMPLED = (
    *("adventure", "breakout", "demon_attack", "double_dunk", "elevator_action", "klax", "miniature_golf"),
    *("montezuma_revenge", "pitfall2", "pong", "qbert", "riverraid", "road_runner", "robotank", "skiing"),
    *("star_gunner", "surround", "tic_tac_toe_3d", "video_checkers"),
)
"""Every kind of cartridge, controller, reset and rule."""


@pytest.fixture(scope="module")
def core():
    if build.compiler() is None:
        pytest.skip("no C compiler: the emulator cannot be compiled")
    return build.core()


def machine(game, seed=0):
    return Machine(game, rom_path(game).read_bytes(), seed)


def played(emulator, actions):
    """Play and return what was seen."""
    ram, screen, seen = np.empty(128, np.uint8), np.empty((emulator.rows, 160), np.uint8), []
    for action in actions:
        reward = emulator.act(int(action))
        emulator.ram(ram)
        emulator.screen(screen)
        seen.append((reward, emulator.lives(), emulator.game_over(), ram.tobytes(), screen.tobytes()))
    return seen


def test_what_plays_damaged_cartridges_compiles(core):
    fuzz = files("arcademark.emulator").joinpath("native", "fuzz.c")
    subprocess.run([*build.compiler(), "-std=c11", "-fsyntax-only", "-w", str(fuzz)], check=True)


# ---- identity


def section_of(game, frames):
    (section,) = prove.sections({game: rom_path(game)}, frames)
    return section


@pytest.mark.parametrize("game", SAMPLED)
def test_our_emulator_is_ale_pys_frame_by_frame(core, game):
    section = section_of(game, 300)
    assert (section.difference, section.frames) == ("", 300)
    assert section.screens > 150


@pytest.mark.parametrize("game", ["breakout", "bank_heist", "ms_pacman"])
def test_other_modes_and_difficulties(core, game, monkeypatch):
    monkeypatch.setattr(comparison, "STRETCH", 30)
    monkeypatch.setattr(comparison, "SHORTEST_STRETCH", 30)
    section = comparison.SectionComparison(game, rom_path(game), 1).run(600)
    assert section.difference == ""
    assert len(section.settings) > 3
    assert section.settings[0] == (games.game(game).facts["mode"], 0)


def test_the_mode_that_takes_most_steps_is_ale_pys(core):
    """The memory there: Video Cube takes 783 steps to its last cube."""
    emulator, ale, memory = machine("video_cube"), ale_py.ALEInterface(), np.empty(128, np.uint8)
    ale.loadROM(rom_path("video_cube"))
    ale.setMode(5002)
    ale.reset_game()
    emulator.reset(5002, 0)
    emulator.ram(memory)
    assert memory.tobytes() == ale.getRAM().tobytes()


@pytest.mark.parametrize("game", tasks.games())
def test_the_last_mode_is_reached(core, game):
    machine(game).reset(max(tasks.games()[game].modes), 0)


def test_collisions_that_differ_are_found(core, monkeypatch):
    monkeypatch.setattr("arcademark.emulator.machine.Machine.collisions", lambda machine: 0)
    assert section_of("seaquest", 2_000).difference.endswith("in ale-py, 0000 here")


def test_a_translation_that_differs_is_found(core, monkeypatch):
    class WithALifeMore(comparison.Machine):
        def lives(self):
            return super().lives() + (self.core is translation)

    translation = translate.translated("pong", rom_path("pong").read_bytes())
    monkeypatch.setattr(translate, "translated", lambda *_: translation)
    monkeypatch.setattr(comparison, "Machine", WithALifeMore)
    section = comparison.SectionComparison("pong", rom_path("pong"), 0, translated=True).run(100)
    assert section.difference.endswith("lives 0 in ale-py, 1 in the translation")


def test_what_differs_is_found(core, monkeypatch):
    wrong = dataclasses.replace(games.game("pong"), program=games.game("breakout").program)
    monkeypatch.setattr("arcademark.emulator.machine.game", lambda _: wrong)
    section = section_of("pong", 2_000)
    assert "in ale-py" in section.difference
    assert prove.list_text([section]).count("\n") == 1


@pytest.mark.parametrize("game", ["darkchambers", "elevator_action", "klax"])
def test_memory_in_the_cartridge_is_ale_pys(core, game):
    """ale-py shows it in its saved states only, four bytes for each, after the console's own memory."""
    emulator, ale = machine(game), ale_py.ALEInterface()
    ale.setFloat("repeat_action_probability", 0.0)
    ale.loadROM(rom_path(game))
    theirs, ours = [], []
    for action in np.random.default_rng(0).integers(18, size=300).tolist():
        ale.act(action)
        emulator.act(action)
        theirs.append(ale.cloneState().serialize())
        ours.append(emulator.save())
    memory = np.empty(128, np.uint8)
    emulator.ram(memory)
    begin = ours[-1].index(memory.tobytes()) + 128
    parts = {at: ours[-1][at : at + 128] for at in range(begin, len(ours[-1]) - 128)}
    places = [
        (at, place)
        for at, part in parts.items()
        if len(set(part)) > 2
        for place in range(len(theirs[-1]) // 2, len(theirs[-1]) - 512)
        if theirs[-1][place : place + 512 : 4] == part
    ]
    assert any(
        all(one[place : place + 512 : 4] == two[at : at + 128] for one, two in zip(theirs, ours, strict=True))
        for at, place in places
    )
    assert len({state[begin:] for state in ours}) > 100


@pytest.mark.parametrize("broken", ["lives", "game_over", "screen", "ram"])
def test_each_thing_compared_counts(core, monkeypatch, broken):
    wrong = {
        "lives": lambda _: 9,
        "game_over": lambda machine: machine.frames == 150,
        "screen": lambda _, out: out.fill(4),
        "ram": lambda _, out: out.fill(4),
    }
    use = Machine.use

    def break_it(machine, chosen):
        use(machine, chosen)
        setattr(machine, broken, partial(wrong[broken], machine))

    monkeypatch.setattr(Machine, "use", break_it)
    section = section_of("breakout", 200)
    assert {"game_over": "end", "ram": "memory"}.get(broken, broken) in section.difference


# ---- states


@pytest.mark.parametrize("game", ["seaquest", "pitfall2", "qbert"])
def test_states_replay_here_and_in_another_machine(core, game):
    one, two = machine(game), machine(game)
    actions = np.random.default_rng(0).integers(18, size=90)
    played(one, actions[:30])
    state, pictures = one.save(), one.pictures().copy()
    seen = played(one, actions[30:])
    played(two, actions[:7])
    for again in (one, two):
        again.restore(state)
        again.pictures()[:] = pictures
        assert again.save() == state
        assert played(again, actions[30:]) == seen


def test_many_frames_in_one_call(core):
    one, two = machine("space_invaders"), machine("space_invaders")
    actions = np.random.default_rng(2).integers(18, size=200).astype(np.uint8)
    assert one.play(actions.tobytes(), 2) == sum(reward for reward, *_ in played(two, actions))
    assert one.save() == two.save()


# ---- damage


@pytest.mark.parametrize("game", ["seaquest", "pitfall2", "montezuma_revenge", "robotank", "klax"])
@pytest.mark.parametrize("size", [1, 3_000, 20_000])
def test_damaged_cartridges_harm_nothing(core, game, size):
    noise = np.random.default_rng(size).integers(256, size=size, dtype=np.uint8).tobytes()
    if game == "klax":
        with pytest.raises(ArcadeMarkError, match="mode 0 is not reached"):  # a menu that never comes
            Machine(game, noise)
    else:
        assert len(played(Machine(game, noise), range(18))) == 18


def test_an_empty_cartridge(core):
    with pytest.raises(ArcadeMarkError, match="cartridge of 0 bytes"):
        Machine("pong", b"")


# ---- the compiler


@pytest.fixture
def fresh():
    forget()
    yield
    forget()


def forget():
    build.core.cache_clear()
    build._name.cache_clear()


def test_our_emulator_can_be_switched_off(fresh, monkeypatch):
    monkeypatch.setenv(build.SWITCH, "off")
    with pytest.raises(build.NoCore, match="switched off"):
        build.core()


def test_without_a_compiler_there_is_no_core(fresh, monkeypatch, tmp_path):
    monkeypatch.setattr(build, "compiler", lambda: None)
    monkeypatch.setenv("ARCADEMARK_CACHE", str(tmp_path))
    with pytest.raises(build.NoCore, match="no C compiler"):
        build.core()
    assert "no C compiler; install gcc" in CliRunner().invoke(cli, ["info", "emulator"]).output
    assert list(tmp_path.iterdir()) == []


def test_what_was_installed_is_used_and_nothing_written_beside_it(core, fresh, monkeypatch, tmp_path):
    (kept,) = {Path(core._name)}
    shipped = tmp_path / "shipped"
    shutil.copytree(kept.parent, shipped, ignore=lambda _, names: {name for name in names if name != kept.name})
    monkeypatch.setattr(build, "SHIPPED", shipped)
    monkeypatch.setattr(build, "compiler", lambda: None)
    monkeypatch.setenv("ARCADEMARK_CACHE", str(tmp_path / "cache"))
    assert Path(build.core()._name) == shipped / kept.name
    assert "not translated" in CliRunner().invoke(cli, ["info", "emulator"]).output
    native = build.native
    monkeypatch.setattr(build, "native", lambda name: native(name) + "/* other */" * (name == "steps.c"))
    forget()
    with pytest.raises(build.NoCore, match="no C compiler"):  # it is of another text
        build.core()
    assert [path.name for path in tmp_path.rglob("*")] == ["shipped", kept.name]


@pytest.mark.parametrize("number", range(len(build._KINDS)))
def test_a_processor_gets_the_fastest_library_that_it_runs(monkeypatch, tmp_path, number):
    flags, needed = build._KINDS[number]
    others = set(build._KINDS[number - 1][1] if number else needed) - needed
    has = sorted({"fpu", "sse2", *needed, *sorted(others)[1:]})  # all but one of what a faster kind needs
    (tmp_path / "cpuinfo").write_text(f"model name : avx2 avx512bw\nflags\t\t: {' '.join(has)}\n")
    monkeypatch.setattr("builtins.open", lambda _, **how: (tmp_path / "cpuinfo").open(**how))
    assert build._extra_flags.__wrapped__() == flags


def test_an_extra_brings_a_compiler_that_is_never_of_the_current_folder(monkeypatch, tmp_path):
    for folder in ("site", "here"):
        (tmp_path / folder / "ziglang").mkdir(parents=True)
        (tmp_path / folder / "ziglang" / "__init__.py").touch()
        (tmp_path / folder / "ziglang" / "zig").touch(0o755)
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", "")
    monkeypatch.chdir(tmp_path / "here")
    for here in ("", str(tmp_path / "here"), "../here", "nowhere"):
        monkeypatch.setattr("sys.path", [here])
        assert build.compiler() is None
        monkeypatch.setattr("sys.path", [here, str(tmp_path / "site")])
        assert build.compiler() == [str(tmp_path / "site" / "ziglang" / "zig"), "cc", "-mcpu=baseline"]


def test_no_process_imports_from_the_current_folder(monkeypatch, tmp_path):
    """As multiprocessing's do that start a process: here is what it imports first."""
    monkeypatch.chdir(tmp_path)
    for name in ("multiprocessing", "signal", "runpy"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'planted')!r}, 'w')\n")
    assert [*prove.in_processes(abs, [(-1,), (2,)], 2)]
    assert not (tmp_path / "planted").exists()


def test_a_compiler_that_fails_is_told(fresh, monkeypatch, tmp_path):
    broken = tmp_path / "cc"
    broken.write_text("#!/bin/sh\necho 'core.c: out of luck' >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("CC", str(broken))
    monkeypatch.setenv("ARCADEMARK_CACHE", str(tmp_path / "cache"))
    with pytest.raises(build.NoCore, match="out of luck"):
        build.core()
    assert list((tmp_path / "cache").iterdir()) == []


def test_it_is_compiled_once(core, fresh, monkeypatch):
    monkeypatch.setattr("subprocess.Popen", lambda *_, **__: pytest.fail("compiled again"))
    build.core()


@pytest.fixture
def planted(fresh, monkeypatch, tmp_path):
    """A cache folder with a library that would end the process if it was loaded, under the core's name."""
    monkeypatch.setattr(build, "SHIPPED", tmp_path / "none")
    cache = tmp_path / "cache"
    cache.mkdir(mode=0o700)
    monkeypatch.setenv("ARCADEMARK_CACHE", str(cache))
    path = cache / build._name((build.version(),), build._for_this_processor(build.CORE_FLAGS))
    source = tmp_path / "planted.c"
    source.write_text("#include <stdlib.h>\n__attribute__((constructor)) static void run(void) { _Exit(66); }\n")
    subprocess.run([*build.compiler(), "-shared", "-fPIC", source, "-o", path], check=True)
    return path


@pytest.mark.slow
def test_a_library_that_others_could_write_is_not_loaded_but_compiled_anew(planted):
    planted.chmod(0o777)
    with pytest.warns(ArcadeMarkWarning, match=r"console-\w+\.so: others can write to .*, so it is not used"):
        build.core()
    assert planted.stat().st_mode & 0o777 == 0o755
    assert Path(build.core()._name) == planted


@pytest.mark.slow
def test_in_a_folder_that_others_can_write_to_nothing_is_loaded_or_written(planted):
    planted.parent.chmod(0o777)
    victim = planted.parent.parent / "victim"
    victim.write_text("kept")
    planted.with_suffix(".lock").symlink_to(victim)
    before = planted.read_bytes()
    with pytest.warns(ArcadeMarkWarning, match="so nothing there is used and nothing is kept between processes"):
        core = build.core()
    assert not Path(core._name).is_relative_to(planted.parent)
    assert (planted.read_bytes(), victim.read_text()) == (before, "kept")


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_library_of_another_user_is_not_loaded(planted):
    os.chown(planted, 65534, -1)
    with pytest.warns(ArcadeMarkWarning, match="belongs to another user"):
        build.core()


# ---- facts


def test_all_games_are_known():
    assert set(games.names()) == set(tasks.games())
    for name, facts in tasks.games().items():
        ours = games.game(name).facts
        assert ours["mode"] in facts.modes
        legal = set(tasks.JOYSTICK_ACTIONS) - {tasks.JOYSTICK_ACTIONS[action] for action in ours.get("illegal", ())}
        assert set(facts.minimal_actions) <= legal


# ---- the proven list


def test_the_proven_list_is_of_this_core():
    listed, lines = prove.proven(), read_text(prove.LIST, files("arcademark.emulator") / "data").splitlines()
    assert set(listed) == {line.partition(",")[0] for line in lines[1:]} <= set(games.names())
    for row in listed.values():
        assert int(row["frames"]) >= 10_000


def test_a_short_proof_forgets_no_frame_that_was_cut(core):
    section = section_of("double_dunk", 60)
    assert section.cut == 0
    (row,) = csv.DictReader(io.StringIO(prove.list_text([section])))
    assert (row["frames"], row["cut"]) == ("60", "1")


@pytest.fixture
def proving(core):
    return lambda *words: CliRunner().invoke(cli, ["info", "emulator", "prove", *words])


def test_a_proof_is_told_and_listed(proving, tmp_path, monkeypatch):
    monkeypatch.setattr(prove, "SECTION_FRAMES", 60)
    listed = tmp_path / "proven.csv"
    done = proving("pong,breakout", "--frames", "100", "--list", str(listed))
    assert (done.exit_code, done.output) == (
        0,
        "pong: 100 frames, no difference\nbreakout: 100 frames, no difference\n",
    )
    header, breakout, pong = listed.read_text().splitlines()
    assert header == ",".join(prove.COLUMNS)
    assert breakout.startswith(f"breakout,{prove.rules_checksum('breakout')},{build.version()},")
    assert pong.split(",")[4] == "100"
    listed.write_text("my,own\n")
    refused = proving("pong", "--frames", "20", "--list", str(listed))
    assert "proven.csv: was not written by ArcadeMark" in str(refused.exception)
    assert listed.read_text() == "my,own\n"


@pytest.mark.slow
def test_a_proof_in_several_processes(proving):
    done = proving("pong,breakout", "--frames", "60", "--workers", "2", "--translated")
    assert set(done.output.splitlines()) == {"pong: 60 frames, no difference", "breakout: 60 frames, no difference"}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """A short run under sticky actions, with no-op starts."""
    out = tmp_path_factory.mktemp("run") / "run"
    words = ["run", "random", "--games", "breakout,qbert", "--protocol", "world-records", "--episodes", "2"]
    caps = ["--override", "max_frames_per_episode=240", "--override", "start=noop", "--override", "noop_max=9"]
    done = CliRunner().invoke(cli, [*words, *caps, "--seeds", "1", "--out", str(out)])
    assert done.exit_code == 0, done.output
    return out


def test_a_run_is_proven(core, recorded):
    done = CliRunner().invoke(
        cli, ["info", "emulator", "prove", "breakout", "--run", str(recorded)], standalone_mode=False
    )
    assert (done.return_value, done.output) == (0, "2 of 2 episodes confirmed, 480 frames\n")


def test_what_differs_in_a_run_is_found(core, recorded, monkeypatch):
    frames, screen = iter(range(1, 10_000)), NativeEmulator.screen

    def other(emulator, out):
        screen(emulator, out)
        out[50:60] += next(frames) % 240 > 200

    monkeypatch.setattr(NativeEmulator, "screen", other)
    done = CliRunner().invoke(
        cli, ["info", "emulator", "prove", "breakout", "--run", str(recorded)], standalone_mode=False
    )
    assert "the picture after frame 201 of play differs on ale-py" in " ".join(done.output.split())
    assert "0 of 2 episodes confirmed" in done.output
    assert done.return_value == 1


def test_the_state_of_things(core):
    told = CliRunner().invoke(cli, ["info", "emulator"]).output
    assert f"core {build.version()}: compiled" in told
    assert f"Proven identical to ale-py in {len(prove.proven())} games" in told
    assert json.loads(CliRunner().invoke(cli, ["info", "emulator", "--format", "json"]).output)["missing"] is None


@pytest.mark.parametrize("game", ["asteroids", "crazy_climber", "phoenix", "atlantis", "wizard_of_wor"])
def test_every_reward_of_ale_py_is_a_multiple_of_a_games_step(game):
    ale_py.ALEInterface.setLoggerMode(ale_py.LoggerMode.Error)
    ale = ale_py.ALEInterface()
    ale.setInt("random_seed", 0)
    ale.loadROM(rom_path(game))
    rng, actions = np.random.default_rng(0), ale.getMinimalActionSet()
    rewards = []
    for _ in range(4000):
        if ale.game_over():
            ale.reset_game()
        rewards.append(ale.act(actions[rng.integers(len(actions))]))
    assert any(rewards)
    assert tasks.games()[game].score_step > 1
    assert not np.any(np.array(rewards) % tasks.games()[game].score_step)


def divisor(expression, values):
    """Return the largest number that is known to divide an expression's value; 0 divides like every number."""
    if isinstance(expression, int):
        return abs(expression)
    operation, *operands = expression
    if operation == "old":  # of the same kind as this frame's, which is among the operands too
        return 0
    if operation in games._LATEST:
        return divisor(values[operands[0] if operation == "val" else operation], values)
    if operation == "mul":
        return math.prod(divisor(operand, values) for operand in operands)
    if operation in ("add", "sub", "neg", "min", "max"):
        return math.gcd(*(divisor(operand, values) for operand in operands))
    if operation == "if":
        return math.gcd(*(divisor(operand, values) for operand in operands[1:]))
    return 1


def test_score_steps_and_lives_of_the_facts_are_those_of_the_rules():
    for name, facts in tasks.games().items():
        rules = games.game(name).facts
        values = games._values(rules)
        assert facts.score_step == (divisor(values["reward"], values) or 1)
        assert facts.lives == rules["lives"]["at_reset"]
    assert [tasks.games()[game].score_step for game in ("pong", "qbert", "breakout")] == [1, 1, 1]
