"""Base of trainers of any library: common settings, checkpoints, and play of the network.

A checkpoint is a zip: settings and counters as JSON (``data``), and tensors that PyTorch's weights-only reader reads.
`arcademark.agents.checkpoints` plays it.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np

from arcademark.agents.base import Actions, Flags, Generators, Observations
from arcademark.agents.checkpoints import reading
from arcademark.agents.checkpoints.policy import ROWS, VALUES_ALONE, NetworkPolicy, check_device
from arcademark.agents.parameters import AboveZero, Positive, Share
from arcademark.environments import fire
from arcademark.environments.base import EnvironmentSpec
from arcademark.environments.observations.spaces import ObservationView
from arcademark.errors import ArcadeMarkError
from arcademark.files import ZipArchive

LEAST_SCREEN = 36
"""Rows and columns of the smallest screen that the networks' convolutions take."""
_WRITTEN = (1980, 1, 1, 0, 0, 0)


@dataclass(eq=False, repr=False)
class NetworkTrainer:
    """A network that a library trains; a base for `agents.base.Trainer`: subclasses add `fit` and abstract methods.

    Parameters
    ----------
    env : EnvironmentSpec
        The game, or other task, to be played.
    num_envs : int
        Number of games trained on at once.
    learning_rate : float
        Learning rate of the optimizer.
    gamma : float
        Discount of later rewards.
    deterministic : bool
        Whether the best action is taken in evaluation, rather than one drawn from the policy's distribution.
    epsilon : float
        Probability of a uniformly random action instead, in evaluation (0.05 in Mnih et al. 2015).
    device : {"cpu", "cuda"}
        Device of the network. Scores are repeatable on "cpu".
    checkpoint_frames : int
        Maximum number of training frames between checkpoints. It does not change scores.
    """

    env: EnvironmentSpec
    _: KW_ONLY
    num_envs: Positive = 1
    learning_rate: AboveZero = 1e-4
    gamma: float = 0.99
    deterministic: bool = True
    epsilon: Share = 0.0
    device: Literal["cpu", "cuda"] = "cpu"
    checkpoint_frames: Positive = 1_000_000

    name: ClassVar[str]
    batch_size: ClassVar[int] = ROWS
    channels_first: ClassVar[bool] = True
    stochastic: ClassVar[bool] = True
    """True if its network outputs a distribution of actions, False if it outputs values."""

    def __post_init__(self) -> None:
        if not (self.deterministic or self.stochastic):
            raise ArcadeMarkError(f"agent {self.name}: {VALUES_ALONE}")
        self._import()
        check_device(f"agent {self.name}", self.device)
        self._model: Any = None
        self._kept = b""
        self._player: NetworkPolicy | None = None
        self._explores = True

    def act(self, observations: Observations, first: Flags, rngs: Generators) -> Actions:
        """Choose actions as the network played from its file would."""
        if self._player is None:
            self._player = self._network()
        return self._player.act(observations, first, rngs)

    @property
    def draws(self) -> bool:
        """True if it draws random numbers in evaluation."""
        return not self.deterministic or self.epsilon > 0

    def evaluate(self) -> None:
        """Switch to evaluation."""
        self._explores, self._player = False, None

    def checkpoint(self) -> bytes:
        """Return networks, optimizer and counters, without a replay buffer."""
        return self._kept if self._model is None and self._kept else self._packed()

    def restore(self, checkpoint: bytes) -> None:
        """Restore the state of a checkpoint, with an empty replay buffer."""
        self._kept, self._model, self._player = checkpoint, None, None

    def _import(self) -> None:
        """Raise ArcadeMarkError if the library is missing."""
        raise NotImplementedError

    def _packed(self) -> bytes:
        """Return the model as a checkpoint."""
        raise NotImplementedError

    def _exploration(self) -> float:
        """Return the probability of a random action at the end of training."""
        return 0.0

    def _spaces(self) -> tuple[Any, Any]:
        """Return the spaces of observations, according to `channels_first`, and of actions."""
        view = ObservationView(self.env, self.channels_first)
        return view.observation_space, view.action_space

    def _network(self) -> NetworkPolicy:
        """Return the policy as played from a file; in training with the exploration at its end."""
        from arcademark.agents.checkpoints import libraries

        place = f"agent {self.name} on {self.env.game}"
        network = libraries.build(reading.read(self.checkpoint(), Path(place), False), place)
        explores = self._explores
        return NetworkPolicy(
            network,
            self.env,
            batch=max(ROWS, self.num_envs),
            deterministic=self.deterministic and not explores,
            epsilon=self._exploration() if explores else self.epsilon,
            device=self.device,
        )

    def _pack(self, data: Mapping[str, Any], states: Mapping[str, Any]) -> bytes:
        """Return a checkpoint of settings, to which those of every library are added, and of tensors by file."""
        import torch

        observed, acted = self._spaces()
        common = {
            "algorithm": self.name,
            "observation_space": {
                "_shape": list(observed.shape),
                "dtype": str(observed.dtype),
                "fire_reset": bool(fire.presses(self.env)),
            },
            "action_space": {"_shape": list(acted.shape)} if self.env.array_actions else {"n": self.env.num_actions},
            "n_envs": self.num_envs,
            "gamma": self.gamma,
        }
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
            archive.writestr(zipfile.ZipInfo("data", _WRITTEN), json.dumps(common | dict(data), indent=1))
            for name, state in states.items():
                tensors = io.BytesIO()
                torch.save(state, tensors)
                archive.writestr(zipfile.ZipInfo(f"{name}.pth", _WRITTEN), tensors.getvalue())
        return out.getvalue()

    def _unpack(self, load: Callable[..., None], *names: str) -> Mapping[str, Any]:
        """Read the checkpoint, tensors and numbers without code, and return the settings.

        `load` receives the network's tensors and the states of the optimizers `names`.

        Raises
        ------
        ArcadeMarkError
            If it is damaged, or of other settings.
        """
        import torch

        place = f"agent {self.name} on {self.env.game}: its checkpoint"
        read = reading.read(self._kept, Path(place), False)
        try:
            archive = ZipArchive(self._kept, place)
            given = [io.BytesIO(archive.read(f"{name}.pth")) for name in names]
            states = [torch.load(one, map_location="cpu", weights_only=True) for one in given]
            if read.settings["algorithm"] != self.name:
                raise ValueError
            load(dict(read.tensors), *states)
        except Exception as error:
            raise ArcadeMarkError(
                f"{place} cannot be used ({type(error).__name__}); was it made with other settings? Train again"
            ) from None
        return read.settings


def seed_of(seed: int | None, done: int) -> int:
    """Return a seed for NumPy and PyTorch, a new one where training continues."""
    return int(np.random.SeedSequence((seed or 0, done)).generate_state(1)[0])
