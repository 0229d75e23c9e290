"""Networks computed by their own library: ONNX, TorchScript and other modules, RLlib's."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from threading import Timer
from typing import Any, Literal, get_args

import numpy as np
import torch
from torch import Tensor, nn

from arcademark.agents.checkpoints.networks import PlayedNetwork, State, refuse_unused
from arcademark.errors import ArcadeMarkError
from arcademark.importing import described, needing, said

_UNSCALED = (
    "its network takes observations as they are, with values from 0 to 255; if it was trained on scaled ones, add "
    "--set scale=255"
)


class Module(PlayedNetwork):
    """A user's module, from observations divided by `scale` to a number per action.

    Parameters
    ----------
    module : callable
        Maps a float tensor of observations to one of shape (rows, actions), or to a tuple that begins with one.
    scale : float or None
        None: 1, which `assumed` notes.
    """

    draws = None
    stochastic: bool | None = None

    def __init__(self, module: Any, scale: float | None, place: str) -> None:
        super().__init__()
        self.module, self.scale, self.place = module, scale or 1.0, place
        self.assumed = _UNSCALED if scale is None else ""
        weights = module.parameters() if isinstance(module, nn.Module) else ()
        self._kind = next((one.dtype for one in weights if one.is_floating_point()), torch.float32)
        if callable(getattr(module, "eval", None)):
            module.eval()

    def forward(self, observations: Tensor, state: State) -> tuple[Tensor, State]:
        """Return the module's outputs, shape (rows, actions), and the unchanged memory."""
        observations = observations if self.scale == 1 else observations / self.scale
        answer = self.module(observations.to(self._kind))
        answer = answer[0] if isinstance(answer, tuple | list) and answer else answer
        if not isinstance(answer, Tensor) or answer.dim() != 2 or len(answer) != len(observations):
            what = tuple(answer.shape) if isinstance(answer, Tensor) else said(str, type(answer).__name__)
            raise ArcadeMarkError(f"its network returned {what}; expected a number for each action, (rows, actions)")
        if answer.is_complex():
            raise ArcadeMarkError("its network returned complex numbers; expected a real number for each action")
        return answer.float(), state


MAX_SECONDS = 60.0
"""Limit of an ONNX model's first answer, checked between its operators."""
MAX_WORKING_BYTES = 2**30
"""Working memory of a process's ONNX models; networks of the review's algorithms need some 10 MB."""


@cache
def _bound_memory() -> None:
    """Limit onnxruntime's memory, once per process: larger requests fail at once."""
    import onnxruntime as ort

    memory = ort.OrtMemoryInfo("Cpu", ort.OrtAllocatorType.ORT_ARENA_ALLOCATOR, 0, ort.OrtMemType.DEFAULT)
    ort.create_and_register_allocator(memory, ort.OrtArenaCfg({"max_mem": MAX_WORKING_BYTES}))


class Onnx(Module):
    """An ONNX model with one input of observations; its first output has a number for each action."""

    uses_gpu = False

    def __init__(self, data: bytes, scale: float | None, place: str) -> None:
        import onnxruntime

        _bound_memory()
        settings = onnxruntime.SessionOptions()
        settings.add_session_config_entry("session.use_env_allocators", "1")
        settings.intra_op_num_threads = settings.inter_op_num_threads = 1
        settings.log_severity_level = 4
        try:
            session = onnxruntime.InferenceSession(data, settings, providers=["CPUExecutionProvider"])
        except Exception as error:
            raise ArcadeMarkError(f"{place}: cannot be read as ONNX ({said(str, error)}); export it again") from None
        given = session.get_inputs()
        if len(given) != 1:
            names = ", ".join(repr(said(str, i.name)) for i in given)
            raise ArcadeMarkError(f"{place}: has {len(given)} inputs ({names}); expected one, of observations")
        kind = {"tensor(uint8)": np.uint8, "tensor(float)": np.float32, "tensor(double)": np.float64}.get(given[0].type)
        if kind is None:
            raise ArcadeMarkError(f"{place}: takes {said(str, given[0].type)}; expected observations, uint8 or float")
        if kind is np.uint8:
            refuse_unused(place, "its input is of whole numbers, which it scales itself", scale=scale)
            scale = 1.0
        rows, *shape = given[0].shape
        options = onnxruntime.RunOptions()
        limit = Timer(MAX_SECONDS, setattr, (options, "terminate", True))
        limit.daemon = True

        def run(observations: Tensor) -> Tensor:
            array = observations.cpu().numpy().astype(kind)
            parts = [array] if not isinstance(rows, int) else np.split(array, range(rows, len(array), rows))
            if limit.ident is None:
                limit.start()
            try:
                answers = [session.run(None, {given[0].name: part}, options)[0] for part in parts]
            except Exception as error:
                raise ArcadeMarkError(
                    f"onnxruntime cannot run its network, of which an answer takes at most {MAX_SECONDS:g} s and "
                    f"{MAX_WORKING_BYTES:,} bytes ({said(str, error)}); export it again"
                ) from None
            finally:
                limit.cancel()  # without loops, every answer takes as long
            return torch.from_numpy(np.concatenate(answers))

        super().__init__(run, scale, place)
        if shape and all(isinstance(n, int) for n in shape):
            self.shape = tuple(shape)
        actions = session.get_outputs()[0].shape[-1:]
        self.num_actions = actions[0] if actions and isinstance(actions[0], int) else None


