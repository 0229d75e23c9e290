"""Damaged runs: what is damaged is told, and every episode whose pages nobody touched is in the new run."""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import sqlite3
import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from arcademark.errors import ArcadeMarkError
from arcademark.runs import networks
from arcademark.runs import salvage as salvaging
from arcademark.runs.execution import execute
from arcademark.runs.salvage import check, salvage
from arcademark.runs.store import read_run
from arcademark.runs.verify import verify

pytestmark = pytest.mark.usefixtures("in_this_process")

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
    altered(directory, "UPDATE episode SET wall_seconds = 1 + rowid / 1024.0", "VACUUM")
    return directory


@pytest.fixture
def run(whole, tmp_path) -> Path:
    return shutil.copytree(whole, tmp_path / "run")


def keys(directory: Path) -> set[Key]:
    return {(row.trial_id, row.phase, row.episode) for row in read_run(directory).episodes}


def places(directory: Path) -> dict[Key, int]:
    """Find the page of each episode by the time that it took, which is no other's."""
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
        ("frames = x'00'", "its frames a blob is not a whole number"),
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


@pytest.mark.parametrize("change", ["DELETE FROM trial WHERE seed = 0", "UPDATE trial SET seed = 5 WHERE seed = 0"])
def test_a_trial_is_known_by_its_name_where_its_row_is_lost(change, whole, run, tmp_path, plan, rows):
    altered(run, change)
    assert any("its name tells which it is" in problem for problem in check(run))
    salvage(run, tmp_path / "new")
    assert keys(tmp_path / "new") == keys(whole)
    assert execute(plan, tmp_path / "new", workers=1).complete
    assert rows(tmp_path / "new")["episode"] == rows(whole)["episode"]


LATER = ("training_episodes INTEGER", "plans INTEGER")


@pytest.mark.parametrize("begun", [1, 2])
def test_without_a_first_page_columns_are_found_where_older_layouts_have_them(begun, whole, run, tmp_path, rows):
    later = [*LATER[: 3 - begun][::-1]]
    altered(run, *(f"ALTER TABLE trial DROP COLUMN {column.split()[0]}" for column in later))
    altered(run, *(f"ALTER TABLE trial ADD COLUMN {column}" for column in later))
    if begun == 1:
        altered(run, "ALTER TABLE episode DROP COLUMN simulated_frames")
        altered(run, "ALTER TABLE episode ADD COLUMN simulated_frames INTEGER NOT NULL DEFAULT 0")
    altered(run, "UPDATE trial SET error = NULL", "UPDATE episode SET score = score WHERE episode < 9")  # rewritten
    (run / "run.sqlite").write_bytes(overwrite(0)((run / "run.sqlite").read_bytes()))
    assert salvage(run, tmp_path / "new").problems == ("run.sqlite: its first page is damaged",)
    assert rows(tmp_path / "new")["episode"] == rows(whole)["episode"]
    trial = "SELECT learns, training_episodes, training_frames, frames_per_action, error, episodes FROM trial"
    with contextlib.closing(sqlite3.connect(tmp_path / "new" / "run.sqlite")) as database:
        assert database.execute(trial).fetchall() == [(0, None, None, None, None, 150)] * 2


def leaf(cells: int, length: int, overflow: int) -> bytes:
    """A page of rows that all are the same bytes, and go on in the same page."""
    tail = bytes([0x80 | length >> 14, 0x80 | length >> 7 & 127, length & 127, 1]) + bytes(PAGE)
    local = (PAGE - 12) * 32 // 255 - 23
    local = min(local + (length - local) % (PAGE - 4), PAGE - 35)
    at = PAGE - 4 - local - 4
    assert at > 8 + 2 * cells
    page = b"\x0d\0\0" + cells.to_bytes(2, "big") + bytes(3) + at.to_bytes(2, "big") * cells
    return page.ljust(at, b"\0") + tail[: 4 + local] + overflow.to_bytes(4, "big")


@pytest.mark.parametrize("circle", [False, True])
def test_what_many_rows_share_is_read_few_times(circle, whole, run, tmp_path, monkeypatch):
    content = (run / "run.sqlite").read_bytes()
    pages, last = len(content) // PAGE, 4 + 200 * (PAGE - 4)
    chain = [
        ((pages + 2 if circle else pages + 3 + number) * (number < 199)).to_bytes(4, "big") for number in range(200)
    ]
    shared = leaf(1500, 600 + last, pages + 2) + b"".join(number.ljust(PAGE, b"\0") for number in chain)
    content = content[:28] + (pages + 201).to_bytes(4, "big") + content[32:]
    (run / "run.sqlite").write_bytes(content + shared)
    read, pread = [], os.pread
    monkeypatch.setattr(os, "pread", lambda *given: read.append(1) or pread(*given))
    salvage(run, tmp_path / "new")
    assert keys(tmp_path / "new") == keys(whole)
    assert len(read) < 50 * (pages + 201)


def test_the_list_of_free_pages_may_claim_any_number(whole, run, tmp_path):
    content = bytearray((run / "run.sqlite").read_bytes())
    content[32:36] = (page := places(whole).popitem()[1] + 1).to_bytes(4, "big")
    content[(page - 1) * PAGE + 4 : (page - 1) * PAGE + 8] = b"\xff" * 4
    (run / "run.sqlite").write_bytes(content)
    salvage(run, tmp_path / "new")
    assert {key for key, at in places(whole).items() if at + 1 != page} <= keys(tmp_path / "new")


