"""RLlib's algorithms as trainers; needs ``pip install '.[rllib]'``.

What is RLlib's: environment runner, episodes and connectors, replay buffers, V-trace and the other losses, learner and
schedules, in the order of each algorithm's ``training_step``. What is ours: one process, in which samples and updates
alternate, where its ``Algorithm`` starts a cluster; networks (`rllib_parts`); schedules run over the budget in emulated
frames; observations, lives and rewards are the protocol's. Sampling never runs ahead of the update, as it does on a
cluster, so a training that was not stopped repeats on the same machine and versions.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from arcademark.agents.trainers.network import NetworkTrainer, seed_of
from arcademark.errors import ArcadeMarkError

_PAUSE_SECONDS = 0.2
"""How long is trained between two looks at the clock, at least."""


@dataclass(eq=False, repr=False, kw_only=True)
class RLlib(NetworkTrainer):
    """An algorithm of RLlib; a base for `agents.base.Trainer`."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._games: Any = None  # those of `fit`

    def fit(self, envs: Any, frames: int) -> Iterator[None]:
        """Train, yielding between updates; see `base.Trainer.fit`."""
        from arcademark.agents.trainers.rllib_parts import Runner

        learner = self._model = self._made(frames, envs.frames)
        self._explores, self._games = True, envs
        runner = Runner(learner.config, envs, learner)
        due = time.perf_counter() + _PAUSE_SECONDS
        for _ in self._rounds(learner, runner, envs, frames):
            self._player = None
            if time.perf_counter() >= due:
                yield
                due = time.perf_counter() + _PAUSE_SECONDS

    def _rounds(self, learner: Any, runner: Any, envs: Any, frames: int) -> Iterator[None]:
        """Train, yielding between updates."""
        raise NotImplementedError

    def _config(self, frames: int) -> Any:
        """Return an `AlgorithmConfig` for a budget."""
        raise NotImplementedError

    def _pieces(self) -> tuple[Any, Any, dict[str, Any]]:
        """Return the classes of the learner and its network, and the network's settings."""
        raise NotImplementedError

    def _packed(self) -> bytes:
        if self._model is None:
            self._model = self._made(1, 0)
        tensors, optimizer = self._model.kept()
        steps = self._games.frames // self.env.protocol.frame_skip if self._games else 0
        return self._pack({"total_timesteps": steps}, {"module": tensors, "optimizer": optimizer})

    def _made(self, frames: int, done: int) -> Any:
        """Return the learner, as it was kept, for a budget of `frames` of which so many are done."""
        import torch
        from ray.rllib.core import DEFAULT_MODULE_ID
        from ray.rllib.core.rl_module.rl_module import RLModuleSpec

        torch.set_num_threads(1)  # workers share the cores
        torch.manual_seed(seed_of(self.env.seed, done))
        config = self._config(frames)
        config.environment(disable_env_checking=True)
        config.env_runners(num_env_runners=0, num_envs_per_env_runner=self.num_envs)
        learner_class, module, settings = self._pieces()
        config.learners(learner_class=learner_class, num_learners=0, num_gpus_per_learner=int(self.device == "cuda"))
        config.torch_skip_nan_gradients = True
        config.rl_module(rl_module_spec=RLModuleSpec(module_class=module, model_config=settings))
        learner = config.build_learner(spaces={DEFAULT_MODULE_ID: self._spaces()})
        learner.shutdown()  # the thread of IMPALA's
        if self._kept:
            self._unpack(learner.load, "optimizer")
            self._kept = b""
        return learner

    def _import(self) -> None:
        try:
            import ray.rllib  # noqa: F401
            import torch  # noqa: F401
        except ImportError:
            raise ArcadeMarkError(f"agent {self.name}: needs RLlib; install it with pip install '.[rllib]'") from None
        logging.getLogger("ray").setLevel(logging.ERROR)  # it warns of its own deprecated calls


