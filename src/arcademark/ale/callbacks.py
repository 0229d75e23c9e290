"""Calls from JAX into Python; jitted functions make them in order, as each takes the handle of the one before."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np

_HANDLE_BYTES = 8


def first_handle() -> Any:
    """Return the handle for the first call; DependencyNotInstalled: JAX cannot be imported."""
    return _jax().numpy.zeros(_HANDLE_BYTES, np.uint8)


def called_from_jax(function: Callable[..., Any], example: Any) -> Callable[..., Any]:
    """Return a function for JAX that takes a handle and arguments, and returns a handle and the result of `function`.

    Parameters
    ----------
    function : callable
        Takes arrays.
    example : arrays in tuples and dictionaries
        Has the shapes and types of its result.

    Raises
    ------
    DependencyNotInstalled
        JAX cannot be imported.
    """
    jax = _jax()
    io_callback = importlib.import_module("jax.experimental").io_callback
    results = jax.tree.map(lambda one: jax.ShapeDtypeStruct(one.shape, one.dtype), example)
    handle = jax.ShapeDtypeStruct((_HANDLE_BYTES,), np.uint8)

    def called(before: Any, *arguments: Any) -> tuple[Any, Any]:
        return before, function(*map(np.array, arguments))

    return lambda before, *arguments: io_callback(called, (handle, results), before, *arguments)


def _jax() -> Any:
    try:
        return importlib.import_module("jax")
    except ImportError as error:
        raise gymnasium.error.DependencyNotInstalled("xla needs JAX: pip install jax") from error
