"""Best path: local search for a sequence of actions, with changes that are at least as good.

This is our own planner, a local search similar to rolling horizon evolution (Perez et al. 2013) that needs few frames.
It keeps one path from the real game's state to the horizon, with its states. A trial restores a state of the path,
chosen uniformly, and plays random actions from there to the horizon; each action is held for several steps, since
actions that change every twelfth of a second have little effect::

    root ──→ · ──→ · ──→ · ──→ · ──→ · ──→ ·     the path
                   └──→ · ──→ · ──→ · ──→ ·      a trial; it replaces the path's end if it is not worse

Paths are compared by the discounted sum of rewards, then by the lives at the end, then by the length up to the end of
the episode. The first action of the path is played. The rest is kept for the next decision and extended to the horizon
with random actions. If the real game's state differs from the expected one, because of sticky actions, the path's
actions are first replayed from the real state.

Results under ``ale-2013`` with about 1,100 frames per decision, and of UCT with 1,200, as means of the first 150
decisions of three episodes per game: Asterix 800 (UCT 350), Seaquest 153 (UCT 13), Space Invaders 187 (UCT 63); each
episode was better.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from arcademark.agents.parameters import Positive, Share
from arcademark.classic.planning.planner import KeptPlanner, as_state, hold_actions

if TYPE_CHECKING:
    import numpy as np

    from arcademark.environments.generative import GenerativeModel, State


@dataclass
class Path:
    """A sequence of actions with its states and rewards.

    `states` are the first state and that after each action; `ended` is whether the episode ends with the last action.
    """

    states: list[State]
    actions: list[int] = field(default_factory=list)
    rewards: list[float] = field(default_factory=list)
    ended: bool = False

    def begun(self, length: int) -> Path:
        """Return the path of its first `length` actions."""
        return Path(self.states[: length + 1], self.actions[:length], self.rewards[:length])

    def rest(self) -> Path:
        """Return the path without its first action."""
        return Path(self.states[1:], self.actions[1:], self.rewards[1:], self.ended)

    def worth(self, discount: float) -> tuple[float, int, int]:
        """Return the key for comparisons: the discounted sum of rewards, lives at the end, and length."""
        total = 0.0
        for reward in reversed(self.rewards):
            total = reward + discount * total
        return total, -1 if self.ended else self.states[-1].lives, len(self.actions)


@dataclass(eq=False, repr=False, kw_only=True)
class BestPath(KeptPlanner):
    """Plans: improves one sequence of actions by random changes of its end; strong with few frames.

    Parameters
    ----------
    frames_per_decision : int
        Minimum frames to emulate before each action; the last trial is finished.
    horizon_frames : int
        Length of the path.
    discount : float
        γ per action.
    hold : float
        Probability that a random action is held for another step.
    """

    citation = "ours, after rolling horizon evolution (Perez et al. 2013)"

    frames_per_decision: Positive = 10_000
    horizon_frames: Positive = 300
    discount: Share = 0.999
    hold: Share = 0.75

    name = "best-path"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.path: Path | None = None

    def begin(self, model: GenerativeModel, state: State, first: bool) -> None:
        """Begin with the kept path, replayed if the game's state differs from the expected one."""
        if first or self.path is None:
            self.path, self.emulated = Path([state]), 0
        if self.path.states[0] != state:
            self.path = self._play(model, Path([state]), self.path.actions)

    def search(self, model: GenerativeModel, rng: np.random.Generator) -> Iterator[None]:
        """Improve the path by one trial after another."""
        assert self.path is not None
        horizon = -(-self.horizon_frames // model.spec.frames_per_action)
        while self.emulated < self.frames_per_decision or not self.path.actions:
            self.path = self._improved(model, self.path, horizon, rng)
            yield

    def decide(self, model: GenerativeModel, rng: np.random.Generator) -> int:
        """Return the first action of the path, and keep the rest."""
        assert self.path is not None
        action = self.path.actions[0]
        self.path = self.path.rest()
        return action

    def memory(self) -> Any:
        """Return the path, and the frames of the current decision."""
        path = self.path
        return path and (path.states, path.actions, path.rewards, path.ended), self.emulated

    def remember(self, memory: Any) -> None:
        """Restore the state that `memory` returned."""
        path, self.emulated = memory
        self.path = path and Path([as_state(state) for state in path[0]], *path[1:])

    def _improved(self, model: GenerativeModel, path: Path, horizon: int, rng: np.random.Generator) -> Path:
        """Return the path with another end, if that is not worse; extend a path that is too short."""
        known = len(path.actions)
        if known < horizon and not path.ended:
            return self._play(model, path, self._random_actions(model.num_actions, horizon - known, rng))
        begin = int(rng.integers(known))
        trial = self._play(
            model, path.begun(begin), self._random_actions(model.num_actions, horizon - begin, rng)
        )  # fmt: skip
        return trial if trial.worth(self.discount) >= path.worth(self.discount) else path

    def _random_actions(self, num_actions: int, count: int, rng: np.random.Generator) -> list[int]:
        """Draw actions, each of which is held with probability `hold` at every step."""
        actions = rng.integers(num_actions, size=count).tolist()
        return hold_actions(actions, (rng.random(count) < self.hold).tolist())

    def _play(self, model: GenerativeModel, path: Path, actions: list[int]) -> Path:
        """Play actions from the end of a path, up to the end of the episode, and return the longer path."""
        longer = Path(list(path.states), list(path.actions), list(path.rewards), path.ended)
        before = model.frames
        model.restore(path.states[-1])
        for action in actions:
            reward, terminated, truncated = model.step(action)
            longer.actions.append(action)
            longer.rewards.append(reward)
            longer.states.append(model.save())
            if terminated or truncated:
                longer.ended = True
                break
        self.emulated += model.frames - before
        return longer
