"""Trials in processes of this machine."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from arcademark.runs.engines import processes, worker
from arcademark.runs.engines.pool import Link, PoolEngine


class LocalEngine(PoolEngine):
    """Plays jobs in up to so many processes of this machine, one a core by default; else as `PoolEngine`."""

    def __init__(self, workers: int | None = None, episode_seconds: float | None = None) -> None:
        super().__init__(workers or processes.available_cores(), episode_seconds)

    def start(self) -> Link:
        """Start a process."""
        return processes.Process(worker.main, worker.MESSAGES)

    def heard(self, links: Sequence[Link], seconds: float) -> Collection[Link]:
        """Wait until something has come, and return where it did or has broken off."""
        heard = processes.heard(links, seconds)
        return [link for link in links if link in heard or link.incoming.broken_off]
