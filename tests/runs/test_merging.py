"""Runs that were played apart, as one run: the rows of one that was never taken apart."""

import itertools
import random
import shutil
import struct
from pathlib import Path

import pytest

import altering
from altering import alter
from arcademark.errors import ArcadeMarkError
from arcademark.records.combined import together
from arcademark.records.database import CHECKSUM, TABLES
from arcademark.records.reading import read_run
from arcademark.runs.execution import execute
from arcademark.runs.replay.verify import verify
from arcademark.runs.scheduling.lengths import shard
from arcademark.runs.store import salvage as salvaging
from arcademark.runs.store.merging import merge
from arcademark.runs.store.recording import Recorder
from arcademark.runs.store.salvage import check, salvage
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
    assert sorted(len(part.trials) for part in parts) == [2, 3, 3]
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
        with pytest.raises(ArcadeMarkError, match=r"tampered: .* damaged: trial .* id should be"):
            merge(out, given)
    with pytest.raises(ArcadeMarkError, match="the trial's id should be"):
        read_run(tampered)
    assert "the trial's id should be" in check(tampered).problems[0]
    assert check(original).problems == ()


# Damaged runs: what is damaged is told, and episodes that can be read are in the new run


FAKES = Path(__file__).parents[1] / "fakes"
PAGE = 4096


@pytest.fixture(scope="module")
def plan(toy_plan):
    return toy_plan("random", seeds=(0, 1), episodes=150)


@pytest.fixture(scope="module")
def finished(tmp_path_factory, plan):
    """A run that no test may change; its episodes lie on some ten pages."""
    directory = tmp_path_factory.mktemp("finished") / "run"
    execute(plan, directory, workers=1)
    alter(directory, "UPDATE episode SET wall_seconds = 1 + rowid / 1024.0", "VACUUM")
    return directory


def keys(directory):
    return {(row.trial_id, row.phase, row.episode) for row in read_run(directory).episodes}


def places(directory):
    """Find the page of each episode by the time that it took, which is no other's."""
    content = (directory / "run.sqlite").read_bytes()
    found = {}
    for row in read_run(directory).episodes:
        seconds = struct.pack(">d", row.wall_seconds)
        assert content.count(seconds) == 1
        found[row.trial_id, row.phase, row.episode] = content.index(seconds) // PAGE
    return found


def overwrite(*pages):
    noise = random.Random(1).randbytes(PAGE)

    def change(content):
        for page in pages:
            content = content[: page * PAGE] + noise + content[(page + 1) * PAGE :]
        return content

    return change


