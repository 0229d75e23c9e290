"""What a checkpoint holds: tensors and plain settings, read without running anything in the file.

A format is recognised by its content. Pickled tensors go through PyTorch's weights-only reader, which makes nothing but
tensors, plain containers and the types of `_ALLOWED`; Stable-Baselines3's settings are read as JSON, without their
serialised entries. Sizes are checked before anything is inflated or allocated.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec
import numpy as np

from arcademark.agents.checkpoints.onnx_files import files_of, is_onnx
from arcademark.errors import ArcadeMarkError
from arcademark.files import ZipArchive, parse_json, read_text
from arcademark.importing import said
from arcademark.suite.settings import MAX_FRAMES

if TYPE_CHECKING:
    from torch import Tensor

Format = Literal["stable-baselines3", "sample-factory", "state-dict", "onnx", "torchscript", "module"]

MAX_BYTES = 2 * 2**30
"""Of a checkpoint's file, of what it inflates to, and of its tensors."""
MAX_INFLATED = 64 * 2**20
"""Bytes that an archive with its nested archives inflates to, beyond `MAX_INFLATION` times its own size: no trained
network packs so well, and most are not packed at all."""
MAX_INFLATION = 4
MAX_SETTINGS_BYTES = 64 * 2**20
"""Of Stable-Baselines3's settings."""
MAX_ENTRIES = 100_000
"""Files in an archive, and tensors."""
_OLD = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."
"""How files of PyTorch's before 1.6 begin: a pickled number."""
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
"""What a zip archive is that has a file of such a name, at the top or in its only folder, and what to do about it."""

TRUST = (
    "whoever wrote the file decides what that does on this machine; if you trust its source, add --set trust=true, "
    "else have it saved as tensors alone (state dict, safetensors, ONNX)"
)


@dataclass(frozen=True)
class Contents:
    """What was read.

    Parameters
    ----------
    format : str
    tensors : mapping of str to torch.Tensor
        By the names that the library gave them.
    settings : mapping of str to JSON value
        What the file says of how it was trained, by the library's own names.
    module : object
        Of "module" and "torchscript": what was loaded; else None.
    """

    format: Format
    tensors: Mapping[str, Tensor] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    module: Any = None

    def trained_frames(self, frame_skip: int) -> int | None:
        """Return for how many emulated frames it was trained, as the file says; None where it does not, or cannot be.

        Stable-Baselines3 (``num_timesteps``) and CleanRL's arguments (``total_timesteps``) count steps of the agent, of
        `frame_skip` frames each; Sample-Factory frames (``env_steps``), or steps with ``summaries_use_frameskip=False``
        (``algo/learning/learner.py``).
        """
        counts = {"stable-baselines3": "num_timesteps", "sample-factory": "env_steps"}
        steps = self.settings.get(counts.get(self.format, "total_timesteps"))
        if type(steps) is not int or steps <= 0:
            return None
        of_frames = self.format == "sample-factory" and self.settings.get("summaries_use_frameskip", True)
        frames = steps if of_frames else steps * frame_skip
        return frames if frames <= MAX_FRAMES else None


def read(data: bytes, path: Path, trust: bool) -> Contents:
    """Read a checkpoint.

    Parameters
    ----------
    data : bytes
        The whole file.
    path : Path
        For messages.
    trust : bool
        Whether code in the file may run, where it cannot be read otherwise.

    Raises
    ------
    ArcadeMarkError
        If its format is unknown, it is damaged or too large, or it can only be read by running code of its author.
    """
    if data.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        most = min(MAX_BYTES, MAX_INFLATION * len(data) + MAX_INFLATED)
        archive = _archive(data, str(path), most)
        names = {*archive.names}
        for inner, kind in _NETWORKS.items():
            if inner in names and "data" in names:
                return _with_settings(archive, path, inner, kind, most)
        if _within(names) & {"constants.pkl"}:
            return _torchscript(data, path, trust)
        return _pytorch(data, path, trust)
    if data[:1] == b"\x80":
        return _pytorch(data, path, trust)
    if data[8:9] == b"{" and int.from_bytes(data[:8], "little") <= len(data) - 8:
        return _safetensors(data, path)
    if is_onnx(data):
        return Contents("onnx")
    if data[:1] and 0x80 < data[0] <= 0x9F:
        return _flax(data, path)
    raise ArcadeMarkError(
        f"{path}: is no checkpoint that is known; expected one of Stable-Baselines3, CleanRL, Sample-Factory or RLlib, "
        "a state dict of PyTorch, safetensors, ONNX or TorchScript"
    )


def _archive(data: bytes, place: str, most: int) -> ZipArchive:
    """Return an archive that says to inflate to at most `most` bytes in all; nothing is inflated."""
    archive = ZipArchive(data, place, "copy the checkpoint again")
    total = archive.inflated_bytes
    if total > most or len(archive.members) > MAX_ENTRIES:
        raise ArcadeMarkError(
            f"{place}: inflates to {total:,} bytes in {len(archive.members):,} files; at most {most:,} and "
            f"{MAX_ENTRIES:,} are read"
        )
    return archive


