"""Our games and networks in RLlib's form: a vector of environments, and modules.

Networks have the names and layers of CleanRL's, so that `arcademark.agents.checkpoints` can play them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from gymnasium.spaces import Box
from gymnasium.vector import VectorWrapper
from gymnasium.vector.utils import batch_space
from ray.rllib.core.columns import Columns
from ray.rllib.core.learner.utils import make_target_network
from ray.rllib.core.rl_module.apis import (
    TARGET_NETWORK_ACTION_DIST_INPUTS,
    QNetAPI,
    TargetNetworkAPI,
    ValueFunctionAPI,
)
from ray.rllib.core.rl_module.torch import TorchRLModule
from torch import Tensor, nn

from arcademark.agents.trainers.network import LEAST_SCREEN

SHALLOW = ((16, 8, 4), (32, 4, 2))
"""Channels, kernels and strides of Mnih et al. 2013, IMPALA's shallow network (Espeholt et al. 2018, Figure 3)."""
NATURE = ((32, 8, 4), (64, 4, 2), (64, 3, 1))
"""The same of Mnih et al. 2015, and of Rainbow."""
HIDDEN, ATOMS, RETURN, SIGMA = 512, 51, 10.0, 0.5
"""Rainbow's hidden units, its distribution's atoms and greatest return, and its noise (Hessel et al. 2018, Table 1)."""


class Games(VectorWrapper):
    """Our games with next-step autoreset, as RLlib's runner expects: an ended game begins again in a separate step.

    That step ignores the action and returns the first observation of the new episode.

    Parameters
    ----------
    games : VectorEnv
    floats : bool
        Convert observations to floats, screens to the range from -1 to 1.
    """

    env: Any
    playing: Games
    """The games that RLlib plays in this process."""

    def __init__(self, games: Any, floats: bool) -> None:
        super().__init__(games)
        self._ended, self._floats = np.zeros(games.num_envs, np.bool_), floats
        if floats:
            self.single_observation_space = Box(-1, 255, games.single_observation_space.shape, np.float32)
            self.observation_space = batch_space(self.single_observation_space, games.num_envs)

    def reset(self, *, seed: Any = None, options: Any = None) -> tuple[Any, Any]:
        """Begin the first games, or return the observations of those in play."""
        self._ended[:] = False
        return self._converted(self.env.reset()[0]), {}

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, Any]:
        """Play a step in each game, except those that ended in the last one."""
        observations, rewards, terminated, truncated, infos = self.env.step(actions, self._ended)
        self._ended = terminated | truncated
        for row in np.flatnonzero(self._ended).tolist():
            observations[row] = infos["final_obs"][row]
        return self._converted(observations), rewards, terminated, truncated, {}

    def close(self, **_: Any) -> None:
        """Leave the games open, as they are still played after RLlib closes them."""

    def _converted(self, observations: Any) -> Any:
        if not self._floats:
            return observations
        return observations.astype(np.float32) / 128 - 1 if observations.ndim == 4 else observations.astype(np.float32)


def played(_: Any) -> Games:
    """Return the games that RLlib plays."""
    return Games.playing


class Copied(TorchRLModule, TargetNetworkAPI):  # type: ignore[misc]
    """A network that learns from the values of copies of its `parts`, the target networks."""

    parts: tuple[str, ...]

    def make_target_networks(self) -> None:
        """Copy the parts."""
        for name in self.parts:
            setattr(self, f"_target_{name}", make_target_network(getattr(self, name)))

    def get_target_network_pairs(self) -> list[tuple[Any, Any]]:
        """Return pairs of a part and its copy."""
        return [(getattr(self, name), getattr(self, f"_target_{name}")) for name in self.parts]


class ActorCritic(Copied, ValueFunctionAPI):  # type: ignore[misc]
    """IMPALA's shallow network without its LSTM: logits and a value."""

    parts = ("network", "actor")

    def setup(self) -> None:
        """Make the layers."""
        self.network, size = layers(self.observation_space.shape, SHALLOW, 256, True)
        self.actor, self.critic = nn.Linear(size, self.action_space.n), nn.Linear(size, 1)

    def _forward(self, batch: Mapping[str, Any], **_: Any) -> dict[str, Any]:
        features = self.network(batch[Columns.OBS] / 255.0)
        return {Columns.EMBEDDINGS: features, Columns.ACTION_DIST_INPUTS: self.actor(features)}

    def compute_values(self, batch: Mapping[str, Any], embeddings: Any = None) -> Any:
        """Return the value of each observation."""
        features = self.network(batch[Columns.OBS] / 255.0) if embeddings is None else embeddings
        return self.critic(features).squeeze(-1)

    def forward_target(self, batch: Mapping[str, Any]) -> dict[str, Any]:
        """Return the target network's logits."""
        features = self._target_network(batch[Columns.OBS] / 255.0)
        return {TARGET_NETWORK_ACTION_DIST_INPUTS: self._target_actor(features)}


