"""ale-py's own environments, executed a second time on our interfaces."""

from __future__ import annotations

import importlib.util
import sys
from types import ModuleType


def _again(name: str) -> ModuleType:
    """Execute a module of ale-py's once more, as one of this package."""
    original = importlib.util.find_spec(f"ale_py.{name}")
    assert original is not None
    spec = importlib.util.spec_from_file_location(f"arcademark.ale.{name}", original.origin)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    vars(module)["ale_py"] = sys.modules["arcademark.ale"]
    return module


AtariVectorEnv = _again("vector_env").AtariVectorEnv