def _within(names: Iterable[str]) -> set[str]:
    """Return names without the folder that PyTorch puts all of its files into."""
    return {name.partition("/")[2] for name in names}


def _other_zip(names: set[str], place: str) -> ArcadeMarkError:
    """Say what an archive is that PyTorch did not write."""
    for pattern, (what, remedy) in _ZIPS.items():
        if any(re.fullmatch(pattern, name) for name in names | _within(names)):
            return ArcadeMarkError(f"{place}: is {what}, which is no checkpoint that is known; {remedy}")
    files = sorted(name for name in names if not name.endswith("/"))
    if not files:
        return ArcadeMarkError(f"{place}: is an empty zip archive; expected a checkpoint, so copy it again")
    return ArcadeMarkError(
        f"{place}: is a zip archive of {len(files):,} {'file' if len(files) == 1 else 'files'}, such as "
        f"{said(repr, files[0])}, and none of them is PyTorch's data.pkl; unpack it and name the checkpoint in it"
    )


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
    tensors = _tensors(_load(policy, inner), inner)
    return Contents(kind, tensors, _plain(read))


def _plain(value: Any) -> Any:
    """Return a setting without its serialised form, which only running code could read."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items() if key != ":serialized:"}
    return value


def _pytorch(data: bytes, path: Path, trust: bool) -> Contents:
    loaded = _load(data, str(path), trust)
    if callable(getattr(loaded, "state_dict", None)) and callable(loaded):
        if hasattr(loaded, "features_extractor_class"):
            return _policy(loaded, path)
        return Contents("module", module=loaded)
    if not isinstance(loaded, Mapping):
        raise ArcadeMarkError(f"{path}: holds {said(repr, type(loaded).__name__)}; expected a state dict")
    if isinstance(loaded.get("model"), Mapping) and any(key.decode() in loaded for key in _SAMPLE_FACTORY):
        config = _settings_beside(data, path)
        settings = parse_json(read_text(config, MAX_SETTINGS_BYTES), config) if config is not None else {}
        of_training = {"env_steps": loaded.get("env_steps")}
        return Contents("sample-factory", _tensors(loaded["model"], str(path)), _mapping(settings) | of_training)
    for name in ("model_weights", "model_state_dict", "state_dict", "model"):
        if isinstance(loaded.get(name), Mapping):
            tensors = _tensors(loaded[name], f"{path}, its '{name}'")
            return Contents("state-dict", tensors, _mapping(loaded.get("args")))
    return Contents("state-dict", _tensors(loaded, str(path)))


def _mapping(value: Any) -> dict[str, Any]:
    return dict(value) if isinstance(value, Mapping) else {}


def _policy(policy: Any, path: Path) -> Contents:
    """Take a whole policy of Stable-Baselines3, ``torch.save(model.policy, …)``, for its tensors and settings."""
    try:
        settings = {
            "observation_space": {
                "_shape": list(policy.observation_space.shape),
                "dtype": str(policy.observation_space.dtype),
            },
            "action_space": {"n": int(getattr(policy.action_space, "n", 0))},
            "policy_kwargs": {
                "features_extractor_class": str(policy.features_extractor_class),
                "normalize_images": policy.normalize_images,
                "activation_fn": str(policy.activation_fn) if hasattr(policy, "activation_fn") else None,
                "squash_output": policy.squash_output,
                "clip_mean": getattr(getattr(policy, "actor", None), "clip_mean", 0.0),
            },
        }
        return Contents("stable-baselines3", _tensors(policy.state_dict(), str(path)), settings)
    except (AttributeError, TypeError, ValueError) as error:
        raise ArcadeMarkError(
            f"{path}: is a policy of Stable-Baselines3's that cannot be played ({said(str, error)}); save the model "
            "with model.save(…)"
        ) from None


def files_beside(data: bytes, path: Path) -> list[Path]:
    """Return the files that a checkpoint is read with: ONNX's tensors, Sample-Factory's settings; errors of the former.

    They are part of it: of its checksum, and wherever it goes.
    """
    if is_onnx(data):
        return files_of(data, path)
    return [config] if (config := _settings_beside(data, path)) is not None else []


def _settings_beside(data: bytes, path: Path) -> Path | None:
    """Return the ``config.json`` that Sample-Factory writes beside a checkpoint or its folder, if it is one of its."""
    configs = (folder / "config.json" for folder in (path.parent, path.parent.parent))
    config = next((config for config in configs if config.is_file()), None)
    return config if config is not None and any(key in data for key in _SAMPLE_FACTORY) else None


def _load(data: bytes, place: str, trust: bool = False) -> Any:
    """Load what PyTorch saved, a zip archive or, in its old format, pickles that begin with a number of its own."""
    import torch

    if not data.startswith((b"PK", _OLD)):
        what = "a pickle, but none of PyTorch's" if data[:1] == b"\x80" else "no file of PyTorch's"
        raise ArcadeMarkError(f"{place}: is {what}; save it with torch.save(model.state_dict(), …)")
    archive = _archive(data, place, MAX_BYTES) if data.startswith(b"PK") else None
    if archive is not None and "data.pkl" not in _within(archive.names):
        raise _other_zip({*archive.names}, place)
    try:
        with torch.serialization.safe_globals(_allowed()):
            return torch.load(io.BytesIO(data), map_location="cpu", weights_only=not trust)
    except Exception as error:
        if trust:
            raise ArcadeMarkError(
                f"{place}: loading it raised {type(error).__name__}: {said(str, error)}; install what it was made "
                "with, or copy it again"
            ) from None
        pickled = "holds pickled objects beside tensors, which cannot be read without running code; "
        damaged = "" if archive is not None and archive.intact() else "is damaged (copy it again), or "
        raise ArcadeMarkError(f"{place}: {damaged}{pickled}{TRUST}") from None


def _allowed() -> list[Any]:
    """Return NumPy's numbers, as Sample-Factory keeps its best score: made of a type and bytes, they run nothing."""
    kinds = [np.dtype(name) for name in ("float32", "float64", "int32", "int64")]
    scalar = np._core.multiarray.scalar  # type: ignore[attr-defined]
    names = [scalar, (scalar, "numpy.core.multiarray.scalar"), np.dtype]
    return [*names, *(type(kind) for kind in kinds), *(kind.type for kind in kinds)]


