"""Orbax's checkpoints, folders that JAX programs write: TensorStore reads their arrays, and nothing in them is run."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from arcademark.agents.checkpoints.contents import MAX_BYTES, MAX_ENTRIES, MAX_SETTINGS_BYTES, Contents, is_copy
from arcademark.errors import ArcadeMarkError
from arcademark.files import parse_json, read_text
from arcademark.importing import described, needing

_TREE = "_METADATA"


def orbax_root(folder: Path) -> Path | None:
    """Return the folder with the description of a checkpoint's tree: its own, or that of its only item with one.

    For a manager's folder it is that of the latest step. None if the folder holds no checkpoint.
    """
    if (folder / _TREE).is_file():
        return folder
    inner = [one for one in folder.iterdir() if one.is_dir()]
    if steps := [one for one in inner if one.name.isdecimal()]:
        return orbax_root(max(steps, key=lambda step: int(step.name)))
    found = [one for one in inner if (one / _TREE).is_file()]
    return found[0] if len(found) == 1 else None


def read_folder(folder: Path, place: str) -> Contents:
    """Read the arrays of a checkpoint, without those of optimisers and target networks.

    ArcadeMarkError if TensorStore is missing, it is damaged or too large, or an array's name leads out of its folder.
    """
    with needing(f"{place}: a checkpoint of Orbax needs TensorStore", "orbax"):
        import tensorstore
    import torch

    root = orbax_root(folder) or folder
    tree = parse_json(read_text(root / _TREE, MAX_SETTINGS_BYTES), root / _TREE, "save the checkpoint again")
    tensors, size = {}, 0
    try:
        entries = tree["tree_metadata"].values()
        names = [_name(entry) for entry in entries if not entry["value_metadata"]["skip_deserialize"]]
        names = [name for name in names if not is_copy(name)]
        if len(names) > MAX_ENTRIES:
            raise ValueError(f"{len(names):,} arrays; at most {MAX_ENTRIES:,} are read")
        for name in names:
            store = tensorstore.open(_spec(root, tree, name), open=True, read=True).result()
            chunk = store.chunk_layout.read_chunk.shape or ()
            size += max(math.prod(store.shape), math.prod(chunk)) * store.dtype.numpy_dtype.itemsize
            if size > MAX_BYTES:
                raise ValueError(f"its arrays have more than {MAX_BYTES:,} bytes, the most that is read")
            array = np.asarray(store.read().result())
            if array.dtype.name == "bfloat16":
                array = array.astype(np.float32)
            tensors[name] = torch.from_numpy(array.copy())
    except ArcadeMarkError:
        raise
    except Exception as error:  # of TensorStore, and of PyTorch for types that it has not
        raise ArcadeMarkError(
            f"{place}: cannot be read ({described(error)}); copy it again, or save it with Orbax again"
        ) from None
    if not tensors:
        raise ArcadeMarkError(f"{place}: contains no arrays; name the folder of a network's parameters")
    return Contents("state-dict", tensors, {"library": "flax"})


def _name(entry: Any) -> str:
    """Return an array's name, "params.Conv_0.kernel"."""
    name = ".".join(str(part["key"]) for part in entry["key_metadata"])
    if "/" in name or "\\" in name or ".." in name:
        raise ValueError(f"the name {name!r}")
    return name


def _spec(root: Path, tree: Any, name: str) -> dict[str, Any]:
    """Return TensorStore's specification of an array."""
    base = {"driver": "file", "path": f"{root.absolute()}/"}
    inner = {"driver": "ocdbt", "base": base, "path": f"{name}/"}
    within = inner if tree.get("use_ocdbt", True) else {"driver": "file", "path": f"{root.absolute()}/{name}/"}
    return {"driver": "zarr3" if tree.get("use_zarr3") else "zarr", "kvstore": within}
