"""A protocol made runnable: episodes of any console, played an agent step at a time.

Conventions
-----------
* Sticky actions: each frame repeats, with the protocol's probability, the action *executed* in the frame before, else
  executes the agent's. One number is drawn a frame, and an episode starts as if the last action had been "no action".
* Frames are counted as the emulator counts them: since the reset, no-op start included. A few games begin with some
  (Name This Game: 134), since choosing their mode takes frames.
* A step stops within its frames as soon as the episode ends. Termination wins over truncation in the same frame.
* No-op starts draw the number of frames from the episode's generator, before any other draw. Should the game end
  meanwhile, it starts again and the remaining no-ops follow.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arcademark.environments.base import EnvironmentSpec, Step
from arcademark.environments.console import Console
from arcademark.environments.observation import Observer, make_observer
from arcademark.errors import ArcadeMarkError
from arcademark.suite.settings import EpisodeEnd

NOOP = 0
NO_CAP = 1 << 62
_new_step = tuple.__new__
"""Makes a `Step` in half the time."""
DRAWS = 256
"""Random numbers drawn at once for sticky actions."""


@dataclass(frozen=True, eq=False)
class SavedState:
    """Everything needed to continue an episode. Opaque; made by `ConsoleEnvironment.save`."""

    game: str
    console: Any
    observer: Any
    frames: int
    lives: int
    executed: int
    ended: bool
    repeats: tuple[bool, ...]
    next_repeat: int
    generator: Mapping[str, Any] | None


class Play:
    """The steps of a game on a console, as a protocol says; what an environment and a generative model share.

    Parameters
    ----------
    spec : EnvironmentSpec
        What the agent was told.
    console : console.Console
        What plays the frames.
    actions : tuple of int
        The console's action for each of the agent's.
    episode_end : {"game_over", "life_lost"}
        What terminates an episode.
    observer : observation.Observer
        Looks at the screens that the steps show.
    """

    begin_with = "reset"
    """The method to be called before a step, for the message that says so."""

    def __init__(
        self,
        spec: EnvironmentSpec,
        console: Console,
        actions: tuple[int, ...],
        episode_end: EpisodeEnd,
        observer: Observer,
    ) -> None:
        self.spec = spec
        settings = spec.protocol
        self._console = console
        self._console_actions = dict(enumerate(actions))
        self._game_over, self._read_screen = console.game_over, console.screen
        self._observer = observer
        self._before_at, self._newest_at = self._observer.before_at, self._observer.newest_at
        self._before, self._newest = self._observer.before, self._observer.newest
        self._frame_skip = settings.frame_skip
        shown = {observer.before_at, observer.newest_at, settings.frame_skip - 1 if observer.ends_with_screen else -1}
        self._acts = tuple(
            console.act if frame in shown else console.act_unseen for frame in range(settings.frame_skip)
        )
        self._repeat_probability = settings.repeat_action_probability
        self._sticky = settings.repeat_action_probability > 0
        self._cap = NO_CAP if settings.max_frames_per_episode is None else settings.max_frames_per_episode
        self._life_ends = episode_end == "life_lost"
        self._frames = 0
        self._lives = 0
        self._executed = NOOP
        self._ended = True
        self._touched = False
        """Whether a frame was emulated since the start or a restore: else screen and lives are not the console's."""
        self._rng: np.random.Generator | None = None
        self._generator: Mapping[str, Any] | None = None
        self._repeats: tuple[bool, ...] = ()
        self._next_repeat = 0

    @property
    def episode_frames(self) -> int:
        """Frames emulated since the reset, no-op start included."""
        return self._frames

    @property
    def lives(self) -> int:
        """Lives left, 0 where the game has none."""
        return self._console.lives() if self._touched else self._lives

    def step(self, action: int) -> Step:
        """Play one agent step.

        Raises
        ------
        ArcadeMarkError
            If `action` is outside ``range(spec.num_actions)``, or the episode has ended.
        """
        if self._ended:
            raise ArcadeMarkError(f"game {self.spec.game!r}: step outside an episode; call {self.begin_with} first")
        chosen = self._console_action(action)
        sticky, life_ends = self._sticky, self._life_ends
        executed = self._executed if sticky else chosen
        if sticky and self._next_repeat + self._frame_skip > len(self._repeats):
            self._draw_repeats()
        repeats, next_repeat = self._repeats, self._next_repeat
        game_over = self._game_over
        before_at, newest_at = self._before_at, self._newest_at
        frames, cap, reward = self._frames, self._cap, 0
        terminated = truncated = False
        frame = 0
        for frame, act in enumerate(self._acts):
            if sticky:
                if not repeats[next_repeat]:
                    executed = chosen
                next_repeat += 1
            reward += act(executed)
            frames += 1
            if game_over() or (life_ends and self._life_lost()):
                terminated = True
                break
            if frames >= cap:
                truncated = True
                break
            if frame == before_at:
                self._read_screen(self._before)
            elif frame == newest_at:
                self._read_screen(self._newest)
        self._frames, self._executed, self._next_repeat = frames, executed, next_repeat
        self._touched = True
        if terminated or truncated:
            self._ended = True
            self._observer.push_ended(frame)
        else:
            self._observer.push()
        return _new_step(Step, (float(reward), terminated, truncated))

    def _console_action(self, action: int) -> int:
        try:
            return self._console_actions[action]
        except (KeyError, TypeError):
            raise ArcadeMarkError(
                f"game {self.spec.game!r}: action {action!r} is not an integer from 0 to {self.spec.num_actions - 1}"
            ) from None

    def _life_lost(self) -> bool:
        lives = self._console.lives()
        lost = lives < self._lives
        self._lives = lives
        return lost

    def _draw_repeats(self) -> None:
        """Draw which of the next frames repeat the action of the frame before."""
        if self._rng is None:
            self._rng = _generator(self._generator)
        draws = (self._rng.random(max(DRAWS, self._frame_skip)) < self._repeat_probability).tolist()
        self._repeats = (*self._repeats[self._next_repeat :], *draws)
        self._next_repeat = 0
        self._generator = self._rng.bit_generator.state

    def place(self) -> tuple[str, Hashable, int, int, int, bool]:
        """Return all that decides the future but the sticky actions' draws, as the fields of `generative.State`."""
        executed = self._executed if self._sticky else NOOP
        return self.spec.game, self._console.save(), executed, self._frames, self.lives, self._ended


