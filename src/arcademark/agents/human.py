"""A person as an agent in reports; `arcademark.runs.person.human` lets one play."""

from __future__ import annotations

from typing import Literal

from arcademark.agents.base import Actions, Flags, Generators, Observations
from arcademark.environments.base import EnvironmentSpec
from arcademark.errors import ArcadeMarkError
from arcademark.records.manifest import HUMAN

PLAYS = f"agent {HUMAN} is a person: 'arcademark play GAME' lets one play"


class Human:
    """A person at the keyboard or a gamepad; 'arcademark play' lets one play.

    Parameters
    ----------
    stepped : bool
        Whether the game waited for each action, instead of running in real time.
    """

    citation = "Mnih et al. 2015, Methods: a person under the agents' conditions, at 60 frames per second without sound"

    observation: Literal["ram"] = "ram"  # the protocol's are not used, and take time to make

    def __init__(self, env: EnvironmentSpec, *, stepped: bool = False) -> None:
        self.stepped = stepped

    def act(self, observations: Observations, first: Flags, rngs: Generators) -> Actions:
        """Raise ArcadeMarkError: only `arcademark.runs.person.human` lets a person play."""
        raise ArcadeMarkError(PLAYS)
