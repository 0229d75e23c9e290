"""Evaluation of a policy during training: whole games under a protocol, without disturbing the training.

Each evaluation is a run in the folder ``evaluations/<frames>`` of a directory, with its actions, so that it can be
verified. The directory itself is a run of the whole training, too: a point of its curve is the mean score of an
evaluation, and its score is that of the last one. ``best.zip`` or ``best.pt`` is the network with the best score.
"""

from __future__ import annotations

import copy
import inspect
import json
import logging
import os
import random
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from arcademark.agents.loading import made_spec, named
from arcademark.environments.base import EnvironmentSpec
from arcademark.errors import ArcadeMarkError, UnknownNameError
from arcademark.files import write_whole
from arcademark.keywords import Names, knowing
from arcademark.metrics.normalise import hns
from arcademark.records import manifest
from arcademark.records.database import DATABASE, clear_errors, digest
from arcademark.records.imported import JUDGED, ImportedTrial, LoggedRows
from arcademark.records.model import RunRecord
from arcademark.records.reading import read_run
from arcademark.runs.execution import execute
from arcademark.runs.plan import Plan, make_plan
from arcademark.runs.playing.events import Event
from arcademark.runs.replay.scalars import Wandb, event_files
from arcademark.runs.store import importing, provenance
from arcademark.runs.store.recording import Recorder
from arcademark.suite import protocols, references
from arcademark.suite.protocols import Protocol

MARK = " [judged]"
EVALUATIONS = "evaluations"
BATCH = 16
"""Maximum number of observations of one call of a Stable-Baselines3 model."""
DRAFT = ".draft-"
"""Prefix of the folder in which the run is rewritten."""
RETRIED = 1.5
"""Time that the evaluation after an abandoned one must have, as a multiple of the latter's."""
_logger = logging.getLogger("arcademark.judge")


@dataclass(frozen=True)
class Judgement:
    """Result of an evaluation.

    Parameters
    ----------
    frames : int
        Frames of training before it.
    scores : mapping from str to float
        Each game's mean score; empty where it was skipped.
    seconds : float
        Duration.
    best : bool
        Whether its mean score over games exceeds all earlier ones.
    skipped : str
        Why it was skipped; "" if it was not.
    """

    frames: int
    scores: Mapping[str, float] = field(default_factory=dict)
    seconds: float = 0.0
    best: bool = False
    skipped: str = ""


class _OverTimeError(Exception):
    """An evaluation exceeded its time."""


