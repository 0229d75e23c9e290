"""FIRE pressed for the agent: as if it were pressed by hand, wherever a game is played; 18 actions have FIRE at 1."""

import numpy as np
import pytest

from arcademark.environments.fire import AWAIT_FIRE, WAITING_FRAMES, missed, presses
from arcademark.environments.registry import environment_spec, open_environment
from arcademark.suite.protocols import protocol

FRAMES = 3
SETTINGS = {
    "action_set": "full",
    "frame_skip": FRAMES,
    "repeat_action_probability": 0,
    "frame_stack": 3,
    "screen_size": "none",
    "reported_episodes": "evaluation",
    "max_frames_per_episode": "none",
}
STICKY = {"repeat_action_probability": 0.25}


class ByHand:
    """The game without the setting, in which FIRE is pressed as Stable-Baselines3's two wrappers press it.

    Their habit is repeated here from their source: `EpisodicLifeEnv` steps with no action after a life that was lost,
    `FireResetEnv` then steps with action 1 and action 2, and resets, which is that step again, where these lose a life.
    """

    def __init__(self, spec):
        self.env = open_environment(spec)
        self.pressed = 0

    def reset(self, rng):
        self.env.reset(rng)
        self.ended = False
        return self.fire()

    def fire(self):
        return sum(self.one(action, reset=True) for action in (1, 2))

    def one(self, action, reset=False):
        if self.ended:
            return 0.0
        self.pressed += reset
        before = self.env.lives
        reward, terminated, truncated = self.env.step(action)
        self.ended = terminated or truncated
        self.lost = not self.ended and self.env.lives < before
        return reward + (self.one(0) if reset and self.lost else 0.0)

    def step(self, action):
        reward = self.one(action)
        return reward + (self.one(0) + self.fire() if self.lost else 0.0)


def spec_of(**changes):
    return environment_spec("toy", protocol("world-records").override(SETTINGS | changes))


def seen(env):
    screens = np.empty(env.spec.observation_shape, np.uint8)
    env.observe(screens)
    return screens


@pytest.mark.parametrize("changes", [{}, STICKY, STICKY | {"start": "noop", "noop_max": 30}])
@pytest.mark.parametrize("training_end", ["game_over", "episodic_life"])
def test_evaluation_is_the_game_in_which_fire_is_pressed_by_hand(changes, training_end):
    """Screens are stacked anew after a lost life exactly where training's episodes end there."""
    changes = changes | {"training_episode_end": training_end}
    env, by_hand = open_environment(spec_of(fire_reset=True, **changes)), ByHand(spec_of(**changes))
    env.pad_with_zeros(True)
    lost = 0
    for seed in range(12):
        rng, episodes = np.random.default_rng(seed), np.random.SeedSequence(seed)
        assert env.reset(np.random.default_rng(episodes)) == by_hand.reset(np.random.default_rng(episodes))
        assert not seen(env)[:-1].any()
        while not by_hand.ended:
            lives, action = env.lives, int(rng.integers(18))
            reward, terminated, truncated = env.step(action)
            assert reward == by_hand.step(action)
            assert (terminated, truncated) == (by_hand.ended, False)
            assert (env.episode_frames, env.lives) == (by_hand.env.episode_frames, by_hand.env.lives)
            np.testing.assert_array_equal(seen(env)[-1], seen(by_hand.env)[-1])
            went_on = env.lives < lives and not terminated
            lost += went_on
            assert env.life_begun == (went_on and training_end == "episodic_life")
            assert seen(env)[:-1].any() != env.life_begun
    assert lost >= 5


def test_training_presses_where_an_episode_goes_on_and_tells_no_reward_of_it():
    env = open_environment(spec_of(fire_reset=True, training_episode_end="episodic_life", **STICKY), training=True)
    by_hand = ByHand(spec_of(**STICKY))
    assert env.reset(np.random.default_rng(1)) == by_hand.reset(np.random.default_rng(1))
    score = expected = lost = 0.0
    while not by_hand.ended:
        step = env.step(4)
        score += step.reward
        expected += by_hand.step(4)
        if env.life_lost:
            assert step.terminated
            score += env.go_on().reward
            lost += 1
        assert (score, env.episode_frames, env.lives) == (expected, by_hand.env.episode_frames, by_hand.env.lives)
        assert env.ended == by_hand.ended
    assert lost >= 2


