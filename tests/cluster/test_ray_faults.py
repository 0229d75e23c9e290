"""Runs on a real Ray cluster of two nodes, disturbed in every way: what is left is an undisturbed run, row by row."""

from __future__ import annotations

import contextlib
import os
import pickle
import re
import signal
import sqlite3
import subprocess
import sys
import time
import uuid
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from arcademark.agents.loading import agent_specs
from arcademark.records.reading import read_run
from arcademark.runs.execution import execute
from arcademark.runs.plan import make_plan
from arcademark.suite.protocols import protocol

pytestmark = [
    pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed: pip install '.[ray]'"),
    pytest.mark.cluster,
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # Ray leaves files and processes to the collector
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

PACED = Path(__file__).parents[1] / "runs" / "paced.py"
MARK = "ARCADEMARK_TEST_MARK"
TOKEN = uuid.uuid4().hex
SECONDS = 240.0  # that anything may take on a busy machine
DRIVER = """
import pickle, resource, sys
from arcademark.errors import ArcadeMarkError
from arcademark.runs.execution import execute
plan, directory, most, options = pickle.load(sys.stdin.buffer)
if most:
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
try:
    summary = execute(plan, directory, engine="ray", **options)
except ArcadeMarkError as error:
    sys.exit(f"arcademark: {error}")
sys.exit(130 if summary.interrupted else 0 if summary.complete else 3)
"""


class Nodes:
    """A head without room for workers, and nodes for one worker each."""

    def __init__(self, mark):
        from ray.cluster_utils import Cluster

        self.mark = mark
        head = {"num_cpus": 0, "include_dashboard": False}
        self.cluster: Any = patiently(lambda: Cluster(initialize_head=True, head_node_args=head))
        self.nodes: list[Any] = []

    @property
    def address(self):
        return str(self.cluster.address)

    def have(self, number):
        """Add nodes that are missing."""
        while len(self.nodes) < number:
            self.nodes.append(patiently(lambda: self.cluster.add_node(num_cpus=1)))

    def lose(self):
        """Kill all of a node at once."""
        self.cluster.remove_node(self.nodes.pop(0), allow_graceful=False)

    def workers(self):
        """Return the worker processes on all nodes."""
        marked, found = f"{MARK}={self.mark}".encode(), []
        for process in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                works = b"engines.worker" in (process / "cmdline").read_bytes()
                if works and marked in (process / "environ").read_bytes().split(b"\0"):
                    found.append(int(process.name))
        return found


def patiently(make):
    """Start what Ray waits for half a minute at most, however busy the machine is."""
    for _ in range(4):
        with contextlib.suppress(Exception):
            return make()
    return make()


@contextlib.contextmanager
def started():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(MARK, uuid.uuid4().hex)
        patch.setenv("PACE", "0.004")
        patch.setenv("RAY_AUTH_MODE", "token")  # before Ray is imported
        patch.setenv("RAY_AUTH_TOKEN", TOKEN)
        nodes = Nodes(os.environ[MARK])
        try:
            yield nodes
        finally:
            nodes.cluster.shutdown()


@pytest.fixture(scope="module")
def cluster():
    with started() as nodes:
        yield nodes


@pytest.fixture
def nodes(cluster):
    cluster.have(2)
    return cluster


@pytest.fixture(scope="module")
def plan():
    """Two trials of a policy, and one of a learner whose checkpoints come often."""
    return planned("Paced", "Learner", episodes=40, frames=3000)


@pytest.fixture(scope="module")
def undisturbed(plan, rows, tmp_path_factory):
    directory = tmp_path_factory.mktemp("undisturbed") / "run"
    assert execute(plan, directory, workers=1).complete
    return rows(directory)


def planned(*names, seeds=(0, 1), **budget):
    rules = protocol("world-records").override({"max_frames_per_episode": 120, "reported_episodes": "evaluation"})
    specs = [spec for name in names for spec in agent_specs(name if ":" in name else f"{PACED}:{name}")]
    return make_plan(specs, ["toy"], rules, seeds=seeds, **budget)


class Driver:
    """A command in a process of its own."""

    def __init__(self, plan, directory, address, most=0, **options):
        self.directory = directory
        self.process = subprocess.Popen([sys.executable, "-c", DRIVER], stdin=subprocess.PIPE, stderr=subprocess.PIPE)
        self.process.stdin.write(pickle.dumps((plan, directory, most, {"address": address, **options})))
        self.process.stdin.close()

    def recorded(self):
        with (
            contextlib.suppress(sqlite3.Error),
            contextlib.closing(sqlite3.connect(self.directory / "run.sqlite")) as it,
        ):
            return int(it.execute("SELECT count(*) FROM episode").fetchone()[0])
        return 0

    def wait_for_more(self):
        """Wait until more is recorded than now."""
        before = self.recorded()
        until(lambda: self.recorded() > before or self.process.poll() is not None)
        assert self.process.poll() is None, self.said()

    def said(self):
        return self.process.stderr.read().decode()

    def end(self):
        return self.process.wait(SECONDS)


def until(condition):
    limit = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < limit
        time.sleep(0.05)


def parent(process):
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])


