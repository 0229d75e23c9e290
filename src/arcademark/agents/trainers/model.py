"""A model of Stable-Baselines3 as a trainer: its training and its checkpoints.

A checkpoint is a zip as the library writes it, without Python objects: ``policy.pth`` and ``policy.optimizer.pth``, or
one file per optimizer, are tensors. The library's ``model.set_parameters(path)`` reads it.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import dataclass, fields
from importlib import import_module
from operator import attrgetter
from typing import Any, ClassVar

from arcademark.agents.trainers.network import LEAST_SCREEN, NetworkTrainer, seed_of
from arcademark.importing import needing

CHUNK_STEPS = 512
"""Approximate agent steps of training between two yields."""
_COUNTERS = ("num_timesteps", "_n_updates", "_episode_num", "_n_calls", "exploration_rate")


@dataclass(eq=False, repr=False)
class StableBaselines(NetworkTrainer):
    """An algorithm of Stable-Baselines3; a base for `agents.base.Trainer`."""

    network: ClassVar[str] = "{}Policy"
    library: ClassVar[str] = "stable_baselines3"

    def fit(self, envs: Any, frames: int) -> Iterator[None]:
        """Train in chunks of about `CHUNK_STEPS`; see `base.Trainer.fit`."""
        import torch

        from arcademark.environments.interfaces.stable_baselines import VectorEnv

        torch.set_num_threads(1)  # workers share the cores
        model = self._ready()
        for one in envs.envs if self.env.protocol.unit == "frame" else ():
            one.environment.pad_with_zeros(True)  # as the library's VecFrameStack does
        model.set_env(VectorEnv(envs))
        self._explores = True

        def update(*_: int) -> None:
            model._current_progress_remaining = max(0.0, 1.0 - envs.frames / max(1, frames))

        model._update_current_progress_remaining = update
        update()
        while envs.frames < frames:
            self._player = None
            left = -(-(frames - envs.frames) // self.env.frames_per_action)
            model.learn(min(self._chunk(), left), reset_num_timesteps=False, log_interval=None)
            yield

    def _packed(self) -> bytes:
        model = self._ready()
        counters = {name: getattr(model, name) for name in _COUNTERS if hasattr(model, name)}
        if getattr(model, "log_ent_coef", None) is not None:
            counters["log_ent_coef"] = model.log_ent_coef.item()
        return self._pack({"policy_kwargs": {}, **counters}, model.get_parameters())

    def _chunk(self) -> int:
        """Return the number of agent steps that are trained at once."""
        return CHUNK_STEPS

    def _settings(self) -> dict[str, Any]:
        """Return the arguments of the library's class in addition to parameters of the same names."""
        return {}

    def _ready(self) -> Any:
        """Return the library's model, made at first use and restored from the checkpoint."""
        if self._model is None:
            self._model = self._make()
            if self._kept:
                self._load(self._model)
                self._kept = b""
        return self._model

    def _make(self) -> Any:
        from stable_baselines3.common.logger import Logger

        observations, actions = self._spaces()
        shape = observations.shape
        images = len(shape) == 3 and min(shape[1:]) >= LEAST_SCREEN
        policy = self.network.format("Cnn" if images else "Mlp")
        algorithm = getattr(import_module(self.library), type(self).__name__)
        taken = inspect.signature(algorithm).parameters.keys() - {"env"}
        settings = {field.name: getattr(self, field.name) for field in fields(self) if field.name in taken}
        settings |= {"seed": seed_of(self.env.seed, 0), **self._settings()}
        model = algorithm(policy, env=None, _init_setup_model=False, **settings)
        model.observation_space, model.action_space = observations, actions
        model.n_envs = self.num_envs
        model._setup_model()
        model.set_logger(Logger(None, []))
        return model

    def _load(self, model: Any) -> None:
        """Restore the checkpoint into a model."""
        names = [name for name in model.get_parameters() if name != "policy"]

        def load(tensors: dict[str, Any], *states: Any) -> None:
            model.policy.load_state_dict(tensors)
            for name, state in zip(names, states, strict=True):
                attrgetter(name)(model).load_state_dict(state)

        counters = self._unpack(load, *names)
        for name in _COUNTERS:
            if hasattr(model, name):
                setattr(model, name, counters[name] if name == "exploration_rate" else int(counters[name]))
        if getattr(model, "log_ent_coef", None) is not None:
            model.log_ent_coef.data.fill_(counters["log_ent_coef"])
        model.set_random_seed(seed_of(self.env.seed, model.num_timesteps))

    def _import(self) -> None:
        with needing(f"agent {self.name}: needs Stable-Baselines3", "sb3"):
            import sb3_contrib  # noqa: F401
            import stable_baselines3  # noqa: F401
