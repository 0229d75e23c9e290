"""DreamerV3 as RLlib has it, as a trainer; needs ``pip install '.[rllib]'``, to play it too."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from arcademark.agents.checkpoints.policy import NetworkPolicy
from arcademark.agents.trainers.network import seed_of
from arcademark.agents.trainers.rllib import RLlib
from arcademark.errors import ArcadeMarkError

SCREEN = (64, 64, 3)


@dataclass(eq=False, repr=False, kw_only=True)
class DreamerV3(RLlib):
    """DreamerV3 (Hafner et al. 2023): a world model, and an actor and a critic that learn from what it imagines.

    Settings are the paper's (arXiv 2301.04104), with the training ratio that it has for 100,000 steps of Atari, in
    RLlib's size XS. It learns from single screens of 64 × 64 in colour, or from memory. In evaluation the world model's
    state is its likeliest, not a drawn one, so that scores repeat.

    Parameters
    ----------
    learning_rate : float
        Of the world model.
    actor_learning_rate, critic_learning_rate : float
        Of the other two.
    model_size : str
        RLlib's "XS", "S", "M", "L" or "XL" of the paper, or its smaller "XXS", "mini", "micro" and "nano".
    training_ratio : float
        Steps that are learnt from for each that is played.
    minibatch_size : int
        Sequences of one update; RLlib's ``batch_size_B``.
    sequence : int
        Steps of each; RLlib's ``batch_length_T``.
    horizon : int
        Steps that are imagined.
    ent_coef : float
        Weight of the entropy in the actor's loss.
    gae_lambda : float
        λ of the returns.
    buffer_size : int
        Steps in the replay buffer, of 12 kB each in colour (1,000,000 in the paper). It is not in a checkpoint: after a
        restart a batch of steps is played before learning goes on.
    """

    learning_rate: float = 1e-4
    actor_learning_rate: float = 3e-5
    critic_learning_rate: float = 3e-5
    gamma: float = 0.997
    model_size: str = "XS"
    training_ratio: float = 1024.0
    minibatch_size: int = 16
    sequence: int = 64
    horizon: int = 15
    ent_coef: float = 3e-4
    gae_lambda: float = 0.95
    buffer_size: int = 100_000

    name = "dreamerv3"
    channels_first: ClassVar[bool] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        self._runner: Any = None
        shape = self.env.observation_shape
        if len(shape) != 1 and shape != SCREEN:
            raise ArcadeMarkError(
                f"agent {self.name}: learns from one screen of 64 × 64 in colour, not from observations of {shape}; "
                "add --override observation=rgb --override screen_size=64x64 --override frame_stack=1"
            )
        from arcademark.agents.checkpoints.foreign import DREAMER_SIZES

        if self.model_size not in DREAMER_SIZES:
            sizes = ", ".join(DREAMER_SIZES)
            raise ArcadeMarkError(f"agent {self.name}: parameter 'model_size' is '{self.model_size}': expected {sizes}")

    def _import(self) -> None:
        from arcademark.agents.checkpoints.foreign import import_dreamer

        super()._import()
        import_dreamer(f"agent {self.name}")

    def _pieces(self) -> tuple[Any, Any, dict[str, Any]]:
        from arcademark.agents.checkpoints.foreign import dreamer_settings
        from arcademark.agents.trainers import dreamer_parts as parts

        return parts.DreamerLearner, parts.DreamerModule, dreamer_settings(self.model_size, self.sequence)

    def _packed(self) -> bytes:
        if self._model is None:
            self._model = self._made(1, 0)
        tensors, optimizers = self._model.kept()
        return self._pack({"model_size": self.model_size}, {"module": tensors, "optimizer": optimizers})

    def _network(self) -> NetworkPolicy:
        """Return the policy; in games that it has trained on it remembers what it saw of them."""
        made = super()._network()
        if self._explores and self._runner is not None:
            from arcademark.agents.trainers.dreamer_parts import memories

            made.remember(memories(self._runner))
        return made

    def _config(self, frames: int) -> Any:
        from ray.rllib.algorithms.dreamerv3 import DreamerV3Config

        return DreamerV3Config().training(
            gamma=self.gamma,
            model_size=self.model_size,
            training_ratio=self.training_ratio,
            batch_size_B=self.minibatch_size,
            batch_length_T=self.sequence,
            horizon_H=self.horizon,
            gae_lambda=self.gae_lambda,
            entropy_scale=self.ent_coef,
            world_model_lr=self.learning_rate,
            actor_lr=self.actor_learning_rate,
            critic_lr=self.critic_learning_rate,
        )

    def _rounds(self, learner: Any, runner: Any, envs: Any, frames: int) -> Iterator[None]:
        """Play until the ratio asks for an update, as RLlib's ``DreamerV3.training_step``."""
        from ray.rllib.utils.replay_buffers import EpisodeReplayBuffer

        self._runner, batch = runner, self.minibatch_size * self.sequence
        shape = {"batch_size_B": self.minibatch_size, "batch_length_T": self.sequence}
        buffer = EpisodeReplayBuffer(self.buffer_size, **shape)
        seed = seed_of(self.env.seed, envs.frames)
        buffer.rng = np.random.default_rng(seed)
        runner.env.action_space.seed(seed)  # of the first, random actions
        while envs.frames < frames:
            episodes = runner.sample(num_timesteps=self.num_envs, random_actions=learner.played < batch)
            for episode in episodes:
                episode.extra_model_outputs = {}  # its memory of each step, from which nothing is learnt
            buffer.add(episodes)
            played, learnt = sum(map(len, episodes)), 0
            learner.played += played
            yield
            if buffer.get_num_timesteps() < batch or learner.learnt >= self.training_ratio * learner.played:
                continue
            while learnt < self.training_ratio * played:
                learner.dream(envs.frames, buffer.sample(**shape))
                learnt += batch
                yield
