"""Estimate the cost of a run: frames, core-hours and time, as ``arcademark plan`` shows them."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import ClassVar, Literal

from arcademark import wording
from arcademark.agents.loading import Kind, kind
from arcademark.analysis.runs.directory import known_set
from arcademark.environments.registry import EmulatorName
from arcademark.errors import ArcadeMarkError
from arcademark.records import manifest
from arcademark.records.reading import read_run
from arcademark.runs.cluster.slurm import MAX_JOBS
from arcademark.runs.engines import processes
from arcademark.runs.plan import Plan, Trial
from arcademark.runs.playing import emulators
from arcademark.runs.scheduling import speed
from arcademark.runs.scheduling.lengths import Lengths, deal, frames_left, recorded_standings
from arcademark.runs.scheduling.progress import TrialStanding
from arcademark.runs.scheduling.speed import Pace

MEASURED = 3  # measured trials per kind of agent, except planners
HOUR = 3600.0
RECORDING_BYTES = 250 * 2**20
"""Memory of a job's recording process."""
RANDOM = frozenset({"random", "const", "perturb"})
"""Built-in agents whose episodes are as long as random play's."""

GIVEN: Mapping[Kind, Literal["learner", "planner"]] = {
    "trainer": "learner",
    "learner": "learner",
    "planner": "planner",
}
"""Kind of a given speed, by the kind of agent; "policy" for others."""

Known = Literal["given", "recorded", "random play", "frame cap"]
LENGTHS: Mapping[Known, str] = {
    "given": "as given",
    "recorded": "mean of the recorded episodes",
    "random play": "mean of random play",
    "frame cap": "the protocol's {} cap",
}


@dataclass(frozen=True)
class GameCost:
    """Estimated cost of a game's trials, over all agents and seeds.

    episode_frames: Assumed length of an evaluation episode.
    decisions, simulated_frames: Of planners whose speed was measured.
    """

    game: str
    trials: int
    episodes: int
    episode_frames: float
    frames: float
    core_hours: float
    decisions: float
    simulated_frames: float


@dataclass(frozen=True)
class Makespan:
    """Duration of a run with a number of workers.

    hours: The core-hours over the workers, but no less than the longest work of one worker: a learner's trial, or an
    episode of another agent.
    efficiency: Share of the workers' time spent playing.
    """

    workers: int
    hours: float
    efficiency: float


@dataclass(frozen=True)
class Shards:
    """Evenness of a plan's shards.

    least, most: Smallest and largest expected frames of a shard, over their mean.
    """

    count: int
    least: float
    most: float


@dataclass(frozen=True)
class Planned:
    """Estimated cost of a run.

    done: Episodes that are already recorded in the run's directory; the following amounts exclude them.
    left_out: Combinations of agent and game that have no trial.
    lengths: Source of the episodes' length: a given length, recorded episodes, random play, or only the protocol's
    frame cap.
    at_most: Whether `frames` is an upper bound, as the episodes' length is the frame cap; the other amounts are
    estimates for this many frames.
    frames: Played, training included.
    simulated_frames: By planners, to choose actions.
    unit: Unit of lengths, which are called frames elsewhere, too.
    peak_bytes: The most memory that a recorded trial of these agents took; None where none was recorded.
    slurm: Options of ``--slurm`` for the rest, as ``time=1:00:00,mem=900M*attempt``; "" if nothing is left.
    scope: Suite or subset of the games, "the 5 games of atari-5"; "" if none.
    """

    SCHEMA: ClassVar[str] = "arcademark.plan/5"

    agents: tuple[str, ...]
    games: tuple[str, ...]
    protocol: str
    seeds: tuple[int, ...]
    trials: int
    episodes: int
    done: int
    left_out: int
    lengths: Known
    at_most: bool
    frames: float
    simulated_frames: float
    core_hours: float
    paces: tuple[Pace, ...]
    makespans: tuple[Makespan, ...]
    by_game: tuple[GameCost, ...]
    shards: Shards | None
    unit: Literal["frame", "step"]
    peak_bytes: int | None
    slurm: str
    scope: str

    @property
    def amounts(self) -> list[tuple[str, str]]:
        """The total amounts, by name."""
        simulated = [(f"{self.unit}s simulated", wording.about(self.simulated_frames))] if self.simulated_frames else []
        return [
            ("trials", wording.count(self.trials)),
            ("episodes", wording.count(self.episodes)),
            (f"{self.unit}s", f"{'at most ' if self.at_most else ''}{self.frames:,.0f}"),
            *simulated,
            ("core-hours", wording.hours(self.core_hours)),
        ]

    @property
    def decisions(self) -> int:
        """Number of planners' decisions that were measured."""
        return sum(pace.decisions for pace in self.paces)

    @property
    def length(self) -> str:
        """Source of the episodes' length, in words."""
        return LENGTHS[self.lengths].format(self.unit)

    @property
    def speeds(self) -> list[tuple[float, tuple[str, ...]]]:
        """Frames per second of agents that do not plan, and the games on which these were measured."""
        return [
            (pace.frames_per_second, tuple(dict.fromkeys(game for _, game in pace.measured)))
            for pace in self.paces
            if not pace.decisions
        ]


