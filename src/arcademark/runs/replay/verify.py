"""Verification of scores: every recorded episode is replayed from its actions and must give the recorded result.

Neither the agent's choice of these actions nor a planner's simulated frames are confirmed; playing the same trial again
in another directory confirms both.
"""

from __future__ import annotations

import contextlib
import os
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Unpack

from arcademark.agents.loading import builtin_agents
from arcademark.environments.base import Environment, one_by_one
from arcademark.environments.registry import version_of
from arcademark.errors import ArcadeMarkError
from arcademark.keywords import knowing
from arcademark.records.model import EpisodeRecord, RunRecord, TrialRecord, scored_phase
from arcademark.records.reading import read_actions
from arcademark.records.replayed import Finding, Outcome, Verification
from arcademark.runs.engines.processes import GarbledError, Process, available_cores, heard, serving
from arcademark.runs.replay.episodes import (
    EpisodeFilter,
    Recorded,
    Replayed,
    open_recorded,
    read_to_replay,
    replay_all,
    select,
    select_trials,
    with_roms,
)
from arcademark.runs.store.provenance import versions
from arcademark.suite.protocols import Protocol

MAX_MISSING = 1_000  # maximum number of missing training episodes that are listed per trial


@dataclass(frozen=True)
class EpisodeCheck:
    """An episode to verify, with all facts that a process needs."""

    directory: Path
    protocol: Protocol
    recorded: Recorded
    copies: int = 1  # records of the episode: 1, unless the database was changed


@knowing(EpisodeFilter)
def verify(
    run: str | os.PathLike[str] | RunRecord,
    *,
    workers: int | None = None,
    on_finding: Callable[[Finding, int], None] | None = None,
    **choice: Unpack[EpisodeFilter],
) -> Verification:
    """Replay a run's episodes, by default all, and compare their scores with the recorded ones.

    Parameters
    ----------
    run : path or RunRecord
        The run's directory, or the run.
    workers : int, optional
        Processes; one per core by default.
    on_finding : callable, optional
        Called with each finding, and the number of all findings.
    **choice
        Fields of `arcademark.runs.replay.episodes.EpisodeFilter`.

    Raises
    ------
    ArcadeMarkError
        If the run cannot be read, or has no such episodes.
    """
    if workers is not None and workers < 1:
        raise ArcadeMarkError(f"workers {workers}: expected at least 1")
    suite = choice.get("suite")
    run = with_roms(run, suite) if isinstance(run, RunRecord) else read_to_replay(run, suite, whole=False)
    trials = select_trials(run, **choice)
    ids = {trial.id for trial in trials}
    narrowed = choice.get("phase") is not None or choice.get("episode") is not None
    chosen = select(run, **choice) if narrowed or any(run.by_trial[identity] for identity in ids) else ()
    copies = Counter(map(_key, run.episodes))
    tasks = [EpisodeCheck(run.directory, run.protocol, item, copies[_key(item.episode)]) for item in chosen]
    findings: dict[int, Finding] = {}
    for index, finding in _verify_all(tasks, workers or available_cores()):
        findings[index] = finding
        if on_finding is not None:
            on_finding(finding, len(tasks))
    result = tuple(findings[i] for i in range(len(tasks)))
    passed = tuple(_passed(finding) for finding in result if finding.lost)
    if narrowed:
        return Verification(run.directory, result, _warnings(run, trials), passed)
    taken = tuple(finding for trial in trials for finding in _taken_away(run, trial))
    notes = tuple(note for trial in trials for note in _notes(run, trial))
    return Verification(run.directory, result + taken, _warnings(run, trials), passed + notes)


