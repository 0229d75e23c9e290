"""Whole runs: the same rows however they were played, and trials that fail beside trials that go on."""

import re
import subprocess
import sys
import threading
import time
from itertools import islice

import pytest

import altering
from arcademark.agents.loading import agent_specs
from arcademark.errors import ArcadeMarkError, UnknownNameError
from arcademark.records import manifest
from arcademark.records.model import EpisodeRecord, TrialRecord
from arcademark.records.reading import read_run
from arcademark.runs.engines import ray_engine
from arcademark.runs.engines.base import MissingEpisodes
from arcademark.runs.engines.pool import LocalEngine
from arcademark.runs.execution import execute, placed
from arcademark.runs.plan import make_plan
from arcademark.runs.playing.events import Lost, OfTrial
from arcademark.runs.store import provenance
from arcademark.suite.protocols import protocol


@pytest.mark.slow
def test_the_same_rows_with_any_number_of_workers(tmp_path, toy_plan, paced, rows):
    plan = toy_plan("random", paced("Remembering"), paced("Learner"), seeds=(0, 1), episodes=5, frames=500)
    for workers in (1, 2, 3):
        assert execute(plan, tmp_path / str(workers), workers=workers).complete
    assert len(rows(tmp_path / "1")["episode"]) > 2 * 3 * 5
    assert rows(tmp_path / "1") == rows(tmp_path / "2") == rows(tmp_path / "3")


def test_a_trial_that_no_worker_can_be_told_of_fails_alone(tmp_path, toy_plan, monkeypatch):
    opening = LocalEngine.opening

    def told(engine, job):
        if job.trial.seed == 1:
            raise ArcadeMarkError("weights.zip: no such file")
        return opening(engine, job)

    monkeypatch.setattr(LocalEngine, "opening", told)
    summary = execute(toy_plan("random", seeds=(0, 1, 2)), tmp_path / "run", workers=1)
    assert [(failed.seed, failed.error) for failed in summary.failed] == [(1, "weights.zip: no such file")]
    assert [trial.status for trial in read_run(tmp_path / "run").trials] == ["done", "failed", "done"]


def test_one_trial_occupies_all_workers(tmp_path, toy_plan, paced, monkeypatch):
    monkeypatch.setenv("PACE", "0.002")
    started = []
    start = LocalEngine.start
    monkeypatch.setattr(LocalEngine, "start", lambda engine: started.append(start(engine)) or started[-1])
    assert execute(toy_plan(paced("Paced"), episodes=12), tmp_path / "run", workers=3).complete
    assert len(started) == 3


def test_events_tell_all(tmp_path, toy_plan):
    events = []
    summary = execute(toy_plan("random", "const", episodes=2), tmp_path / "run", on_event=events.append)
    run = read_run(tmp_path / "run")
    assert (events[0].progress.episodes_done, events[0].progress.episodes, events[0].left_out) == (0, 38, ())
    told = {event for event in events if isinstance(event, EpisodeRecord)}
    assert told == set(run.episodes)
    last = events[-1]
    assert (last.episodes_done, last.trials_done, last.fraction, last.seconds_left) == (38, 19, 1.0, 0.0)
    assert last.frames == summary.frames == sum(episode.frames for episode in run.episodes)
    assert (summary.done, summary.episodes, summary.failed, summary.interrupted) == (19, 38, (), False)


def own_agent(directory, body):
    (directory / "own.py").write_text(f"import numpy as np\ndef make():\n    return lambda observation: {body}\n")
    return f"{directory / 'own.py'}:make"


GREEDY = """
import numpy as np

def make(env):
    held = np.ones(1 if env.seed else 2**24)  # 128 MB with seed 0, which is played first
    return lambda observation: int(held[0]) - 1
"""


def test_how_much_memory_each_trial_took_is_in_the_manifest(tmp_path):
    (tmp_path / "greedy.py").write_text(GREEDY)
    rules = protocol("world-records").override({"max_frames_per_episode": 120})
    plan = make_plan(agent_specs(f"{tmp_path}/greedy.py:make"), ["toy"], rules, 2, 1)
    execute(plan, tmp_path / "run", workers=1)
    (agent,) = manifest.read(tmp_path / "run")["agents"]
    large, small = agent["peak_bytes"]["toy 0"], agent["peak_bytes"]["toy 1"]
    assert 10e6 < small < large - 100e6
    other = {**manifest.read(tmp_path / "run"), "agents": [{**agent, "peak_bytes": {"toy 1": 1, "toy 2": 5}}]}
    joined = manifest.joined(manifest.read(tmp_path / "run"), other)
    assert joined["agents"][0]["peak_bytes"] == {"toy 0": large, "toy 1": small, "toy 2": 5}


