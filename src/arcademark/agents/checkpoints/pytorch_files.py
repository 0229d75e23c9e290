"""Readers of PyTorch's files, alone and in Stable-Baselines3's archives, without running anything in them.

Pickled tensors are read by PyTorch's weights-only reader, which makes only tensors, plain containers, NumPy's numbers
and stand-ins for everything else (`pickled`). Serialised entries of Stable-Baselines3's settings, which are JSON, are
left out. Sizes are checked before anything is inflated or allocated.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from pickle import UnpicklingError
from typing import TYPE_CHECKING, Any

import numpy as np

from arcademark.agents.checkpoints.contents import (
    MAX_BYTES,
    MAX_ENTRIES,
    MAX_SETTINGS_BYTES,
    Contents,
    Format,
    checked_tensors,
    folders_of,
    leaves_of,
    mapping_of,
)
from arcademark.agents.checkpoints.pickled import (
    PICKLES_OLD,
    NumpyType,
    StandIn,
    UnboundedError,
    check_bounds,
    known,
    stand_ins,
)
from arcademark.errors import ArcadeMarkError
from arcademark.files import ZipArchive, parse_json, read_text
from arcademark.importing import described, said

if TYPE_CHECKING:
    from torch import Tensor

MAX_INFLATED = 64 * 2**20
"""Maximum inflated size of an archive with nested archives, in bytes, beyond `MAX_INFLATION` times its own size.
No trained network compresses so well, and most are not compressed."""
MAX_INFLATION = 4
OLD = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."
"""Start of PyTorch's files before 1.6: a pickled number."""
_SAMPLE_FACTORY = (b"env_steps", b"train_step")
"""Keys beside the model in a checkpoint of Sample-Factory."""
_NETWORKS: Mapping[str, Format] = {"policy.pth": "stable-baselines3", "module.pth": "state-dict"}
"""The file of the network in an archive that has settings too: Stable-Baselines3's, and our own of RLlib's modules."""
_ZIPS: Mapping[str, tuple[str, str]] = {
    r"archive_format|(.*/)?serialized_exported_program\.json": (
        "a program of torch.export",
        "save the network with torch.save(model.state_dict(), …), or export it as ONNX",
    ),
    r"\.data/extern_modules": ("a package of torch.package", "save the network with torch.save(model.state_dict(), …)"),
    r"(.*/)?saved_model\.pb": ("a SavedModel of TensorFlow", "export it as ONNX"),
    r"(.*/)?model\.weights\.h5": ("a model of Keras", "export it as ONNX"),
    r"parameter_list": ("a model of Stable Baselines 2, on TensorFlow", "export its network as ONNX"),
    r"(.*/)?rllib_checkpoint\.json": ("a packed checkpoint of RLlib", "unpack it and name its folder"),
    r"MAR-INF/.*": ("a model archive of TorchServe", "unpack it and name the file with the network"),
    r"[^/]+\.npy": ("an archive of NumPy's (.npz)", "save the tensors as safetensors, named as in the state dict"),
    r"word/document\.xml": ("a Word document", "name a checkpoint"),
    r"xl/workbook\.(xml|bin)": ("an Excel workbook", "name a checkpoint"),
    r"ppt/presentation\.xml": ("a PowerPoint file", "name a checkpoint"),
    r"mimetype": ("an OpenDocument file or an e-book", "name a checkpoint"),
    r"[^/]+\.dist-info/WHEEL": ("a package of Python (.whl)", "name a checkpoint"),
    r"AndroidManifest\.xml": ("an Android package", "name a checkpoint"),
    r"META-INF/MANIFEST\.MF": ("a Java archive", "name a checkpoint"),
}
"""Kinds of zip archives by the name of a file, at the top or in the only folder, and the remedy."""
TRUST = (
    "its author decides what that code does on this machine; if you trust its source, add --set trust=true, "
    "else have it saved as tensors alone (state dict, safetensors, ONNX)"
)