def verify_episode(task: EpisodeCheck, environment: Environment | None = None) -> Finding:
    """Replay one episode and compare."""
    trial, row = task.recorded
    try:
        if environment is None:
            environment = open_recorded(task.protocol, trial, row.phase)
        actions = one_by_one(read_actions(task.directory, trial.id, row.episode, row.phase))
    except ArcadeMarkError as error:
        return finding_of(task.recorded, "unverifiable", str(error))
    if task.copies > 1:
        return finding_of(task.recorded, "differs", f"is recorded {task.copies} times")
    try:
        result = replay_all(environment, task.recorded, actions)
    except ArcadeMarkError as error:
        return finding_of(task.recorded, "differs", str(error))
    differing = "; ".join(_differences(row, len(actions), result))
    finding = finding_of(task.recorded, "differs" if differing else "confirmed", differing)
    return replace(finding, score=result.score, lost=result.lost)


def finding_of(recorded: Recorded, outcome: Outcome, detail: str) -> Finding:
    """Return a finding about an episode."""
    trial, row = recorded
    return Finding(trial.id, trial.game, row.phase, row.episode, outcome, detail)


def _passed(finding: Finding) -> str:
    made = (finding.score or 0.0) + finding.lost
    return (
        f"trial {finding.trial_id}, {finding.phase} episode {finding.episode}: the game's counter wrapped around, "
        f"which took {finding.lost:,} points away: score {_text(finding.score)}, {_text(made)} with them"
    )


def _differences(row: EpisodeRecord, actions: int, result: Replayed) -> list[str]:
    """List the differences, in the order in which they occur."""
    differing = []
    if result.steps < actions:
        differing.append(f"it is {result.end} at step {result.steps}, but {actions} actions are recorded")
    elif result.end is None:
        differing.append(f"it is {row.end} as recorded, but continues after all {actions} actions on replay")
    for name, recorded, now in (
        ("score", row.score, result.score),
        ("frames", row.frames, result.frames),
        ("steps", row.steps, result.steps),
        ("end", row.end, result.end),
    ):
        if recorded != now and now is not None:
            differing.append(f"{name} {_text(recorded)} recorded, {_text(now)} on replay")
    return differing


def _text(value: object) -> str:
    return f"{value:.15g}" if isinstance(value, float) else str(value)


def _key(row: EpisodeRecord) -> tuple[str, str, int]:
    return row.trial_id, row.phase, row.episode


def _verify_all(tasks: Sequence[EpisodeCheck], workers: int) -> Iterator[tuple[int, Finding]]:
    """Verify episodes; worker k of n takes every n-th, so that workers are about equally busy."""
    numbered = list(enumerate(tasks))
    shares = [numbered[first::workers] for first in range(min(workers, len(tasks)))]
    yield from _verify_some(numbered) if len(shares) <= 1 else _verify_in_processes(shares)


def _verify_some(numbered: Sequence[tuple[int, EpisodeCheck]]) -> Iterator[tuple[int, Finding]]:
    """Verify episodes one after the other; those of one trial and phase share an environment."""
    opened: tuple[str, str] | None = None
    environment: Environment | None = None
    for index, task in numbered:
        trial, row = task.recorded
        if opened != (trial.id, row.phase):
            opened, environment = (trial.id, row.phase), None
            with contextlib.suppress(ArcadeMarkError):  # which `verify_episode` reports for each episode
                environment = open_recorded(task.protocol, trial, row.phase)
        yield index, verify_episode(task, environment)


def _verify_in_processes(shares: Sequence[list[tuple[int, EpisodeCheck]]]) -> Iterator[tuple[int, Finding]]:
    with contextlib.ExitStack() as stack:
        waiting = {}
        for share in shares:
            process = Process(serve, [Finding])
            stack.callback(process.close)
            stack.callback(process.kill)
            with contextlib.suppress(OSError):  # that it died is noticed below
                process.send(share)
            waiting[process] = deque(index for index, _ in share)
        listening = [*waiting]
        while listening:
            for process in heard(listening):
                try:
                    for finding in process.arrived():
                        yield waiting[process].popleft(), finding
                except (EOFError, OSError, GarbledError):
                    listening.remove(process)
        if any(waiting.values()):
            raise ArcadeMarkError("a process that replays died; the message above may say why; try --workers 1")