_CONNECTORS = (
    *("AddObservationsFromEpisodesToBatch", "AddStatesFromEpisodesToBatch", "AddTimeDimToBatchAndZeroPad"),
    *("AgentToModuleMapping", "BatchIndividualItems", "NumpyToTensor", "FrameStacking"),
)
"""RLlib's connectors that make a batch of unchanged observations, and the one that stacks them."""


class Rllib(Module):
    """The module of an RLlib checkpoint, restored by RLlib, which runs what is pickled in it (RLlib 2.40 and later).

    Observations are scaled to the module's space: -1 to 1, as by ``wrap_atari_for_new_api_stack``, 0 to 1, or
    unchanged, divided by `scale`; screens are stacked in the last axis.
    """

    def __init__(self, folder: Path, scale: float | None, place: str) -> None:
        with needing(f"{place}: needs RLlib", "rllib"):
            import tree
            from ray.rllib.connectors.common.frame_stacking import FrameStacking
            from ray.rllib.connectors.connector_pipeline_v2 import ConnectorPipelineV2
            from ray.rllib.core.rl_module import RLModule
        pipeline = folder / "env_runner" / "env_to_module_connector"
        try:
            module = RLModule.from_checkpoint(str(_rl_module(folder, place).absolute()))
            connectors = ConnectorPipelineV2.from_checkpoint(str(pipeline.absolute())) if pipeline.is_dir() else ()
            space, actions = module.observation_space, int(module.action_space.n)
            low, high, shape = float(space.low.min()), float(space.high.max()), tuple(space.shape)
            start = {} if not module.is_stateful() else module.get_initial_state()
        except ArcadeMarkError:
            raise
        except Exception as error:
            raise ArcadeMarkError(f"{place}: RLlib refused it ({described(error)})") from None
        unknown = [name for one in connectors if (name := type(one).__name__) not in _CONNECTORS]
        if unknown:
            raise ArcadeMarkError(
                f"{place}: its connector {said(str, unknown[0])} may change observations in an unknown way; write an "
                "agent that plays it"
            )
        super().__init__(module, scale or 1.0, place)
        self.num_actions, self._tree, self._start = actions, tree, start
        self.stochastic = not hasattr(module, "compute_q_values")
        self.fire_reset = True  # as its wrappers do
        if known_scale := {(-1.0, 1.0): (1.0, 128.0), (0.0, 1.0): (0.0, 255.0)}.get((low, high)):
            refuse_unused(place, f"its module takes observations from {low:g} to {high:g}", scale=scale)
        self._shift, self.scale = known_scale or (0.0, self.scale)
        self._last = len(shape) == 3
        self.shape = (shape[2], *shape[:2]) if self._last else shape
        if any(isinstance(one, FrameStacking) for one in connectors):
            self.blank = round(self._shift * self.scale)  # its fill value is 0 after scaling

    def start(self, rows: int) -> State:
        """Return the memory with which episodes begin, tensors of shape (1, rows, ...)."""
        parts = [torch.as_tensor(part) for part in self._tree.flatten(self._start)]
        if any(part.any() for part in parts):
            raise ArcadeMarkError(f"{self.place}: its memory does not begin with zeros; write an agent that plays it")
        return tuple(part.expand(1, rows, *part.shape).clone() for part in parts)

    def forward(self, observations: Tensor, state: State) -> tuple[Tensor, State]:
        """Return the module's outputs, shape (rows, actions), and the new memory."""
        scaled = observations / self.scale - self._shift
        batch: dict[str, Any] = {"obs": scaled.permute(0, 2, 3, 1).contiguous() if self._last else scaled}
        if state:  # one step of each row's sequence
            batch["obs"] = batch["obs"].unsqueeze(1)
            batch["state_in"] = self._tree.unflatten_as(self._start, [part[0] for part in state])
        answer = self.module.forward_inference(batch) if self.stochastic else self.module.compute_q_values(batch)
        values = answer.get("action_dist_inputs" if self.stochastic else "qf_preds")
        if not isinstance(values, Tensor):
            raise ArcadeMarkError("its module has no output per action; write an agent that plays it")
        if state:
            values = values.squeeze(1)
            state = tuple(part.unsqueeze(0) for part in self._tree.flatten(answer["state_out"]))
        return values, state


