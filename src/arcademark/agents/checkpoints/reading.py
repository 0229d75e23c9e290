"""Reading of checkpoints, whose format is recognised by their content, without running anything in the file."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from arcademark.agents.checkpoints import pytorch_files
from arcademark.agents.checkpoints.contents import (
    MAX_ENTRIES,
    MAX_SETTINGS_BYTES,
    Contents,
    checked_tensors,
    folders_of,
    leaves_of,
    mapping_of,
)
from arcademark.agents.checkpoints.onnx_files import files_of, is_onnx
from arcademark.agents.checkpoints.pickled import load
from arcademark.errors import ArcadeMarkError
from arcademark.importing import described, said


def read(data: bytes, path: Path, trust: bool, tensors_only: bool = False) -> Contents:
    """Read a checkpoint.

    Parameters
    ----------
    data : bytes
        The whole file.
    path : Path
        For messages.
    trust : bool
        Whether code in the file may run, where it cannot be read otherwise.
    tensors_only : bool, optional
        Whether only the tensors of pickled modules are needed, for which no code runs.

    Raises
    ------
    ArcadeMarkError
        If its format is unknown, it is damaged or too large, or it can only be read by running code of its author.
    """
    if data.startswith((b"PK\x03\x04", b"PK\x05\x06", pytorch_files.OLD)):
        return pytorch_files.read(data, path, trust, tensors_only)
    if data[:1] == b"\x80":
        return _pickle(data, path)
    if data[8:9] == b"{" and int.from_bytes(data[:8], "little") <= len(data) - 8:
        return _safetensors(data, path)
    if is_onnx(data):
        return Contents("onnx")
    if data[:1] and 0x80 < data[0] <= 0x9F:
        return _flax(data, path)
    raise ArcadeMarkError(
        f"{path}: is not a known kind of checkpoint; expected one of Stable-Baselines3, CleanRL, Sample-Factory or "
        "RLlib, a state dict of PyTorch, safetensors, ONNX or TorchScript"
    )


def files_beside(data: bytes, path: Path) -> list[Path]:
    """Return a checkpoint's other files: ONNX's tensors, Sample-Factory's settings; errors as in `files_of`.

    They are part of its checksum, and are sent along with it.
    """
    if is_onnx(data):
        return files_of(data, path)
    return [config] if (config := pytorch_files.settings_beside(data, path)) is not None else []


def _safetensors(data: bytes, path: Path) -> Contents:
    """Read safetensors: a header of JSON with the position of each tensor, then the tensors."""
    length = int.from_bytes(data[:8], "little")
    if length > MAX_SETTINGS_BYTES:
        raise ArcadeMarkError(f"{path}: a header of {length:,} bytes; at most {MAX_SETTINGS_BYTES:,} are read")
    from safetensors.torch import load

    try:
        tensors = dict(sorted(checked_tensors(load(data), str(path)).items()))  # `load` gives no order
        if flax := any(re.search(r"[.,/]kernel$", name) for name in tensors):
            tensors = {re.sub("[,/]", ".", name): value for name, value in tensors.items()}
        return Contents("state-dict", tensors, {"library": "flax"} if flax else {}, ordered=False)
    except ArcadeMarkError:
        raise
    except Exception as error:
        raise ArcadeMarkError(f"{path}: damaged ({said(str, error)}); copy the checkpoint again") from None


def _flax(data: bytes, path: Path) -> Contents:
    """Read Flax's parameters, as of CleanRL's JAX agents: MessagePack with arrays as its extension 1."""
    import torch

    def array(code: int, content: memoryview) -> Any:
        if code != 1:
            return None
        shape, kind, raw = msgspec.msgpack.decode(bytes(content))
        if kind == "bfloat16":  # the upper half of float32
            return torch.frombuffer(bytearray(raw), dtype=torch.bfloat16).reshape(shape)
        if kind not in ("float32", "float16", "float64", "int32", "int64", "uint32", "uint8", "bool"):
            raise ValueError(f"an array of type {kind!r}")
        return torch.from_numpy(np.frombuffer(raw, np.dtype(kind)).reshape(shape).copy())

    try:
        read = msgspec.msgpack.decode(data, ext_hook=array)
    except Exception as error:  # of MessagePack, and of NumPy and PyTorch for arrays that are described wrongly
        raise ArcadeMarkError(
            f"{path}: is not a known kind of checkpoint, or damaged ({said(str, error)}); copy it again"
        ) from None
    settings = mapping_of(mapping_of(read).get("args", mapping_of(read).get("0")))
    return Contents("state-dict", pytorch_files.all_tensors(read, data, str(path)), settings | {"library": "flax"})


def _pickle(data: bytes, path: Path) -> Contents:
    """Read a pickle of arrays that PyTorch did not write: Flax's parameters, and checkpoints of Dopamine's agents."""
    import torch

    settings: dict[str, Any] = {}
    try:
        loaded = load(data)
        kept = mapping_of(loaded)
        if networks := {name: kept[name] for name in ("online_params", "network_params") if name in kept}:
            loaded = networks
            settings = {"algorithm": "dopamine", "total_timesteps": kept.get("training_steps")}
        leaves = leaves_of(loaded, str(path))
        named = (name for name, value in leaves if isinstance(value, torch.Tensor) and value.dim() > 1)
        arrays = [*itertools.islice(named, MAX_ENTRIES)]
    except ArcadeMarkError:
        raise
    except Exception as error:  # a malformed pickle may raise anything
        raise ArcadeMarkError(
            f"{path}: is a pickle that cannot be read ({described(error)}); copy it again, or "
            "save the network with flax.serialization.to_bytes(params)"
        ) from None
    if not arrays:
        raise ArcadeMarkError(
            f"{path}: is a pickle that PyTorch did not write, without known arrays of a network; save it with "
            "torch.save(model.state_dict(), …) or flax.serialization.to_bytes(params)"
        )
    if any(name.endswith(".kernel") for name in arrays):
        settings["library"] = "flax"
    return Contents(
        "state-dict",
        pytorch_files.all_tensors(loaded, data, str(path)),
        settings,
        folders=folders_of(loaded, str(path)),
    )
