"""Measure the cost of many workers, machines and episodes; each part prints its measurements and their targets.

Figures are medians over rounds; targets that are ratios compare two ways of doing the same in the same round. The part
"ray" needs ``pip install '.[ray]'``.

    python bench/scale.py [--parts plan,merge] [--rounds 3]
"""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import multiprocessing
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from size import Figure, measure, record, spent

TRIAL_SECONDS = 60.0


def plan() -> Iterator[Figure]:
    """Measure the time to plan 10^5 trials, with their ids."""
    from arcademark.runs.plan import make_plan

    began = time.perf_counter()
    trials = make_plan("random", "atari-57", seeds=1755).trials
    assert len({trial.id for trial in trials}) == len(trials)
    yield Figure(f"plan of {len(trials):,} trials with their ids", time.perf_counter() - began, "s", 2.0)


def driver() -> Iterator[Figure]:
    """Measure the episodes per second that the driver records from the bytes that workers send."""
    from arcademark.records.model import EpisodeRecord, EpisodeResult, encode_actions
    from arcademark.runs import execution
    from arcademark.runs.engines import worker
    from arcademark.runs.engines.base import Batch, Job, Memory
    from arcademark.runs.engines.here import InProcessEngine
    from arcademark.runs.engines.processes import Incoming, framed
    from arcademark.runs.plan import make_plan
    from arcademark.runs.playing.events import Opened

    def sent(name: str, numbers: range) -> bytes:
        records = (EpisodeRecord(name, "evaluation", number, 1.0, 9, 9, "terminated", 1.0) for number in numbers)
        return b"".join(b"".join(framed(EpisodeResult(record, played), worker.MESSAGES)) for record in records)

    played = encode_actions(np.random.default_rng(0).integers(18, size=300))
    plan = make_plan("random", ["toy"], seeds=200, episodes=1000)
    names = [trial.id for trial in plan.trials]
    groups = [range(start, start + 40) for start in range(0, 1000, 40)]
    content = {(name, numbers): sent(name, numbers) for name in names for numbers in groups}

    class Prepared(InProcessEngine):
        """Engine that delivers artificial episodes of 100 trials at a time, as from so many workers."""

        def run(self, jobs: Sequence[Job], memory: Memory) -> Generator[Batch, None, None]:
            for first in range(0, len(jobs), 100):
                came = {job.trial.id: Incoming(worker.MESSAGES) for job in jobs[first : first + 100]}
                yield [(name, Opened(None, False, 1)) for name in came]
                for numbers in groups:
                    for name, incoming in came.items():
                        incoming.add(content[name, numbers])
                    yield [(name, message) for name, incoming in came.items() for message in incoming.whole()]

    execution.ENGINES["prepared"] = Prepared
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        summary = execution.execute(plan, f"{folder}/run", engine="prepared")
        seconds = time.perf_counter() - began
    assert summary.complete
    assert summary.episodes == 200_000
    yield Figure("episodes recorded by the driver", summary.episodes / seconds, "rows/s", 20_000, at_least=True)


def workers() -> Iterator[Figure]:
    """Measure how much faster two workers on this machine play the same episodes than one."""
    from arcademark.runs import execution
    from arcademark.runs.plan import make_plan
    from arcademark.suite.protocols import protocol

    plan = make_plan("random", "atari-5", protocol("world-records"), episodes=100)
    with tempfile.TemporaryDirectory() as folder:
        _, one, two = (  # during the first, the console translates the cartridges
            execution.execute(plan, f"{folder}/{number}", workers=count).wall_seconds
            for number, count in enumerate((2, 1, 2))
        )
    yield Figure("two workers over one", one / two, "", 1.9, at_least=True)


RULE = """
    def choose(self, observations, first, seed_of):
        rows = len(first)
        for row in np.flatnonzero(first):
            self.states[row] = seed_of(row)
        sums = observations.reshape(rows, -1).sum(1, dtype=np.uint32)
        self.states[:rows] = self.states[:rows] * np.uint32(1664525) + np.uint32(1013904223) + sums
        return (self.states[:rows] >> 16) % self.num_actions
"""
HERE = f"""
import numpy as np

class Agent:
    def __init__(self, env, *, batch: int = 1):
        self.num_actions, self.batch_size, self.states = env.num_actions, batch, np.zeros(batch, np.uint32)
{RULE}
    def act(self, observations, first, rngs):
        return self.choose(observations, first, lambda row: rngs[row].integers(2**32))
"""
PROGRAM = f"""
import json, mmap, sys
import numpy as np

class Agent:
    num_actions, states = 18, np.zeros(64, np.uint32)
{RULE}
def send(**message):
    sys.stdout.write(json.dumps(message) + chr(10))
    sys.stdout.flush()

agent, batch = Agent(), int(sys.argv[1])
send(type="agent", version=1)
hello = json.loads(sys.stdin.readline())
shape = (batch, *hello["observation"]["shape"])
file = open(hello["memory"], "rb")
send(type="ready", batch_size=batch, observations="memory")
memory = None
for line in sys.stdin:
    request = json.loads(line)
    if memory is None:
        memory = np.frombuffer(mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ), np.uint8).reshape(shape)
    send(type="actions", actions=agent.choose(memory, request["first"], request["seeds"].__getitem__).tolist())
"""


