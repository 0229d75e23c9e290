"""Go-Explore's exploration phase (Ecoffet et al. 2019 and 2021), and the best trajectory that it finds.

"Go-Explore: a New Approach for Hard-Exploration Problems", arXiv:1901.10995, and "First return, then explore", Nature
590, 580–586. States that look alike are one cell, and an archive keeps the best trajectory to each::

    choose a cell by its weight ─→ restore its state ─→ explore: random actions, each repeated several times
             ↑                                                              │
             └──── archive: new cells, and better trajectories to others ←──┘

A trajectory is better if its score is higher, or the same with fewer actions. The first decision of an episode explores
until its budget of frames is used; this and the further decisions then play the best trajectory, so its score is
reproduced exactly. The papers' second phase, which trains a policy that is robust to noise, is not implemented: this
planner plays only deterministic games.

The papers specify cells of 11 × 8 pixels of 8 shades (2019); 100 actions per exploration, repeated with probability
0.95 (2019 and 2021), of 4 frames each; the weight of a cell, ``1 / √(seen + 1)`` (2021); and the reset of counts when a
cell's trajectory is replaced. This implementation differs in these points:

* The size of cells is fixed, as in 2019; the method of 2021 adapts it during exploration.
* Weights are those of 2021; those of 2019 are ``w / (count + 0.001)^0.5``, summed over three counts and added to 1.
* No knowledge of a game is used, neither rooms nor levels. ``life_ends`` ends an exploration with a life, as in 2019 in
  Montezuma's Revenge and Pitfall, but not in 2021 in other games.
* Cells are explored one after another, not in batches of 100.
* If the best trajectory ends before the episode, no-op actions follow; in a game with negative rewards, the episode may
  then end with a lower score than the trajectory.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from msgspec import Meta

from arcademark.agents.parameters import Positive, Share
from arcademark.classic.planning.archive import Archive, Trajectory
from arcademark.classic.planning.features import ScreenCells
from arcademark.classic.planning.planner import KeptPlanner, check_frames, hold_actions
from arcademark.environments.emulation.facts import screen_shape
from arcademark.errors import ArcadeMarkError

if TYPE_CHECKING:
    import numpy as np

    from arcademark.environments.base import EnvironmentSpec
    from arcademark.environments.generative import GenerativeModel, State


@dataclass(eq=False, repr=False, kw_only=True)
class GoExplore(KeptPlanner):
    """Plans once: explores from an archive of cells before the first action, then plays the best trajectory.

    Parameters
    ----------
    explore_frames : int
        Maximum frames to emulate before the first action. Our choice: 1,000,000, one or two minutes. The papers explore
        for hundreds of millions of frames and more.
    width, height, levels : int
        Pixels of a cell across and down, and shades. 11, 8 and 8 in 2019.
    explore_actions : int
        Maximum actions of an exploration. 100.
    repeat_probability : float
        Probability of an action to be repeated instead of a new draw. 0.95: 20 times on average.
    life_ends : bool
        Whether an exploration ends with the loss of a life.
    frames_per_action : int or None
        Emulated frames per action; None for the protocol's. 4 in the papers.
    """

    citation = "Ecoffet et al. 2019; Ecoffet et al. 2021"

    explore_frames: Positive = 1_000_000
    width: Positive = 11
    height: Positive = 8
    levels: Annotated[int, Meta(ge=1, le=256)] = 8
    explore_actions: Positive = 100
    repeat_probability: Share = 0.95
    life_ends: bool = False
    frames_per_action: Positive | None = None

    name = "go-explore"

    def __post_init__(self) -> None:
        shape = screen_height, screen_width = screen_shape(self.env.game, self.env.atari.suite)
        for name, most in (("width", screen_width), ("height", screen_height)):
            if getattr(self, name) > most:
                raise ArcadeMarkError(
                    f"agent {self.name}: parameter {name!r} is {getattr(self, name)}: expected 1 to {most}"
                )
        super().__post_init__()
        check_frames(self.name, "explore_frames", self.explore_frames, self.env, self.frames_per_action)
        meanings = self.env.action_meanings
        self._noop = meanings.index("NOOP") if "NOOP" in meanings else 0
        self._cell = self.env.game, shape, self.width, self.height, self.levels, self.env.atari.suite
        self._forget()

    def _forget(self) -> None:
        self._archive: Archive | None = None
        self._explored_frames = 0
        self._actions: list[int] | None = None
        self._next = 0

    @classmethod
    def supports(cls, env: EnvironmentSpec, **parameters: Any) -> str | None:
        """Return why a game is not supported, or None if it is; ArcadeMarkError if a parameter is out of range."""
        super().supports(env, **parameters)
        probability = env.atari.repeat_action_probability
        if probability:
            return (
                f"it replays its best trajectory, which sticky actions (repeat_action_probability={probability:g}) "
                "prevent; choose a protocol without them, or --override repeat_action_probability=0"
            )
        return None

    @property
    def trajectory(self) -> tuple[int, ...] | None:
        """The actions for this episode, None during exploration."""
        return None if self._actions is None else tuple(self._actions)

    def plan(
        self, model: GenerativeModel, state: State, first: bool, rng: np.random.Generator
    ) -> Generator[bool, None, int]:
        """Explore from `state` if the episode begins; return the next action of the best trajectory.

        Yields True after each exploration; parameters are those of `KeptPlanner.plan`.
        """
        if first:
            self._forget()
        if self._actions is None:
            if self._archive is None:
                self._archive = Archive(state)
            cells = ScreenCells(*self._cell)
            while self._steps_left(model) > 0:
                self._explore(model, self._archive, cells, rng)
                yield True
            self._actions = self._archive.actions_to(self._archive.best)
            self._archive = None
        self._next += 1
        return self._actions[self._next - 1] if self._next <= len(self._actions) else self._noop

    def _steps_left(self, model: GenerativeModel) -> int:
        """Return the number of actions in the remaining budget."""
        return (self.explore_frames - self._explored_frames) // model.spec.frames_per_action

    def _explore(self, model: GenerativeModel, archive: Archive, cells: ScreenCells, rng: np.random.Generator) -> None:
        """Return to a cell and play random actions from there."""
        chosen = archive.choose(rng)
        state, (score, length, last) = archive.at(chosen)
        frames_before = model.frames
        model.restore(state)
        lives = model.lives if self.life_ends else 0
        seen, improved = {chosen}, set[int]()
        actions: list[int] = []
        for action in self._draw(model, rng):
            reward, terminated, truncated = model.step(action)
            actions.append(action)
            score, length = score + reward, length + 1
            ended = terminated or truncated or (self.life_ends and model.lives < lives)
            lives = model.lives if self.life_ends else 0
            key = b"" if ended else cells.read(model)
            cell = None if ended else archive.find(key)
            better = not ended and archive.improves(cell, score, length)
            best = Trajectory(score, length, last).beats(archive.best)
            if better or best:
                last, actions = archive.write(last, actions), []
                way = Trajectory(score, length, last)
                archive.best = way if best else archive.best
                if better:
                    cell = archive.put(key, model.save(), way)
                    improved.add(cell)
            if ended:
                break
            assert cell is not None
            seen.add(cell)
        archive.see(seen - improved)
        self._explored_frames += model.frames - frames_before

    def _draw(self, model: GenerativeModel, rng: np.random.Generator) -> list[int]:
        """Draw the actions of an exploration, with repetitions."""
        steps = min(self.explore_actions, self._steps_left(model))
        repeated = (rng.random(steps) < self.repeat_probability).tolist()
        return hold_actions(rng.integers(model.num_actions, size=steps).tolist(), repeated)

    def memory(self) -> Any:
        """Return the state of the exploration, and of the trajectory being played."""
        archive = None if self._archive is None else self._archive.memory()
        return archive, self._explored_frames, self._actions, self._next

    def remember(self, memory: Any) -> None:
        """Restore the state that `memory` returned."""
        archive, self._explored_frames, self._actions, self._next = memory
        self._archive = None if archive is None else Archive.remembered(archive)