def read(data: bytes, path: Path, trust: bool, tensors_only: bool) -> Contents:
    """Read a zip archive, or a file of PyTorch's before 1.6; as `arcademark.agents.checkpoints.reading.read`."""
    if not data.startswith(OLD):
        most = min(MAX_BYTES, MAX_INFLATION * len(data) + MAX_INFLATED)
        archive = _archive(data, str(path), most)
        names = {*archive.names}
        for inner, kind in _NETWORKS.items():
            if inner in names and "data" in names:
                return _with_settings(archive, path, inner, kind, most)
        if _within(names) & {"constants.pkl"}:
            return _torchscript(data, path, trust)
    return _pytorch(data, path, trust and not tensors_only)


def _pytorch(data: bytes, path: Path, trust: bool) -> Contents:
    loaded = _load(data, str(path), trust)
    if callable(getattr(loaded, "state_dict", None)) and callable(loaded):
        if hasattr(loaded, "features_extractor_class"):
            tensors = checked_tensors(loaded.state_dict(), str(path))
            return Contents("stable-baselines3", tensors, _policy_settings(loaded, path))
        return Contents("module", module=loaded)
    read: Mapping[str, Any] = loaded if isinstance(loaded, Mapping) else {}
    if isinstance(read.get("model"), Mapping) and any(key.decode() in read for key in _SAMPLE_FACTORY):
        if any(isinstance(read.get(key.decode()), StandIn) for key in _SAMPLE_FACTORY):
            raise _pickled_error(data, str(path))
        config = settings_beside(data, path)
        settings = parse_json(read_text(config, MAX_SETTINGS_BYTES), config) if config is not None else {}
        of_training = {"env_steps": read.get("env_steps")}
        return Contents(
            "sample-factory", all_tensors(read["model"], data, str(path)), mapping_of(settings) | of_training
        )
    pickled = loaded if isinstance(loaded, StandIn) else None
    for policy, network in ((loaded, loaded), (read.get("data"), read.get("state_dict"))):
        if _attribute(policy, "features_extractor_class") is not None:
            return Contents("stable-baselines3", all_tensors(network, data, str(path)), _policy_settings(policy, path))
    tensors, folders = all_tensors(loaded, data, str(path)), folders_of(loaded, str(path))
    return Contents("state-dict", tensors, mapping_of(read.get("args")), pickled=pickled, folders=folders)


def _with_settings(archive: ZipArchive, path: Path, network: str, kind: Format, most: int) -> Contents:
    policy, written = archive.read(network), archive.read("data")
    try:
        settings = written.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ArcadeMarkError(f"{path}, its 'data': is not UTF-8 text ({error}); save the model again") from None
    read = parse_json(settings, f"{path}, its 'data'", "save the model again")
    if not isinstance(read, dict):
        raise ArcadeMarkError(f"{path}, its 'data': expected an object; save the model again")
    inner = f"{path}, its {network}"
    if policy.startswith(b"PK"):
        _archive(policy, inner, most - len(settings) - len(policy))
    tensors = all_tensors(_load(policy, inner), policy, inner)
    return Contents(kind, tensors, _plain(read))


def _plain(value: Any) -> Any:
    """Return a setting without its serialised form, which only running code could read."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items() if key != ":serialized:"}
    return value


def _policy_settings(policy: Any, path: Path) -> dict[str, Any]:
    """Return the settings of a Stable-Baselines3 policy, saved by its ``save`` or by PyTorch's."""
    observed, activation = _attribute(policy, "observation_space"), _attribute(policy, "activation_fn")
    try:
        return {
            "observation_space": {
                "_shape": [int(n) for n in _attribute(observed, "_shape")],
                "dtype": str(_attribute(observed, "dtype")),
            },
            "action_space": {"n": int(_attribute(_attribute(policy, "action_space"), "n", 0))},
            "policy_kwargs": {
                "features_extractor_class": _class_name(_attribute(policy, "features_extractor_class")),
                "normalize_images": _attribute(policy, "normalize_images", True),
                "activation_fn": None if activation is None else _class_name(activation),
                "squash_output": _attribute(policy, "_squash_output", _attribute(policy, "squash_output", False)),
                "clip_mean": _attribute(_attribute(policy, "actor"), "clip_mean", 0.0),
            },
        }
    except (AttributeError, TypeError, ValueError) as error:
        raise ArcadeMarkError(
            f"{path}: is a policy of Stable-Baselines3's that cannot be played ({said(str, error)}); save the model "
            "with model.save(…)"
        ) from None