class ConsoleEnvironment(Play):
    """A game on a console under a protocol; a `base.Environment`. Parameters as of `Play`."""

    def __init__(
        self, spec: EnvironmentSpec, console: Console, actions: tuple[int, ...], episode_end: EpisodeEnd
    ) -> None:
        super().__init__(spec, console, actions, episode_end, make_observer(console, spec.protocol))
        settings = spec.protocol
        self._noop_max = settings.noop_max if settings.start == "noop" else 0

    def reset(self, rng: np.random.Generator) -> None:
        """Start an episode; `rng` belongs to the environment until the next reset."""
        noops = int(rng.integers(1, self._noop_max + 1)) if self._noop_max else 0
        self._start(rng, noops)
        self._executed = NOOP
        self._ended = False
        self._rng = rng
        self._repeats, self._next_repeat = (), 0
        self._generator = rng.bit_generator.state if self._sticky else None
        self._observer.begin(self._touched)

    def _start(self, rng: np.random.Generator, noops: int) -> None:
        """Start the console and play the no-ops."""
        console = self._console
        self._frames, self._lives = console.start(rng)
        self._touched = False
        for _ in range(noops):
            console.act_unseen(NOOP)
            self._frames += 1
            self._touched = True
            if console.game_over() or self._frames >= self._cap:
                self._frames, self._lives = console.start(rng)
                self._touched = False
        self._lives = self.lives

    def observe(self, out: NDArray[np.uint8]) -> None:
        """Write the current observation, of shape ``spec.observation_shape``, into `out`."""
        stack = self._observer.stack
        out[...] = stack if len(stack) > 1 else stack[0]

    def render(self) -> NDArray[np.uint8]:
        """Return the console's screen in colour.

        Returns
        -------
        uint8 array, shape (height, width, 3)

        Raises
        ------
        ArcadeMarkError
            Before the first reset, or between `restore` and the next step: the emulator does not keep its picture.
        """
        screen = np.empty(self._console.screen_shape, np.uint8)
        if self._touched:
            self._console.screen(screen)
        elif self._rng is not None and not self._ended:
            self._console.start_screen(screen)
        else:
            raise ArcadeMarkError(f"game {self.spec.game!r}: no picture before the first reset or after a restore")
        return self._console.rgb[screen]

    def save(self) -> SavedState:
        """Return everything needed to continue from here, picklable."""
        return SavedState(
            game=self.spec.game,
            console=self._console.save(),
            observer=self._observer.save(),
            frames=self._frames,
            lives=self.lives,
            executed=self._executed,
            ended=self._ended,
            repeats=self._repeats,
            next_repeat=self._next_repeat,
            generator=self._generator,
        )

    def restore(self, state: SavedState) -> None:
        """Continue from where `state` was saved, in this instance or another of the same spec.

        Raises
        ------
        ArcadeMarkError
            If the state is of another game.
        """
        if state.game != self.spec.game:
            raise ArcadeMarkError(f"cannot restore a state of {state.game!r} in game {self.spec.game!r}")
        self._console.restore(state.console)
        self._observer.restore(state.observer)
        self._frames = state.frames
        self._lives = state.lives
        self._executed = state.executed
        self._ended = state.ended
        self._repeats, self._next_repeat = state.repeats, state.next_repeat
        self._rng, self._generator = None, state.generator
        self._touched = False

    def close(self) -> None:
        """Release the emulator."""
        self._ended = True


def _generator(state: Mapping[str, Any] | None) -> np.random.Generator:
    """Return a generator in a saved state."""
    if state is None:
        raise ArcadeMarkError("a state without a generator was restored under sticky actions")
    bits = getattr(np.random, state["bit_generator"])()
    bits.state = state
    return np.random.Generator(bits)
