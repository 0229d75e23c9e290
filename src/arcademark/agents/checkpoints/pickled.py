"""Pickled objects, read without running anything: each becomes a stand-in that keeps its state.

PyTorch's weights-only reader makes objects of allowed classes only. A pickle names its classes and functions, so that
each unknown one can be allowed as a class of its own that does nothing: `StandIn`. A pickled module then has its
tensors, by the names of its state dict. In other pickles, such as Dopamine's, `load` replaces all classes and
functions, and makes tensors of the arrays of NumPy and JAX.
"""

from __future__ import annotations

import io
import pickle
import pickletools
from _compat_pickle import IMPORT_MAPPING, NAME_MAPPING
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Self

import numpy as np

MAX_KINDS = 10_000
"""Classes and functions that a pickle names."""
MAX_OPERATIONS, MAX_TUPLES = 2_000_000, 10_000
"""Limits of a pickle other than PyTorch's. Deeper nested tuples could end the interpreter."""
MAX_KEY_CHARS, MAX_ARGUMENTS = 10_000, 1_000
"""Maximum length of a key or a class's name; size of a call, or of a tuple that is a key."""
PICKLES_OLD = 4
"""Pickles that begin a file in PyTorch's format before 1.6: a number, a version, sizes of numbers, and the object."""


class UnboundedError(ValueError):
    """A pickle whose objects may take far more time than to read it."""


class StandIn:
    """Stands in for an object of the class `kind`, or for what a function of that name would have returned."""

    kind = ""
    filled: type[list[Any] | OrderedDict[Any, Any]] | None = None
    """Plain container in place of one of its own kind, such as a deque, that a pickle fills."""
    tensor: Any = None
    """The numbers of an array as a tensor of PyTorch."""

    def __new__(cls, *_: Any, **__: Any) -> Self:
        """Make one, ignoring the arguments."""
        made = super().__new__(cls)
        made.__dict__.update(state={}, items={})
        return made

    state: Mapping[str, Any]
    items: dict[Any, Any]

    def __setstate__(self, state: Any) -> None:
        """Keep the attributes of an object."""
        state = state[0] if isinstance(state, tuple) and len(state) == 2 else state
        self.state = state if isinstance(state, Mapping) else {}  # not a copy, as a file could demand many

    def __setitem__(self, key: Any, value: Any) -> None:
        """Keep an item of a mapping of its own kind."""
        self._fill(OrderedDict)
        self.items[key] = value

    def append(self, value: Any) -> None:
        """Keep an item of a list of its own kind."""
        self._fill(list)
        self.items[len(self.items)] = value

    def _fill(self, container: type[list[Any] | OrderedDict[Any, Any]]) -> None:
        if self.kind:  # else it stands for a part of PyTorch's file
            type(self).filled = container

    @property
    def modules(self) -> dict[Any, Any]:
        """Return the modules within a module, by name."""
        inner = self.state.get("_modules")
        return dict(inner) if isinstance(inner, Mapping) else {}

    @property
    def parts(self) -> dict[Any, Any]:
        """Return the parts of a module's state dict, or the items of another object."""
        kept = [self.state.get(name) for name in ("_parameters", "_buffers")]
        own = {name: value for part in kept if isinstance(part, Mapping) for name, value in part.items()}
        return self.items | own | self.modules

    def within(self) -> Iterator[StandIn]:
        """Yield a module and those that it consists of, each once."""
        left, seen = [self], {id(self)}
        while left:
            module = left.pop()
            yield module
            inner = [one for one in module.modules.values() if isinstance(one, StandIn) and id(one) not in seen]
            seen.update(map(id, inner))
            left += inner


def stand_ins(data: bytes, pickles: int = 1) -> list[tuple[type[StandIn], str]]:
    """Return a stand-in for each class or function that pickles name, with its name: "package.module.Class".

    `pickles` is their number in `data`. ValueError if one is damaged.
    """
    file, kinds = io.BytesIO(data), set()
    for _ in range(pickles):
        for operation, argument, _ in pickletools.genops(file):
            if operation.name == "GLOBAL":
                module, _, name = str(argument).partition(" ")
                module, name = NAME_MAPPING.get((module, name), (IMPORT_MAPPING.get(module, module), name))
                kinds.add(f"{module}.{name}")
    if len(kinds) > MAX_KINDS:
        raise ValueError(f"it names {len(kinds):,} classes; at most {MAX_KINDS:,} are read")
    return [(type("StandIn", (StandIn,), {"kind": kind}), kind) for kind in sorted(kinds)]


