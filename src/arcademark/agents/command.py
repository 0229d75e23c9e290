"""Agents that are programs in any language and communicate over pipes (docs/messages.md).

::

    program ── agent(version) ───────────→ this process
            ←─ hello(game, spaces, …) ────
            ── ready(learns, batch_size, …) ─→
            ←─ act(first, seeds, observations) ─
            ── actions(actions) ─────────→                … and train, learn, evaluate, checkpoint, restore

Each message has exactly one answer, so that other output is noticed. A program runs in a process group of its own,
which a guard ends when this process ends in any way.
"""

from __future__ import annotations

import contextlib
import inspect
import os
import select
import shlex
import shutil
import signal
import time
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen, TimeoutExpired
from typing import Annotated, Any, TypeVar

import numpy as np
from msgspec import Meta

from arcademark.agents.base import MAX_BATCH, Actions, Flags, Generators, Observations, Transition
from arcademark.environments.base import AskedObservation, EnvironmentSpec
from arcademark.environments.interfaces.wire import (
    READ_BYTES,
    VERSION,
    Message,
    NoMessageError,
    Shared,
    Transport,
    Wire,
    action_space,
    observation_space,
    sent,
)
from arcademark.environments.registry import as_asked
from arcademark.errors import ArcadeMarkError, escaped, one_line

ANSWER_SECONDS = 60.0
"""Default limit of an answer's time."""

LEAVE_SECONDS = 2.0  # time to end by itself once its standard input is closed
LOOK_SECONDS = 0.25  # interval of checks whether a program has ended but left its output to another
MAX_ANSWER = 2**20  # bytes
MAX_CHECKPOINT = 2**31
MAX_STDERR_BYTES = 4096  # kept bytes of standard error
MAX_READS = 64  # of what is left of it
SEEDS = 2**32

GUARD = """trap '' HUP INT TERM; read _; rm -f "$1"; kill -KILL 0"""
"""Guard in the program's process group, which waits for its pipe to close and ends the group."""
START = """trap '' TERM; exec "$@\""""
"""Start of the program, which ignores SIGTERM, as batch systems send it to all processes."""

Count = Annotated[int, Meta(ge=1, le=2**62)]


class AgentGreeting(Message, tag="agent"):
    """Greeting of an agent, with its version of the protocol."""

    version: int


class Ready(Message):
    """Properties of the agent, as in `arcademark.agents.base`; `observations` is the way to send them."""

    learns: bool = False
    batch_size: Annotated[int, Meta(ge=1, le=MAX_BATCH)] = 1
    observations: Transport | None = None
    observation: AskedObservation | None = None
    frames_per_action: Count | None = None
    trained_frames: Count | None = None
    checkpoint_frames: Count | None = None


class Acted(Message, tag="actions"):
    """Actions, one per row: a number, or lists of numbers."""

    actions: list[Any]


class Done(Message):
    """Confirmation of a request."""


class Kept(Message, tag="checkpoint"):
    """A learner's checkpoint."""

    data: bytes


class Error(Message):
    """Refusal of a request, with the reason."""

    message: str


Said = AgentGreeting | Ready | Acted | Done | Kept | Error
Answer = TypeVar("Answer", bound=Message)


class CommandError(ArcadeMarkError):
    """Error of an agent's program, in one line that names the agent and the game."""


@dataclass(frozen=True)
class AgentCommand:
    """A command whose program is an agent.

    Parameters
    ----------
    words : tuple of str
        The program's absolute path and its arguments.
    label : str
        The command, with the names of files alone instead of their paths.
    timeout : float
        Seconds that an answer may take.
    """

    words: tuple[str, ...]
    label: str
    timeout: float = ANSWER_SECONDS

    @property
    def files(self) -> dict[str, str]:
        """The files that its arguments name, by argument; for an interpreter the script."""
        named = {word: word.partition("=")[2] if word.startswith("-") else word for word in self.words[1:]}
        return {word: path for word, path in named.items() if _is_file(Path(path))}


