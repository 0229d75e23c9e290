"""ale-py's vector interface on our emulator: the same arguments, results and random numbers, played in C by threads.

ale-py behaves as follows, according to experiments with 0.12.1; `tests/ale/test_vector.py` compares both:

* A reset with a seed loads the cartridge anew, and gives two generators (MT19937) this seed: that of the no-ops and
  that of sticky actions. A reset without a seed continues both generators, and keeps memory, like a real console.
* A no-op start plays fewer than `noop_max` frames. If FIRE is pressed, it is the first of them, or the only one.
* ``max_episode_steps`` counts frames after those. `episodic_life` resets the whole game; `life_loss_info` does not.
* An observation pools the last two frames of a step. A step in which the episode ends has no later frames: its
  observation pools the frames that it has with those pooled before. Older images of a new episode are 0.
"""

from __future__ import annotations

import ctypes
import os
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from ale_py import Action
from numpy.typing import NDArray

from arcademark.ale import emulators
from arcademark.ale.arguments import (
    ArgumentTypeError,
    OneThread,
    RefusedError,
    check_sizes,
    integers,
    reals,
    rom_file,
    rom_image,
    settings,
)
from arcademark.emulator import cartridge, original
from arcademark.emulator.games import REGISTERS, condition, game
from arcademark.emulator.machine import RAM_SIZE, WIDTH, Machine
from arcademark.emulator.prove import proven
from arcademark.environments.emulation.contract import StepRecord
from arcademark.environments.emulation.facts import standard
from arcademark.environments.emulation.palettes import gray_table, rgb_table
from arcademark.environments.interfaces.batch import Crew, default_threads
from arcademark.environments.native import address_of, function_address
from arcademark.environments.observations import kernels
from arcademark.environments.observations.area import AreaResize
from arcademark.environments.registry import EmulatorName, choose_emulator
from arcademark.errors import ArcadeMarkError
from arcademark.suite import tasks

_LEFT_TO_ALE = {"adventure", "double_dunk", "video_cube"}
"""Games in whose resets the actions depend on the state of the game."""

_BEGIN, _PRESS, _UNTIL, _STEP, _SET = range(256, 261)
_ACTIONS = {**{action.name: action.value for action in Action.__members__.values()}, "RESET": 40}


class _Playing(ctypes.Structure):
    """Settings that all games share; as in ``vector.c``."""

    _fields_ = (
        *((name, ctypes.c_size_t) for name in ("script", "begin", "reached", "start", "pictures", "colours")),
        *((name, ctypes.c_size_t) for name in ("row", "column", "row_weight", "column_weight")),
        ("repeat_probability", ctypes.c_double),
        ("cap", ctypes.c_int64),
        *((name, ctypes.c_int32) for name in ("script_length", "begin_count", "reached_length", "loading_draws")),
        *(
            (name, ctypes.c_int32)
            for name in ("cart_ram", "all_drawn", "frame_skip", "maxpool", "noops", "fire", "episodic")
        ),
        *((name, ctypes.c_int32) for name in ("life_info", "clipped", "same_step", "channels", "images", "height")),
        *((name, ctypes.c_int32) for name in ("width", "row_terms", "column_terms", "block_height", "block_width")),
    )


class _Player(ctypes.Structure):
    """A game; as in ``vector.c``."""

    _fields_ = (
        ("step", StepRecord),
        *((name, ctypes.c_size_t) for name in ("playing", "batch", "stack", "pooled", "shrinking", "merged")),
        *((name, ctypes.c_int64) for name in ("elapsed", "earlier")),
        *((name, ctypes.c_int32) for name in ("restart", "seed", "over", "executed", "seeded", "ended", "place")),
        *((name, ctypes.c_float) for name in ("strength", "strength_held")),
        ("generators", ctypes.c_uint32 * (3 * 625)),
    )


