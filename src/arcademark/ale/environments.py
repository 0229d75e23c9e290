"""ale-py's Gymnasium environments on our interfaces.

They are ale-py's own Python code: its modules `env` and `vector_env` are executed a second time, as modules of this
package, in which `ale_py` is this package. Only `AtariVectorEnv.xla` is ours. ale-py's own ids still make ale-py's
environments.
"""

from __future__ import annotations

import dataclasses
import importlib.util
import sys
import warnings
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
from ale_py import registration  # its package registers ale-py's ids
from gymnasium.vector import AutoresetMode

from arcademark.ale import callbacks
from arcademark.ale.arguments import ArgumentTypeError
from arcademark.errors import ArcadeMarkWarning

_PACKAGE = "arcademark.ale"


def _again(name: str) -> ModuleType:
    """Execute one of ale-py's modules again, as a module of this package."""
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


def _xla(envs: Any) -> tuple[Any, Callable[..., Any], Callable[..., Any]]:
    """Return a handle, and functions that reset and step `envs` in JAX through callbacks, like ale-py's `xla`."""
    if getattr(envs.ale, "emulator", "ale") == "ale":
        return _ale_xla(envs)  # type: ignore[no-any-return]
    assert envs.autoreset_mode == AutoresetMode.NEXT_STEP
    observed = np.empty(envs.observation_space.shape, np.uint8)
    number, end = (np.empty(envs.batch_size, kind) for kind in (np.int32, np.bool_))
    infos = dict.fromkeys(("env_id", "lives", "frame_number", "episode_frame_number"), number)
    played = callbacks.called_from_jax(envs.step, (observed, number, end, end, infos))
    begun = callbacks.called_from_jax(
        lambda seed, mask: envs.reset(seed=seed, options={"reset_mask": mask}), (observed, infos)
    )
    jax_array = importlib.import_module("jax").numpy.asarray
    shape, kind = ((envs.batch_size, 3), "float32") if envs.continuous else ((envs.batch_size,), "int32")

    def reset(handle: Any, seed: Any = None, reset_mask: Any = None) -> Any:
        mask = jax_array(np.ones(envs.num_envs, np.bool_) if reset_mask is None else reset_mask)
        _check("reset_mask", mask, (envs.num_envs,), "bool")
        count = int(mask.sum())
        if seed is None or isinstance(seed, int):
            seed = np.full(count, -1) if seed is None else np.arange(seed, seed + count)
        seed = jax_array(seed, np.int32)
        _check("seed", seed, (count,), "int32")
        return begun(handle, seed, mask)

    def step(handle: Any, actions: Any) -> Any:
        actions = jax_array(actions, kind if envs.continuous else None)
        _check("actions", actions, shape, kind)
        return played(handle, actions)

    return callbacks.first_handle(), reset, step


def _check(name: str, array: Any, shape: tuple[int, ...], kind: str) -> None:
    """Raise an ArgumentTypeError if an array for JAX's callback has another shape or type."""
    if (array.shape, array.dtype) != (shape, kind):
        raise ArgumentTypeError(f"{name} of shape {array.shape}, {array.dtype}; expected {shape}, {kind}")


def _of_ale(module: str, name: str) -> Callable[..., Any]:
    """Return a function that makes ale-py's own environment for one of its ids, and warns the first time."""

    def make(*arguments: Any, **keywords: Any) -> Any:
        if not _warned:
            _warned.append(True)
            title = registration.rom_id_to_name(str(keywords.get("game", "pong")))
            message = (
                f"ale-py's own ids, such as 'ALE/{title}-v5', are played by ale-py; for the emulator of arcademark.ale "
                f"make 'ArcadeMark/{title}-v5' (docs/fast-ale.md)"
            )
            warnings.warn(message, ArcadeMarkWarning, stacklevel=3)
        return original(*arguments, **keywords)

    original = getattr(importlib.import_module(module), name)
    make.metadata = original.metadata  # type: ignore[attr-defined]
    return make


_warned: list[bool] = []


def _register() -> None:
    """Register, for each of ale-py's ids, its environment on our interfaces in the namespace "ArcadeMark"."""
    for spec in [*gymnasium.registry.values()]:
        if spec.entry_point == _OWN_ENTRIES[0]:
            ours = dataclasses.replace(
                spec,
                id=f"ArcadeMark/{spec.id.removeprefix('ALE/')}",
                entry_point=f"{_PACKAGE}.env:AtariEnv",
                vector_entry_point=f"{_PACKAGE}.vector_env:AtariVectorEnv" if spec.vector_entry_point else None,
            )
            gymnasium.registry[ours.id] = ours


_OWN_ENTRIES = "ale_py.env:AtariEnv", "ale_py.vector_env:AtariVectorEnv"
_WARNING_ENTRIES = f"{__name__}:AtariEnvOfAle", f"{__name__}:AtariVectorEnvOfAle"


def let_ids_warn(wanted: bool) -> None:
    """Turn on or off the warning, once per process, that ale-py plays the environments of ale-py's own ids."""
    before, after = (_OWN_ENTRIES, _WARNING_ENTRIES) if wanted else (_WARNING_ENTRIES, _OWN_ENTRIES)
    for spec in [*gymnasium.registry.values()]:
        if spec.entry_point == before[0]:
            vector = after[1] if spec.vector_entry_point else None
            gymnasium.registry[spec.id] = dataclasses.replace(spec, entry_point=after[0], vector_entry_point=vector)


if TYPE_CHECKING:
    from ale_py.env import AtariEnv as AtariEnv
    from ale_py.env import AtariEnvStepMetadata as AtariEnvStepMetadata
    from ale_py.vector_env import AtariVectorEnv as AtariVectorEnv

    _ale_xla: Callable[..., Any]
else:
    AtariEnv, AtariEnvStepMetadata = map(vars(_again("env")).get, ("AtariEnv", "AtariEnvStepMetadata"))
    AtariVectorEnv = _again("vector_env").AtariVectorEnv
    _ale_xla, AtariVectorEnv.xla = AtariVectorEnv.xla, _xla
AtariEnvOfAle, AtariVectorEnvOfAle = _of_ale("ale_py.env", "AtariEnv"), _of_ale("ale_py.vector_env", "AtariVectorEnv")
_register()
let_ids_warn(True)
