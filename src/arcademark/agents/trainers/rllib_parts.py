"""What RLlib is given: our games as its environment runner has them, networks as its modules, and optimizers.

Networks have the names and layers of CleanRL's, so that `arcademark.agents.checkpoints` plays them as those.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from gymnasium.vector import VectorWrapper
from ray.rllib.algorithms.appo.torch.appo_torch_learner import APPOTorchLearner
from ray.rllib.algorithms.dqn.torch.dqn_torch_learner import DQNTorchLearner
from ray.rllib.algorithms.impala.torch.impala_torch_learner import IMPALATorchLearner
from ray.rllib.core import DEFAULT_MODULE_ID
from ray.rllib.core.columns import Columns
from ray.rllib.core.learner.learner import Learner
from ray.rllib.core.learner.training_data import TrainingData
from ray.rllib.core.learner.utils import make_target_network
from ray.rllib.core.rl_module.apis import (
    TARGET_NETWORK_ACTION_DIST_INPUTS,
    QNetAPI,
    TargetNetworkAPI,
    ValueFunctionAPI,
)
from ray.rllib.core.rl_module.torch import TorchRLModule
from ray.rllib.env.single_agent_env_runner import SingleAgentEnvRunner
from ray.rllib.utils.metrics import NUM_ENV_STEPS_SAMPLED_LIFETIME, NUM_ENV_STEPS_TRAINED_LIFETIME
from torch import Tensor, nn

from arcademark.agents.trainers.network import LEAST_SCREEN

SHALLOW = ((16, 8, 4), (32, 4, 2))
"""Channels, kernels and strides of Mnih et al. 2013, IMPALA's shallow network (Espeholt et al. 2018, Figure 3)."""
NATURE = ((32, 8, 4), (64, 4, 2), (64, 3, 1))
"""Those of Mnih et al. 2015, and of Rainbow."""


class Games(VectorWrapper):
    """Our games, where one that has ended begins again in a step of its own, as RLlib's runner expects.

    In that step it is not played, its action is ignored, and its observation is the first of the new episode.
    """

    def __init__(self, games: Any) -> None:
        super().__init__(games)
        self.env: Any = games
        self._ended = np.zeros(games.num_envs, np.bool_)
        self._infos: list[dict[str, Any]] = [{} for _ in range(games.num_envs)]

    def reset(self, *, seed: Any = None, options: Any = None) -> tuple[Any, Any]:
        """Begin the first games, or see those in play."""
        self._ended[:] = False
        return self.env.reset()[0], self._infos

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, Any]:
        """Play a step in each game, but in those that ended in the last one."""
        observations, rewards, terminated, truncated, infos = self.env.step(actions, self._ended)
        self._ended = terminated | truncated
        for row in np.flatnonzero(self._ended).tolist():
            observations[row] = infos["final_obs"][row]
        return observations, rewards, terminated, truncated, self._infos

    def close(self, **_: Any) -> None:
        """Leave the games open, as they are played on when RLlib has let go of them."""


class Runner(SingleAgentEnvRunner):
    """RLlib's environment runner on our games, with the learner's own network."""

    def __init__(self, config: Any, games: Any, learner: Any) -> None:
        self._games, self._learner = games, learner
        super().__init__(config=config)

    def make_env(self) -> None:
        """Take our games."""
        self.env, self.num_envs = Games(self._games), self._games.num_envs

    def make_module(self) -> None:
        """Take the learner's network."""
        self.module = self._learner.network

    def sample(self, **asked: Any) -> Any:
        """Return episodes, or parts of them, and keep none, as RLlib does for statistics."""
        episodes = super().sample(**asked)
        self._ongoing_episodes_for_metrics.clear()
        self.get_metrics()
        return episodes


def absorbed(episode: Any, steps: int) -> Any:
    """Return an episode that, if it is over, stays in its end for some steps without reward.

    RLlib's buffer draws steps that as many follow as returns add up, and would leave out an episode's last ones.
    """
    for left in range(steps if episode.is_terminated else 0, 0, -1):
        episode.is_terminated = False
        episode.add_env_step(
            observation=episode.get_observations(-1),
            action=episode.get_actions(-1),
            reward=0.0,
            terminated=left == 1,
            extra_model_outputs={key: values[-1] for key, values in episode.extra_model_outputs.items()},
        )
    return episode


