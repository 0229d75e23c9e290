"""A game as a generative model, which planners search.

::

    state = snapshot(environment)        state of the real game
    model.restore(state)  ─→  model.step(action)  ─→  model.save()  ─→  …

* A model plays as in the protocol's evaluation: frames per step, sticky actions, frame cap, the end of an episode.
* A `State` is exact: restoring it and playing the same actions gives the same RAM, screens, rewards and ends, in every
  game that `registry.open_model` opens, in this process or another, whichever environment or model saved it.
* A `State` contains no randomness: sticky actions are drawn from the model's own generator, given to `use`, so a
  planner cannot foresee those of the real game.
* Every frame played counts. Those that ale-py emulates only to restore a state do not, so that a search within a budget
  of frames is the same on every emulator.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from arcademark.environments.base import Environment, EnvironmentSpec
from arcademark.environments.base import State as State
from arcademark.environments.emulation.contract import Emulator
from arcademark.environments.observations.making import Observer
from arcademark.environments.play import Play
from arcademark.errors import ArcadeMarkError


def snapshot(environment: Environment) -> State:
    """Return the state of an environment, for a model of the same spec.

    ArcadeMarkError: `registry.open_environment` did not open it.
    """
    if (place := getattr(environment, "place", None)) is None:
        raise ArcadeMarkError(
            f"cannot plan in a {type(environment).__name__}; open the game with registry.open_environment"
        )
    state: State = place()
    return state


class GenerativeModel(Play):
    """A game that can be set to any state and played from there, without observations."""

    begin_with = "restore"
    keeps = True
    """True if its states can be stored, so that a search can continue after a restart."""

    def __init__(self, spec: EnvironmentSpec, emulator: Emulator) -> None:
        super().__init__(spec, emulator, Observer())
        self.num_actions = spec.num_actions
        self.ram_size = emulator.ram_size
        self.screen_shape = emulator.screen_shape
        self._here: State | None = None

    @property
    def frames(self) -> int:
        """Frames played by this model since it was made."""
        return self._record.total

    @property
    def here(self) -> State | None:
        """The current state, if it was saved or restored and no step followed."""
        here = self._here
        return here if here is not None and here.frames == self._record.frames else None  # each step adds frames

    def use(self, rng: np.random.Generator) -> None:
        """Draw sticky actions from `rng` from now on; numbers drawn in advance from another are dropped."""
        self._rng = rng
        self._record.set_draws(b"", 0)

    def save(self) -> State:
        """Return the current state; an ArcadeMarkError before the first restore."""
        here = self.here
        if here is None:
            if self._here is None:
                raise ArcadeMarkError(f"game {self.spec.game!r}: the model has no state yet; call restore first")
            here = self._here = self.place()
        return here

    def restore(self, state: State) -> None:
        """Restore a state, at no cost if it is the current one; an ArcadeMarkError if it is of another game."""
        step, here = self._record, self._here
        if here is not None and here.frames == step.frames and (here is state or here == state):
            return
        self.put(state)
        self._here = state

    def ram(self, out: NDArray[np.uint8]) -> None:
        """Write the memory, of shape ``(ram_size,)``, into `out`; valid only right after a step."""
        self._emulator.ram(out)

    def screen(self, out: NDArray[np.uint8]) -> None:
        """Write the screen's palette bytes, of shape ``screen_shape``, into `out`; valid only right after a step."""
        self._emulator.screen(out)
        if self._emulator.recoloured is not None:
            out[:] = self._emulator.recoloured[out]

    def _draw_repeats(self) -> None:
        if self._rng is None:
            raise ArcadeMarkError(f"game {self.spec.game!r}: sticky actions need a generator; call use first")
        super()._draw_repeats()
