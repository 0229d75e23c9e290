"""Client process that uses Ray for a driver, and the actor that Ray runs on the nodes.

::

    driver ─ orders, messages ─→ client ─ calls of an actor ─→ host ─ socket ─→ worker     one host per worker

It is a process of its own, because Ray ends the process that uses it when the cluster is lost. A host forwards bytes in
both directions without reading them. A worker's messages are fetched some megabytes at a time, so that Ray's object
store stays small. The client ends with the driver, and the hosts and their workers end with the client.

Ray itself sends calls and their results as pickles: whoever reaches a cluster can run code there.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import math
import os
import socket
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from arcademark.errors import one_line
from arcademark.runs.engines import processes
from arcademark.runs.engines.processes import Blame, Channel, GarbledError

READ_BYTES = 2**16
MAX_ANSWER_BYTES = 4 * 2**20  # bytes of messages that a host hands over in one answer
CONNECT_SECONDS = 10.0
WATCH_SECONDS = 5.0  # between looks at whether the client's node is part of the cluster
END_SECONDS = 2.0  # how long a host has to end its worker


@dataclass(frozen=True)
class Connect:
    """Order to connect to a cluster, or to start one on this machine if there is no address."""

    address: str | None
    gpus: float  # per worker
    waits: bool  # whether to wait for nodes of an autoscaler if there is no room for a worker yet
    console: str | None  # a game that every node must be able to play on our own emulator


@dataclass(frozen=True)
class StartWorker:
    """Order to start a worker, as soon as the cluster has room."""

    number: int


@dataclass(frozen=True)
class End:
    """Order to end a worker."""

    number: int


@dataclass(frozen=True)
class Connected:
    """Report that the cluster is connected."""

    workers: int  # for which it has room now


@dataclass(frozen=True)
class Refused:
    """Report that the cluster cannot be used, with the reason."""

    reason: str


@dataclass(frozen=True)
class WorkerBytes:
    """Bytes for a worker, or from it."""

    number: int
    data: bytes


@dataclass(frozen=True)
class Ended:
    """Report of a worker's end."""

    number: int
    how: str
    blame: Blame


Order = StartWorker | WorkerBytes | End  # what the client is sent
Message = Connected | Refused | WorkerBytes | Ended  # what the driver is sent
MESSAGES: tuple[type, ...] = (Connected, Refused, WorkerBytes, Ended)


class Host:
    """Ray's actor: starts a worker on its node and forwards bytes.

    Ray sends its code along, so that it can report nodes without ArcadeMark.
    """

    def __init__(self) -> None:
        self._kill: Callable[[], str] = str
        self._socket: socket.socket

    def begin(self, console: str | None) -> str | None:
        """Start the worker; return the reason if this node cannot."""
        try:
            from arcademark.environments.registry import choose_emulator
            from arcademark.errors import ArcadeMarkError
            from arcademark.runs.engines import processes, worker
        except ImportError as error:
            return f"a node lacks {error.name}; install the same on all nodes"
        try:
            if console is not None:
                choose_emulator(console, "console")
        except ArcadeMarkError as error:
            return f"a node lacks this emulator ({error}); install a C compiler, or use --engine emulator=ale"
        process, self._socket = processes.spawn(worker.main)
        self._kill = partial(processes.kill, process)
        return None

    def tell(self, data: bytes) -> None:
        """Send bytes to the worker."""
        with contextlib.suppress(OSError):  # its end is noticed when it is read
            self._socket.sendall(data)

    def hear(self) -> bytes:
        """Wait for bytes of the worker and return them; empty once it has ended."""
        heard = bytearray()
        with contextlib.suppress(OSError):  # nothing more for now, or it has ended
            heard += self._socket.recv(READ_BYTES)
            while heard and len(heard) < MAX_ANSWER_BYTES:
                if not (more := self._socket.recv(READ_BYTES, socket.MSG_DONTWAIT)):
                    break
                heard += more
        if not heard:
            self._socket.close()
        return bytes(heard)

    def end(self) -> str:
        """End the worker and all that it started; return how it ended."""
        return self._kill()


def main(descriptor: int) -> None:
    """Serve the driver at the other end of a socket until it closes."""
    channel = processes.serving(descriptor, MESSAGES)
    with contextlib.suppress(EOFError, OSError):  # the driver is gone
        _serve(channel, channel.receive())


def _serve(channel: Channel, connect: Connect) -> None:
    import ray

    try:
        _connect(connect.address)
        room = _room(connect.gpus)
        if not room and not (connect.waits and _grows()):
            needs = f"1 processor, gpus={connect.gpus:g}" if connect.gpus else "1 processor"
            remedy = "start one that has or request less, and give --workers where an autoscaler adds nodes"
            channel.send(Refused(f"none of its nodes has room for a worker ({needs}); {remedy}"))
            return
    except ray.exceptions.AuthenticationError:
        channel.send(Refused("it has another token; give this command its own (RAY_AUTH_TOKEN, ~/.ray/auth_token)"))
        return
    except Exception as error:  # ConnectionError, RuntimeError where versions differ, ValueError …
        channel.send(Refused(_described(error)))
        return
    channel.send(Connected(room))
    try:
        asyncio.run(_Client(channel, connect).serve())
    finally:
        ray.shutdown()


def _connect(address: str | None) -> None:
    import ray

    host, _, port = (address or "").rpartition(":")
    if port.isdecimal():  # Ray would try for minutes
        socket.create_connection((host.strip("[]"), int(port)), CONNECT_SECONDS).close()
    logging.getLogger("ray").setLevel(logging.ERROR)
    with contextlib.suppress(ImportError, AttributeError):  # no part of Ray's interface
        _silence_raylets()
    if address is None:
        ray.init("local", include_dashboard=False, num_cpus=processes.available_cores(), logging_level=logging.ERROR)
        return
    with contextlib.suppress(ImportError):  # no part of Ray's interface
        _check_token(address)
    ray.init(address, logging_level=logging.ERROR)


