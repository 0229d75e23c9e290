"""A game of a pool: its episodes, and its images as in EnvPool."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
from ale_py import Action, LoggerMode, roms
from numpy.typing import NDArray

from arcademark.ale import arguments
from arcademark.ale.envpool.specs import Config
from arcademark.ale.interface import ALEInterface, console_turn
from arcademark.environments.emulation.contract import StepRecord
from arcademark.environments.emulation.facts import standard
from arcademark.environments.emulation.palettes import gray_table, rgb_table
from arcademark.environments.native import function_address
from arcademark.environments.observations import kernels
from arcademark.environments.observations.area import AreaResize

_FIRST, _MID, _LAST = range(3)
"""Kinds of steps, as dm_env numbers them."""

_LINEAR_UNIT = 2048
"""Denominator of OpenCV's whole-number weights of two pixels."""


class _Linear:
    """Resizing by interpolation, as OpenCV's ``INTER_LINEAR`` does it."""

    def __init__(self, source: tuple[int, int], size: tuple[int, int]) -> None:
        (self._rows, self._row_weights), (self._columns, self._column_weights) = map(self._axis, source, size)

    @staticmethod
    def _axis(source: int, size: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Return, for each pixel of the result, two source pixels (2, size) and their weights (2, size)."""
        at = ((np.arange(size) + 0.5) * (source / size) - 0.5).astype(np.float32)
        first = np.floor(at)
        share = np.where((first < 0) | (first >= source - 1), 0, at - first).astype(np.float32)
        first = np.clip(first, 0, source - 1).astype(np.int64)
        weights = np.rint(np.stack((1 - share, share)) * _LINEAR_UNIT).astype(np.int32)
        return np.stack((first, np.minimum(first + 1, source - 1))), weights

    def __call__(self, screen: NDArray[np.uint8], out: NDArray[np.uint8]) -> None:
        """Write the image of a screen (rows, columns, colours) into `out`, resized."""
        column, row = self._column_weights[:, None, :, None], self._row_weights[:, :, None, None]
        wide = (screen[:, self._columns[0]] * column[0] + screen[:, self._columns[1]] * column[1]) >> 4
        upper, lower = ((wide[rows] * weight) >> 16 for rows, weight in zip(self._rows, row, strict=True))
        out[:] = (upper + lower + 2) >> 2


class Record(ctypes.Structure):
    """A game's step or beginning, and its results; as in ``pool.c``."""

    _fields_ = (
        ("step", StepRecord),
        *((name, ctypes.c_size_t) for name in ("turn", "memory")),
        *((name, ctypes.c_int32) for name in ("begins", "noops", "fire", "fresh", "episodic", "fading")),
        *((name, ctypes.c_int32) for name in ("limit", "elapsed", "ended", "kind")),
        ("discount", ctypes.c_float),
    )
    begins: int
    noops: int
    fire: int
    fresh: int
    limit: int
    elapsed: int
    ended: int
    kind: int
    discount: float


class PooledGame:
    """A game that is played as its record specifies, and its images."""

    core: ctypes.CDLL | None = None

    def __init__(
        self, seed: int, config: Config, record: Record, stack: NDArray[np.uint8], ram: NDArray[np.uint8]
    ) -> None:
        self._chance = np.random.RandomState(seed & 0xFFFFFFFF)
        self._record, self._stack, self._ram = record, stack, ram
        ALEInterface.setLoggerMode(LoggerMode.Error)
        self.ale = ale = ALEInterface()
        ale.setInt("random_seed", (seed + 2**31) % 2**32 - 2**31)
        ale.setFloat("repeat_action_probability", config.repeat_action_probability)
        own = Path(config.base_path, "atari", "roms", f"{config.task}.bin") if config.base_path else None
        ale.loadROM(own or roms.get_rom_path(config.task))
        try:
            if config.mode >= 0:
                ale.setMode(config.mode)
            if config.difficulty >= 0:
                ale.setDifficulty(config.difficulty)
        except RuntimeError as error:  # no emulator has such a mode or difficulty
            raise arguments.RefusedError(f"{config.task}: {error}") from None
        self.actions = ale.getLegalActionSet() if config.full_action_space else ale.getMinimalActionSet()
        self._noop_max = max(1, config.noop_max)
        record.step.frame_skip, record.fire = config.frame_skip, config.use_fire_reset and Action.FIRE in self.actions
        record.episodic, record.fading = config.episodic_life, config.zero_discount_on_life_loss
        record.ended, record.elapsed, record.limit, record.discount = True, *2 * [config.max_episode_steps], 1.0
        self._set_images(config)
        self._set_player()

    def _set_images(self, config: Config) -> None:
        """Set up how images are made: in C if our emulator plays and they have the usual form."""
        size, coloured = (config.img_height, config.img_width), not config.gray_scale
        self._images = self._stack.reshape(config.stack_num, -1, *size)
        self._screens = np.zeros((2, *kernels.SCREEN), np.uint8)  # the newest, and the one before
        self._colours = (rgb_table if coloured else gray_table)(standard(config.task)).reshape(256, -1)
        self._resize = (AreaResize if config.use_inter_area_resize else _Linear)(kernels.SCREEN, size)
        usual = config.use_inter_area_resize and size == kernels.IMAGE and not coloured
        seen = self.ale.getScreenDims()  # higher screens may contain odd bytes
        self.pushes = not (usual and console_turn(self.ale) and seen == kernels.SCREEN)
        newest, before = (int(screen.ctypes.data) for screen in self._screens)
        self._record.step.newest, self._record.step.before = newest, before
        if not self.pushes:
            old = np.zeros_like(self._screens)
            table = kernels.greatest(self._colours[:, 0])
            observation = kernels.observation(table, old, self._stack)
            self._kept = old, table, observation
            self._record.step.observation = ctypes.addressof(observation)

    def _set_player(self) -> None:
        """Let our emulator, or the cartridge's translation, play the record; `core` is None if ale-py plays."""
        turn, record = console_turn(self.ale), self._record
        if turn is not None and turn[0] is not self.core:
            self.core, record.turn = turn
            self._skipped = ctypes.create_string_buffer(self.core.console_skipped_size())
            record.step.skipped, record.memory = ctypes.addressof(self._skipped), int(self._ram.ctypes.data)
            record.step.play = function_address(self.core.console_pooled_step)

    def begin(self, *, forced: bool) -> None:
        """Begin an episode, in the same game unless that is over or another is `forced`."""
        record = self._record
        record.noops = int.from_bytes(self._chance.bytes(4), "little") * self._noop_max >> 32
        record.noops += not record.fire
        record.begins, record.fresh, record.ended = True, False, True  # until C or ale-py has begun it
        if forced or not record.episodic or self.ale.game_over() or record.elapsed >= record.limit:
            self.reset()
            record.elapsed = 0

    def reset(self) -> None:
        """Begin another game; its older images will be copies of its first."""
        self.ale.reset_game()
        self._record.fresh = True
        self._set_player()

    def play(self) -> None:
        """Play the record on ale-py, as C code does on our emulator."""
        if self._record.begins:
            if not self._play_noops():
                return
        else:
            self._play_step()
        self._record.step.lives, self._record.step.terminated = self.ale.lives(), self.ale.game_over()
        self._ram[:] = self.ale.getRAM()

    def _play_noops(self) -> bool:
        record, ale = self._record, self.ale
        while record.noops:
            record.noops -= 1
            ale.act(Action.NOOP)
            if ale.game_over():
                return False
        if record.fire:
            ale.act(Action.FIRE)
        self._screens[:] = ale.getScreen()[: kernels.SCREEN[0]]
        record.begins = record.ended = record.step.reward = 0
        record.kind, record.discount = _FIRST, 1.0
        return True

    def _play_step(self) -> None:
        record, ale, left = self._record, self.ale, self._record.step.frame_skip
        record.step.reward = 0
        while left and not ale.game_over():
            record.step.reward += ale.act(Action(record.step.chosen))
            left -= 1
            if left < 2:
                self._screens[left] = ale.getScreen()[: kernels.SCREEN[0]]
        if left == 1 or record.step.frame_skip == 1:
            self._screens[1 - left] = self._screens[left]
        record.elapsed += 1
        before, lives = record.step.lives, ale.lives()
        over = ale.game_over() or record.elapsed >= record.limit
        record.ended = over or (record.episodic and 0 < lives < before)
        record.kind = _LAST if record.ended else _MID
        record.discount = float(not (record.ended or (record.fading and lives != before)))

    def push(self) -> None:
        """Append the image of the newest screens, if C does not."""
        first, second = self._colours[self._screens]
        image = np.empty((*self._images.shape[2:], first.shape[2]), np.uint8)
        self._resize(np.maximum(first, second, out=first), image)
        self._images[:-1] = self._images[1:]
        self._images[-1] = np.moveaxis(image, 2, 0)
        if self._record.kind == _FIRST and self._record.fresh:
            self._images[:-1] = self._images[-1]
