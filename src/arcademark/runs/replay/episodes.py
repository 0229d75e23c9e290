"""Replay of recorded episodes from their actions alone.

An episode follows from the trial's game and protocol, the environment's generator, given by (seed, phase, episode), and
the actions. No agent is loaded.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable, Iterator
from typing import NamedTuple, TypedDict, Unpack

import msgspec
import numpy as np

from arcademark.environments.base import AskedObservation, Environment, Step
from arcademark.environments.registry import EmulatorName, environment_spec, open_environment, referee
from arcademark.errors import ArcadeMarkError, UnknownNameError, one_line
from arcademark.records import imported
from arcademark.records.model import EpisodeRecord, Phase, RunRecord, TrialRecord
from arcademark.records.reading import read_run
from arcademark.runs.playing.slot import begin
from arcademark.suite import anomalies
from arcademark.suite.protocols import AtariProtocol, Protocol, StepProtocol
from arcademark.suite.settings import recorded_end
from arcademark.suite.task_suites import TaskSuite, load_suite, task_suites
from arcademark.suite.tasks import TOY, canonical_game


class Recorded(NamedTuple):
    """An episode with its trial."""

    trial: TrialRecord
    episode: EpisodeRecord


def replay_all(environment: Environment, recorded: Recorded, actions: Iterable[int]) -> Replayed:
    """Replay an episode and return its totals."""
    score, steps, end, lost = 0.0, 0, None, 0
    try:
        for reward, terminated, truncated in replay(environment, recorded, actions):
            score += reward
            lost += anomalies.counter_passed(recorded.trial.game, reward)
            steps += 1
            end = "terminated" if terminated else "truncated" if truncated else None
    except ArcadeMarkError as error:
        raise ArcadeMarkError(f"step {steps + 1} cannot be replayed: {error}") from None
    return Replayed(score, environment.episode_frames, steps, end, lost)


class EpisodeFilter(TypedDict, total=False):
    """Filter of a run's episodes: those that match every given value except None."""

    trial: str | None  # a trial's id, or the beginning of it
    agent: str | None  # an agent's label, as in "const(action=FIRE)"
    game: str | None  # in any spelling
    seed: int | None
    phase: Phase | None
    episode: int | None
    suite: str | TaskSuite | None  # its tasks may be made for the replay, in addition to those of the included suites


def observed_as(protocol: Protocol, observation: AskedObservation) -> Protocol:
    """Return an Atari protocol that observes single whole screens of palette indices, or memory; others unchanged.

    Training episodes end as they are recorded: with the whole game, if the same game continues after a lost life.
    """
    if not isinstance(protocol, AtariProtocol):
        return protocol
    end = recorded_end(protocol.training_episode_end)
    return dataclasses.replace(protocol.observed(observation), training_episode_end=end)


def open_recorded(
    protocol: Protocol,
    trial: TrialRecord,
    phase: Phase,
    emulator: EmulatorName | None = None,
    *,
    pictures: bool = False,
) -> Environment:
    """Open the environment of a trial, without the agent's observations, which a replay does not need.

    The emulator is by default the `referee`: ale-py if it can play the game, whichever emulator the trial was played
    on.
    """
    spec = environment_spec(trial.game, observed_as(protocol, "ram"), trial.frames_per_action)
    return open_environment(spec, training=phase == "training", emulator=emulator or referee(spec), pictures=pictures)


class Replayed(NamedTuple):
    """Result of replaying an episode's actions."""

    score: float
    frames: int
    steps: int
    end: str | None  # None if the episode continues after the last action
    lost: int = 0  # points that the game took back because its counter passed its end


def replay(
    environment: Environment, recorded: Recorded, actions: Iterable[int], by_frame: bool = False
) -> Iterator[Step]:
    """Replay an episode, and yield the result of each step or frame, until it ends or no action is left."""
    trial, episode = recorded
    before = begin(environment, trial.seed, episode.phase, episode.episode)
    for action in actions:
        for step in environment.each_frame(action) if by_frame else (environment.step(action),):
            yield step._replace(reward=step.reward + before)
            before = 0.0
            if step.terminated or step.truncated:
                return


def select(run: RunRecord, *, replayed: bool = True, **choice: Unpack[EpisodeFilter]) -> tuple[Recorded, ...]:
    """Return the recorded episodes that match, in the run's order; `replayed` is as in `select_trials`."""
    trials = {trial.id: trial for trial in select_trials(run, replayed=replayed, **choice)}
    phase, episode = choice.get("phase"), choice.get("episode")
    rows = run.episodes
    fits = np.array([trial.id in trials for trial in run.trials])[rows.trial]
    if phase is not None:
        fits &= rows.training == (phase == "training")
    if episode is not None:
        fits &= rows.episode == episode
    matching = tuple(Recorded(trials[row.trial_id], row) for row in rows[fits])
    if not matching:
        what = " ".join([*([phase] if phase else []), "episode", *([str(episode)] if episode is not None else [])])
        where = next(iter(trials)) if len(trials) == 1 else f"any of {len(trials)} trials"
        raise ArcadeMarkError(f"{run.directory}: no {what} is recorded for {where}")
    return matching


