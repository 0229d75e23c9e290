"""Engine that plays trials in worker processes on the nodes of a Ray cluster.

A separate process (`arcademark.runs.engines.ray_client`) places the workers and forwards orders and messages, which are
checked here like those of local processes. A worker lost with its node is replaced by another, which continues
from the recorded state; later messages of the lost one are ignored.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import subprocess
from collections.abc import Collection, Generator, Iterator, Sequence
from dataclasses import replace
from importlib.util import find_spec

from arcademark.errors import ArcadeMarkError
from arcademark.runs.engines import processes, ray_client, shipping, worker
from arcademark.runs.engines.base import Batch, Job, Memory
from arcademark.runs.engines.pool import WAIT_SECONDS, Link, LocalEngine
from arcademark.runs.engines.processes import Channel, Ending, Incoming, Process

LEAVE_SECONDS = 10.0  # maximum time for the client to end


class Remote:
    """A worker on a node; an `arcademark.runs.engines.pool.Link`."""

    def __init__(self, number: int, client: Channel) -> None:
        self.number = number
        self.ending: Ending | None = None
        self.incoming = Incoming(worker.MESSAGES)
        self._client = client

    def send(self, order: worker.Order) -> None:
        """Send an order."""
        self._client.send(ray_client.WorkerBytes(self.number, b"".join(processes.framed(order))))

    def arrived(self) -> Iterator[worker.Message]:
        """Yield received messages."""
        yield from self.incoming.whole()
        if self.ending:
            raise EOFError

    def ended(self) -> bool:
        """Return False: the end of a remote worker shows in `arrived`, after everything that it sent."""
        return False

    def kill(self) -> Ending:
        """End it, and return how it ended if known."""
        if self.ending is None:
            with contextlib.suppress(OSError):
                self._client.send(ray_client.End(self.number))
        return self.ending or Ending("ended by the driver")

    def close(self) -> None:
        """Do nothing: the client closes it."""


class RayEngine(LocalEngine):
    """Engine that plays jobs on a Ray cluster, or on one that it starts on this machine if there is no address.

    Parameters
    ----------
    workers : int, optional
        By default as many as the cluster has processors for. More wait for room, as requests that an autoscaler sees.
    episode_seconds : float, optional
        As in `LocalEngine`.
    address : str, optional
        Address of the cluster: "host:port", or "auto" for the one of which this machine is a node.
    gpus : float
        GPUs, or a share of one, per worker.

    Raises
    ------
    ArcadeMarkError
        If Ray is not installed, the address has another form, or RAY_AUTH_MODE is not set.
    """

    def __init__(
        self,
        workers: int | None = None,
        episode_seconds: float | None = None,
        address: str | None = None,
        gpus: float = 0.0,
    ) -> None:
        if find_spec("ray") is None:
            raise ArcadeMarkError("engine ray: Ray is not installed; pip install '.[ray]'")
        if address is not None and "://" in address:
            raise ArcadeMarkError(
                f"address {address}: expected HOST:PORT or auto; give the command on a node of the cluster"
            )
        if address is not None and not os.environ.get("RAY_AUTH_MODE"):
            raise ArcadeMarkError(
                f"address {address}: set RAY_AUTH_MODE=token here as on the cluster's nodes, so that none but you can "
                "run code there (docs/ray.md); or RAY_AUTH_MODE=disabled, for a cluster that requires no token"
            )
        super().__init__(workers or 0, episode_seconds)
        self._address, self._gpus = address, gpus
        self._numbers = itertools.count()
        self._remotes: dict[int, Remote] = {}
        self._client: Process | None = None

    def run(self, jobs: Sequence[Job], memory: Memory) -> Generator[Batch, None, None]:
        """Play all jobs, yielding batches of events."""
        if not jobs:
            return
        console = next((job.trial.game for job in jobs if job.emulator == "console"), None)
        self._client = Process(ray_client.main, ray_client.MESSAGES)
        try:
            self._tell(ray_client.Connect(self._address, self._gpus, bool(self._limit), console))
            while not self._limit:
                if self._finishing:
                    return
                self._listen_to_client(WAIT_SECONDS)
                yield ()
            yield from super().run(jobs, memory)
        finally:
            self.stop()

    def stop(self) -> Batch:
        """End all play at once, leave the cluster, and return the events so far."""
        batch = super().stop()
        if self._client:
            self._client.close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._client.process.wait(LEAVE_SECONDS)
            self._client.kill()
            self._client = None
        return batch

    def start(self) -> Link:
        """Order a worker."""
        remote = Remote(next(self._numbers), self._channel)
        self._remotes[remote.number] = remote
        self._tell(ray_client.StartWorker(remote.number))
        return remote

    def opening(self, job: Job) -> worker.Open:
        """Return the order to make a job's agent, with its files."""
        return replace(super().opening(job), files=shipping.packed(job.trial))

    def heard(self, links: Sequence[Link], seconds: float) -> Collection[Link]:
        """Wait for messages, and return the workers that sent some."""
        heard = self._listen_to_client(seconds)
        self._remotes = {link.number: link for link in links if isinstance(link, Remote)}
        return [link for link in self._remotes.values() if link.number in heard or link.incoming.broken_off]

    @property
    def _channel(self) -> Channel:
        assert self._client is not None
        return self._client

    def _tell(self, order: ray_client.Connect | ray_client.StartWorker) -> None:
        with contextlib.suppress(OSError):  # its end is noticed when it is read
            self._channel.send(order)

    def _listen_to_client(self, seconds: float) -> set[int]:
        """Wait up to `seconds` for the client's messages; return the numbers of the workers that sent them."""
        heard = set()
        try:
            for channel in processes.heard([self._channel], seconds):
                for message in channel.arrived():
                    heard.add(self._hear_client(message))
        except (EOFError, OSError, processes.GarbledError):
            raise ArcadeMarkError(
                f"{self._cluster} was lost; what was recorded is kept: once it is back, the same command continues"
            ) from None
        return heard

    def _hear_client(self, message: ray_client.Message) -> int:
        match message:
            case ray_client.Connected(room):
                self._limit = self._limit or room
                return -1
            case ray_client.Refused(reason):
                raise ArcadeMarkError(f"{self._cluster} cannot be used: {reason}")
        if remote := self._remotes.get(message.number):
            if isinstance(message, ray_client.WorkerBytes):
                remote.incoming.add(message.data)
            else:
                remote.ending = Ending(message.how, message.blame)
        return message.number

    @property
    def _cluster(self) -> str:
        if self._address in (None, "auto"):
            return "Ray on this machine" if self._address is None else "the Ray cluster of this machine"
        return f"the Ray cluster at {self._address}"
