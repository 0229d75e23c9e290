"""What RLlib's DreamerV3 is given: its learner asked in this thread, and screens in bytes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from ray.rllib.algorithms.dreamerv3.dreamerv3_catalog import DreamerV3Catalog
from ray.rllib.algorithms.dreamerv3.torch.dreamerv3_torch_learner import DreamerV3TorchLearner
from ray.rllib.algorithms.dreamerv3.torch.dreamerv3_torch_rl_module import DreamerV3TorchRLModule
from ray.rllib.core import DEFAULT_MODULE_ID
from ray.rllib.policy.sample_batch import SampleBatch
from torch import Tensor

from arcademark.agents.checkpoints.foreign import dreamer_scaled
from arcademark.agents.trainers.rllib_parts import Learns

_PARTS = ("world_model", "actor", "critic")


class DreamerLearner(Learns, DreamerV3TorchLearner):
    """DreamerV3's learner, with its three optimizers.

    Attributes
    ----------
    played, learnt : int
        Steps so far.
    """

    played = learnt = 0
    configure_optimizers_for_module = DreamerV3TorchLearner.configure_optimizers_for_module

    def kept(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Return the network's tensors, and the optimizers' states with what was counted."""
        optimizers = {part: self.get_optimizer(DEFAULT_MODULE_ID, part).state_dict() for part in _PARTS}
        return self.network.dreamer_model.state_dict(), {**optimizers, "steps": [self.played, self.learnt]}

    def load(self, tensors: dict[str, Tensor], optimizer: Any) -> None:
        """Take what was kept."""
        self.network.dreamer_model.load_state_dict(tensors)
        for part in _PARTS:
            self.get_optimizer(DEFAULT_MODULE_ID, part).load_state_dict(optimizer[part])
        self.played, self.learnt = map(int, optimizer["steps"])

    def dream(self, frames: int, sample: dict[str, Any]) -> None:
        """Update the network, once, with sequences of steps, arrays of shape (sequences, steps, ...)."""
        sample["actions"] = np.eye(self.network.action_space.n, dtype=np.float32)[sample["actions"]]
        self.learnt += sample["rewards"].size
        self.learn(frames, self.learnt, batch=SampleBatch(sample).as_multi_agent())


def memories(runner: Any) -> tuple[Tensor, ...]:
    """Return what `foreign.Dreamer` remembers of the games that a runner is in, tensors of shape (1, games, ...)."""
    rows = []
    for episode in runner._ongoing_episodes:
        known = episode.t > 0 and "state_out" in episode.extra_model_outputs
        state = episode.get_extra_model_outputs("state_out", -1) if known else runner.module.get_initial_state()
        rows.append([*(torch.as_tensor(state[key]).float() for key in ("h", "z", "a")), torch.full((1,), float(known))])
    return tuple(torch.stack(parts)[None].detach() for parts in zip(*rows, strict=True))


class DreamerModule(DreamerV3TorchRLModule):
    """DreamerV3's network, given screens as bytes: so the replay buffer keeps them."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings | {"catalog_class": DreamerV3Catalog})

    def _forward_exploration(self, batch: Mapping[str, Any], **others: Any) -> dict[str, Any]:
        return super()._forward_exploration(self._scaled(batch), **others)

    def _forward_train(self, batch: Mapping[str, Any], **others: Any) -> dict[str, Any]:
        return super()._forward_train(self._scaled(batch), **others)

    def _scaled(self, batch: Mapping[str, Any]) -> dict[str, Any]:
        return {**batch, "obs": dreamer_scaled(batch["obs"].float(), len(self.observation_space.shape))}
