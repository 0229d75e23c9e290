"""Recorded episodes on the console: whether they give what was recorded, and each frame what ale-py shows.

An episode is replayed in the environment that plays on the console, then frame by frame beside ale-py from power-on,
with what a protocol says done anew here.
"""

from __future__ import annotations

from typing import cast

import numpy as np

from arcademark.console.comparison import Comparison, settings
from arcademark.environments import toy
from arcademark.environments.base import Environment, Step, drawn_noops
from arcademark.environments.emulation.atari import rom_path
from arcademark.environments.emulation.facts import REAL_RESET
from arcademark.environments.play import NOOP, PRESSES, press, press_at_start
from arcademark.environments.registry import environment_spec
from arcademark.errors import ArcadeMarkError
from arcademark.runs.replay.episodes import Recorded, open_recorded
from arcademark.runs.replay.verify import Finding, Task, verify_episode
from arcademark.suite.protocols import AtariProtocol, Protocol
from arcademark.suite.tasks import JOYSTICK_ACTIONS


def prove_episode(task: Task) -> Finding:
    """Replay an episode on the console; tell what the environment differs in, else what the frames do."""
    trial, row = task.recorded
    if not isinstance(task.protocol, AtariProtocol):
        return Finding(trial.id, trial.game, row.phase, row.episode, "unverifiable", "it is no Atari game")
    if trial.game == toy.NAME:
        return Finding(trial.id, trial.game, row.phase, row.episode, "unverifiable", "the toy game has no console")
    try:
        found = verify_episode(task, open_recorded(task.protocol, trial, row.phase, "console"))
    except ArcadeMarkError as error:
        return Finding(trial.id, trial.game, row.phase, row.episode, "unverifiable", str(error))
    if found.outcome != "confirmed":
        return found
    return verify_episode(task, cast(Environment, FrameByFrame(task.protocol, task.recorded)))


class FrameByFrame:
    """A recorded episode's game on the console and on ale-py, as far as replaying takes an environment."""

    def __init__(self, protocol: Protocol, recorded: Recorded) -> None:
        trial, row = recorded
        self.spec = spec = environment_spec(trial.game, protocol, trial.frames_per_action)
        self._game, self._settings = spec.game, spec.atari
        self._actions = [JOYSTICK_ACTIONS.index(meaning) for meaning in spec.action_meanings]
        training = row.phase == "training"
        ends = spec.atari.training_episode_end if training else spec.atari.evaluation_episode_end
        self._life_ends = ends == "life_lost"
        self._presses = PRESSES if spec.presses_fire else ()
        self._executed = self.episode_frames = self._lives = 0
        self._rng: np.random.Generator
        self._comparison: Comparison

    def reset(self, rng: np.random.Generator, noops: int | None = None) -> float:
        """Start an episode, from power-on; the reward is that of FIRE, where it is pressed for the agent."""
        noops = drawn_noops(self._settings, rng) if noops is None else noops
        self._rng = rng
        self._power_on()
        for _ in range(noops):
            self._frame(0)
            if self._over() or self._truncated():
                self._power_on()
        return press_at_start(self._step, lambda: self._lives, self._power_on) if self._presses else 0.0

    def step(self, action: int) -> Step:
        """Play an agent's step, and FIRE after a lost life where it is pressed for the agent; errors as of `reset`."""
        lives, step = self._lives, self._step(action)
        if step.terminated or step.truncated or not self._presses or not 0 < self._lives < lives:
            return step
        pressed = press((NOOP, *self._presses), self._step, lambda: self._lives)
        return pressed._replace(reward=step.reward + pressed.reward)

    def _step(self, action: int) -> Step:
        reward, terminated, truncated = 0, False, False
        for _ in range(self._settings.frame_skip):
            sticky = self._settings.repeat_action_probability
            if not (sticky and self._rng.random() < sticky):
                self._executed = self._actions[action]
            lives = self._lives
            reward += self._frame(self._executed)
            terminated = self._over() or (self._life_ends and self._lives < lives)
            truncated = not terminated and self._truncated()
            if terminated or truncated:
                break
        return Step(float(reward), terminated, truncated)

    def _power_on(self) -> None:
        default = settings(self._game)[0]
        mode, difficulty = self._settings.mode, self._settings.difficulty
        chosen = default[0] if mode is None else mode, default[1] if difficulty is None else difficulty
        self._comparison = comparison = Comparison(self._game, rom_path(self._game), 0)
        for _ in range((chosen != default) + (self._game in REAL_RESET)):
            _check(comparison.reset(chosen))
        self.episode_frames, self._lives, _ = comparison.status
        self._executed = 0

    def _frame(self, action: int) -> int:
        reward, difference = self._comparison.play(action)
        _check(difference)
        self.episode_frames += 1
        self._lives = self._comparison.status[1]
        return reward

    def _over(self) -> bool:
        return self._comparison.status[2]

    def _truncated(self) -> bool:
        most = self._settings.max_frames_per_episode
        return most is not None and self.episode_frames >= most


def _check(difference: str) -> None:
    if difference:
        raise ArcadeMarkError(f"the console differs: {difference}")