_ALL_READY: Any = None


def _wait_for(ready: Any) -> None:
    global _ALL_READY
    _ALL_READY = ready


def _play(name: str, parameters: dict[str, int]) -> tuple[float, list[float]]:
    """Return the seconds for 96 episodes while all processes play, and the scores."""
    from arcademark.agents.loading import agent_specs, command_spec
    from arcademark.environments.registry import choose_emulator
    from arcademark.records.model import EpisodeResult
    from arcademark.runs.plan import make_plan
    from arcademark.runs.playing.trial import TrialPlayer
    from arcademark.suite.protocols import protocol

    rules = protocol("world-records").override({"max_frames_per_episode": 8_000})
    spec = agent_specs(name, parameters)[0] if parameters else command_spec(name)
    player = TrialPlayer(make_plan(spec, "breakout", rules).trials[0], choose_emulator("breakout"))
    _ALL_READY.wait()
    began = time.perf_counter()
    found = [event.record for event in player.play(range(96)) if isinstance(event, EpisodeResult)]
    return time.perf_counter() - began, [record.score for record in sorted(found, key=lambda record: record.episode)]


def command() -> Iterator[Figure]:
    """Measure agents that are programs against the same rule in the worker: 84×84×4 observations in shared memory.

    As in a run, one worker plays per CPU.
    """
    workers = os.cpu_count() or 1
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        pool = stack.enter_context(
            ProcessPoolExecutor(workers, context, initializer=_wait_for, initargs=(context.Barrier(workers),))
        )

        def play(name: str, **parameters: int) -> tuple[float, list[float]]:
            """Return the mean seconds of the workers, and the scores of one."""
            played = list(pool.map(_play, [name] * workers, [parameters] * workers))
            return statistics.mean(seconds for seconds, _ in played), played[0][1]

        Path(folder, "here.py").write_text(HERE)
        Path(folder, "program.py").write_text(PROGRAM)
        programs = {"Python": f"{sys.executable} {folder}/program.py"}
        if shutil.which("cc"):
            source = Path(__file__).parents[1] / "examples" / "agent.c"
            subprocess.run(["cc", "-O3", "-o", f"{folder}/agent", source], check=True)
            programs["C"] = f"{folder}/agent --batch"
        for batch in (16, 1):
            play(f"{folder}/here.py:Agent", batch=batch)  # meanwhile the console translates the cartridge
            for language, words in programs.items():
                here, scores = play(f"{folder}/here.py:Agent", batch=batch)
                seconds, same = play(f"{words} {batch}")
                assert same == scores
                what = f"speed of a program in {language}, to the same in the worker, {batch} at once"
                yield Figure(what, here / seconds, "", 0.85 if batch > 1 else 0.3, at_least=True)


def timed(*arguments: object) -> tuple[float, float]:
    """Return the wall time of an ``arcademark`` command in seconds and its peak memory in megabytes."""
    began = time.perf_counter()
    megabytes = spent(*arguments)[1]
    return time.perf_counter() - began, megabytes


@functools.cache
def recorded(games: int, seeds: tuple[int, ...], episodes: int, steps: int = 10) -> Path:
    """Write a run of artificial scores once for all rounds."""
    record(directory := Path(FOLDER.name, str(hash((games, seeds, episodes, steps)))), games, seeds, episodes, steps)
    return directory


def merge() -> Iterator[Figure]:
    """Merge four runs of 25,000 episodes, of 10 random actions each (18 bytes) and of 1,000 (590 bytes)."""
    for steps in (10, 1000):
        parts = [recorded(50, tuple(range(first, first + 5)), 100, steps) for first in (0, 5, 10, 15)]
        with tempfile.TemporaryDirectory(dir=FOLDER.name) as folder:
            seconds, _ = timed("runs", "merge", Path(folder, "out"), *parts)
        yield Figure(f"merge of 100,000 episodes of {steps:,} actions", seconds, "s", 5.0)


def report() -> Iterator[Figure]:
    """Report on a million episodes."""
    seconds, megabytes = timed("report", recorded(57, (0, 1, 2, 3, 4), 3_509))
    yield Figure("report on 1,000,065 episodes", seconds, "s", 15.0)
    yield Figure("report on 1,000,065 episodes: memory", megabytes, "MB", 512.0)