@pytest.mark.parametrize("what", ["worker", "host", "node"])
def test_workers_their_hosts_and_nodes_are_lost(nodes, plan, undisturbed, rows, tmp_path, what):
    driver = Driver(plan, tmp_path / "run", nodes.address)
    for _ in range(2):
        driver.wait_for_more()
        until(nodes.workers)
        if what == "node":
            nodes.lose()
            nodes.have(2)
        else:
            victim = nodes.workers()[-1]
            os.kill(victim if what == "worker" else parent(victim), signal.SIGKILL)
    assert driver.end() == 0, driver.said()
    assert rows(tmp_path / "run") == undisturbed
    until(lambda: not nodes.workers())


def test_the_driver_is_killed(nodes, plan, undisturbed, rows, tmp_path):
    for _ in range(2):
        driver = Driver(plan, tmp_path / "run", nodes.address)
        driver.wait_for_more()
        driver.process.kill()
        driver.end()
        until(lambda: not nodes.workers())
    driver = Driver(plan, tmp_path / "run", nodes.address)
    assert driver.end() == 0, driver.said()
    assert rows(tmp_path / "run") == undisturbed


def test_the_head_is_lost(plan, undisturbed, rows, tmp_path, monkeypatch):
    monkeypatch.setenv("RAY_gcs_rpc_server_reconnect_timeout_s", "3")  # a minute by default
    with started() as nodes:
        nodes.have(2)
        driver = Driver(plan, tmp_path / "run", nodes.address)
        driver.wait_for_more()
        nodes.cluster.head_node.kill_all_processes(check_alive=False, allow_graceful=False)
        assert driver.end() == 1
        said = driver.said().splitlines()
        assert said[-1].startswith(f"arcademark: the Ray cluster at {nodes.address} was lost")
        assert "Traceback" not in said
        assert 0 < driver.recorded() < sum(len(found) for found in undisturbed["episode"])
        until(lambda: not nodes.workers())
    with started() as nodes:
        nodes.have(2)
        driver = Driver(plan, tmp_path / "run", nodes.address)
        assert driver.end() == 0, driver.said()
    assert rows(tmp_path / "run") == undisturbed


def test_the_loss_of_the_driver_s_own_node_is_one_line(plan, undisturbed, rows, tmp_path, monkeypatch):
    monkeypatch.setenv("PACE", "0.05")
    driver = Driver(plan, tmp_path / "run", None)  # Ray on this machine alone
    driver.wait_for_more()
    (raylet,) = [number for number in processes_of("raylet/raylet") if driver.process.pid in ancestors(number)]
    os.kill(raylet, signal.SIGKILL)
    assert driver.end() == 1
    said = "arcademark: Ray on this machine was lost; what was recorded is kept"
    assert [line.startswith(said) for line in driver.said().splitlines()] == [True]
    monkeypatch.setenv("PACE", "0")
    driver = Driver(plan, tmp_path / "run", None)
    assert driver.end() == 0, driver.said()
    assert rows(tmp_path / "run") == undisturbed