def select_one(run: RunRecord, *, replayed: bool = True, **choice: Unpack[EpisodeFilter]) -> Recorded:
    """Return the selected episode: number 0 unless `episode` is given, of evaluation if both phases match.

    `replayed` is as in `select_trials`.
    """
    wanted: EpisodeFilter = {**choice, "episode": choice.get("episode") or 0}
    matching = select(run, replayed=replayed, **wanted)
    trials = list({recorded.trial.id: recorded.trial for recorded in matching}.values())
    if len(trials) > 1:
        names = [name for name in ("agent", "game", "seed") if len({getattr(trial, name) for trial in trials}) > 1]
        example = ",".join(f"{name}={getattr(trials[0], name)}" for name in names) or f"trial={trials[0].id}"
        listed = ", ".join(trial.id for trial in trials[:6]) + (f" and {len(trials) - 6} more" if trials[6:] else "")
        raise ArcadeMarkError(
            f"{run.directory}: {len(trials)} trials match; choose one, as in --only {example}: {listed}"
        )
    return next((recorded for recorded in matching if recorded.episode.phase == "evaluation"), matching[0])


def _task(protocol: Protocol, name: str) -> str:
    """Return the id of a task in any spelling."""
    if protocol.suite:
        return name.strip().lower()
    return TOY if name.strip().lower() == TOY else canonical_game(name)


def with_roms(run: RunRecord, suite: str | TaskSuite | None) -> RunRecord:
    """Return a run with the ROMs of the user's own games located by the reader's suite; runs do not record them.

    ArcadeMarkError: the suite lacks a game that was played, or describes it differently.
    """
    recorded = run.protocol.suite
    if suite is None or recorded is None or not recorded.of_games:
        return run
    given = load_suite(suite)
    tasks = dict(recorded.tasks)
    for name in dict.fromkeys(trial.game for trial in run.trials if trial.game in tasks):
        other = given.tasks.get(name)
        if other is None or other.played() != tasks[name].played():
            what = "has none of that name" if other is None else "describes it differently"
            raise ArcadeMarkError(
                f"{run.directory}: game {name!r}: the suite {given.name} {what}; give the file that it was played from"
            )
        tasks[name] = other
    located = msgspec.structs.replace(recorded, tasks=tasks, folder=given.folder)
    return dataclasses.replace(run, protocol=dataclasses.replace(run.protocol, suite=located))


def read_to_replay(
    directory: str | os.PathLike[str], suite: str | TaskSuite | None, *, whole: bool = True
) -> RunRecord:
    """Read a run for a replay, with its games located by `with_roms`; errors as in both."""
    return with_roms(read_run(directory, whole=whole), suite)


def refuse_tasks(run: RunRecord, suite: str | TaskSuite | None) -> None:
    """Raise ArcadeMarkError if a replay would make a task of an untrusted run that the reader did not name."""
    if (own := run.protocol.suite) and own.of_games and not own.folder:
        raise ArcadeMarkError(
            f"{run.directory}: was played on its author's own games, whose ROMs are not part of a run; give the file "
            "that describes them, with the ROMs beside it: --suite FILE"
        )
    if not isinstance(run.protocol, StepProtocol):
        return
    from arcademark.environments.tasks import trusted

    suites = [*task_suites().values(), *([] if suite is None else [load_suite(suite)])]
    for task in run.protocol.suite.tasks.values():
        if not trusted(task, suites):
            arguments = f" with {one_line(repr(dict(task.kwargs)), 100)}" if task.kwargs else ""
            raise ArcadeMarkError(
                f"{run.directory}: task {task.id!r} is {task.environment}{arguments}, which is never made for a run "
                "alone; if you trust it, give the suite that defines it: --suite FILE"
            )


def select_trials(run: RunRecord, *, replayed: bool = True, **choice: Unpack[EpisodeFilter]) -> tuple[TrialRecord, ...]:
    """Return the trials that match, in the run's order; phase and episode are ignored.

    Every replay calls it first, so that a run without actions is refused here, and tasks as in `refuse_tasks`, unless
    only what is recorded of them is read (`replayed` is false).
    """
    imported.refuse(run)
    if replayed:
        refuse_tasks(run, choice.get("suite"))
    wanted = {name: choice.get(name) for name in ("agent", "game", "seed")}
    if (game := choice.get("game")) is not None:
        wanted["game"] = _task(run.protocol, game)
    for name, value in wanted.items():
        known = dict.fromkeys(getattr(trial, name) for trial in run.trials)
        if value is not None and value not in known:
            raise UnknownNameError(f"{name} of {run.directory}", str(value), map(str, known))
    start = choice.get("trial")
    if start == "":
        raise ArcadeMarkError(f"{run.directory}: the trial's id is empty; write the beginning of one, or leave it out")
    start = start or ""
    if not any(trial.id.startswith(start) for trial in run.trials):
        raise UnknownNameError(f"trial of {run.directory}", start, [trial.id for trial in run.trials])
    chosen = tuple(
        trial
        for trial in run.trials
        if trial.id.startswith(start) and all(value in (None, getattr(trial, name)) for name, value in wanted.items())
    )
    if not chosen:
        raise ArcadeMarkError(f"{run.directory}: no trial matches all of these; give fewer filters")
    return chosen
