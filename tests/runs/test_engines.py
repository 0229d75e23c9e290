"""What an engine is given: episodes, however many."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arcademark.errors import ArcadeMarkError
from arcademark.runs.engines.base import Episodes
from arcademark.runs.execution import execute
from arcademark.runs.playing.events import EpisodeDone
from arcademark.runs.store import provenance
from arcademark.runs.store.reading import read_run

NUMBERS = st.sets(st.integers(0, 30)).map(sorted)


@given(NUMBERS, st.integers(0, 31), st.lists(st.integers(0, 31), max_size=8))
def test_episodes_are_what_a_list_would_be(there, wanted, steps):
    """A list is the reference implementation: shares are taken, some of them played, the others put back."""
    there = [number for number in there if number < wanted]
    left = Episodes.missing(wanted, there)
    listed = [number for number in range(wanted) if number not in there]
    for step in steps:
        assert (list(left), len(left), bool(left)) == (listed, len(listed), bool(listed))
        assert [number in left for number in range(32)] == [number in listed for number in range(32)]
        share, taken = left.take(step), listed[:step]
        assert list(pickle.loads(pickle.dumps(share))) == taken
        del listed[:step]
        for number in range(step % 3, 32, 3):
            share.discard(number)
        kept = [number for number in taken if number % 3 != step % 3]
        assert list(share) == kept
        left.put_back(share)
        listed = kept + listed


def test_more_episodes_than_can_be_listed():
    left = Episodes.missing(2**62, [5])
    assert len(left) == 2**62 - 1
    assert len(left.take(2**61)) == 2**61
    left.discard(2**61 + 10)
    assert len(left) == 2**61 - 2
    assert next(iter(left)) == 2**61 + 1


def test_a_trial_of_a_million_episodes_begins_and_goes_on(tmp_path, toy_plan):
    plan = toy_plan("random", episodes=10**6, seeds=range(50))

    class EnoughError(Exception):
        pass

    def listen(event):
        if isinstance(event, EpisodeDone):
            raise EnoughError

    for expected in (1, 2):
        with pytest.raises(EnoughError):
            execute(plan, tmp_path / "run", workers=1, on_event=listen)
        assert len(read_run(tmp_path / "run").episodes) >= expected


def test_a_worker_of_other_versions_ends_the_run(tmp_path, toy_plan, monkeypatch):
    now = provenance.versions()
    monkeypatch.setattr(provenance, "versions", lambda: now | {"numpy": "0.1"})
    with pytest.raises(ArcadeMarkError, match=rf"other versions .*\(numpy 0\.1 here, {now['numpy']} there\)"):
        execute(toy_plan(), tmp_path / "run", workers=1)
    assert len(read_run(tmp_path / "run").episodes) == 0
    monkeypatch.undo()
    assert execute(toy_plan(), tmp_path / "run", workers=1).complete