def read_command(text: str, timeout: float = ANSWER_SECONDS) -> AgentCommand:
    """Split a command into words as a shell would, and find its program; nothing is started.

    ArcadeMarkError: its quotes do not close, it is empty or has invisible characters, or there is no such program.
    """
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise ArcadeMarkError(f"agent command {one_line(text)!r}: {error}; close its quotes") from None
    if not words or escaped(text, kept="\n\t") != text:
        raise ArcadeMarkError(
            f"agent command {one_line(text)!r}: expected a program and its arguments, in visible text"
        )
    if not timeout > 0:
        raise ArcadeMarkError(f"agent command {words[0]}: {timeout} seconds for an answer; expected more than 0")
    program = shutil.which(words[0])
    if program is None:
        exists = _is_file(Path(words[0]))
        remedy = "make it executable, or name what runs it, as in 'python3 agent.py'" if exists else "check its path"
        wrong = "not executable" if exists else "no such program"
        raise ArcadeMarkError(f"agent command {words[0]}: {wrong}; {remedy}")
    names = [Path(word).name if _is_file(Path(word)) else word for word in words[1:]]
    return AgentCommand((os.path.abspath(program), *words[1:]), shlex.join([Path(program).name, *names]), timeout)


def factory_of_command(command: AgentCommand, label: str, names: tuple[str, ...]) -> Callable[..., CommandPolicy]:
    """Return the factory of a command's agent, which receives the parameters `names`."""

    def start(env: EnvironmentSpec, **parameters: Any) -> CommandPolicy:
        program = AgentProcess(command, f"agent {label} on {env.game}")
        ready, memory = program.meet(env, parameters)
        return (CommandLearner if ready.learns else CommandPolicy)(program, ready, memory)

    own = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in names]
    env = inspect.Parameter("env", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    start.__signature__ = inspect.Signature([env, *own])  # type: ignore[attr-defined]
    return start


class CommandPolicy:
    """A program as an `arcademark.agents.base.Policy`; its mistakes raise a `CommandError`."""

    def __init__(self, program: AgentProcess, ready: Ready, memory: Observations | None) -> None:
        for name in ("batch_size", "observation", "frames_per_action", "trained_frames", "checkpoint_frames"):
            setattr(self, name, getattr(ready, name))
        self._program, self.memory = program, memory
        self._how: Transport = ready.observations or ("lists" if program.wire.as_json else "bytes")
        self._seeds: list[int] = []
        weakref.finalize(self, program.end, LEAVE_SECONDS)

    def act(self, observations: Observations, first: Flags, rngs: Generators) -> Actions:
        """Request an action per row; where an episode begins, a seed is drawn from its generator."""
        self._seeds += [0] * (len(first) - len(self._seeds))
        for row in np.flatnonzero(first).tolist():
            self._seeds[row] = int(rngs[row].integers(SEEDS))
        message = {"type": "act", "first": first.tolist(), "seeds": self._seeds[: len(first)]}
        answer = self._program.ask(message | sent(observations, self._how, self.memory), Acted)
        try:
            return np.array(answer.actions)
        except ValueError:
            raise self._program.fault(
                "its actions are lists of different lengths; expected one array per row"
            ) from None


class CommandLearner(CommandPolicy):
    """A program as an `arcademark.agents.base.Learner`."""

    def train(self) -> None:
        """Switch it to training."""
        self._program.ask({"type": "train"}, Done)

    def evaluate(self) -> None:
        """Switch it to evaluation."""
        self._program.ask({"type": "evaluate"}, Done)

    def learn(self, transition: Transition, rng: np.random.Generator) -> None:
        """Send the result of its last action."""
        after = sent(transition.next_observation[None], self._how, self.memory)
        given = {name: getattr(transition, name) for name in ("reward", "terminated", "truncated")}
        action = np.asarray(transition.action).tolist()
        self._program.ask({"type": "learn", "action": action, **given, **after}, Done)

    def checkpoint(self) -> bytes:
        """Request its state as bytes."""
        return self._program.ask({"type": "checkpoint"}, Kept, MAX_CHECKPOINT).data

    def restore(self, checkpoint: bytes) -> None:
        """Restore the state of a checkpoint."""
        self._program.ask({"type": "restore", "data": checkpoint}, Done)


class AgentProcess:
    """A command's process, and the exchange with it.

    Parameters
    ----------
    command : AgentCommand
    where : str
        The agent and the game, for messages.

    Raises
    ------
    CommandError
        The process cannot be started.
    """

    def __init__(self, command: AgentCommand, where: str) -> None:
        self.where = where
        self.wire = Wire(Said)
        self._timeout = command.timeout
        self._last = b""  # of its standard error
        self._ended, self._owner = False, os.getpid()
        self._shared = Shared()
        guarded, self._guarding = os.pipe()
        self._started: list[Popen[bytes]] = []
        try:
            shell = ["/bin/sh", "-c", GUARD, "sh", self._shared.path]
            guard = Popen(shell, stdin=guarded, stdout=DEVNULL, stderr=DEVNULL, process_group=0)
            self._started.append(guard)
            words = ["/bin/sh", "-c", START, "sh", *command.words]
            self._process = Popen(words, stdin=PIPE, stdout=PIPE, stderr=PIPE, bufsize=0, process_group=guard.pid)
            self._started.append(self._process)
        except OSError as error:
            self.end()
            raise CommandError(f"{where}: its command cannot be started ({error.strerror})") from None
        finally:
            os.close(guarded)
        streams = self._process.stdin, self._process.stdout, self._process.stderr
        self._in, self._out, self._err = (stream.fileno() for stream in streams if stream is not None)
        self._poll = select.poll()
        for descriptor in (self._in, self._out, self._err):
            os.set_blocking(descriptor, False)
        for descriptor in (self._out, self._err):
            self._poll.register(descriptor, select.POLLIN)

    def meet(self, env: EnvironmentSpec, parameters: Mapping[str, Any]) -> tuple[Ready, Observations | None]:
        """Send the game, and return the agent's properties, with the memory of its observations if it maps it.

        CommandError: as in `ask`, or it speaks another version.
        """
        try:
            spoken = self.ask(None, AgentGreeting).version
            if spoken != VERSION:
                raise self.fault(f"it speaks version {spoken} of the protocol; expected {VERSION}")
            ready = self.ask(
                {
                    "type": "hello",
                    "version": VERSION,
                    "game": env.game,
                    "protocol": env.protocol.label,
                    "seed": env.seed or 0,
                    "observation": observation_space(env),
                    "action": action_space(env),
                    "parameters": dict(parameters),
                    "memory": self._shared.path,
                },
                Ready,
            )
            if ready.observations != "memory":
                return ready, None
            seen = as_asked(env, ready.observation)
            return ready, self._shared.rows(ready.batch_size, seen.observation_shape, seen.observation_dtype)
        except BaseException:
            self.end()
            raise
        finally:
            self._shared.unlink()

    def ask(self, message: Mapping[str, Any] | None, kind: type[Answer], most: int = MAX_ANSWER) -> Answer:
        """Send a message, if any, and return its answer, of a kind and of up to `most` bytes.

        CommandError: the answer is wrong, or too late; the program is ended.
        """
        to = f"its answer to '{message['type']}'" if message else "its first message"
        if self._ended:
            raise CommandError(f"{self.where}: it was ended earlier, so {to} is unavailable")
        left = memoryview(b"" if message is None else self.wire.encode(message))
        deadline = time.monotonic() + self._timeout
        answer = None
        try:
            while answer is None:
                left = self._write(left)
                if not self._wait(deadline, bool(left)):
                    raise self.fault(f"{to} did not come within {self._timeout:g} s; more: --engine answer_seconds=N")
                answer = self.wire.take(most)
        except NoMessageError as error:
            expected = f"a message '{_tag(kind)}'" + ("" if message else " and nothing else on its standard output")
            raise self.fault(f"{to} is {error}; expected {expected}") from None
        except EOFError:
            raise self.fault(f"it ended ({self._how_ended()}) before {to}") from None
        if isinstance(answer, Error):
            raise self.fault(f"it reports: {one_line(answer.message, 400)}")
        if not isinstance(answer, kind):
            raise self.fault(f"{to} is a message '{_tag(type(answer))}'; expected '{_tag(kind)}'")
        if left or self.wire.pending:
            raise self.fault(f"it sent more than {to}; expected one message per request")
        return answer

    def end(self, seconds: float = 0.0) -> None:
        """End the process and all that it started, after closing its standard input and waiting for `seconds`."""
        if self._ended or os.getpid() != self._owner:  # a copy of the process that was forked off since
            return
        self._ended = True
        for process in self._started:
            if process.stdin is not None:
                process.stdin.close()
        if seconds:
            with contextlib.suppress(TimeoutExpired):
                self._process.wait(seconds)
        if self._started:
            with contextlib.suppress(OSError):
                os.killpg(self._started[0].pid, signal.SIGKILL)
        os.close(self._guarding)
        for process in self._started:
            process.kill()
            process.wait()
            for stream in (process.stdout, process.stderr):
                if stream is not None:
                    stream.close()
        self._shared.unlink()

    def _write(self, left: memoryview) -> memoryview:
        try:
            while left:
                left = left[os.write(self._in, left) :]
        except BlockingIOError:
            return left
        except BrokenPipeError:  # it reads no more; its end is noticed when it is read
            pass
        return memoryview(b"")

    def _wait(self, deadline: float, writing: bool) -> bool:
        """Wait until something has come, or more can be sent; False if that takes too long, EOFError if none will."""
        if writing:
            self._poll.register(self._in, select.POLLOUT)
        try:
            while (seconds := deadline - time.monotonic()) > 0:
                ready = dict(self._poll.poll(1000 * min(seconds, LOOK_SECONDS)))
                if self._err in ready and not self._hear():
                    self._poll.unregister(self._err)
                if self._out in ready:
                    if not (data := os.read(self._out, READ_BYTES)):
                        raise EOFError
                    self.wire.add(data)
                    return True
                if self._in in ready:
                    return True
                if not ready and self._process.poll() is not None:
                    raise EOFError
            return False
        finally:
            if writing:
                self._poll.unregister(self._in)

    def _hear(self) -> bool:
        """Read its standard error and keep the end; False if there will be no more."""
        try:
            data = os.read(self._err, READ_BYTES)
        except BlockingIOError:
            return True
        self._last = (self._last + data)[-MAX_STDERR_BYTES:]
        return bool(data)

    def _how_ended(self) -> str:
        try:
            code = self._process.wait(LOOK_SECONDS)
        except TimeoutExpired:
            return "it closed its standard output"
        names = {number.value: number.name for number in signal.Signals}
        return names.get(-code, f"signal {-code}") if code < 0 else f"exit code {code}"

    def fault(self, what: str) -> CommandError:
        """End the program, and return the error about it."""
        with contextlib.suppress(OSError):
            for _ in range(MAX_READS):
                if self._err not in dict(self._poll.poll(0)) or not self._hear():
                    break
        self.end()
        lines = self._last.decode(errors="backslashreplace").split("\n")
        last = next((line.strip() for line in reversed(lines) if line.strip()), "")
        ending = f"; its standard error ends with: {one_line(last, 200)}" if last else ""
        return CommandError(f"{self.where}: {what}{ending}")


def _tag(kind: type[Message]) -> str:
    return str(kind.__struct_config__.tag)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False
