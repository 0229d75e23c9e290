"""Measure the speed of searches for the best subsets, against limits and as a ratio to scikit-learn and mlxtend.

::

    python bench/subset.py                  # installs the peers into build/subset-peers on first use; takes minutes
    python bench/subset.py --without-peers
    python bench/subset.py --without-long   # no size above 8, no nested searches
    python bench/subset.py --largest 11     # every size up to 11 of 51 games instead of 10

The data are the paper's: 62 algorithms, 56 games with missing scores, ten folds. Searches are timed as users call them,
with kernels compiled beforehand, as medians of repeats; processor seconds are of all threads together, and are the
better measure on a busy machine. The cost of compiling in a fresh process is shown separately.

The peers have their own environment and process, restricted to one thread:

* scikit-learn: ``LinearRegression(fit_intercept=False)`` and ``cross_val_score`` with ten shuffled folds on each
  subset, as in the paper's published code.
* mlxtend: ``ExhaustiveFeatureSelector`` with the same model and folds.

Both search the five-game subsets of the first 8 games for which all algorithms have scores; their time is divided by
these 56 subsets. Ours, also processor time, searches all 3,819,816 subsets of five, with bounds and without.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

import numpy as np
from rich.console import Console
from rich.table import Table

from arcademark.catalogue import collections
from arcademark.reproduce.atari5.data import problem
from arcademark.subset.problem import Problem
from arcademark.subset.search.plan import follow
from arcademark.subset.search.search import Candidate, search
from arcademark.subset.studies.validate import nested

Result = TypeVar("Result")
ROOT = Path(__file__).parent.parent
PEERS = ROOT / "build" / "subset-peers"
REQUIREMENTS = ("scikit-learn", "mlxtend")
PEER_GAMES, SIZE = 8, 5
SKLEARN_LIMIT, MLXTEND_LIMIT = 10_000.0, 1_000.0
COMPILE_LIMIT, MEMORY_LIMIT = 15.0, 1024.0
VALIDATION = ("assault", "bank_heist", "ms_pacman", "video_pinball", "yars_revenge")
SIZES_LIMIT, NESTED_LIMIT = 600.0, 15.0
TEN_LIMITS = {51: 60.0, 56: 60.0}
LARGEST, SHORT = 10, 8
SIZES_OF_TASKS = tuple((size, tasks) for size in (3, 5, 7, 9, 11) for tasks in (20, 30, 40, 56) if size * tasks < 500)
LONG_SIZES_OF_TASKS = ((9, 56), (11, 56))

PEER_SCRIPT = """
import itertools, json, sys, time, warnings
warnings.simplefilter("ignore")
import numpy as np
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold, cross_val_score
from mlxtend.feature_selection import ExhaustiveFeatureSelector

data = np.load(sys.argv[1])
x, y, size = data["x"], data["y"], int(sys.argv[2])
folds = KFold(10, shuffle=True, random_state=1982)
model = LinearRegression(fit_intercept=False)
cross_val_score(model, x, y, cv=folds)
begin = time.process_time()
errors = {}
for subset in itertools.combinations(range(x.shape[1]), size):
    errors[subset] = -cross_val_score(model, x[:, subset], y, cv=folds, scoring="neg_mean_squared_error").mean()
sklearn = time.process_time() - begin
scoring = "neg_mean_squared_error"
selector = ExhaustiveFeatureSelector(model, size, size, scoring=scoring, cv=folds, print_progress=False)
begin = time.process_time()
selector.fit(x, y)
mlxtend = time.process_time() - begin
best = min(errors, key=errors.get)
print(json.dumps({"subsets": len(errors), "sklearn": sklearn, "mlxtend": mlxtend, "best": best,
                  "error": errors[best], "same": best == tuple(selector.best_idx_)}))
