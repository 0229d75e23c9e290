"""Trainers under the runner: whole games in order, whatever ends first; nothing is lost but games in play."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from altering import alter
from arcademark.agents.loading import agent_specs
from arcademark.errors import ArcadeMarkError
from arcademark.records.model import Checkpoint, EpisodeRecord
from arcademark.records.reading import read_run
from arcademark.runs.execution import execute
from arcademark.runs.plan import make_plan
from arcademark.runs.playing.events import OfTrial, Progress, Stopping, TrainingBlock
from arcademark.runs.playing.networks import brought, learnt_in, opened, path_of, trained_in, write
from arcademark.runs.playing.trial import TrialPlayer
from arcademark.runs.replay import scalars
from arcademark.runs.replay.verify import cut_short, verify
from arcademark.scores.readers.base import Options
from arcademark.scores.readers.logs.tensorboard import read_events

TRAINER = f"{Path(__file__).parents[1] / 'fakes' / 'trainer.py'}:CountingTrainer"


@pytest.fixture
def plan(toy_plan):
    """Plan trainers of the toy game, which loses five lives in a game: lost lives go on in the same one."""

    def make(frames=3000, settings=None, **others):
        base = toy_plan(override={"training_episode_end": "episodic_life", "training_reward_clipping": True})
        rules = base.protocol.override(others.pop("override", {}))
        specs = agent_specs(TRAINER, settings or {})
        return make_plan(specs, ["toy"], rules, episodes=2, **({"frames": frames} | others))

    return make


def blocks(events):
    return [event for event in events if isinstance(event, TrainingBlock)]


def results(events):
    return [result for block in blocks(events) for result in block.results]


def until_blocks(trial, count, checkpoint=None):
    """Play until there are so many checkpoints and a stop is heeded."""
    seen = []

    def stopping():
        return len(blocks(seen)) >= count

    for event in TrialPlayer(trial).play([], checkpoint, (), stopping):
        seen.append(event)  # noqa: PERF402 - it is looked at meanwhile
    return seen


@pytest.mark.slow
@pytest.mark.parametrize("fire", [False, True])
def test_whole_games_are_recorded_in_order_and_replay_as_recorded(tmp_path, plan, monkeypatch, fire):
    monkeypatch.setenv("PACE", "0.2" if fire else "0.05")  # presses leave fewer updates
    heard = []
    summary = execute(plan(override={"fire_reset": fire}), tmp_path / "run", workers=1, on_event=heard.append)
    assert summary.complete
    record = read_run(tmp_path / "run")
    (trial,) = record.trials
    assert (trial.status, trial.learns, trial.training_frames) == ("done", True, 3000)
    training = list(record.training(trial))
    assert [row.episode for row in training] == list(range(len(training)))
    assert len(training) > 10
    findings = verify(tmp_path / "run", workers=1).findings
    assert Counter(finding.outcome for finding in findings) == {"confirmed": len(training) + 2}
    kept = json.loads(path_of(tmp_path / "run", trial.id).read_bytes())
    assert kept["ends"] > 2 * len(training), "the trainer sees lives end, the store whole games"
    last = [event for event in heard if isinstance(event, Progress)][-1]
    assert (last.fraction, last.trials_done) == (1.0, 1)
    recent = [event.learning.recent for event in heard if isinstance(event, Progress) and event.learning]
    assert any(recent)


@pytest.mark.slow
def test_what_was_trained_in_one_run_plays_in_another(tmp_path, plan):
    execute(plan(frames=600), tmp_path / "base", workers=1)
    again = trained_in(plan(frames=600), learnt_in(tmp_path / "base"))
    execute(again, tmp_path / "run", workers=1)
    base, run = (read_run(tmp_path / name) for name in ("base", "run"))
    assert run.episodes.score.tolist() == base.evaluation(base.trials[0]).score.tolist()
    assert not (tmp_path / "run" / "checkpoints").exists()
    player = TrialPlayer(again.trials[0])
    list(player.play([0], brought(again.trials[0].learnt)))
    kept = json.loads(path_of(tmp_path / "base", base.trials[0].id).read_bytes())
    assert kept["ends"]
    assert (player.agent.policy.ends, player.agent.policy.evaluating) == (kept["ends"], True)


@pytest.mark.slow
def test_a_stop_loses_games_in_play_and_nothing_else(plan):
    (trial,) = plan(settings={"checkpoint_frames": 200, "chunk": 5}).trials
    there, checkpoint, stops = [], None, 0
    while checkpoint is None or not checkpoint.finished:
        seen = until_blocks(trial, 2, checkpoint)
        assert blocks(seen), "it gets on each time"
        there += results(seen)
        checkpoint = blocks(seen)[-1].checkpoint
        stops += 1
    assert stops > 2
    assert [result.record.episode for result in there] == list(range(checkpoint.episodes))
    assert checkpoint.frames >= 3000
    assert sum(result.record.frames for result in there) < checkpoint.frames, "games in play were trained on twice"


def test_a_stop_while_games_are_played_out_trains_no_more(plan):
    (trial,) = plan(settings={"num_envs": 4, "checkpoint_frames": 1_000_000}).trials
    seen = until_blocks(trial, 1)
    (block,) = blocks(seen)
    assert not block.checkpoint.finished
    assert block.checkpoint.frames >= 3000
    rest = list(TrialPlayer(trial).play([], block.checkpoint))
    *_, last = blocks(rest)
    assert last.checkpoint.finished
    before, after = (json.loads(opened(one.checkpoint, trial.id)[1]) for one in (block, last))
    assert (after["rewards"], after["restarts"]) == (before["rewards"], 1)
    numbers = [result.record.episode for result in results(seen) + results(rest)]
    assert numbers == list(range(last.checkpoint.episodes))


def test_a_trainer_that_ends_too_soon_is_told_of(tmp_path, plan):
    summary = execute(plan(settings={"until": 0.5}), tmp_path / "run", workers=1)
    (failed,) = summary.failed
    assert "fit ended after" in failed.error
    assert "expected 3,000" in failed.error


def test_budgets_in_episodes_are_refused(plan):
    with pytest.raises(ArcadeMarkError, match="trains for a number of frames, not of episodes; give --frames"):
        plan(frames=None, training_episodes=5)


@pytest.mark.parametrize("data", [b"", b"\xff" * 20, b"\x02" + b"\0" * 7 + b"[]"])
def test_a_checkpoint_that_is_damaged_is_refused(data, plan):
    (trial,) = plan().trials
    damaged = Checkpoint(0, 10, False, data)
    with pytest.raises(ArcadeMarkError):
        list(TrialPlayer(trial).play([], damaged))


def test_the_file_is_written_again_where_it_is_missing_and_never_through_a_link(tmp_path, plan):
    execute(plan(), tmp_path / "run", workers=1)
    (path,) = (tmp_path / "run" / "checkpoints").iterdir()
    content = path.read_bytes()
    path.unlink()
    execute(plan(), tmp_path / "run", workers=1)
    assert path.read_bytes() == content
    elsewhere = tmp_path / "elsewhere"
    path.unlink()
    path.symlink_to(elsewhere)
    with pytest.raises(ArcadeMarkError, match="remove it"):
        write(tmp_path / "run", path.stem, Checkpoint(0, 0, True, b"\x02" + b"\0" * 7 + b"[]"))
    assert not elsewhere.exists()


@pytest.mark.slow
def test_games_lost_where_a_training_was_interrupted_are_told_and_nothing_else_may_be_missing(tmp_path, plan):
    """Frames of games that were in play are spent, and not recorded; of a training in one piece none are."""
    directory = tmp_path / "run"
    execute(plan(), directory, workers=1)
    (trial,) = read_run(directory, whole=False).trials
    training = read_run(directory, whole=False).training(trial)
    spent = np.cumsum(training.frames)
    last = int(np.flatnonzero(spent < 3000)[-1]) + 1
    frames = int(spent[last - 1])
    alter(directory, f"DELETE FROM episode WHERE phase = 'training' AND episode >= {last}")
    (problem,) = verify(directory, workers=1).problems
    assert (problem.episode, problem.detail) == (last, "is not recorded, though training continued")
    execute(plan(), directory, workers=1)  # nothing is left to do, and the run was continued
    found = verify(directory, workers=1)
    assert found.ok
    assert f"its training games have {frames:,} of 3,000 frames" in found.notes[0]
    assert cut_short(read_run(directory, whole=False), trial)
    alter(directory, "DELETE FROM episode WHERE phase = 'training' AND episode = 0")
    assert [problem.episode for problem in verify(directory, workers=1).problems] == [0]


def command(directory, frames, pace):
    overrides = ("training_episode_end=episodic_life", "max_frames_per_episode=400", "reported_episodes=evaluation")
    options = [part for override in overrides for part in ("--override", override)]
    settings = ("checkpoint_frames=100", "chunk=5")
    options += [part for setting in settings for part in ("--set", setting)]
    line = ["run", TRAINER, "--games", "breakout", "--frames", str(frames), "--episodes", "2", "--out", str(directory)]
    return subprocess.Popen(
        [sys.executable, "-m", "arcademark", *line, *options, "--workers", "1"],
        env=os.environ | {"PACE": pace},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )


def trained(directory):
    try:
        return len(read_run(directory, whole=False).episodes)
    except ArcadeMarkError:
        return 0


@pytest.mark.slow
def test_a_training_that_is_killed_goes_on_from_its_last_checkpoint(tmp_path):
    directory, reached = tmp_path / "run", 0
    for _ in range(2):
        process = command(directory, 4000, "0.01")
        until = time.monotonic() + 60
        while trained(directory) < reached + 3:
            assert process.poll() is None, process.stdout.read().decode()
            assert time.monotonic() < until
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        reached = trained(directory)
    process = command(directory, 4000, "0")
    said, _ = process.communicate(timeout=120)
    assert process.returncode == 0, said.decode()
    record = read_run(directory)
    (trial,) = record.trials
    assert trial.status == "done"
    assert json.loads(path_of(directory, trial.id).read_bytes())["restarts"] == 2
    assert {finding.outcome for finding in verify(directory, workers=1).findings} == {"confirmed"}


# Scores as they happen: event files and W&B hold what is recorded, and have it while training goes on


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
            if isinstance(event, OfTrial):
                steps, values = series(tmp_path / "tb" / event.trial_id, "training/score")
                assert (steps[-1], values[-1]) == (event.event.trained, event.event.score)
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


# Ctrl-C: what had finished is kept, learning too; a second one waits for nothing


@pytest.fixture
def learning(toy_plan, paced):
    """Plan two learners whose checkpoints are due at the end only, and beside each an agent that does not learn."""

    def plan(name):
        (learner,) = agent_specs(paced(name), {"checkpoint_frames": 1_000_000})
        base = toy_plan(paced("Paced"))
        return make_plan([learner, *base.agents], ["toy"], base.protocol, (0, 1), episodes=100, training_episodes=40)

    return plan


def interrupting(events, when, number=signal.SIGINT):
    """Take note of events, and send this process a signal whenever `when` is true of one; SIGTERM its workers too."""

    def listen(event):
        events.append(event)
        if when(event):
            workers = Path("/proc/self/task").glob("*/children") if number == signal.SIGTERM else ()  # as SLURM does
            for process in (os.getpid(), *(int(text) for path in workers for text in path.read_text().split())):
                os.kill(process, number)

    return listen


def have_trained(event, episodes):
    """Whether so many training episodes have ended; none is in a checkpoint."""
    return isinstance(event, Progress) and event.learning is not None and event.learning.episodes >= episodes


def stopping(events):
    """Tell which event says that learners are waited for."""
    (found,) = [i for i, event in enumerate(events) if isinstance(event, Stopping)]
    return found


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_training_keeps_all_its_episodes_and_ends_as_if_undisturbed(
    tmp_path, learning, rows, monkeypatch, number
):
    plan = learning("Learner")
    monkeypatch.setenv("PACE", "0.005")
    events = []

    def once(event):
        return have_trained(event, 6) and not any(have_trained(before, 6) for before in events[:-1])

    summary = execute(plan, tmp_path / "run", workers=3, on_event=interrupting(events, once, number))
    assert (summary.interrupted, summary.complete, summary.unkept, summary.failed) == (True, False, 0, ())
    kept = rows(tmp_path / "run")
    training = [row for row in kept["episode"] if row[1] == "training"]
    assert 6 <= events[stopping(events)].unkept <= len(training) < 2 * 40
    assert sum(episodes for _, episodes, *_ in kept["checkpoint"]) == len(training)
    done = [event for event in events if isinstance(event, EpisodeRecord)]
    assert set(done) == set(read_run(tmp_path / "run").episodes)
    monkeypatch.setenv("PACE", "0")
    assert execute(plan, tmp_path / "run", workers=2).complete
    assert execute(plan, tmp_path / "undisturbed", workers=2).complete
    assert set(kept["episode"]) <= set(rows(tmp_path / "run")["episode"])
    assert rows(tmp_path / "run") == rows(tmp_path / "undisturbed")


@pytest.mark.slow
def test_a_second_signal_waits_for_no_learner(tmp_path, learning, rows, monkeypatch):
    plan = learning("Stalling")
    monkeypatch.setenv("STALL_AFTER", "3")
    events = []

    def twice(event):
        first = have_trained(event, 6) and not any(have_trained(before, 6) for before in events[:-1])
        return first or isinstance(event, Stopping)

    before = signal.getsignal(signal.SIGINT)
    summary = execute(plan, tmp_path / "run", workers=3, on_event=interrupting(events, twice))
    assert events[stopping(events)].unkept == summary.unkept == 6
    assert summary.interrupted
    assert signal.getsignal(signal.SIGINT) == before
    assert rows(tmp_path / "run")["checkpoint"] == []
    monkeypatch.delenv("STALL_AFTER")
    assert execute(plan, tmp_path / "run", workers=2).complete
    assert execute(plan, tmp_path / "undisturbed", workers=2).complete
    assert rows(tmp_path / "run") == rows(tmp_path / "undisturbed")


@pytest.mark.slow
def test_where_no_learning_would_be_lost_nothing_is_waited_for(tmp_path, learning, monkeypatch):
    monkeypatch.setenv("STALL_AFTER", "0")
    events = []

    def once(event):
        return isinstance(event, EpisodeRecord) and not any(isinstance(before, EpisodeRecord) for before in events[:-1])

    summary = execute(learning("Stalling"), tmp_path / "run", workers=3, on_event=interrupting(events, once))
    assert (summary.interrupted, summary.unkept) == (True, 0)
    assert not any(isinstance(event, Stopping) for event in events)
