"""What ``arcademark site`` refuses, and what it says of scores that are not real. Its pages: tests/report/site."""

import contextlib
import shutil
import sqlite3
from collections import Counter
from pathlib import Path

import pytest

from arcademark.reports.tables import loading
from arcademark.runs.store import manifest


def test_a_folder_with_other_files_is_left_alone(invoke):
    Path("site").mkdir()
    Path("site/thesis.txt").write_text("mine")
    refused = invoke("site")
    assert refused.code == 2
    assert "--out site: the folder holds other files" in refused.err
    Path("site/index.html").write_text("<!doctype html>\n<title>Mine</title>")
    refused = invoke("site")
    assert refused.code == 2
    assert "was not written by ArcadeMark" in refused.err
    assert {path.name for path in Path("site").iterdir()} == {"thesis.txt", "index.html"}
    Path("file").write_text("mine")
    assert "is no folder" in invoke("site", "--out", "file").err


def test_a_folder_of_runs_and_tables_is_refused(invoke, played):
    """Its runs would be shown without a replay."""
    Path("mixed").mkdir()
    shutil.copytree(played, "mixed/run")
    Path("mixed/scores.csv").write_text("algorithm,game,score\nmine,pong,3\n")
    refused = invoke("site", "mixed")
    assert refused.code == 2
    assert "mixed: holds runs and other tables; name each" in refused.err
    assert not Path("site").exists()


@pytest.fixture
def manifests_read(monkeypatch):
    """How often each run's manifest is read, by directory."""
    read, times = manifest.read, Counter()

    def counted(directory):
        times[str(directory)] += 1
        return read(directory)

    monkeypatch.setattr(manifest, "read", counted)
    return times


@pytest.mark.slow
def test_each_run_and_the_catalogue_are_read_once(invoke, played, manifests_read, monkeypatch):
    """For replays, films and every view."""
    shutil.copytree(played, "other")
    collections = []
    table = loading.collections.table
    monkeypatch.setattr(loading.collections, "table", lambda *entries, **how: collections.append(1) or table(*entries))
    assert invoke("site", played, "other", "--collection", "iris-2023", "--workers", "1").code == 0
    assert manifests_read == {str(played): 1, "other": 1}
    assert len(collections) == 1


def test_a_submitted_run_is_read_once(invoke, played, manifests_read):
    assert invoke("catalogue", "submit", played, "--workers", "1").code == 0
    assert manifests_read == {str(played): 1}


@pytest.mark.slow
def test_scores_that_are_not_real_are_told(invoke, played):
    with contextlib.closing(sqlite3.connect(played / "run.sqlite")) as database, database:
        database.execute("UPDATE episode SET score = score + 1 WHERE episode = 1")
    for _ in range(2):  # the second time over the first
        found = invoke("site", played, "--collection", "iris-2023", "--no-films", "--workers", "1")
        assert found.code == 1
        assert "run: 2 of 4 episodes are not confirmed" in found.err
        assert "2 algorithms, 0 films" in found.out
        assert not list(Path("site").glob("films/*"))
        Path("site/films").mkdir(exist_ok=True)
        Path("site/films/7.gif").write_bytes(b"of before")
    assert '"badges":["differs"]' in Path("site/data.js").read_text()
    assert invoke("site", "--collection", "nobody-1999").code == 2
