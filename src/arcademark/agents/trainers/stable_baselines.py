"""Stable-Baselines3's algorithms as trainers; needs ``pip install '.[sb3]'``.

Except for SAC, settings are those of RL Baselines3 Zoo for Atari games (``hyperparams/*.yml`` at commit 22e3ff2 of
github.com/DLR-RM/rl-baselines3-zoo), and otherwise the library's own defaults. Our choices: schedules run over the
budget in emulated frames, and observations, lives and rewards are the protocol's; before an episode's first screen the
stack is blank, as in the library.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from gymnasium.spaces import Box

from arcademark.agents.checkpoints.policy import NetworkPolicy
from arcademark.agents.parameters import AboveZero, Positive
from arcademark.agents.trainers.model import CHUNK_STEPS, StableBaselines
from arcademark.environments.base import EnvironmentSpec
from arcademark.environments.tasks import spaces_of
from arcademark.errors import ArcadeMarkError


@dataclass(eq=False, repr=False, kw_only=True)
class OnPolicy(StableBaselines):
    """Base of PPO and A2C.

    Parameters
    ----------
    n_steps : int
        Steps of each game between updates.
    gae_lambda : float
        λ of the generalised advantage estimator (Schulman et al. 2016).
    ent_coef : float
        Weight of the entropy in the loss.
    vf_coef : float
        Weight of the values' loss.
    max_grad_norm : float
        Length to which gradients are clipped.
    """

    num_envs: Positive = 8
    n_steps: int = 128
    gae_lambda: float = 0.95
    ent_coef: float = 0.01
    vf_coef: float = 0.5
    max_grad_norm: float = 0.5

    @staticmethod
    def supports(env: EnvironmentSpec, **_: Any) -> str | None:
        """Return why a task cannot be learnt; None if it can."""
        actions = env.array_actions
        if actions is None or not actions.integer:
            return None
        if len(actions.shape) == 1 and not any(actions.low) and not isinstance(spaces_of(env)[1], Box):
            return None
        return "for whole numbers it supports only vectors of MultiDiscrete and MultiBinary spaces, from 0"

    def _chunk(self) -> int:
        rollout = self.n_steps * self.num_envs
        return rollout * max(1, CHUNK_STEPS // rollout)


@dataclass(eq=False, repr=False, kw_only=True)
class PPO(OnPolicy):
    """Trains with Stable-Baselines3: proximal policy optimisation.

    Parameters
    ----------
    n_epochs : int
        Number of passes over each batch of steps.
    minibatch_size : int
        Steps of one update; Stable-Baselines3's ``batch_size``.
    clip_range : float
        Limit on the change of an action's probability.
    anneal : bool
        Whether learning rate and clip range fall linearly to 0 over the budget.
    """

    citation = "Schulman et al. 2017; settings of RL Baselines3 Zoo (Raffin 2020)"

    learning_rate: AboveZero = 2.5e-4
    n_epochs: int = 4
    minibatch_size: int = 256
    clip_range: float = 0.1
    anneal: bool = True

    name = "ppo"

    def _settings(self) -> dict[str, Any]:
        falling = ("learning_rate", "clip_range") if self.anneal else ()
        return {"batch_size": self.minibatch_size, **{name: partial(_share, getattr(self, name)) for name in falling}}


@dataclass(eq=False, repr=False, kw_only=True)
class RecurrentPPO(PPO):
    """Trains with sb3-contrib: proximal policy optimisation with an LSTM.

    Parameters
    ----------
    lstm_hidden_size : int
        Units of the LSTM.
    """

    lstm_hidden_size: int = 128

    name = "recurrent-ppo"
    library = "sb3_contrib"
    network = "{}LstmPolicy"

    def _settings(self) -> dict[str, Any]:
        core = {"enable_critic_lstm": False, "lstm_hidden_size": self.lstm_hidden_size}
        return super()._settings() | {"policy_kwargs": core}

    def _network(self) -> NetworkPolicy:
        """Return the policy; in games in training it continues with their memory."""
        policy = super()._network()
        if self._explores and self._model is not None:
            policy.remember(self._model._last_lstm_states.pi)
        return policy


@dataclass(eq=False, repr=False, kw_only=True)
class A2C(OnPolicy):
    """Trains with Stable-Baselines3: advantage actor-critic, A3C in step."""

    citation = "Mnih et al. 2016; settings of RL Baselines3 Zoo (Raffin 2020)"

    num_envs: Positive = 16
    learning_rate: AboveZero = 7e-4
    n_steps: int = 5
    gae_lambda: float = 1.0
    vf_coef: float = 0.25

    name = "a2c"

    def _settings(self) -> dict[str, Any]:
        from stable_baselines3.common.sb2_compat.rmsprop_tf_like import RMSpropTFLike

        optimizer = {"optimizer_class": RMSpropTFLike, "optimizer_kwargs": {"eps": 1e-5}}
        return {"policy_kwargs": optimizer}


@dataclass(eq=False, repr=False, kw_only=True)
class OffPolicy(StableBaselines):
    """Base of DQN and SAC.

    A checkpoint leaves the replay buffer out: after a restart `learning_starts` steps are played by the policy, and
    count as training, before it learns again.

    Parameters
    ----------
    buffer_size : int
        Steps in the replay buffer, of 56 kB each for four screens of 84 × 84.
    optimize_memory_usage : bool
        Whether the replay buffer needs half of that; episodes that a cap ended then count as lost.
    learning_starts : int
        Random steps before learning begins.
    minibatch_size : int
        Steps of one update; Stable-Baselines3's ``batch_size``.
    train_freq : int
        Steps of each game between updates.
    gradient_steps : int
        Updates there.
    target_update_interval : int
        Steps between copies to the target network; for SAC, updates.
    """

    buffer_size: int = 100_000
    optimize_memory_usage: bool = False
    learning_starts: int = 100_000
    minibatch_size: int = 32
    train_freq: int = 4
    gradient_steps: int = 1
    target_update_interval: int = 1_000

    def fit(self, envs: Any, frames: int) -> Iterator[None]:
        """Train; an ArcadeMarkError where the budget would be spent before learning begins."""
        budget = frames // self.env.frames_per_action
        if self.learning_starts >= budget and not envs.frames:
            raise ArcadeMarkError(
                f"it learns after {self.learning_starts:,} random steps, but is trained for {budget:,}; give "
                f"--set learning_starts={budget // 10}, or more --frames"
            )
        yield from super().fit(envs, frames)

    def _settings(self) -> dict[str, Any]:
        buffer = {"handle_timeout_termination": not self.optimize_memory_usage}
        return {"batch_size": self.minibatch_size, "replay_buffer_kwargs": buffer}

    def _chunk(self) -> int:
        rollout = self.train_freq * self.num_envs
        return rollout * max(1, CHUNK_STEPS // rollout // 4)

    def _load(self, model: Any) -> None:
        super()._load(model)
        learn, buffer = model.train, model.replay_buffer

        def train(gradient_steps: int, batch_size: int) -> None:
            steps = buffer.size() * self.num_envs
            if buffer.full or steps >= self.learning_starts:
                learn(gradient_steps=gradient_steps, batch_size=batch_size)

        model.train = train


@dataclass(eq=False, repr=False, kw_only=True)
class DQN(OffPolicy):
    """Trains with Stable-Baselines3: deep Q-network.

    Parameters
    ----------
    exploration_fraction : float
        Share of the budget in which random actions decrease.
    exploration_final_eps : float
        Probability of random actions from then on.
    """

    citation = "Mnih et al. 2015; settings of RL Baselines3 Zoo (Raffin 2020)"

    exploration_fraction: float = 0.1
    exploration_final_eps: float = 0.01

    name = "dqn"
    stochastic = False

    @staticmethod
    def supports(env: EnvironmentSpec, **_: Any) -> str | None:
        """Return why a task cannot be learnt; None if it can."""
        return None if env.array_actions is None else "it supports only numbered actions; for arrays use ppo or a2c"

    def _exploration(self) -> float:
        return self.exploration_final_eps


@dataclass(eq=False, repr=False, kw_only=True)
class QRDQN(DQN):
    """Trains with sb3-contrib: deep Q-network with quantile regression.

    Its replay buffer holds 100,000 steps here, as DQN's does; the library's default of 1,000,000 needs 56 GB.

    Parameters
    ----------
    n_quantiles : int
        Quantiles of the return that are learnt.
    """

    citation = "Dabney et al. 2018; settings of RL Baselines3 Zoo (Raffin 2020)"

    learning_rate: AboveZero = 5e-5
    learning_starts: int = 50_000
    target_update_interval: int = 10_000
    exploration_fraction: float = 0.025
    n_quantiles: int = 200

    name = "qr-dqn"
    library = "sb3_contrib"

    def _settings(self) -> dict[str, Any]:
        return super()._settings() | {"policy_kwargs": {"n_quantiles": self.n_quantiles}}


@dataclass(eq=False, repr=False, kw_only=True)
class SAC(OffPolicy):
    """Trains with Stable-Baselines3: soft actor-critic, for continuous actions of other tasks.

    Parameters
    ----------
    tau : float
        Share of the network in each update of the target network.
    """

    citation = "Haarnoja et al. 2018; settings of Stable-Baselines3"

    learning_rate: AboveZero = 3e-4
    buffer_size: int = 1_000_000
    learning_starts: int = 100
    minibatch_size: int = 256
    train_freq: int = 1
    target_update_interval: int = 1
    tau: float = 0.005

    name = "sac"

    def _settings(self) -> dict[str, Any]:
        assert self.env.array_actions is not None
        return super()._settings() | {"target_entropy": -float(len(self.env.array_actions.low))}

    @staticmethod
    def supports(env: EnvironmentSpec, **_: Any) -> str | None:
        """Return why a task cannot be learnt; None if it can."""
        actions = env.array_actions
        bounded = actions is not None and not actions.integer and np.isfinite([*actions.low, *actions.high]).all()
        return None if bounded else "it supports only real-valued actions between bounds; for others use ppo or dqn"


def _share(value: float, remaining: float) -> float:
    """Return a value that falls linearly to 0 over training."""
    return value * remaining