class Judge:
    """Evaluates a policy repeatedly; parameters as in `judge`.

    Attributes
    ----------
    evaluations : dict from int to Judgement
        By the frames of training, including those of earlier processes.
    skipped : list of Judgement
    frames_per_step : int
        Frames per timestep of training, the protocol's frame skip.
    """

    @knowing()
    def __init__(
        self,
        games: Names,
        protocol: str | Protocol = "sb3-atari",
        *,
        out: str | os.PathLike[str],
        episodes: int | None = None,
        seed: int = 0,
        name: str | None = None,
        max_share: float | None = 0.1,
        deterministic: bool = True,
        scale: float = 1.0,
        save: Callable[[Path], object] | None = None,
        tensorboard: str | os.PathLike[str] | None = None,
        wandb: str | None = None,
    ) -> None:
        if max_share is not None and not 0 < max_share < 1:
            raise ArcadeMarkError(f"max_share {max_share}: expected a share between 0 and 1, or None for no limit")
        self._rules = protocols.rules_of(protocol, None, {})
        self._games, self._seed, self._name = games, seed, name
        self._episodes = episodes
        self._share, self._deterministic, self._scale, self._save = max_share, deterministic, scale, save
        self.directory = Path(out)
        self.frames_per_step: int = self._rules.frame_skip
        self._begun: float | None = None
        self._spent = self._least = 0.0
        self.skipped: list[Judgement] = []
        self._logs = [event_files(Path(tensorboard))] if tensorboard is not None else []
        self._logs += [Wandb(wandb, self.directory.name).add] if wandb is not None else []
        with clear_errors(self.directory):
            _check_directory(self.directory)
            self._runs: dict[int, tuple[RunRecord, str]] = dict(_read(self.directory))  # with their checksums
        self.evaluations = {frames: _scores(run, frames) for frames, (run, _) in self._runs.items()}
        self._best = max(map(_mean_score, self.evaluations.values()), default=-np.inf)

    def begin(self) -> None:
        """Begin to count the time of training, by default at the end of the first evaluation."""
        self._begun = self._begun or time.monotonic()

    @knowing()
    def __call__(self, policy: object, frames: int) -> Judgement:
        """Evaluate a policy after a number of training frames; errors as in `judge`."""
        if frames < 0:
            raise ArcadeMarkError(f"frames {frames}: expected those of training so far, at least 0")
        if frames in self.evaluations:
            raise ArcadeMarkError(
                f"{self.directory}: was already judged after {frames:,} frames; name a new directory for a new training"
            )
        begun = time.monotonic()
        limit = self._seconds_left(begun)
        if limit is not None and limit <= self._least:
            return self._skip(frames, f"it takes {self._least:.1f} s or more, and {max(limit, 0):.1f} s are allowed")
        directory = self.directory / EVALUATIONS / f"{frames:012}"
        try:
            with undisturbed(policy):
                plan = self._plan(policy)
                self._play(plan, directory, None if limit is None else begun + limit)
                self._runs[frames] = _evaluated(directory)
                judged = _scores(self._runs[frames][0], frames)
                best = _mean_score(judged) > self._best
                if best:
                    self._best = _mean_score(judged)
                    self._keep(policy, judged)
        except _OverTimeError:
            shutil.rmtree(directory, ignore_errors=True)
            self._spent += (took := time.monotonic() - begun)
            self._least = RETRIED * took
            return self._skip(frames, f"it was abandoned after {took:.1f} s, its time limit")
        except BaseException:
            self._runs.pop(frames, None)
            shutil.rmtree(directory, ignore_errors=True)
            raise
        self._write(plan)
        self._least = took = time.monotonic() - begun
        if self._begun is not None:  # otherwise time is counted from now on
            self._spent += took
        self.begin()
        self.evaluations[frames] = judged = Judgement(frames, judged.scores, took, best)
        return judged

    def _seconds_left(self, now: float) -> float | None:
        """Return the time that an evaluation may take within the share of all; None for any time."""
        if self._share is None or self._begun is None:
            return None
        return (self._share * (now - self._begun) - self._spent) / (1 - self._share)

    def _skip(self, frames: int, why: str) -> Judgement:
        text = f"evaluation after {frames:,} frames skipped: {why} (max_share={self._share})"
        _logger.warning(text)
        self.skipped.append(Judgement(frames, skipped=text))
        return self.skipped[-1]

    def _plan(self, policy: object) -> Plan:
        batch = min(BATCH, self._episodes or self._rules.evaluation_episodes)
        made = _player(policy, self._deterministic, self._scale, batch)
        specs = named((made_spec(made),), self._name or type(policy).__name__)
        return make_plan(specs, self._games, self._rules, (self._seed,), self._episodes)

    def _play(self, plan: Plan, directory: Path, until: float | None) -> None:
        def hear(_: Event) -> None:
            if until is not None and time.monotonic() > until:
                raise _OverTimeError

        summary = execute(plan, directory, on_event=hear)
        if summary.interrupted:
            raise KeyboardInterrupt
        if summary.failed:
            raise ArcadeMarkError(f"{directory}: {summary.failed[0].error}")

    def _keep(self, policy: Any, judged: Judgement) -> None:
        """Save the best network, with its scores."""
        module = _module(policy)
        if self._save is None and module is None:
            return
        library = hasattr(policy, "save") and hasattr(policy, "predict")
        name = "best.zip" if library else "best.pt"

        def write(path: Path) -> None:
            if self._save is not None:
                self._save(path)
            elif library:
                policy.save(path)
            else:
                sys.modules["torch"].save(module.state_dict(), path)

        with clear_errors(self.directory):
            write_whole(self.directory / name, write)
            text = json.dumps({"frames": judged.frames, "scores": dict(judged.scores), "network": name})
            write_whole(self.directory / "best.json", f"{text}\n".encode())

    def _write(self, plan: Plan) -> None:
        """Rewrite the run of the whole training, and log its latest point."""
        runs = [(frames, self._runs[frames][0]) for frames in sorted(self._runs)]
        label = plan.agents[0].label
        trials = []
        for trial in runs[-1][1].trials:
            same = [(run, next(one for one in run.trials if one.game == trial.game)) for _, run in runs]
            means = np.array([run.evaluation(one).score.mean() for run, one in same])
            lengths = np.diff([0, *(frames for frames, _ in runs)])
            curve = LoggedRows(means, np.maximum(lengths, 1), np.zeros(len(means), np.int64))
            rows = runs[-1][1].evaluation(trial)
            last = LoggedRows(rows.score, rows.frames, rows.steps)
            trials.append(ImportedTrial(label, trial.game, trial.seed, curve, last, len(last), mark=MARK))
        source: manifest.Imported = {
            "formats": [JUDGED],
            "files": {f"{EVALUATIONS}/{frames:012}/{DATABASE}": self._runs[frames][1] for frames, _ in runs},
            "averages": [trials[0].label],
            "assumed": [],
            "doubts": [],
        }
        rules = self._rules.override({"reported_episodes": "evaluation"})
        draft = self.directory / f"{DRAFT}{os.urandom(8).hex()}"
        try:
            with Recorder(draft) as recorder:
                importing.write(recorder, trials, rules, source, provenance.versions())
            for name in (DATABASE, manifest.FILE):
                (draft / name).replace(self.directory / name)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
        frames = runs[-1][0]
        for planned, imported in zip(plan.trials, trials, strict=True):
            for log in self._logs:
                log(planned, "training", frames, {"training/mean_score": float(imported.training.scores[-1])})


