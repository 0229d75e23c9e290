"""A recorded run is confirmed; whatever is changed in it is found."""

import re
import shutil
from pathlib import Path

import numpy as np
import pytest

import altering
from altering import alter
from arcademark.errors import ArcadeMarkError
from arcademark.runs.execution import execute
from arcademark.runs.plan import make_plan
from arcademark.runs.replay.verify import verify
from arcademark.runs.store.reading import decode_actions, encode_actions, read_run
from arcademark.suite.protocols import protocol

pytestmark = pytest.mark.usefixtures("in_this_process")

RANDOM_PARTS = {"repeat_action_probability": 0.25, "start": "noop", "noop_max": 5, "training_episode_end": "life_lost"}
TRAINING_FRAMES = 400


@pytest.fixture(scope="module")
def finished(tmp_path_factory, toy_plan):
    """A run of the toy game with every source of chance, played by two baselines and a learner, two seeds each."""
    directory = tmp_path_factory.mktemp("runs") / "toy"
    learner = f"{Path(__file__).parents[1]}/fakes/learner.py:make_learner"
    plan = toy_plan("random", "perturb", learner, seeds=(0, 5), override=RANDOM_PARTS, frames=TRAINING_FRAMES)
    fewer = [agent for agent in plan.agents if "perturb" not in agent.label or "=RIGHT)" in agent.label]
    plan = make_plan(fewer, ["toy"], plan.protocol, seeds=(0, 5), episodes=3, frames=TRAINING_FRAMES)
    assert execute(plan, directory, workers=2).complete
    return directory


def first_trial(directory):
    return read_run(directory, whole=False).trials[0].id


WHERE = "WHERE phase = 'evaluation' AND episode = 1 AND trial LIKE 'random-toy-s0%'"


def only_problem(run, **choice):
    """Return the one finding that is not confirmed; all others must be."""
    found = verify(run, workers=1, **choice)
    assert not found.ok
    (problem,) = found.problems
    assert found.confirmed == len(found.findings) - 1
    assert (problem.trial_id, problem.phase, problem.episode) == (first_trial(run), "evaluation", 1)
    return problem


def test_an_honest_run_is_confirmed_episode_by_episode(finished):
    told = []
    found = verify(finished, workers=1, on_finding=lambda finding, total: told.append((finding, total)))
    stored = read_run(finished)
    training = [row for row in stored.episodes if row.phase == "training"]
    assert len(training) > 4
    assert found.ok
    assert (found.confirmed, found.differing, found.unverifiable) == (len(stored.episodes), 0, 0)
    assert len(stored.episodes) == 3 * 2 * 3 + len(training)
    assert [(f.trial_id, f.phase, f.episode) for f in found.findings] == [
        (row.trial_id, row.phase, row.episode) for row in stored.episodes
    ]
    assert (found.warnings, found.notes, found.problems) == ((), (), ())
    assert told == [(finding, len(found.findings)) for finding in found.findings]


def actions_of(run):
    with altering.database(run) as database:
        (blob,) = database.execute(f"SELECT actions FROM episode {WHERE}").fetchone()
    return decode_actions(blob)


def test_a_forged_score_is_caught_by_any_number_of_processes(run):
    honest = next(row.score for row in read_run(run).episodes if row.episode == 1 and row.phase == "evaluation")
    alter(run, f"UPDATE episode SET score = score + 100 {WHERE}")
    problem = only_problem(run)
    assert (problem.outcome, problem.detail) == ("differs", f"score {honest + 100:g} recorded, {honest:g} on replay")
    assert str(problem) == f"trial {first_trial(run)}, evaluation episode 1: {problem.detail}"
    assert verify(run, workers=2).problems == (problem,)


ACTIONS = {
    "cut short": (lambda there: there[:-2], "differs", r"but goes on after all \d+ actions on replay"),
    "beyond the end": (lambda there: [*there, 0], "differs", r"at step \d+, but \d+ actions are recorded"),
    "others": (lambda there: np.full(len(there), 3), "differs", " on replay"),
    "none of the game's": (lambda there: [*there[:4], 18, *there[5:]], "differs", "step 5 cannot be replayed: "),
    "missing": (b"", "unverifiable", "damaged"),
    "rubbish": (b"\x01rubbish", "unverifiable", "damaged"),
    "of no encoding": (b"\x07", "unverifiable", "damaged"),
}


@pytest.mark.parametrize(("actions", "outcome", "detail"), ACTIONS.values(), ids=ACTIONS)
def test_forged_actions_are_caught_and_the_step_named(run, actions, outcome, detail):
    blob = actions if isinstance(actions, bytes) else encode_actions(actions(actions_of(run)))
    alter(run, f"UPDATE episode SET actions = ? {WHERE}", values=(blob,))
    problem = only_problem(run)
    assert problem.outcome == outcome
    assert re.search(detail, problem.detail)


@pytest.mark.parametrize(
    "forgery", ["frames = frames - 1", "steps = steps - 1", "end = iif(end = 'terminated', 'truncated', 'terminated')"]
)
def test_a_forged_length_or_end_is_caught(run, forgery):
    alter(run, f"UPDATE episode SET {forgery} {WHERE}")
    problem = only_problem(run)
    assert problem.detail.startswith((forgery.partition("=")[0], "it is "))
    assert "on replay" in problem.detail


