"""Ctrl-C: what had finished is kept, learning too; a second one waits for nothing."""

import os
import signal
from pathlib import Path

import pytest

from arcademark.agents.loading import agent_specs
from arcademark.runs.execution import execute
from arcademark.runs.plan import make_plan
from arcademark.runs.playing.events import EpisodeDone, Progress, Stopping
from arcademark.runs.store.reading import read_run


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


def trained(event, episodes):
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
        return trained(event, 6) and not any(trained(before, 6) for before in events[:-1])

    summary = execute(plan, tmp_path / "run", workers=3, on_event=interrupting(events, once, number))
    assert (summary.interrupted, summary.complete, summary.unkept, summary.failed) == (True, False, 0, ())
    kept = rows(tmp_path / "run")
    training = [row for row in kept["episode"] if row[1] == "training"]
    assert 6 <= events[stopping(events)].unkept <= len(training) < 2 * 40
    assert sum(episodes for _, episodes, *_ in kept["checkpoint"]) == len(training)
    done = [event.episode for event in events if isinstance(event, EpisodeDone)]
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
        first = trained(event, 6) and not any(trained(before, 6) for before in events[:-1])
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
        return isinstance(event, EpisodeDone) and not any(isinstance(before, EpisodeDone) for before in events[:-1])

    summary = execute(learning("Stalling"), tmp_path / "run", workers=3, on_event=interrupting(events, once))
    assert (summary.interrupted, summary.unkept) == (True, 0)
    assert not any(isinstance(event, Stopping) for event in events)