def processes_of(program):
    """Return the processes of a program whose path ends so."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (process / "cmdline").read_bytes().split(b"\0")[0].endswith(program.encode()):
                found.append(int(process.name))
    return found


def ancestors(process):
    found = []
    while process > 1:
        process = parent(process)
        found.append(process)
    return found


def test_the_disk_is_full(nodes, plan, undisturbed, rows, tmp_path):
    driver = Driver(plan, tmp_path / "run", nodes.address, most=120_000)
    assert driver.end() == 1
    assert "disk" in driver.said()
    assert driver.recorded() > 0
    driver = Driver(plan, tmp_path / "run", nodes.address)
    assert driver.end() == 0, driver.said()
    assert rows(tmp_path / "run") == undisturbed


def test_ctrl_c_keeps_what_was_learnt(nodes, undisturbed, plan, rows, tmp_path):
    driver = Driver(plan, tmp_path / "run", nodes.address)
    driver.wait_for_more()
    driver.process.send_signal(signal.SIGINT)
    assert driver.end() == 130
    until(lambda: not nodes.workers())
    assert Driver(plan, tmp_path / "run", nodes.address).end() == 0
    assert rows(tmp_path / "run") == undisturbed


def test_a_trial_that_takes_all_memory_fails_at_once(cluster, rows, tmp_path):
    while cluster.nodes:
        cluster.lose()
    memory = dict(re.findall(r"(\w+): +(\d+) kB", Path("/proc/meminfo").read_text()))
    total, free = int(memory["MemTotal"]), int(memory["MemAvailable"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_memory_usage_threshold", str(1 - (free - 2 * 2**20) / total))  # two gibibytes from now
        patch.setenv("RAY_memory_monitor_refresh_ms", "100")
        cluster.have(1)
    (tmp_path / "own.py").write_text(
        "import time\n"
        "def make():\n"
        "    held = []\n"
        "    def act(observation):\n"
        "        if len(held) < 300:\n"
        "            held.append(bytes(b'x' * 2**25))\n"
        "            time.sleep(0.01)\n"
        "        return 0\n"
        "    return act\n"
    )
    plan = planned(f"{tmp_path / 'own.py'}:make", "Paced", seeds=(0,), episodes=20)
    driver = Driver(plan, tmp_path / "run", cluster.address)
    assert driver.end() == 3, driver.said()
    cluster.lose()
    errors = [trial.error for trial in read_run(tmp_path / "run").trials]
    assert errors[1] is None
    assert errors[0].startswith("its node ran out of memory and ended it; a retry would need as much")
    assert execute(planned("Paced", seeds=(0,), episodes=20), tmp_path / "alone", workers=1).complete
    theirs = [row for row in rows(tmp_path / "run")["episode"] if row[0].startswith("paced")]
    assert theirs == rows(tmp_path / "alone")["episode"]


def test_another_token_is_refused(nodes, plan, tmp_path, monkeypatch):
    monkeypatch.setenv("RAY_AUTH_TOKEN", uuid.uuid4().hex)
    driver = Driver(plan, tmp_path / "run", nodes.address)
    assert driver.end() == 1
    said = f"arcademark: the Ray cluster at {nodes.address} cannot be used: it has another token"
    assert [line.startswith(said) for line in driver.said().splitlines()] == [True]


@pytest.mark.parametrize("workers", [None, 2])
def test_gpus_that_no_node_has_are_refused_at_once(nodes, plan, tmp_path, workers):
    driver = Driver(plan, tmp_path / "run", nodes.address, gpus=0.5, workers=workers)
    assert driver.end() == 1
    assert "none of its nodes has room for a worker (1 processor, gpus=0.5)" in driver.said().splitlines()[-1]


def test_there_is_no_cluster(plan, tmp_path, monkeypatch):
    monkeypatch.setenv("RAY_AUTH_MODE", "token")
    driver = Driver(plan, tmp_path / "run", "127.0.0.1:1")
    assert driver.end() == 1
    assert "the Ray cluster at 127.0.0.1:1 cannot be used" in driver.said().splitlines()[-1]
