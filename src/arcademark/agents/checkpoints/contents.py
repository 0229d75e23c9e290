"""Contents of checkpoints: tensors by their names, and plain settings.

Tensors are searched for in nested containers, whose sizes, names and depth are limited as the file is not trusted.
"""

from __future__ import annotations

import itertools
import re
import reprlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from arcademark.agents.checkpoints.pickled import StandIn
from arcademark.errors import ArcadeMarkError, UnknownNameError
from arcademark.importing import said
from arcademark.suite.settings import MAX_FRAMES

if TYPE_CHECKING:
    from torch import Tensor

Format = Literal["stable-baselines3", "sample-factory", "state-dict", "onnx", "torchscript", "module", "rllib"]
MAX_BYTES = 2 * 2**30
"""Maximum size of a checkpoint's file, compressed or not, and of all its tensors."""
MAX_ITEMS = 2_000_000
"""Maximum number of values of a file that are searched for tensors."""
MAX_ENTRIES = 100_000
"""Maximum number of files in an archive, and of tensors."""
MAX_NAME_CHARS = 1_000
"""Maximum length of a path within a file: paths repeat keys that the file contains once."""
MAX_SETTINGS_BYTES = 64 * 2**20
"""Maximum size of Stable-Baselines3's settings."""


@dataclass(frozen=True)
class Contents:
    """Contents of a checkpoint.

    Parameters
    ----------
    format : str
    tensors : mapping of str to torch.Tensor
        Tensors by the library's names.
    settings : mapping of str to JSON value
        Settings of the training in the file, by the library's names.
    module : object
        The loaded object of "module" and "torchscript", the whole model of "onnx", the folder of "rllib"; else None.
    pickled : StandIn or None
        Stand-in for a pickled module that was not loaded.
    folders : frozenset of str
        Prefixes of tensors' names under which a file keeps independent objects: "" for ``{"agent": …, "args": …}``.
    ordered : bool
        Whether the tensors are in the order of the network's layers, as far as its file shows.
    """

    format: Format
    tensors: Mapping[str, Tensor] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    module: Any = None
    pickled: StandIn | None = None
    folders: frozenset[str] = frozenset()
    ordered: bool = True

    def part(self, key: str, place: str) -> Contents:
        """Return the tensors whose names begin with `key`, without it: one of the networks in a file.

        UnknownNameError: there are none; the error lists the first parts of names.
        """
        if not key:
            return self
        for tensors in (self.tensors, plain_names(self.tensors)):
            start = f"{key}."
            if part := {name[len(start) :]: value for name, value in tensors.items() if name.startswith(start)}:
                folders = (folder[len(key) :].lstrip(".") for folder in self.folders if f"{folder}.".startswith(start))
                return replace(self, tensors=part, folders=frozenset(folders))
        parts = {name.partition(".")[0] for name in self.tensors if "." in name}
        if not parts:
            raise ArcadeMarkError(f"{place}: --set key={said(str, key)}: its tensors are of one network; leave it out")
        raise UnknownNameError(f"part of {place}:", key, sorted(parts))

    def trained_frames(self, frame_skip: int) -> int | None:
        """Return the emulated frames of its training, by the file; None if they are not given, or out of range.

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


_WRAPPERS = ("module", "_orig_mod")
"""Parts of tensors' names that wrappers add: `DistributedDataParallel` and others, and `torch.compile`."""
_COPY = re.compile(r"(?:^|_)(?:target|targ|old|lagged|opt|optim|optimizer|opt_state)(?:_|$)", re.IGNORECASE)


def is_copy(name: str) -> bool:
    """Return True if a tensor belongs to a copy of the network, or to an optimiser, by its name."""
    return any(_COPY.search(part) for part in name.split("."))


def plain_names(tensors: Mapping[str, Any]) -> dict[str, Any]:
    """Return tensors by their names without wrappers' prefixes; unchanged if two names would coincide."""
    plain = {
        ".".join([*(part for part in parts[:-1] if part not in _WRAPPERS), parts[-1]]): value
        for name, value in tensors.items()
        for parts in [name.split(".")]
    }
    return plain if len(plain) == len(tensors) else dict(tensors)


