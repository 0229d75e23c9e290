"""Networks that bring their own library: ONNX, TorchScript and other modules, RLlib's.

Each has what `arcademark.agents.checkpoints.networks.Network` has: `shape` (None: whatever it is given), `num_actions`
(None: known when it answers), `stochastic`, `start` and a call.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from arcademark.agents.checkpoints.networks import State
from arcademark.agents.importing import said
from arcademark.errors import ArcadeMarkError


class Module(nn.Module):
    """A module of anyone's: observations, divided by `scale`, to a number for each action.

    Parameters
    ----------
    module : callable
        Given a float tensor of observations it returns one of shape (rows, actions), or a tuple that begins with one.
    scale : float
    """

    shape: tuple[int, ...] | None = None
    num_actions: int | None = None
    stochastic = True
    zero_filled = False

    def __init__(self, module: Any, scale: float, place: str) -> None:
        super().__init__()
        self.module, self.scale, self.place = module, scale, place
        if callable(getattr(module, "eval", None)):
            module.eval()

    def start(self, rows: int) -> State:
        """Return no memory."""
        return ()

    def forward(self, observations: Tensor, state: State) -> tuple[Tensor, State]:
        """Ask the module."""
        answer = self.module(observations if self.scale == 1 else observations / self.scale)
        answer = answer[0] if isinstance(answer, tuple | list) and answer else answer
        if not isinstance(answer, Tensor) or answer.dim() != 2 or len(answer) != len(observations):
            shown = tuple(answer.shape) if isinstance(answer, Tensor) else said(str, type(answer).__name__)
            raise ArcadeMarkError(
                f"{self.place}: it returned {shown}; expected a number for each action, (rows, actions)"
            )
        return answer, state


class Onnx(Module):
    """An ONNX model with one input of observations; its first output has a number for each action."""

    def __init__(self, data: bytes, scale: float, place: str) -> None:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 4
        try:
            session = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
        except Exception as error:
            raise ArcadeMarkError(f"{place}: cannot be read as ONNX ({said(str, error)}); export it again") from None
        given = session.get_inputs()
        if len(given) != 1:
            names = ", ".join(repr(said(str, i.name)) for i in given)
            raise ArcadeMarkError(f"{place}: has {len(given)} inputs ({names}); expected one, of observations")
        kind = {"tensor(uint8)": np.uint8, "tensor(float)": np.float32, "tensor(double)": np.float64}.get(given[0].type)
        if kind is None:
            raise ArcadeMarkError(f"{place}: takes {said(str, given[0].type)}; expected observations, uint8 or float")
        rows, *shape = given[0].shape

        def run(observations: Tensor) -> Tensor:
            array = observations.numpy().astype(kind)
            parts = [array] if not isinstance(rows, int) else np.split(array, range(rows, len(array), rows))
            return torch.from_numpy(np.concatenate([session.run(None, {given[0].name: part})[0] for part in parts]))

        super().__init__(run, scale, place)
        if shape and all(isinstance(n, int) for n in shape):
            self.shape = tuple(shape)
        actions = session.get_outputs()[0].shape[-1:]
        self.num_actions = actions[0] if actions and isinstance(actions[0], int) else None


def rllib(folder: Path, place: str) -> Module:
    """Return the module of an RLlib checkpoint, restored by RLlib, which runs what is pickled in it."""
    try:
        from ray.rllib.core.rl_module import RLModule
    except ImportError:
        raise ArcadeMarkError(f"{place}: needs RLlib; install it with pip install 'arcademark[rllib]'") from None
    inner = folder / "learner_group" / "learner" / "rl_module" / "default_policy"
    try:
        module = RLModule.from_checkpoint(str(inner if inner.is_dir() else folder))
    except Exception as error:
        raise ArcadeMarkError(f"{place}: RLlib refused it ({type(error).__name__}: {said(str, error)})") from None

    def ask(observations: Tensor) -> Any:
        return module.forward_inference({"obs": observations})["action_dist_inputs"]

    made = Module(ask, 1.0, place)
    made.shape = tuple(module.observation_space.shape)
    made.num_actions = int(module.action_space.n)
    return made