class RainbowModule(Copied, QNetAPI):  # type: ignore[misc]
    """Rainbow's network: values and advantages from noisy layers give a distribution of returns for each action.

    RLlib's own module has no noisy layers, and its value is one number added to all atoms, which a softmax ignores.
    """

    parts = ("network", "value_head", "advantage_head")

    def setup(self) -> None:
        """Make the layers."""
        self.network, size = layers(self.observation_space.shape, NATURE, HIDDEN, False)
        self.value_head, self.advantage_head = (
            nn.Sequential(Noisy(size, HIDDEN), nn.ReLU(), Noisy(HIDDEN, ATOMS * outputs))
            for outputs in (1, self.action_space.n)
        )
        self.register_buffer("support", torch.linspace(-RETURN, RETURN, ATOMS))

    def _forward_inference(self, batch: Mapping[str, Any], **_: Any) -> dict[str, Any]:
        return {Columns.ACTIONS: self.compute_q_values(batch)["qf_preds"].argmax(1)}

    def _forward_exploration(self, batch: Mapping[str, Any], **_: Any) -> dict[str, Any]:
        self.train()  # noise makes it explore
        return self._forward_inference(batch)

    def _forward_train(self, batch: Mapping[str, Any], **_: Any) -> dict[str, Any]:
        following = {Columns.OBS: batch[Columns.NEXT_OBS]}
        with torch.no_grad():
            values, target = self.compute_q_values(following), self.forward_target(following)
        targets = {f"qf_target_next_{name}": target[f"qf_{name}"] for name in ("preds", "probs")}
        return self.compute_q_values(batch) | {"qf_next_preds": values["qf_preds"]} | targets

    def compute_q_values(self, batch: Mapping[str, Any]) -> dict[str, Any]:
        """Return values, the means of distributions, and these distributions."""
        return self._values(batch, self.network, self.value_head, self.advantage_head)

    def forward_target(self, batch: Mapping[str, Any]) -> dict[str, Any]:
        """Return the same for the target network."""
        return self._values(batch, *(copy for _, copy in self.get_target_network_pairs()))

    def _values(self, batch: Mapping[str, Any], network: Any, value: Any, advantage: Any) -> dict[str, Any]:
        features = network(batch[Columns.OBS] / 255.0).flatten(1)
        advantages = advantage(features).view(len(features), -1, ATOMS)
        logits = value(features).view(len(features), 1, ATOMS) + advantages - advantages.mean(dim=1, keepdim=True)
        chances = logits.softmax(dim=2)
        preds = (chances * self.support).sum(2)
        return {"qf_preds": preds, "qf_logits": logits, "qf_probs": chances, "atoms": self.support}


class Noisy(nn.Module):
    """A linear layer with new factorised Gaussian noise for each batch in training (Fortunato et al. 2018, §3)."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        bound = inputs**-0.5
        self.weight_mu = nn.Parameter(torch.empty(outputs, inputs).uniform_(-bound, bound))
        self.bias_mu = nn.Parameter(torch.empty(outputs).uniform_(-bound, bound))
        self.weight_sigma = nn.Parameter(torch.full((outputs, inputs), SIGMA * bound))
        self.bias_sigma = nn.Parameter(torch.full((outputs,), SIGMA * bound))

    def forward(self, x: Tensor) -> Tensor:
        """Return the layer's outputs."""
        mean = nn.functional.linear(x, self.weight_mu, self.bias_mu)
        if not self.training:
            return mean
        before, after = (torch.randn(n, device=x.device) for n in self.weight_mu.shape[::-1])
        before, after = (noise.sign() * noise.abs().sqrt() for noise in (before, after))
        return mean + nn.functional.linear(x * before, self.weight_sigma, self.bias_sigma) * after


def layers(
    shape: tuple[int, ...], convolutions: Sequence[tuple[int, int, int]], hidden: int, full: bool
) -> tuple[nn.Sequential, int]:
    """Return layers for screens (and a hidden layer if `full`) or for other observations, and their output size."""
    modules: list[nn.Module] = []
    screens = len(shape) == 3 and min(shape[1:]) >= LEAST_SCREEN
    channels = shape[0]
    for number, kernel, stride in convolutions if screens else ():
        modules += [nn.Conv2d(channels, number, kernel, stride), nn.ReLU()]
        channels = number
    size = nn.Sequential(*modules)(torch.zeros(1, *shape)).numel()
    if full or not screens:
        modules, size = [*modules, nn.Flatten(), nn.Linear(size, hidden), nn.ReLU()], hidden
    return nn.Sequential(*modules), size