def checked_tensors(state: Any, place: str) -> dict[str, Tensor]:
    """Check that there are only tensors, whose numbers are all in the file."""
    import torch

    if not isinstance(state, Mapping) or not state:
        raise ArcadeMarkError(f"{place}: contains no tensors; expected a state dict")
    if len(state) > MAX_ENTRIES:
        raise ArcadeMarkError(f"{place}: {len(state):,} tensors; at most {MAX_ENTRIES:,} are read")
    for name, value in state.items():
        if not isinstance(name, str) or not isinstance(value, torch.Tensor):
            wrong = f"is {said(str, type(value).__name__)}; expected a state dict, of tensors alone"
        elif value.layout != torch.strided or value.is_meta or value.is_quantized or value.is_complex():
            wrong = "is not a plain tensor of real numbers; save a plain state dict"
        elif value.numel() * value.element_size() > value.untyped_storage().nbytes():
            wrong = f"claims shape {tuple(value.shape)}, of more numbers than the file contains; save the model again"
        else:
            continue
        raise ArcadeMarkError(f"{place}: '{said(str, name)}' {wrong}")
    return {name: value.detach() for name, value in state.items()}


def folders_of(loaded: Any, place: str) -> frozenset[str]:
    """Return the paths to mappings and lists that contain others, shortened as by `plain_names`."""
    folders, seen, left = set(), {id(loaded)}, [("", loaded)]
    while left:
        name, held = left.pop()
        items = held.items() if isinstance(held, Mapping) else enumerate(held) if isinstance(held, list) else ()
        inner = [(key, item) for key, item in items if isinstance(item, Mapping | list | StandIn)]
        if inner:
            folders.add(".".join(part for part in name.split(".") if part not in _WRAPPERS))
        for key, item in inner:
            if id(item) not in seen:
                seen.add(id(item))
                left.append((_path_to(key, name, place), item))
    return frozenset(folders)


def leaves_of(value: Any, place: str) -> Iterator[tuple[str, Any]]:
    """Yield the items of nested mappings, lists and modules, without optimisers, by their paths."""
    seen: set[int] = set()
    count = itertools.count(1)

    def within(value: Any, name: str) -> Iterator[tuple[str, Any]]:
        if next(count) > MAX_ITEMS:
            raise ArcadeMarkError(f"{place}: has more than {MAX_ITEMS:,} items, the most that is read")
        if id(value) in seen:
            return
        value = value.tensor if isinstance(value, StandIn) and value.tensor is not None else value
        parts = value.parts if isinstance(value, StandIn) else value
        if isinstance(parts, list | tuple):
            parts = dict(enumerate(parts))
        if not isinstance(parts, Mapping) or (value is not parts and not parts):
            yield name, value
        elif "param_groups" not in parts:
            seen.add(id(value))
            for key, item in parts.items():
                yield from within(item, _path_to(key, name, place))

    return within(value, "")


def _path_to(key: Any, name: str, place: str) -> str:
    """Return the path to an item of a container with the path `name`."""
    part = key if isinstance(key, str) else reprlib.repr(key)  # it may contain one long text many times
    path = f"{name}.{part}" if name else part
    if len(path) > MAX_NAME_CHARS:
        raise ArcadeMarkError(
            f"{place}: a name in it, {said(str, path)}, is longer than {MAX_NAME_CHARS:,} characters, the most that is "
            "read; save a plain state dict"
        )
    return path


def mapping_of(value: Any) -> dict[str, Any]:
    """Return the entries with a text as key of a mapping, or of a stand-in with such a state; none of others."""
    value = value.state if isinstance(value, StandIn) else value  # a namespace of arguments
    return {key: item for key, item in value.items() if isinstance(key, str)} if isinstance(value, Mapping) else {}
