"""Worker process, which plays the driver's orders and ends with the driver.

::

           ←─ Ready ─────────────────────
    driver ── Open(trial) ───────────────→ worker      makes the agent
           ←─ Opened(learns, …) ─────────
           ── Play(episodes, …) ────────→
           ←─ Begun, Played, EpisodeResult, TrainingBlock, Unfinished, Used, … ─
           ── Stop ─────────────────────→              ends training after the episode in play, with a checkpoint
           ←─ Idle ──────────────────────              asks for more of the same trial, or for another
           ←─ Failed(error) ─────────────              the trial is given up
"""

from __future__ import annotations

import contextlib
import os
import queue
import re
import resource
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import get_args

from arcademark.agents.adapters import CheckedPolicy
from arcademark.environments.registry import EmulatorName
from arcademark.errors import ArcadeMarkError, one_line
from arcademark.importing import where_raised
from arcademark.records.model import MAX_ERROR_CHARS, Checkpoint, Unfinished
from arcademark.runs.engines.processes import Channel, GarbledError, serving
from arcademark.runs.engines.shipping import Packed, unpacked
from arcademark.runs.plan import Trial
from arcademark.runs.playing.events import Failed, Opened, PlayEvent, Used
from arcademark.runs.playing.trial import TrialPlayer
from arcademark.runs.store.provenance import libraries, versions


@dataclass(frozen=True)
class Open:
    """Order to make the agent of a trial, to play on an emulator."""

    trial: Trial
    emulator: EmulatorName | None
    files: Packed | None = None  # of the agent, if it is made on another machine


@dataclass(frozen=True)
class PlayEpisodes:
    """Order to play evaluation episodes of the open trial."""

    episodes: Sequence[int]
    checkpoint: Checkpoint | None  # from which a learner's training continues first
    unfinished: tuple[Unfinished, ...] = ()  # kept states of a planner's episodes


@dataclass(frozen=True)
class Stop:
    """Order to end training after the episode in play, with a checkpoint."""


@dataclass(frozen=True)
class WorkerReady:
    """Report that the process has started, with its versions of packages that can change a score."""

    versions: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Idle:
    """Report that all orders are done."""


Order = Open | PlayEpisodes | Stop  # of the driver
Message = WorkerReady | Idle | Opened | Failed | Used | PlayEvent
"""Messages of a worker."""
MESSAGES: tuple[type, ...] = get_args(Message)


def main(descriptor: int) -> None:
    """Serve the driver at the other end of a socket until it closes."""
    channel = serving(descriptor, MESSAGES)
    orders: queue.SimpleQueue[Open | PlayEpisodes] = queue.SimpleQueue()
    stopping = threading.Event()
    threading.Thread(target=_receive, args=(channel, orders, stopping), daemon=True).start()

    def send(message: Message) -> None:
        try:
            channel.send(message)
        except OSError:  # the driver is gone
            os._exit(0)

    player: TrialPlayer | None = None
    send(WorkerReady(versions()))
    while True:
        order = orders.get()
        if isinstance(order, Open):
            player = None  # frees the memory of the previous trial, so that the peak is that of the next
        player = _obey(order, player, send, stopping)


def _receive(channel: Channel, orders: queue.SimpleQueue[Open | PlayEpisodes], stopping: threading.Event) -> None:
    """Queue orders, and end the process at once when the driver is gone."""
    try:
        while True:
            order: Order = channel.receive()
            if isinstance(order, Stop):
                stopping.set()
            else:
                orders.put(order)
    except (EOFError, OSError, GarbledError):
        os._exit(0)


def _obey(
    order: Open | PlayEpisodes, player: TrialPlayer | None, send: Callable[[Message], None], stopping: threading.Event
) -> TrialPlayer | None:
    try:
        if isinstance(order, Open):
            forget_peak()
            player = TrialPlayer(unpacked(order.trial, order.files), order.emulator)
            send(opened(player))
            return player
        if player is None:
            raise ArcadeMarkError("no trial is open")
        for event in player.play(order.episodes, order.checkpoint, order.unfinished, stopping.is_set):
            send(event)
        send(Used(peak_bytes()))
        send(Idle())
        return player
    except BaseException as error:
        send(failure(error))
    return None


def forget_peak() -> None:
    """Reset `peak_bytes`, if the system can."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def peak_bytes() -> int:
    """Return this process's peak memory: since `forget_peak` on Linux, since its start elsewhere."""
    with contextlib.suppress(OSError):
        if match := re.search(r"VmHWM:\s*(\d+) kB", Path("/proc/self/status").read_text(encoding="ascii")):
            return 1024 * int(match[1])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def opened(player: TrialPlayer) -> Opened:
    """Return the facts of a trial that are known once its agent was made."""
    agent = player.agent
    learnt = player.trial.learnt
    trained = learnt.frames if learnt else agent.trained_frames if isinstance(agent, CheckedPolicy) else None
    own = player.spec.frames_per_action
    return Opened(
        frames_per_action=None if own == player.trial.protocol.frame_skip else own,
        learns=player.learns,
        batch_size=agent.batch_size,
        plans=player.plans,
        trains=player.trains,
        trained_frames=trained,
        libraries=libraries(),
        draws=agent.draws if isinstance(agent, CheckedPolicy) else None,
    )


def failure(error: BaseException) -> Failed:
    """Return the failure of a trial that raised an error."""
    return Failed(one_line(str(error), MAX_ERROR_CHARS) if isinstance(error, ArcadeMarkError) else where_raised(error))