@dataclass(eq=False, repr=False, kw_only=True)
class Unrolled(RLlib):
    """What IMPALA and APPO share.

    Parameters
    ----------
    unroll : int
        Steps of a game that are learnt from together; RLlib's ``rollout_fragment_length``.
    minibatch_size : int
        Steps of one update; RLlib's ``train_batch_size_per_learner``.
    ent_coef : float
        Weight of the entropy in the loss.
    vf_coef : float
        Weight of the values' loss.
    max_grad_norm : float
        Length to which gradients are clipped.
    """

    num_envs: int = 16
    unroll: int = 20
    minibatch_size: int = 640
    ent_coef: float = 0.01
    vf_coef: float = 0.5
    max_grad_norm: float = 40.0

    def _shared(self, config: Any) -> Any:
        """Set what both have in an `AlgorithmConfig`, and return it."""
        config.env_runners(rollout_fragment_length=self.unroll)
        return config.training(
            gamma=self.gamma,
            train_batch_size_per_learner=self.minibatch_size,
            vf_loss_coeff=self.vf_coef,
            grad_clip=self.max_grad_norm,
        )

    def _sampled(self, runner: Any) -> list[Any]:
        """Return episodes, or parts of them, for one update."""
        episodes: list[Any] = []
        while sum(map(len, episodes)) < self.minibatch_size:
            episodes += runner.sample()
        return episodes


@dataclass(eq=False, repr=False, kw_only=True)
class IMPALA(Unrolled):
    """Importance weighted actor-learner (Espeholt et al. 2018) with its shallow network.

    Settings are those of its Appendix G for Atari. The network is without its LSTM, and RMSProp's ε is added to the
    root, as PyTorch has it. As sampling and updates alternate, V-trace corrects for no delay.

    Parameters
    ----------
    anneal : bool
        Whether the learning rate falls linearly to 0 over the budget.
    """

    learning_rate: float = 6e-4
    anneal: bool = True

    name = "impala"

    def _pieces(self) -> tuple[Any, Any, dict[str, Any]]:
        from arcademark.agents.trainers import rllib_parts as parts

        return parts.ImpalaLearner, parts.ActorCritic, {}

    def _config(self, frames: int) -> Any:
        from ray.rllib.algorithms.impala import IMPALAConfig

        rate = [[0, self.learning_rate], [frames, 0.0]] if self.anneal else self.learning_rate
        return self._shared(IMPALAConfig()).training(lr=rate, entropy_coeff=self.ent_coef, decay=0.99, epsilon=0.01)

    def _rounds(self, learner: Any, runner: Any, envs: Any, frames: int) -> Iterator[None]:
        while envs.frames < frames:
            learner.learn(envs.frames, 0, episodes=self._sampled(runner))
            yield


