"""Play a plan and record it: jobs ─→ engine ─→ batches of events ─→ one transaction each ─→ listener."""

from __future__ import annotations

import copy
import dataclasses
import itertools
import math
import os
import signal
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from arcademark import plugins, wording
from arcademark.agents.loading import MadeSpec, kind
from arcademark.environments import fire
from arcademark.environments.registry import EmulatorName, environment_spec
from arcademark.errors import ArcadeMarkError, UnknownNameError
from arcademark.keywords import knowing
from arcademark.records import live, manifest
from arcademark.records.database import clear_errors
from arcademark.records.model import EpisodeResult, TrialRecord, Unfinished, scored_phase
from arcademark.runs.engines.base import Batch, Engine, Job, MakeEngine, MissingEpisodes
from arcademark.runs.engines.here import InProcessEngine
from arcademark.runs.engines.pool import LocalEngine
from arcademark.runs.engines.ray_engine import RayEngine
from arcademark.runs.plan import Plan, Trial
from arcademark.runs.playing import emulators, events, networks
from arcademark.runs.playing.events import (
    Event,
    Failed,
    Lost,
    Opened,
    Progress,
    RunSummary,
    Snapshot,
    TrainedEpisode,
    TrainingBlock,
    TrialEvent,
    Used,
)
from arcademark.runs.scheduling.lengths import Lengths, frames_left
from arcademark.runs.scheduling.progress import Tracker, TrialStanding
from arcademark.runs.store import provenance
from arcademark.runs.store.entering import describe, enter, now
from arcademark.runs.store.recording import Recorder
from arcademark.suite.settings import MAX_FRAMES
from arcademark.suite.tasks import game_name

PEAKS_SECONDS = 60.0  # between updates of trials' peak memory in the manifest
PROGRESS_SECONDS, LIVE_SECONDS = 0.25, 2.0
PROGRESS_SHARE = 0.05  # maximum share of the time that reports of progress take
ENGINES: dict[str, MakeEngine] = {"local": LocalEngine, "ray": RayEngine}
PLUGINS = "arcademark.engines"

OnEvent = Callable[[Event], None]


@knowing()
def execute(
    plan: Plan,
    directory: str | os.PathLike[str],
    *,
    engine: str = "local",
    workers: int | None = None,
    episode_seconds: float | None = None,
    address: str | None = None,
    gpus: float | None = None,
    scratch: str | os.PathLike[str] | None = None,
    on_event: OnEvent | None = None,
    command: str | None = None,
    make: MakeEngine | None = None,
) -> RunSummary:
    """Play the missing episodes of a plan and record them.

    The same plan on the same directory continues. A trial that failed is tried again. Ctrl-C (or SIGTERM) ends the
    play; finished episodes are recorded, and a planner's episode continues from its last checkpoint. A learner with
    training episodes since its last checkpoint first ends the one in play; a second Ctrl-C does not wait.

    Parameters
    ----------
    plan : Plan
    directory : path
        The run's directory, made if missing.
    engine : str
        "local", for processes of this machine, "ray", for a Ray cluster, or the name of another package's engine (entry
        points ``arcademark.engines``, each a `arcademark.runs.engines.base.MakeEngine`).
    workers : int, optional
        Number of processes; by default one per core, on a cluster one per free processor. It does not change scores. An
        agent that was made in this process is played in it.
    episode_seconds : float, optional
        Wall time that an episode may take before its trial is given up; any by default.
    address : str, optional
        Address of the Ray cluster, "host:port", or "auto" for the one that this machine is a node of. By default Ray is
        started on this machine.
    gpus : float, optional
        GPUs, or a share of one, per worker on a Ray cluster; none by default.
    scratch : path, optional
        A folder on a local disk to record in. The run is copied to its directory every minute, so that copying takes a
        tenth of the time at most, and at the end; a run that was killed continues from its last copy. For directories
        on a file system that machines share.
    on_event : callable
        Called with each `Event`, in this thread.
    command : str, optional
        Command written in the manifest; the command line of this process by default.
    make : callable, optional
        Makes the engine, instead of `engine`.

    Raises
    ------
    ArcadeMarkError
        If the directory is another run's, the store cannot be used, the engine cannot start, our emulator is requested
        and not available, or a user-defined game cannot be played as described. All that was recorded is kept.
    """
    placing = placed(engine, address, gpus)
    if workers is not None and workers < 1:
        raise ArcadeMarkError(f"workers {workers}: expected at least 1")
    if episode_seconds is not None and not episode_seconds > 0:
        raise ArcadeMarkError(f"episode_seconds {episode_seconds}: expected a limit of more than 0 seconds per episode")
    make = make or engine_of(engine)
    if here := [spec.label for spec in plan.agents if isinstance(spec, MadeSpec)]:
        if workers not in (None, 1) or engine != "local":
            raise ArcadeMarkError(
                f"agent {here[0]} was made in this process, which alone can play it; leave workers and engine out"
            )
        make = InProcessEngine
    player = make(workers, episode_seconds, **placing)
    path = Path(directory)
    tell = on_event or (lambda _: None)
    chosen = emulators.choose(plan, tell)
    document = describe(plan, command or provenance.command())
    named = {game: emulators.named(game, emulator) for game, emulator in chosen.items()}
    with Recorder(path, named, None if scratch is None else Path(scratch)) as recorder:
        commands = enter(recorder, plan, document)
        run = _Run(plan, recorder, tell, commands - 1, chosen)
        run.play(player)
        return run.summary()