def test_episodes_far_beyond_the_others_are_told_at_once(whole, run, tmp_path):
    altered(
        run,
        "INSERT INTO episode SELECT trial, 'training', 1099511627775, score, frames, steps, end, simulated_frames,"
        " wall_seconds, actions FROM episode WHERE episode = 3",
    )
    salvaged = salvage(run, tmp_path / "new")
    assert any("training episodes lost: 0-1,099,511,627,774" in problem for problem in salvaged.problems)
    assert keys(tmp_path / "new") == keys(whole)


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
    assert any("lost: 75-149" in problem for problem in check(lost))


def test_without_a_manifest_nothing_is_salvaged_and_a_way_is_told(run, tmp_path):
    (run / "manifest.json").unlink()
    assert any("manifest.json is missing" in problem for problem in check(run))
    with pytest.raises(ArcadeMarkError, match=r"with another --out, stop it, and copy the manifest\.json"):
        salvage(run, tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_a_protocol_that_cannot_be_read_is_told_beside_the_rest(run):
    document = json.loads((run / "manifest.json").read_text())
    document["protocol"]["settings"]["frame_skip"] = "often"
    (run / "manifest.json").write_text(json.dumps(document))
    (problem,) = check(run)
    assert "manifest.json: damaged" in problem


def test_what_fails_leaves_nothing_that_the_next_try_meets(whole, run, tmp_path, monkeypatch):
    (run / "run.sqlite").write_bytes(random.Random(1).randbytes(4 * PAGE))
    for _ in range(2):
        with pytest.raises(ArcadeMarkError, match="nothing in it is intact"):
            salvage(run, tmp_path / "new")
        assert not (tmp_path / "new").exists()
    with monkeypatch.context() as patch:
        patch.setattr(salvaging.manifest, "write", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            salvage(whole, tmp_path / "new")
    assert salvage(whole, tmp_path / "new").problems == ()
    assert check(tmp_path / "new") == ()
    (tmp_path / "new" / "manifest.json").unlink()
    with pytest.raises(ArcadeMarkError, match=r"manifest\.json is missing"):
        salvage(whole, tmp_path / "new")


@pytest.mark.parametrize("kind", ["link", "pipe", "unreadable"])
def test_a_lock_that_cannot_be_held_is_none(kind, whole, run, tmp_path, monkeypatch):
    (lock := run / "run.lock").unlink()
    if kind == "link":
        lock.symlink_to(run / "manifest.json")
    elif kind == "pipe":
        os.mkfifo(lock)
    else:
        lock.write_bytes(b"1")

        def refuse(path: Path, *given: int) -> int:
            if path == lock:
                raise PermissionError(13, "Permission denied")
            return opened(path, *given)

        opened = os.open
        monkeypatch.setattr(os, "open", refuse)
    assert salvage(run, tmp_path / "new").problems == ()
    assert keys(tmp_path / "new") == keys(whole)


@pytest.mark.parametrize("trial", [True, False])
def test_notes_of_a_learner_that_is_scored_in_training_stay(trial, toy_plan, paced, tmp_path):
    plan = toy_plan(paced("Learner"), frames=300, override={"reported_episodes": "training_last_k"})
    execute(plan, tmp_path / "run", workers=1)
    notes = read_run(tmp_path / "run").evaluations
    if trial:
        assert salvage(tmp_path / "run", tmp_path / "new").problems == ()
        assert read_run(tmp_path / "new").evaluations == notes != ()
        altered(tmp_path / "run", "DELETE FROM checkpoint")
        salvage(tmp_path / "run", tmp_path / "again")
        assert read_run(tmp_path / "again").evaluations == ()
        assert execute(plan, tmp_path / "again", workers=1).complete
    else:
        altered(tmp_path / "run", "DELETE FROM trial")
        (problem,) = salvage(tmp_path / "run", tmp_path / "new").problems
        assert "its name tells which it is" in problem


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


def test_a_network_that_is_not_the_runs(tmp_path, toy_plan, monkeypatch):
    execute(toy_plan(f"{FAKES / 'trainer.py'}:CountingTrainer", frames=600), tmp_path / "run", workers=1)
    assert check(tmp_path / "run") == ()
    (network,) = (tmp_path / "run" / "checkpoints").iterdir()
    network.write_bytes(b"another")
    assert "is not the network that the run holds" in check(tmp_path / "run")[0]
    monkeypatch.setattr(networks, "write_whole", lambda *_: (_ for _ in ()).throw(OSError(5, "it is broken")))
    (problem,) = salvage(tmp_path / "run", tmp_path / "new").problems
    assert "it is broken" in problem
    assert check(tmp_path / "new") == ()


def test_a_newer_layout_is_refused_and_no_run_is_written_over(run, tmp_path):
    with pytest.raises(ArcadeMarkError, match="holds a run; name a new directory"):
        salvage(run, run)
    altered(run, "PRAGMA user_version = 99")
    for use in (check, lambda path: salvage(path, tmp_path / "new")):
        with pytest.raises(ArcadeMarkError, match="newer ArcadeMark"):
            use(run)