@pytest.mark.parametrize("damage", ["one page", "several", "end"])
def test_what_can_be_read_is_salvaged_and_the_rest_played_again(damage, finished, run, tmp_path, plan, rows):
    where, content = places(finished), (run / "run.sqlite").read_bytes()
    pages = sorted(set(where.values()))
    touched = {
        "one page": {pages[3]},
        "several": {pages[1], pages[4]},
        "end": {*range(pages[5], len(content) // PAGE)},
    }[damage]
    changed = content[: min(touched) * PAGE] if damage == "end" else overwrite(*touched)(content)
    (run / "run.sqlite").write_bytes(changed)
    assert any("is damaged" in problem for problem in check(run).problems)
    salvaged = salvage(run, tmp_path / "new")
    intact = {key for key, page in where.items() if page not in touched}
    assert keys(tmp_path / "new") <= intact
    assert salvaged.salvaged.episodes == len(keys(tmp_path / "new")) > 0.7 * len(intact)
    assert (run / "run.sqlite").read_bytes() == changed
    assert check(tmp_path / "new").problems == ()
    assert execute(plan, tmp_path / "new", workers=1).complete
    assert rows(tmp_path / "new")["episode"] == rows(finished)["episode"]


ANYTHING = ", ".join([*TABLES["episode"], CHECKSUM])
NO_TYPES = (
    "ALTER TABLE episode RENAME TO strict",
    f"CREATE TABLE episode ({ANYTHING.replace('end', 'end COLLATE NOCASE')}, PRIMARY KEY (trial, phase, episode))",
    f"INSERT INTO episode ({ANYTHING}) SELECT {ANYTHING} FROM strict",
    "DROP TABLE strict",
)


@pytest.mark.parametrize(
    ("before", "change", "told"),
    [
        ((), "score = 'many'", "has a score of the wrong type or range"),
        ((), "steps = steps + 1", " actions and "),
        ((), "end = 'whenever'", "has a end of the wrong type or range"),
        ((), "actions = substr(actions, 1, length(actions) - 1)", "its actions are damaged"),
        (NO_TYPES, "score = CAST(score AS TEXT)", "has a score of the wrong type or range"),
        (NO_TYPES, "end = upper(end)", "has a end of the wrong type or range"),
    ],
)
def test_rows_that_hold_what_no_episode_does_are_named_and_left_out(before, change, told, finished, run, tmp_path):
    """Whatever types the table has: nothing is converted."""
    alter(run, *before, renewed=False)
    alter(run, f"UPDATE episode SET {change} WHERE episode = 7 AND trial LIKE '%-s1-%'")
    assert any(told in problem for problem in check(run).problems)
    assert any(told in problem for problem in salvage(run, tmp_path / "new").problems)
    assert keys(finished) - keys(tmp_path / "new") == {
        key for key in keys(finished) if key[2] == 7 and "-s1-" in key[0]
    }


@pytest.mark.parametrize("change", ["DELETE FROM trial WHERE seed = 0", "UPDATE trial SET seed = 5 WHERE seed = 0"])
def test_a_trial_is_known_by_its_name_where_its_row_is_lost(change, finished, run, tmp_path, plan, rows):
    alter(run, change)
    assert check(run).problems != ()
    salvage(run, tmp_path / "new")
    assert keys(tmp_path / "new") == keys(finished)
    assert execute(plan, tmp_path / "new", workers=1).complete
    assert rows(tmp_path / "new")["episode"] == rows(finished)["episode"]


def test_what_lies_in_the_journal_is_salvaged_while_it_is_there(finished, run, tmp_path):
    with altering.database(run) as database:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA wal_autocheckpoint = 0")
        columns = "trial, phase, episode + 75, score, frames, steps, end, wall_seconds, simulated_frames, actions, NULL"
        database.execute("DELETE FROM episode WHERE episode >= 75")
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        database.execute(f"INSERT INTO episode SELECT {columns} FROM episode")
        shutil.copytree(run, stopped := tmp_path / "stopped")
        shutil.copytree(run, lost := tmp_path / "lost")
    (lost / "run.sqlite-wal").unlink()
    for directory, expected in ((stopped, 300), (lost, 150)):
        (directory / "run.sqlite-shm").unlink()
        assert salvage(directory, tmp_path / f"{directory.name} new").salvaged.episodes == expected
    assert (stopped / "run.sqlite-wal").stat().st_size
    assert any("commands' notes" in problem for problem in check(lost).problems)


def test_without_a_manifest_nothing_is_salvaged_and_a_way_is_told(run, tmp_path):
    (run / "manifest.json").unlink()
    assert any("manifest.json is missing" in problem for problem in check(run).problems)
    with pytest.raises(ArcadeMarkError, match=r"with another --out, stop it, and copy the manifest\.json"):
        salvage(run, tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_what_fails_leaves_nothing_that_the_next_try_meets(finished, run, tmp_path, monkeypatch):
    (run / "run.sqlite").write_bytes(random.Random(1).randbytes(4 * PAGE))
    for _ in range(2):
        with pytest.raises(ArcadeMarkError, match="not a database"):
            salvage(run, tmp_path / "new")
        assert not (tmp_path / "new").exists()
    with monkeypatch.context() as patch:
        patch.setattr(salvaging.manifest, "write", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            salvage(finished, tmp_path / "new")
    assert salvage(finished, tmp_path / "new").problems == ()
    assert check(tmp_path / "new").problems == ()
    (tmp_path / "new" / "manifest.json").unlink()
    with pytest.raises(ArcadeMarkError, match=r"manifest\.json is missing"):
        salvage(finished, tmp_path / "new")


def test_notes_of_a_learner_that_is_scored_in_training_stay(toy_plan, paced, tmp_path):
    plan = toy_plan(paced("Learner"), frames=300, override={"reported_episodes": "training_last_k"})
    execute(plan, tmp_path / "run", workers=1)
    notes = read_run(tmp_path / "run").evaluations
    assert salvage(tmp_path / "run", tmp_path / "new").problems == ()
    assert read_run(tmp_path / "new").evaluations == notes != ()
    for table in ("checkpoint", "trial"):
        alter(tmp_path / "run", f"DELETE FROM {table}")
        salvage(tmp_path / "run", tmp_path / table)
        assert read_run(tmp_path / table).evaluations == ()
        assert execute(plan, tmp_path / table, workers=1).complete


@pytest.mark.slow
def test_training_goes_on_only_where_all_of_it_is_intact(toy_plan, paced, tmp_path, rows):
    plan = toy_plan("random", paced("Learner"), frames=600, episodes=4)
    execute(plan, tmp_path / "run", workers=1)
    execute(plan, tmp_path / "other", workers=1)
    alter(tmp_path / "run", "DELETE FROM episode WHERE phase = 'training' AND episode = 1")
    alter(tmp_path / "other", "DELETE FROM episode WHERE phase = 'evaluation' AND episode = 1")
    before = rows(tmp_path / "run")
    salvaged = salvage(tmp_path / "run", tmp_path / "new")
    assert any("its training begins again" in problem for problem in salvaged.problems)
    assert rows(tmp_path / "new")["episode"] == [row for row in before["episode"] if row[1] == "evaluation"]
    salvage(tmp_path / "other", tmp_path / "other new")
    assert rows(tmp_path / "other new")["checkpoint"] == rows(tmp_path / "other")["checkpoint"] != []
    for new in ("new", "other new"):
        assert execute(plan, tmp_path / new, workers=1).complete
    assert rows(tmp_path / "new")["episode"] == rows(tmp_path / "other new")["episode"]


def test_a_network_that_is_not_the_runs(tmp_path, toy_plan):
    plan = toy_plan(f"{FAKES / 'trainer.py'}:CountingTrainer", frames=600)
    execute(plan, tmp_path / "run", workers=1)
    assert check(tmp_path / "run").problems == ()
    (network,) = (tmp_path / "run" / "checkpoints").iterdir()
    trained = network.read_bytes()
    network.write_bytes(b"another")
    assert "differs from the network in the run's checkpoint" in check(tmp_path / "run").problems[0]
    salvage(tmp_path / "run", tmp_path / "new")
    assert execute(plan, tmp_path / "new", workers=1).complete
    assert next((tmp_path / "new" / "checkpoints").iterdir()).read_bytes() == trained


def test_a_newer_layout_is_refused_and_no_run_is_written_over(run, tmp_path):
    with pytest.raises(ArcadeMarkError, match="contains a run; name a new directory"):
        salvage(run, run)
    alter(run, "PRAGMA user_version = 99")
    assert "newer ArcadeMark" in check(run).problems[0]
    with pytest.raises(ArcadeMarkError, match="newer ArcadeMark"):
        salvage(run, tmp_path / "new")
