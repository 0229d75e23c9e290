"""A vector of games, or other tasks, for a training program in any language, over pipes (docs/messages.md)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Annotated, Any

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from arcademark.environments.interfaces.single import INFOS
from arcademark.environments.interfaces.vector import GymnasiumVectorEnv
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
from arcademark.errors import ArcadeMarkError

MAX_BYTES = 2**20  # of a program's message


class Client(Message):
    """Greeting of a program, with its version of the protocol and the way to send observations."""

    version: int
    observations: Transport | None = None


class Reset(Message):
    """Request to begin an episode in each game; without a seed the next of the series, first of the server's seed."""

    seed: Annotated[int, Meta(ge=0)] | None = None


class StepRequest(Message, tag="step"):
    """Request to play an action in each game."""

    actions: list[int | float | list[Any]]


class Render(Message):
    """Request for the screen of a game or task, in colour."""

    row: int = 0


Said = Client | Reset | StepRequest | Render


class Server:
    """Answers a program's requests until it closes its end.

    Parameters
    ----------
    envs : GymnasiumVectorEnv
        Played as in `arcademark.make_vec`, with ``autoreset_mode="next_step"``.
    seed : int
        Seed of the first reset without one.
    incoming, outgoing : int
        Descriptors of the pipes from and to the program.
    """

    def __init__(self, envs: GymnasiumVectorEnv, seed: int, incoming: int, outgoing: int) -> None:
        self._envs, self._seed = envs, seed
        self._incoming, self._outgoing = incoming, outgoing
        self._wire = Wire(Said)
        self._how: Transport | None = None  # until the first message
        self._memory: NDArray[Any] | None = None
        self._begun = False

    def serve(self) -> None:
        """Answer each message; ArcadeMarkError, also sent to the program: a message is invalid or cannot be obeyed."""
        shared = Shared()
        try:
            for message in self._messages():
                self._send(self._answer(message, shared))
                if not isinstance(message, Client):
                    shared.unlink()
        except ArcadeMarkError as error:
            if self._wire.as_json is not None:
                self._send({"type": "error", "message": str(error)})
            raise
        finally:
            shared.unlink()

    def _messages(self) -> Iterator[Message]:
        try:
            while data := os.read(self._incoming, READ_BYTES):
                self._wire.add(data)
                while (message := self._wire.take(MAX_BYTES)) is not None:
                    yield message
        except NoMessageError as error:
            expected = "client, reset, step or render, in the framing of the first message"
            raise ArcadeMarkError(f"serve: the input is {error}; expected a message: {expected}") from None

    def _answer(self, message: Message, shared: Shared) -> dict[str, Any]:
        match message:
            case Client() if self._how is None:
                return self._meet(message, shared)
            case Reset(seed) if self._how is not None:
                if seed is None and not self._begun:
                    seed = self._seed
                self._begun = True
                _, infos = self._envs.reset(seed=seed)
                return {"type": "observations", **self._seen(), **_columns(infos)}
            case StepRequest(actions) if self._begun:
                _, rewards, terminated, truncated, infos = self._envs.step(_array(actions))
                ended = {"terminated": terminated.tolist(), "truncated": truncated.tolist()}
                given = {"rewards": rewards.tolist(), **ended, "episodes": _episodes(infos)}
                return {"type": "step", **self._seen(), **given, **_columns(infos)}
            case Render(row) if self._begun and 0 <= row < self._envs.num_envs:
                screen = self._envs.envs[row].environment.render()
                return {"type": "screen", "shape": screen.shape, "pixels": screen.tobytes()}
            case Render(row) if self._begun:
                raise ArcadeMarkError(f"serve: no row {row}; expected 0 to {self._envs.num_envs - 1}")
        raise ArcadeMarkError("serve: expected the messages 'client', once, 'reset', and then any but 'client'")

    def _meet(self, client: Client, shared: Shared) -> dict[str, Any]:
        if client.version != VERSION:
            raise ArcadeMarkError(f"serve: the program speaks version {client.version}; expected {VERSION}")
        spec = self._envs.envs[0].environment_spec
        self._how = client.observations or ("lists" if self._wire.as_json else "bytes")
        if self._how == "memory":
            self._memory = shared.rows(self._envs.num_envs, spec.observation_shape, spec.observation_dtype)
            self._envs.observed = self._memory
        return {
            "type": "hello",
            "version": VERSION,
            "games": [env.environment_spec.game for env in self._envs.envs],
            "protocol": spec.protocol.label,
            "unit": spec.protocol.unit,
            "observation": observation_space(spec),
            "action": action_space(spec),
            "memory": shared.path,
        }

    def _seen(self) -> dict[str, Any]:
        return sent(self._envs.observed, self._how or "bytes", self._memory)

    def _send(self, message: dict[str, Any]) -> None:
        left = memoryview(self._wire.encode(message))
        while left:
            left = left[os.write(self._outgoing, left) :]


def _array(actions: list[Any]) -> NDArray[Any]:
    try:
        return np.array(actions)
    except ValueError:
        raise ArcadeMarkError("serve: the actions are lists of different lengths; expected one per row") from None


def _columns(infos: dict[str, Any]) -> dict[str, Any]:
    return {name: infos[name].tolist() for name in INFOS}


def _episodes(infos: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the games that have just ended: row, raw score and agent steps."""
    if "episode" not in infos:
        return []
    rows = np.flatnonzero(infos["_episode"]).tolist()
    scores, steps = infos["episode"]["r"], infos["episode"]["l"]
    return [{"row": row, "score": float(scores[row]), "steps": int(steps[row])} for row in rows]