def _rl_module(folder: Path, place: str) -> Path:
    """Return the folder of an algorithm's only module, or of a module's own checkpoint."""
    modules = folder / "learner_group" / "learner" / "rl_module"
    if not modules.is_dir():
        return folder
    kept = sorted(one for one in modules.iterdir() if one.is_dir())
    if len(kept) != 1:
        names = ", ".join(repr(said(str, one.name)) for one in kept)
        raise ArcadeMarkError(f"{place}: contains {len(kept)} modules ({names}); name the folder of one, in {modules}")
    return kept[0]


DreamerSize = Literal["nano", "micro", "mini", "XXS", "XS", "S", "M", "L", "XL"]

MAX_UNITS = 2**16
"""Maximum side of observations, and maximum number of actions, of a network made of settings alone."""


def import_dreamer(place: str) -> None:
    """Import RLlib's DreamerV3 without the warnings of the game that it makes; ArcadeMarkError: RLlib is missing."""
    with warnings.catch_warnings(action="ignore"), needing(f"{place}: needs RLlib", "rllib"):
        import ray.rllib.algorithms.dreamerv3  # noqa: F401


class Dreamer(PlayedNetwork):
    """DreamerV3's network in RLlib, without its parts for training; it acts on the world model's likeliest state.

    Its memory is that state (h, z), the previous action, and whether the episode had begun.
    """

    def __init__(self, tensors: Mapping[str, Tensor], settings: Mapping[str, Any], place: str) -> None:
        super().__init__()
        import_dreamer(place)
        from gymnasium.spaces import Box, Discrete
        from ray.rllib.algorithms.dreamerv3.dreamerv3_catalog import DreamerV3Catalog
        from ray.rllib.algorithms.dreamerv3.torch.dreamerv3_torch_rl_module import DreamerV3TorchRLModule

        self.shape = tuple(int(n) for n in settings["observation_space"]["_shape"])
        self.num_actions, size = int(settings["action_space"]["n"]), settings["model_size"]
        if size not in get_args(DreamerSize) or max((*self.shape, self.num_actions)) > MAX_UNITS:
            raise ValueError(f"size {size}, observations {self.shape}, {self.num_actions} actions")
        model = DreamerV3TorchRLModule(
            observation_space=Box(0, 255, self.shape, np.uint8),
            action_space=Discrete(self.num_actions),
            model_config={"model_size": size, "batch_length_T": 1, "symlog_obs": "auto"},
            catalog_class=DreamerV3Catalog,
        ).dreamer_model
        model.load_state_dict(dict(tensors))
        self.world, self.actor = model.world_model, model.actor

    def start(self, rows: int) -> State:
        """Return empty memory, tensors of shape (1, rows, ...)."""
        layer = self.world.posterior_representation_layer
        z = (layer.num_categoricals, layer.num_classes_per_categorical)
        return tuple(
            torch.zeros(1, rows, *shape) for shape in ((self.world.num_gru_units,), z, (self.num_actions,), (1,))
        )

    def forward(self, observations: Tensor, state: State) -> tuple[Tensor, State]:
        """Return the logits of actions, and the memory without the action to be taken."""
        h, z, action, going = (part[0] for part in state)
        begin = self.world.get_initial_state()
        h = torch.where(going > 0, h, begin["h"])
        z = torch.where(going[..., None] > 0, z, begin["z"].float())
        h = self.world.sequence_model(a=action, h=h, z=z)
        seen = self.world.encoder(self._scaled(observations))
        features = self.world.posterior_mlp(torch.cat([seen, h], dim=-1))
        _, chances = self.world.posterior_representation_layer(features, return_z_probs=True)
        z = nn.functional.one_hot(chances.argmax(-1), chances.shape[-1]).float()
        _, logits = self.actor(h=h, z=z, return_distr_params=True)
        return logits, tuple(part[None] for part in (h, z, torch.zeros_like(action), torch.ones_like(going)))

    def take(self, actions: Tensor, state: State) -> None:
        """Store the actions taken in the first rows."""
        state[2][0, torch.arange(len(actions)), actions] = 1

    def _scaled(self, observations: Tensor) -> Tensor:
        """Return screens scaled to -1 to 1, as in training; other observations as symmetric logarithms."""
        if not self.world.symlog_obs:
            return observations / 128.0 - 1.0
        return torch.sign(observations) * torch.log(torch.abs(observations) + 1)
