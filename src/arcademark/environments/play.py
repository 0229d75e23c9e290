"""Implementation of a protocol: episodes of any emulator, played an agent step at a time.

* Sticky actions: each frame repeats, with the protocol's probability, the action *executed* in the frame before, and
  otherwise executes the agent's. One number is drawn per frame, and the action before an episode is "no action".
* Frames are counted as the emulator counts them: since the reset, no-op start included. A few games begin with some
  (Name This Game: 134), since choosing their mode takes frames.
* A step stops within its frames as soon as the episode ends. Termination wins over truncation in the same frame.
* No-op starts draw their number of frames first. If the game ends during them, it starts again and the remaining no-ops
  follow.
* Actions pressed for the agent at the start and after a lost life are described in `fire`.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcademark.environments import fire
from arcademark.environments.base import EnvironmentSpec, State, Step
from arcademark.environments.emulation.contract import Emulator, StepRecord
from arcademark.environments.fire import NOOP
from arcademark.environments.observations.making import Observer, make_observer
from arcademark.errors import ArcadeMarkError
from arcademark.suite.tasks import JOYSTICK_ACTIONS

NO_CAP = 1 << 62
_new_tuple = tuple.__new__
"""Makes a `Step` or a `State` in half the time."""
DRAWS = 256
"""Random numbers drawn at once for sticky actions."""


class SavedState(NamedTuple):
    """State from which an episode can continue; opaque."""

    state: State
    observer: Any
    life_lost: bool
    repeats: bytes
    next_repeat: int
    generator: Mapping[str, Any] | None


class Play:
    """Steps of a game on an emulator under a protocol; base of environments and generative models.

    `observer` observes the screens of steps; episodes end as the protocol specifies for `training` or evaluation.
    `observed` is whether the emulator makes the observations of steps in which the episode does not end, `minds_lives`
    whether a lost life has consequences: see `mind_lives`.
    """

    begin_with = "reset"
    """Method to be called before a step, for the error message."""

    def __init__(self, spec: EnvironmentSpec, emulator: Emulator, observer: Observer, training: bool = False) -> None:
        self.spec = spec
        settings = spec.atari
        episode_end = settings.training_episode_end if training else settings.evaluation_episode_end
        self._emulator = emulator
        self.batch = emulator.batch
        self.console_actions = tuple(JOYSTICK_ACTIONS.index(meaning) for meaning in spec.action_meanings)
        self._numbered_actions = dict(enumerate(self.console_actions))
        self._observer = observer
        self._frame_skip = settings.frame_skip
        self._repeat_probability = settings.repeat_action_probability
        self.sticky = settings.repeat_action_probability > 0
        self._cap = NO_CAP if settings.max_frames_per_episode is None else settings.max_frames_per_episode
        self._presses = fire.presses(spec)
        self._episodic = episode_end == "episodic_life"
        self.minds_lives = self._episodic or (bool(self._presses) and episode_end == "game_over")
        self._begins_lives = settings.training_episode_end == "episodic_life"
        self.ended = True
        self.life_lost = self.life_begun = False
        self._rng: np.random.Generator | None = None
        self._generator: Mapping[str, Any] | None = None
        self._record = StepRecord(
            cap=self._cap,
            frame_skip=settings.frame_skip,
            before_at=observer.before_at,
            newest_at=observer.newest_at,
            last_shown=observer.ends_with_screen,
            life_ends=episode_end == "life_lost",
        )
        self.move_to(self._record)

    def move_to(self, record: StepRecord) -> None:
        """Move the game's state to another record; not within an episode."""
        ctypes.memmove(ctypes.addressof(record), ctypes.addressof(self._record), ctypes.sizeof(StepRecord))
        self._record = record
        record.screens = self._observer.before, self._observer.newest
        self.observed = self._emulator.attach(record, self._observer)

    @property
    def episode_frames(self) -> int:
        """Frames emulated since the reset, no-op start included."""
        return self._record.frames

    @property
    def lives(self) -> int:
        """Lives left, 0 where the game has none."""
        return self._record.lives

    @property
    def _touched(self) -> bool:
        """True if a frame was emulated since the start or a restore; otherwise the screen is not the emulator's."""
        return self._record.played > 0

    def step(self, action: int) -> Step:
        """Play one agent step, and the actions that the protocol presses for the agent after a lost life.

        ArcadeMarkError: `action` is outside ``range(spec.num_actions)``, or the episode has ended.
        """
        self.prepare(action)
        return self.play()

    def each_frame(self, action: int) -> Iterator[Step]:
        """Play one agent step frame by frame, as in `base.Environment.each_frame`."""
        record, lives = self._record, self.lives
        for left in reversed(range(self._frame_skip)):
            record.frame_skip = 1
            try:
                step = self.play_step(action)
            finally:
                record.frame_skip = self._frame_skip
            yield step if left or not self.minds_lives else self.mind_lives(lives, step)
            if self.ended:
                return

    def play_step(self, action: int) -> Step:
        """Play one agent step, without consequences of a lost life."""
        self.prepare(action)
        self._emulator.play(self._record)
        return self.finish()

    def mind_lives(self, lives: int, step: Step) -> Step:
        """Return the result of a step with the consequences of a lost life; `lives` were left before it.

        The episode ends, or actions are pressed for the agent. The last life is lost at the game's end: Q*bert
        continues for some frames with none left.
        """
        self.life_begun = False
        if self.ended or not 0 < self.lives < lives:
            return step
        if self._episodic:
            self.ended = self.life_lost = True
            return _new_tuple(Step, (step.reward, True, False))
        pressed = self._press_after_life()
        self.life_begun = self._begins_lives and not self.ended
        if self.life_begun:
            self._observer.fill()
        return _new_tuple(Step, (step.reward + pressed.reward, pressed.terminated, pressed.truncated))

    def _press_after_life(self) -> Step:
        self._record.out = 0
        return fire.press_after_life(self, self._presses)

    def prepare(self, action: int) -> None:
        """Prepare a step, to be played by `play` or in a batch; errors as in `step`."""
        step = self._record
        if self.ended:
            raise ArcadeMarkError(f"game {self.spec.game!r}: step outside an episode; call {self.begin_with} first")
        step.chosen = self._console_action(action)
        if self.sticky and step.next_repeat + self._frame_skip > step.repeat_count:
            self._draw_repeats()

    def play(self) -> Step:
        """Play the prepared step, and the actions that the protocol presses for the agent after a lost life."""
        if not self.minds_lives:
            self._emulator.play(self._record)
            return self.finish()
        lives = self.lives
        self._emulator.play(self._record)
        return self.mind_lives(lives, self.finish())

    def finish(self) -> Step:
        """Return and observe the step that was played."""
        step = self._record
        terminated, truncated = step.terminated != 0, step.truncated != 0
        if terminated or truncated:
            self.ended = True
            self._observer.push_ended(step.played - 1)
        elif not self.observed:
            self._observer.push()
        return _new_tuple(Step, (float(step.reward), terminated, truncated))

    def _console_action(self, action: int) -> int:
        try:
            return self._numbered_actions[action]
        except (KeyError, TypeError):
            raise ArcadeMarkError(
                f"game {self.spec.game!r}: action {action!r} is not an integer from 0 to {self.spec.num_actions - 1}"
            ) from None

    def _draw_repeats(self) -> None:
        """Draw which of the next frames repeat the action of the previous frame."""
        if self._rng is None:
            self._rng = _generator(self._generator)
        step = self._record
        drawn = self._rng.random(max(DRAWS, self._frame_skip)) < self._repeat_probability
        step.set_draws(step.draws[step.next_repeat :] + drawn.tobytes(), 0)
        self._generator = self._rng.bit_generator.state

    def place(self) -> State:
        """Return the game's state."""
        step = self._record
        executed = step.executed if self.sticky else NOOP
        place = self.spec.game, self._emulator.save(), executed, step.frames, step.lives, self.ended
        return _new_tuple(State, place)

    def put(self, place: State) -> None:
        """Restore a state of this instance or another; an ArcadeMarkError if it is of another game."""
        game, inner, executed, frames, lives, ended = place
        if game != self.spec.game:
            raise ArcadeMarkError(f"cannot restore a state of {game!r} in game {self.spec.game!r}")
        self._emulator.restore(inner)
        step = self._record
        step.frames, step.executed, step.lives, step.played = frames, executed, lives, 0
        self.ended = ended