class Learns(Learner):
    """A learner that is asked in this thread."""

    @property
    def network(self) -> Any:
        """The module that learns."""
        return self.module[DEFAULT_MODULE_ID].unwrapped()

    @property
    def optimizer(self) -> torch.optim.Optimizer:
        """Its optimizer, where it has one."""
        return self.get_optimizer(DEFAULT_MODULE_ID)

    def configure_optimizers_for_module(self, module_id: str, config: Any = None) -> None:
        """Take the algorithm's optimizer, where RLlib has Adam with the settings of PyTorch."""
        params = self.get_parameters(self.module[module_id])
        self.register_optimizer(
            module_id=module_id, optimizer=self._optimizer(params), params=params, lr_or_lr_schedule=config.lr
        )

    def kept(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Return the network's tensors, but for its copy, and the optimizer's state."""
        tensors = self.network.state_dict()
        return {name: tensors[name] for name in tensors if not name.startswith("_target_")}, self.optimizer.state_dict()

    def load(self, tensors: dict[str, Tensor], optimizer: Any) -> None:
        """Take what was kept; a network that has a copy is copied."""
        copy = {name: value for name, value in self.network.state_dict().items() if name.startswith("_target_")}
        self.network.load_state_dict(tensors | copy)
        self.optimizer.load_state_dict(optimizer)
        if copy:
            self.network.make_target_networks()

    def learn(self, frames: int, trained: int, **data: Any) -> Any:
        """Update the network, once; `frames` is where the schedules of the configuration are read."""
        timesteps = {NUM_ENV_STEPS_SAMPLED_LIFETIME: frames, NUM_ENV_STEPS_TRAINED_LIFETIME: trained}
        results = Learner.update(self, training_data=TrainingData(**data), timesteps=timesteps)
        return results[DEFAULT_MODULE_ID]

    def batch(self, episodes: Sequence[Any]) -> Any:
        """Return episodes as a batch, as the update would make it of them."""
        return self._make_batch_if_necessary(TrainingData(episodes=episodes))

    def _optimizer(self, params: Any) -> torch.optim.Optimizer:
        return torch.optim.Adam(params, fused=True)


class ImpalaLearner(Learns, IMPALATorchLearner):
    """IMPALA's learner with RMSProp, and losses summed over the batch, which its settings are for."""

    def compute_loss_for_module(self, *, batch: Any, **others: Any) -> Any:
        """Return the loss, which RLlib divides by the number of steps."""
        return super().compute_loss_for_module(batch=batch, **others) * batch[Columns.LOSS_MASK].sum()

    def _optimizer(self, params: Any) -> torch.optim.Optimizer:
        return torch.optim.RMSprop(params, alpha=self.config.decay, eps=self.config.epsilon)


class AppoLearner(Learns, APPOTorchLearner):
    """APPO's learner."""


class RainbowLearner(Learns, DQNTorchLearner):
    """DQN's learner with the ε of Rainbow's Adam."""

    def _optimizer(self, params: Any) -> torch.optim.Optimizer:
        return torch.optim.Adam(params, eps=self.config.adam_epsilon, fused=True)


class ActorCritic(TorchRLModule, ValueFunctionAPI, TargetNetworkAPI):  # type: ignore[misc]
    """IMPALA's shallow network without its LSTM: logits and a value."""

    def setup(self) -> None:
        """Make the layers."""
        self.network, size = _eyes(self.observation_space.shape, SHALLOW, 256, True)
        self.actor, self.critic = nn.Linear(size, self.action_space.n), nn.Linear(size, 1)

    def _forward(self, batch: Mapping[str, Any], **_: Any) -> dict[str, Any]:
        return {Columns.ACTION_DIST_INPUTS: self.actor(self._features(batch))}

    def _forward_train(self, batch: Mapping[str, Any], **_: Any) -> dict[str, Any]:
        features = self._features(batch)
        return {Columns.EMBEDDINGS: features, Columns.ACTION_DIST_INPUTS: self.actor(features)}

    def _features(self, batch: Mapping[str, Any]) -> Tensor:
        return self.network(batch[Columns.OBS] / 255.0)

    def compute_values(self, batch: Mapping[str, Any], embeddings: Any = None) -> Any:
        """Return the value of each observation."""
        return self.critic(self._features(batch) if embeddings is None else embeddings).squeeze(-1)

    def make_target_networks(self) -> None:
        """Copy what chooses actions."""
        self._target_network = make_target_network(self.network)
        self._target_actor = make_target_network(self.actor)

    def get_target_network_pairs(self) -> list[tuple[Any, Any]]:
        """Return what is copied, and its copies."""
        return [(self.network, self._target_network), (self.actor, self._target_actor)]

    def forward_target(self, batch: Mapping[str, Any]) -> dict[str, Any]:
        """Return the copy's logits."""
        features = self._target_network(batch[Columns.OBS] / 255.0)
        return {TARGET_NETWORK_ACTION_DIST_INPUTS: self._target_actor(features)}


class RainbowModule(TorchRLModule, QNetAPI, TargetNetworkAPI):  # type: ignore[misc]
    """Rainbow's network: a value and advantages of noisy layers make up a distribution over returns for each action.

    RLlib's own module knows no noisy layers, and its value is one number added to all atoms, which a softmax ignores.
    """

    def setup(self) -> None:
        """Make the layers."""
        config, actions = self.model_config, self.action_space.n
        self.network, size = _eyes(self.observation_space.shape, NATURE, config["hidden"], False)

        def head(outputs: int) -> nn.Sequential:
            hidden, sigma = config["hidden"], config["sigma"]
            return nn.Sequential(Noisy(size, hidden, sigma), nn.ReLU(), Noisy(hidden, outputs, sigma))

        self.value_head, self.advantage_head = head(config["atoms"]), head(config["atoms"] * actions)
        self.register_buffer("support", torch.linspace(-config["reach"], config["reach"], config["atoms"]))

    def _forward_inference(self, batch: Mapping[str, Any], **_: Any) -> dict[str, Any]:
        return {Columns.ACTIONS: self.compute_q_values(batch)["qf_preds"].argmax(1)}

    def _forward_exploration(self, batch: Mapping[str, Any], **_: Any) -> dict[str, Any]:
        self.train()  # noise is what explores
        return self._forward_inference(batch)

    def _forward_train(self, batch: Mapping[str, Any], **_: Any) -> dict[str, Any]:
        following = {Columns.OBS: batch[Columns.NEXT_OBS]}
        found = self.compute_q_values(batch)
        with torch.no_grad():
            found["qf_next_preds"] = self.compute_q_values(following)["qf_preds"]
            target = self.forward_target(following)
        return found | {f"qf_target_next_{name}": target[f"qf_{name}"] for name in ("preds", "probs")}

    def compute_q_values(self, batch: Mapping[str, Any]) -> dict[str, Any]:
        """Return values, and the distributions whose means they are."""
        return self._values(batch, self.network, self.value_head, self.advantage_head)

    def forward_target(self, batch: Mapping[str, Any]) -> dict[str, Any]:
        """Return those of the copy."""
        return self._values(batch, *(copy for _, copy in self.get_target_network_pairs()))

    def _values(self, batch: Mapping[str, Any], network: Any, value: Any, advantage: Any) -> dict[str, Any]:
        features = network(batch[Columns.OBS] / 255.0).flatten(1)
        shape = (len(features), -1, len(self.support))
        advantages = advantage(features).view(shape)
        logits = value(features).view(shape) + advantages - advantages.mean(dim=1, keepdim=True)
        chances = logits.softmax(dim=2)
        values = (chances * self.support).sum(2)
        return {"qf_preds": values, "qf_logits": logits, "qf_probs": chances, "atoms": self.support}

    def make_target_networks(self) -> None:
        """Copy all layers."""
        self._target_network = make_target_network(self.network)
        self._target_value_head = make_target_network(self.value_head)
        self._target_advantage_head = make_target_network(self.advantage_head)

    def get_target_network_pairs(self) -> list[tuple[Any, Any]]:
        """Return what is copied, and its copies."""
        names = ("network", "value_head", "advantage_head")
        return [(getattr(self, name), getattr(self, f"_target_{name}")) for name in names]


class Noisy(nn.Module):
    """A linear layer with factorised Gaussian noise, another each time, in training (Fortunato et al. 2018, §3)."""

    def __init__(self, inputs: int, outputs: int, sigma: float) -> None:
        super().__init__()
        bound = inputs**-0.5
        self.weight_mu = nn.Parameter(torch.empty(outputs, inputs).uniform_(-bound, bound))
        self.bias_mu = nn.Parameter(torch.empty(outputs).uniform_(-bound, bound))
        self.weight_sigma = nn.Parameter(torch.full((outputs, inputs), sigma * bound))
        self.bias_sigma = nn.Parameter(torch.full((outputs,), sigma * bound))

    def forward(self, x: Tensor) -> Tensor:
        """Return what the layer makes of features."""
        found = nn.functional.linear(x, self.weight_mu, self.bias_mu)
        if not self.training:
            return found
        outputs, inputs = self.weight_mu.shape
        before, after = (torch.randn(n, device=x.device) for n in (inputs, outputs))
        before, after = (noise.sign() * noise.abs().sqrt() for noise in (before, after))
        return found + nn.functional.linear(x * before, self.weight_sigma, self.bias_sigma) * after


def _eyes(
    shape: tuple[int, ...], convolutions: Sequence[tuple[int, int, int]], hidden: int, full: bool
) -> tuple[nn.Sequential, int]:
    """Return layers for screens, after them a hidden one if `full`, or for other observations; and their features."""
    layers: list[nn.Module] = []
    if len(shape) == 3 and min(shape[1:]) >= LEAST_SCREEN:
        channels = shape[0]
        for number, kernel, stride in convolutions:
            layers += [nn.Conv2d(channels, number, kernel, stride), nn.ReLU()]
            channels = number
    else:
        full = True
    with torch.no_grad():
        size = nn.Sequential(*layers)(torch.zeros(1, *shape)).numel()
    if full:
        layers, size = [*layers, nn.Flatten(), nn.Linear(size, hidden), nn.ReLU()], hidden
    return nn.Sequential(*layers), size
