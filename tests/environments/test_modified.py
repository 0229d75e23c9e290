"""Modified games and colours: each does what it says, on both emulators alike, and saved in the middle."""

from functools import cache

import numpy as np
import pytest
from test_native import play

from arcademark.emulator import build
from arcademark.environments.generative import snapshot
from arcademark.environments.registry import environment_spec, open_environment, open_model
from arcademark.errors import ArcadeMarkError
from arcademark.suite.modifications import modifications
from arcademark.suite.protocols import protocol

ALL = [(game, name) for game, known in modifications().items() for name in known]
PALETTE = {"observation": "palette", "screen_size": None, "max_pool": False, "frame_stack": 1}


@pytest.mark.parametrize(("game", "name"), ALL)
def test_both_emulators_play_a_modified_game_alike(make_spec, game, name):
    if build.compiler() is None:
        pytest.skip("no C compiler: the emulator cannot be compiled")
    spec = make_spec(game, "world-records", modification=name, max_frames_per_episode=402)
    actions = np.random.default_rng(4).integers(spec.num_actions, size=100).tolist()
    expected = play(open_environment(spec, emulator="ale"), actions, 5)
    assert play(open_environment(spec, emulator="ale"), actions, 5, turn=47) == expected
    assert play(open_environment(spec, emulator="console"), actions, 5, turn=47) == expected


@cache
def film(game, modification=None):
    """Return screens, memories and the points of random play."""
    rules = protocol("world-records").override(PALETTE | {"modification": modification})
    env, rng = open_environment(environment_spec(game, rules)), np.random.default_rng(1)
    env.reset(np.random.default_rng(0))
    screen, memory, screens, memories, points = np.empty((210, 160), np.uint8), np.empty(128, np.uint8), [], [], 0.0
    for step in range(220):
        points += env.step(int(rng.integers(18))).reward
        env.observe(screen)
        env._emulator.ram(memory)
        if step >= 60:
            screens.append(screen << 1)
            memories.append(memory.astype(int))
        if env.ended:
            env.reset(np.random.default_rng(step))
    return np.array(screens), np.array(memories), points


def colours(film, rows, columns=(0, 160)):
    return set(np.unique(film[0][:, slice(*rows), slice(*columns)]).tolist())


def still(film, rows, columns=(8, 160)):
    seen = film[0][:, slice(*rows), slice(*columns)]
    return bool((seen == seen[0]).all())


def middle(film, colour, rows, columns=(30, 130)):
    """Return in which column a colour is in the middle, of each screen."""
    seen = film[0][:, slice(*rows), slice(*columns)] == colour
    return (seen.sum(axis=1) @ np.arange(seen.shape[2])) / np.maximum(seen.sum(axis=(1, 2)), 1)


def oxygen(film):
    screens, memories, _ = film
    return {screen[172, 49:112].tobytes() for screen, memory in zip(screens, memories, strict=True) if memory[97] > 20}


DOES = {
    "opponent_still": lambda film: 56 in colours(film, (34, 194), (14, 22)) and np.ptp(film[1][:, 50]) < 8,
    "opponent_mirrors": lambda film: np.abs(film[1][:, 50] - film[1][:, 51]).max() < 12,
    "bricks_blue": lambda film: colours(film, (57, 93), (8, 152)) == {0, 112},
    "paddle_and_ball_red": lambda film: 48 in colours(film, (189, 193), (8, 152)),
    "cars_stopped": lambda film: still(film, (24, 184), (60, 100)),
    "cars_hidden": lambda film: colours(film, (24, 184), (60, 100)) == {0, 6, 12, 30},
    "no_shields": lambda film: 52 not in colours(film, (155, 176)),
    "shields_right": lambda film: middle(film, 52, (155, 176), (20, 160))[0] > 65,
    "full_oxygen": lambda film: len(oxygen(film)) == 1,
    "no_enemies": lambda film: 200 not in colours(film, (60, 140)),
    "one_armed": lambda film: film[2] < -2,
    "player_red": lambda film: 48 in colours(film, (40, 170)) and 12 not in colours(film, (40, 170)),
    "floes_still": lambda film: np.unique(middle(film, 12, (105, 185), (8, 160))).size <= 2,
    "no_animals": lambda film: 142 not in colours(film, (105, 185)),
    "shark_in_the_middle": lambda film: np.ptp(middle(film, 0, (78, 96))) < 8,
    "shark_at_the_opponent": lambda film: middle(film, 0, (78, 96)).min() > 60,
}
"""What is seen of a modified game, and not of the game as it is."""


@pytest.mark.parametrize(("game", "name"), ALL)
def test_a_modification_does_what_it_says(game, name):
    assert DOES[name](film(game, name))
    assert not DOES[name](film(game))


def test_games_refuse_modifications_of_others():
    rules = protocol("world-records").override({"modification": "one_armed"})
    with pytest.raises(ArcadeMarkError, match="'pong' has no modification one_armed; it has opponent_still, opp"):
        environment_spec("pong", rules)
    with pytest.raises(ArcadeMarkError, match="it has none"):
        environment_spec("toy", rules)
    with pytest.raises(ArcadeMarkError, match="a modification's name"):
        rules.override({"modification": "No Arms!"})


@pytest.mark.parametrize("name", ["inverted", "rotated", "gray", "shuffled"])
def test_colours_change_what_is_seen_and_nothing_else(name):
    def observed(changes, colours):
        env = open_environment(environment_spec("pong", protocol("ale-v5").override(changes | {"colours": colours})))
        env.reset(np.random.default_rng(0))
        seen, rewards = [], []
        for step in range(60):
            rewards.append(env.step(step % 6))
            seen.append(np.empty(env.spec.observation_shape, np.uint8))
            env.observe(seen[-1])
        return np.array(seen), rewards, env

    screens, rewards, original = observed(PALETTE, "original")
    changed, same, env = observed(PALETTE, name)
    assert same == rewards
    other = env._emulator.recoloured
    assert (np.unique(other).size, set(other & 1)) == ({"gray": 16}.get(name, 256), {0, 1})
    assert (changed == (other >> 1)[screens << 1]).all()
    rgb, gray = original._emulator.rgb, original._emulator.gray
    assert (observed({}, name)[0] == rgb[other[screens << 1]]).all()
    assert (observed({"observation": "grayscale"}, name)[0] == gray[other[screens << 1]]).all()
    assert (env.render() == rgb[other[screens[-1] << 1]]).all()
    usual = {"observation": "grayscale", "screen_size": (84, 84), "max_pool": True, "frame_stack": 4}
    assert (observed(usual, name)[0] != observed(usual, "original")[0]).any()
    ram = PALETTE | {"observation": "ram"}
    assert (observed(ram, name)[0] == observed(ram, "original")[0]).all()
    model, picture = open_model(env.spec), np.empty((210, 160), np.uint8)
    model.restore(snapshot(env))
    model.use(np.random.default_rng(0))
    model.step(0)
    model.screen(picture)
    assert set(np.unique(picture)) <= set(other.tolist())
    assert set(np.unique(picture)) != set(np.unique(screens[-1] << 1))
