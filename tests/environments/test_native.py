"""Our emulator behind the environments' contract: what an agent sees is what it would see on ale-py."""

import functools
import shutil
import subprocess
import sys
from pathlib import Path
from threading import Event

import numpy as np
import pytest

import arcademark
from arcademark.emulator import build, cartridge, machine, prove, translate
from arcademark.environments import registry
from arcademark.environments.emulation.atari import AleEmulator, rom_path
from arcademark.environments.native import NativeEmulator
from arcademark.environments.registry import choose_emulator, open_environment, open_model
from arcademark.errors import ArcadeMarkError


@pytest.fixture(scope="module", autouse=True)
def _core():
    if build.compiler() is None:
        pytest.skip("no C compiler: the emulator cannot be compiled")


def test_a_screen_that_was_not_expected_is_played_again(make_spec):
    """A game whose memory is observed draws no frame; looking at it changes nothing."""
    seen = {"observation": "ram", "screen_size": None, "frame_stack": 1, "max_pool": False}
    spec = make_spec("beam_rider", **seen)
    shown, hidden, unseen = (open_environment(spec, emulator=emulator) for emulator in ("ale", "console", "console"))
    for environment in (shown, hidden, unseen):
        environment.reset(np.random.default_rng(0))
    for action in np.random.default_rng(2).integers(18, size=120).tolist():
        assert len({environment.step(action) for environment in (shown, hidden, unseen)}) == 1
        if action % 3 == 0:
            assert np.array_equal(shown.render(), hidden.render())
            assert np.array_equal(shown.render(), hidden.render())
    assert hidden._emulator.save() == unseen._emulator.save()


@pytest.fixture
def nothing_remembered():
    """Ask anew whether there is a core, in the test and after it."""
    registry.core_missing.cache_clear()
    yield
    registry.core_missing.cache_clear()


def test_our_emulator_plays_where_it_is_proven_and_ale_py_elsewhere(make_spec, monkeypatch):
    assert choose_emulator("Space Invaders") == choose_emulator("pong", "console") == "console"
    assert choose_emulator("pong", "ale") == choose_emulator("toy") == "ale"
    assert isinstance(open_environment(make_spec("pong"))._emulator, NativeEmulator)
    monkeypatch.setattr(prove, "proven", lambda: {"qbert": {}})
    assert choose_emulator("pong") == "ale"
    assert isinstance(open_environment(make_spec("pong"))._emulator, AleEmulator)
    with pytest.raises(ArcadeMarkError, match="game 'pong': our emulator is not proven for it"):
        open_environment(make_spec("pong"), emulator="console")


def test_choosing_compiles_nothing_where_it_is_asked_not_to(monkeypatch, tmp_path, nothing_remembered):
    monkeypatch.setenv("ARCADEMARK_CACHE", str(tmp_path))
    assert choose_emulator("pong", compiles=False) == "ale"
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ArcadeMarkError, match="not compiled yet"):
        choose_emulator("pong", "console", compiles=False)


def test_the_proof_of_another_core_does_not_count(monkeypatch):
    prove.proven.cache_clear()
    monkeypatch.setattr(prove, "version", lambda: "0" * 16)
    assert prove.proven() == {}
    monkeypatch.undo()
    prove.proven.cache_clear()
    assert prove.proven()


# Agent steps are the same on ale-py, frame by frame, and on our console, in C: alone, in batches and in threads


def play(environment, actions, seed, turn=None):
    """Return all that an episode shows; at step `turn` it is saved, left, and gone on with."""
    seen, out = [], np.empty(environment.spec.observation_shape, np.uint8)
    environment.reset(np.random.default_rng(seed))
    for i, action in enumerate(actions):
        if i == turn:
            state = environment.save()
            for other in actions[:3]:
                if not environment.ended:
                    environment.step(other)
            environment.restore(state)
        environment.observe(out)
        seen.append((out.tobytes(), environment.lives, environment.episode_frames))
        if environment.ended:
            break
        seen.append(environment.step(action))
    return seen


@pytest.mark.parametrize(
    ("game", "name", "changes"),
    [
        ("pong", "world-records", {"frame_skip": 1}),
        ("breakout", "world-records", {"frame_skip": 5, "max_frames_per_episode": 398}),
        ("breakout", "dqn-2015", {"max_frames_per_episode": 403}),
        ("assault", "dqn-2015", {"repeat_action_probability": 0.25, "max_frames_per_episode": 1201}),
        ("alien", "world-records", {"max_frames_per_episode": 203, "frame_stack": 1}),
        ("krull", "world-records", {"max_pool": False, "max_frames_per_episode": 202}),
        ("carnival", "world-records", {"max_frames_per_episode": 201}),
        ("asterix", "ale-v5", {"max_frames_per_episode": 401}),
        ("venture", "ale-2013", {"max_frames_per_episode": 402}),
        ("qbert", "ale-2013", {"max_frames_per_episode": 402}),
        ("amidar", "world-records", {"observation": "rgb", "screen_size": None, "max_frames_per_episode": 400}),
        ("yars_revenge", "ale-2013", {"observation": "ram", "max_frames_per_episode": 400}),
        ("video_chess", "world-records", {"max_pool": False, "max_frames_per_episode": 400}),
        ("video_checkers", "dqn-2015", {"max_frames_per_episode": 1200}),
        ("journey_escape", "world-records", {"screen_size": None, "max_frames_per_episode": 400}),
        ("freeway", "world-records", {"mode": 3, "difficulty": 1, "max_frames_per_episode": 400}),
    ],
)
def test_both_consoles_play_the_same_steps(make_spec, game, name, changes):
    """Sticky actions, lives and caps that end within a step, no-op starts, several skips; saved in the middle."""
    spec = make_spec(game, name, **changes)
    actions = np.random.default_rng(4).integers(spec.num_actions, size=400).tolist()
    ale, ours = (open_environment(spec, training=True, emulator=emulator) for emulator in ("ale", "console"))
    for seed, turn in ((0, None), (1, 7)):
        assert play(ours, actions, seed, turn) == play(ale, actions, seed)
        assert np.array_equal(ours.render(), ale.render())


