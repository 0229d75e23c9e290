"""Measure the speed of intervals, as a ratio to rliable 1.2, and of summaries of everything published.

::

    python bench/metrics.py                 # installs rliable into build/rliable on first use; takes some minutes
    python bench/metrics.py --peer-repeats 1
    python bench/metrics.py --without-peer

The data are artificial: two algorithms on 57 games with 5 runs each. rliable needs an older pandas, so it has its own
environment and process, which takes turns with ours on the same data; the start of processes and imports are not timed.
Both compute 95 % percentile intervals with the same number of replicates:

* "IQM": 50,000 replicates. Ours always computes all four aggregates, so its time is that of all four.
* "four aggregates": mean, median, IQM and optimality gap; rliable calls one function that returns the four.
* "probability of improvement": 2,000 replicates.
* "profile": 101 thresholds, 2,000 replicates.

Rows "by its interface" are the peer's script with `arcademark.rliable` for rliable, also in a separate process.

Both are measured in wall time and processor time. Limits are on processor time, which other work on the machine changes
little. Half of our repeats come before the peer's, half after. Times are medians of repeats, ratios medians over the
peer's repeats. The difference of interval limits is in Monte Carlo standard errors, known from repeating ours with
other generators: the largest of all limits and repeats; above 4, the intervals would differ.

"Everything published" is a fresh process, from its start to its end: the interpreter, imports, loading the whole
catalogue, and mean, median, IQM and optimality gap of every algorithm in HNS, HWRNS and SABER. It has one thread.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from arcademark.metrics.aggregate import AGGREGATES
from arcademark.metrics.normalise import PERCENT
from arcademark.metrics.uncertainty import bootstrap
from arcademark.metrics.uncertainty.samples import sample_of

ROOT = Path(__file__).parent.parent
PEER = ROOT / "build" / "rliable"
REQUIREMENTS = ("rliable==1.2.0", "pandas<3")

GAMES, RUNS = 57, 5
AGGREGATE_REPLICATES, IMPROVEMENT_REPLICATES = 50_000, 2_000
THRESHOLDS = [str(threshold) for threshold in np.linspace(0, 5, 101)]
AGGREGATES_LIMIT, IMPROVEMENT_LIMIT, SUMMARIES_LIMIT = 10.0, 1_000.0, 0.5

Floats = NDArray[np.float64]
Limits = dict[str, list[float]]
Seconds = tuple[float, float]
"""Wall time and processor time."""

PEER_SCRIPT = """
import json, sys, time, warnings
warnings.simplefilter("ignore")
import numpy as np
from PACKAGE import library, metrics

data = np.load(sys.argv[1])
x, y = data["x"].T, data["y"].T
four = lambda s: np.array([metrics.aggregate_mean(s), metrics.aggregate_median(s), metrics.aggregate_iqm(s),
                           metrics.aggregate_optimality_gap(s)])
better = lambda a, b: np.array([metrics.probability_of_improvement(a, b)])
taus = np.linspace(0, 5, 101)
WORK = {
    "iqm": (lambda: library.get_interval_estimates({"x": x}, lambda s: np.array([metrics.aggregate_iqm(s)]),
                                                   reps=AGGREGATE_REPLICATES), ["iqm"]),
    "aggregates": (lambda: library.get_interval_estimates({"x": x}, four, reps=AGGREGATE_REPLICATES),
                   ["mean", "median", "iqm", "optimality_gap"]),
    "improvement": (lambda: library.get_interval_estimates({"x": (x, y)}, better, reps=IMPROVEMENT_REPLICATES),
                    ["probability_of_improvement"]),
    "profile": (lambda: library.create_performance_profile({"x": x}, taus, reps=IMPROVEMENT_REPLICATES),
                [str(tau) for tau in taus]),
}
for line in sys.stdin:
    function, names = WORK[line.strip()]
    begin = time.perf_counter(), time.process_time()
    _, found = function()
    seconds = time.perf_counter() - begin[0], time.process_time() - begin[1]
    limits = {name: found["x"][:, i].tolist() for i, name in enumerate(names)}
    print(json.dumps({"seconds": seconds, "limits": limits}), flush=True)
"""

SUMMARIES_SCRIPT = """
from arcademark.catalogue import load
from arcademark.metrics import aggregate, normalise
from arcademark.suite import references

