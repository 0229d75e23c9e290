"""Games of one's own: on both emulators, recorded, continued, replayed elsewhere, planned in."""

import dataclasses
import hashlib
import json
import shutil
from types import SimpleNamespace

import numpy as np
import pytest

import arcademark
import own_games
from arcademark.environments import registry
from arcademark.environments.emulation.atari import rom_path
from arcademark.environments.registry import choose_emulator, environment_spec, open_environment, referee
from arcademark.errors import ArcadeMarkError, UnknownNameError
from arcademark.operations import info
from arcademark.records import manifest
from arcademark.records.reading import read_run
from arcademark.runs.engines.here import InProcessEngine
from arcademark.runs.execution import execute
from arcademark.runs.plan import make_plan
from arcademark.runs.replay.verify import verify
from arcademark.suite.cartridges import Cartridge
from arcademark.suite.protocols import protocol, suite_protocol
from arcademark.suite.task_suites import load_suite

RAW = {"repeat_action_probability": 0.0, "frame_skip": 1, "observation": "ram", "screen_size": None}
RAW |= {"frame_stack": 1, "max_pool": False}
KNOWN = {
    "pong": {"score": "ram[0x8e] - ram[0x8d]", "end": "ram[0x8e] == 21 or ram[0x8d] == 21"},
    "breakout": {
        "score": "bcd(ram[0xcd]) + 100 * (ram[0xcc] & 15)",
        "lives": "ram[0xb9]",
        "end": "lives == 0",
    },
}
"""Where two of ale-py's games keep their facts, as `info games watch-ram` shows."""


@pytest.fixture
def catch(tmp_path):
    return suite_protocol(load_suite(str(own_games.describe(tmp_path))))


def play(directory, rules, agent="random", **asked):
    execute(make_plan(agent, "all", rules, **asked), directory, make=InProcessEngine)


def known_rom(folder, game, name="mine", **more):
    """Describe a ROM that ale-py knows as one's own game."""
    said = {key: f'"{value}"' for key, value in KNOWN[game].items()}
    content = rom_path(game).read_bytes()
    return suite_protocol(load_suite(str(own_games.describe(folder, content, name, keep=False, **said, **more))))


def test_the_cartridge_of_the_example_is_the_one_that_its_description_is_of():
    suite = load_suite(str(own_games.FOLDER / "catch.toml"))
    assert len(own_games.rom()) == 2048
    (task,) = suite.tasks.values()
    assert task.cartridge.sha256 == hashlib.sha256(own_games.rom()).hexdigest()


def test_a_game_is_played_as_it_is_described(catch):
    env = arcademark.make("catch", catch, **RAW, action_set="minimal")
    assert env.action_space.n == 6
    memory, info = env.reset(seed=0)
    assert (info["lives"], memory[:5].tolist()) == (3, [0, 3, 3, 3, 0])
    score = frames = 0
    for _ in range(1_000):  # the paddle follows the first ten balls and then stays where it is
        follow = score < 10 and int(memory[3]) - int(memory[2])
        memory, reward, terminated, truncated, info = env.step(2 if follow > 0 else 3 if follow < 0 else 0)
        score, frames = score + reward, frames + 1
        assert score == 10 * (memory[0] >> 4) + (memory[0] & 15)
        assert info["lives"] == memory[1]
        if terminated:
            break
    assert (score >= 10, memory[1], truncated) == (True, 0, False)


def test_the_picture_has_ball_and_paddle(catch):
    environment = open_environment(environment_spec("catch", catch.override(RAW)))
    environment.reset(np.random.default_rng(0))
    environment.step(0)
    picture = environment.render()
    assert picture.shape == (210, 160, 3)
    colours, counts = np.unique(picture.reshape(-1, 3), axis=0, return_counts=True)
    assert len(colours) == 4  # black, blue, white, yellow
    assert sorted(counts)[:2] == [4 * 16, 8 * 16]


