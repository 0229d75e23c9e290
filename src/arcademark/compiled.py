"""Imports Numba, which compiles numerical loops; only for `classic` and `subset.search`, whose extra installs it."""

from __future__ import annotations

from typing import Any

from arcademark.errors import ArcadeMarkError

try:
    import numba.core.cgutils
    import numba.extending
    from llvmlite import ir  # type: ignore[import-untyped]
    from numba import njit, types
except ModuleNotFoundError:
    raise ArcadeMarkError(
        "feature sets, the planners that use them and searches for subsets need Numba; "
        "install it with pip install '.[classic]'"
    ) from None

cgutils: Any = numba.core.cgutils
intrinsic: Any = numba.extending.intrinsic

__all__ = ["cgutils", "intrinsic", "ir", "njit", "types"]
