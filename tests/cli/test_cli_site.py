"""What ``arcademark site`` refuses, and what it says of scores that are not real. Its pages: tests/report/site."""

import shutil
from collections import Counter
from pathlib import Path

import pytest

from arcademark.reports.tables import loading
from arcademark.runs.store import manifest
from command_line import change


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
    change(played, "UPDATE episode SET score = score + 1 WHERE episode = 1")
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
