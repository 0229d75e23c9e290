"""The face for Stable-Baselines3: what its own wrappers show, bit for bit, and its algorithms train on it."""

import numpy as np
import pytest

pytest.importorskip("stable_baselines3", reason="Stable-Baselines3 is not installed: make test-all")

import ale_py.env
import gymnasium
import stable_baselines3
from stable_baselines3.common.atari_wrappers import NoopResetEnv
from stable_baselines3.common.env_util import make_atari_env
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.vec_env import VecFrameStack, VecMonitor

import arcademark.sb3
from arcademark.environments import fire
from arcademark.suite.protocols import protocol

pytestmark = pytest.mark.needs("stable_baselines3")

gymnasium.register_envs(ale_py)
TOY = {"frame_stack": 1, "screen_size": "none", "max_frames_per_episode": 200, "frame_skip": 1}


@pytest.fixture
def fresh_starts(monkeypatch):
    """Let ALE's environments start each game from the freshly loaded ROM: later resets depend on what was played."""

    def reset(self, *, seed=None, options=None):
        self.load_game()
        return self._get_obs(), self._get_info()

    monkeypatch.setattr(ale_py.env.AtariEnv, "reset", reset)


def their_noops(env):
    while not isinstance(env, NoopResetEnv):
        env = env.env
    return env


@pytest.mark.parametrize(
    ("game", "gym_id", "steps"),
    [
        ("freeway", "Freeway", 600),
        ("ms_pacman", "MsPacman", 1500),
        ("breakout", "Breakout", 500),
        ("space_invaders", "SpaceInvaders", 700),
    ],
)
def test_what_is_seen_and_given_equals_their_own_wrappers(fresh_starts, game, gym_id, steps):
    """With lost lives and ends of games, and FIRE pressed; they are told how many no-ops we drew."""
    count = 2
    ours = arcademark.sb3.make_vec(game, count, "dqn-2015", max_frames_per_episode=108_000, fire_reset=True)
    theirs = VecFrameStack(make_atari_env(f"{gym_id}NoFrameskip-v4", count), 4)
    noops = [their_noops(env) for env in theirs.venv.envs]
    games = [env.environment for env in ours.envs.envs]
    pressed = 8 if fire.presses(games[0].spec) else 0

    def tell_noops():
        for theirs_i, ours_i in zip(noops, games, strict=True):
            theirs_i.override_num_noops = ours_i.episode_frames - pressed

    ours.seed(3)
    seen = ours.reset()
    tell_noops()
    np.testing.assert_array_equal(seen, theirs.reset().transpose(0, 3, 1, 2))
    rng = np.random.default_rng(0)
    lost = ended = 0
    for _ in range(steps):
        actions = rng.integers(ours.action_space.n, size=count)
        seen, rewards, dones, infos = ours.step(actions)
        tell_noops()
        expected, expected_rewards, expected_dones, expected_infos = theirs.step(actions)
        np.testing.assert_array_equal(seen, expected.transpose(0, 3, 1, 2))
        np.testing.assert_array_equal(rewards, expected_rewards)
        assert rewards.dtype == expected_rewards.dtype
        np.testing.assert_array_equal(dones, expected_dones)
        for i in np.flatnonzero(dones):
            info, theirs_info = infos[i], expected_infos[i]
            last = theirs_info["terminal_observation"].transpose(2, 0, 1)
            np.testing.assert_array_equal(info["terminal_observation"], last)
            assert info["TimeLimit.truncated"] == theirs_info["TimeLimit.truncated"]
            assert ("episode" in info) == ("episode" in theirs_info)
            if "episode" in info:
                assert info["episode"]["r"] == theirs_info["episode"]["r"]
            ended += "episode" in info
            lost += "episode" not in info
    assert ended > 0 or game == "freeway"
    assert lost > 1 or game in ("freeway", "pong")


def test_ppo_trains_and_hears_raw_scores_of_whole_games():
    rules = protocol("dqn-2015").override(TOY)
    envs = arcademark.sb3.make_vec("toy", 4, rules)
    model = stable_baselines3.PPO("MlpPolicy", envs, n_steps=64, batch_size=256, n_epochs=1, seed=0)
    model.learn(768)
    assert len(model.ep_info_buffer) > 4
    assert all(0 <= info["r"] <= 25 and info["r"] == int(info["r"]) for info in model.ep_info_buffer)
    assert max(info["l"] for info in model.ep_info_buffer) >= 35  # five lives, seven frames a fruit


def test_coloured_stacks_have_three_channels_a_screen():
    envs = arcademark.sb3.make_vec("pong", 1, "ale-v5", frame_stack=4, screen_size="84x84")
    assert envs.observation_space.shape == (12, 84, 84)
    stable_baselines3.PPO("CnnPolicy", envs, n_steps=8, batch_size=8, n_epochs=1).learn(8)
    plain = arcademark.make("pong", "ale-v5", frame_stack=4, screen_size="84x84")
    seen, expected = envs.env_method("reset", seed=1)[0][0], plain.reset(seed=1)[0]
    np.testing.assert_array_equal(seen[-3:], np.moveaxis(expected[-1], -1, 0))


def test_a_seed_repeats_and_sets_the_games_apart():
    envs = arcademark.sb3.make_vec("toy", 3, protocol("world-records").override(TOY))

    def play():
        return np.array([envs.reset()] + [envs.step(np.full(3, step % 18))[0] for step in range(60)])

    envs.seed(1)
    first, following = play(), play()
    envs.seed(1)
    np.testing.assert_array_equal(first, play())
    assert (first != following).any()  # a seed is that of one reset
    envs.seed(2)
    assert (first != play()).any()
    assert (first[:, 0] != first[:, 1]).any()


def test_attributes_and_methods_of_environments_can_be_reached():
    envs = arcademark.sb3.make_vec("toy", 2)
    assert envs.get_attr("clips_rewards") == [False, False]
    envs.set_attr("clips_rewards", True, indices=[1])
    assert envs.get_attr("clips_rewards") == [False, True]
    assert envs.env_method("get_action_meanings", indices=0)[0][0] == "NOOP"
    assert envs.env_is_wrapped(gymnasium.Wrapper) == [False, False]
    with pytest.warns(UserWarning, match="statistics will be"):
        VecMonitor(envs)
    envs.close()


def test_their_evaluation_takes_raw_scores_of_whole_games():
    """Also of an environment for training, whose episodes end with lives and whose rewards are clipped."""

    class Waiting:
        def predict(self, observations, **asked):
            return np.zeros(len(observations), np.int64), None

    envs = arcademark.sb3.make_vec("space_invaders", 1, "sb3-atari", noop_max=1, screen_size="none", frame_stack=1)
    seen = []

    def look(known, _):
        seen.append((known["reward"], known["done"], known["info"].get("episode")))

    scores, lengths = evaluate_policy(Waiting(), envs, 1, return_episode_rewards=True, callback=look)
    lives, told = sum(done for _, done, _ in seen), [episode for _, _, episode in seen if episode]
    assert lives == 3 > len(scores) == 1
    assert (scores, lengths) == ([told[0]["r"]], [told[0]["l"]])
    envs.close()