def test_a_batch_refuses_as_single_environments_do():
    envs = arcademark.make_vec("pong", 4, threads=2, autoreset_mode="disabled", max_frames_per_episode=6)
    with pytest.raises(ArcadeMarkError, match="call reset first"):
        envs.step(np.zeros(4, int))
    envs.reset(seed=0)
    for wrong in ([0, 1, 18, 0], [0, -1, 0, 0], [0, 0.5, 0, 0]):
        with pytest.raises(ArcadeMarkError, match="is not an integer from 0 to 17"):
            envs.step(np.array(wrong))
    assert envs.step(np.zeros(4, int))[-1]["episode_frame_number"].tolist() == [4] * 4
    assert envs.step(np.zeros(4, int))[3].all()
    with pytest.raises(ArcadeMarkError, match="call reset first"):
        envs.step(np.zeros(4, int))
    with pytest.raises(ArcadeMarkError, match="threads is 0"):
        arcademark.make_vec("pong", 2, threads=0)


@pytest.mark.slow
def test_a_translation_is_taken_up_at_the_start_of_an_episode(make_spec, monkeypatch, translating_at_once):
    """Whatever plays, the steps are the same; a model of the game goes over as well."""
    monkeypatch.setattr(cartridge, "_translation", functools.cache(cartridge.Translation))
    monkeypatch.setattr(translate, "cached", lambda *_: None)
    monkeypatch.setattr(translate, "played", lambda *_: 0)
    monkeypatch.setattr(cartridge, "FRAMES_PER_BYTE", 0.05)
    spec = make_spec("freeway", max_frames_per_episode=200, repeat_action_probability=0)
    actions = np.random.default_rng(4).integers(spec.num_actions, size=50).tolist()
    environment, model = open_environment(spec, emulator="console"), open_model(spec, emulator="console")
    interpreted = environment._emulator._machine.core
    first = play(environment, actions, 0)
    assert environment._emulator._machine.core is interpreted
    assert play(environment, actions, 0) == first
    taken = environment._emulator._machine.core
    assert taken is not interpreted
    for core in (interpreted, taken):
        assert model._emulator._machine.core is core
        model.restore(arcademark.environments.generative.snapshot(environment)._replace(ended=False))
    monkeypatch.setenv(build.SWITCH, "interpreted")
    environment = open_environment(spec, emulator="console")
    for _ in range(2):
        assert play(environment, actions, 0) == first
        assert environment._emulator._machine.core is interpreted


def test_a_translation_is_taken_up_within_a_search(make_spec, monkeypatch, translating_at_once):
    """An episode of a planner can have more frames than a training."""
    made = build.TranslatedCore(build.library(("nothing",), translate._tracer, build.FLAGS))
    monkeypatch.setattr(cartridge, "_translation", functools.cache(cartridge.Translation))
    monkeypatch.setattr(translate, "cached", lambda *_: None)
    monkeypatch.setattr(translate, "played", lambda *_: 0)
    monkeypatch.setattr(translate, "translated", lambda *_, **__: made)
    monkeypatch.setattr(cartridge, "FRAMES_PER_BYTE", 0.01)
    spec = make_spec("pong", repeat_action_probability=0)
    environment, model = open_environment(spec, emulator="console"), open_model(spec, emulator="console")
    environment.reset(rng=np.random.default_rng(0))
    state = arcademark.environments.generative.snapshot(environment)
    for core in (build.core(), made):
        model.restore(state)
        assert model._emulator._machine.core is core
        for _ in range(10):
            model.step(2)


def test_another_process_that_translates_is_not_waited_for(make_spec, monkeypatch, translating_at_once):
    monkeypatch.setattr(cartridge, "_translation", functools.cache(cartridge.Translation))
    monkeypatch.setattr(translate, "cached", lambda *_: None)
    monkeypatch.setattr(translate, "translated", lambda *_, **__: None)
    monkeypatch.setattr(cartridge, "FRAMES_PER_BYTE", 0)
    console = NativeEmulator("pong")
    console.start(np.random.default_rng(0))
    assert console._machine.core is build.core()

    def failing(*_, **__):
        tried.append(1)
        raise build.NoCore("no compiler")

    tried = []
    monkeypatch.setattr(translate, "translated", failing)
    for _ in range(2):
        console._translation.released += 1
        console.start(np.random.default_rng(0))
    assert tried == [1]


