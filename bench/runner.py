"""Measure the cost of the runner: plan, store, action log and progress, against the same play loop without them.

::

    python bench/runner.py                  # five games, five interleaved rounds
    python bench/runner.py --games pong --rounds 3

1. Processor time, in one process: the runner with an engine that plays in this process, so that no work is hidden on
   another core, against a bare loop over the same episodes. Limit: 3 % more. (Waiting for the disk takes no processor
   time; the driver does it while the workers play, so only 2 would show it.)
2. Wall time of two workers of the local engine, against two processes that each play half of the same episodes in the
   bare loop. Both include the start of their processes. Limit: 0.95 of the bare processes' speed.

The agent always plays NOOP, the fastest policy. Rounds are interleaved, and medians are printed with the middle half of
the ratios, since single ones vary on a busy machine.
"""

from __future__ import annotations

import argparse
import pickle
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from arcademark.agents.adapters import CheckedPolicy
from arcademark.agents.loading import agent_specs, make_agent
from arcademark.environments.registry import environment_spec, open_environment
from arcademark.records.randomness import episode_rng
from arcademark.runs import execution
from arcademark.runs.engines.base import Batch, Job, Memory
from arcademark.runs.engines.worker import opened
from arcademark.runs.plan import Plan, Trial, make_plan
from arcademark.runs.playing.events import Begun
from arcademark.runs.playing.trial import TrialPlayer
from arcademark.suite.protocols import protocol

GAMES = "pong,breakout,space_invaders,seaquest,montezuma_revenge"
EPISODE_FRAMES = 4000
OVERHEAD_LIMIT = 0.03
TWO_WORKERS_LIMIT = 0.95


class ThisProcess:
    """An engine without processes."""

    def __init__(self, workers: int, episode_seconds: float | None) -> None:
        self.unused = workers, episode_seconds
        self.finishing = False

    def run(self, jobs: Sequence[Job], memory: Memory) -> Generator[Batch, None, None]:
        for job in jobs:
            player = TrialPlayer(job.trial, job.emulator)
            yield [(job.trial.id, opened(player))]
            for event in player.play(list(job.episodes)):
                if not isinstance(event, Begun):
                    yield [(job.trial.id, event)]
                if self.finishing:
                    return

    def finish(self) -> Batch:
        self.finishing = True
        return []

    def stop(self) -> Batch:
        return []


def play_bare(trial: Trial, episodes: Sequence[int]) -> int:
    """Play episodes in a bare loop; return the frames played."""
    spec = environment_spec(trial.game, trial.protocol)
    policy = make_agent(trial.agent, spec)
    assert isinstance(policy, CheckedPolicy)
    environment = open_environment(spec)
    observations = np.zeros((1, *spec.observation_shape), spec.observation_dtype)
    frames = 0
    for episode in episodes:
        environment.reset(episode_rng(trial.seed, "evaluation", episode, "environment"))
        rngs = (episode_rng(trial.seed, "evaluation", episode, "agent"),)
        environment.observe(observations[0])
        first = np.ones(1, np.bool_)
        ended = False
        while not ended:
            action = int(policy.act(observations, first, rngs)[0])
            _, terminated, truncated = environment.step(action)
            environment.observe(observations[0])
            first[0] = False
            ended = terminated or truncated
        frames += environment.episode_frames
    return frames


def plan_for(games: str, episodes: int) -> Plan:
    rules = protocol("world-records").override({"max_frames_per_episode": EPISODE_FRAMES})
    return make_plan(agent_specs("const", {"action": "NOOP"}), games, rules, episodes=episodes)


def timed(play: Callable[[], int], clock: Callable[[], float]) -> float:
    """Return frames per second."""
    began = clock()
    frames = play()
    return frames / (clock() - began)


def run(plan: Plan, engine: str, workers: int) -> int:
    with tempfile.TemporaryDirectory() as directory:
        summary = execution.execute(plan, Path(directory) / "run", engine=engine, workers=workers)
    if not summary.complete:
        sys.exit(f"a trial failed: {summary.failed}")
    return summary.frames


def run_here(game: str, episodes: int) -> int:
    return run(plan_for(game, episodes), "this process", 1)


def two_bare_processes(game: str, episodes: int) -> int:
    """Play the episodes in two processes, half in each; return the frames played."""
    (trial,) = plan_for(game, episodes).trials
    halves = [range(half, episodes, 2) for half in (0, 1)]
    commands = [[sys.executable, __file__, "--play", pickle.dumps((trial, tuple(half))).hex()] for half in halves]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE) for command in commands]
    return sum(int(process.communicate()[0]) for process in processes)


def compare(
    title: str,
    clock: Callable[[], float],
    bare: Callable[[str], int],
    full: Callable[[str], int],
    options: argparse.Namespace,
) -> float:
    """Print a table of speeds and ratios; return the median ratio over games and rounds."""
    print(f"\n{title}\n{'game':22}{'bare':>10}{'runner':>10}{'ratio':>8}   middle half")
    everything = []
    for game in plan_for(options.games, 1).games:
        speeds = [(timed(partial(bare, game), clock), timed(partial(full, game), clock)) for _ in range(options.rounds)]
        ratios = sorted(after / before for before, after in speeds)
        everything += ratios
        before, after = (statistics.median(column) for column in zip(*speeds, strict=True))
        low, high = ratios[len(ratios) // 4], ratios[-1 - len(ratios) // 4]
        print(f"{game:22}{before:10,.0f}{after:10,.0f}{statistics.median(ratios):8.3f}   {low:.3f} to {high:.3f}")
    return statistics.median(everything)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", default=GAMES)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--episodes", type=int, default=12, help=f"of at most {EPISODE_FRAMES} frames, for a process")
    parser.add_argument("--play", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.play:
        print(play_bare(*pickle.loads(bytes.fromhex(options.play))))  # noqa: S301 - given by the parent process
        return
    execution.ENGINES["this process"] = ThisProcess
    episodes = options.episodes

    def bare_here(game: str) -> int:
        return play_bare(plan_for(game, episodes).trials[0], range(episodes))

    def two_workers(game: str) -> int:
        return run(plan_for(game, 2 * episodes), "local", 2)

    for warm_up in (bare_here, lambda game: run_here(game, episodes), two_workers):
        warm_up(plan_for(options.games, 1).games[0])
    one = compare(
        "1. Frames per second of processor time, one process",
        time.process_time,
        bare_here,
        lambda game: run_here(game, episodes),
        options,
    )
    two = compare(
        "2. Frames per second of wall time, two processes with their start",
        time.perf_counter,
        lambda game: two_bare_processes(game, 2 * episodes),
        two_workers,
        options,
    )
    print(f"\nrunner overhead {1 / one - 1:+.1%} (limit {OVERHEAD_LIMIT:.0%});", end=" ")
    print(f"two workers {two:.3f} of two bare processes (limit {TWO_WORKERS_LIMIT})")
    sys.exit(0 if 1 / one - 1 <= OVERHEAD_LIMIT and two >= TWO_WORKERS_LIMIT else 1)


if __name__ == "__main__":
    main()
