"""A worker process: plays what the driver sends, and ends when the driver does.

::

           ←─ Ready ─────────────────────
    driver ── Open(trial) ───────────────→ worker      makes the agent
           ←─ Opened(learns, …) ─────────
           ── Play(episodes, …) ────────→
           ←─ Begun, Played, EpisodeResult, TrainingBlock, Unfinished, … ─
           ── Stop ─────────────────────→              ends training after the episode in play, with a checkpoint
           ←─ Idle ──────────────────────              asks for more of the same trial, or for another
           ←─ Failed(error) ─────────────              the trial is given up
"""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

from arcademark.agents.importing import where_raised
from arcademark.errors import ArcadeMarkError
from arcademark.runs.engines.base import Failed, Opened
from arcademark.runs.lane import Begun, Played, Trained, TrainingBlock
from arcademark.runs.plan import Trial
from arcademark.runs.store import Checkpoint, EpisodeResult, Unfinished
from arcademark.runs.trial import Player


@dataclass(frozen=True)
class Open:
    """Make the agent of a trial."""

    trial: Trial


@dataclass(frozen=True)
class Play:
    """Play evaluation episodes of the open trial.

    Parameters
    ----------
    episodes : tuple of int
    checkpoint : Checkpoint or None
        From where a learner is trained first.
    unfinished : tuple of Unfinished
        Where some of a planner's episodes go on.
    """

    episodes: tuple[int, ...]
    checkpoint: Checkpoint | None
    unfinished: tuple[Unfinished, ...] = ()


@dataclass(frozen=True)
class Stop:
    """Train no further than the episode in play, and hand over what was learnt."""


@dataclass(frozen=True)
class Ready:
    """The process has started."""


@dataclass(frozen=True)
class Idle:
    """All that was asked for is done."""


Order = Open | Play | Stop
"""What a worker is sent."""
Message = Ready | Idle | Opened | Failed | Begun | Played | EpisodeResult | Trained | TrainingBlock | Unfinished
"""What a worker sends."""


def main(descriptor: int) -> None:
    """Serve the driver at the other end of a socket until it closes."""
    connection: Connection[Any, Any] = Connection(descriptor)
    orders: queue.SimpleQueue[Open | Play] = queue.SimpleQueue()
    stopping = threading.Event()
    threading.Thread(target=_receive, args=(connection, orders, stopping), daemon=True).start()
    send = connection.send
    player: Player | None = None
    send(Ready())
    while True:
        player = _obey(orders.get(), player, send, stopping)


def _receive(
    connection: Connection[Any, Any], orders: queue.SimpleQueue[Open | Play], stopping: threading.Event
) -> None:
    """Pass orders on; without a driver there is nothing to live for, whatever is being played."""
    try:
        while True:
            order: Order = connection.recv()
            if isinstance(order, Stop):
                stopping.set()
            else:
                orders.put(order)
    except (EOFError, OSError):
        os._exit(0)


def _obey(
    order: Open | Play, player: Player | None, send: Callable[[Message], None], stopping: threading.Event
) -> Player | None:
    try:
        if isinstance(order, Open):
            player = Player(order.trial)
            send(Opened(player.frames_per_action, player.learns, player.agent.batch_size, player.plans))
            return player
        if player is None:
            raise ArcadeMarkError("no trial is open")
        for happening in player.play(order.episodes, order.checkpoint, order.unfinished, stopping.is_set):
            send(happening)
        send(Idle())
        return player
    except BrokenPipeError:
        os._exit(0)
    except ArcadeMarkError as error:
        send(Failed(str(error)))
    except BaseException as error:
        send(Failed(where_raised(error)))
    return None
