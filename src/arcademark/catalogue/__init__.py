"""Published scores, each with its source, and what the papers print that does not hold."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from arcademark.catalogue.collections import load

__all__ = ["load"]


def __getattr__(name: str) -> Any:
    """Load the one public name when it is first used, so that importing the package stays cheap."""
    if name in __all__:
        return getattr(importlib.import_module("arcademark.catalogue.collections"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