class GameEnvironment(Play):
    """A game on an emulator under a protocol; a `base.Environment`."""

    def __init__(self, spec: EnvironmentSpec, emulator: Emulator, training: bool = False) -> None:
        super().__init__(spec, emulator, make_observer(emulator, spec.atari), training)
        self._noop = StepRecord(cap=self._cap, frame_skip=1, before_at=-1, newest_at=-1, last_shown=True)
        emulator.attach(self._noop, None)

    def pad_with_zeros(self, zeros: bool) -> None:
        """Replace the screens before an episode's first one by zeros or by copies of it, from the next episode on."""
        self._observer.zero_padding = zeros

    def reset(self, rng: np.random.Generator, noops: int | None = None) -> float:
        """Start an episode; `rng` belongs to the environment until the next reset."""
        self._begin(rng, self.spec.atari.drawn_noops(rng) if noops is None else noops)
        if not self._presses:
            return 0.0
        reward = fire.press_at_start(self, self._presses, lambda: self._begin(rng, 0))
        self._observer.fill()
        return reward

    def _begin(self, rng: np.random.Generator, noops: int) -> None:
        """Start an episode with a number of no-ops."""
        self._start(rng, noops)
        self._record.out = 0
        self._record.executed = NOOP
        self._record.set_draws(b"", 0)
        self.ended = self.life_lost = self.life_begun = False
        self._rng = rng
        self._generator = rng.bit_generator.state if self.sticky else None
        self._observer.begin(self._touched)

    def step(self, action: int) -> Step:
        """Play one agent step; errors as in `Play.step`."""
        self._record.out = 0  # a batch's array of an earlier step may be gone
        return super().step(action)

    def go_on(self) -> Step:
        """Start an episode in the same game after a lost life, as in `base.Environment.go_on`."""
        if not self.life_lost:
            raise ArcadeMarkError(f"game {self.spec.game!r}: there is no game to continue; call reset")
        self.ended = self.life_lost = False
        step = self._press_after_life()
        if not self.ended:
            self._observer.fill()
        return step

    def _start(self, rng: np.random.Generator, noops: int) -> None:
        """Start the emulator and play the no-ops."""
        emulator, step, noop = self._emulator, self._record, self._noop
        step.frames, step.lives = emulator.start(rng)
        step.played = 0
        for _ in range(noops):
            noop.frames = step.frames
            emulator.play(noop)
            step.frames, step.lives, step.played = noop.frames, noop.lives, 1
            if noop.terminated or noop.truncated:
                step.frames, step.lives = emulator.start(rng)
                step.played = 0

    def observe(self, out: NDArray[np.uint8]) -> None:
        """Write the current observation, of shape ``spec.observation_shape``, into `out`."""
        stack = self._observer.stack
        out[...] = stack if len(stack) > 1 else stack[0]

    def render(self) -> NDArray[np.uint8]:
        """Return the emulator's screen in colour, uint8 (height, width, 3).

        ArcadeMarkError: before the first reset, or between `restore` and the next step: the emulator does not keep its
        picture.
        """
        screen = np.empty(self._emulator.screen_shape, np.uint8)
        if self._touched:
            self._emulator.screen(screen)
        elif self._rng is not None and not self.ended:
            self._emulator.start_screen(screen)
        else:
            raise ArcadeMarkError(f"game {self.spec.game!r}: no picture before the first reset or after a restore")
        return self._emulator.rgb[screen]

    def save(self) -> SavedState:
        """Return everything needed to continue from here, picklable."""
        draws = self._record.draws, self._record.next_repeat
        return SavedState(self.place(), self._observer.save(), self.life_lost, *draws, self._generator)

    def restore(self, state: SavedState) -> None:
        """Continue from where `state` was saved, in any instance of the spec; an ArcadeMarkError if of another game."""
        self.put(state.state)
        self._observer.restore(state.observer)
        self._record.set_draws(state.repeats, state.next_repeat)
        self.life_lost, self.life_begun = state.life_lost, False
        self._rng, self._generator = None, state.generator

    def close(self) -> None:
        """Release the emulator."""
        self.ended, self.life_lost = True, False


def _generator(state: Mapping[str, Any] | None) -> np.random.Generator:
    """Return a generator in a saved state."""
    if state is None:
        raise ArcadeMarkError("a state without a generator was restored under sticky actions")
    bits = getattr(np.random, state["bit_generator"])()
    bits.state = state
    return np.random.Generator(bits)
