"""Published scores with their sources, and errata of the papers.

``arcademark.catalogue("review-2021")`` is ``arcademark.catalogue.load("review-2021")``.
"""

from __future__ import annotations

import importlib
import sys
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from arcademark.catalogue.collections import load

__all__ = ["load"]


def __getattr__(name: str) -> Any:
    """Import the public name on first use, so that importing the package stays fast."""
    if name in __all__:
        return getattr(importlib.import_module("arcademark.catalogue.collections"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class _Callable(types.ModuleType):
    """A module that loads scores when it is called."""

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        """Load published scores; the same as `load`."""
        return self.load(*arguments, **keywords)


sys.modules[__name__].__class__ = _Callable
