"""What a protocol says of play: sticky actions, no-ops, caps, lives, saving, wrong actions."""

import numpy as np
import pytest

from arcademark.environments.play import GameEnvironment
from arcademark.environments.toy import ToyEmulator
from arcademark.errors import ArcadeMarkError


class Recorder(ToyEmulator):
    """The toy game, remembering the actions executed, and never over unless told so."""

    def __init__(self, start_lives=5):
        super().__init__()
        self.executed = []
        self.start_lives = start_lives

    def start(self, rng):
        super().start(rng)
        self._lives = self.start_lives
        return 0, self.start_lives

    def act(self, action):
        self.executed.append(action)
        return super().act(action)


@pytest.fixture
def record(make_spec):
    """Open the toy game on a recording console."""

    def open_it(lives=10**6, **changes):
        spec = make_spec("toy", **{"max_frames_per_episode": None, **changes})
        console = Recorder(lives)
        return GameEnvironment(spec, console), console

    return open_it


def sticky_reference(agent_actions, frame_skip, probability, rng):
    """Execute actions the obvious way: one number a frame, and the last executed action repeats."""
    executed, last = [], 0
    for action in agent_actions:
        for _ in range(frame_skip):
            if rng.random() >= probability:
                last = action
            executed.append(last)
    return executed


@pytest.mark.parametrize("frame_skip", [1, 4, 5, 300])
@pytest.mark.parametrize("probability", [0.25, 0.9, 1.0])
def test_sticky_actions_repeat_what_was_executed(record, frame_skip, probability):
    env, console = record(frame_skip=frame_skip, repeat_action_probability=probability)
    actions = np.random.default_rng(3).integers(18, size=400).tolist()
    env.reset(np.random.default_rng(7))
    for action in actions:
        env.step(action)
    rng = np.random.default_rng(7)
    rng.integers(1 << 24)  # the toy game's own draw comes first
    assert console.executed == sticky_reference(actions, frame_skip, probability, rng)


def test_without_sticky_actions_nothing_is_drawn(record):
    env, console = record(repeat_action_probability=0)
    rng = np.random.default_rng(0)
    env.reset(rng)
    state = rng.bit_generator.state
    for _ in range(100):
        env.step(3)
    assert console.executed == [3] * 400
    assert rng.bit_generator.state == state


def test_noop_starts_draw_their_number_uniformly(record):
    env, console = record(start="noop", noop_max=3, repeat_action_probability=0)
    counts = []
    for seed in range(300):
        console.executed.clear()
        env.reset(np.random.default_rng(seed))
        assert set(console.executed) == {0}
        assert env.episode_frames == len(console.executed)
        counts.append(env.episode_frames)
    assert all(70 < counts.count(number) < 130 for number in (1, 2, 3))


def test_a_game_that_ends_during_the_noops_starts_again(record):
    env, _ = record(lives=1, start="noop", noop_max=200)
    for seed in range(20):
        env.reset(np.random.default_rng(seed))
        assert env.lives == 1
        env.step(0)


def test_termination_wins_over_truncation(record):
    env, _ = record(lives=1, max_frames_per_episode=None, frame_skip=1, repeat_action_probability=0)
    env.reset(np.random.default_rng(0))
    while not env.step(0).terminated:
        pass
    end = env.episode_frames
    env, _ = record(lives=1, max_frames_per_episode=end, frame_skip=1, repeat_action_probability=0)
    env.reset(np.random.default_rng(0))
    steps = [env.step(0) for _ in range(end)]
    assert steps[-1][1:] == (True, False)
    assert not any(step.truncated for step in steps)


def test_a_state_of_another_game_is_refused(open_game):
    env, other = open_game("toy"), open_game("pong")
    env.reset(np.random.default_rng(0))
    with pytest.raises(ArcadeMarkError, match="state of 'toy' in game 'pong'"):
        other.restore(env.save())


def test_restoring_leaves_the_callers_generator_alone(open_game):
    env = open_game("toy", repeat_action_probability=0.5)
    rng = np.random.default_rng(0)
    env.reset(rng)
    state = env.save()
    before = rng.bit_generator.state
    env.restore(state)
    for _ in range(8):
        env.step(0)
    assert rng.bit_generator.state == before


def test_no_picture_between_a_restore_and_a_step(open_game):
    env = open_game("breakout")
    with pytest.raises(ArcadeMarkError, match="no picture"):
        env.render()
    env.reset(np.random.default_rng(0))
    env.step(1)
    picture = env.render()
    env.restore(env.save())
    with pytest.raises(ArcadeMarkError, match="no picture"):
        env.render()
    env.step(1)
    assert env.render().shape == picture.shape == (210, 160, 3)


def test_a_chosen_mode_is_played_and_starts_the_same_each_time(open_game):
    """Space Invaders, mode 1: moving shields; the first screens differ from the default's within a second."""

    def screens(env):
        env.reset(np.random.default_rng(0))
        for _ in range(15):
            env.step(0)
        return env.render()

    default, chosen = open_game("space_invaders"), open_game("space_invaders", mode=1)
    first = screens(chosen)
    assert not np.array_equal(first, screens(default))
    np.testing.assert_array_equal(first, screens(chosen))
    np.testing.assert_array_equal(screens(default), screens(open_game("space_invaders", mode=0, difficulty=0)))


def test_a_lost_life_goes_on_in_the_same_game(open_game):
    """After a step of no action, as in the game played without ends; the older screens are copies or zeros."""
    settings = {"training_episode_end": "episodic_life", "repeat_action_probability": 0.25, "frame_skip": 3}
    settings |= {"reported_episodes": "evaluation", "frame_stack": 3, "screen_size": "none"}
    ours, whole = (open_game("toy", training=training, **settings) for training in (True, False))
    for zeros in (False, True):
        ours.pad_with_zeros(zeros)
        for game in (ours, whole):
            game.reset(np.random.default_rng(4))
        seen, expected = (np.empty(ours.spec.observation_shape, np.uint8) for _ in range(2))
        ended, lost = False, 0
        while not ended:
            step, oracle = ours.step(0), whole.step(0)
            assert (step.reward, step.truncated) == (oracle.reward, oracle.truncated)
            ended = oracle.terminated
            assert step.terminated == (ended or ours.life_lost)
            if ours.life_lost:
                lost += 1
                state = ours.save()
                with pytest.raises(ArcadeMarkError, match="outside an episode"):
                    ours.step(0)
                ours.go_on()
                ours.restore(state)
                assert ours.go_on() == whole.step(0)
                ours.observe(seen)
                whole.observe(expected)
                np.testing.assert_array_equal(seen[-1], expected[-1])
                older = np.zeros_like(seen[-1]) if zeros else seen[-1]
                np.testing.assert_array_equal(seen[:-1], [older, older])
            assert (ours.episode_frames, ours.lives) == (whole.episode_frames, whole.lives)
        assert lost == 4
        with pytest.raises(ArcadeMarkError, match="no game to continue"):
            ours.go_on()