def test_what_changes_a_score_may_not_change(tmp_path, toy_plan, rows):
    plan, run = toy_plan(own_agent(tmp_path, "3")), tmp_path / "run"
    execute(plan, run)
    before = rows(run), (run / "manifest.json").read_text()
    source = read_run(run).manifest["agents"][0]["source"]
    assert len(source["sha256"]) == 64
    agent = plan.agents[0].ref
    for other, message in (
        (toy_plan(agent, override={"frame_skip": 5}), "protocol frame_skip: 4 there, 5 now"),
        (toy_plan(agent, override={"max_frames_per_episode": "none"}), "max_frames_per_episode: 120 there, none now"),
        (toy_plan(agent, frames=10), r"training frames \(they cannot be changed\): the protocol's there, 10 now"),
        (toy_plan(agent, episodes=2), "episodes .*: 3 there, 2 now"),
        (make_plan(agent, ["toy"], "saber", episodes=3), "protocol: world-records there, saber now"),
        (toy_plan("const"), r"agents: own.py:make there, const\(action=\w+\), .*, … now"),
        (toy_plan(own_agent(tmp_path, "4")), r"code of own\.py:make \(sha256 of .*\): \w{12} there, \w{12} now"),
    ):
        with pytest.raises(ArcadeMarkError, match=message):
            execute(other, run)
    own_agent(tmp_path, "3")
    assert (rows(run), (run / "manifest.json").read_text()) == before
    for part, name in (("versions", "ale-py"), ("games", "toy")):
        with altering.manifest(run) as document:
            document[part][name] = "0.1"
        with pytest.raises(ArcadeMarkError, match=f"{name}: 0.1 there, .* now"):
            execute(plan, run)


@pytest.mark.parametrize("asked", ["weights=w.npz", "weights=w.npz,", "net=kept", ""])
def test_the_files_that_parameters_name_may_not_change_once_they_were_played(tmp_path, monkeypatch, toy_plan, asked):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.py").write_text(
        "from pathlib import Path\n"
        "def make(*, weights: list[str] = (), net: Path = Path('kept'), logs: str = 'logs', note: str = 'no such file'"
        "):\n"
        "    return lambda observation: 3\n"
    )
    (tmp_path / "logs").mkdir()
    files = [tmp_path / "w.npz", tmp_path / "kept"]
    for file in (*files, tmp_path / "logs" / "first"):
        file.write_bytes(b"1" * 100_000)
    name, _, value = asked.partition("=")
    changing, place = (files[0], r"weights\[0\]") if "w.npz" in asked else (files[1], "net")
    (spec,) = agent_specs(f"{tmp_path / 'own.py'}:make", {name: value} if name else {})
    plan = make_plan([spec], ["toy"], toy_plan().protocol, episodes=1)
    execute(plan, "run", workers=1)
    for written in ("no such file", "logs/first", "logs/second"):
        (tmp_path / written).write_text("written meanwhile")
    assert execute(plan, "run", workers=1).complete
    changing.write_bytes(b"2" * 100_000)
    with pytest.raises(
        ArcadeMarkError, match=rf"file of own.* its parameter '{place}'\): \w{{12}} there, \w{{12}} now"
    ):
        execute(plan, "run", workers=1)
    changing.unlink()
    with pytest.raises(ArcadeMarkError, match=rf"file of own.* its parameter '{place}'\): \w{{12}} there, none now"):
        execute(plan, "run", workers=1)


@pytest.mark.slow
def test_a_mended_agent_may_begin_where_nothing_was_played(tmp_path, toy_plan):
    failed = execute(toy_plan(own_agent(tmp_path, "1 / 0")), tmp_path / "run")
    assert [item.error.partition(": ")[2] for item in failed.failed] == [
        "its function raised ZeroDivisionError: division by zero (own.py, line 3)"
    ]
    plan = toy_plan(own_agent(tmp_path, "3"), override={"frame_skip": 5})
    assert execute(plan, tmp_path / "run").complete
    assert [trial.status for trial in read_run(tmp_path / "run").trials] == ["done"]