def estimate(
    plan: Plan,
    directory: Path,
    workers: Sequence[int],
    *,
    rate: float | None = None,
    episode_frames: int | None = None,
    shards: Shards | None = None,
    follow: Callable[[int, int], None] = lambda *_: None,
) -> Planned:
    """Estimate the cost of a plan.

    Parameters
    ----------
    plan : Plan
    directory : path
        The run's, which need not exist; its episodes count as done, and give the length of episodes.
    workers : sequence of int
        Numbers of workers for which the duration is estimated.
    rate : float, optional
        Frames per second on one core; measured by default, which takes some seconds, for planners in each game.
    episode_frames : int, optional
        Length of an episode.
    shards : Shards, optional
        Evenness of the shards, of which the plan is one.
    follow : callable, optional
        Called with the numbers of measured games and of all.

    Raises
    ------
    ArcadeMarkError
        If the length of episodes is unknown and there is no cap, an agent fails in the measurement, or an amount is not
        finite.
    """
    record = read_run(directory, whole=False) if (directory / manifest.FILE).exists() else None
    standings = recorded_standings(plan.trials, record)
    lengths, known = _lengths(standings, episode_frames)
    paces = _paces(plan, rate, follow)
    costs = [_cost(one, paces[one.trial.agent.label, one.trial.game], lengths[one.trial.game]) for one in standings]
    rows, longest = [row for row, _ in costs], max(hours for _, hours in costs)
    core_hours = sum(row.core_hours for row in rows)
    games = tuple(dict.fromkeys(trial.game for trial in plan.trials))
    titles = tuple(map(plan.protocol.task_name, games))
    by_game = tuple(_of_game([row for row in rows if row.game == title]) for title in titles)
    peak = None if record is None else _peak(record.manifest, {trial.agent.label for trial in plan.trials})
    if not math.isfinite(core_hours):
        raise ArcadeMarkError("the amounts are not finite: expected finite numbers in --assume")
    return Planned(
        agents=tuple(dict.fromkeys(trial.agent.label for trial in plan.trials)),
        games=titles,
        protocol=plan.protocol.label,
        seeds=plan.seeds,
        trials=len(plan.trials),
        episodes=sum(row.episodes for row in rows),
        done=sum(standing.episodes_done for standing in standings),
        left_out=len(plan.left_out),
        lengths=known,
        at_most=known == "frame cap",
        frames=sum(row.frames for row in rows),
        simulated_frames=sum(row.simulated_frames for row in rows),
        core_hours=core_hours,
        paces=tuple(dict.fromkeys(paces.values())),
        makespans=tuple(_makespan(core_hours, longest, number, paces.values()) for number in workers),
        by_game=by_game,
        shards=shards,
        unit=plan.protocol.unit,
        peak_bytes=peak,
        slurm=_slurm(core_hours, longest, len(plan.trials), peak) if core_hours else "",
        scope=known_set(games, plan.protocol.suite),
    )


def _cost(standing: TrialStanding, pace: Pace, length: float) -> tuple[GameCost, float]:
    """Return the cost of the rest of a trial, and the hours of the longest part that one worker must play."""
    trial = standing.trial
    trains = kind(trial.agent) == "trainer"
    learner = replace(standing, learns=standing.learns or pace.kind == "learner", trains=trains)
    training, count = learner.frames_left(0.0, length) or 0.0, learner.episodes_left
    seconds, simulated = pace.episode(length)
    evaluated = count + learner.snapshot_episodes_left
    hours = (training / pace.frames_per_second + evaluated * seconds) / HOUR
    cost = GameCost(
        game=trial.protocol.task_name(trial.game),
        trials=1,
        episodes=count,
        episode_frames=length,
        frames=training + evaluated * length,
        core_hours=hours,
        decisions=count * length / pace.first_frames if pace.decisions else 0.0,
        simulated_frames=count * simulated,
    )
    return cost, hours if learner.learns else min(hours, seconds / HOUR)