def _silence_raylets() -> None:
    """Suppress Ray's output about nodes, such as the log of a lost one, but keep that of agents."""
    from ray._private import worker

    show: Callable[..., None] = worker.print_to_stdstream

    def show_others(data: Mapping[str, Any], *args: Any, **options: Any) -> None:
        if data.get("pid") != "raylet":
            show(data, *args, **options)

    worker.print_to_stdstream = show_others


def _check_token(address: str) -> None:
    """Raise Ray's `AuthenticationError` for a token that the cluster refuses; `ray.init` would only retry."""
    from ray._private.authentication.authentication_token_setup import ensure_token_if_auth_enabled
    from ray._private.services import canonicalize_bootstrap_address
    from ray._raylet import GcsClient

    ensure_token_if_auth_enabled(create_token_if_missing=False)
    if endpoint := canonicalize_bootstrap_address(address):
        kept = os.dup(2)
        with open(os.devnull, "wb") as nowhere:  # where Ray's own warning goes
            os.dup2(nowhere.fileno(), 2)
        try:
            GcsClient(address=endpoint)
        finally:
            os.dup2(kept, 2)
            os.close(kept)


def _room(gpus: float) -> int:
    """Return the number of workers, with `gpus` GPUs each, for which the nodes have room."""
    import ray

    every = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    return sum(int(min(has.get("CPU", 0), has.get("GPU", 0) / gpus if gpus else math.inf)) for has in every)


def _node_lives() -> bool:
    """Return True if this process's node is still part of the cluster; without it nothing can be started."""
    import ray

    with contextlib.suppress(Exception):  # that the whole cluster is lost Ray notices itself
        here = ray.get_runtime_context().get_node_id()
        return any(node["NodeID"] == here and node["Alive"] for node in ray.nodes())
    return True


def _grows() -> bool:
    """Return True if there may be an autoscaler: without one, each node is reported as a type of its own."""
    import ray
    from ray.experimental.internal_kv import _internal_kv_get

    report = json.loads(_internal_kv_get("__autoscaling_status") or "{}").get("autoscaler_report") or {}
    types = set(report.get("active_nodes") or ())
    return not types or not types <= {f"node_{node['NodeID']}" for node in ray.nodes()}


class _Client:
    """Forwards the driver's orders and the workers' messages."""

    def __init__(self, channel: Channel, connect: Connect) -> None:
        import ray

        self._channel, self._settings = channel, connect
        ray.cloudpickle.register_pickle_by_value(sys.modules[Host.__module__])
        self._actor = ray.remote(num_cpus=1, num_gpus=connect.gpus, max_concurrency=3)(Host)
        self._hosts: dict[int, Any] = {}
        self._plays: dict[int, asyncio.Task[None]] = {}
        self._ends: set[asyncio.Task[None]] = set()

    async def serve(self) -> None:
        """Obey orders until the driver closes the channel, or this node is lost; then end all workers."""
        orders: asyncio.Queue[Order | None] = asyncio.Queue()
        threading.Thread(target=self._receive, args=(orders, asyncio.get_running_loop()), daemon=True).start()
        watch = asyncio.create_task(self._watch(orders))
        while (order := await orders.get()) is not None:
            match order:
                case StartWorker(number):
                    self._hosts[number] = self._actor.remote()
                    self._plays[number] = asyncio.create_task(self._play(number, self._hosts[number]))
                case WorkerBytes(number, data) if number in self._hosts:
                    self._hosts[number].tell.remote(data)
                case End(number):
                    self._end(number)
        watch.cancel()
        for number in list(self._hosts):
            self._end(number)
        await asyncio.gather(*self._ends)

    async def _watch(self, orders: asyncio.Queue[Order | None]) -> None:
        while await asyncio.to_thread(_node_lives):
            await asyncio.sleep(WATCH_SECONDS)
        orders.put_nowait(None)

    def _receive(self, orders: asyncio.Queue[Order | None], loop: asyncio.AbstractEventLoop) -> None:
        try:
            while True:
                loop.call_soon_threadsafe(orders.put_nowait, self._channel.receive())
        except (EOFError, OSError, GarbledError):
            loop.call_soon_threadsafe(orders.put_nowait, None)

    async def _play(self, number: int, host: Any) -> None:
        """Forward a worker's messages and report its end."""
        from ray.exceptions import OutOfMemoryError, RayError, RayTaskError

        try:
            if reason := await host.begin.remote(self._settings.console):
                self._channel.send(Refused(reason))
                return
            while data := await host.hear.remote():
                self._channel.send(WorkerBytes(number, data))
            ended = Ended(number, await host.end.remote(), "process")
        except OutOfMemoryError as error:
            ended = Ended(number, _described(error), "memory")
        except RayTaskError as error:
            ended = Ended(number, _described(error.cause), "process")
        except RayError as error:
            ended = Ended(number, _described(error), "node")
        if number in self._hosts:
            self._channel.send(ended)
            self._end(number)

    def _end(self, number: int) -> None:
        """End a worker and its host, and forward no more messages."""
        if host := self._hosts.pop(number, None):
            ending = asyncio.create_task(_ended(host))
            self._ends.add(ending)
            ending.add_done_callback(self._ends.discard)
            self._plays.pop(number).cancel()


async def _ended(host: Any) -> None:
    import ray

    with contextlib.suppress(ray.exceptions.RayError, TimeoutError):
        await asyncio.wait_for(host.end.remote(), END_SECONDS)
    ray.kill(host)


def _described(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return one_line(f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__, 300)
