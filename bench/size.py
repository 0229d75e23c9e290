"""Measure the cost of large runs and tables; each part prints its measurements and their targets.

Times are CPU seconds of a separate process (including its children), memory is its largest resident size; all are
medians over rounds.

    python bench/size.py [--parts driver,report] [--rounds 3]
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import multiprocessing
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np


@dataclass(frozen=True)
class Figure:
    """One figure of a round: a description, its value, and its target in the same unit."""

    what: str
    value: float
    unit: str
    target: float
    at_least: bool = False  # True if the target is a minimum, not a maximum

    def kept(self, value: float) -> bool:
        """Return True if a value keeps the target."""
        return value >= self.target if self.at_least else value <= self.target


def driver() -> Iterator[Figure]:
    """Measure the time of a run's main process per episode, with few and with many planned trials."""
    for trials in (500, 20_000, 100_000):
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as apart:
            first, cost = apart.submit(_drive, trials).result()
        yield Figure(f"driver, {trials:,} trials: wall time to the first episode", first, "s", 5.0)
        yield Figure(f"driver, {trials:,} trials: an episode", 1000 * cost, "ms", 1.0)


class _EnoughError(Exception):
    pass


def _drive(trials: int, episodes: int = 1000) -> tuple[float, float]:
    """Return the wall seconds to the first of some short episodes, and the mean CPU seconds of each later one."""
    from arcademark.records.model import EpisodeRecord
    from arcademark.runs.execution import execute
    from arcademark.runs.plan import make_plan
    from arcademark.runs.playing.events import Event
    from arcademark.suite.protocols import protocol

    began, ended = time.perf_counter(), list[tuple[float, float]]()

    def hear(event: Event) -> None:
        if isinstance(event, EpisodeRecord):
            ended.append((time.perf_counter(), time.process_time()))
            if len(ended) > episodes:
                raise _EnoughError

    rules = protocol("world-records").override({"max_frames_per_episode": 40})
    with tempfile.TemporaryDirectory() as folder, contextlib.suppress(_EnoughError):
        execute(make_plan("random", ["toy"], rules, range(trials), episodes=3), folder, on_event=hear)
    return ended[0][0] - began, (ended[-1][1] - ended[0][1]) / (len(ended) - 1)


def spent(*arguments: object) -> tuple[float, float]:
    """Return the CPU time of an ``arcademark`` command in seconds and its peak memory in megabytes."""
    line = [sys.executable, "-m", "arcademark", *map(str, arguments)]
    with subprocess.Popen(line, stdout=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(line)}: exit code {process.returncode}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def report() -> Iterator[Figure]:
    """Measure ``arcademark report`` on a million episodes: of few trials, of many, and of one."""
    for games, seeds, episodes in ((57, 5, 3_509), (50, 200, 100), (1, 1, 1_000_000)):
        with tempfile.TemporaryDirectory() as folder:
            record(Path(folder), games, range(seeds), episodes)
            seconds, megabytes = spent("report", folder)
        what = f"report, {games * seeds:,} trials of {episodes:,} episodes"
        yield Figure(f"{what}: CPU time", seconds, "s", 5.0)
        yield Figure(f"{what}: memory", megabytes, "MB", 500.0)


def record(directory: Path, games: int, seeds: Sequence[int], episodes: int, steps: int = 10) -> None:
    """Write a run of artificial scores, all in one transaction.

    Scores are whole numbers, as in ALE; actions are random (a step with 18 actions takes about 0.57 bytes).
    """
    from arcademark.agents.loading import agent_specs
    from arcademark.records import manifest
    from arcademark.records.model import EpisodeRecord, EpisodeResult, TrialRecord, encode_actions
    from arcademark.runs.plan import make_plan
    from arcademark.runs.store.entering import describe
    from arcademark.runs.store.recording import Recorder
    from arcademark.suite.protocols import protocol
    from arcademark.suite.tasks import suite

    names, rng = suite("atari-57").tasks[:games], np.random.default_rng(0)
    plan = make_plan(agent_specs("random"), names, protocol("machado-2018"), seeds, episodes=episodes)
    with Recorder(directory) as recorder:
        with recorder.transaction():
            manifest.write(directory, describe(plan, "made up"))
            recorder.add_trials(
                TrialRecord(
                    item.id, item.agent.label, item.game, item.seed, episodes, None, None, "pending", None, None
                )
                for item in plan.trials
            )
            for trial in plan.trials:
                recorder.begin_trial(trial.id, None, learns=False)
                recorder.note_evaluations({trial.id: episodes}, 0, "2026-01-01T00:00:00+00:00")
        drawn = [
            (encode_actions(rng.integers(18, size=steps)), score)
            for score in rng.normal(100, 30, 1009).round().tolist()
        ]
        recorder.database.execute("PRAGMA journal_mode = DELETE")
        with recorder.transaction():
            recorder.add_episodes(
                EpisodeResult(
                    EpisodeRecord(trial.id, "evaluation", number, score, 4 * steps, steps, "terminated", 0.1), actions
                )
                for number in range(episodes)
                for position, trial in enumerate(plan.trials)
                for actions, score in (drawn[(31 * number + 7 * position) % len(drawn)],)
            )


