"""Games under a protocol for training and evaluation with Stable-Baselines3; needs ``pip install '.[sb3]'``.

::

    from stable_baselines3 import PPO
    import arcademark.sb3

    envs = arcademark.sb3.make_vec("breakout", 8, "sb3-atari")
    judged = arcademark.sb3.JudgeCallback("breakout", "sb3-atari", every=100_000, out="runs/ppo-breakout")
    PPO("CnnPolicy", envs, seed=0).learn(1_000_000, callback=judged)
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from stable_baselines3.common.callbacks import BaseCallback

from arcademark.environments.interfaces.stable_baselines import VectorEnv, make_vec
from arcademark.errors import ArcadeMarkError
from arcademark.operations.judging import Judge
from arcademark.suite.protocols import Protocol

__all__ = ["JudgeCallback", "VectorEnv", "make_vec"]


class JudgeCallback(BaseCallback):
    """Evaluates a model during training, on whole games under a protocol; see `arcademark.judge`.

    Parameters
    ----------
    games, protocol, out, episodes, seed, name, max_share, tensorboard, wandb
        As in `arcademark.judge`; `max_share` is a share of the time since training began.
    every : int
        Timesteps of training between evaluations; there is one more when training ends.
    deterministic : bool
        Play the model's best action rather than one drawn from its policy.
    verbose : int
        As in Stable-Baselines3's callbacks.

    Attributes
    ----------
    judge : arcademark.operations.judging.Judge
        The evaluator, with its results in `evaluations`.

    Raises
    ------
    ArcadeMarkError
        As in `arcademark.judge`, or if `every` is below 1.
    """

    def __init__(
        self,
        games: str | Sequence[str],
        protocol: str | Protocol = "sb3-atari",
        *,
        every: int,
        out: str | os.PathLike[str],
        episodes: int | None = None,
        seed: int = 0,
        name: str | None = None,
        max_share: float | None = 0.1,
        deterministic: bool = True,
        tensorboard: str | os.PathLike[str] | None = None,
        wandb: str | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(verbose)
        if every < 1:
            raise ArcadeMarkError(f"every {every}: expected at least 1 timestep between evaluations")
        self.judge = Judge(
            games,
            protocol,
            out=out,
            episodes=episodes,
            seed=seed,
            name=name,
            max_share=max_share,
            deterministic=deterministic,
            tensorboard=tensorboard,
            wandb=wandb,
        )
        self._every = every

    def _on_training_start(self) -> None:
        self.judge.begin()
        self._due = (self.num_timesteps // self._every + 1) * self._every

    def _on_step(self) -> bool:
        if self.num_timesteps >= self._due:
            self._due = (self.num_timesteps // self._every + 1) * self._every
            self._evaluate()
        return True

    def _on_training_end(self) -> None:
        if self.num_timesteps * self.judge.frames_per_step not in self.judge.evaluations:
            self._evaluate()
        if self.logger.name_to_value:  # after the end, the model itself does not write them
            self.logger.dump(self.num_timesteps)

    def _evaluate(self) -> None:
        judged: Any = self.judge(self.model, self.num_timesteps * self.judge.frames_per_step)
        for game, score in judged.scores.items():
            self.logger.record(f"judge/{game}", score)