def engine_of(name: str) -> MakeEngine:
    """Return the factory of an engine, ours or another package's (``arcademark.engines``)."""
    make: MakeEngine | None = ENGINES.get(name) or plugins.named(PLUGINS, name)
    if make is None:
        raise UnknownNameError("engine", name, [*ENGINES, *plugins.names(PLUGINS)])
    return make


def placed(engine: str, address: str | None, gpus: float | None) -> dict[str, Any]:
    """Return the given ones of an engine's arguments, as in `execute`; ArcadeMarkError: the engine takes none."""
    engine_of(engine)
    if gpus is not None and not (0 <= gpus < math.inf and (gpus <= 1 or gpus.is_integer())):
        raise ArcadeMarkError(f"GPUs per worker {gpus}: expected a share of one, or a whole number")
    placing = {name: value for name, value in (("address", address), ("gpus", gpus)) if value is not None}
    if placing and engine != "ray":
        raise ArcadeMarkError(f"{' and '.join(placing)}: engine {engine} has none; give --engine ray, or leave it out")
    return placing


class _Run:
    """Work of one command on a run."""

    def __init__(
        self, plan: Plan, recorder: Recorder, on_event: OnEvent, command: int, chosen: Mapping[str, EmulatorName | None]
    ) -> None:
        self._plan, self._recorder, self._tell, self._command = plan, recorder, on_event, command
        self._directory = recorder.directory
        self._trials = {trial.id: trial for trial in plan.trials}
        self._failed: list[TrialRecord] = []
        self._interrupted = False
        self._learner_begun = False
        self._untrained: set[str] = set()
        self._chosen = chosen
        self._noted: set[tuple[object, ...]] = set()
        self._peaks: dict[str, int] = {}  # by trial, to be noted
        self._standings = recorder.standings(plan.trials)
        self._jobs = _jobs(self._standings, recorder, chosen)
        self._tracker = Tracker(self._standings)
        self._progress_due = self._live_due = 0.0
        self._peaks_due = PEAKS_SECONDS

    def play(self, engine: Engine) -> None:
        """Play all jobs, recording each batch before its events are reported."""
        for standing in self._standings:
            if standing.trained:
                self._hand_over(standing.trial.id)  # a crash may have prevented it
        self._tell(
            events.RunBegun(
                self._tracker.progress(),
                self._plan.left_out,
                episodes_begun=sum(len(standing.kept) for standing in self._standings),
                episodes_trained=sum(one.training_episodes for one in self._standings if one.in_training),
            )
        )
        for missed in _without_fire(self._jobs):
            self._tell(missed)
        live.remove(self._directory)  # left by a killed process
        with _stop_signals() as signals, closing(engine.run(self._jobs, self._recorder)) as batches:
            for batch in batches:
                self._take(batch)
                finishing, self._interrupted = self._interrupted, bool(signals)
                if len(signals) > 1:
                    self._take(engine.stop())
                    break
                if signals and not finishing:
                    self._take(engine.finish())
                    if self._tracker.unkept:
                        self._tell(events.Stopping(self._tracker.unkept))
        self._note_peaks()
        self._tell(self._tracker.progress())
        live.remove(self._directory)

    def summary(self) -> RunSummary:
        """Return the result of the command."""
        tracker = self._tracker
        return RunSummary(
            directory=self._directory,
            trials=len(self._trials),
            done=tracker.done,
            failed=tuple(self._failed),
            episodes=tracker.episodes,
            frames=tracker.played.frames,
            wall_seconds=tracker.seconds,
            interrupted=self._interrupted,
            left_out=self._plan.left_out,
            decisions=tracker.played.decisions,
            simulated_frames=tracker.played.simulated_frames,
            unkept=tracker.unkept,
            kept=tracker.kept,
        )

    def _take(self, batch: Batch) -> None:
        self._recorder.check_there()
        if batch:
            self._record(batch)
        self._recorder.copy_home(due=True)
        for trial_id, event in batch:
            if isinstance(event, TrainingBlock) and event.checkpoint.finished:
                self._hand_over(trial_id)
            self._tracker.hear(trial_id, event)
            for happened in self._events(trial_id, event):
                self._tell(happened)
        if (now := self._tracker.seconds) >= self._progress_due:
            progress = self._tracker.progress()
            self._tell(progress)
            then = self._tracker.seconds
            self._progress_due = then + max(PROGRESS_SECONDS, (then - now) / PROGRESS_SHARE)
            if now >= self._peaks_due:
                self._note_peaks()
                self._peaks_due = now + PEAKS_SECONDS
            if now >= self._live_due:
                self._write_live(progress)
                self._live_due = now + LIVE_SECONDS

    def _write_live(self, progress: Progress) -> None:
        """Write the progress to a file, for ``arcademark status``."""
        simulated = progress.planning.simulated_frames_per_second if progress.planning else 0.0
        state: live.Live = {
            "trials": [*itertools.islice(self._tracker.playing, live.MAX_PLAYING)],
            "frames_per_second": progress.frames_per_second + simulated,
            "seconds_left": progress.seconds_left,
            "at_most": progress.at_most,
        }
        live.write(self._directory, state)

    def _record(self, batch: Batch) -> None:
        """Record a batch in one transaction; finished episodes last, in one statement."""
        played: list[EpisodeResult] = []
        evaluated = Counter[str]()
        with self._recorder.transaction():
            for trial_id, event in batch:
                match event:
                    case Opened(frames_per_action, learns, plans=plans):
                        self._recorder.begin_trial(trial_id, frames_per_action, learns, plans)
                        self._note_opened(self._trials[trial_id], event)
                    case EpisodeResult():
                        played.append(event)
                        evaluated[trial_id] += 1
                    case Unfinished():
                        self._recorder.keep_episode(trial_id, event)
                    case TrainingBlock(results, checkpoint):
                        self._recorder.add_training(trial_id, results, checkpoint)
                        trial = self._trials[trial_id]
                        if checkpoint.finished and scored_phase(trial.protocol, learns=True) == "training":
                            evaluated[trial_id] += min(trial.episodes, checkpoint.episodes)
                    case Snapshot():
                        self._note_snapshot(self._trials[trial_id], event)
                    case Used(peak_bytes):
                        self._peaks[trial_id] = max(peak_bytes, self._peaks.get(trial_id, 0))
                    case Failed(error):
                        self._recorder.fail_trial(trial_id, error)
            self._recorder.add_episodes(played)
            self._recorder.note_evaluations(evaluated, self._command, now())

    def _hand_over(self, trial_id: str) -> None:
        """Write a trainer's network as a file, unless it exists."""
        trial, checkpoint = self._trials[trial_id], self._recorder.checkpoint(trial_id)
        trains = trial.learnt is None and kind(trial.agent) == "trainer"
        if trains and checkpoint is not None and not networks.path_of(self._directory, trial_id).exists():
            self._recorder.copy_home()  # the file belongs to recorded training
            with clear_errors(self._directory):
                networks.write(self._directory, trial_id, checkpoint)

    def _note_opened(self, trial: Trial, opened: Opened) -> None:
        """Add to the manifest what is known once an agent was made: emulator, libraries, and whether it plans.

        Trials with the same facts share one update.
        """
        common = trial.game, trial.agent.label, opened.libraries
        if common in self._noted and opened.trained_frames is None:
            return
        self._noted.add(common)
        with self._manifest() as document:
            agent = manifest.agents_of(document)[trial.agent.label]
            agent |= {"plans": True} if opened.plans else {}
            agent |= {"draws": opened.draws} if opened.draws is not None else {}
            if opened.trained_frames and opened.trained_frames <= MAX_FRAMES:
                trained = agent.setdefault("trained_frames", {})
                trained[manifest.game_and_seed(trial.game, trial.seed)] = opened.trained_frames
            emulator, used = emulators.named(trial.game, self._chosen[trial.game]), document["emulators"]
            if emulator and emulator not in used.setdefault(trial.game, []):
                used[trial.game].append(emulator)
            of_command = document["continued"][self._command - 1] if self._command else document
            of_command["versions"].update(provenance.versions_of(opened.libraries))

    def _note_snapshot(self, trial: Trial, snapshot: Snapshot) -> None:
        """Add to the manifest a learner's score before the end of training; continued training may repeat it."""
        with self._manifest() as document:
            noted = manifest.agents_of(document)[trial.agent.label].setdefault("snapshots", {})
            key = manifest.game_and_seed(trial.game, trial.seed)
            others = [one for one in noted.get(key, []) if one[0] != snapshot.share]
            noted[key] = sorted([*others, [snapshot.share, snapshot.score, snapshot.episodes]])

    def _note_peaks(self) -> None:
        """Add the peak memory of trials to the manifest."""
        if not self._peaks:
            return
        with self._manifest() as document:
            agents = manifest.agents_of(document)
            for trial_id, peak in self._peaks.items():
                trial = self._trials[trial_id]
                peaks = agents[trial.agent.label].setdefault("peak_bytes", {})
                key = manifest.game_and_seed(trial.game, trial.seed)
                peaks[key] = max(peak, peaks.get(key, 0))
        self._peaks = {}

    @contextmanager
    def _manifest(self) -> Iterator[manifest.Document]:
        """Yield the manifest, and write it after the block if that has changed it."""
        with clear_errors(self._directory):
            document = manifest.read(self._directory)
            before = copy.deepcopy(document)
            yield document
            if document != before:
                manifest.write(self._directory, document)

    def _events(self, trial_id: str, event: TrialEvent) -> Iterator[Event]:
        trial = self._trials[trial_id]
        match event:
            case Opened(learns=True) if not self._learner_begun:
                self._learner_begun = True
                yield events.LearnerBegun(trial.record, trial.protocol, len(self._plan.seeds))
            case Opened(learns=False) if (self._plan.frames, self._plan.training_episodes) != (None, None):
                if trial.agent.label not in self._untrained and not trial.learnt:
                    yield events.Note(f"{trial.agent.label} does not learn, so it is not trained", warning=True)
                self._untrained.add(trial.agent.label)
            case TrainedEpisode() | Lost():
                yield events.OfTrial(trial_id, event)
            case EpisodeResult(record):
                yield record
            case TrainingBlock(results):
                yield from (result.record for result in results)
            case Failed(error):
                self._failed.append(dataclasses.replace(trial.record, status="failed", error=error))
                yield self._failed[-1]


