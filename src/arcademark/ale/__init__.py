"""ale-py on ArcadeMark's own emulator: the same names, machine and episodes, but faster.

>>> import arcademark.ale as ale_py
>>> ale = ale_py.ALEInterface()
>>> ale.setInt("random_seed", 1)
>>> ale.loadROM(ale_py.roms.get_rom_path("breakout"))
>>> ale.act(ale_py.Action.FIRE)
0

``install()``, or ``python -m arcademark.ale train.py``, replaces ale-py by it in an unchanged program. ale-py plays
whatever our emulator does not support: see ``docs/fast-ale.md``. Importing this package registers the same
environments on our emulator for all of ale-py's ids: "ArcadeMark/Breakout-v5" for "ALE/Breakout-v5".
"""

from __future__ import annotations

import importlib
import os
import sys
from typing import TYPE_CHECKING, Any

from ale_py import SDL_SUPPORT, Action, LoggerMode, __version__, registration, roms

from arcademark.ale.emulators import SWITCH as _SWITCH
from arcademark.ale.emulators import EmulatorFrames
from arcademark.ale.environments import AtariEnv, AtariEnvStepMetadata, AtariVectorEnv
from arcademark.ale.installation import install, installed, report, uninstall
from arcademark.ale.interface import ALEInterface, ALEState

if TYPE_CHECKING:
    from ale_py import ALEVectorInterface

__all__ = [
    "SDL_SUPPORT",
    "ALEInterface",
    "ALEState",
    "ALEVectorInterface",
    "Action",
    "AtariEnv",
    "AtariEnvStepMetadata",
    "AtariVectorEnv",
    "EmulatorFrames",
    "LoggerMode",
    "__version__",
    "install",
    "installed",
    "report",
    "roms",
    "uninstall",
]

_ale_py = sys.modules["ale_py._ale_py"]
sys.modules |= {f"{__name__}.{one.__name__.rpartition('.')[2]}": one for one in (_ale_py, registration, roms)}
"""These modules can be imported from here as from ale-py."""


def __getattr__(name: str) -> Any:
    """Import the vector interface when it is first used."""
    if name == "ALEVectorInterface":
        return importlib.import_module("arcademark.ale.vector").ALEVectorInterface
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


if _SWITCH in os.environ:  # a process started by one in which this was installed
    install()