"""

FIRST_CALL = """
from arcademark.reproduce.atari5.data import problem
from arcademark.subset.search.plan import follow
from arcademark.subset.problem import Problem
follow(problem())
"""


@dataclass(frozen=True)
class Clocked:
    """Wall time and processor time in seconds."""

    wall: float
    processor: float


def clocked(work: Callable[[], object], repeats: int) -> Clocked:
    """Return the median times of repeated calls."""
    walls, processors = [], []
    for _ in range(repeats):
        begin, used = time.perf_counter(), time.process_time()
        work()
        walls.append(time.perf_counter() - begin)
        processors.append(time.process_time() - used)
    return Clocked(statistics.median(walls), statistics.median(processors))


def installed_peers() -> Path:
    """Return the Python interpreter with the peers, which are installed on first use."""
    python = PEERS / "bin" / "python"
    check = [str(python), "-c", "import sklearn, mlxtend"]
    if not python.exists() or subprocess.run(check, capture_output=True, check=False).returncode:
        print(f"installing {' '.join(REQUIREMENTS)} into {PEERS.relative_to(ROOT)} …", file=sys.stderr)
        venv.create(PEERS, with_pip=True, clear=True)
        subprocess.run([str(python), "-m", "pip", "install", "-q", *REQUIREMENTS], check=True)
    return python


def against_peers(console: Console, bounded: Clocked, unbounded: Clocked) -> bool:
    """Print the ratios per subset; return True if the limits on those with bounds are kept."""
    found = problem()
    columns = np.flatnonzero(np.isfinite(found.X).all(axis=0))[:PEER_GAMES]
    with tempfile.TemporaryDirectory() as folder:
        np.savez(Path(folder) / "scores.npz", x=found.X[:, columns], y=found.y)
        command = [str(installed_peers()), "-c", PEER_SCRIPT, str(Path(folder) / "scores.npz"), str(SIZE)]
        threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        peer = json.loads(
            subprocess.run(command, check=True, capture_output=True, text=True, env=os.environ | threads).stdout
        )
    table = Table(title="Processor time of a subset")
    for name in ("", "µs", "ours with bounds, times", "without, times", "limit with bounds"):
        table.add_column(name, justify="right" if name else "left")
    subsets, kept = math.comb(len(found.tasks), SIZE), True
    for name, limit in (("sklearn", SKLEARN_LIMIT), ("mlxtend", MLXTEND_LIMIT)):
        seconds = peer[name] / peer["subsets"]
        ratios = [seconds / (ours.processor / subsets) for ours in (bounded, unbounded)]
        kept &= ratios[0] >= limit
        table.add_row(name, f"{1e6 * seconds:,.0f}", *(f"{ratio:,.0f}" for ratio in ratios), f"≥ {limit:,.0f}")
    for title, ours in (("ours, with bounds", bounded), ("ours, without", unbounded)):
        table.add_row(title, f"{1e6 * ours.processor / subsets:.3f}", "", "", "")
    console.print(table)
    names = [found.tasks[j] for j in columns]
    mine = search(found, SIZE, within=names).best
    console.print(
        f"scikit-learn's best of {peer['subsets']}, negative coefficients allowed: {peer['error']:.6f}; ours, without: "
        f"{mine.cv_mse:.6f}. scikit-learn and mlxtend agree: {peer['same']}."
    )
    return kept


def first_call() -> tuple[float, float]:
    """Return the CPU seconds of the plan in a fresh process, including imports, before and after compiling kernels."""
    with tempfile.TemporaryDirectory() as folder:
        cache = os.environ | {"NUMBA_CACHE_DIR": folder}
        seconds = []
        for _ in range(2):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run([sys.executable, "-c", FIRST_CALL], check=True, env=cache)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            seconds.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return seconds[0], seconds[1]


def searches(console: Console, repeats: int) -> tuple[Clocked, Clocked, bool]:
    """Print the times of searches; return those of five with and without bounds, and True if all limits are kept."""
    found = problem()
    table = Table(title=f"Searches, each proven, {os.cpu_count()} threads")
    for name in ("", "subsets", "cross-validated", "wall, s", "processors, s", "limit, s"):
        table.add_column(name, justify="right" if name else "left")
    works: list[tuple[str, Callable[[], object], float]] = [
        ("five of 56", lambda: search(found, 5), 0.2),
        ("five of 56, without bounds", lambda: search(found, 5, bounds=False), 4.0),
        ("the paper's plan", lambda: follow(found), 0.5),
    ]
    times, kept = [], True
    for title, work, limit in works:
        work()
        took = clocked(work, repeats)
        times.append(took)
        kept &= took.wall <= limit
        subsets = "" if "plan" in title else f"{math.comb(56, 5):,}"
        table.add_row(title, subsets, "", f"{took.wall:.3f}", f"{took.processor:.3f}", f"{limit}")
    console.print(table)
    return times[0], times[1], kept


def once(work: Callable[[], Result]) -> tuple[Result, Clocked]:
    """Return a function's result and the time of this single call."""
    begin, used = time.perf_counter(), time.process_time()
    result = work()
    return result, Clocked(time.perf_counter() - begin, time.process_time() - used)


