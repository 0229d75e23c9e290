"""Models that Stable-Baselines3 saved, played there on its own wrappers and here: the same actions and scores."""

import json
import zipfile

import numpy as np
import pytest
from played import here

contrib = pytest.importorskip("sb3_contrib", reason="Stable-Baselines3 is not installed: make test-all")

import ale_py  # noqa: E402
import gymnasium  # noqa: E402
import torch  # noqa: E402
from stable_baselines3 import A2C, DQN, PPO, SAC, TD3  # noqa: E402
from stable_baselines3.common.atari_wrappers import AtariWrapper  # noqa: E402
from stable_baselines3.common.env_util import make_atari_env  # noqa: E402
from stable_baselines3.common.evaluation import evaluate_policy  # noqa: E402
from stable_baselines3.common.off_policy_algorithm import OffPolicyAlgorithm  # noqa: E402
from stable_baselines3.common.vec_env import DummyVecEnv, VecFrameStack  # noqa: E402

import arcademark.sb3  # noqa: E402
from arcademark.agents.checkpoints.choosing import Chooser  # noqa: E402
from arcademark.agents.checkpoints.policy import CheckpointPlayer  # noqa: E402
from arcademark.agents.loading import agent_specs  # noqa: E402
from arcademark.agents.spaces import check_spaces  # noqa: E402
from arcademark.environments.registry import environment_spec  # noqa: E402
from arcademark.errors import ArcadeMarkError  # noqa: E402
from arcademark.records.reading import read_run  # noqa: E402
from arcademark.runs.execution import execute  # noqa: E402
from arcademark.runs.plan import make_plan  # noqa: E402
from arcademark.runs.playing.events import Note, Progress  # noqa: E402
from arcademark.runs.replay.verify import verify  # noqa: E402
from arcademark.suite import protocols  # noqa: E402
from arcademark.suite.protocols import step_protocol  # noqa: E402
from arcademark.suite.task_suites import load_suite  # noqa: E402
from fakes.spaces import sampled, spec_of  # noqa: E402

pytestmark = pytest.mark.needs("sb3_contrib")

STEPS = 60
PROTOCOL = protocols.protocol("dqn-2015").override({"start": "reset", "noop_max": 0})
MODELS = {
    "ppo": (PPO, "CnnPolicy", {"n_steps": 8, "batch_size": 8}),
    "a2c": (A2C, "CnnPolicy", {}),
    "dqn": (DQN, "CnnPolicy", {"buffer_size": 10}),
    "qr-dqn": (contrib.QRDQN, "CnnPolicy", {"buffer_size": 10}),
    "recurrent-ppo": (contrib.RecurrentPPO, "CnnLstmPolicy", {"n_steps": 8, "batch_size": 8}),
}


def wrapped(name):
    gymnasium.register_envs(ale_py)
    made = gymnasium.make(f"{name}NoFrameskip-v4")
    single = AtariWrapper(made, noop_max=0, terminal_on_life_loss=False, clip_reward=False)
    return VecFrameStack(DummyVecEnv([lambda: single]), 4)


