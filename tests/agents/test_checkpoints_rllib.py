"""Checkpoints that RLlib trained on its own wrappers, played there and here: the same actions and scores."""

import importlib.util
import pickle

import numpy as np
import pytest
from played import Evil, here

import arcademark
from arcademark.agents.checkpoints.policy import CheckpointPlayer
from arcademark.environments.registry import environment_spec
from arcademark.errors import ArcadeMarkError
from arcademark.suite import protocols

pytestmark = [
    pytest.mark.deep,
    pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="needs RLlib: make test-deep"),
    pytest.mark.filterwarnings("ignore"),  # RLlib's and what it imports
]

CAP = 1200
"""Frames of an episode, of which two are played."""
RLLIB = {"start": "reset", "noop_max": 0, "screen_size": "64x64", "max_pool": "resized", "max_frames_per_episode": CAP}
GAMES = {"asterix": "Asterix", "crazy_climber": "CrazyClimber", "journey_escape": "JourneyEscape"}
"""Games without the button, which RLlib's wrappers would press."""
CONVOLUTIONS = [(8, 4, 2), (16, 4, 2), (16, 4, 2), (32, 4, 2)]
SMALL = {"PPO": {"minibatch_size": 32, "num_epochs": 2}, "IMPALA": {}, "APPO": {}}
REPLAY = {
    "num_steps_sampled_before_learning_starts": 16,
    "train_batch_size_per_learner": 8,
    "replay_buffer_config": {"type": "PrioritizedEpisodeReplayBuffer", "capacity": 300, "alpha": 0.5, "beta": 0.5},
}


def game(name, screens, plays):
    """Make a game as RLlib trains on it; to be played, without its random no-ops and its lives as episodes."""
    import ale_py
    import gymnasium
    from ray.rllib.env.wrappers import atari_wrappers as wrappers

    gymnasium.register_envs(ale_py)
    rules = {"frameskip": 1, "repeat_action_probability": 0.0, "full_action_space": False}
    made = gymnasium.make(f"ALE/{GAMES[name]}-v5", max_num_frames_per_episode=CAP, **rules)
    if not plays:
        return wrappers.wrap_atari_for_new_api_stack(made, framestack=screens)
    made = wrappers.MaxAndSkipEnv(wrappers.NormalizedImageEnv(wrappers.WarpFrame(made, dim=64)), skip=4)
    return made if screens is None else wrappers.FrameStack(made, screens)


@pytest.fixture(scope="module")
def ray():
    import ray

    ray.init(num_cpus=2, include_dashboard=False, configure_logging=False, log_to_driver=False)
    yield ray
    ray.shutdown()


def trained(algorithm, name, kind):
    """Train an algorithm of RLlib's as its Atari examples do, but for a few steps."""
    from ray.rllib.connectors.env_to_module.frame_stacking import FrameStackingEnvToModule
    from ray.rllib.connectors.learner.frame_stacking import FrameStackingLearner
    from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig
    from ray.tune.registry import get_trainable_cls, register_env

    screens = 4 if kind == "stack" else None
    register_env("played", lambda config: game(name, screens, "plays" in config))
    network = {"conv_filters": CONVOLUTIONS, "conv_activation": "relu", "head_fcnet_hiddens": [64]}
    network |= {} if algorithm == "DQN" else {"vf_share_layers": True}
    network |= {"use_lstm": True, "lstm_cell_size": 16, "max_seq_len": 8} if kind == "lstm" else {}
    settings = REPLAY if algorithm == "DQN" else {"train_batch_size_per_learner": 64, **SMALL[algorithm]}
    config = (
        get_trainable_cls(algorithm)
        .get_default_config()
        .environment("played", clip_rewards=True)
        .env_runners(num_env_runners=0)
        .learners(num_learners=0)
        .training(**settings)
        .rl_module(model_config=DefaultModelConfig(**network))
        .reporting(min_time_s_per_iteration=0, min_sample_timesteps_per_iteration=64)
        .debugging(seed=0)
    )
    if kind == "connector":
        config.env_runners(env_to_module_connector=lambda *_, **__: FrameStackingEnvToModule(num_frames=4))
        config.training(learner_connector=lambda *_, **__: FrameStackingLearner(num_frames=4))
    made = config.build_algo()
    for _ in range(6):
        made.train()
    shake(made)
    return made


def shake(algorithm):
    """Move trained weights so that what moves on screen tells, not which action a few steps of training prefer."""
    rng = np.random.default_rng(0)
    moved = {}
    for name, weights in algorithm.learner_group.get_weights()["default_policy"].items():
        new = np.zeros_like(weights) if "bias" in name else weights + rng.normal(0, 0.3, weights.shape)
        moved[name] = (new - new.mean(axis=tuple(range(1, new.ndim)), keepdims=True)).astype(np.float32)
    algorithm.learner_group.set_weights({"default_policy": moved})


