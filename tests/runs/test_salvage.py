"""Damaged runs: what is damaged is told, and episodes that can be read are in the new run."""

import random
import shutil
import struct
from pathlib import Path

import pytest

import altering
from altering import alter
from arcademark.errors import ArcadeMarkError
from arcademark.runs.execution import execute
from arcademark.runs.store import salvage as salvaging
from arcademark.runs.store.database import TABLES
from arcademark.runs.store.reading import read_run
from arcademark.runs.store.salvage import check, salvage

pytestmark = pytest.mark.usefixtures("in_this_process")

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
    assert any("is damaged" in problem for problem in check(run))
    salvaged = salvage(run, tmp_path / "new")
    intact = {key for key, page in where.items() if page not in touched}
    assert keys(tmp_path / "new") <= intact
    assert salvaged.episodes == len(keys(tmp_path / "new")) > 0.7 * len(intact)
    assert (run / "run.sqlite").read_bytes() == changed
    assert check(tmp_path / "new") == ()
    assert execute(plan, tmp_path / "new", workers=1).complete
    assert rows(tmp_path / "new")["episode"] == rows(finished)["episode"]


ANYTHING = ", ".join(TABLES["episode"])
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
        ((), "steps = steps + 1", "its actions are"),
        ((), "end = 'whenever'", "has a end of the wrong type or range"),
        ((), "actions = substr(actions, 1, length(actions) - 1)", "its actions are damaged"),
        (NO_TYPES, "score = CAST(score AS TEXT)", "has a score of the wrong type or range"),
        (NO_TYPES, "end = upper(end)", "has a end of the wrong type or range"),
    ],
)
def test_rows_that_hold_what_no_episode_does_are_named_and_left_out(before, change, told, finished, run, tmp_path):
    """Whatever types the table has: nothing is converted."""
    alter(run, *before, f"UPDATE episode SET {change} WHERE episode = 7 AND trial LIKE '%-s1-%'")
    assert any(told in problem for problem in check(run))
    assert any(told in problem for problem in salvage(run, tmp_path / "new").problems)
    assert keys(finished) - keys(tmp_path / "new") == {
        key for key in keys(finished) if key[2] == 7 and "-s1-" in key[0]
    }


@pytest.mark.parametrize("change", ["DELETE FROM trial WHERE seed = 0", "UPDATE trial SET seed = 5 WHERE seed = 0"])
def test_a_trial_is_known_by_its_name_where_its_row_is_lost(change, finished, run, tmp_path, plan, rows):
    alter(run, change)
    assert check(run) != ()
    salvage(run, tmp_path / "new")
    assert keys(tmp_path / "new") == keys(finished)
    assert execute(plan, tmp_path / "new", workers=1).complete
    assert rows(tmp_path / "new")["episode"] == rows(finished)["episode"]


def test_what_lies_in_the_journal_is_salvaged_while_it_is_there(finished, run, tmp_path):
    with altering.database(run) as database:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA wal_autocheckpoint = 0")
        columns = "trial, phase, episode + 75, score, frames, steps, end, wall_seconds, simulated_frames, actions"
        database.execute("DELETE FROM episode WHERE episode >= 75")
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        database.execute(f"INSERT INTO episode SELECT {columns} FROM episode")
        shutil.copytree(run, stopped := tmp_path / "stopped")
        shutil.copytree(run, lost := tmp_path / "lost")
    (lost / "run.sqlite-wal").unlink()
    for directory, expected in ((stopped, 300), (lost, 150)):
        (directory / "run.sqlite-shm").unlink()
        assert salvage(directory, tmp_path / f"{directory.name} new").episodes == expected
    assert (stopped / "run.sqlite-wal").stat().st_size
    assert any("commands noted" in problem for problem in check(lost))


def test_without_a_manifest_nothing_is_salvaged_and_a_way_is_told(run, tmp_path):
    (run / "manifest.json").unlink()
    assert any("manifest.json is missing" in problem for problem in check(run))
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
    assert check(tmp_path / "new") == ()
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
    assert check(tmp_path / "run") == ()
    (network,) = (tmp_path / "run" / "checkpoints").iterdir()
    trained = network.read_bytes()
    network.write_bytes(b"another")
    assert "is not the network that the run holds" in check(tmp_path / "run")[0]
    salvage(tmp_path / "run", tmp_path / "new")
    assert execute(plan, tmp_path / "new", workers=1).complete
    assert next((tmp_path / "new" / "checkpoints").iterdir()).read_bytes() == trained


def test_a_newer_layout_is_refused_and_no_run_is_written_over(run, tmp_path):
    with pytest.raises(ArcadeMarkError, match="holds a run; name a new directory"):
        salvage(run, run)
    alter(run, "PRAGMA user_version = 99")
    assert "newer ArcadeMark" in check(run)[0]
    with pytest.raises(ArcadeMarkError, match="newer ArcadeMark"):
        salvage(run, tmp_path / "new")