def shaken(model, seed=0):
    """Give a model weights with which it takes different actions."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in model.policy.named_parameters():
            parameter.add_(torch.randn(parameter.shape, generator=generator) * 0.03)
            if "bias" in name:
                parameter.zero_()
    return model


class Still(gymnasium.Env):
    """What a model needs to be made: spaces."""

    def __init__(self, observations, actions):
        self.observation_space, self.action_space = observations, actions


def there(model, envs):
    seen, state, first = envs.reset(), None, np.ones(1, np.bool_)
    actions, rewards = [], []
    for _ in range(STEPS):
        action, state = model.predict(seen, state=state, episode_start=first, deterministic=True)
        seen, reward, first, _ = envs.step(action)
        actions.append(int(action[0]))
        rewards.append(float(reward[0]))
    return actions, rewards


@pytest.mark.parametrize(
    ("game", "name", "kind"),
    [  # games without the button, which Stable-Baselines3's wrappers would press
        ("journey_escape", "JourneyEscape", "ppo"),
        ("journey_escape", "JourneyEscape", "recurrent-ppo"),
        ("asterix", "Asterix", "a2c"),
        ("asterix", "Asterix", "dqn"),
        ("crazy_climber", "CrazyClimber", "qr-dqn"),
    ],
)
def test_saved_model_plays_the_same_there_and_here(game, name, kind, tmp_path):
    envs = wrapped(name)
    kept, policy, settings = MODELS[kind]
    model = shaken(kept(policy, envs, seed=0, device="cpu", **settings))
    model.save(tmp_path / "model.zip")
    theirs = there(model, envs)
    ours = here(tmp_path / "model.zip", environment_spec(game, PROTOCOL), 1, STEPS)
    assert [part[0] for part in ours] == [*theirs]
    assert len(set(theirs[0])) > 1


@pytest.mark.parametrize("kind", ["recurrent-ppo"])
def test_breakout_scores_the_same_there_and_here_where_fire_is_pressed(kind, tmp_path):
    """Evaluation on their wrappers, which press FIRE and show a new beginning after each lost life."""
    gymnasium.register_envs(ale_py)
    envs = VecFrameStack(make_atari_env("BreakoutNoFrameskip-v4", 1, wrapper_kwargs={"noop_max": 0}), 4)
    rules = PROTOCOL.override({"fire_reset": True, "max_frames_per_episode": 108_000})
    kept, policy, settings = MODELS[kind]
    theirs, ours = [], []
    for seed in (5, 6):
        model = shaken(kept(policy, envs, seed=seed, device="cpu", **settings), seed)
        model.save(tmp_path / f"{seed}.zip")
        scores, frames = evaluate_policy(model, envs, n_eval_episodes=1, return_episode_rewards=True)
        theirs.append((scores[0], frames[0]))
        plan = make_plan(str(tmp_path / f"{seed}.zip"), ["breakout"], rules, episodes=1)
        execute(plan, tmp_path / f"run{seed}", workers=1)
        ours += [(row.score, row.frames) for row in read_run(tmp_path / f"run{seed}").episodes]
    assert ours == theirs
    assert max(ours)[0] > 0


def choosing(action, game, path, data=None):
    """Save a model that always takes one action, with more settings than it has, and return where."""
    spec = environment_spec(game, PROTOCOL)
    space = gymnasium.spaces.Box(0, 255, (4, 84, 84), np.uint8)
    model = PPO("CnnPolicy", Still(space, gymnasium.spaces.Discrete(spec.num_actions)), n_steps=8, batch_size=8)
    with torch.no_grad():
        for parameter in model.policy.parameters():
            parameter.zero_()
        model.policy.action_net.bias[action] = 1
    model.save(path / "model.zip")
    with zipfile.ZipFile(path / "model.zip") as there, zipfile.ZipFile(path / "0.zip", "w") as made:
        for name in there.namelist():
            content = there.read(name)
            made.writestr(name, json.dumps(json.loads(content) | (data or {})) if name == "data" else content)
    return str(path / "0.zip")


SPACE = {"_shape": [4, 84, 84], "dtype": "uint8"}


@pytest.mark.parametrize(
    ("game", "changes", "data", "missed"),
    [
        ("breakout", {}, {}, ["breakout"]),
        ("pong", {}, {}, []),  # goes on by itself
        ("breakout", {"fire_reset": True}, {}, None),
        ("asterix", {}, {}, None),  # has no such action
        ("breakout", {}, {"algorithm": "ppo"}, None),  # trained here, where nobody pressed
        ("breakout", {}, {"algorithm": "ppo", "observation_space": SPACE | {"fire_reset": True}}, ["breakout"]),
        ("breakout", {}, {"observation_space": SPACE | {"fire_reset": False}}, None),
    ],
)
def test_a_network_that_misses_fire_is_told_of_before_it_plays(game, changes, data, missed, tmp_path):
    rules = PROTOCOL.override({"max_frames_per_episode": 20} | changes)
    heard = []
    plan = make_plan(choosing(0, game, tmp_path, data), [game], rules, seeds=2, episodes=1)
    execute(plan, tmp_path / "run", workers=1, on_event=heard.append)
    told = [event for event in heard if isinstance(event, Note)]
    assert [event.warning for event in told] == ([] if missed is None else [bool(missed)])
    assert all("0.zip may have been trained press FIRE" in event.text for event in told)
    assert not missed or "on Breakout, which waits for it; --protocol sb3-atari" in told[0].text
    assert next(type(event) for event in heard if isinstance(event, Note | Progress)) is (Note if told else Progress)


@pytest.mark.parametrize(
    ("action", "setting", "given_up"),
    [(2, {}, True), (1, {}, False), (0, {"fire_pressed": False}, False)],  # RIGHT, FIRE, NOOP
)
def test_a_game_that_waits_for_fire_is_given_up_after_a_minute(action, setting, given_up, tmp_path):
    rules = PROTOCOL.override({"max_frames_per_episode": 4_000})
    agents = agent_specs(choosing(action, "breakout", tmp_path), setting)
    summary = execute(make_plan(agents, ["breakout"], rules, episodes=2), tmp_path / "run", workers=1)
    played = [(row.score, row.frames) for row in read_run(tmp_path / "run").episodes]
    if given_up:
        (failed,) = summary.failed
        assert "sb3-atari" in failed.error
        assert "fire_pressed=false" in failed.error
        assert not played
    else:
        assert not summary.failed
        assert len(played) == 2
        assert (played == [(0.0, 4_000)] * 2) is (action == 0)


def test_a_model_says_whether_fire_was_pressed_for_it_here(tmp_path):
    for pressed, name in ((False, "dqn-2015"), (True, "sb3-atari")):
        envs = arcademark.sb3.make_vec("breakout", 1, name)
        PPO("CnnPolicy", envs, n_steps=8, batch_size=8).save(tmp_path / "0.zip")
        plan = make_plan(str(tmp_path / "0.zip"), ["breakout"], "dqn-2015", episodes=1)
        assert plan.trials[0].network.fire_reset is pressed
        envs.close()


@pytest.mark.parametrize("kind", MODELS)
def test_whole_policy_plays_as_the_saved_model(kind, tmp_path):
    kept, policy, settings = MODELS[kind]
    model = shaken(kept(policy, wrapped("Pong"), seed=0, device="cpu", **settings))
    model.save(tmp_path / "model.zip")
    torch.save(model.policy, tmp_path / "policy.pt")
    torch.save(model.policy.state_dict(), tmp_path / "tensors.pt")
    model.policy.save(tmp_path / "policy.zip")
    spec = environment_spec("pong", PROTOCOL)
    whole, saved = (
        CheckpointPlayer(spec, tmp_path / name, "", trust=name == "policy.pt") for name in ("policy.pt", "model.zip")
    )
    names = ["policy.pt", "policy.zip", *(["tensors.pt"] if kind != "qr-dqn" else [])]  # it values how many actions?
    others = [CheckpointPlayer(spec, tmp_path / name, "") for name in names]
    seen = np.random.default_rng(0).integers(0, 255, (8, *spec.observation_shape), dtype=np.uint8)
    rngs = [np.random.default_rng(row) for row in range(8)]
    for first in (np.ones(8, np.bool_), np.zeros(8, np.bool_)):
        expected = saved._values(seen, first)
        for other in (whole, *others):
            np.testing.assert_array_equal(other._values(seen, first), expected)
    assert whole.action_space.n == saved.action_space.n == spec.num_actions
    assert len(whole.act(seen, np.ones(8, np.bool_), rngs)) == 8


NOISE = {"use_sde": True}


@pytest.mark.parametrize(
    ("kind", "observed", "taken", "settings"),
    [
        (PPO, "vector", "reals", {}),
        (PPO, "vector", "reals", {**NOISE, "policy_kwargs": {"squash_output": True}}),
        (PPO, "parts", "buttons", {}),
        (PPO, "grid", "two", {}),
        (A2C, "numbers", "levels", {}),
        (A2C, "picture", "reals", {"policy": "CnnPolicy"}),
        (A2C, "small", "reals", {}),
        (DQN, "number", "two", {}),
        (SAC, "vector", "reals", {}),
        (SAC, "vector", "reals", NOISE),
        (TD3, "switches", "reals", {}),
        (contrib.QRDQN, "vector", "two", {}),
        (contrib.TQC, "parts", "reals", {}),
        (contrib.RecurrentPPO, "number", "two", {"policy": "MlpLstmPolicy"}),
    ],
)
def test_a_saved_model_plays_other_tasks_as_it_predicts(kind, observed, taken, settings, tmp_path):
    parts = observed == "parts"
    policy = settings.get("policy", "MultiInputPolicy" if parts else "MlpPolicy")
    others = {name: value for name, value in settings.items() if name != "policy"}
    if issubclass(kind, OffPolicyAlgorithm):
        others["buffer_size"] = 10
    env = gymnasium.make("Spaces-v0", observed=observed, taken=taken)
    model = shaken(kind(policy, env, seed=0, device="cpu", **others))
    model.save(tmp_path / "model.zip")
    spec, seen = spec_of(observed, taken), sampled(spec_of(observed, taken), observed, 8)
    agent, first = CheckpointPlayer(spec, tmp_path / "model.zip", ""), np.ones(8, np.bool_)
    check_spaces(agent, "model", spec)
    given = {name: seen[name] for name in seen.dtype.names} if parts else seen
    expected, _ = model.predict(given, episode_start=first, deterministic=True)
    found = agent.act(seen, first, [np.random.default_rng(row) for row in range(8)])
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
    assert len(np.unique(found)) > 1
    if kind in (DQN, contrib.QRDQN, TD3) or (settings.get("use_sde") and kind is PPO):
        with pytest.raises(ArcadeMarkError, match="deterministic=false changes nothing"):
            CheckpointPlayer(spec, tmp_path / "model.zip", "", deterministic=False).act(
                seen, first, [np.random.default_rng(row) for row in range(8)]
            )
    if taken == "reals":
        other = spec_of(observed, "two")
        agent = CheckpointPlayer(other, tmp_path / "model.zip", "")
        with pytest.raises(ArcadeMarkError, match="expected a discrete one"):
            check_spaces(agent, "model", other)


def test_actions_are_drawn_from_the_distributions_of_a_network():
    rows, normal = 4000, np.random.default_rng(0)
    rngs = [normal] * rows
    reals = Chooser(spec_of("vector", "reals"))
    drawn = reals.choose(np.tile(np.array([0.5, 1, -2, -1], "f4"), (rows, 1)), rngs)
    np.testing.assert_allclose(drawn.mean(axis=0), [0.5, 1], atol=0.02)
    np.testing.assert_allclose(drawn.std(axis=0), np.exp([-2, -1]), atol=0.02)
    buttons = Chooser(spec_of("vector", "buttons"))
    drawn = buttons.choose(np.tile(np.array([0, 1, -2], "f4"), (rows, 1)), rngs)
    np.testing.assert_allclose(drawn.mean(axis=0), 1 / (1 + np.exp([0, -1, 2])), atol=0.03)
    levels = Chooser(spec_of("vector", "levels"))
    drawn = levels.choose(np.tile(np.log(np.array([1, 3, 1, 1, 2], "f4")), (rows, 1)), rngs)
    assert [np.bincount(column).tolist() for column in drawn.T] == [
        pytest.approx(np.multiply(rows, share), abs=120) for share in ([0.25, 0.75], [0.25, 0.25, 0.5])
    ]


def test_a_run_of_a_saved_model_on_tasks_names_what_does_not_fit(tmp_path):
    SAC("MlpPolicy", "Pendulum-v1", seed=0, buffer_size=10, device="cpu").save(tmp_path / "pendulum_v1.zip")
    rules = step_protocol(load_suite("gymnasium:Pendulum-v1,MountainCarContinuous-v0"))
    rules = rules.override({"max_steps_per_episode": 20})
    execute(make_plan(str(tmp_path / "{game}.zip"), ["pendulum_v1"], rules, episodes=2), tmp_path / "run", workers=1)
    assert verify(tmp_path / "run").ok
    with pytest.raises(ArcadeMarkError, match=r"arrays of shape \(3,\) .*the game gives \(2,\)"):
        make_plan(str(tmp_path / "pendulum_v1.zip"), ["mountaincarcontinuous_v0"], rules)
