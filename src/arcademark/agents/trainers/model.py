"""A model of Stable-Baselines3 as a trainer: how it is trained, kept and played.

A checkpoint is a zip as the library writes it, but for Python objects: settings and counters as JSON (``data``),
``policy.pth`` and ``policy.optimizer.pth`` as tensors. `arcademark.agents.checkpoints` plays it, and the library's
``model.set_parameters(path)`` reads it.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np

from arcademark.agents.base import Actions, Flags, Generators, Observations
from arcademark.agents.checkpoints import contents
from arcademark.agents.checkpoints.policy import ROWS, NetworkPolicy
from arcademark.environments.base import EnvironmentSpec
from arcademark.environments.observation import channels_first
from arcademark.errors import ArcadeMarkError

LEAST_SCREEN = 36
"""Rows and columns of the smallest screen that the convolutions of the library's network take."""
CHUNK_STEPS = 512
"""About how many agent steps are trained between two looks at the clock."""
_COUNTERS = ("num_timesteps", "_n_updates", "_episode_num", "_n_calls", "exploration_rate")
_WRITTEN = (1980, 1, 1, 0, 0, 0)


@dataclass(eq=False, repr=False)
class StableBaselines:
    """An algorithm of Stable-Baselines3; a base for `agents.base.Trainer`.

    Parameters
    ----------
    env : EnvironmentSpec
        The game to be played.
    num_envs : int
        Games that are trained on at once.
    learning_rate : float
        Of the optimizer.
    gamma : float
        Discount of later rewards.
    deterministic : bool
        Whether the best action is taken in evaluation, rather than one drawn from the policy's distribution.
    epsilon : float
        Probability of a uniformly random action instead, in evaluation (0.05 in Mnih et al. 2015).
    device : {"cpu", "cuda"}
        Where the network is. Scores repeat on "cpu".
    checkpoint_frames : int
        The most training frames between checkpoints. It changes no score.
    """

    env: EnvironmentSpec
    _: KW_ONLY
    num_envs: int = 1
    learning_rate: float = 1e-4
    gamma: float = 0.99
    deterministic: bool = True
    epsilon: float = 0.0
    device: Literal["cpu", "cuda"] = "cpu"
    checkpoint_frames: int = 1_000_000

    name: ClassVar[str]
    network: ClassVar[str] = "{}Policy"
    batch_size: ClassVar[int] = ROWS
    channels_first: ClassVar[bool] = True

    def __post_init__(self) -> None:
        positive = {name: getattr(self, name) for name in ("num_envs", "learning_rate", "checkpoint_frames")}
        for name, value in positive.items():
            if not value > 0:
                raise ArcadeMarkError(f"agent {self.name}: parameter '{name}' is {value}: expected more than 0")
        if not 0 <= self.epsilon <= 1:
            raise ArcadeMarkError(f"agent {self.name}: parameter 'epsilon' is {self.epsilon}: expected 0 to 1")
        self._model: Any = None
        self._kept = b""
        self._player: NetworkPolicy | None = None
        self._explores = True

    def fit(self, envs: Any, frames: int) -> Iterator[None]:
        """Train in chunks of about `CHUNK_STEPS`; see `base.Trainer.fit`."""
        import torch

        from arcademark.sb3 import VectorEnv

        torch.set_num_threads(1)  # workers share the cores
        model = self._made()
        for one in envs.envs:
            one.environment.pad_with_zeros(True)  # as the library's VecFrameStack does
        model.set_env(VectorEnv(envs))
        self._explores = True

        def update(*_: int) -> None:
            model._current_progress_remaining = max(0.0, 1.0 - envs.frames / max(1, frames))

        model._update_current_progress_remaining = update
        update()
        while envs.frames < frames:
            self._player = None
            left = -(-(frames - envs.frames) // self.env.protocol.frame_skip)
            model.learn(min(self._chunk(), left), reset_num_timesteps=False, log_interval=None)
            yield

    def act(self, observations: Observations, first: Flags, rngs: Generators) -> Actions:
        """Play the network as it would be played from its file."""
        if self._player is None:
            self._player = self._network()
        return self._player.act(observations, first, rngs)

    def evaluate(self) -> None:
        """Neither learn nor explore from now on."""
        self._explores, self._player = False, None

    def checkpoint(self) -> bytes:
        """Return networks, optimizer and counters; of a replay buffer nothing is kept."""
        if self._model is None and self._kept:
            return self._kept
        import torch

        model = self._made()
        counters = {name: getattr(model, name) for name in _COUNTERS if hasattr(model, name)}
        data = {
            "algorithm": self.name,
            "observation_space": {"_shape": list(model.observation_space.shape), "dtype": "uint8"},
            "action_space": {"n": int(model.action_space.n)},
            "policy_kwargs": {},
            "n_envs": self.num_envs,
            "gamma": self.gamma,
            **counters,
        }
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
            archive.writestr(zipfile.ZipInfo("data", _WRITTEN), json.dumps(data, indent=1))
            for name, state in model.get_parameters().items():
                tensors = io.BytesIO()
                torch.save(state, tensors)
                archive.writestr(zipfile.ZipInfo(f"{name}.pth", _WRITTEN), tensors.getvalue())
        return out.getvalue()

    def restore(self, checkpoint: bytes) -> None:
        """Become what `checkpoint` holds; of a replay buffer nothing is."""
        self._kept, self._model, self._player = checkpoint, None, None

    def _chunk(self) -> int:
        """Return how many agent steps are trained at once."""
        return CHUNK_STEPS

    def _settings(self) -> dict[str, Any]:
        """Return what the library's class is given."""
        return {"learning_rate": self.learning_rate, "gamma": self.gamma}

    def _algorithm(self) -> Any:
        raise NotImplementedError

    def _made(self) -> Any:
        """Return the library's model, made where it is not there yet, as it was kept."""
        if self._model is None:
            self._model = self._make()
            if self._kept:
                self._load(self._model)
                self._kept = b""
        return self._model

    def _make(self) -> Any:
        _import(self.name)
        from gymnasium.spaces import Box, Discrete
        from stable_baselines3.common.logger import Logger

        shape = channels_first(np.empty((1, *self.env.observation_shape), np.uint8)).shape[1:]
        images = len(shape) == 3 and min(shape[1:]) >= LEAST_SCREEN
        policy = self.network.format("Cnn" if images else "Mlp")
        settings = {"seed": _seed(self.env.seed, 0), "device": self.device, **self._settings()}
        model = self._algorithm()(policy, env=None, _init_setup_model=False, **settings)
        high = 127 if self.env.protocol.observation == "palette" else 255
        model.observation_space = Box(0, high, shape, np.uint8)
        model.action_space = Discrete(self.env.num_actions)
        model.n_envs = self.num_envs
        model._setup_model()
        model.set_logger(Logger(None, []))
        return model

    def _load(self, model: Any) -> None:
        """Read what was kept into a model: tensors and numbers, nothing that runs."""
        import torch

        place = f"agent {self.name} on {self.env.game}: its checkpoint"
        found = contents.read(self._kept, Path(place), False)
        try:
            with zipfile.ZipFile(io.BytesIO(self._kept)) as archive:
                optimizer = torch.load(
                    io.BytesIO(archive.read("policy.optimizer.pth")), map_location=self.device, weights_only=True
                )
            model.policy.load_state_dict(dict(found.tensors))
            model.policy.optimizer.load_state_dict(optimizer)
            counters = {name: found.settings[name] for name in _COUNTERS if hasattr(model, name)}
        except Exception as error:
            raise ArcadeMarkError(
                f"{place} cannot be used ({type(error).__name__}); was it made with other settings? Train again"
            ) from None
        for name, value in counters.items():
            setattr(model, name, value if name == "exploration_rate" else int(value))
        model.set_random_seed(_seed(self.env.seed, model.num_timesteps))

    def _network(self) -> NetworkPolicy:
        """Return the policy as it is played from a file; while it explores, as it does when training ends."""
        _import(self.name)
        from arcademark.agents.checkpoints import libraries

        place = f"agent {self.name} on {self.env.game}"
        network = libraries.build(contents.read(self.checkpoint(), Path(place), False), place)
        explores = self._explores
        return NetworkPolicy(
            network,
            self.env,
            batch=max(ROWS, self.num_envs),
            deterministic=self.deterministic and not explores,
            epsilon=self._exploration() if explores else self.epsilon,
            device=self.device,
        )

    def _exploration(self) -> float:
        """Return how likely a random action is at the end of training."""
        return 0.0


def _seed(seed: int | None, steps: int) -> int:
    """Return a seed for NumPy and PyTorch, another one where training goes on."""
    return int(np.random.SeedSequence((seed or 0, steps)).generate_state(1)[0])


def _import(name: str) -> None:
    """Refuse in one line where the libraries are missing."""
    try:
        import sb3_contrib  # noqa: F401
        import stable_baselines3  # noqa: F401
    except ImportError:
        raise ArcadeMarkError(
            f"agent {name}: needs Stable-Baselines3; install it with pip install 'arcademark[sb3]'"
        ) from None
