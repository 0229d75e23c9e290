"""What an engine is given: episodes, however many."""

from itertools import islice

import pytest

from arcademark.errors import ArcadeMarkError
from arcademark.runs.engines.base import Episodes
from arcademark.runs.engines.pool import LocalEngine
from arcademark.runs.execution import execute
from arcademark.runs.playing.events import EpisodeDone
from arcademark.runs.store import provenance
from arcademark.runs.store.reading import read_run


def test_episodes_are_taken_in_order_and_put_back_first():
    left = Episodes(2**62, [1, 3])
    assert list(islice(left, 4)) == [0, 2, 4, 5]
    left.put_back({5, 2})
    left.put_back([])
    assert list(islice(left, 3)) == [2, 5, 6]
    assert len(left) == 2**62 - 7


def test_a_trial_of_a_million_episodes_begins_ends_with_who_listens_and_goes_on(tmp_path, toy_plan, monkeypatch):
    started = []
    start = LocalEngine.start
    monkeypatch.setattr(LocalEngine, "start", lambda engine: started.append(start(engine)) or started[-1])
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
        assert all(member.process.returncode is not None for member in started)


def test_a_worker_of_other_versions_ends_the_run(tmp_path, toy_plan, monkeypatch):
    now = provenance.versions()
    monkeypatch.setattr(provenance, "versions", lambda: now | {"numpy": "0.1"})
    with pytest.raises(ArcadeMarkError, match=rf"other versions .*\(numpy 0\.1 here, {now['numpy']} there\)"):
        execute(toy_plan(), tmp_path / "run", workers=1)
    assert len(read_run(tmp_path / "run").episodes) == 0
    monkeypatch.undo()
    assert execute(toy_plan(), tmp_path / "run", workers=1).complete