@pytest.mark.slow
@pytest.mark.parametrize("game", KNOWN)
def test_ale_py_and_the_console_give_a_known_rom_the_same_rows_as_the_known_game_has(game, tmp_path):
    rules = known_rom(tmp_path, game).override(RAW)
    own, known = environment_spec("mine", rules), environment_spec(game, protocol("world-records").override(RAW))
    assert (choose_emulator("mine", suite=rules.suite), referee(own)) == ("console", "ale")
    environments = [open_environment(own, emulator=one) for one in ("console", "ale")]
    environments.append(open_environment(known, emulator="ale"))
    rng = np.random.default_rng(1)
    views, seen = np.zeros((3, 128), np.uint8), set()
    action, frames = 0, 0
    while frames < 8_000:
        for environment in environments:
            environment.reset(np.random.default_rng(0))
        ended = False
        while not ended and frames < 8_000:
            action = int(rng.integers(18)) if frames % 4 == 0 else action
            steps = {environment.step(action) for environment in environments}
            assert len(steps) == 1
            (step,) = steps
            assert len({environment.lives for environment in environments}) == 1
            for environment, view in zip(environments, views, strict=True):
                environment.observe(view)
            assert (views == views[0]).all()
            seen |= {step.reward, ("ended", step.terminated)}
            ended, frames = step.terminated or step.truncated, frames + 1
    assert {1.0, ("ended", True)} <= seen


@pytest.mark.parametrize(
    ("game", "screen"), [("pooyan", {"rows": "220"}), ("pacman", {"television": '"PAL"'}), ("pong", {})]
)
def test_known_roms_show_their_screen_on_both_emulators(game, screen, tmp_path):
    rom, nothing = rom_path(game).read_bytes(), {"score": '"0"', "end": '"0"'}
    described = own_games.describe(tmp_path, rom, "mine", keep=False, **nothing, **screen)
    changes = {"observation": "rgb", "screen_size": None, "max_pool": False, "frame_stack": 1}
    rules = suite_protocol(load_suite(str(described))).override(changes)
    spec, known = environment_spec("mine", rules), environment_spec(game, protocol("world-records").override(changes))
    assert spec.observation_shape == known.observation_shape
    environments = [open_environment(spec, emulator=one) for one in ("console", "ale")]
    environments.append(open_environment(known, emulator="ale"))
    views = np.zeros((3, *spec.observation_shape), np.uint8)
    for environment, view in zip(environments, views, strict=True):
        environment.reset(np.random.default_rng(0))
        for action in (0, 3, 1, 2):
            environment.step(action)
        environment.observe(view)
    assert views[0].any()
    assert (views == views[0]).all()


def test_a_cartridge_for_pal_television_is_described_so(tmp_path):
    slow = own_games.rom().replace(bytes.fromhex("a9238d9602"), bytes.fromhex("a95e8d9602"))  # 50 lines more
    wrong = suite_protocol(load_suite(str(own_games.describe(tmp_path, slow))))
    with pytest.raises(ArcadeMarkError, match='a screen with television PAL, not NTSC; correct it: television = "PAL"'):
        open_environment(environment_spec("catch", wrong))
    rules = suite_protocol(load_suite(str(own_games.describe(tmp_path, slow, television='"PAL"'))))
    environment = open_environment(environment_spec("catch", rules))
    environment.reset(np.random.default_rng(0))
    environment.step(0)
    assert environment.render().shape == (250, 160, 3)


def test_states_of_a_known_rom_on_ale_py_hold_what_its_description_reads(tmp_path):
    spec = environment_spec("mine", known_rom(tmp_path, "pong").override(RAW))
    environment = open_environment(spec, emulator="ale")
    rng = np.random.default_rng(3)
    environment.reset(rng)
    actions = [int(rng.integers(18)) for _ in range(600)]
    for action in actions[:300]:
        environment.step(action)
    state = environment.save()
    first = [environment.step(action) for action in actions[300:]]
    environment.restore(state)
    assert [environment.step(action) for action in actions[300:]] == first
    assert sum(step.reward for step in first)


