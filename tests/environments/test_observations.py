"""Observations equal Gymnasium's, bit for bit, on the same episodes: at the start, in play, and however they end."""

import ale_py.env
import cv2
import numpy as np
import pytest
from gymnasium.wrappers import AtariPreprocessing, FrameStackObservation

from arcademark.environments.observations.area import AreaResize

AS_GYMNASIUM = {"max_pool": True, "training_episode_end": "life_lost"}
"""What sets Gymnasium's preprocessing apart from DQN's own."""


class FreshStart(ale_py.env.AtariEnv):
    """ALE's own environment, whose every episode starts from the freshly loaded ROM and draws from a given seed."""

    episode_seed = 0

    def reset(self, *, seed=None, options=None):
        self.load_game()
        self._np_random = np.random.default_rng(self.episode_seed)
        return self._get_obs(), self._get_info()


def gymnasium_env(spec, *, life_ends=False):
    settings = spec.protocol
    env = FreshStart(
        spec.game,
        frameskip=1,
        repeat_action_probability=0.0,
        full_action_space=settings.action_set == "full",
        max_num_frames_per_episode=settings.max_frames_per_episode,
    )
    height, width = settings.screen_size
    wrapped = AtariPreprocessing(
        env,
        noop_max=settings.noop_max,
        frame_skip=settings.frame_skip,
        screen_size=(width, height),
        terminal_on_life_loss=life_ends,
        grayscale_obs=settings.observation == "grayscale",
    )
    return env, wrapped if settings.frame_stack == 1 else FrameStackObservation(wrapped, settings.frame_stack)


def assert_same_episode(ours, theirs, theirs_raw, seed, steps):
    """Play the same actions in both and compare all; return how and in which frame of a step the episode ended."""
    spec = ours.spec
    actions = np.random.default_rng(seed + 1000).integers(spec.num_actions, size=steps).tolist()
    observation = np.empty(spec.observation_shape, np.uint8)
    theirs_raw.episode_seed = seed
    expected, _ = theirs.reset()
    ours.reset(np.random.default_rng(seed))
    ours.observe(observation)
    np.testing.assert_array_equal(observation, expected)
    for action in actions:
        frames = ours.episode_frames
        expected, expected_reward, expected_terminated, expected_truncated, info = theirs.step(action)
        reward, terminated, truncated = ours.step(action)
        ours.observe(observation)
        np.testing.assert_array_equal(observation, expected)
        assert reward == expected_reward
        assert terminated == expected_terminated
        assert truncated == (expected_truncated and not expected_terminated)
        assert (ours.episode_frames, ours.lives) == (info["episode_frame_number"], info["lives"])
        if terminated or truncated:
            return "terminated" if terminated else "truncated", ours.episode_frames - frames
    return None, 0


@pytest.mark.parametrize("game", ["breakout", "pong", "seaquest", "qbert", "pacman", "carnival", "journey_escape"])
def test_dqn_preprocessing_equals_gymnasium(open_game, game):
    ours = open_game(game, "dqn-2015", **AS_GYMNASIUM, repeat_action_probability=0)
    raw, theirs = gymnasium_env(ours.spec)
    assert_same_episode(ours, theirs, raw, seed=1, steps=250)


@pytest.mark.slow
def test_ends_within_a_step_equal_gymnasium(open_game):
    """Lives lost in every frame of a step: the final observation pools what had been fetched before."""
    ours = open_game("asterix", "dqn-2015", **AS_GYMNASIUM, training=True)
    raw, theirs = gymnasium_env(ours.spec, life_ends=True)
    ends = {assert_same_episode(ours, theirs, raw, seed, 400) for seed in range(12)}
    assert ends >= {("terminated", 1), ("terminated", 2), ("terminated", 3), ("terminated", 4)}


@pytest.mark.parametrize(
    ("game", "cap", "last"), [*(("seaquest", 100 + last, last) for last in (1, 2, 3, 4)), ("name_this_game", 150, 4)]
)
def test_truncation_within_a_step_equals_gymnasium(open_game, game, cap, last):
    """Name This Game starts after some frames, which count."""
    ours = open_game(game, "dqn-2015", **AS_GYMNASIUM, start="reset", noop_max=0, max_frames_per_episode=cap)
    raw, theirs = gymnasium_env(ours.spec)
    assert assert_same_episode(ours, theirs, raw, 3, 40) == ("truncated", last)


@pytest.mark.parametrize("frame_skip", [1, 2, 3, 5])
def test_other_frame_skips_equal_gymnasium(open_game, frame_skip):
    ours = open_game("breakout", "dqn-2015", **AS_GYMNASIUM, training=True, frame_skip=frame_skip)
    raw, theirs = gymnasium_env(ours.spec, life_ends=True)
    for seed in range(3):
        assert assert_same_episode(ours, theirs, raw, seed, 500)[0] == "terminated"


