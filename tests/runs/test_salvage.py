"""Damaged runs: what is damaged is told, and every episode whose pages nobody touched is in the new run."""

from __future__ import annotations

import contextlib
import random
import shutil
import sqlite3
import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from arcademark.errors import ArcadeMarkError
from arcademark.runs.execution import execute
from arcademark.runs.salvage import check, salvage
from arcademark.runs.store import read_run
from arcademark.runs.verify import verify

FAKES = Path(__file__).parents[1] / "fakes"
PAGE = 4096
Key = tuple[str, str, int]


@pytest.fixture(scope="module")
def plan(toy_plan):
    return toy_plan("random", seeds=(0, 1), episodes=150)


@pytest.fixture(scope="module")
def whole(tmp_path_factory, plan) -> Path:
    """A run that no test may change; its episodes lie on some ten pages."""
    directory = tmp_path_factory.mktemp("whole") / "run"
    execute(plan, directory, workers=1)
    return directory


@pytest.fixture
def run(whole, tmp_path) -> Path:
    return shutil.copytree(whole, tmp_path / "run")


def keys(directory: Path) -> set[Key]:
    return {(row.trial_id, row.phase, row.episode) for row in read_run(directory).episodes}


def places(directory: Path) -> dict[Key, int]:
    """Find the page of each episode by the time that it took, which no other did."""
    content = (directory / "run.sqlite").read_bytes()
    found = {}
    for row in read_run(directory).episodes:
        seconds = struct.pack(">d", row.wall_seconds)
        assert content.count(seconds) == 1
        found[row.trial_id, row.phase, row.episode] = content.index(seconds) // PAGE
    return found


def overwrite(*pages: int) -> Callable[[bytes], bytes]:
    noise = random.Random(1).randbytes(PAGE)

    def change(content: bytes) -> bytes:
        for page in pages:
            content = content[: page * PAGE] + noise + content[(page + 1) * PAGE :]
        return content

    return change


def altered(directory: Path, *statements: str) -> None:
    with contextlib.closing(sqlite3.connect(directory / "run.sqlite", isolation_level=None)) as database:
        database.execute("PRAGMA ignore_check_constraints = ON")
        for statement in statements:
            database.execute(statement)


def test_a_sound_run_is_told_so(whole):
    assert check(whole) == ()


@pytest.mark.parametrize("damage", [*range(0, 18, 2), "end", "several"])
def test_each_episode_of_an_untouched_page_is_salvaged(damage, whole, run, tmp_path, plan, rows):
    where, content = places(whole), (run / "run.sqlite").read_bytes()
    pages = len(content) // PAGE
    touched = {*range(pages * 6 // 10, pages)} if damage == "end" else {5, 9, 10} if damage == "several" else {damage}
    changed = content[: min(touched) * PAGE] if damage == "end" else overwrite(*touched)(content)
    (run / "run.sqlite").write_bytes(changed)
    intact = {key for key, page in where.items() if page not in touched}
    assert f"{run}: {len(intact):,} episodes are intact" in check(run)
    salvaged = salvage(run, tmp_path / "new")
    assert keys(tmp_path / "new") == intact
    assert salvaged.episodes == len(intact)
    assert (run / "run.sqlite").read_bytes() == changed
    assert check(tmp_path / "new") == ()
    if damage in (0, "several"):
        assert execute(plan, tmp_path / "new", workers=1).complete
        assert rows(tmp_path / "new")["episode"] == rows(whole)["episode"]
        assert verify(tmp_path / "new", workers=1).ok


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("score = 'many'", "its score 'many' is not a number"),
        ("steps = steps + 1", "its actions are"),
        ("steps = -1", "its steps -1 is not a whole number"),
        ("frames = x'00'", "its frames b.* is not a whole number"),
        ("wall_seconds = -1", "its wall_seconds -1.0 is not a number of seconds"),
        ("end = 'whenever'", "its end is not terminated or truncated"),
        ("episode = 1000", "its episode 1000 is not a number from 0"),
        ("actions = zeroblob(9)", "its actions are damaged"),
        ("actions = substr(actions, 1, length(actions) - 1)", "its actions are damaged"),
    ],
)
def test_rows_that_hold_what_no_episode_does_are_left_out(change, told, whole, run, tmp_path):
    altered(run, f"UPDATE episode SET {change} WHERE episode = 7 AND trial LIKE '%-s1-%'")
    assert any(told in problem for problem in check(run))
    salvage(run, tmp_path / "new")
    assert keys(whole) - keys(tmp_path / "new") == {key for key in keys(whole) if key[2] == 7 and "-s1-" in key[0]}


def test_a_trial_is_known_by_its_name_where_its_row_is_lost(whole, run, tmp_path, plan, rows):
    altered(run, "DELETE FROM trial WHERE seed = 0")
    assert any("its name tells which it is" in problem for problem in check(run))
    salvage(run, tmp_path / "new")
    assert keys(tmp_path / "new") == keys(whole)
    assert execute(plan, tmp_path / "new", workers=1).complete
    assert rows(tmp_path / "new")["episode"] == rows(whole)["episode"]


def test_deleted_rows_do_not_come_back(whole, run, tmp_path):
    altered(run, "PRAGMA secure_delete = OFF", "DELETE FROM episode WHERE episode < 100")
    assert any("lost: 0-99" in problem for problem in check(run))
    salvage(run, tmp_path / "new")
    assert keys(tmp_path / "new") == {key for key in keys(whole) if key[2] >= 100}


def test_what_lies_in_the_journal_is_salvaged_while_it_is_there(whole, run, tmp_path):
    with contextlib.closing(sqlite3.connect(run / "run.sqlite", isolation_level=None)) as database:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA wal_autocheckpoint = 0")
        columns = "trial, phase, episode + 75, score, frames, steps, end, simulated_frames, wall_seconds, actions"
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
    assert any("75 more" in problem for problem in check(lost))


def test_without_a_manifest_nothing_is_salvaged_and_a_way_is_told(run, tmp_path):
    (run / "manifest.json").unlink()
    assert any("manifest.json is missing" in problem for problem in check(run))
    with pytest.raises(ArcadeMarkError, match=r"with another --out, stop it, and copy the manifest\.json"):
        salvage(run, tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_training_goes_on_only_where_all_of_it_is_intact(toy_plan, paced, tmp_path, rows):
    plan = toy_plan("random", paced("Learner"), frames=600, episodes=4)
    execute(plan, tmp_path / "run", workers=1)
    execute(plan, tmp_path / "other", workers=1)
    altered(tmp_path / "run", "DELETE FROM episode WHERE phase = 'training' AND episode = 1")
    altered(tmp_path / "other", "DELETE FROM episode WHERE phase = 'evaluation' AND episode = 1")
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
    execute(toy_plan(f"{FAKES / 'trainer.py'}:CountingTrainer", frames=600), tmp_path / "run", workers=1)
    assert check(tmp_path / "run") == ()
    (network,) = (tmp_path / "run" / "checkpoints").iterdir()
    network.write_bytes(b"another")
    assert "is not the network that the run holds" in check(tmp_path / "run")[0]


def test_a_newer_layout_is_refused_and_no_run_is_written_over(run, tmp_path):
    with pytest.raises(ArcadeMarkError, match="holds a run; name a new directory"):
        salvage(run, run)
    altered(run, "PRAGMA user_version = 99")
    for use in (check, lambda path: salvage(path, tmp_path / "new")):
        with pytest.raises(ArcadeMarkError, match="newer ArcadeMark"):
            use(run)