def all_tensors(loaded: Any, data: bytes, place: str) -> dict[str, Tensor]:
    """Return every tensor in a file, except optimisers', by the path to it: "agent.network.0.weight"."""
    import torch

    tensors: dict[str, Tensor] = {}
    strange = False
    try:
        for name, value in leaves_of(loaded, place):
            strange |= isinstance(value, StandIn)
            if isinstance(value, torch.Tensor):
                tensors[name] = value
            if len(tensors) > MAX_ENTRIES:
                break
    except RecursionError:
        raise ArcadeMarkError(f"{place}: nested too deeply; save a plain state dict") from None
    if any(value.dim() > 1 for value in tensors.values()) or (tensors and not strange):
        return checked_tensors(tensors, place)
    if strange:
        raise _pickled_error(data, place)
    raise ArcadeMarkError(f"{place}: has {said(str, type(loaded).__name__)} without tensors; expected a state dict")


def _attribute(thing: Any, name: str, default: Any = None) -> Any:
    kept = thing.state if isinstance(thing, StandIn) else thing
    return kept.get(name, default) if isinstance(kept, Mapping) else getattr(kept, name, default)


def _class_name(value: Any) -> str:
    """Return the result of `str` for a class or its stand-in."""
    return f"<class '{value.kind}'>" if isinstance(value, type) and issubclass(value, StandIn) else str(value)


def settings_beside(data: bytes, path: Path) -> Path | None:
    """Return the ``config.json`` that Sample-Factory writes beside a checkpoint or its folder; None for others."""
    configs = (folder / "config.json" for folder in (path.parent, path.parent.parent))
    config = next((config for config in configs if config.is_file()), None)
    return config if config is not None and any(key in data for key in _SAMPLE_FACTORY) else None


def _torchscript(data: bytes, path: Path, trust: bool) -> Contents:
    if not trust:
        raise ArcadeMarkError(f"{path}: is a TorchScript program, which is code; {TRUST}")
    import torch

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # PyTorch's, of its own format
            return Contents("torchscript", module=torch.jit.load(io.BytesIO(data), map_location="cpu"))
    except Exception as error:
        raise ArcadeMarkError(f"{path}: loading it raised {described(error)}") from None


def _load(data: bytes, place: str, trust: bool = False) -> Any:
    """Load a PyTorch file: a zip archive or, in its old format, pickles that begin with a number of its own."""
    import torch

    if not data.startswith((b"PK", OLD)):
        raise ArcadeMarkError(f"{place}: is not a file of PyTorch's; save it with torch.save(model.state_dict(), …)")
    archive = _archive(data, place, MAX_BYTES) if data.startswith(b"PK") else None
    if archive is not None and "data.pkl" not in _within(archive.names):
        raise _other_zip({*archive.names}, place)
    allowed = _allowed(len(data))
    kinds: list[tuple[type[StandIn], str]] = []
    try:
        kinds = stand_ins(*_pickles(data, archive))
        if not trust:
            filled = check_bounds(*_pickles(data, archive))
            allowed |= {name: _container(kind) for name, kind in filled.items() if name not in _PYTORCHS}
    except UnboundedError as error:
        raise ArcadeMarkError(
            f"{place}: cannot be read, as {error}; save it with torch.save(model.state_dict(), …)"
        ) from None
    except Exception:  # damage, which PyTorch reports below
        pass
    safe = [*((kind, name) for name, kind in allowed.items()), *(one for one in kinds if one[1] not in allowed)]
    try:
        with torch.serialization.safe_globals(safe), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that the source of a module's class is not found
            return torch.load(io.BytesIO(data), map_location="cpu", weights_only=not trust)
    except UnpicklingError:
        if not trust:
            raise _pickled_error(data, place) from None
        raise ArcadeMarkError(f"{place}: is damaged; copy it again") from None
    except Exception as error:
        if trust and isinstance(error, AttributeError | ImportError):  # a class is missing, not its tensors
            return _load(data, place)
        what = described(error)
        if trust:
            raise ArcadeMarkError(
                f"{place}: loading it raised {what}; install what it was made with, or copy it again"
            ) from None
        healthy = archive is not None and archive.intact()
        remedy = "save it with torch.save(model.state_dict(), …)" if healthy else "it is damaged: copy it again"
        raise ArcadeMarkError(f"{place}: PyTorch cannot read it ({what}); {remedy}") from None