class NumpyType(StandIn):
    """Stands in for a type of NumPy's numbers."""

    code, order = "", "="

    def __new__(cls, code: Any = "", *_: Any) -> Self:
        """Make one from NumPy's code, such as "f4"."""
        made = super().__new__(cls)
        made.code = code if isinstance(code, str) else getattr(code, "kind", "").removeprefix("ml_dtypes.")
        return made

    def __setstate__(self, state: Any) -> None:
        self.order = state[1]

    @property
    def text(self) -> str:
        """NumPy's code with the order of bytes, such as "<f4"."""
        return f"{self.order if self.order in '<>' else '='}{self.code}"


class _Array(StandIn):
    """Stands in for an array, and becomes a tensor if it contains numbers."""

    left_bytes = 0
    """Bytes of the file that arrays may still use, each once."""

    def __setstate__(self, state: Any) -> None:
        _, shape, kind, by_columns, content = state
        code = kind.str if isinstance(kind, np.dtype) else kind.text if isinstance(kind, NumpyType) else ""
        short = code[1:] == "bfloat16"
        if short or code[1:] in {"b1", "u1", "i1", "i2", "i4", "i8", "f2", "f4", "f8"}:
            import torch

            array = np.frombuffer(content, np.dtype(f"{code[0]}i2" if short else code))
            array = array.reshape(shape, order="F" if by_columns else "C")
            type(self).left_bytes -= array.nbytes
            if self.left_bytes < 0:
                raise ValueError("its arrays contain more bytes than it has")
            tensor = torch.from_numpy(array.astype(array.dtype.newbyteorder("="), "C"))
            self.tensor = tensor.view(torch.bfloat16) if short else tensor

    @classmethod
    def of_jax(cls, _: Any, __: Any, state: Any, *___: Any) -> Self:
        """Return one from the state of a JAX array."""
        made = cls()
        made.__setstate__(state)
        return made

    @classmethod
    def of_buffer(cls, content: Any, kind: Any, shape: Any, order: Any) -> Self:
        """Return one from the bytes that NumPy writes in pickle protocol 5."""
        return cls.of_jax(None, None, (1, shape, kind, order == "F", content))


def known(size: int) -> dict[str, Any]:
    """Return stand-ins for the functions that make pickled arrays, in a file of `size` bytes."""

    class Array(_Array):
        left_bytes = size

    left = [size]

    def encoded(text: str, coding: str) -> bytes:
        """Return the bytes that old protocols write as text."""
        left[0] -= len(text)
        if left[0] < 0 or coding != "latin1":
            raise ValueError("it has more text, or another coding, than arrays are written with")
        return text.encode(coding)

    return {
        "_codecs.encode": encoded,
        "numpy.dtype": NumpyType,
        "numpy.core.multiarray._reconstruct": Array,
        "numpy._core.multiarray._reconstruct": Array,
        "numpy.core.numeric._frombuffer": Array.of_buffer,
        "numpy._core.numeric._frombuffer": Array.of_buffer,
        "jax._src.array._reconstruct_array": Array.of_jax,
        "jax._src.device_array.reconstruct_device_array": Array.of_jax,
        "flax.core.frozen_dict.FrozenDict": _content,
    }


def _content(content: Any) -> Any:
    return content


def _is_key(key: Any, parts: int = MAX_ARGUMENTS) -> bool:
    """Return True if an object hashes and compares fast; containers may contain one object many times."""
    if isinstance(key, tuple):
        return len(key) <= parts and all(_is_key(part, 0) for part in key)
    if isinstance(key, str | bytes):
        return len(key) <= MAX_KEY_CHARS
    if isinstance(key, int):
        return key.bit_length() <= 64
    return key is None or isinstance(key, float | StandIn | type)