def _lengths(standings: Sequence[TrialStanding], given: int | None) -> tuple[dict[str, float], Known]:
    """Return the assumed length of episodes of each game, and its source."""
    protocol = standings[0].trial.protocol
    games = dict.fromkeys(standing.trial.game for standing in standings)
    caps = {game: cap for game in games if (cap := protocol.cap(game)) is not None}
    if given is not None:
        return {game: float(min(given, caps.get(game, given))) for game in games}, "given"
    recorded = any(standing.episodes for standing in standings)
    random = protocol.unit == "frame" and all(standing.trial.agent.ref in RANDOM for standing in standings)
    if recorded or random:
        lengths = Lengths(standings)
        return {game: lengths.expected(game, protocol) for game in games}, "recorded" if recorded else "random play"
    if lacking := [protocol.task_name(game) for game in games if game not in caps]:
        on = "" if protocol.unit == "frame" else f" on {lacking[0]}"
        raise ArcadeMarkError(
            f"protocol {protocol.label} has no {protocol.unit} cap{on}, so the length of episodes is unknown; give "
            "--assume episode_frames=N"
        )
    return {game: float(cap) for game, cap in caps.items()}, "frame cap"


def _paces(plan: Plan, rate: float | None, follow: Callable[[int, int], None]) -> dict[tuple[str, str], Pace]:
    """Return the speed of each agent on each game, measured together for agents of one kind except planners."""
    by_kind: dict[Kind, list[Trial]] = {}
    for trial in plan.trials:
        by_kind.setdefault(kind(trial.agent), []).append(trial)
    paces: dict[tuple[str, str], Pace] = {}
    chosen = {} if rate is not None else emulators.choose(plan)
    for name, trials in by_kind.items():
        places = {(trial.agent.label, trial.game): trial for trial in trials}
        if rate is not None:
            paces |= dict.fromkeys(places, Pace(GIVEN.get(name, "policy"), (), rate))
            continue
        shared = None if name == "planner" else _shared(trials, chosen)
        if shared is not None and shared.kind != "planner":
            paces |= dict.fromkeys(places, shared)
            continue
        measured = [(trial, chosen[trial.game]) for trial in places.values()]
        paces |= zip(places, speed.measure(measured, processes.available_cores(), follow), strict=True)
    return paces


def _shared(trials: Sequence[Trial], chosen: Mapping[str, EmulatorName | None]) -> Pace:
    """Measure some of the trials, of different games if possible; planners are only detected."""
    games = {trial.game: trial for trial in trials}
    some = [*games.values()][:: -(-len(games) // MEASURED)]
    paces = speed.measure([(trial, chosen[trial.game]) for trial in some])
    return replace(
        paces[0],
        measured=tuple(place for pace in paces for place in pace.measured),
        frames_per_second=fmean(pace.frames_per_second for pace in paces),
        starting_seconds=max(pace.starting_seconds for pace in paces),
    )


def _makespan(core_hours: float, longest: float, workers: int, paces: Collection[Pace]) -> Makespan:
    playing = max(core_hours / workers, longest)
    hours = playing + (max(pace.starting_seconds for pace in paces) / HOUR if playing else 0.0)
    return Makespan(workers, hours, core_hours / (workers * hours) if hours else 1.0)


def _peak(document: manifest.Document, labels: Collection[str]) -> int | None:
    agents = (agent.get("peak_bytes", {}) for agent in document["agents"] if agent["label"] in labels)
    return max((peak for peaks in agents for peak in peaks.values()), default=None)


def _slurm(core_hours: float, longest: float, trials: int, peak: int | None) -> str:
    """Return the options of jobs of one worker, with 50 % more time and 25 % more memory than expected."""
    hours = max(core_hours / min(trials, MAX_JOBS), longest)
    minutes = 10 * max(1, math.ceil(1.5 * 60 * hours / 10))
    memory = f",mem={100 * math.ceil(1.25 * (peak + RECORDING_BYTES) / 2**20 / 100)}M*attempt" if peak else ""
    return f"time={minutes // 60}:{minutes % 60:02}:00{memory}"


def _of_game(trials: Sequence[GameCost]) -> GameCost:
    summed = ("trials", "episodes", "frames", "core_hours", "decisions", "simulated_frames")
    return replace(trials[0], **{name: sum(getattr(trial, name) for trial in trials) for name in summed})


def shard_balance(plan: Plan, count: int) -> Shards:
    """Return the evenness of a plan's shards."""
    each = frames_left([TrialStanding(trial) for trial in plan.trials])
    frames = [sum(each[place] for place in shard) for shard in deal(each, count)]
    mean = sum(frames) / count
    return Shards(count, min(frames) / mean, max(frames) / mean)