@dataclass(eq=False, repr=False, kw_only=True)
class APPO(Unrolled):
    """Asynchronous proximal policy optimisation (IMPACT, Luo et al. 2020) with IMPALA's shallow network.

    Settings are those of RLlib's example for Pong (``rllib/examples/algorithms/appo/pong_appo.py``, ray at commit
    41ac965), but for its network, of screens of 64 × 64, and its delays: updates follow each sample. Its entropy weight
    falls to 0 over 3,000,000 of 10,000,000 steps, here over as much of the budget.

    Parameters
    ----------
    clip_range : float
        How far the probability of an action may move from the target network's.
    buffer_batches : int
        Batches in the buffer of which updates draw.
    batch_updates : int
        Updates each new batch is followed by, and how often at most one is drawn.
    target_update_batches : float
        Updates between copies to the target network, as a multiple of `buffer_batches` times `batch_updates`.
    """

    num_envs: int = 10
    learning_rate: float = 5e-4
    unroll: int = 50
    minibatch_size: int = 500
    vf_coef: float = 1.0
    clip_range: float = 0.4
    buffer_batches: int = 4
    batch_updates: int = 2
    target_update_batches: float = 2.0

    name = "appo"

    def _pieces(self) -> tuple[Any, Any, dict[str, Any]]:
        from arcademark.agents.trainers import rllib_parts as parts

        return parts.AppoLearner, parts.ActorCritic, {}

    def _config(self, frames: int) -> Any:
        from ray.rllib.algorithms.appo import APPOConfig

        return self._shared(APPOConfig()).training(
            lr=self.learning_rate,
            entropy_coeff=[[0, self.ent_coef], [max(1, frames * 3 // 10), 0.0]],
            clip_param=self.clip_range,
            circular_buffer_num_batches=self.buffer_batches,
            circular_buffer_iterations_per_batch=self.batch_updates,
            target_network_update_freq=self.target_update_batches,
        )

    def _rounds(self, learner: Any, runner: Any, envs: Any, frames: int) -> Iterator[None]:
        from ray.rllib.algorithms.appo.utils import CircularBuffer

        buffer = CircularBuffer(num_batches=self.buffer_batches, iterations_per_batch=self.batch_updates)
        buffer._rng = np.random.default_rng(seed_of(self.env.seed, envs.frames))
        trained = 0
        while envs.frames < frames:
            buffer.put(learner.batch(self._sampled(runner)))
            for _ in range(self.batch_updates if buffer.filled else 0):
                batch = buffer.get()
                trained += batch.env_steps()
                learner.learn(envs.frames, trained, batch=batch)
            yield


@dataclass(eq=False, repr=False, kw_only=True)
class Rainbow(RLlib):
    """Rainbow (Hessel et al. 2018, Table 1): RLlib's DQN with every part of it, noisy layers and a dueling network too.

    Its replay buffer holds 100,000 steps here; the paper's 1,000,000 need 28 GB. A checkpoint leaves it out: after a
    restart `learning_starts` steps are played by the policy, and count as training, before it learns again.

    Parameters
    ----------
    buffer_size : int
        Steps in the replay buffer, of 28 kB each for four screens of 84 × 84.
    learning_starts : int
        Steps before learning begins.
    minibatch_size : int
        Steps of one update; RLlib's ``train_batch_size``.
    train_freq : int
        Steps of each game between updates.
    target_update_frames : int
        Frames between copies to the target network.
    n_step : int
        Steps whose rewards are added before a value is.
    n_atoms : int
        Atoms of a distribution over returns.
    v_max : float
        The greatest return of a distribution, and minus it the least.
    sigma : float
        How noisy the layers are at the start.
    priority_exponent : float
        How much steps of greater loss are preferred: ω, RLlib's α.
    importance_start : float
        Exponent β of importance weights at the start; it rises linearly to 1 over the budget.
    hidden : int
        Units of the hidden layers.
    """

    num_envs: int = 4
    learning_rate: float = 6.25e-5
    buffer_size: int = 100_000
    learning_starts: int = 20_000
    minibatch_size: int = 32
    train_freq: int = 1
    target_update_frames: int = 32_000
    n_step: int = 3
    n_atoms: int = 51
    v_max: float = 10.0
    sigma: float = 0.5
    priority_exponent: float = 0.5
    importance_start: float = 0.4
    hidden: int = 512

    name = "rainbow"

    def _pieces(self) -> tuple[Any, Any, dict[str, Any]]:
        from arcademark.agents.trainers import rllib_parts as parts

        settings = {"atoms": self.n_atoms, "reach": self.v_max, "sigma": self.sigma, "hidden": self.hidden}
        return parts.RainbowLearner, parts.RainbowModule, settings

    def _config(self, frames: int) -> Any:
        from ray.rllib.algorithms.dqn import DQNConfig

        config = DQNConfig().training(
            lr=self.learning_rate,
            gamma=self.gamma,
            adam_epsilon=1.5e-4,
            target_network_update_freq=self.target_update_frames,
            n_step=self.n_step,
            num_atoms=self.n_atoms,
            v_min=-self.v_max,
            v_max=self.v_max,
        )
        return config.env_runners(episodes_to_numpy=False)

    def _rounds(self, learner: Any, runner: Any, envs: Any, frames: int) -> Iterator[None]:
        from ray.rllib.utils.metrics import TD_ERROR_KEY
        from ray.rllib.utils.numpy import convert_to_numpy
        from ray.rllib.utils.replay_buffers import PrioritizedEpisodeReplayBuffer

        from arcademark.agents.trainers.rllib_parts import absorbed

        buffer = PrioritizedEpisodeReplayBuffer(self.buffer_size, alpha=self.priority_exponent)
        buffer.rng = np.random.default_rng(seed_of(self.env.seed, envs.frames))
        steps = 0
        while envs.frames < frames:
            episodes = runner.sample(num_timesteps=self.train_freq * self.num_envs)
            steps += sum(map(len, episodes))
            buffer.add([absorbed(episode, self.n_step - 1) for episode in episodes])
            if steps >= self.learning_starts:
                done = min(1.0, envs.frames / frames)
                episodes = buffer.sample(
                    self.minibatch_size,
                    n_step=self.n_step,
                    gamma=self.gamma,
                    beta=self.importance_start + (1 - self.importance_start) * done,
                )
                found = learner.learn(envs.frames, 0, episodes=episodes)
                buffer.update_priorities(np.ravel(convert_to_numpy(found[TD_ERROR_KEY].peek())))
            yield