_BOUNDED = {
    pickle.SETITEM: (slice(-2, -1), _is_key),
    pickle.SETITEMS: (slice(None, None, 2), _is_key),
    pickle.DICT: (slice(None, None, 2), _is_key),
    pickle.ADDITEMS: (slice(None), _is_key),
    pickle.FROZENSET: (slice(None), _is_key),
    pickle.REDUCE: (slice(-1, None), lambda given: isinstance(given, tuple) and len(given) <= MAX_ARGUMENTS),
    pickle.NEWOBJ: (slice(-1, None), lambda given: isinstance(given, tuple) and len(given) <= MAX_ARGUMENTS),
    pickle.NEWOBJ_EX: (slice(-2, None), lambda given: isinstance(given, tuple | dict) and len(given) <= MAX_ARGUMENTS),
    pickle.BUILD: (slice(-2, -1), lambda thing: isinstance(thing, StandIn)),
}
"""Operations that set attributes, or whose time depends on operands, which a few bytes can repeat: the place of these
operands on the stack, and their check."""


def _checked(operation: bytes, place: slice, is_small: Callable[[Any], bool]) -> Callable[[Any], None]:
    load = pickle._Unpickler.dispatch[operation[0]]  # type: ignore[attr-defined]

    def checked(self: Any) -> None:
        if not all(map(is_small, self.stack[place])):
            raise UnboundedError("it has keys, arguments or states that no network's file has")
        load(self)

    return checked


class _Unpickler(pickle._Unpickler):  # type: ignore[misc, name-defined]  # in C a few bytes may take gigabytes
    """Makes only plain containers, numbers, texts and stand-ins."""

    dispatch = pickle._Unpickler.dispatch | {  # type: ignore[attr-defined]
        operation[0]: _checked(operation, *check) for operation, check in _BOUNDED.items()
    }

    def __init__(self, file: io.BytesIO, known: Mapping[str, Any]) -> None:
        super().__init__(file)
        self.kinds = dict(known)

    def find_class(self, module: str, name: str) -> Any:
        """Return the stand-in for a class or function."""
        if len(module) + len(name) > MAX_KEY_CHARS:
            raise ValueError(f"it names a class by more than {MAX_KEY_CHARS:,} characters, the most that is read")
        kind = f"{module}.{name}"
        if kind not in self.kinds:
            if len(self.kinds) > MAX_KINDS:
                raise ValueError(f"it names more than {MAX_KINDS:,} classes, the most that is read")
            self.kinds[kind] = type("StandIn", (StandIn,), {"kind": kind})
        return self.kinds[kind]

    def persistent_load(self, _: Any) -> StandIn:
        """Return a stand-in for a part of PyTorch's file."""
        return StandIn()

    def get_extension(self, code: int) -> Any:
        """Refuse classes named by the numbers of this process."""
        raise ValueError(f"it names a class by the number {code}")


def load(data: bytes) -> Any:
    """Return a pickle's content: containers, numbers, texts, and stand-ins, with a tensor for arrays.

    ValueError if it has more operations than are read; another exception if it is damaged.
    """
    tuples = 0
    for number, (operation, _, _) in enumerate(pickletools.genops(data)):
        tuples += operation.name.startswith(("TUPLE", "FROZENSET"))
        if number >= MAX_OPERATIONS or tuples > MAX_TUPLES:
            raise ValueError(
                f"it has more than {MAX_OPERATIONS:,} operations or {MAX_TUPLES:,} tuples, the most that is read"
            )
    return _Unpickler(io.BytesIO(data), known(len(data))).load()


def check_bounds(data: bytes, pickles: int = 1) -> dict[str, type]:
    """Return the plain containers in place of classes that pickles fill as such, by the classes' names.

    UnboundedError: hashing or unpacking their objects may take far more time than reading them.
    """
    file, filled = io.BytesIO(data), {}
    try:
        for _ in range(pickles):
            unpickler = _Unpickler(file, {})
            unpickler.load()
            filled.update({name: kind.filled for name, kind in unpickler.kinds.items() if kind.filled is not None})
    except UnboundedError:
        raise
    except Exception:  # damage, which PyTorch reports
        pass
    return filled