def export() -> Iterator[Figure]:
    """Write a million episodes as Parquet."""
    large = recorded(57, (0, 1, 2, 3, 4), 3_509)
    with tempfile.TemporaryDirectory(dir=FOLDER.name) as folder:
        seconds, megabytes = timed("runs", "export", large, "--out", Path(folder, "episodes.parquet"))
    yield Figure("export of 1,000,065 episodes", seconds, "s", 15.0)
    yield Figure("export of 1,000,065 episodes: memory", megabytes, "MB", 512.0)


def pacing() -> Iterator[Figure]:
    """Measure errors of frame times while a person plays and is recorded, and of a window that shows nothing."""
    if importlib.util.find_spec("pygame") is None:
        return
    os.environ["SDL_VIDEODRIVER"] = "dummy"
    import pygame

    from arcademark.metrics.efficiency import FRAMES_PER_SECOND
    from arcademark.runs.person import human
    from arcademark.runs.person.window import Window
    from arcademark.suite.protocols import protocol

    frames = 20 * FRAMES_PER_SECOND
    rules = protocol("world-records").override({"max_frames_per_episode": frames})

    class Eager(Window):
        """Window that presses Return by itself to begin."""

        def show(self, picture: NDArray[np.uint8]) -> bool:
            pygame.event.post(pygame.event.Event(pygame.KEYDOWN, key=pygame.K_RETURN))
            return super().show(picture)

    with tempfile.TemporaryDirectory() as folder, Eager("scale") as window:
        used, began = time.process_time(), time.perf_counter()
        sitting = human.record(human.planned(folder, "pong", rules), folder, window)
        busy = (time.process_time() - used) / (time.perf_counter() - began)
    with Window("scale") as window:
        nothing = np.zeros((1, 1, 3), np.uint8)
        shown = [window.shown for _ in range(frames) if window.show(nothing)]
    errors = np.abs(np.diff(shown) - 1 / FRAMES_PER_SECOND)
    for share, name, target in ((0.5, "median", 1.0), (0.99, "99th percentile", 5.0)):
        error, bare = 1000 * sitting.error(share), 1000 * float(np.quantile(errors, share))
        yield Figure(f"frame times of play, off 1/60 s, {name}", error, "ms", target)
        yield Figure(f"frame times of an empty window, off 1/60 s, {name}", bare, "ms", target)
    yield Figure("share of a core that play takes", 100 * busy, "%", 50.0)


def ray() -> Iterator[Figure]:
    """Compare two trials of a minute on Ray with the same on the local engine, each with two workers."""
    if importlib.util.find_spec("ray") is None:
        return
    from arcademark.runs.execution import execute
    from arcademark.runs.plan import make_plan
    from arcademark.runs.playing.events import Event, Progress

    def seconds(engine: str, seeds: int, episodes: int) -> tuple[float, float]:
        """Return the seconds of a run, and of its play from the first frames on."""
        begun: list[float] = []

        def listen(event: Event) -> None:
            if isinstance(event, Progress) and event.frames and not begun:
                begun.append(time.perf_counter())

        with tempfile.TemporaryDirectory() as folder:
            before = time.perf_counter()
            made = make_plan("random", "pong", seeds=seeds, episodes=episodes)
            assert execute(made, Path(folder) / "run", engine=engine, workers=seeds, on_event=listen).complete
            after = time.perf_counter()
        return after - before, after - begun[0]

    episodes = round(TRIAL_SECONDS / (seconds("local", 1, 100)[1] / 100))
    local, local_play = seconds("local", 2, episodes)
    whole, play = seconds("ray", 2, episodes)
    what = f"two trials of {local_play:.0f} s on Ray, of the local engine's speed"
    yield Figure(what, local_play / play, "times", 0.97, at_least=True)
    yield Figure("Ray's start and end, beside the local engine's", whole - play - (local - local_play), "s", 20.0)


def site() -> Iterator[Figure]:
    """Write the leaderboard of the whole catalogue, and draw it in Chromium if Playwright is installed."""
    with tempfile.TemporaryDirectory(dir=FOLDER.name) as folder:
        seconds, _ = timed("site", "--out", folder)
        size = sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())
        yield Figure("leaderboard of the catalogue", seconds, "s", 120.0)
        yield Figure("leaderboard of the catalogue: size", size / 1e6, "MB", 3.0)
        chromium = shutil.which("chromium")
        if chromium is None or importlib.util.find_spec("playwright") is None:
            return
        from playwright.sync_api import sync_playwright

        with sync_playwright() as playwright:
            page = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"]).new_page()
            page.goto(Path(folder, "index.html").as_uri())
            drawn = page.evaluate("performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd")
        yield Figure("leaderboard of the catalogue: drawn", drawn / 1000, "s", 1.0)


FOLDER = tempfile.TemporaryDirectory(prefix="scale-")


if __name__ == "__main__":
    measure(__doc__, plan, driver, workers, command, merge, report, export, pacing, ray, site)
