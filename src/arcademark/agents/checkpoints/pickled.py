"""Pickled objects in files of PyTorch's, read without running anything: each becomes a stand-in that keeps its state.

PyTorch's weights-only reader makes objects of allowed classes alone. A pickle names its classes and functions, so that
each unknown one can be allowed as a class of its own that does nothing: `StandIn`. Of a pickled module this leaves its
tensors, by the names that its state dict would have.
"""

from __future__ import annotations

import io
import pickletools
from _compat_pickle import IMPORT_MAPPING, NAME_MAPPING
from collections.abc import Iterator, Mapping
from typing import Any, Self

MAX_KINDS = 10_000
"""Classes and functions that a pickle names."""
PICKLES_OLD = 4
"""Pickles that begin a file in PyTorch's format before 1.6: a number, a version, sizes of numbers, and the object."""


class StandIn:
    """Stands in for an object of the class `kind`, or for what a function of that name would have returned."""

    kind = ""

    def __new__(cls, *_: Any, **__: Any) -> Self:
        """Make one without looking at what the object would have been made of."""
        made = super().__new__(cls)
        made.__dict__.update(state={}, items={})
        return made

    state: dict[str, Any]
    items: dict[Any, Any]

    def __setstate__(self, state: Any) -> None:
        """Keep the attributes that an object is given."""
        state = state[0] if isinstance(state, tuple) and len(state) == 2 else state
        self.state.update(state if isinstance(state, Mapping) else {})

    def __setitem__(self, key: Any, value: Any) -> None:
        """Keep an item of a mapping of its own kind."""
        self.items[key] = value

    @property
    def modules(self) -> dict[Any, Any]:
        """Return the modules within a module, by name."""
        inner = self.state.get("_modules")
        return dict(inner) if isinstance(inner, Mapping) else {}

    @property
    def parts(self) -> dict[Any, Any]:
        """Return what a module's state dict is made of, of another object its items."""
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

    So many pickles follow each other in `data`. ValueError if one is damaged.
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