def serve(descriptor: int) -> None:
    """Verify the episodes received at a socket and send each finding back, in a process of `verify`."""
    channel = serving(descriptor, [Finding])
    with contextlib.suppress(EOFError, ConnectionError):  # the verifying process is gone
        for _, finding in _verify_some(channel.receive()):
            channel.send(finding)


# Warnings and notes besides the episodes


def _warnings(run: RunRecord, trials: Sequence[TrialRecord]) -> tuple[str, ...]:
    recorded, now = run.manifest["versions"], versions()
    result = [
        f"recorded with {package} {recorded.get(package, 'unknown')}, replayed with {now[package]}"
        for package in ("ale-py", "numpy", "arcademark")
        if recorded.get(package) != now[package]
    ]
    checksums = run.manifest["games"]
    for game in dict.fromkeys(trial.game for trial in trials):
        try:
            checksum = version_of(game, run.protocol)
        except ArcadeMarkError as error:
            result.append(str(error))
            continue
        if checksums.get(game) != checksum:
            what = "the ROM of {} has another checksum" if run.protocol.unit == "frame" else "{} has another version"
            result.append(f"{what.format(game)}: {checksums.get(game)} recorded, {checksum} here")
    return tuple(result)


def _notes(run: RunRecord, trial: TrialRecord) -> Iterator[str]:
    if trial.status == "failed":
        yield f"trial {trial.id} failed: {trial.error}"
    numbers = set(run.evaluation(trial).episode.tolist())
    wanted = trial.episodes if scored_phase(run.protocol, bool(trial.learns)) == "evaluation" else 0
    missing = [number for number in range(wanted) if number not in numbers]
    if cut_short(run, trial):
        frames = int(run.training(trial).frames.sum())
        yield (
            f"trial {trial.id}: its training games have {frames:,} of {trial.training_frames:,} frames; the run was "
            "continued, and games that were in play when it stopped are not recorded"
        )
    if missing:
        listed = ", ".join(map(str, missing[:8])) + (", …" if len(missing) > 8 else "")
        yield f"trial {trial.id}: {len(missing)} of {wanted} evaluation episodes are missing: {listed}"


def cut_short(run: RunRecord, trial: TrialRecord) -> bool:
    """Return True if a training was interrupted, and its recorded games have fewer frames than the training."""
    short = trial.status == "done" and int(run.training(trial).frames.sum()) < (trial.training_frames or 0)
    return short and _interrupted(run, trial)


def _interrupted(run: RunRecord, trial: TrialRecord) -> bool:
    """Return True if interrupted training games may have started again; built-in learners continue them."""
    if trial.training_frames is None:  # trainers train for frames
        return False
    reference = next((str(agent["reference"]) for agent in run.manifest["agents"] if agent["label"] == trial.agent), "")
    agent = builtin_agents().get(reference)
    return bool(run.manifest.get("continued")) and (agent is None or agent.kind == "trainer")


def _taken_away(run: RunRecord, trial: TrialRecord) -> Iterator[Finding]:
    """Find missing episodes of a learner's training, which are recorded in order, until the budget is spent.

    If several games are trained on at once, those in play at an interruption start again, and their frames count as
    spent, too.
    """
    rows = run.training(trial)
    frames = dict(zip(rows.episode.tolist(), rows.frames.tolist(), strict=True))
    played = max(frames, default=-1) + 1
    missing = list(islice((number for number in range(played) if number not in frames), MAX_MISSING))
    if trial.learns and trial.status == "done" and not missing:
        budget, spent = trial.training_frames, sum(frames.values())
        if budget is None:
            budget, spent = trial.training_episodes or 0, played
        missing = [played] if spent < budget and not _interrupted(run, trial) else []
    for number in missing:
        yield Finding(trial.id, trial.game, "training", number, "differs", "is not recorded, though training continued")