def _without_fire(jobs: Sequence[Job]) -> Iterator[events.Note]:
    """Yield a note for each agent on the games in which FIRE is not pressed for it as in its training."""
    games: dict[str, dict[str, None]] = {}
    for trial in (job.trial for job in jobs):
        if trial.network and fire.missed(environment_spec(trial.game, trial.protocol), trial.network.fire_reset):
            games.setdefault(trial.agent.label, {})[trial.game] = None
    for agent, missed in games.items():
        waiting = [game_name(game) for game in missed if game in fire.AWAIT_FIRE]
        waits = f", which {'waits' if len(waiting) == 1 else 'wait'} for it"
        names = wording.listing(waiting) + waits if waiting else wording.shortened(map(game_name, missed))
        text = f"{fire.MISSED.format(agent=agent, games=names)}; {fire.REMEDY}"
        yield events.Note(text, warning=bool(waiting))


def _jobs(
    standings: Sequence[TrialStanding], recorder: Recorder, chosen: Mapping[str, EmulatorName | None]
) -> list[Job]:
    """Return the remaining work of trials, the longest expected one first."""
    lengths = Lengths(standings)
    left = [standing for standing in standings if not standing.done]
    jobs = []
    for _, standing in sorted(zip(frames_left(left, lengths), left, strict=True), key=lambda pair: -pair[0]):
        trial = standing.trial
        played = recorder.evaluated(trial.id) if standing.episodes else ()
        missing = MissingEpisodes(trial.episodes, played)
        jobs.append(Job(trial, missing, chosen[trial.game], lengths.expected(trial.game, trial.protocol)))
    return jobs


@contextmanager
def _stop_signals() -> Iterator[Sequence[int]]:
    """Collect the first two of Ctrl-C and SIGTERM; a third one interrupts at once."""
    received: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield received
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    def note(number: int, _: FrameType | None) -> None:
        received.append(number)
        if len(received) > 1:
            restore()

    for number in before:
        signal.signal(number, note)
    try:
        yield received
    finally:
        restore()
