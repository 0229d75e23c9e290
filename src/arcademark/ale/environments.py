"""ale-py's Gymnasium environments on our interfaces.

They are ale-py's own Python code: its modules `env` and `vector_env` are executed a second time, as modules of this
package, in which `ale_py` is this package.
"""

from __future__ import annotations

import dataclasses
import importlib.util
import sys
from types import ModuleType
from typing import TYPE_CHECKING

import ale_py
import gymnasium

if TYPE_CHECKING:
    from ale_py.env import AtariEnv, AtariEnvStepMetadata
    from ale_py.vector_env import AtariVectorEnv

_PACKAGE = "arcademark.ale"


def _again(name: str) -> ModuleType:
    """Execute a module of ale-py's once more, as one of this package."""
    original = importlib.util.find_spec(f"ale_py.{name}")
    spec = importlib.util.spec_from_file_location(f"{_PACKAGE}.{name}", original and original.origin)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    vars(module)["ale_py"] = sys.modules[_PACKAGE]
    return module


def _register() -> None:
    """Register for each of ale-py's ids its environment on our interfaces, in the namespace "ArcadeMark"."""
    for spec in [*gymnasium.registry.values()]:
        if spec.entry_point == f"{ale_py.__name__}.env:AtariEnv":
            points = {
                field: point and str(point).replace(ale_py.__name__, _PACKAGE)
                for field in ("entry_point", "vector_entry_point")
                for point in [getattr(spec, field)]
            }
            ours = dataclasses.replace(spec, id=f"ArcadeMark/{spec.id.removeprefix('ALE/')}", **points)
            gymnasium.registry[ours.id] = ours


if not TYPE_CHECKING:
    AtariEnv, AtariEnvStepMetadata = map(vars(_again("env")).get, ("AtariEnv", "AtariEnvStepMetadata"))
    AtariVectorEnv = _again("vector_env").AtariVectorEnv
_register()