def test_another_seed_is_caught(run, rename):
    alter(run, "UPDATE trial SET seed = 6 WHERE id LIKE 'random-toy-s0%'")
    with pytest.raises(ArcadeMarkError, match="is named otherwise than what it is, random-toy-s6-"):
        verify(run, workers=1)
    rename(run)
    found = verify(run, workers=1, agent="random", seed=6)
    assert found.differing == len(found.findings) == 3


def test_an_episode_recorded_twice_is_caught(run):
    alter(run, "CREATE TABLE copy AS SELECT * FROM episode", "DROP TABLE episode")
    alter(run, "ALTER TABLE copy RENAME TO episode", f"INSERT INTO episode SELECT * FROM episode {WHERE}")
    found = verify(run, workers=1)
    assert [finding.detail for finding in found.problems] == ["is recorded 2 times"] * 2


def test_episodes_that_are_missing_are_named(run):
    alter(run, f"DELETE FROM episode {WHERE}")
    found = verify(run, workers=1)
    assert found.ok
    assert found.notes == (f"trial {first_trial(run)}: 1 of 3 evaluation episodes are missing: 1",)


@pytest.mark.parametrize("taken_away", [(0, 2), (-1,)])
def test_training_episodes_taken_away_are_caught(run, taken_away):
    recorded = read_run(run)
    learner = next(trial.id for trial in recorded.trials if trial.learns)
    count = sum(row.trial_id == learner and row.phase == "training" for row in recorded.episodes)
    numbers = [number % count for number in taken_away]
    for number in numbers:
        missing = "phase = 'training' AND trial = ? AND episode = ?"
        alter(run, f"DELETE FROM episode WHERE {missing}", values=(learner, number))
    problems = verify(run, workers=1).problems
    assert [(problem.trial_id, problem.phase, problem.episode) for problem in problems] == [
        (learner, "training", number) for number in numbers
    ]
    assert {problem.outcome for problem in problems} == {"differs"}


def test_a_failed_trial_is_told_and_what_it_played_is_verified(tmp_path, toy_plan, fake):
    summary = execute(toy_plan(fake("raising"), "random"), tmp_path / "run", workers=1)
    assert len(summary.failed) == 1
    found = verify(tmp_path / "run", workers=1)
    assert found.ok
    assert found.confirmed == 3
    assert "failed: agent raising.py:make_agent on toy: act raised ZeroDivisionError" in found.notes[0]
    assert "3 of 3 evaluation episodes are missing: 0, 1, 2" in found.notes[1]


def test_another_version_or_rom_is_named(run):
    with altering.manifest(run) as document:
        document["versions"]["ale-py"] = "0.9.0"
        document["games"]["toy"] = "abc"
    found = verify(run, workers=1)
    assert found.ok
    assert found.warnings[0].startswith("recorded with ale-py 0.9.0, replayed with ")
    assert found.warnings[1] == "the ROM of toy has another checksum: abc recorded,  here"
    assert len(found.warnings) == 2


def test_episodes_are_chosen(finished):
    def count(**choice):
        return len(verify(finished, workers=1, **choice).findings)

    assert count(agent="random") == 6
    assert count(agent="random", seed=5) == 3
    assert count(agent="random", seed=5, episode=2) == 1
    assert count(game="TOY", phase="evaluation") == 18
    assert count(trial=first_trial(finished)[:14]) == 3
    assert verify(finished, workers=1, agent="random", episode=1).notes == ()


@pytest.mark.parametrize(
    ("choice", "complaint"),
    [
        ({"agent": "randm"}, "unknown agent of .*; did you mean 'random'"),
        ({"game": "pong"}, "unknown game of .*; known: toy"),
        ({"seed": 3}, "unknown seed of .*; known: 0, 5"),
        ({"trial": ""}, "the trial's id is empty"),
        ({"trial": "perturb-toy-s9"}, "unknown trial of .*; did you mean 'perturb"),
        ({"episode": 700}, "no episode 700 is recorded of any of 6 trials"),
        ({"agent": "random", "phase": "training"}, "no training episode is recorded of any of 2 trials"),
        ({"agent": "random", "trial": "perturb"}, "no trial has all of that together"),
    ],
)
def test_a_choice_that_fits_nothing_is_refused(finished, choice, complaint):
    with pytest.raises(ArcadeMarkError, match=complaint):
        verify(finished, workers=1, **choice)


def test_a_process_that_dies_is_told(finished, monkeypatch):
    monkeypatch.setattr("sys.executable", shutil.which("false"))
    with pytest.raises(ArcadeMarkError, match="a process that replays died"):
        verify(finished, workers=2)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ale-2013", "machado-2018", "dqn-2015"])
def test_the_emulators_runs_are_confirmed(tmp_path, name):
    """Under ale-2013 random acts each frame, machado-2018 has sticky actions, dqn-2015 no-op starts."""
    rules = protocol(name).override({"max_frames_per_episode": 1000})
    execute(make_plan("random", ["qbert", "seaquest"], rules, episodes=2), tmp_path / "run", workers=1)
    stored = read_run(tmp_path / "run")
    assert {trial.frames_per_action for trial in stored.trials} == ({1} if name == "ale-2013" else {None})
    assert verify(tmp_path / "run", workers=1).confirmed == 4
