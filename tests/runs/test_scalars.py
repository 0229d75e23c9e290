"""Scores as they happen: event files and W&B hold what is recorded, and have it while training goes on."""

import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from arcademark.errors import ArcadeMarkError
from arcademark.runs.execution import execute
from arcademark.runs.playing.events import EpisodeTrained
from arcademark.runs.replay import scalars
from arcademark.runs.store.reading import read_run
from arcademark.scores.readers.base import Options
from arcademark.scores.readers.logs.tensorboard import read_events

LEARNS = {"override": {"training_frames": 3000}, "seeds": (0, 1)}


def series(folder, tag):
    """Return the steps and values of a tag in the only event file of a folder."""
    (file,) = folder.iterdir()
    (log,) = read_events(file, Options(tag=tag))
    return log.steps.tolist(), log.values.tolist()


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_event_files_hold_what_is_recorded_and_hold_it_at_once(tmp_path, toy_plan, fake, workers):
    plan = toy_plan(fake("learner").replace("make_agent", "make_learner"), **LEARNS)
    seen = 0
    with scalars.logged(plan, tmp_path / "run", tmp_path / "tb", None) as log:

        def hear(event):
            nonlocal seen
            log(event)
            if isinstance(event, EpisodeTrained):
                steps, values = series(tmp_path / "tb" / event.trial_id, "training/score")
                assert (steps[-1], values[-1]) == (event.trained, event.score)
                seen += 1

        assert execute(plan, tmp_path / "run", workers=workers, on_event=hear).complete
    record = read_run(tmp_path / "run")
    assert seen == sum(len(record.training(trial)) for trial in record.trials) > 50
    for trial in record.trials:
        training, evaluation = record.training(trial), record.evaluation(trial)
        folder, ends = tmp_path / "tb" / trial.id, np.cumsum(training.frames).tolist()
        assert series(folder, "training/score") == (ends, training.score.tolist())
        assert series(folder, "training/frames") == (ends, training.frames.tolist())
        means = [training.score[max(0, end - 100) : end].mean() for end in range(1, len(training) + 1)]
        assert series(folder, "training/mean_score")[1] == pytest.approx(means)
        assert series(folder, "evaluation/score") == ([0, 1, 2], evaluation.score.tolist())


def test_a_continued_run_adds_files(tmp_path, toy_plan):
    for episodes in (1, 3):
        plan = toy_plan(episodes=episodes)
        with scalars.logged(plan, tmp_path / "run", tmp_path / "tb", None) as log:
            execute(plan, tmp_path / "run", workers=1, on_event=log)
    (trial,) = plan.trials
    first, second = sorted((tmp_path / "tb" / trial.id).iterdir())
    logs = [read_events(file, Options(tag="evaluation/score"))[0] for file in (first, second)]
    assert [log.steps.tolist() for log in logs] == [[0], [1, 2]]


def fake_wandb(monkeypatch, runs, refusal=""):
    """Put a package in W&B's place, which keeps what runs are told."""

    class Run:
        def __init__(self, **said):
            self.said, self.axes, self.logged, self.finished = said, {}, [], False
            runs.append(self)

        def define_metric(self, name, step_metric):
            self.axes[name] = step_metric

        def log(self, values):
            self.logged.append(values)

        def finish(self):
            self.finished = True

    def login():
        if refusal:
            raise RuntimeError(refusal)

    package = SimpleNamespace(init=Run, login=login, Settings=lambda **settings: settings)
    monkeypatch.setitem(sys.modules, "wandb", package)


def test_each_trial_is_a_run_of_wandb_in_the_group_of_its_directory(tmp_path, toy_plan, fake, monkeypatch):
    runs = []
    fake_wandb(monkeypatch, runs)
    plan = toy_plan(fake("learner").replace("make_agent", "make_learner"), **LEARNS)
    with scalars.logged(plan, tmp_path / "run", None, "breakthroughs") as log:
        assert execute(plan, tmp_path / "run", workers=1, on_event=log).complete
        assert not any(run.finished for run in runs)
    record = read_run(tmp_path / "run")
    by_name = {run.said["name"]: run for run in runs}
    assert by_name.keys() == {trial.id for trial in record.trials}
    for trial in record.trials:
        run, training = by_name[trial.id], record.training(trial)
        assert (run.said["project"], run.said["group"], run.finished) == ("breakthroughs", "run", True)
        assert run.said["config"].items() >= {"game": "toy", "seed": trial.seed, "agent": trial.agent}.items()
        assert run.axes == {f"{phase}/*": f"{phase}/step" for phase in ("training", "evaluation")}
        told = [values for values in run.logged if "training/score" in values]
        assert [values["training/score"] for values in told] == training.score.tolist()
        assert [values["training/step"] for values in told] == np.cumsum(training.frames).tolist()
        assert [values["evaluation/step"] for values in run.logged if "evaluation/step" in values] == [0, 1, 2]


@pytest.mark.parametrize(
    ("prepare", "where", "message"),
    [
        (lambda patch: fake_wandb(patch, [], "No API key\nconfigured"), (None, "p"), r"--wandb p: No API key\\nconfig"),
        (lambda patch: patch.setitem(sys.modules, "wandb", None), (None, "p"), r"--wandb p: .*pip install wandb"),
        (lambda _: None, ("test.py/tb", None), r"cannot be read or written"),
        (
            lambda patch: patch.setitem(sys.modules, "tensorboard.compat.proto.event_pb2", None),
            ("tb", None),
            r"\.\[readers\]",
        ),
    ],
)
def test_what_cannot_be_logged_is_told_before_anything_is_played(
    toy_plan, monkeypatch, tmp_path, prepare, where, message
):
    monkeypatch.chdir(tmp_path)
    Path("test.py").touch()
    prepare(monkeypatch)
    with pytest.raises(ArcadeMarkError, match=message), scalars.logged(toy_plan(), tmp_path / "run", *where):
        pytest.fail("it began")
