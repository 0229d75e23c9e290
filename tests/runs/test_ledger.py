"""The ledger of runs: what was evaluated, when, by which command."""

import dataclasses
import shutil
from datetime import datetime
from pathlib import Path

import pytest

from arcademark.runs.execution import execute
from arcademark.runs.store.ledger import entries_beside, entries_of, find_runs, planned, read_ledger
from arcademark.runs.store.reading import read_run

pytestmark = pytest.mark.usefixtures("in_this_process")


def test_an_entry_says_which_agent_on_which_game_and_how_often(tmp_path, toy_plan, paced):
    plan = toy_plan(paced("Learner"), seeds=(0, 3), episodes=2, training_episodes=3)
    execute(plan, tmp_path / "run", workers=1, command="first")
    (entry,) = entries_of(read_run(tmp_path / "run"))
    assert (entry.directory, entry.algorithm, entry.game) == (str(tmp_path / "run"), "paced.py:Learner", "toy")
    assert (entry.seeds, entry.episodes, entry.commands) == ((0, 3), 4, ("first",))
    assert (entry.training_frames, entry.training_episodes, entry.parameters) == (None, 3, {})
    assert len(entry.code) == 64
    assert entry.protocol == plan.protocol.label
    assert datetime.fromisoformat(entry.begun) >= datetime.fromisoformat(read_run(tmp_path / "run").manifest["created"])


def test_each_command_stands_with_what_it_evaluated(tmp_path, toy_plan):
    directory = tmp_path / "run"
    execute(toy_plan(seeds=(0,), episodes=2), directory, workers=1, command="two")
    execute(toy_plan(seeds=(0,), episodes=2), directory, workers=1, command="nothing new")
    execute(toy_plan(seeds=(0, 1), episodes=3), directory, workers=1, command="more")
    record = read_run(directory)
    first, second = record.trials
    assert [(item.trial_id, item.command, item.episodes) for item in record.evaluations] == [
        (first.id, 0, 2),
        (first.id, 2, 1),
        (second.id, 2, 3),
    ]
    (entry,) = entries_of(record)
    assert (entry.commands, entry.begun) == (("two", "more"), record.evaluations[0].begun)


def test_training_that_is_scored_is_noted_when_it_ends(tmp_path, toy_plan, paced):
    plan = toy_plan(
        paced("Learner"), episodes=4, training_episodes=6, override={"reported_episodes": "training_last_k"}
    )
    execute(plan, tmp_path / "run", workers=1)
    record = read_run(tmp_path / "run")
    assert [(item.command, item.episodes) for item in record.evaluations] == [(0, 4)]
    assert [entry.episodes for entry in entries_of(record)] == [4]


def test_a_run_without_notes_has_its_begin_and_all_commands(tmp_path, toy_plan):
    execute(toy_plan(), tmp_path / "run", workers=1, command="one")
    record = dataclasses.replace(read_run(tmp_path / "run"), evaluations=())
    (entry,) = entries_of(record)
    assert (entry.begun, entry.commands) == (record.manifest["created"], ("one",))


@pytest.fixture
def project(tmp_path, toy_plan):
    """Three runs at different depths, one that cannot be read and folders that are none."""
    execute(toy_plan("random"), tmp_path / "b", workers=1)
    shutil.copytree(tmp_path / "b", tmp_path / "deep" / "er" / "a")
    shutil.copytree(tmp_path / "b", tmp_path / ".hidden")
    shutil.copytree(tmp_path / "b", tmp_path / "broken")
    (tmp_path / "broken" / "run.sqlite").write_bytes(b"no database, but longer than its header" * 40)
    (tmp_path / "not yet").mkdir()
    shutil.copy(tmp_path / "b" / "manifest.json", tmp_path / "not yet")
    (tmp_path / "empty").mkdir()
    return tmp_path


def test_runs_are_found_in_their_folder(project):
    found = [str(path.relative_to(project)) for path in find_runs(project)]
    assert found == ["b", "broken", "deep/er/a", "not yet"]
    assert find_runs(project / "b") == (project / "b",)
    ledger = read_ledger([project, project / "b"])
    assert ledger.runs == (str(project / "b"), str(project / "deep" / "er" / "a"))
    assert [entry.directory for entry in ledger.entries] == list(ledger.runs)
    assert [item.directory for item in ledger.unread] == [str(project / "broken")]
    assert "not a database" in ledger.unread[0].reason


def test_neighbours_are_read_as_far_as_they_are_of_interest(project, toy_plan, paced):
    assert [Path(entry.directory).name for entry in entries_beside(project / "new", {"random"})] == ["b"]
    assert entries_beside(project / "b", {"random"}) == ()
    assert entries_beside(project / "new", {"const"}) == ()
    assert entries_beside(project / "empty" / "new", {"random"}) == ()


def test_a_plan_adds_the_entries_that_its_run_will_have(tmp_path, toy_plan, paced):
    plan = toy_plan(paced("Learner"), "random", seeds=(0, 1), episodes=2, frames=100)
    foreseen = list(planned(plan, tmp_path / "run"))
    execute(plan, tmp_path / "run", workers=1, command="now")
    found = [dataclasses.replace(entry, begun="", commands=()) for entry in entries_of(read_run(tmp_path / "run"))]
    assert foreseen == found
    assert [entry.setting for entry in foreseen] == [entry.setting for entry in found]
