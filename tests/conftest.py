import contextlib
import hashlib
import os
import sqlite3
import sys
from importlib.metadata import version
from pathlib import Path
from threading import Thread

import pytest

with contextlib.suppress(ModuleNotFoundError):  # in the environment of the clusters' tests
    from hypothesis import HealthCheck, settings

    settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile("any machine")

pytest.register_assert_rewrite("reports")

ROOT = Path(__file__).parents[1]

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
"""Before numpy is imported: in workers beside each other, threads that wait for small products take half the time."""

os.environ.pop("ARCADEMARK_CONSOLE", None)
"""Tests switch the console off themselves, where that is what they test."""


def cache_folder():
    """Return where what is cached is kept for all sessions with the same code, Python and numba."""
    digest = hashlib.sha256(f"{sys.version} {version('numba')}".encode())
    for package in ("classic", "emulator", "environments", "suite"):
        for path in sorted((ROOT / "src" / "arcademark" / package).rglob("*.*")):
            digest.update(path.read_bytes() if path.suffix in (".py", ".c", ".h") else b"")
    return ROOT / "build" / f"cache-{digest.hexdigest()[:16]}"


CACHE = cache_folder()
"""In place of the user's own."""

MARKER = CACHE / "warm"
"""Written once all tests of `make test` have passed: what they compile is there."""

WARM = MARKER.exists()
"""Whether it was there when the tests began; else any test may have to compile something."""


@pytest.fixture(autouse=True, scope="session")
def _cache_of_its_own():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ARCADEMARK_CACHE", str(CACHE))
        patch.setattr("arcademark.emulator.cartridge.FRAMES_PER_BYTE", 10**9)  # whichever tests come first
        yield


@pytest.fixture
def translating_at_once(monkeypatch):
    """Translation begins as soon as it is worth it, and is finished before the play goes on."""

    class AtOnce(Thread):
        def start(self):
            self.run()

    monkeypatch.setattr("arcademark.emulator.cartridge.Thread", AtOnce)
    monkeypatch.setattr("arcademark.emulator.cartridge.Translation._making", None)
    monkeypatch.setattr("arcademark.emulator.build.COUNTED_FRAMES", 1)


LIMIT = 1.0
"""Seconds of CPU time that a test may take, its processes' included, unless it is marked."""

LENIENCE = 4
"""How much longer fails the session: a process's first test pays for imports and fits, a busy machine for caches."""

UNLIMITED = ("slow", "needs", "end_to_end", "deep", "cluster")


def cpu_seconds():
    return sum(os.times()[:4])


def pytest_configure(config):
    """Let every second worker collect all tests from the other end.

    In a new checkout, each compiles half of the modules and reads the other half: both at once would compile all twice.
    """
    worker = getattr(config, "workerinput", {}).get("workerid", "gw0")
    if int(worker.removeprefix("gw")) % 2 and [Path(one).resolve() for one in config.args] == [ROOT / "tests"]:
        config.args = [str(path) for path in sorted((ROOT / "tests").iterdir(), reverse=True) if has_tests(path)]


def has_tests(path):
    return path.match("test_*.py") or (path.is_dir() and any(path.rglob("test_*.py")))


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: item.path)  # in all workers the same


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    for mark in item.iter_markers("needs"):
        for module in mark.args:
            pytest.importorskip(module, reason=f"{module} is not installed; the extras dev and bench have it")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    before = cpu_seconds()
    yield
    item.user_properties.append(("cpu", cpu_seconds() - before))


def pytest_terminal_summary(terminalreporter):
    """Name the tests that are slow and not marked so."""
    for name, seconds in slow_tests(terminalreporter):
        terminalreporter.write_line(f"{name}: {seconds:.1f} s of CPU time; mark it slow, or make it faster")


def pytest_sessionfinish(session):
    """Fail where there are such tests, though nothing was left to compile."""
    if session.exitstatus != pytest.ExitCode.OK or hasattr(session.config, "workerinput"):  # a worker of pytest-xdist
        return
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if WARM and any(slow_tests(reporter)):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
    if session.config.args_source == pytest.Config.ArgsSource.TESTPATHS:
        CACHE.mkdir(parents=True, exist_ok=True)
        MARKER.touch()


def slow_tests(reporter):
    for report in reporter.stats.get("passed", []):
        seconds = dict(report.user_properties).get("cpu", 0.0) if report.when == "call" else 0.0
        if seconds > LENIENCE * LIMIT and not set(UNLIMITED) & set(report.keywords):
            yield report.nodeid, seconds


COLUMNS = {
    "trial": "id, position, agent, game, seed, episodes, training_frames, training_episodes, learns, plans,"
    " frames_per_action, error",
    "episode": "trial, phase, episode, score, frames, steps, end, actions, simulated_frames",
    "checkpoint": "trial, episodes, frames, finished, data",
    "unfinished": "trial, episode, frames, simulated_frames, generator, checkpoint, actions",
}


@pytest.fixture(scope="session")
def rows():
    """Read every column of every row but wall times."""

    def read(directory):
        with contextlib.closing(sqlite3.connect(directory / "run.sqlite")) as database:
            return {
                table: database.execute(f"SELECT {columns} FROM {table} ORDER BY 1, 2, 3").fetchall()
                for table, columns in COLUMNS.items()
            }

    return read
