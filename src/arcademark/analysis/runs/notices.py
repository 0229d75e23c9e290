"""Notices that apply only to runs of ArcadeMark; see `arcademark.analysis.notices`."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence

from arcademark import wording
from arcademark.analysis import settings
from arcademark.analysis.cells import PlayedAlgorithm
from arcademark.analysis.document import Notice
from arcademark.analysis.notices import notice
from arcademark.analysis.runs import learning
from arcademark.analysis.runs.directory import imported_source, people
from arcademark.analysis.runs.ledger import accounts, warning
from arcademark.analysis.tables.document import Algorithm, Played
from arcademark.records import imported, ledger, manifest
from arcademark.records.model import RunRecord, TrialRecord, scored_phase
from arcademark.scores.runs import IncompleteTrial, RunCollection, RunScores
from arcademark.suite import anomalies, learners, protocols
from arcademark.suite.settings import format_setting
from arcademark.suite.tasks import game_name

FROZEN_AFTER, FROZEN_AT_LEAST = 100, 20
"""Number of last training episodes that an evaluation is compared with, and the least number of either."""
FROZEN_ERRORS = 3.0
"""Standard errors by which an evaluation must be lower than the end of training for a notice."""


def of_runs(
    collection: RunCollection, played: Sequence[PlayedAlgorithm], algorithms: Sequence[Algorithm], names: Sequence[str]
) -> Iterator[Notice]:
    """Yield all notices that apply only to runs."""
    runs = list(zip(collection.runs, names, strict=True))
    yield from _emulators_differ([(run, name) for run, name in runs if imported.origin(run.record) is None])
    short: dict[tuple[int, int], list[str]] = defaultdict(list)
    for run, name in runs:
        yield from _of_run(run, name)
        trials, rules = run.record.trials, run.record.protocol
        planned = min((trial.episodes for trial in trials), default=0)
        planning = bool(trials) and all(trial.plans for trial in trials)
        usual = protocols.planner_episodes(rules) if planning else rules.evaluation_episodes
        if planned < usual:
            short[planned, usual].append(name)
    for (planned, usual), those in short.items():
        yield notice("fewer_episodes", runs=those, episodes=planned, usual=usual)
    for algorithm in played:
        yield from _learner(algorithm)
        frames = algorithm.run.record.protocol.frame_skip
        if own := {trial.frames_per_action or frames for trial in algorithm.trials} - {frames}:
            yield notice("action_interval", agent=algorithm.name, own=sorted(own), usual=frames)
    for account in accounts([entry for run in collection.runs for entry in ledger.entries_of(run.record)]):
        if account.repeated:
            yield notice("test_games", account=warning(account, paths=False))
    tasks = {item.name for item in played if item.run.record.protocol.unit == "step"}  # often end only by their cap
    for item in algorithms:
        yield from _starts(item)
        if item.variants > 1:
            yield notice("best_of", item=item)
    yield from _truncated([item for item in algorithms if item.name not in tasks])
    if planners := [
        item.name for item in algorithms if any(score.played and score.played.planning for score in item.scores)
    ]:
        yield notice("planning", agents=planners, tasks=bool(tasks))


def of_scores(collection: RunCollection, names: Sequence[str]) -> Iterator[Notice]:
    """Yield notices on scores of runs wherever they are used: unfinished, imported, on a GPU, or by a person."""
    for run, name in zip(collection.runs, names, strict=True):
        yield from _imported(run, name)
        yield from _unfinished(run, name)
        for agent in run.record.manifest["agents"]:
            if (agent.get("parameters") or {}).get("device", "cpu") != "cpu":
                yield notice("device", agent=agent["label"])
        for person in people(run.record):  # humans in Mnih et al. 2015 played without pauses or sound (Methods)
            yield notice("human_stepped" if person.stepped else "human", person=person)


def _imported(run: RunScores, name: str) -> Iterator[Notice]:
    """Yield notices on an imported run: its source, its assumptions, and scores that look clipped or of one life."""
    if (source := imported_source(run.record)) is not None:
        yield notice("imported", run=name, source=source)
        if doubts := [f"{agent} on {game}: {why}" for agent, game, why in source.doubts]:
            yield notice("training_log", run=name, doubts=doubts)


def _emulators_differ(runs: Sequence[tuple[RunScores, str]]) -> Iterator[Notice]:
    for run, name in runs[1:]:
        (first, first_name), protocol = runs[0], run.record.protocol
        one, other = (entry.record.manifest for entry in (first, run))
        roms = [task for task, md5 in one["games"].items() if other["games"].get(task, md5) != md5]
        titles = list(map(protocol.task_name, roms))
        versions = [entry["versions"].get("ale-py") for entry in (one, other)]
        if protocol.unit == "step" and roms:
            yield notice("emulators_differ__packages", first=first_name, run=name, tasks=titles)
        elif protocol.unit == "frame" and (versions[0] != versions[1] or roms):
            yield notice("emulators_differ", first=first_name, run=name, versions=versions, roms=titles)


def _of_run(run: RunScores, name: str) -> Iterator[Notice]:
    record = run.record
    protocol = record.protocol
    if record.parts:
        yield notice("played_apart", run=name, parts=list(map(str, record.parts)))
    if protocol.departures:
        changes = [
            (key, format_setting(getattr(protocol, key)), format_setting(original))
            for key, original in protocol.departures.items()
        ]
        yield notice("modified_protocol", run=name, protocol=protocol.name, changes=changes)
    if protocol.unit == "frame" and (named := protocols.protocols().get(protocol.name)):
        others = [
            (key, format_setting(getattr(protocol, key)), format_setting(value))
            for key, value in named.settings().items()
            if key not in protocol.overrides and getattr(protocol, key) != value
        ]
        if others:
            yield notice("modified_protocol__otherwise", run=name, protocol=protocol.name, changes=others)
    if (trained := manifest.trained_under(record.directory, record.manifest)) is not None:
        yield notice("trained_elsewhere", run=name, protocol=trained.label)
    if left_out := record.manifest["left_out"]:
        cells = [f"{agent} on {protocol.task_name(task)}" for agent, task, _ in left_out]
        yield notice("left_out", run=name, cells=cells, why=left_out[0][2])


def _unfinished(run: RunScores, name: str) -> Iterator[Notice]:
    def counts(trials: Sequence[IncompleteTrial]) -> dict[str, int]:
        played, planned = (sum(getattr(trial, field) for trial in trials) for field in ("played", "planned"))
        return {"trials": len(trials), "played": played, "planned": planned}

    title = run.record.protocol.task_name
    if failed := [trial for trial in run.incomplete if trial.status == "failed"]:
        trials = [f"{trial.algorithm} on {title(trial.task)}" for trial in failed]
        yield notice("trials_failed", run=name, trials=trials)
    if waiting := [trial for trial in run.incomplete if trial.status not in ("failed", "done")]:
        yield notice("trials_incomplete", run=name, **counts(waiting))
    if short := [trial for trial in run.incomplete if trial.status == "done"]:
        yield notice("training_short", run=name, **counts(short))


def _starts(algorithm: Algorithm) -> Iterator[Notice]:
    """Yield notices on scores with few distinct episodes, which deterministic agents or chance cause."""
    agent = algorithm.name
    played = [(game_name(score.game), score.played) for score in algorithm.scores if score.played]
    cells = [(game, cell) for game, cell in played if cell.episodes]

    def counted(some: Sequence[tuple[str, Played]]) -> list[str]:
        return [f"{cell.different:,} of {len(cell.episodes):,} on {game}" for game, cell in some]

    if exact := [game for game, cell in cells if cell.exact]:
        yield notice("starts", agent=agent, games=exact)
    if few := [(game, cell) for game, cell in cells if cell.possible and cell.different < cell.possible]:
        most = sorted({cell.possible or 0 for _, cell in few})
        yield notice("few_starts", agent=agent, most=most, cells=counted(few))
    again = [(game, cell) for game, cell in cells if cell.different < len(cell.episodes) and not cell.exact]
    if again and not few:
        yield notice("starts__again", agent=agent, cells=counted(again))


def _learner(algorithm: PlayedAlgorithm) -> Iterator[Notice]:
    agent, record = algorithm.name, algorithm.run.record
    protocol = record.protocol
    learning_trials = [trial for trial in algorithm.trials if trial.learns]
    given = dict.fromkeys(
        settings.budget(trial.training_frames, trial.training_episodes, protocol.unit) for trial in learning_trials
    )
    usual = settings.named_budget(protocol)
    if other := [budget for budget in given if budget and budget != usual]:
        going = any(not learning.finished(trial, record) for trial in learning_trials)
        yield notice("training_budget", agent=agent, going=going, budgets=other, protocol=protocol.name, usual=usual)
    labels = {trial.agent for trial in learning_trials}
    ours = [
        one for one in record.manifest["agents"] if one["label"] in labels and one.get("reference") == learners.NAME
    ]
    for entry in ours:
        if origin := learners.origin(entry.get("parameters") or {}):
            yield notice("parameters", agent=agent, origin=origin)
    trials, wanted = len({trial.seed for trial in learning_trials}), protocols.learner_trials(protocol)
    if wanted is not None and 0 < trials < wanted:
        noun = wording.noun(protocol.unit)
        yield notice("fewer_trials", agent=agent, trials=trials, noun=noun, protocol=protocol.name, usual=wanted)
    fallen = [text for trial in learning_trials for text in _fallen(trial, record)]
    if fallen:
        kept = [
            {name: value for name, value in (one.get("parameters") or {}).items() if value is not None} for one in ours
        ]
        used = [learners.defaults(str(one.get("features", learners.FEATURES))) | one for one in kept]
        schedule = any(one["alpha_schedule"] == "constant" for one in used)
        yield notice("frozen", agent=agent, cells=fallen, schedule=schedule)


def _fallen(trial: TrialRecord, record: RunRecord) -> Iterator[str]:
    """Yield the score of a trial's frozen weights if it is clearly below that at the end of training."""
    if scored_phase(record.protocol, learns=True) == "training":
        return
    trained, frozen = record.training(trial).score[-FROZEN_AFTER:], record.evaluation(trial).score
    if min(len(trained), len(frozen)) < FROZEN_AT_LEAST:
        return
    errors = [scores.std(ddof=1) / len(scores) ** 0.5 for scores in (trained, frozen)]
    if trained.mean() - frozen.mean() > FROZEN_ERRORS * math.hypot(*errors):
        title = record.protocol.task_name(trial.game)
        scores = f"{wording.score(float(frozen.mean()))} after {wording.score(float(trained.mean()))}"
        yield f"{title} with seed {trial.seed} ({scores})"


def _truncated(algorithms: Sequence[Algorithm]) -> Iterator[Notice]:
    cut = [
        (score.game, f"{algorithm.name} on {game_name(score.game)} ({sum(ends):,} of {len(ends):,})")
        for algorithm in algorithms
        for score in algorithm.scores
        if score.played and any(ends := score.played.truncated)
    ]
    if cut:
        endless = [game_name(game) for game in dict.fromkeys(game for game, _ in cut) if anomalies.endless(game)]
        yield notice("episodes_truncated", cells=[cell for _, cell in cut], endless=endless)