def every_size(console: Console, largest: int) -> bool:
    """Print the times for the best subsets of every size, and in total; return True if limits are kept."""
    found, kept, total = problem(), True, Clocked(0.0, 0.0)
    table = Table(title="The best of every size of 51 games, those of Atari-5-Val left out")
    for name in ("size", "subsets", "cross-validated", "wall, s", "processors, s", "limit, s"):
        table.add_column(name, justify="right")
    cases = [(size, VALIDATION) for size in range(1, largest + 1)] + [(10, ())] * (largest >= 10)
    for size, exclude in cases:
        result, took = once(partial(search, found, size, exclude=exclude, top=1))
        certificate = result.certificate
        limit = TEN_LIMITS[51 if exclude else 56] if size == 10 else math.inf
        kept &= took.wall <= limit and certificate.holds
        if exclude:
            total = Clocked(total.wall + took.wall, total.processor + took.processor)
        table.add_row(
            f"{size}{'' if exclude else ' of 56'}", f"{certificate.subsets:,}", f"{certificate.evaluated:,}",
            f"{took.wall:.2f}", f"{took.processor:.2f}", f"{limit:g}" if math.isfinite(limit) else "",
        )  # fmt: skip
    kept &= total.wall <= SIZES_LIMIT
    table.add_row("all of 51", "", "", f"{total.wall:.1f}", f"{total.processor:.1f}", f"{SIZES_LIMIT:g}")
    console.print(table)
    return kept


def whole_plan(sample: Problem) -> Mapping[str, Candidate]:
    """Return the winners of the paper's plan."""
    return {name: result.best for name, result in follow(sample, top=1).items()}


def papers_left_out(console: Console) -> bool:
    """Print the time for nested errors; return True if its limit is kept."""
    found = problem()
    papers = dict(zip(found.algorithms, found.algorithms, strict=True))
    for name, entry in collections.select(["atari-5-training"]).items():
        if entry.paper is not None:
            papers[name] = entry.paper.key
    _, took = once(lambda: nested(found, papers, whole_plan))
    console.print(
        f"The plan, each of {len({papers[name] for name in found.algorithms})} papers left out: {took.wall:.1f} s, of "
        f"processors {took.processor:.1f} (limit {NESTED_LIMIT:g})."
    )
    return took.wall <= NESTED_LIMIT


def growth(console: Console, cases: Sequence[tuple[int, int]]) -> None:
    """Print the growth of cost with the size of subsets and the number of tasks."""
    found = problem()
    table = Table(title="How cost grows")
    for name in ("size", "tasks", "subsets", "cross-validated", "processors, s"):
        table.add_column(name, justify="right")
    for size, tasks in cases:
        begin = time.process_time()
        certificate = search(found, size, within=found.tasks[:tasks], top=1).certificate
        seconds = time.process_time() - begin
        table.add_row(str(size), str(tasks), f"{certificate.subsets:,}", f"{certificate.evaluated:,}", f"{seconds:.3f}")
    console.print(table)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Speed of subset searches.")
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--largest", type=int, default=LARGEST, help="largest size of 51 to search")
    parser.add_argument("--without-long", action="store_true", help="leave out parts that take longer than seconds")
    parser.add_argument("--without-peers", action="store_true")
    arguments = parser.parse_args()
    console = Console()
    long = not arguments.without_long
    bounded, unbounded, kept = searches(console, arguments.repeats)
    kept &= every_size(console, arguments.largest if long else SHORT)
    if long:
        kept &= papers_left_out(console)
    growth(console, SIZES_OF_TASKS + (LONG_SIZES_OF_TASKS if long else ()))
    if not arguments.without_peers:
        kept &= against_peers(console, bounded, unbounded)
    first, later = first_call()
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    console.print(
        f"The plan in a fresh process, imports included: {later:.2f} processor seconds; right after installing another "
        f"{first - later:.1f} to compile (limit {COMPILE_LIMIT:.0f}). Memory at most {memory:.0f} MiB (limit "
        f"{MEMORY_LIMIT:.0f})."
    )
    kept &= first - later <= COMPILE_LIMIT and memory <= MEMORY_LIMIT
    console.print("All limits are kept." if kept else "Not all limits are kept.")
    sys.exit(not kept)


if __name__ == "__main__":
    main()