def _pickles(data: bytes, archive: ZipArchive | None) -> tuple[bytes, int]:
    """Return the bytes of the pickles in a PyTorch file, and their number."""
    if archive is None:
        return data, PICKLES_OLD
    return archive.read(next(name for name in archive.names if _within([name]) == {"data.pkl"})), 1


def _archive(data: bytes, place: str, most: int) -> ZipArchive:
    """Return an archive whose declared inflated size is at most `most` bytes; nothing is inflated."""
    archive = ZipArchive(data, place, "copy the checkpoint again")
    total = archive.inflated_bytes
    if total > most or len(archive.members) > MAX_ENTRIES:
        raise ArcadeMarkError(
            f"{place}: inflates to {total:,} bytes in {len(archive.members):,} files; at most {most:,} and "
            f"{MAX_ENTRIES:,} are read"
        )
    return archive


def _within(names: Iterable[str]) -> set[str]:
    """Return names without the folder that contains all of PyTorch's files."""
    return {name.partition("/")[2] for name in names}


def _other_zip(names: set[str], place: str) -> ArcadeMarkError:
    """Return the error of an archive that PyTorch did not write."""
    for pattern, (what, remedy) in _ZIPS.items():
        if any(re.fullmatch(pattern, name) for name in names | _within(names)):
            return ArcadeMarkError(f"{place}: is {what}, which is not a known kind of checkpoint; {remedy}")
    files = sorted(name for name in names if not name.endswith("/"))
    if not files:
        return ArcadeMarkError(f"{place}: is an empty zip archive; expected a checkpoint, so copy it again")
    return ArcadeMarkError(
        f"{place}: is a zip archive of {len(files):,} {'file' if len(files) == 1 else 'files'}, such as "
        f"{said(repr, files[0])}, and none of them is PyTorch's data.pkl; unpack it and name the checkpoint in it"
    )


def _pickled_error(data: bytes, place: str) -> ArcadeMarkError:
    """Return the error about a PyTorch file with other objects than tensors, with their names."""
    archive = _archive(data, place, MAX_BYTES) if data.startswith(b"PK") else None
    kinds: list[str] = []
    try:
        names = (name for _, name in stand_ins(*_pickles(data, archive)))
        kinds = [name for name in names if not name.startswith(("torch.", "collections.", "builtins."))]
        damaged = archive is not None and not archive.intact()
    except Exception:
        damaged = True
    what = "is damaged (copy it again), or " if damaged else ""
    named = f" ({', '.join(said(str, name) for name in kinds[:3])}{', …' if len(kinds) > 3 else ''})" if kinds else ""
    return ArcadeMarkError(
        f"{place}: {what}contains pickled objects beside tensors{named}, which cannot be read without running code; "
        f"{TRUST}"
    )


_PYTORCHS = ("collections.OrderedDict", "collections.Counter")
"""Containers that PyTorch reads itself."""


def _container(kind: type) -> type:
    """Return a class of which each object is a new plain container."""
    return type("Filled", (), {"__new__": lambda *_, **__: kind()})


def _allowed(size: int) -> dict[str, Any]:
    """Return NumPy's number types, which run nothing, and stand-ins for arrays in a file of `size` bytes.

    Sample-Factory's best score is such a number.
    """
    kinds = [np.dtype(code) for code in "?bBhHiIlLqQefd"]
    scalar = np._core.multiarray.scalar  # type: ignore[attr-defined]
    names = {f"numpy.{core}.multiarray.scalar": scalar for core in ("core", "_core")} | {"numpy.dtype": np.dtype}
    types = [*(type(kind) for kind in kinds), *(kind.type for kind in kinds)]
    of_numbers = {f"{kind.__module__}.{kind.__qualname__}": kind for kind in types}

    def number_type(code: Any, *_: Any) -> Any:
        """Return a type of numbers, or a stand-in for another type of NumPy's."""
        known = any(code in (kind.str[1:], kind.str) for kind in kinds)
        return np.dtype(code, False, True) if known else NumpyType(code)  # a copy, as its order is set

    return known(size) | names | {"numpy.dtype": number_type, "NumpyType": NumpyType} | of_numbers