class _Batch(ctypes.Structure):
    """The results of games that are received together, one column each; as in ``vector.c``."""

    _fields_ = (
        *((name, ctypes.c_size_t) for name in ("observed_at", "final_at", "numbers_at", "flags_at")),
        *((name, ctypes.c_int32) for name in ("games", "taken")),
    )
    end: int  # number of the step after theirs

    def __init__(self, games: int, shape: tuple[int, ...], final: bool) -> None:
        self.observed = np.empty((games, *shape), np.uint8)
        self.final = np.zeros((games, *shape), np.uint8) if final else None
        self.numbers, self.flags = np.empty((5, games), np.int32), np.empty((3, games), np.bool_)
        arrays = self.observed, self.final, self.numbers, self.flags
        super().__init__(*[0 if array is None else address_of(array) for array in arrays], games)

    @property
    def infos(self) -> dict[str, Any]:
        """Information about the games in addition to rewards and ends."""
        number, _, lives, frames, of_episode = self.numbers
        return {"env_id": number, "lives": lives, "frame_number": frames, "episode_frame_number": of_episode}


class ALEVectorInterface:
    """ale-py's `ALEVectorInterface` on our emulator, with ale-py's arguments, results and errors.

    ale-py itself plays what our emulator does not support: cartridges for which it is not proven, images larger than
    the screen, three games, and episodes without frames. Threads play games in the order in which actions were sent,
    and with a `batch_size` games are received in this order, so that no result depends on timing. The caller's thread
    is one of `num_threads`, and plays in `recv`; `thread_affinity_offset` is ignored.

    Raises
    ------
    ArgumentTypeError
        An argument has another type.
    ArcadeMarkError
        A size is out of range, or the ROM cannot be played; ale-py ends the interpreter or never returns. It does so,
        too, for simultaneous calls of several threads, which raise a RefusedError here.

    Attributes
    ----------
    emulator : {"console", "ale"}
        Emulator that plays.
    """

    emulator: EmulatorName
    _actions: list[Action]
    _shape: tuple[int, ...]

    def __new__(
        cls,
        rom_path: str | os.PathLike[str],
        num_envs: int,
        frame_skip: int = 4,
        stack_num: int = 4,
        img_height: int = 84,
        img_width: int = 84,
        grayscale: bool = True,
        maxpool: bool = True,
        noop_max: int = 30,
        use_fire_reset: bool = True,
        episodic_life: bool = False,
        life_loss_info: bool = False,
        reward_clipping: bool = True,
        max_episode_steps: int = 108000,
        repeat_action_probability: float = 0.0,
        full_action_space: bool = False,
        batch_size: int = 0,
        num_threads: int = 0,
        thread_affinity_offset: int = -1,
        autoreset_mode: str = "NextStep",
    ) -> Any:
        """Return a vector on our emulator, or on ale-py."""
        given = {name: value for name, value in locals().items() if name not in ("cls", "__class__")}
        given = settings(given, ALEVectorInterface.__new__.__annotations__) | {"rom_path": rom_file(rom_path)}
        pixels = given["img_height"] * given["img_width"] * (1 if grayscale else 3)
        check_sizes(given, given["num_envs"] * given["stack_num"] * pixels)
        if autoreset_mode not in ("NextStep", "SameStep"):
            raise ValueError(f"autoreset_mode {autoreset_mode!r}: expected 'NextStep' or 'SameStep'")
        name, rom = rom_image(given["rom_path"])
        reasons = [f"a vector of {name!r}"] if name in _LEFT_TO_ALE else []
        if max_episode_steps < 1:
            reasons.append("episodes without frames")
        if name in proven() and (img_height > game(name).facts["height"] or img_width > WIDTH):
            reasons.append("images larger than the screen")
        if name is None or reasons or name not in proven() or choose_emulator(name) != "console":
            emulators.let_ale_play(name, reasons)
            played_by_ale = object.__new__(_PlayedByAle)
            played_by_ale._start(given)
            return played_by_ale
        vector = object.__new__(_PlayedByUs)
        vector._start(name, rom, given)
        return vector

    def __reduce__(self) -> Any:
        raise ArgumentTypeError("cannot pickle 'ALEVectorInterface' object; make another, with the same arguments")

    def _prepare(self, games: int, batch_size: int) -> None:
        self._count, self._batch_size = games, batch_size or games
        self._one_thread = OneThread()
        emulators.HERE.note()
        self._began = False  # also False during a call: after an interrupt all games must be reset
        self._waiting = self._due = 0  # games that wait for actions; games that play or wait to be received

    def reset(self, env_ids: Sequence[int], seeds: Sequence[int], /) -> tuple[NDArray[np.uint8], dict[str, Any]]:
        """Begin episodes in some games, each with its seed, or with none if that is negative."""
        games, numbers = integers(env_ids, "env_ids"), integers(seeds, "seeds")
        if len(games) != len(numbers):
            raise ValueError("env_ids and seeds must have same size")
        known: set[int] = set()
        for one in games.tolist():
            if not 0 <= one < self._count:
                raise IndexError(f"reset env_id {one} is out of range [0, {self._count})")
            if one in known:
                raise ValueError(f"reset has a duplicate env_id={one}")
            known.add(one)
        with self._one_thread:
            whole = len(games) == self._count
            if not self._began and not whole:
                raise RefusedError(
                    f"The first reset() must reset every environment (got {len(games)} of {self._count})"
                )
            if self._batch_size < self._count and not whole:
                raise ValueError(
                    "Partial reset is not supported for async mode where batch_size < num_envs "
                    f"(got batch_size={self._batch_size}, num_envs={self._count})"
                )
            order, self._began = np.argsort(games), False
            results: tuple[NDArray[np.uint8], dict[str, Any]] = self._reset(games[order], numbers[order])
            self._waiting, self._due, self._began = self._batch_size, self._count - self._batch_size, True
        return results

    def send(self, action_ids: Sequence[int], paddle_strengths: Sequence[float], /) -> None:
        """Start a step of the games that were received last, with actions given as numbers in `get_action_set`."""
        actions, strengths = integers(action_ids, "action_ids"), reals(paddle_strengths, "paddle_strengths")
        if len(actions) != len(strengths):
            raise ValueError("action_ids and paddle_strengths must have same size")
        if len(actions) != self._batch_size:
            raise ValueError(f"Expected {self._batch_size} actions, got {len(actions)}")
        chosen = actions.tolist()
        if min(chosen) < 0 or max(chosen) >= len(self._actions):
            raise IndexError(f"action_ids are from 0 to {len(self._actions) - 1}")
        with self._one_thread:
            if not self._began or not self._waiting:
                raise RefusedError("no games wait for actions; call reset or recv first")
            self._began = False
            self._send(actions, strengths)
            self._waiting, self._due, self._began = 0, self._due + self._batch_size, True

    def recv(self) -> tuple[NDArray[np.uint8], NDArray[np.int32], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Return observations, rewards, terminations, truncations and infos of the next games."""
        with self._one_thread:
            if not self._began or self._due < self._batch_size:
                raise RefusedError("no batch is being played; call reset or send first")
            self._began = False
            results: tuple[Any, Any, Any, Any, dict[str, Any]] = self._receive()
            self._waiting, self._due, self._began = self._batch_size, self._due - self._batch_size, True
        return results

    def get_action_set(self) -> list[Action]:
        """Return the actions in the order of their numbers."""
        return list(self._actions)

    def get_num_envs(self) -> int:
        """Return the number of games."""
        return self._count

    def get_observation_shape(self) -> tuple[int, ...]:
        """Return the shape of one game's observation."""
        return self._shape

    def handle(self) -> Any:
        """Raise an error: JAX cannot call this vector; `AtariVectorEnv.xla` calls back instead."""
        raise ArcadeMarkError("this vector has no handle; call AtariVectorEnv.xla, which needs none")

    def _reset(self, games: NDArray[np.int64], seeds: NDArray[np.int64]) -> Any:
        raise NotImplementedError

    def _send(self, actions: NDArray[np.int64], strengths: NDArray[np.float32]) -> None:
        raise NotImplementedError

    def _receive(self) -> Any:
        raise NotImplementedError


class _PlayedByAle(ALEVectorInterface):
    """A vector on ale-py, which ends the interpreter or never returns if calls are not as it expects."""

    emulator = "ale"

    def _start(self, given: Mapping[str, Any]) -> None:
        self._ale = original.ALEVectorInterface(**given)
        self._actions, self._shape = self._ale.get_action_set(), self._ale.get_observation_shape()
        self._prepare(given["num_envs"], given["batch_size"])
        self._frames, self._process = np.zeros(given["num_envs"], np.int64), os.getpid()

    def _check_process(self) -> None:
        if os.getpid() != self._process:
            raise RefusedError("a forked process has none of ale-py's threads, which it would wait for; make another")

    def _reset(self, games: NDArray[np.int64], seeds: NDArray[np.int64]) -> Any:
        self._check_process()
        observed, infos = self._ale.reset(games, seeds)
        self._count_frames(infos)
        return observed, infos

    def _send(self, actions: NDArray[np.int64], strengths: NDArray[np.float32]) -> None:
        self._check_process()
        self._ale.send(actions, strengths)

    def _receive(self) -> Any:
        self._check_process()
        results = self._ale.recv()
        self._count_frames(results[-1])
        return results

    def _count_frames(self, infos: dict[str, Any]) -> None:
        games, frames = infos["env_id"], infos["frame_number"]
        more = frames - self._frames[games]
        emulators.HERE.by_ale += int(np.where(more < 0, frames, more).sum())  # a seed begins anew
        self._frames[games] = frames
        emulators.HERE.note()

    def handle(self) -> Any:
        """Return the handle for calls from JAX."""
        return self._ale.handle()


class _PlayedByUs(ALEVectorInterface, cartridge.Player):
    """A vector on our emulator, played in C."""

    emulator = "console"

    def _start(self, name: str, rom: bytes, given: Mapping[str, Any]) -> None:
        minimal = tasks.games()[name].minimal_actions
        self._actions = [Action.__members__[action] for action in minimal]
        if given["full_action_space"]:
            self._actions = [*Action.__members__.values()]
        self._numbers = np.array([action.value for action in self._actions])
        num_envs, grayscale = given["num_envs"], given["grayscale"]
        channels, size = 1 if grayscale else 3, (given["img_height"], given["img_width"])
        self._shape = (given["stack_num"], *size) + (() if grayscale else (3,))
        self._prepare(num_envs, given["batch_size"])
        self._translation = cartridge.translation(name, rom)
        machines = [Machine(name, rom, chosen=self._translation.core) for _ in range(num_envs)]
        first = machines[0]
        self._playing = _Playing(
            repeat_probability=min(1.0, given["repeat_action_probability"]),  # NaN: ale-py always repeats
            cap=given["max_episode_steps"],
            all_drawn=int(proven()[name]["cut"]) > 0,
            frame_skip=given["frame_skip"],
            maxpool=given["maxpool"] and given["frame_skip"] > 1,
            noops=given["noop_max"],
            fire=given["use_fire_reset"] and Action.FIRE in self._actions,
            episodic=given["episodic_life"],
            life_info=given["life_loss_info"],
            clipped=given["reward_clipping"],
            same_step=given["autoreset_mode"] == "SameStep",
            channels=channels,
            images=given["stack_num"],
            height=size[0],
            width=size[1],
        )
        self._kept: list[Any] = [machines]
        self._set_reset(name, first)
        colours = gray_table(standard(name)) if grayscale else rgb_table(standard(name))
        usual = grayscale and size == kernels.IMAGE and (first.rows, WIDTH) == kernels.SCREEN
        if not usual:
            self._set_size((first.rows, WIDTH), size)
        self._playing.colours = self._keep(colours)
        pairs = kernels.greatest(colours)
        players = self._players = (_Player * num_envs)()
        skipped = self._keep(np.zeros((num_envs, first.core.console_skipped_size()), np.uint8))
        for i, (player, machine) in enumerate(zip(players, machines, strict=True)):
            player.playing = ctypes.addressof(self._playing)
            stack = np.zeros(self._shape, np.uint8)
            player.stack = self._keep(stack)
            player.pooled = self._keep(np.zeros((first.rows, WIDTH, channels), np.uint8))
            player.shrinking = self._keep(np.zeros((first.rows, size[1], channels), np.float32))
            player.merged = self._keep(np.zeros((2, 256, WIDTH), np.uint8))
            player.step.console, player.seeded = machine.address, 1
            if self._playing.all_drawn:
                player.step.skipped = skipped + i * first.core.console_skipped_size()
            if usual:
                old = np.zeros((2, *kernels.SCREEN), np.uint8)
                observation = kernels.observation(pairs, old, stack)
                self._kept += [pairs, old, observation]
                player.step.observation = ctypes.addressof(observation)
        self._kept.append(players)
        self._records: NDArray[Any] = np.frombuffer(memoryview(players).cast("B"), np.dtype(_Player))
        self._records["seed"] = np.frombuffer(os.urandom(4 * num_envs), np.int32)
        self._use(first.core, slice(None))
        threads = given["num_threads"] if given["num_threads"] > 0 else default_threads(num_envs, 1)
        self._batches: deque[_Batch] = deque()
        at, step, kept = ctypes.addressof(players), ctypes.sizeof(_Player), (self._kept, self._playing, self._batches)
        self._crew = Crew(first.core, min(threads, num_envs), at, step, num_envs, kept)
        self._translation.add(self)
        self._placed = 0
        self._all = np.arange(num_envs, dtype=np.int64)
        self._received = self._all[:0]

    def _keep(self, array: NDArray[Any]) -> int:
        """Keep an array as long as this object, and return its address."""
        array = np.ascontiguousarray(array)
        self._kept.append(array)
        return int(array.ctypes.data)

    def _set_reset(self, name: str, machine: Machine) -> None:
        """Set up the steps of a reset, as in `Machine.reset`, and the game's state after loading."""
        playing, facts = self._playing, game(name).facts
        script = [0, 60, _ACTIONS["RESET"], 4, _BEGIN, 0]
        select = facts.get("select", {})
        commands = [*select.get("first", ())]
        if select:
            commands.append(["until", select["hold_frames"]])
            registers = dict(select.get("set_register", {}))
            registers |= {
                key: by_mode[str(facts["mode"])] for key, by_mode in select.get("set_register_by_mode", {}).items()
            }
            names = [*REGISTERS, *facts.get("keep", {})]
            commands += [["set", names.index(key) + 16 * value] for key, value in registers.items()]
            commands += select.get("last", [["soft_reset"]])
            reached = select.get("until") or ["eq", select["watch"], select["until_equal"]]
            program = np.array(condition(facts, reached), np.int32)
            playing.reached, playing.reached_length = self._keep(program), len(program)
        for command, *operands in commands:
            if command == "soft_reset":
                script += [_ACTIONS["RESET"], 4]
            elif command == "step":
                script += [_STEP, _ACTIONS[operands[0]]] * operands[1]
            else:
                script += [{"press": _PRESS, "until": _UNTIL, "set": _SET}[command], operands[0]]
        script += [_ACTIONS["RESET"], 4]
        for action, count in facts.get("starting_actions", ()):
            script += [_ACTIONS[action], count]
        extra = facts["cartridge"].endswith("SC")
        playing.script, playing.script_length = self._keep(np.array(script, np.int32)), len(script)
        playing.begin, playing.begin_count = (
            self._keep(np.array(game(name).at_reset, np.int32)),
            len(game(name).at_reset),
        )
        playing.cart_ram, playing.loading_draws = extra, RAM_SIZE + 1 + 3 * (1 + RAM_SIZE * extra)
        playing.start = self._keep(np.frombuffer(machine.save(), np.uint8))
        playing.pictures = self._keep(machine.pictures().copy())

    def _set_size(self, screen: tuple[int, int], size: tuple[int, int]) -> None:
        """Set up how screens are resized."""
        playing, resize = self._playing, AreaResize(screen, size)
        if resize.block is not None:
            playing.block_height, playing.block_width = resize.block
            return
        for axis, (source, weight) in (("row", resize.rows), ("column", resize.columns)):
            setattr(playing, axis, self._keep(source.astype(np.int32)))
            setattr(playing, f"{axis}_weight", self._keep(weight))
            setattr(playing, f"{axis}_terms", len(source))

    def _use(self, core: ctypes.CDLL, games: NDArray[np.int64] | slice) -> None:
        """Play the waiting games on a core from now on; once all games use it, it becomes the vector's core."""
        play, address = self._records["step"]["play"], function_address(core.console_vector_step)
        play[games] = address
        if (play == address).all():
            self._core = core

    @property
    def played(self) -> int:
        """Frames played in steps."""
        return int(self._records["step"]["total"].sum())

    def _reset(self, games: NDArray[np.int64], numbers: NDArray[np.int64]) -> Any:
        self._settle()
        seeded = numbers >= 0
        self._records["seed"][games[seeded]] = numbers[seeded].astype(np.uint32).view(np.int32)
        self._records["seeded"][games[seeded]] = 1
        self._records["restart"][games] = 1
        self._give(games)
        if len(games) == self._count:
            observed, *_, infos = self._receive()
            return observed, infos
        self._settle()
        self._received = self._all
        batch = _Batch(self._count, self._shape, final=False)
        self._core.console_vector_show(ctypes.byref(batch), self._players, address_of(self._all), self._count)
        return batch.observed, batch.infos

    def _send(self, actions: NDArray[np.int64], strengths: NDArray[np.float32]) -> None:
        games, self._received = self._received, self._all[:0]
        self._give(games, self._numbers[actions], strengths)

    def _give(
        self,
        games: NDArray[np.int64],
        actions: NDArray[np.int64] | None = None,
        strengths: NDArray[np.float32] | None = None,
    ) -> None:
        """Hand games to the threads, each with the next free column of a batch for its results."""
        while len(games):
            if not self._batches or self._batches[-1].taken == self._batch_size:
                self._batches.append(_Batch(self._batch_size, self._shape, bool(self._playing.same_step)))
            batch = self._batches[-1]
            room = self._batch_size - batch.taken
            here, games = games[:room], games[room:]
            self._placed = batch.end = self._placed + len(here)
            if actions is None or strengths is None:
                self._crew.give(batch, here, 0, 0)
            else:
                self._crew.give(batch, here, address_of(actions), address_of(strengths))
                actions, strengths = actions[room:], strengths[room:]

    def _settle(self) -> None:
        """Wait until no game is being played, and discard the results."""
        self._placed = self._crew.settle()
        self._batches.clear()

    def _receive(self) -> Any:
        batch = self._batches[0]
        self._crew.wait(batch.end, batch.taken)  # before the pop: threads write into the batch after an interrupt
        self._batches.popleft()
        self._received = batch.numbers[0].astype(np.int64)
        if self._translation.core is not None and self._translation.core is not self._core:
            self._use(self._translation.core, self._received)
        infos = batch.infos
        terminated, truncated, ended = batch.flags
        if True in ended.tolist():
            self._translation.take_up()
            emulators.HERE.note()
            if batch.final is not None:
                infos["final_obs"] = batch.final
        return batch.observed, batch.numbers[1], terminated, truncated, infos