def test_play_goes_on_while_a_game_is_translated(monkeypatch):
    made, go_on = build.TranslatedCore(build.library(("nothing",), translate._tracer, build.FLAGS)), Event()
    monkeypatch.setattr(cartridge, "_translation", functools.cache(cartridge.Translation))
    monkeypatch.setattr(cartridge.Translation, "_making", None)
    monkeypatch.setattr(translate, "cached", lambda *_: None)
    monkeypatch.setattr(translate, "translated", lambda *_, **__: made if go_on.wait(60) else None)
    monkeypatch.setattr(cartridge, "FRAMES_PER_BYTE", 0)
    console = NativeEmulator("pong")
    for _ in range(2):
        console.start(np.random.default_rng(0))
        assert console._machine.core is build.core()
    go_on.set()
    cartridge.Translation._making.join()
    console.start(np.random.default_rng(0))
    assert console._machine.core is made


def test_frames_of_other_processes_and_runs_count(monkeypatch, tmp_path, translating_at_once):
    """A process begins to translate only once it has played as long itself, whatever it played."""

    class Counted(cartridge.Player):
        played = 0

    monkeypatch.setenv("ARCADEMARK_CACHE", str(tmp_path))
    monkeypatch.setattr(cartridge, "FRAMES_PER_BYTE", 1.5)
    monkeypatch.setattr(translate, "cached", lambda *_: None)
    monkeypatch.setattr(translate, "translated", lambda game, *_, **__: tried.append(game.name))
    tried, consoles = [], {}
    for names in (["pong"], ["pong", "freeway", "pong"], ["freeway", "pong"]):
        monkeypatch.setattr(cartridge, "_translation", functools.cache(cartridge.Translation))
        monkeypatch.setattr(cartridge.Translation, "_all", [])
        consoles.clear()  # as in another process
        for name in names:
            console = consoles.setdefault(name, Counted())
            translation = cartridge.translation(name, rom_path(name).read_bytes())
            translation.add(console)
            console.played += 1_600
            translation.take_up()
        tried.append("end")
    assert tried == ["end", "pong", "end", "pong", "end"]


def test_an_unfinished_translation_ends_with_the_process(monkeypatch, tmp_path):
    """Nothing of it is left or printed: no files, and no complaint of ale-py's that its objects are in use."""
    cache, compiler, started = tmp_path / "cache", tmp_path / "cc", tmp_path / "started"
    cache.mkdir(mode=0o700)
    shutil.copy(build.core()._name, cache)
    compiler.write_text(f"#!/bin/sh\ntouch {started}\nexec sleep 60\n")
    compiler.chmod(0o755)
    monkeypatch.setenv("ARCADEMARK_CACHE", str(cache))
    monkeypatch.setenv("CC", str(compiler))
    code = (
        "import os, time\nimport ale_py\nimport numpy as np\nfrom arcademark.emulator import cartridge\n"
        "from arcademark.environments.native import NativeEmulator\ncartridge.FRAMES_PER_BYTE = 0\n"
        f"NativeEmulator('pong').start(np.random.default_rng(0))\nwhile not os.path.exists({str(started)!r}):\n"
        "    time.sleep(0.01)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, timeout=50, capture_output=True)
    assert done.stderr == b""
    assert [path.name for path in cache.iterdir()] == [Path(build.core()._name).name]


@pytest.mark.parametrize("game", ["pong", "alien"])
def test_what_is_no_state_is_refused(make_spec, game):
    """States may come from a stranger's run."""
    console = NativeEmulator(game)
    state = console.save()
    whole = state if game == "pong" else state[0]
    wrong = [None, 3, b"", whole[:-1], whole + b"\0", bytearray(whole), (whole, b"")]
    if game == "alien":
        changed = np.array([(10240, 1)], machine._CHANGED).tobytes()
        wrong = [*wrong[:-1], (whole, b""[:0] + b"123"), (whole, changed), (whole, None), (b"", state[1]), (whole,)]
    for each in wrong:
        with pytest.raises(ArcadeMarkError, match=f"game '{game}': this is not a state of our emulator") as caught:
            console.restore(each)
        assert "\n" not in str(caught.value)
    console.restore(state)
    assert console.save() == state


def test_noise_for_a_state_harms_nothing(make_spec):
    spec = make_spec("pong", "ale-2013", repeat_action_probability=0)
    model, rng = open_model(spec, emulator="console"), np.random.default_rng(0)
    environment = open_environment(spec, emulator="console")
    environment.reset(rng)
    place = arcademark.environments.generative.snapshot(environment)
    screen = np.empty(model.screen_shape, np.uint8)
    for _ in range(50):
        noise = bytearray(place.inner)
        for at in rng.integers(len(noise), size=20).tolist():
            noise[at] = int(rng.integers(256))
        model.restore(place._replace(inner=bytes(noise), executed=-5, lives=-1))
        model.step(3)
        model.screen(screen)