_judges: dict[Path, tuple[Judge, Mapping[str, object]]] = {}
"""Judges of this process with their arguments, by directory."""


@knowing()
def judge(
    policy: object,
    games: Names,
    protocol: str | Protocol = "sb3-atari",
    *,
    frames: int,
    out: str | os.PathLike[str],
    **options: Any,
) -> Judgement:
    """Evaluate a policy during training: play whole games under a protocol and add the episodes to a run.

    The run in ``out`` is that of the training: `report` shows its curve, a point per evaluation. Each evaluation is a
    run of its own in ``out/evaluations``, which `verify` replays. States of random numbers (`random`, NumPy, PyTorch),
    the number of PyTorch's threads and modules' training modes are restored afterwards.

    Parameters
    ----------
    policy : object or function
        A model of Stable-Baselines3's; a `torch.nn.Module` from observations, float of shape (rows, …), to a number for
        each action, of which a copy is played; or an agent as in `arcademark.run`.
    games : str or sequence of str
        A suite, a subset or games.
    protocol : str or Protocol, optional
        The environment's settings.
    frames : int
        Training so far, in emulated frames: steps of the agent times the frame skip.
    out : path
        The directory, new or that of the same training.
    episodes : int, optional
        Episodes per game; the protocol's number by default.
    seed : int, optional
        Seed of the games, the same in each evaluation.
    name : str, optional
        Name of the agent in reports; by default its class.
    max_share : float or None, optional
        Maximum share of all later evaluations in the time since the first one ended, 0.1 by default. One that would
        take longer is skipped; one that takes longer is abandoned. Both are logged, as warnings of "arcademark.judge".
    deterministic : bool, optional
        Whether a model of Stable-Baselines3's takes its best action, and a `torch.nn.Module` the action with the
        largest output. If not, the action is drawn, for a module by the softmax of its outputs.
    scale : float, optional
        Divisor of observations for a `torch.nn.Module`, 1 by default.
    save : callable, optional
        Called with the path for the best network, ``best.pt``; by default a model saves itself, as ``best.zip``, and of
        a module its state dict is saved.
    tensorboard : path, optional
        A folder of event files.
    wandb : str, optional
        A project of W&B.

    Returns
    -------
    Judgement

    Raises
    ------
    ArcadeMarkError
        If the directory holds other files or an evaluation after as many frames, the policy cannot play the games, or
        an option is unknown or changes.

    Examples
    --------
    >>> arcademark.judge(model, "breakout", frames=4 * steps, out="runs/mine")  # doctest: +SKIP
    """
    place, known = Path(out).absolute(), [*inspect.signature(Judge).parameters]
    for name in options:
        if name not in known:
            raise UnknownNameError("parameter of judge", name, known)
    given = {"games": games, "protocol": protocol, **options}
    given.pop("save", None)  # it may be made anew for each call
    one, before = _judges.get(place) or (Judge(games, protocol, out=place, **options), given)
    if changed := [name for name in given.keys() | before.keys() if given.get(name) != before.get(name)]:
        raise ArcadeMarkError(f"{place}: {', '.join(sorted(changed))} changed; judge a training by the same rules")
    judged = one(policy, frames)
    _judges[place] = one, given  # after an error, the arguments may change
    return judged


@contextmanager
def undisturbed(policy: object) -> Iterator[None]:
    """Restore states of random numbers, PyTorch's threads and a policy's training modes after the block."""
    python, old = random.getstate(), np.random.get_state()  # noqa: NPY002 - the training may draw from it
    torch = sys.modules.get("torch")
    module = _module(policy)
    modes = [] if module is None else [(one, one.training) for one in module.modules()]
    if torch is not None:
        state, threads = torch.get_rng_state(), torch.get_num_threads()
        devices = torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else []
    try:
        yield
    finally:
        random.setstate(python)
        np.random.set_state(old)  # noqa: NPY002
        for one, training in modes:
            one.training = training
        if torch is not None:
            torch.set_rng_state(state)
            torch.set_num_threads(threads)
            if devices:
                torch.cuda.set_rng_state_all(devices)