def there(algorithm):
    """Play two episodes as RLlib's evaluation does."""
    algorithm.env_runner.set_state({"rl_module": algorithm.learner_group.get_weights()})
    algorithm.env_runner.config = algorithm.config.copy(copy_frozen=False).environment(env_config={"plays": True})
    algorithm.env_runner.make_env()
    episodes = [one for _ in range(2) for one in algorithm.env_runner.sample(num_episodes=1, explore=False)]
    return [[int(a) for a in e.get_actions()] for e in episodes], [
        [float(r) for r in e.get_rewards()] for e in episodes
    ]


def kept(algorithm, name, kind, folder):
    """Train, keep a checkpoint in a folder, and return what RLlib plays."""
    made = trained(algorithm, name, kind)
    try:
        made.save_to_path(str(folder))
        return there(made)
    finally:
        made.stop()


def rules(**changes):
    return protocols.protocol("dqn-2015").override(RLLIB | changes)


@pytest.mark.parametrize(
    ("algorithm", "name", "kind"),
    [
        ("PPO", "crazy_climber", "connector"),
        ("PPO", "journey_escape", "lstm"),
        ("IMPALA", "asterix", "stack"),
        ("APPO", "journey_escape", "stack"),
        ("DQN", "asterix", "stack"),
        ("DQN", "journey_escape", "stack"),
    ],
)
def test_checkpoint_plays_the_same_there_and_here(algorithm, name, kind, tmp_path, ray):
    theirs = kept(algorithm, name, kind, tmp_path / "checkpoint")
    spec = environment_spec(name, rules(frame_stack=1) if kind == "lstm" else rules())
    ours = here(tmp_path / "checkpoint", spec, 2, CAP, trust=True)
    assert ours == theirs
    assert len({action for actions in ours[0] for action in actions}) > 1


def test_run_plays_folders_with_trust_only(tmp_path, ray):
    _, rewards = kept("PPO", "asterix", "stack", tmp_path / "models" / "asterix-0")
    pattern = str(tmp_path / "models" / "{game}-{seed}")

    def run(game, out, **settings):
        return arcademark.run(pattern, [game], rules(), episodes=1, workers=1, out=tmp_path / out, settings=settings)

    assert run("asterix", "trusted", trust=True).algorithms[0].scores[0].score.value == sum(rewards[0])
    with pytest.raises(ArcadeMarkError, match=r"contains pickled objects;.*add --set trust=true"):
        run("asterix", "refused")

    touched = tmp_path / "touched"
    for file in (tmp_path / "models").rglob("*.pkl"):
        file.write_bytes(pickle.dumps(Evil(touched)))
    with pytest.raises(ArcadeMarkError, match="add --set trust=true"):
        run("asterix", "hostile")
    assert not touched.exists()
    with pytest.raises(ArcadeMarkError, match="RLlib refused it"):
        run("asterix", "trusted-hostile", trust=True)
    assert touched.exists()  # so it would have run


@pytest.mark.parametrize("shared", [True, False])
def test_state_dict_of_a_module_is_played_without_trust(shared, tmp_path):
    import torch
    from gymnasium.spaces import Box, Discrete
    from ray.rllib.algorithms.ppo.ppo_catalog import PPOCatalog
    from ray.rllib.algorithms.ppo.torch.default_ppo_torch_rl_module import DefaultPPOTorchRLModule
    from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig

    config = DefaultModelConfig(
        conv_filters=CONVOLUTIONS, conv_activation="relu", head_fcnet_hiddens=[64], vf_share_layers=shared
    )
    config.head_fcnet_activation = "relu"
    module = DefaultPPOTorchRLModule(
        observation_space=Box(-1, 1, (64, 64, 4), np.float32),
        action_space=Discrete(6),
        model_config=config,
        catalog_class=PPOCatalog,
    )
    torch.save(module.state_dict(), tmp_path / "module.pt")
    seen = np.random.default_rng(0).integers(0, 255, (8, 4, 64, 64), dtype=np.uint8)
    with torch.inference_mode():
        expected = module.forward_inference({"obs": torch.from_numpy(seen.transpose(0, 2, 3, 1)) / 128 - 1})
    spec = environment_spec("pong", rules(action_set="minimal", frame_stack=4))
    given = CheckpointPlayer(spec, tmp_path / "module.pt", "")._values(seen, np.ones(8, np.bool_))
    np.testing.assert_allclose(given, expected["action_dist_inputs"].numpy(), rtol=1e-4, atol=1e-5)