def table(path: Path, algorithms: int, games: int, runs: int) -> Path:
    """Write a long table of artificial scores, from each algorithm's skill and luck."""
    from arcademark.suite import references, tasks

    low, high, luck = references.scores("random"), references.scores("human"), random.Random(1)
    names = tasks.suite("atari-57").tasks[:games]
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["algorithm", "game", "seed", "score"])
        for algorithm in range(algorithms):
            skill = luck.uniform(0.2, 3.0)
            for game in names:
                usual = skill * luck.lognormvariate(0.0, 0.5)
                for run in range(runs):
                    reached = usual * luck.lognormvariate(0.0, 0.15)
                    points = low[game] + reached * (high[game] - low[game])
                    rows.writerow([f"a{algorithm:04}", game, run, round(points, 2)])
    return path


def score() -> Iterator[Figure]:
    """Measure summaries of tables of many algorithms, and of many columns."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        large = table(folder / "large.csv", 1000, 57, 5)
        yield Figure("score, 1,000 algorithms × 57 games × 5 runs", spent("score", large)[0], "s", 10)
        few = spent("score", table(folder / "few.csv", 250, 1, 5))[0]
        many = spent("score", table(folder / "many.csv", 1000, 1, 5))[0]
        yield Figure("score, 1,000 algorithms × 1 game over 250", many / few, "×", 4)
        cost = []
        for columns in (25_000, 100_000):
            wide = folder / f"{columns}.csv"
            wide.write_text(f"game,{','.join(f'a{place}' for place in range(columns))}\npong{',1' * columns}\n")
            cost.append(spent("score", wide, "--algorithms", "a0")[0])
        yield Figure("score of one of 100,000 columns over one of 25,000", cost[1] / cost[0], "×", 4)


def compare() -> Iterator[Figure]:
    """Measure comparisons of many algorithms with each other."""
    with tempfile.TemporaryDirectory() as name:
        taken = spent("compare", table(Path(name) / "scores.csv", 24, 30, 3))[0]
        yield Figure("compare, 24 algorithms × 30 tasks × 3 seeds", taken, "s", 5)


def show_help() -> Iterator[Figure]:
    """Measure the time of ``--help``."""
    yield Figure("--help", statistics.median(spent("--help")[0] for _ in range(5)), "s", 0.3)


def measure(description: str, *functions: Callable[[], Iterator[Figure]]) -> None:
    """Measure the parts that the command line chooses, one per function, and print medians over rounds."""
    parts = {function.__name__: function for function in functions}
    parser = argparse.ArgumentParser(description=description.partition("\n")[0])
    parser.add_argument("--parts", default=",".join(parts), help="some of: %(default)s")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    for part in arguments.parts.split(","):
        rounds = [list(parts[part]()) for _ in range(arguments.rounds)]
        if not rounds[0]:
            print(f"{part:10} left out: a package that it needs is not installed", flush=True)
        for figures in zip(*rounds, strict=True):
            first, value = figures[0], statistics.median(figure.value for figure in figures)
            target = f"at {'least' if first.at_least else 'most'} {first.target:g}"
            kept = "kept" if first.kept(value) else "NOT KEPT"
            print(f"{part:10} {first.what:60} {value:12.3f} {first.unit:9} {target}: {kept}", flush=True)


if __name__ == "__main__":
    measure(__doc__, driver, report, score, compare, show_help)
