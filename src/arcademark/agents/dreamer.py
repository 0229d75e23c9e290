"""RLlib's DreamerV3, as its trainer and its played networks need it."""

from __future__ import annotations

import warnings
from typing import Literal

from arcademark.errors import ArcadeMarkError

DreamerSize = Literal["nano", "micro", "mini", "XXS", "XS", "S", "M", "L", "XL"]


def import_dreamer(place: str) -> None:
    """Refuse in one line where RLlib is missing; its DreamerV3 makes a game of its own when imported, which warns."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            import ray.rllib.algorithms.dreamerv3  # noqa: F401
        except ImportError:
            raise ArcadeMarkError(f"{place}: needs RLlib; install it with pip install '.[rllib]'") from None