table = load()
scores = table.mean_over_runs()
counted = 0
for name, high in (("hns", "human"), ("hwrns", "human_world_record"), ("saber", "human_world_record")):
    low, top = references.scores("random"), references.scores(high)
    tasks = [task for task in table.tasks if task in low and task in top]
    columns = [table.tasks.index(task) for task in tasks]
    values = getattr(normalise, name)(scores[:, columns], low, top, tasks)
    for row in values:
        if not all(row != row):
            aggregate.aggregates(row[row == row], row[row == row][:, None])
            counted += 1
print(len(table.algorithms), counted)
"""


def made_up_scores() -> tuple[Floats, Floats]:
    """Return artificial scores of two algorithms, as fractions of human level, each of shape (games, runs)."""
    rng = np.random.default_rng(0)
    means = rng.lognormal(0, 1.2, (GAMES, 1))
    x, y = (means * rng.lognormal(gain, 0.3, (GAMES, RUNS)) for gain in (0.05, 0.0))
    return x, y


def installed_peer() -> Path:
    """Return the Python interpreter with rliable, which is installed on first use."""
    python = PEER / "bin" / "python"
    check = [str(python), "-c", "import rliable.library"]
    if not python.exists() or subprocess.run(check, capture_output=True, check=False).returncode:
        print(f"installing {' '.join(REQUIREMENTS)} into {PEER.relative_to(ROOT)} …", file=sys.stderr)
        venv.create(PEER, with_pip=True, clear=True)
        subprocess.run([str(python), "-m", "pip", "install", "-q", *REQUIREMENTS], check=True)
    return python


class Peer:
    """Separate process with rliable, or a package with its interface, that waits for work."""

    def __init__(self, x: Floats, y: Floats, folder: Path, package: str = "rliable") -> None:
        np.savez(folder / "scores.npz", x=x, y=y)
        script = PEER_SCRIPT.replace("PACKAGE", package)
        script = script.replace("AGGREGATE_REPLICATES", str(AGGREGATE_REPLICATES))
        script = script.replace("IMPROVEMENT_REPLICATES", str(IMPROVEMENT_REPLICATES))
        python = installed_peer() if package == "rliable" else Path(sys.executable)
        command = [str(python), "-c", script, str(folder / "scores.npz")]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def work(self, what: str) -> tuple[Seconds, Limits]:
        """Do a piece of work; return its seconds and limits."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(what + "\n")
        self.process.stdin.flush()
        reply = json.loads(self.process.stdout.readline())
        return tuple(reply["seconds"]), reply["limits"]

    def stop(self) -> None:
        """End the process."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def ours(x: Floats, y: Floats) -> dict[str, Callable[[np.random.Generator], Limits]]:
    """Return our counterparts of the peer's work."""

    def aggregates(rng: np.random.Generator) -> Limits:
        draws = bootstrap.resampled_aggregates(sample_of(PERCENT * x), rng, AGGREGATE_REPLICATES) / PERCENT
        return dict(zip(AGGREGATES, np.quantile(draws, [0.025, 0.975], axis=-1).T.tolist(), strict=True))

    def improvement(rng: np.random.Generator) -> Limits:
        draws = bootstrap.resampled_improvement(sample_of(x), sample_of(y), rng, IMPROVEMENT_REPLICATES)
        return {"probability_of_improvement": np.quantile(draws, [0.025, 0.975]).tolist()}

    return {"iqm": aggregates, "aggregates": aggregates, "improvement": improvement}


def clocked(
    work: Callable[[np.random.Generator], Limits], generators: Sequence[np.random.Generator]
) -> list[tuple[Seconds, Limits]]:
    """Return seconds and limits for each generator."""
    found = []
    for rng in generators:
        begin = time.perf_counter(), time.process_time()
        limits = work(rng)
        found.append(((time.perf_counter() - begin[0], time.process_time() - begin[1]), limits))
    return found