FAILING = {
    "raising": r"on toy: act raised ZeroDivisionError: the agent divided by zero \(raising\.py, line",
    "wrong_action": "act chose action 18; expected 0 to 17",
    "crashing": r"died 3 times in a row \(SIGKILL\)",
    "raise ValueError('x' * 200_000)": r"x{150}… \(776 characters more\) …x{74}… \(199,000 characters more\) \(own",
    "raise ValueError('\\ud800 \\x1b[31m\\u202e\\n\\nred')": r"ValueError: \\ud800 \\x1b\[31m\\u202e red \(own",
    "raise type('Mute', (Exception,), {'__str__': None})": r"Mute: Mute whose str\(\) raises TypeError \(own",
    "__import__('os')._exit(3)": r"died 3 times in a row \(exit code 3\)",
    "exit('enough')": "SystemExit: enough",
}


@pytest.mark.slow
def test_a_trial_that_fails_leaves_the_others_alone_and_says_why_in_one_line(tmp_path, toy_plan, fake):
    references = []
    for number, what in enumerate(FAILING):
        (tmp_path / f"own{number}.py").write_text(f"def make():\n def act(_):\n  {what}\n return act\n")
        references.append(fake(what) if what.isidentifier() else f"{tmp_path}/own{number}.py:make")
    events = []
    summary = execute(toy_plan("random", *references, episodes=1), tmp_path / "run", workers=2, on_event=events.append)
    good, *bad = read_run(tmp_path / "run").trials
    assert (good.status, {trial.status for trial in bad}) == ("done", {"failed"})
    for trial, message in zip(bad, FAILING.values(), strict=True):
        assert re.search(message, trial.error)
        assert trial.error.isprintable()
    assert {failed.error for failed in summary.failed} == {trial.error for trial in bad}
    assert [event for event in events if isinstance(event, TrialRecord)] == list(summary.failed)
    assert (summary.done, summary.complete) == (1, False)


@pytest.mark.slow
def test_a_failed_trial_is_tried_again(tmp_path, toy_plan, monkeypatch):
    body = "__import__('os').environ['LUCK'] and 3"
    plan = toy_plan("random", own_agent(tmp_path, body))
    assert "KeyError" in execute(plan, tmp_path / "run").failed[0].error
    monkeypatch.setenv("LUCK", "1")
    assert execute(plan, tmp_path / "run").complete
    assert {trial.error for trial in read_run(tmp_path / "run").trials} == {None}


@pytest.mark.slow
@pytest.mark.parametrize("where", ["act", "factory"])
def test_an_agent_that_hangs(tmp_path, toy_plan, where):
    hangs = "return lambda _: " if where == "act" else ""
    (tmp_path / "own.py").write_text(f"import time\ndef make():\n    {hangs}time.sleep(600)\n")
    reference = f"{tmp_path / 'own.py'}:make"
    began = time.monotonic()
    summary = execute(toy_plan("random", reference), tmp_path / "run", workers=2, episode_seconds=1.0)
    assert time.monotonic() - began < 10
    assert summary.done == 1
    (failed,) = summary.failed
    what = r"evaluation episode \d" if where == "act" else "making the agent"
    assert re.fullmatch(f"{what} took more than 1 s, the limit", failed.error)


@pytest.mark.slow
def test_the_limit_is_for_an_episode_not_for_all(tmp_path, toy_plan, paced, monkeypatch):
    monkeypatch.setenv("PACE", "0.01")
    plan = toy_plan(paced("Paced"), paced("Learner"), episodes=10, frames=600)
    summary = execute(plan, tmp_path / "run", workers=1, episode_seconds=1.5)
    assert summary.wall_seconds > 3
    assert summary.complete


