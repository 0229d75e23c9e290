"""Measure the speed of SARSA(λ) on each feature set, as a ratio to the bare emulator playing the same frames.

    python bench/learning.py [--games freeway,asterix,seaquest] [--sets basic,ram-bits,…] [--rounds 5] [--b-pro PROGRAM]

"Ours" is training as users run it: the learner ``sarsa`` in the runner's training episodes under ``ale-2013`` (5 frames
per action, 18 actions), including exploration, learning and the start of episodes. It first trains for ``--warm``
frames, since its active features, and the frequency of changes of the greedy action, differ from those of random play.
"Raw" only plays the same actions on the same emulator with ``ALEInterface.act``. They are timed in turns, episode by
episode, as processor time of one core; a round has episodes of at least ``--frames`` frames in all. The table shows
medians of rounds, with the quartiles of ratios in brackets.

* Active, and newly (active): mean number of features per step.
* Features, and learning: microseconds per step by the clock, medians of another round with timers on both. Choosing
  actions counts as learning.
* Memory: the growth of a process that makes a learner and trains it for ``--warm`` frames, and the bytes of the
  weights.
* The peer is b-pro, the C++ program of Liang et al. 2016 (its B-PROST and Blob-PROST learners). Its speed was measured
  on a machine where the bare emulator plays about 19,000 frames per second; ratios to that are valid on other machines.
  With ``--b-pro`` its B-PROST learner, which you build, plays beside ours instead: it is started as ``PROGRAM -s 1 -r
  ROM -c CONFIG``, with the backgrounds in ``../backgrounds/``, relative to its folder, if there are any.
"""

from __future__ import annotations

import argparse
import gc
import multiprocessing
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from arcademark.agents.adapters import CheckedLearner
from arcademark.agents.loading import AgentSpec
from arcademark.classic.features.base import Change, Counts
from arcademark.classic.features.registry import feature_sets
from arcademark.classic.sarsa import Sarsa
from arcademark.environments.emulation.atari import AleEmulator, rom_path
from arcademark.environments.play import GameEnvironment
from arcademark.records.model import EpisodeResult, decode_actions
from arcademark.runs.plan import Trial
from arcademark.runs.playing.slot import Meter, Slot
from arcademark.runs.playing.trial import TrialPlayer, training_episode
from arcademark.suite.protocols import protocol
from arcademark.suite.tasks import JOYSTICK_ACTIONS

PROTOCOL = "ale-2013"
GAMES = "freeway,asterix,seaquest"
AT_LEAST = {
    "basic": 0.80, "ram-bits": 0.80, "ram": 0.50, "bass": 0.50, "lsh": 0.50, "disco": 0.40,
}  # fmt: skip
"""Smallest ratios to raw emulation."""

PEER = {
    ("b-prost", "asterix"): (1850, 2130),
    ("b-prost", "freeway"): (900, 1300),
    ("blob-prost", "asterix"): (1435, 1660),
    ("blob-prost", "freeway"): (539, 676),
}
"""Lowest and highest frames per second of b-pro's C++ learners."""
PEER_RAW = 19_000
"""Frames per second of the bare emulator on the same machine."""
TIMES_PEER = {"b-prost": 3.0}
"""Smallest ratio of our speed to the peer's highest."""

MEMORY_SETS = ("bass", "ram")
MEMORY_LIMIT = 500e6

PEER_CONFIG = """\
ALPHA = 0.5
GAMMA = 0.99
EPSILON = 0.01
LAMBDA = 0.9
DISPLAY = 0
EPISODE_LENGTH = 18000
NUM_EPISODES_LEARN = 0
NUM_EPISODES_EVAL = 0
NUM_STEPS_PER_ACTION = 5
NUM_ROWS = 14
NUM_COLUMNS = 16
NUM_COLORS = 128
USE_MIN_ACTIONS = 0
TRACE_THRESHOLD = 0.01
USE_REWARD_SIGN = 0
SAVE_TRAJECTORY = 0
OPTIMISTIC_INIT = 0
FREQUENCY_SAVING = 1000000000
TOTAL_FRAMES_LEARN = {frames}
SUBTRACT_BACKGROUND = {subtract}
PATH_TO_BACKGROUND = {backgrounds}
"""


class Training:
    """A learner in training, as in the runner.

    Parameters
    ----------
    game, name : str
        Names of the game and the feature set.
    """

    def __init__(self, game: str, name: str) -> None:
        self.name = name
        self.trial = Trial(AgentSpec("sarsa", {"features": name}), game, protocol(PROTOCOL), 0, 1)
        player = TrialPlayer(self.trial)
        assert isinstance(player.agent, CheckedLearner)
        self.learner = player.agent
        self.learner.train()
        environment = player.open(training=True)
        assert isinstance(environment, GameEnvironment)
        self.environment = environment
        self._bare = AleEmulator(game)
        self._slot, self._meter = Slot(0, environment), Meter()
        self._episode = 0

    def play(self, frames: int) -> list[EpisodeResult]:
        """Play training episodes until they have `frames` frames."""
        results: list[EpisodeResult] = []
        while sum(result.record.frames for result in results) < frames:
            played = training_episode(self.trial, self.learner, self._slot, self._episode, self._meter)
            results += [event for event in played if isinstance(event, EpisodeResult)]
            self._episode += 1
        return results

    def raw(self, results: Sequence[EpisodeResult]) -> None:
        """Play the same frames on the bare emulator."""
        console = self._bare
        act, actions = console.act, [JOYSTICK_ACTIONS.index(name) for name in self.environment.spec.action_meanings]
        for result in results:
            console.start(np.random.default_rng(0))
            for action in decode_actions(result.actions).tolist():
                number = actions[action]
                act(number)
                act(number)
                act(number)
                act(number)
                act(number)