def fresh_process(script: str) -> tuple[float, float]:
    """Return a process's wall time from start to end and its processor time, in seconds."""
    begin, used = time.perf_counter(), children_time()
    subprocess.run([sys.executable, "-c", script], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begin, children_time() - used


def children_time() -> float:
    """Return the processor time of all child processes that have ended, in seconds."""
    used = os.times()
    return used.children_user + used.children_system


def apart(theirs: Limits, mine: Sequence[Limits]) -> float:
    """Return the largest difference between limits, in standard errors of a difference of two single intervals."""
    largest = 0.0
    for name, ends in theirs.items():
        repeated = np.array([found[name] for found in mine])
        error = repeated.std(axis=0, ddof=1) * np.sqrt(1 + 1 / len(repeated))
        distance = np.abs(np.array(ends) - repeated.mean(axis=0))
        equal = distance <= 1.01 / (GAMES * RUNS) if name in THRESHOLDS else distance == 0  # steps of one run
        largest = max(largest, float(np.max(np.where(equal, 0.0, distance / np.where(equal, 1.0, error)))))
    return largest


def against_peer(x: Floats, y: Floats, folder: Path, repeats: int, peer_repeats: int, console: Console) -> bool:
    """Print the table of ratios; return True if their limits are kept."""
    peer, same = Peer(x, y, folder), Peer(x, y, folder, "arcademark.rliable")
    works, generators = ours(x, y), np.random.default_rng(1)
    table = Table(title=f"Percentile intervals of {GAMES} games × {RUNS} runs: by the wall (of processor time)")
    for column in ("", "rliable, s", "ours, ms", "ratio", "limit", "off by, s.e."):
        table.add_column(column, justify="right" if column else "left")
    kept = True
    titles = {"iqm": "IQM", "aggregates": "four aggregates", "improvement": "P(improvement)", "profile": "profile"}
    for what, title in titles.items():
        ways: dict[str, Callable[[], list[tuple[Seconds, Limits]]]] = {
            f"{title}, by its interface": lambda what=what: [same.work(what) for _ in range(repeats)]  # type: ignore[misc]
        }
        if what in works:
            ways = {title: lambda what=what: clocked(works[what], generators.spawn(repeats)), **ways}  # type: ignore[misc]
        theirs, mine, distances = [], {way: [] for way in ways}, {way: [] for way in ways}  # type: ignore[var-annotated]
        for work in ways.values():
            work()
        for _ in range(peer_repeats):
            own = {way: work() for way, work in ways.items()}
            seconds, limits = peer.work(what)
            theirs.append(np.array(seconds))
            for way, work in ways.items():
                own[way] += work()
                mine[way].append(np.median([pair[0] for pair in own[way]], axis=0))
                distances[way].append(apart(limits, [pair[1] for pair in own[way]]))
        for way in ways:
            limit = IMPROVEMENT_LIMIT if what == "improvement" else AGGREGATES_LIMIT
            wall, processor = np.median(np.array(theirs) / np.array(mine[way]), axis=0)
            kept &= processor >= limit and max(distances[way]) < 4
            cells = [
                "{:.2f} ({:.2f})".format(*np.median(theirs, axis=0)),
                "{:.1f} ({:.1f})".format(*1000 * np.median(mine[way], axis=0)),
                f"{wall:,.0f} ({processor:,.0f})",
            ]
            table.add_row(way, *cells, f"≥ {limit:,.0f}", f"{max(distances[way]):.1f}")
    same.stop()
    peer.stop()
    console.print(table)
    return kept


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Speed of intervals as a ratio to rliable.")
    parser.add_argument("--repeats", type=int, default=10, help="number of ours before and after each of the peer's")
    parser.add_argument("--peer-repeats", type=int, default=3)
    parser.add_argument("--without-peer", action="store_true")
    arguments = parser.parse_args()
    console, (x, y) = Console(), made_up_scores()
    kept = True
    if not arguments.without_peer:
        with tempfile.TemporaryDirectory() as name:
            kept = against_peer(x, y, Path(name), arguments.repeats, arguments.peer_repeats, console)
    pairs = [fresh_process(SUMMARIES_SCRIPT) for _ in range(arguments.repeats)]
    wall, processor = (statistics.median(column) for column in zip(*pairs, strict=True))
    reply = subprocess.run([sys.executable, "-c", SUMMARIES_SCRIPT], check=True, capture_output=True, text=True).stdout
    algorithms, summaries = reply.split()
    console.print(
        f"Everything published: {algorithms} algorithms loaded and {summaries} summaries in a fresh process: "
        f"{processor:.2f} s of processor time (limit {SUMMARIES_LIMIT} s), {wall:.2f} s by the clock, "
        f"{min(pair[0] for pair in pairs):.2f} s at best."
    )
    kept &= processor < SUMMARIES_LIMIT
    console.print("All limits are kept." if kept else "Not all limits are kept.")
    sys.exit(not kept)


if __name__ == "__main__":
    main()
