"""Unfinished episodes in a run directory of somebody else's: they are gone on with by who kept them alone."""

import pickle
from dataclasses import replace
from pathlib import Path

import pytest

from arcademark.agents.loading import agent_specs
from arcademark.runs.execution import execute
from arcademark.runs.plan import make_plan
from arcademark.runs.playing import planning
from arcademark.runs.store import seal
from arcademark.runs.store.reading import Unfinished
from arcademark.runs.store.recording import Recorder

pytestmark = pytest.mark.usefixtures("in_this_process")


@pytest.fixture
def planned(tmp_path, monkeypatch):
    """A planner's run with an unfinished episode, its plan, and what it is when it was never disturbed."""
    monkeypatch.setattr(planning, "MOST_OF_THE_TIME", float("inf"))
    return make_plan(agent_specs("best-path", {"frames_per_decision": "40"}), ["toy"], episodes=2)


class Bomb:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


def unfinished(plan, directory):
    """Keep an episode of a plan in a run that is not played."""
    from arcademark.runs.playing.trial import Player

    (trial,) = plan.trials
    player = Player(trial)
    player.agent.checkpoint_seconds = 1e-9
    kept = next(item for item in player.play([0]) if isinstance(item, Unfinished) and item.frames > 20)
    execute(plan, directory, workers=1)
    with Recorder(directory) as recorder, recorder.transaction():
        recorder.database.execute("DELETE FROM episode WHERE episode = 0")
        recorder.keep_episode(trial.id, kept)
    return kept


def test_only_what_this_user_kept_is_gone_on_with(tmp_path, planned, rows, monkeypatch):
    kept = unfinished(planned, tmp_path / "run")
    (trial,) = planned.trials
    before = rows(tmp_path / "run")["unfinished"]
    with Recorder(tmp_path / "run") as recorder:
        assert recorder.unfinished(trial.id, [0]) == (kept,)
    monkeypatch.setenv("ARCADEMARK_CACHE", str(tmp_path / "somebody else"))
    with Recorder(tmp_path / "run") as recorder:
        assert recorder.unfinished(trial.id, [0]) == ()
    assert rows(tmp_path / "run")["unfinished"] == before
    events = []
    assert execute(planned, tmp_path / "run", workers=1, on_event=events.append).complete
    assert events[0].episodes_begun == 0
    assert execute(planned, tmp_path / "undisturbed", workers=1).complete
    assert rows(tmp_path / "run") == rows(tmp_path / "undisturbed")


def test_a_seal_is_of_all_that_is_kept():
    kept = Unfinished(0, 4, 8, 0.5, "{}", b"actions", b"kept")
    stored = seal.sealed("trial", "console 1", kept)
    assert seal.unsealed("trial", "console 1", stored) == kept
    assert seal.unsealed("another", "console 1", stored) is None
    assert seal.unsealed("trial", "console 2", stored) is None
    for other in ({"episode": 1}, {"frames": 5}, {"generator": "{} "}, {"actions": b"actions\0"}):
        assert seal.unsealed("trial", "console 1", replace(stored, **other)) is None
    for place in range(len(stored.checkpoint)):
        changed = bytearray(stored.checkpoint)
        changed[place] ^= 1
        assert seal.unsealed("trial", "console 1", replace(stored, checkpoint=bytes(changed))) is None


def test_a_pickle_in_a_store_is_never_opened(tmp_path, planned, rows):
    unfinished(planned, tmp_path / "run")
    for bomb in (pickle.dumps(Bomb(tmp_path / "ran")), bytes(32) + pickle.dumps(Bomb(tmp_path / "ran"))):
        with Recorder(tmp_path / "run") as recorder, recorder.transaction():
            recorder.database.execute("UPDATE unfinished SET checkpoint = ?", (bomb,))
    assert execute(planned, tmp_path / "run", workers=1).complete
    assert not (tmp_path / "ran").exists()
    assert execute(planned, tmp_path / "undisturbed", workers=1).complete
    assert rows(tmp_path / "run") == rows(tmp_path / "undisturbed")


def test_the_key_is_the_users_alone(tmp_path, monkeypatch):
    monkeypatch.setenv("ARCADEMARK_CACHE", str(tmp_path / "cache"))
    kept = Unfinished(0, 4, 4, 0.5, "{}", b"", b"x")
    stored = seal.sealed("a", "", kept)
    (key,) = (tmp_path / "cache").iterdir()
    assert (len(key.read_bytes()), key.stat().st_mode & 0o777) == (32, 0o600)
    seal._key.cache_clear()
    assert seal.unsealed("a", "", stored) == kept
    key.write_bytes(b"")
    seal._key.cache_clear()
    assert seal.unsealed("a", "", stored) is None
    assert len(key.read_bytes()) == 32
    (tmp_path / "file").touch()
    monkeypatch.setenv("ARCADEMARK_CACHE", str(tmp_path / "file"))
    assert seal.unsealed("a", "", seal.sealed("a", "", kept)) == kept
