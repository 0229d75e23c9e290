"""Runs that were played apart, as one run: the rows of one that was never taken apart."""

import itertools
import shutil
from pathlib import Path

import pytest

from altering import alter
from arcademark.errors import ArcadeMarkError
from arcademark.runs.execution import execute
from arcademark.runs.playing.scheduling import shard
from arcademark.runs.replay.verify import verify
from arcademark.runs.store.combined import together
from arcademark.runs.store.merging import merge
from arcademark.runs.store.reading import read_run
from arcademark.runs.store.recording import Recorder
from arcademark.runs.store.salvage import check
from arcademark.scores.runs import load_runs

pytestmark = pytest.mark.usefixtures("in_this_process")

LEARNER = f"{Path(__file__).parents[1] / 'fakes' / 'learner.py'}:make_learner"
TRAINED = {"override": {"training_frames": 600}}


@pytest.fixture(scope="module")
def apart(tmp_path_factory, toy_plan):
    """Play two agents, a seed a run, one with more episodes."""
    folder, made = tmp_path_factory.mktemp("apart"), []
    for seed, episodes in ((0, 3), (2, 4), (1, 3)):
        made.append(folder / f"seed{seed}")
        execute(toy_plan("random", LEARNER, **TRAINED, seeds=(seed,), episodes=episodes), made[-1], workers=1)
    return made


@pytest.mark.slow
def test_seeds_played_apart_are_the_run_that_was_not(apart, tmp_path, toy_plan, rows):
    whole = tmp_path / "whole"
    execute(toy_plan("random", LEARNER, **TRAINED, seeds=(0, 1), episodes=3), whole, workers=1)
    execute(toy_plan("random", LEARNER, **TRAINED, seeds=(2,), episodes=4), whole, workers=1)
    execute(toy_plan("random", LEARNER, **TRAINED, seeds=(0, 1, 2), episodes=4), whole, workers=1)
    out = tmp_path / "out"
    merged = merge(out, apart)
    trained = read_run(out).episodes.training.sum()
    assert (merged.trials, merged.done, merged.added) == (6, 6, 2 * 10 + trained)
    execute(toy_plan("random", LEARNER, **TRAINED, seeds=(0, 1, 2), episodes=4), out, workers=1)
    assert rows(out) == rows(whole)
    assert verify(out).ok


def test_no_order_of_the_runs_changes_anything_and_nothing_is_added_twice(apart, tmp_path, rows):
    out, grown = tmp_path / "out", tmp_path / "grown"
    merge(out, apart)
    before = rows(out), (out / "manifest.json").read_bytes()
    for number, order in enumerate(itertools.permutations(apart)):
        merge(other := tmp_path / f"out{number}", order)
        assert (rows(other), (other / "manifest.json").read_bytes()) == before
    assert merge(out, apart).added == 0
    assert (rows(out), (out / "manifest.json").read_bytes()) == before
    for directory in apart:
        merge(grown, [directory])
    assert rows(grown) == before[0]
    assert read_run(grown).manifest == read_run(out).manifest
    assert merge(tmp_path / "again", [out, grown, *apart]).episodes == merge(out, [grown]).episodes


def test_a_copy_that_was_continued_elsewhere_is_one_run(tmp_path, toy_plan, rows):
    here, there, whole = tmp_path / "here", tmp_path / "there", tmp_path / "whole"
    execute(toy_plan("random", seeds=(0,), episodes=2), here, workers=1)
    shutil.copytree(here, there)
    execute(toy_plan("random", seeds=(0,), episodes=5), there, workers=1)
    execute(toy_plan("random", seeds=(0, 1), episodes=3), here, workers=1)
    execute(toy_plan("random", seeds=(0, 1), episodes=5), whole, workers=1)
    out = tmp_path / "out"
    merge(out, [here, there])
    execute(toy_plan("random", seeds=(0, 1), episodes=5), out, workers=1)
    assert rows(out)["episode"] == rows(whole)["episode"]
    noted = read_run(out).evaluations
    assert sum(one.episodes for one in noted) == 10
    assert {one.command for one in noted} <= set(range(1 + len(read_run(out).manifest["continued"])))