@pytest.mark.parametrize("wraps", [0, 1_000_000_000])
def test_rewards_are_32_bit_numbers_on_both_emulators(wraps, tmp_path):
    rom, large = rom_path("pong").read_bytes(), '"(ram[0x8b] + ram[0xb6] + ram[0xa4]) * 16777216"'
    rules = {"score": large, "end": '"0"', "score_wraps_at": str(wraps)}
    spec = environment_spec(
        "mine", suite_protocol(load_suite(str(own_games.describe(tmp_path, rom, "mine", False, **rules)))).override(RAW)
    )
    environments = [open_environment(spec, emulator=one) for one in ("console", "ale")]
    for environment in environments:
        environment.reset(np.random.default_rng(0))
    rng = np.random.default_rng(1)
    for action in rng.integers(18, size=100).repeat(4).tolist():
        ours, theirs = (environment.step(action) for environment in environments)
        assert ours == theirs


@pytest.mark.parametrize(
    ("game", "more", "what"),
    [
        ("pong", {"starting_actions": '[["FIRE", 1]]'}, "which knows its ROM as 'pong', starts it differently"),
        ("pong", {"controller": '"joystick"'}, "plays it with another controller"),
        ("pong", {"kind": '"4K"'}, "wires it as 2K"),
    ],
)
def test_ale_py_plays_no_known_rom_that_is_described_otherwise(game, more, what, tmp_path):
    rules = known_rom(tmp_path, game, **more)
    with pytest.raises(ArcadeMarkError) as error:
        choose_emulator("mine", "ale", suite=rules.suite)
    assert what in str(error.value)
    assert referee(environment_spec("mine", rules)) == "console"


def test_ale_py_says_so_where_it_takes_a_game_for_over_that_goes_on(tmp_path):
    rules = known_rom(tmp_path, "breakout").override(RAW)
    task = rules.suite.tasks["mine"]
    never = type(task)("mine", cartridge=type(task.cartridge)("mine.bin", task.cartridge.sha256, "0", "0"))
    suite = type(rules.suite)("mine", "mine", {"mine": never}, folder=rules.suite.folder)
    environment = open_environment(environment_spec("mine", dataclasses.replace(rules, suite=suite)), emulator="ale")
    environment.reset(np.random.default_rng(0))

    def play_on():
        for _ in range(10_000):
            environment.step(1)

    with pytest.raises(ArcadeMarkError, match="ale-py, which knows its ROM, considers it over"):
        play_on()


def test_what_cannot_be_played_is_refused(tmp_path, monkeypatch, catch):
    with pytest.raises(ArcadeMarkError, match="game 'catch': ale-py does not know its ROM; play it on our emulator"):
        execute(make_plan("random", "all", catch, emulator="ale"), tmp_path / "run")
    over = suite_protocol(load_suite(str(own_games.describe(tmp_path, end='"1"'))))
    with pytest.raises(ArcadeMarkError, match="game 'catch': it is over at its start; correct 'end', or start it"):
        open_environment(environment_spec("catch", over))
    over = suite_protocol(load_suite(str(own_games.describe(tmp_path, rom_path("pong").read_bytes(), end='"1"'))))
    with pytest.raises(ArcadeMarkError, match="game 'catch': it is over at its start"):
        open_environment(environment_spec("catch", over), emulator="ale")
    odd = suite_protocol(load_suite(str(own_games.describe(tmp_path, own_games.rom()[:1000]))))
    with pytest.raises(ArcadeMarkError, match="its ROM has 1,000 bytes; expected one of 2,048, 4,096"):
        open_environment(environment_spec("catch", odd))
    own_games.describe(tmp_path)
    monkeypatch.setenv("ARCADEMARK_CONSOLE", "off")
    with pytest.raises(
        ArcadeMarkError, match="ale-py does not know its ROM, and our emulator is not available: it is sw"
    ):
        open_environment(environment_spec("catch", catch))