@pytest.mark.parametrize(
    "changes",
    [
        {"screen_size": (105, 80)},
        {"screen_size": (64, 48), "frame_stack": 1},
        {"screen_size": (210, 160), "frame_stack": 2},
        {"observation": "rgb"},
        {"observation": "rgb", "screen_size": (96, 96), "frame_stack": 1},
        {"frame_stack": 1},
    ],
    ids=str,
)
def test_other_sizes_and_colours_equal_gymnasium(open_game, changes):
    ours = open_game("montezuma_revenge", "dqn-2015", max_frames_per_episode=203, **AS_GYMNASIUM | changes)
    raw, theirs = gymnasium_env(ours.spec)
    assert assert_same_episode(ours, theirs, raw, 5, 100)[0] == "truncated"


def small(screen, observation):
    """Make an image of a screen as RLlib's WarpFrame does."""
    shown = cv2.cvtColor(screen, cv2.COLOR_RGB2GRAY) if observation == "grayscale" else screen
    return cv2.resize(shown, (64, 64), interpolation=cv2.INTER_AREA)


@pytest.mark.parametrize("observation", ["grayscale", "rgb"])
@pytest.mark.parametrize("cap", [301, 302, 303, 304])
def test_pooling_after_resizing_is_of_the_last_two_small_images(open_game, observation, cap):
    """As RLlib's MaxAndSkipEnv, whose buffer keeps what an ended step has not reached."""
    seen_as = {"max_pool": "resized", "observation": observation, "screen_size": (64, 64), "frame_stack": 1}
    whole = {"start": "reset", "noop_max": 0, "max_frames_per_episode": cap}
    ours = open_game("space_invaders", "dqn-2015", **seen_as, **whole)
    raw, _ = gymnasium_env(ours.spec)
    ours.reset(np.random.default_rng(0))
    seen = np.empty(ours.spec.observation_shape, np.uint8)
    start, _ = raw.reset()
    ours.observe(seen)
    np.testing.assert_array_equal(seen, small(start, observation))
    buffer, truncated = [seen, seen], False
    for action in np.random.default_rng(1).integers(ours.spec.num_actions, size=76).tolist():
        for frame in range(4):
            screen, _, _, truncated, _ = raw.step(action)
            if frame >= 2:
                buffer[frame - 2] = small(screen, observation)
            if truncated:
                break
        assert ours.step(action).truncated == truncated
        ours.observe(seen)
        np.testing.assert_array_equal(seen, np.maximum(*buffer))
    assert truncated


def test_ale_v5_equals_the_environment_of_ale(open_game):
    ours = open_game("breakout", "ale-v5", repeat_action_probability=0)
    theirs = FreshStart("breakout", repeat_action_probability=0.0, frameskip=4)
    assert assert_same_episode(ours, theirs, theirs, 2, 400)[0] == "terminated"


@pytest.mark.parametrize("observation", ["ram", "palette"])
def test_memory_and_palette_are_those_of_the_emulator(open_game, observation):
    ours = open_game("ms_pacman", "ale-2013", observation=observation)
    theirs = FreshStart("ms_pacman", repeat_action_probability=0.0, frameskip=5, full_action_space=True)
    theirs.reset()
    ours.reset(np.random.default_rng(0))
    out = np.empty(ours.spec.observation_shape, np.uint8)
    for action in [0, 3, 5, 8, 2] * 8:
        theirs.step(action)
        ours.step(action)
        ours.observe(out)
        expected = theirs.ale.getRAM() if observation == "ram" else theirs.ale.getScreen() // 2
        np.testing.assert_array_equal(out, expected)


def test_rendering_shows_the_emulators_colours(open_game):
    ours = open_game("breakout", "ale-2013", observation="ram", frame_skip=1)
    theirs = FreshStart("breakout", repeat_action_probability=0.0, frameskip=1, full_action_space=True)
    theirs.reset()
    ours.reset(np.random.default_rng(0))
    np.testing.assert_array_equal(ours.render(), theirs.ale.getScreenRGB())
    ours.step(1)
    theirs.step(1)
    np.testing.assert_array_equal(ours.render(), theirs.ale.getScreenRGB())


SIZES = [(84, 84), (105, 80), (70, 40), (42, 42), (210, 80), (105, 160), (210, 160), (64, 64), (100, 33), (1, 1)]


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_area_resize_equals_opencv(size, channels):
    rng = np.random.default_rng(0)
    for source in ((210, 160), (250, 160)):
        resize = AreaResize(source, size)
        for levels in (256, 2):
            image = (rng.integers(levels, size=(*source, channels)) * (255 // (levels - 1))).astype(np.uint8)
            out = np.empty((*size, channels), np.uint8)
            resize(image, out)
            expected = cv2.resize(image, size[::-1], interpolation=cv2.INTER_AREA)
            np.testing.assert_array_equal(out, expected.reshape(out.shape))
