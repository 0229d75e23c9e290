"""ale-py's own interfaces, also after `arcademark.ale.install` has replaced them in ale-py."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import ale_py  # noqa: F401 – imports the module below

if TYPE_CHECKING:
    from ale_py import ALEInterface, ALEState, ALEVectorInterface
else:
    _inner = sys.modules["ale_py._ale_py"]
    ALEInterface, ALEState = _inner.ALEInterface, _inner.ALEState
    ALEVectorInterface = getattr(_inner, "ALEVectorInterface", None)  # an optional part of ale-py

__all__ = ["ALEInterface", "ALEState", "ALEVectorInterface"]