@pytest.mark.slow
def test_a_run_is_recorded_continued_and_replayed_where_the_reader_has_the_rom(tmp_path, catch):
    play(tmp_path / "run", catch, episodes=2)
    play(tmp_path / "run", catch, seeds=2, episodes=3)
    execute(make_plan("random", "all", catch, seeds=2, episodes=3), tmp_path / "whole", workers=2)
    run, whole = (read_run(tmp_path / name) for name in ("run", "whole"))
    assert run.episodes.score.tolist() == whole.episodes.score.tolist()
    text = (tmp_path / "run" / manifest.FILE).read_text()
    assert str(tmp_path) not in json.dumps(json.loads(text)["protocol"])
    written = json.loads(text)["protocol"]["suite"]["tasks"]["catch"]["cartridge"]
    assert written["sha256"] == json.loads(text)["games"]["catch"]
    assert written["score"] == "bcd(ram[0x80])"
    with pytest.raises(ArcadeMarkError, match="whose ROMs are not part of a run; give the file that describes them"):
        verify(tmp_path / "run")
    for selection in ({"unplayed": True}, {"replayed": False}):
        with pytest.raises(UnknownNameError, match="unknown parameter of verify"):
            verify(tmp_path / "run", **selection)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for name in ("catch.toml", "catch.bin"):
        shutil.move(tmp_path / name, elsewhere / name)
    verified = verify(tmp_path / "run", suite=str(elsewhere / "catch.toml"), workers=2)
    assert (verified.ok, verified.confirmed, verified.notes) == (True, 6, ())
    other = own_games.describe(elsewhere, lives='"ram[0x82]"')
    with pytest.raises(ArcadeMarkError, match="game 'catch': the suite catch describes it differently; give the file"):
        verify(tmp_path / "run", suite=str(other))
    with pytest.raises(ArcadeMarkError, match=r"lives of task catch: ram\[0x81\] there, ram\[0x82\] now"):
        play(tmp_path / "run", suite_protocol(load_suite(str(other))), seeds=2, episodes=3)
    with pytest.raises(ArcadeMarkError, match="another run: suite: catch there, none now"):
        execute(make_plan("random", ["toy"], protocol("world-records")), tmp_path / "run", make=InProcessEngine)


@pytest.mark.slow
def test_a_run_on_a_known_rom_is_replayed_on_ale_py(tmp_path, monkeypatch):
    rules = known_rom(tmp_path, "breakout").override({"max_frames_per_episode": 800})
    play(tmp_path / "run", rules, episodes=2)
    assert read_run(tmp_path / "run").manifest["emulators"]["mine"][0].startswith("console ")
    monkeypatch.setenv("ARCADEMARK_CONSOLE", "off")
    assert verify(tmp_path / "run", suite=str(tmp_path / "mine.toml"), workers=1).confirmed == 2
    play(tmp_path / "more", rules, episodes=2)
    runs = [read_run(tmp_path / name) for name in ("run", "more")]
    assert runs[1].manifest["emulators"]["mine"][0].startswith("ale-py ")
    assert runs[0].episodes.score.tolist() == runs[1].episodes.score.tolist()
    assert runs[0].episodes.frames.tolist() == runs[1].episodes.frames.tolist()


@pytest.mark.slow
@pytest.mark.parametrize("agent", ["uct", "iw"])
def test_planners_plan_in_it(agent, tmp_path, catch):
    rules = catch.override({"max_frames_per_episode": 120, "action_set": "minimal", "repeat_action_probability": 0})
    play(tmp_path / "run", rules, agent, episodes=1)
    (row,) = read_run(tmp_path / "run").episodes
    assert row.simulated_frames > row.frames
    assert verify(tmp_path / "run", suite=rules.suite).ok


def test_what_is_known_of_a_game_takes_one_reading_and_leaves_nothing_open(tmp_path, monkeypatch):
    done = []
    opened = SimpleNamespace(close=lambda: done.append("closed"))
    monkeypatch.setattr(registry, "open_environment", lambda *_, **how: done.append(how["emulator"]) or opened)
    read = Cartridge.read_rom
    monkeypatch.setattr(Cartridge, "read_rom", lambda *given: done.append("read") or read(*given))
    (game,) = info.own_games(str(own_games.describe(tmp_path)))
    assert done == ["read", "ale", "closed", "console", "closed"]
    assert game.emulators == ("ale", "console")