@pytest.mark.slow
@pytest.mark.parametrize("child", [False, True])
def test_a_worker_that_dies_once_is_replaced(tmp_path, toy_plan, fake, paced, rows, child):
    once = tmp_path / "died"
    (spec,) = agent_specs(fake("crashing"), {"once": str(once), "after": "40", "child": child})
    base = toy_plan(paced("Paced"), episodes=12)
    plan = make_plan([spec, *base.agents], ["toy"], base.protocol, episodes=12)
    events = []
    assert execute(plan, tmp_path / "run", workers=2, on_event=events.append, episode_seconds=10.0).complete
    assert once.exists()
    assert [type(event.event) for event in events if isinstance(event, OfTrial)] == [Lost]
    assert execute(plan, tmp_path / "undisturbed", workers=2).complete
    assert rows(tmp_path / "run") == rows(tmp_path / "undisturbed")


def test_workers_that_cannot_start(tmp_path, toy_plan, monkeypatch):
    interpreter = tmp_path / "python"
    interpreter.write_text("#!/bin/sh\nexit 5\n")
    interpreter.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(interpreter))
    with pytest.raises(ArcadeMarkError, match=r"die as they start \(exit code 5\)"):
        execute(toy_plan(), tmp_path / "run", workers=2)
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    with pytest.raises(ArcadeMarkError, match="no worker process can be started"):
        execute(toy_plan(), tmp_path / "run", workers=2)


def test_what_an_agent_prints_does_not_reach_standard_output(tmp_path, toy_plan, capfd):
    execute(toy_plan(own_agent(tmp_path, "print('noise', flush=True) or 3")), tmp_path / "run")
    printed = capfd.readouterr()
    assert printed.out == ""
    assert "noise" in printed.err


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"workers": 0}, "workers 0"),
        ({"episode_seconds": 0.0}, r"episode_seconds 0\.0: expected a limit of more than 0"),
        ({"engine": "ray", "gpus": -1.0}, r"GPUs per worker -1\.0: expected a share of one, or a whole number"),
        ({"engine": "ray", "gpus": 1.5}, r"GPUs per worker 1\.5: expected a share of one, or a whole number"),
    ],
)
def test_bad_settings(tmp_path, toy_plan, settings, match):
    with pytest.raises((ArcadeMarkError, UnknownNameError), match=match):
        execute(toy_plan(), tmp_path / "run", **settings)
    assert not (tmp_path / "run").exists()


def test_gpus_are_a_share_of_one_or_whole():
    assert [placed("ray", None, gpus) for gpus in (0.5, 2.0)] == [{"gpus": 0.5}, {"gpus": 2.0}]


def test_from_a_thread(tmp_path, toy_plan):
    summaries = []
    thread = threading.Thread(target=lambda: summaries.append(execute(toy_plan(), tmp_path / "run")))
    thread.start()
    thread.join()
    assert summaries[0].complete


def test_from_a_script_without_a_main_guard(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "from arcademark.runs.plan import make_plan\n"
        "from arcademark.runs.execution import execute\n"
        "print(execute(make_plan('random', ['toy'], episodes=2), 'out', workers=2).done)\n"
    )
    done = subprocess.run([sys.executable, script], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "1\n"
    assert read_run(tmp_path / "out").manifest["command"] == "script.py"


# What an engine is given: episodes, however many


def test_episodes_are_taken_in_order_and_put_back_first():
    left = MissingEpisodes(2**62, [1, 3])
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
        if isinstance(event, EpisodeRecord):
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


# What runs on a cluster's nodes, here without a cluster; `tests/cluster` has one


def test_without_ray_the_engine_says_what_to_install(tmp_path, toy_plan, monkeypatch):
    monkeypatch.setattr(ray_engine, "find_spec", lambda _: None)
    with pytest.raises(ArcadeMarkError, match=r"Ray is not installed; pip install '\.\[ray\]'"):
        execute(toy_plan(), tmp_path / "run", engine="ray")


@pytest.mark.parametrize(
    ("address", "said"),
    [("ray://head:10001", "expected HOST:PORT or auto"), ("head:6379", r"RAY_AUTH_MODE=token here as on the cluster")],
)
def test_addresses_that_are_refused_before_anything_is_written(tmp_path, toy_plan, monkeypatch, address, said):
    monkeypatch.setattr(ray_engine, "find_spec", lambda _: True)
    monkeypatch.delenv("RAY_AUTH_MODE", raising=False)
    with pytest.raises(ArcadeMarkError, match=said):
        execute(toy_plan(), tmp_path / "run", engine="ray", address=address)
    assert not (tmp_path / "run").exists()