@dataclass(frozen=True)
class Speed:
    """Measurements of a feature set on a game.

    Parameters
    ----------
    ratios : list of float
        Ratios of ours to raw, one per round.
    raw, ours : float
        Medians of frames per second.
    active, came : float
        Means of active and of newly active features per step.
    features, learning : float
        Medians of microseconds per step.
    """

    ratios: list[float]
    raw: float
    ours: float
    active: float
    came: float
    features: float
    learning: float


def measure(game: str, name: str, warm: int, frames: int, rounds: int) -> Speed:
    """Train in turns with raw emulation, and then once more with timers on the parts of a step."""
    training = Training(game, name)
    training.raw(training.play(warm))
    times = [in_turn(training, frames) for _ in range(rounds)]
    watch = Watch(training)
    training.play(frames)
    return Speed(
        ratios=[raw / ours for _, ours, raw in times],
        raw=statistics.median(played / raw for played, _, raw in times),
        ours=statistics.median(played / ours for played, ours, _ in times),
        active=statistics.fmean(watch.active),
        came=statistics.fmean(watch.came),
        features=statistics.median(watch.features),
        learning=statistics.median(watch.learning),
    )


def in_turn(training: Training, frames: int) -> tuple[int, float, float]:
    """Train and play raw in turn, episode by episode, for `frames`; return the frames played and both times."""
    played, ours, raw = 0, 0.0, 0.0
    while played < frames:
        begin = time.process_time()
        results = training.play(1)
        between = time.process_time()
        training.raw(results)
        raw += time.process_time() - between
        ours += between - begin
        played += results[0].record.frames
    return played, ours, raw


class Watch:
    """Timers on the steps of a learner in training.

    Attributes
    ----------
    active, came : list of int
        Numbers of active and of newly active features, by step.
    features, learning : list of float
        Microseconds, by step; choosing actions counts as learning.
    """

    def __init__(self, training: Training) -> None:
        self.active: list[int] = []
        self.came: list[int] = []
        self.features: list[float] = []
        self.learning: list[float] = []
        self._others = 0.0
        self._before = np.empty(0, np.int32)
        checked = training.learner
        assert isinstance(checked.policy, Sarsa)
        self._agent = checked.policy
        features = self._agent._features
        name = "update" if hasattr(features, "update") else "count"
        self._look = getattr(features, name)
        setattr(features, name, self._see)
        self._act, self._learn = checked.act, checked.learn
        setattr(checked, "act", self._timed(self._act))  # noqa: B010 (a method is put in another's place)
        setattr(checked, "learn", self._timed(self._learn, ends=True))  # noqa: B010

    def _see(self, observation: NDArray[np.uint8]) -> Change | Counts:
        begin = time.perf_counter()
        seen: Change | Counts = self._look(observation)
        spent = time.perf_counter() - begin
        self.features.append(1e6 * spent)
        if isinstance(seen, Change):
            self.came.append(len(seen.on))
        else:
            self.came.append(len(np.setdiff1d(seen.features, self._before)))
            self._before = seen.features.copy()
        self._others += time.perf_counter() - begin
        return seen

    def _timed(self, work: Callable[..., Any], ends: bool = False) -> Callable[..., Any]:
        """Make `work` add to a step's time, without the time for features; `ends` if it is the step's last part."""

        def call(*arguments: Any) -> Any:
            begin = time.perf_counter()
            result = work(*arguments)
            self._others -= time.perf_counter() - begin
            if ends:
                self.learning.append(-1e6 * self._others)
                self.active.append(self._agent._values.num_active)
                self._others = 0.0
            return result

        return call


def least(name: str, game: str, peers: dict[tuple[str, str], float]) -> float | None:
    """Return the smallest ratio that is allowed, or None."""
    if name in TIMES_PEER and (name, game) in peers:
        return TIMES_PEER[name] * peers[name, game]
    return AT_LEAST.get(name)


def printed_peers() -> dict[tuple[str, str], float]:
    """Return the highest ratios to raw emulation of the peer's learners, as measured on the other machine."""
    return {key: most / PEER_RAW for key, (_, most) in PEER.items()}