def test_a_learner_goes_on_from_where_most_was_learnt(tmp_path, toy_plan, rows):
    plan = toy_plan(LEARNER, **TRAINED)
    whole, short = tmp_path / "whole", tmp_path / "short"
    execute(plan, whole, workers=1)
    execute(plan, short, workers=1)
    alter(
        short,
        "DELETE FROM episode WHERE phase = 'evaluation' OR episode >= 1",
        "DELETE FROM evaluation",
        "UPDATE checkpoint SET episodes = 1, frames = 1, finished = 0, data = x''",
    )
    for number, order in enumerate(([whole, short], [short, whole])):
        merge(out := tmp_path / f"out{number}", order)
        assert rows(out) == rows(whole)


def test_episodes_that_differ_are_refused_and_nothing_is_written(tmp_path, toy_plan, rows):
    one, other, out = tmp_path / "one", tmp_path / "other", tmp_path / "out"
    for directory in (one, other):
        execute(toy_plan("random", seeds=(0,)), directory, workers=1)
    execute(toy_plan("random", seeds=(1,)), out, workers=1)
    before = rows(out), (out / "manifest.json").read_bytes()
    alter(other, "UPDATE episode SET score = score + 1 WHERE episode = 1")
    said = rf"evaluation episode 1 of trial random-toy-s0-\w+ differs from that of {tmp_path}/(one|other) "
    with pytest.raises(ArcadeMarkError, match=said):
        merge(out, [one, other])
    assert (rows(out), (out / "manifest.json").read_bytes()) == before


def test_runs_that_were_asked_for_other_things_are_refused(tmp_path, toy_plan):
    execute(toy_plan("random"), tmp_path / "one", workers=1)
    execute(toy_plan("random", seeds=(1,), override={"frame_skip": 5}), tmp_path / "other", workers=1)
    with pytest.raises(ArcadeMarkError, match=r"other: another run than .*one: protocol frame_skip: 4 there, 5 now"):
        merge(tmp_path / "out", [tmp_path / "one", tmp_path / "other"])
    assert not (tmp_path / "out").exists()


def test_seeds_played_apart_are_read_as_one_run(apart, tmp_path):
    merge(tmp_path / "out", apart)
    written = read_run(tmp_path / "out")
    for order in itertools.permutations(apart):
        (read,) = together([read_run(directory) for directory in order])
        assert read.episodes == written.episodes
        assert read.trials == written.trials
        assert (read.manifest, read.evaluations) == (written.manifest, written.evaluations)
        assert read.parts == order
    collection = load_runs(apart)
    assert collection.table.algorithms[0] == "random"
    assert collection.runs[0].seeds["random"] == (0, 1, 2)


@pytest.mark.slow
def test_runs_that_share_a_trial_stay_apart(apart, tmp_path, toy_plan):
    execute(toy_plan("random", LEARNER, **TRAINED, seeds=(1, 3)), tmp_path / "more", workers=1)
    records = [read_run(directory) for directory in (apart[0], apart[2], tmp_path / "more")]
    assert [record.parts for record in together(records)] == [(apart[0], apart[2]), ()]


@pytest.mark.slow
def test_a_shard_is_a_fixed_part_and_all_of_them_are_the_plan(tmp_path, toy_plan, rows):
    plan = toy_plan("random", LEARNER, **TRAINED, seeds=(0, 1, 2, 3))
    parts = [shard(plan, number, 3) for number in (1, 2, 3)]
    assert sorted(trial.id for part in parts for trial in part.trials) == sorted(trial.id for trial in plan.trials)
    assert [len(part.trials) for part in parts] == [3, 3, 2]
    assert all(1 <= sum(trial.agent.ref == LEARNER for trial in part.trials) <= 2 for part in parts)
    directories = [tmp_path / f"part{number}" for number in range(3)]
    for part, directory in zip(parts, directories, strict=True):
        assert execute(part, directory, workers=1).complete
    assert execute(plan, tmp_path / "whole", workers=1).complete
    merge(tmp_path / "out", directories)
    assert rows(tmp_path / "out") == rows(tmp_path / "whole")
    for number, count in ((0, 3), (4, 3), (1, 9)):
        with pytest.raises(ArcadeMarkError, match="K from 1 to N"):
            shard(plan, number, count)


