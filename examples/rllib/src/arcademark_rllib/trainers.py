"""RLlib's algorithms as trainers; needs Ray.

Only RLlib's public interface is used: a configuration, ``train()``, ``get_state()`` and ``set_state()``; all else is as
in RLlib (Ray 2.60, new API), which starts a local instance of Ray. Networks are ours (`parts`), schedules run over the
budget, and observations, lives and rewards follow the protocol. RLlib's threads and buffers are not deterministic: no
training repeats exactly, and a resumed training differs from one that was not stopped.
"""

from __future__ import annotations

import logging
import os
import shutil
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from arcademark.agents.checkpoints.foreign import DreamerSize, import_dreamer
from arcademark.agents.parameters import AboveZero, Positive
from arcademark.agents.trainers.network import NetworkTrainer, seed_of
from arcademark.errors import ArcadeMarkError

ENVIRONMENT = "arcademark"
_MODULE = "default_policy"


@dataclass(eq=False, repr=False, kw_only=True)
class RLlib(NetworkTrainer):
    """An algorithm of RLlib; a base for `agents.base.Trainer`."""

    algorithm: ClassVar[str]
    module: ClassVar[str] = ""
    prefix: ClassVar[str] = ""

    def fit(self, envs: Any, frames: int) -> Iterator[None]:
        """Train, yielding between RLlib's iterations; see `base.Trainer.fit`."""
        self._explores, self._games = True, envs
        algorithm = self._model = self._algorithm(envs, frames)
        try:
            while envs.frames < frames:
                algorithm.train()
                self._player = None
                yield
        finally:
            algorithm.stop()
            shutil.rmtree(algorithm.logdir)

    def _config(self, config: Any, done: float, steps: float) -> Any:
        """Set up the library's default `AlgorithmConfig` for a budget of `steps`, of which `done` are played."""
        raise NotImplementedError

    def _algorithm(self, games: Any, frames: int) -> Any:
        """Return RLlib's algorithm for a budget of `frames`, restored if a checkpoint was kept."""
        import ray
        import torch
        from ray.rllib.core.rl_module.rl_module import RLModuleSpec
        from ray.tune.registry import get_trainable_cls, register_env

        from arcademark_rllib import parts

        torch.set_num_threads(1)  # workers share the cores
        os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
        quiet = {"include_dashboard": False, "log_to_driver": False, "logging_level": logging.ERROR}
        ray.init("local", num_cpus=1, ignore_reinit_error=True, **quiet)
        parts.Games.playing = parts.Games(games, bool(self.prefix))
        register_env(ENVIRONMENT, parts.played)
        logging.getLogger("ray.rllib").setLevel(logging.ERROR)  # it warns of its own deprecated calls
        skip = self.env.protocol.frame_skip
        config = get_trainable_cls(self.algorithm).get_default_config()
        config = self._config(config, games.frames / skip, frames / skip)
        config.environment(ENVIRONMENT, disable_env_checking=True)
        config.env_runners(num_env_runners=0, num_envs_per_env_runner=self.num_envs)
        config.env_runners(gym_env_vectorize_mode="vector_entry_point")
        config.learners(num_learners=0, num_gpus_per_learner=int(self.device == "cuda"))
        config.reporting(min_time_s_per_iteration=None)
        config.debugging(seed=seed_of(self.env.seed, games.frames) // 2, log_level="ERROR")
        if self.module:
            config.rl_module(rl_module_spec=RLModuleSpec(module_class=getattr(parts, self.module)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the environment's name is already registered
            algorithm = config.build_algo()
        if self._kept:
            self._unpack(partial(self._load, algorithm), "learner")
            self._kept = b""
        return algorithm

    def _load(self, algorithm: Any, tensors: dict[str, Any], learner: dict[str, Any]) -> None:
        module = {f"{self.prefix}{name}": value for name, value in tensors.items()} | learner["targets"]
        state = {"rl_module": {_MODULE: module}, "optimizer": learner["optimizer"]}
        algorithm.set_state({"learner_group": {"learner": state}})

    def _packed(self) -> bytes:
        import torch
        import tree

        state = self._model.get_state(components="learner_group")["learner_group"]["learner"]
        module = {name: torch.as_tensor(value) for name, value in state["rl_module"][_MODULE].items()}
        optimizer = tree.map_structure(
            lambda value: torch.as_tensor(value) if isinstance(value, np.ndarray) else value, state["optimizer"]
        )
        targets = {name: module.pop(name) for name in list(module) if name.startswith("_target_")}
        tensors = {name.removeprefix(self.prefix): module[name] for name in module if name.startswith(self.prefix)}
        steps = self._games.frames // self.env.protocol.frame_skip
        settings = {"total_timesteps": steps, "model_size": getattr(self, "model_size", "")}
        return self._pack(settings, {"module": tensors, "learner": {"targets": targets, "optimizer": optimizer}})

    def _import(self) -> None:
        import_dreamer(f"agent {self.name}")


@dataclass(eq=False, repr=False, kw_only=True)
class IMPALA(RLlib):
    """Trains with RLlib: importance weighted actor-learner with V-trace.

    Settings are those of RLlib's example for Pong (``rllib/examples/algorithms/impala/pong_impala.py``, ray at commit
    1937f17). Its entropy weight falls to 0 over 3,000,000 of 10,000,000 steps; here it does so over the same share of
    the budget. As sampling and updates alternate, V-trace corrects for little delay.

    Parameters
    ----------
    unroll : int
        Consecutive steps of a game in a batch; RLlib's ``rollout_fragment_length``.
    minibatch_size : int
        Steps of one update; RLlib's ``train_batch_size_per_learner``.
    ent_coef : float
        Weight of the entropy in the loss at the start.
    vf_coef : float
        Weight of the value loss.
    max_grad_norm : float
        Norm to which gradients are clipped.
    """

    citation = "Espeholt et al. 2018; settings of RLlib's examples"

    num_envs: Positive = 10
    learning_rate: AboveZero = 9e-4
    unroll: int = 50
    minibatch_size: int = 500
    ent_coef: float = 0.02
    vf_coef: float = 1.0
    max_grad_norm: float = 30.0

    name = "impala"
    algorithm = "IMPALA"
    module = "ActorCritic"

    def _config(self, config: Any, done: float, steps: float) -> Any:
        left = max(1.0, 0.3 * steps - done)  # steps until the entropy's weight is 0
        return config.env_runners(rollout_fragment_length=self.unroll).training(
            gamma=self.gamma,
            lr=self.learning_rate,
            train_batch_size_per_learner=self.minibatch_size,
            vf_loss_coeff=self.vf_coef,
            grad_clip=self.max_grad_norm,
            entropy_coeff=[[0, self.ent_coef * min(1.0, left / (0.3 * steps))], [int(left) + 1, 0.0]],
        )


@dataclass(eq=False, repr=False, kw_only=True)
class APPO(IMPALA):
    """Trains with RLlib: proximal policy optimisation from a buffer of recent batches, with V-trace.

    Settings are those of RLlib's example for Pong (``rllib/examples/algorithms/appo/pong_appo.py``, ray at commit
    41ac965), except for its network, for screens of 64 × 64, and its delays. Its entropy weight falls as in IMPALA.

    Parameters
    ----------
    clip_range : float
        Largest relative change of an action's probability from the target network's.
    buffer_batches : int
        Number of batches in the buffer from which updates draw.
    batch_updates : int
        Number of updates after each new batch, and largest number of updates that draw the same batch.
    """

    citation = "Luo et al. 2020; settings of RLlib's examples"

    learning_rate: AboveZero = 5e-4
    ent_coef: float = 0.01
    max_grad_norm: float = 40.0
    clip_range: float = 0.4
    buffer_batches: int = 4
    batch_updates: int = 2

    name = "appo"
    algorithm = "APPO"

    def _config(self, config: Any, done: float, steps: float) -> Any:
        return (
            super()
            ._config(config, done, steps)
            .training(
                clip_param=self.clip_range,
                circular_buffer_num_batches=self.buffer_batches,
                circular_buffer_iterations_per_batch=self.batch_updates,
            )
        )


@dataclass(eq=False, repr=False, kw_only=True)
class Rainbow(RLlib):
    """Trains with RLlib: deep Q-network with double, dueling, noisy and distributional values, n steps, priorities.

    Its replay buffer has 100,000 steps here; the paper's 1,000,000 need 28 GB. Checkpoints do not contain the buffer:
    after a restart the policy plays `learning_starts` steps, which count as training, before it learns again. As in
    RLlib, the exponent of the importance weights is constant, Adam has its usual ε, and the last `n_step` - 1 steps of
    an episode are learnt only in the returns of earlier steps.

    Parameters
    ----------
    buffer_size : int
        Steps in the replay buffer, each of 28 kB for four screens of 84 × 84.
    learning_starts : int
        Steps before learning begins.
    minibatch_size : int
        Steps of one update; RLlib's ``train_batch_size``.
    train_freq : int
        Steps of each game between updates.
    target_update_frames : int
        Frames between copies to the target network.
    n_step : int
        Number of rewards in a return before the estimated value.
    """

    citation = "Hessel et al. 2018"

    learning_rate: AboveZero = 6.25e-5
    buffer_size: int = 100_000
    learning_starts: int = 20_000
    minibatch_size: int = 32
    train_freq: int = 4
    target_update_frames: int = 32_000
    n_step: int = 3

    name = "rainbow"
    stochastic = False
    algorithm = "DQN"
    module = "RainbowModule"

    def _config(self, config: Any, done: float, steps: float) -> Any:
        from arcademark_rllib.parts import ATOMS, RETURN

        buffer = {"type": "PrioritizedEpisodeReplayBuffer", "capacity": self.buffer_size, "alpha": 0.5, "beta": 0.4}
        return (
            config.env_runners(rollout_fragment_length=self.train_freq)
            .reporting(min_sample_timesteps_per_iteration=32)
            .training(
                lr=self.learning_rate,
                gamma=self.gamma,
                train_batch_size=self.minibatch_size,
                num_steps_sampled_before_learning_starts=self.learning_starts,
                target_network_update_freq=self.target_update_frames // self.env.protocol.frame_skip,
                n_step=self.n_step,
                num_atoms=ATOMS,
                v_min=-RETURN,
                v_max=RETURN,
                replay_buffer_config=buffer,
            )
        )


@dataclass(eq=False, repr=False, kw_only=True)
class DreamerV3(RLlib):
    """Trains with RLlib: a world model, and an actor and a critic that learn in it (also needs RLlib to play).

    Settings are the paper's (arXiv 2301.04104), with its training ratio for 100,000 steps of Atari, in RLlib's size XS.
    It learns from single screens of 64 × 64 in colour, or from memory. In evaluation the world model's state is its
    most probable one, not a random one, so that scores repeat.

    Parameters
    ----------
    learning_rate : float
        Learning rate of the world model; the actor's and the critic's are the paper's.
    model_size : {"nano", "micro", "mini", "XXS", "XS", "S", "M", "L", "XL"}
        RLlib's "XS", "S", "M", "L" or "XL" of the paper, or its smaller "XXS", "mini", "micro" and "nano".
    training_ratio : float
        Number of steps learnt from per step played.
    minibatch_size : int
        Number of sequences per update; RLlib's ``batch_size_B``.
    sequence : int
        Number of steps per sequence; RLlib's ``batch_length_T``.
    buffer_size : int
        Steps in the replay buffer, each of 49 kB in colour (1,000,000 in the paper). Checkpoints do not contain it:
        after a restart a batch of steps is played before learning continues.
    """

    citation = "Hafner et al. 2023"

    learning_rate: AboveZero = 1e-4
    gamma: float = 0.997
    model_size: DreamerSize = "XS"
    training_ratio: float = 1024.0
    minibatch_size: int = 16
    sequence: int = 64
    buffer_size: int = 100_000

    name = "dreamerv3"
    algorithm = "DreamerV3"
    prefix = "dreamer_model."
    channels_first: ClassVar[bool] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        shape = self.env.observation_shape
        if len(shape) != 1 and shape != (64, 64, 3):
            raise ArcadeMarkError(
                f"agent {self.name}: learns from one screen of 64 × 64 in colour, not from observations of {shape}; "
                "add --override observation=rgb --override screen_size=64x64 --override frame_stack=1"
            )

    def _config(self, config: Any, done: float, steps: float) -> Any:
        return config.training(
            gamma=self.gamma,
            model_size=self.model_size,
            training_ratio=self.training_ratio,
            batch_size_B=self.minibatch_size,
            batch_length_T=self.sequence,
            world_model_lr=self.learning_rate,
            replay_buffer_config={"type": "EpisodeReplayBuffer", "capacity": self.buffer_size},
        )