def measured_peer(program: Path, game: str, frames: int) -> float:
    """Return frames per second of processor time of a built B-PROST learner."""
    backgrounds = program.resolve().parent.parent / "backgrounds"
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "peer.cfg"
        subtract = int((backgrounds / f"{game}.bg").is_file())
        config.write_text(PEER_CONFIG.format(frames=frames, subtract=subtract, backgrounds=f"{backgrounds}/"))
        command = [str(program.resolve()), "-s", "1", "-r", str(rom_path(game)), "-c", str(config)]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    played = sum(int(found) for found in re.findall(r"(\d+) frames,", done.stdout))
    if not played:
        sys.exit(f"{program}: played no episode; it printed: {(done.stderr or done.stdout)[-300:]!r}")
    return played / (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def resident() -> int:
    """Return this process's resident memory in bytes."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def weigh(game: str, name: str, warm: int, connection: Connection) -> None:
    """Send the growth of this process's memory by a learner, and the size of its weights, in bytes."""
    Training(game, "ram-bits").play(1000)
    gc.collect()
    before = resident()
    training = Training(game, name)
    training.play(warm)
    gc.collect()
    agent = training.learner.policy
    assert isinstance(agent, Sarsa)
    weights = agent._values.weights
    connection.send((resident() - before, weights.nbytes))


def weighed(game: str, name: str, warm: int) -> tuple[int, int]:
    """Return the result of `weigh` in a separate process."""
    context = multiprocessing.get_context("spawn")
    mine, theirs = context.Pipe()
    process = context.Process(target=weigh, args=(game, name, warm, theirs), daemon=True)
    process.start()
    theirs.close()
    grown, weights = mine.recv()
    process.join()
    return int(grown), int(weights)


def shown(values: Sequence[float]) -> str:
    """Return the median and quartiles as text."""
    if len(values) < 2:
        return f"{values[0]:.3f}"
    low, median, high = statistics.quantiles(values, n=4, method="inclusive")
    return f"{median:.3f} [{low:.2f}–{high:.2f}]"


def speeds(terminal: Console, game: str, arguments: argparse.Namespace) -> list[str]:
    """Print a table with one row per feature set; return texts of the limits that are missed."""
    names = ("set", "raw", "ours", "ours to raw", "at least", "active", "newly", "features", "learning", "to peer")
    table = Table(title=f"{game}: frames per second; features per step; µs per step; speed to the peer's")
    for name in names:
        table.add_column(name, justify="left" if name == "set" else "right")
    missed, peers = [], printed_peers()
    for name in arguments.sets.split(","):
        speed = measure(game, name, arguments.warm, arguments.frames, arguments.rounds)
        if name == "b-prost" and arguments.b_pro is not None:
            peers[name, game] = measured_peer(arguments.b_pro, game, arguments.frames) / speed.raw
        ratio, wanted = statistics.median(speed.ratios), least(name, game, peers)
        peer = f"{ratio / peers[name, game]:.1f}" if (name, game) in peers else "–"
        limit = "–" if wanted is None else f"{wanted:.2f}"
        rates = (f"{speed.raw:,.0f}", f"{speed.ours:,.0f}", shown(speed.ratios), limit)
        counts = (f"{value:,.0f}" if value >= 100 else f"{value:.1f}" for value in (speed.active, speed.came))
        table.add_row(name, *rates, *counts, f"{speed.features:.0f}", f"{speed.learning:.0f}", peer)
        if wanted is not None and ratio < wanted:
            missed.append(f"{name} on {game}: {ratio:.3f} of raw, at least {wanted:.2f}")
    terminal.print(table)
    return missed


def memories(terminal: Console, arguments: argparse.Namespace) -> list[str]:
    """Print the memory of learners; return texts of the limits that are missed."""
    missed = []
    game = arguments.games.split(",")[0]
    for name in (name for name in MEMORY_SETS if name in arguments.sets.split(",")):
        grown, weights = weighed(game, name, arguments.warm)
        terminal.print(
            f"Memory of a learner on {name}, {game}: {grown / 1e6:,.0f} MB, its weights {weights / 1e6:,.0f} MB "
            f"(limit {MEMORY_LIMIT / 1e6:.0f} MB)."
        )
        if grown > MEMORY_LIMIT:
            missed.append(f"{name}: {grown / 1e6:,.0f} MB of memory, at most {MEMORY_LIMIT / 1e6:.0f}")
    return missed


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Speed of linear learners as a ratio to the bare emulator.")
    parser.add_argument("--games", default=GAMES)
    parser.add_argument("--sets", default=",".join(feature_sets()))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--frames", type=int, default=8_000, help="smallest number per round")
    parser.add_argument("--warm", type=int, default=30_000, help="frames of training before the first round")
    parser.add_argument("--b-pro", type=Path, metavar="PROGRAM", help="a built B-PROST learner of b-pro")
    arguments = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    terminal = Console(width=120)
    missed = [line for game in arguments.games.split(",") for line in speeds(terminal, game, arguments)]
    missed += memories(terminal, arguments)
    for line in missed:
        terminal.print(f"Missed: {line}.")
    terminal.print("All limits are kept." if not missed else "Not all limits are kept.")
    sys.exit(bool(missed))


if __name__ == "__main__":
    main()