def test_only_games_with_fire_as_action_1_are_pressed_in():
    for changes in ({"action_set": "minimal"}, {"action_set": "full"}):
        spec = environment_spec("toy", protocol("world-records").override(SETTINGS | changes | {"fire_reset": True}))
        env = open_environment(spec)
        env.reset(np.random.default_rng(0))
        assert env.episode_frames == (2 * FRAMES if changes["action_set"] == "full" else 0)
    rules = protocol("dqn-2015").override({"fire_reset": True})
    pressed = {
        game: bool(presses(environment_spec(game, rules))) for game in ("breakout", "pong", "ms_pacman", "freeway")
    }
    assert pressed == {"breakout": True, "pong": True, "ms_pacman": False, "freeway": False}


@pytest.mark.parametrize(
    ("game", "here", "there", "misses"),
    [
        ("breakout", False, True, True),
        ("breakout", True, True, False),
        ("breakout", False, False, False),
        ("freeway", False, True, False),  # has no FIRE
    ],
)
def test_a_network_misses_fire_where_it_was_pressed_in_training_alone(game, here, there, misses):
    spec = environment_spec(game, protocol("dqn-2015").override({"fire_reset": here}))
    assert missed(spec, there) is misses


@pytest.mark.parametrize("end", ["life_lost", "game_over"])
def test_a_game_that_ends_at_its_start_starts_again(end):
    """A cap of 8 frames ends it within the presses, after up to 7 no-ops; the remaining press follows."""
    changes = {"max_frames_per_episode": 8, "start": "noop", "noop_max": 7, "evaluation_episode_end": end}
    env = open_environment(spec_of(fire_reset=True, **changes))
    found = set()
    for seed in range(40):
        reward = env.reset(np.random.default_rng(seed))
        assert not env.ended
        assert reward == 0 or env.episode_frames == 7  # a fruit was caught
        found.add(env.episode_frames)
    assert found == {0, FRAMES, 1 + 2 * FRAMES}


@pytest.mark.parametrize("emulator", ["ale", "console"])
def test_fire_is_worth_what_it_gives(emulator):
    """In Haunted House the first FIRE lights a match, which costs a point."""
    rules = protocol("dqn-2015").override({"fire_reset": True, "start": "reset", "noop_max": 0})
    env = open_environment(environment_spec("haunted_house", rules), emulator=emulator)
    assert env.reset(np.random.default_rng(0)) == -1
    assert env.episode_frames == 8


def test_frame_by_frame_is_the_same_game():
    changes = {"fire_reset": True, "observation": "palette", "max_pool": False, "frame_stack": 1, **STICKY}
    whole, frames = (open_environment(spec_of(**changes)) for _ in range(2))
    for env in (whole, frames):
        env.reset(np.random.default_rng(4))
    while not whole.ended:
        step, each = whole.step(0), list(frames.each_frame(0))
        assert sum(part.reward for part in each) == step.reward
        assert each[-1][1:] == step[1:]
        assert len(each) <= FRAMES
        assert (frames.episode_frames, frames.lives) == (whole.episode_frames, whole.lives)
        np.testing.assert_array_equal(seen(frames), seen(whole))


AWAITED = {"breakout": True, "donkey_kong": True, "tennis": True}  # and games that begin otherwise, or by themselves
OTHERS = dict.fromkeys(("pong", "video_pinball", "name_this_game", "bowling", "freeway", "haunted_house"), False)


@pytest.mark.parametrize(("game", "waits"), (AWAITED | OTHERS).items())
def test_games_that_await_fire_stand_still_for_a_minute_and_then_begin(game, waits):
    """Random play without FIRE gets no reward and loses no life, after a lost life too, until it was pressed once."""
    rules = protocol("dqn-2015").override(
        {"observation": "ram", "screen_size": "none", "max_pool": False, "frame_stack": 1}
    )
    env = open_environment(environment_spec(game, rules))
    quiet = [place for place, name in enumerate(env.spec.action_meanings) if "FIRE" not in name]

    def happens(rng):
        """Play for a minute, or until something happens, and say what did."""
        began, lives = env.episode_frames, env.lives
        while env.episode_frames < began + WAITING_FRAMES:
            step = env.step(int(rng.choice(quiet)))
            if step.reward or step.terminated or env.lives < lives:
                return "a life" if env.lives < lives else "a reward"
        return None

    def stands_still(seed):
        rng = np.random.default_rng(seed)
        env.reset(rng)
        if happens(rng):
            return False
        env.reset(rng)
        env.step(1)
        found = happens(rng)
        while found == "a reward" and env.lives:
            found = happens(rng)
        return found is not None and (found != "a life" or happens(rng) is None)

    assert all(stands_still(seed) for seed in range(3)) is waits
    assert (game in AWAIT_FIRE) is waits
    env.close()
