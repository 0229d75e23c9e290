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

import ale_py  # noqa: F401 - registers its ids
import gymnasium

_PACKAGE = "arcademark.ale"


def _again(name: str) -> ModuleType:
    """Execute a module of ale-py's once more, as one of this package."""
    original = importlib.util.find_spec(f"ale_py.{name}")
    assert original is not None
    spec = importlib.util.spec_from_file_location(f"{_PACKAGE}.{name}", original.origin)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    vars(module)["ale_py"] = sys.modules[_PACKAGE]
    setattr(sys.modules[_PACKAGE], name, module)
    return module


def _register() -> None:
    """Register for each of ale-py's ids its environment on our interfaces, in the namespace "ArcadeMark"."""
    for spec in [*gymnasium.registry.values()]:
        if spec.entry_point == "ale_py.env:AtariEnv":
            ours = dataclasses.replace(
                spec,
                id=f"ArcadeMark/{spec.id.removeprefix('ALE/')}",
                entry_point=f"{_PACKAGE}.env:AtariEnv",
                vector_entry_point=f"{_PACKAGE}.vector_env:AtariVectorEnv" if spec.vector_entry_point else None,
            )
            gymnasium.registry[ours.id] = ours


if TYPE_CHECKING:
    from ale_py.env import AtariEnv as AtariEnv
    from ale_py.env import AtariEnvStepMetadata as AtariEnvStepMetadata
    from ale_py.vector_env import AtariVectorEnv as AtariVectorEnv
else:
    AtariEnv, AtariEnvStepMetadata = map(vars(_again("env")).get, ("AtariEnv", "AtariEnvStepMetadata"))
    AtariVectorEnv = _again("vector_env").AtariVectorEnv
_register()