def _module(policy: Any) -> Any:
    """Return the PyTorch module that a policy is or has; None if it has none."""
    torch = sys.modules.get("torch")
    kinds = (policy, getattr(policy, "policy", None))
    return None if torch is None else next((one for one in kinds if isinstance(one, torch.nn.Module)), None)


def _player(policy: Any, deterministic: bool, scale: float, batch: int) -> object:
    """Return an agent that plays a policy: a factory if it must not be copied like other agents.

    ArcadeMarkError: `deterministic` or `scale` would have no effect.
    """
    torch = sys.modules.get("torch")
    of_torch = torch is not None and isinstance(policy, torch.nn.Module) and not hasattr(policy, "predict")
    if scale != 1 and not of_torch:
        raise ArcadeMarkError(f"scale {scale:g} changes nothing: it is for a torch.nn.Module; leave it out")
    if hasattr(policy, "get_vec_normalize_env"):

        def model() -> object:
            return _Model(policy, deterministic, batch)

        return model
    if of_torch:
        from arcademark.agents.checkpoints.foreign import Module
        from arcademark.agents.checkpoints.policy import NetworkPolicy

        def module(env: EnvironmentSpec) -> object:
            network = Module(copy.deepcopy(policy).cpu(), scale, type(policy).__name__)
            return NetworkPolicy(network, env, deterministic=deterministic)

        return module
    if not deterministic:
        raise ArcadeMarkError(
            "deterministic=False changes nothing: it is for a model of Stable-Baselines3's or a torch.nn.Module; have "
            "the agent draw its actions"
        )
    return policy


class _Model:
    """A Stable-Baselines3 model, played without a copy and without its training environment."""

    def __init__(self, model: Any, deterministic: bool, batch: int) -> None:
        self._model, self._deterministic, self.predict_batch = model, deterministic, batch
        self.action_space = model.action_space

    def predict(self, observations: Any, state: Any = None, episode_start: Any = None) -> tuple[Any, Any]:
        """Choose an action for each observation."""
        normalised = self._model.get_vec_normalize_env()
        if normalised is not None:
            observations = normalised.normalize_obs(observations)
        policy = self._model.policy
        chosen: tuple[Any, Any] = policy.predict(observations, state, episode_start, self._deterministic)
        return chosen


def _check_directory(directory: Path) -> None:
    """Refuse a directory that is neither new nor of a judged training; remove drafts of killed processes."""
    if not os.path.exists(directory):
        return
    names = {path.name for path in directory.iterdir()} if directory.is_dir() else None
    drafts = {name for name in names or () if name.startswith(DRAFT)}
    if names is not None and manifest.FILE in names:
        ours = JUDGED in manifest.read(directory).get("imported", {"formats": []})["formats"]
    else:
        ours = names is not None and names - drafts <= {EVALUATIONS, "best.zip", "best.pt", "best.json"}
    if not ours:
        raise ArcadeMarkError(f"{directory}: contains other files than a judged training; name a new directory")
    for name in drafts:
        shutil.rmtree(directory / name)


def _read(directory: Path) -> Iterator[tuple[int, tuple[RunRecord, str]]]:
    """Yield the evaluations of earlier processes, in the order of training; remove unfinished ones."""
    for place in sorted((directory / EVALUATIONS).glob("[0-9]*")):
        if not (place.name.isdecimal() and place.name == f"{int(place.name):012}"):
            continue  # not of this module
        run = _evaluated(place) if (place / manifest.FILE).is_file() else None
        if run is not None and all(trial.status == "done" for trial in run[0].trials):
            yield int(place.name), run
        else:
            shutil.rmtree(place)


def _evaluated(place: Path) -> tuple[RunRecord, str]:
    """Return the run of an evaluation, and the checksum of its database."""
    return read_run(place), digest(place)


def _scores(run: RunRecord, frames: int) -> Judgement:
    return Judgement(frames, {trial.game: float(run.evaluation(trial).score.mean()) for trial in run.trials})


def _mean_score(judged: Judgement) -> float:
    """Return the mean over games of human-normalised scores; of raw ones where a game has no references."""
    games, scores = [*judged.scores], np.array([*judged.scores.values()])
    low, high = references.scores("random"), references.scores("human")
    if low.keys() & high.keys() >= {*games}:
        scores = hns(scores, low, high, games)
    return float(scores.mean())