@pytest.mark.slow
def test_what_a_missing_shard_was_to_play_is_asked_for(tmp_path, toy_plan, rows):
    plan = toy_plan("random", LEARNER, **TRAINED, seeds=(0, 1, 2, 3))
    parts = [tmp_path / f"part{number}" for number in (1, 2, 3)]
    for number, directory in enumerate(parts, 1):
        execute(shard(plan, number, 3), directory, workers=1)
    missing = {trial.id for trial in shard(plan, 2, 3).trials}
    merged = merge(out := tmp_path / "out", [parts[0], parts[2]])
    assert (merged.trials, merged.done) == (8, 8 - len(missing))
    assert {trial.id for trial in merged.unfinished} == missing
    written = read_run(out)
    assert "shard" not in written.manifest
    for given in ([parts[0], parts[2]], [parts[2], parts[0]]):
        (read,) = together([read_run(directory) for directory in given])
        assert (read.trials, read.manifest, read.episodes) == (written.trials, written.manifest, written.episodes)
    (alone,) = together([read_run(parts[1])])
    assert {trial.id for trial in alone.trials if trial.status == "done"} == missing
    assert (len(alone.trials), alone.parts) == (8, ())
    assert {(trial.task, trial.seed, trial.played) for trial in load_runs([parts[1]]).runs[0].incomplete} == {
        ("toy", trial.seed, 0) for trial in alone.trials if trial.status == "pending"
    }
    execute(plan, whole := tmp_path / "whole", workers=1)
    later = merge(tmp_path / "later", [out, parts[1]])
    assert (later.done, later.unfinished) == (8, ())
    assert rows(tmp_path / "later") == rows(whole)
    assert merge(parts[0], [parts[2]]).unfinished == merged.unfinished  # into a shard
    execute(plan, out, workers=1)
    assert rows(out) == rows(whole)


def test_a_run_that_is_being_played_is_refused(apart, tmp_path):
    shutil.copytree(apart[1], playing := tmp_path / "playing")
    with Recorder(playing), pytest.raises(ArcadeMarkError, match="playing: is being played; wait for it"):
        merge(tmp_path / "out", [apart[0], playing])
    assert not (tmp_path / "out").exists()
    assert merge(tmp_path / "out", [apart[0], playing]).trials == 4


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE {table} SET {trial} = replace({trial}, 's1-', 's1-0')",  # the same trial a second time
        "UPDATE {table} SET {trial} = 'random-toy-s5-01234567' WHERE {trial} LIKE 'random-%'",
    ],
)
def test_a_trial_that_is_named_otherwise_is_refused(apart, tmp_path, change):
    (original,) = [path for path in apart if read_run(path).trials[0].seed == 1]
    shutil.copytree(original, tampered := tmp_path / "tampered")
    for table in ("trial", "episode", "evaluation", "checkpoint"):
        alter(tampered, change.format(table=table, trial="id" if table == "trial" else "trial"))
    for out, given in ((tmp_path / "out", [original, tampered]), (tampered, [original])):
        with pytest.raises(ArcadeMarkError, match=r"tampered: .* damaged: trial .* is named otherwise"):
            merge(out, given)
    with pytest.raises(ArcadeMarkError, match="is named otherwise than what it is"):
        read_run(tampered)
    assert "is named otherwise" in check(tampered)[0]
    assert check(original) == ()