def _torchscript(data: bytes, path: Path, trust: bool) -> Contents:
    if not trust:
        raise ArcadeMarkError(f"{path}: is a TorchScript program, which is code; {TRUST}")
    import torch

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # PyTorch's, of its own format
            return Contents("torchscript", module=torch.jit.load(io.BytesIO(data), map_location="cpu"))
    except Exception as error:
        raise ArcadeMarkError(f"{path}: loading it raised {type(error).__name__}: {said(str, error)}") from None


def _safetensors(data: bytes, path: Path) -> Contents:
    """Read safetensors: a header of JSON that says where each tensor lies, then the tensors."""
    length = int.from_bytes(data[:8], "little")
    if length > MAX_SETTINGS_BYTES:
        raise ArcadeMarkError(f"{path}: a header of {length:,} bytes; at most {MAX_SETTINGS_BYTES:,} are read")
    from safetensors.torch import load

    try:
        return Contents("state-dict", _tensors(load(data), str(path)))
    except ArcadeMarkError:
        raise
    except Exception as error:
        raise ArcadeMarkError(f"{path}: damaged ({said(str, error)}); copy the checkpoint again") from None


def _flax(data: bytes, path: Path) -> Contents:
    """Read parameters as Flax writes them: MessagePack with arrays as its extension 1, as CleanRL's JAX agents are."""
    import torch

    def array(code: int, content: memoryview) -> Any:
        if code != 1:
            return None
        shape, kind, raw = msgspec.msgpack.decode(bytes(content))
        if kind not in ("float32", "float16", "float64", "int32", "int64", "uint8"):
            raise ValueError(f"an array of type {kind!r}")
        return np.frombuffer(raw, np.dtype(kind)).reshape(shape)

    try:
        read = msgspec.msgpack.decode(data, ext_hook=array)
        arrays = ((name, value) for name, value in _leaves(read) if isinstance(value, np.ndarray))
        tensors = {name: torch.from_numpy(array.copy()) for name, array in arrays}
    except Exception as error:  # of MessagePack, and of NumPy and PyTorch where what it says of an array is not so
        raise ArcadeMarkError(
            f"{path}: is no checkpoint that is known, or damaged ({said(str, error)}); copy it again"
        ) from None
    settings = _mapping(_mapping(read).get("args", _mapping(read).get("0")))
    return Contents("state-dict", _tensors(tensors, str(path)), settings | {"library": "flax"})


def _leaves(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Yield what nested mappings and lists hold, by the path to it, "params/Conv_0/kernel"."""
    if isinstance(value, Mapping | list):
        for key, item in value.items() if isinstance(value, Mapping) else enumerate(value):
            yield from _leaves(item, f"{name}/{key}" if name else str(key))
    else:
        yield name, value


def _tensors(state: Any, place: str) -> dict[str, Tensor]:
    """Check that there are only tensors, whose numbers are all in the file."""
    import torch

    if not isinstance(state, Mapping) or not state:
        raise ArcadeMarkError(f"{place}: holds no tensors; expected a state dict")
    if len(state) > MAX_ENTRIES:
        raise ArcadeMarkError(f"{place}: {len(state):,} tensors; at most {MAX_ENTRIES:,} are read")
    for name, value in state.items():
        if not isinstance(name, str) or not isinstance(value, torch.Tensor):
            wrong = f"is {said(str, type(value).__name__)}; expected a state dict, of tensors alone"
        elif value.layout != torch.strided or value.is_meta or value.is_quantized or value.is_complex():
            wrong = "is no plain tensor of real numbers; save a plain state dict"
        elif value.numel() * value.element_size() > value.untyped_storage().nbytes():
            wrong = f"claims shape {tuple(value.shape)}, of more numbers than the file holds; save the model again"
        else:
            continue
        raise ArcadeMarkError(f"{place}: '{said(str, name)}' {wrong}")
    return {name: value.detach() for name, value in state.items()}
