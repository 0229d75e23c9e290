"""ale-py on the console of our own."""

from ale_py import Action, roms

from arcademark.ale.environments import AtariVectorEnv
from arcademark.ale.vector import ALEVectorInterface

__all__ = ["ALEVectorInterface", "Action", "AtariVectorEnv", "roms"]
