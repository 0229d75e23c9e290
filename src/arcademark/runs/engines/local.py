"""Trials in processes of this machine."""

from __future__ import annotations

import subprocess
from collections.abc import Collection, Iterator, Sequence

from arcademark.runs.engines import processes, worker
from arcademark.runs.engines.pool import Ending, Link, PoolEngine
from arcademark.runs.engines.processes import Channel


class Process:
    """A worker process of this machine; an `arcademark.runs.engines.pool.Link`."""

    def __init__(self, process: subprocess.Popen[bytes], channel: Channel) -> None:
        self.process, self.channel = process, channel

    def send(self, order: worker.Order) -> None:
        """Send an order."""
        self.channel.send(order)

    def arrived(self) -> Iterator[worker.Message]:
        """Yield the messages that have come."""
        return self.channel.arrived()

    def ended(self) -> bool:
        """Whether the process has ended."""
        return self.process.poll() is not None

    def kill(self) -> Ending:
        """End the process with all that it started, and say how it ended."""
        return Ending(processes.kill(self.process))

    def close(self) -> None:
        """Close the channel."""
        self.channel.close()


class LocalEngine(PoolEngine):
    """Plays jobs in up to so many processes of this machine, one a core by default; else as `PoolEngine`."""

    def __init__(self, workers: int | None = None, episode_seconds: float | None = None) -> None:
        super().__init__(workers or processes.available_cores(), episode_seconds)

    def start(self) -> Link:
        """Start a process."""
        return start()

    def heard(self, links: Sequence[Link], seconds: float) -> Collection[Link]:
        """Wait until something has come, and return where it did or has broken off."""
        ours = [link for link in links if isinstance(link, Process)]
        heard = processes.heard([link.channel for link in ours], seconds)
        return [link for link in ours if link.channel in heard or link.channel.broken_off]


def start() -> Process:
    """Start a worker process."""
    return Process(*processes.start(worker.main, worker.MESSAGES))
