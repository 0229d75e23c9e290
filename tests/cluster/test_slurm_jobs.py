"""Jobs of a real SLURM: disturbed in every way, what they leave is an undisturbed run, row by row."""

import contextlib
import importlib.util
import os
import re
import shlex
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from dataclasses import replace
from datetime import datetime, timedelta
from operator import gt
from pathlib import Path

import pytest
from slurm_here import MISSING, asked, cluster

import arcademark
from arcademark.agents.loading import agent_specs
from arcademark.analysis.runs.status import status
from arcademark.cli.main import cli
from arcademark.errors import ArcadeMarkError
from arcademark.operations.robustness import robustness
from arcademark.records.reading import read_run
from arcademark.runs.execution import execute
from arcademark.runs.plan import make_plan
from arcademark.suite.protocols import protocol

if importlib.util.find_spec("submitit") is None:
    MISSING.append("submitit")
pytestmark = [
    pytest.mark.cluster,
    pytest.mark.slow,
    pytest.mark.skipif(bool(MISSING), reason=f"not installed: {', '.join(MISSING)}; 'make test-cluster' does it"),
]

PACED = Path(__file__).parents[1] / "runs" / "paced.py"
GAMES = (
    *("--games", "pong,freeway", "--engine", "emulator=ale", "--seeds", "2"),
    *("--override", "max_frames_per_episode=120"),
)
JOB = "time=10,signal_delay_s=20"


@pytest.fixture(scope="module")
def slurm():
    """Start SLURM with arrays of three jobs at most."""
    with cluster(most=3) as environment, pytest.MonkeyPatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value)
        yield


def submit(*arguments):
    assert cli.main(["run", *map(str, arguments)], standalone_mode=False) == 0


def states():
    """Return the state of every job that has not ended; one that would wait for two minutes to begin again need not."""
    lines = [line.split() for line in asked("squeue", "-h", "-r", "-o", "%i %T %S").splitlines()]
    soon = (datetime.now() + timedelta(seconds=10)).isoformat()
    for number, state, begin in lines:
        if state == "PENDING" and soon < begin < "N":
            asked(
                "scontrol", "update", f"JobId={number}", "StartTime=now+3"
            )  # in the same second SLURM would refuse it
    return {number: state for number, state, _ in lines}


def running():
    return [number for number, state in states().items() if state == "RUNNING"]


def wait(condition, seconds=600.0):
    limit = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < limit, asked("squeue", "-r")
        time.sleep(0.2)


def restarts():
    """Return how often jobs were put back into the queue."""
    return sum(int(text.split()[0]) for text in asked("scontrol", "show", "job").split("Restarts=")[1:])


def ends():
    """Return how each job ended: its state and exit code."""
    jobs = [
        dict(word.split("=", 1) for word in line.split() if "=" in word)
        for line in asked("scontrol", "--oneliner", "show", "job").splitlines()
    ]
    return [f"{job['JobState']} {job['ExitCode']}" for job in jobs]


def logs(folder):
    """Return the ends of the logs of all jobs below a folder, for where one ended otherwise than expected."""
    files = [path for path in sorted(folder.glob("**/slurm/*_log.out")) if not path.is_symlink()]
    return "\n".join(f"{path.name}: {path.read_text(errors='replace')[-2_000:]}" for path in files)


def recorded(folder):
    """Return how many episodes each of two shards holds."""
    found = [0, 0]
    for shard, path in enumerate(sorted(folder.glob("shards/*/run.sqlite"))):
        with contextlib.suppress(sqlite3.Error), contextlib.closing(sqlite3.connect(path)) as database:
            found[shard] = database.execute("SELECT count(*) FROM episode").fetchone()[0]
    return found


def undisturbed(folder, agent, episodes, settings=None, **others):
    rules = protocol("world-records").override({"max_frames_per_episode": 120, **others.pop("override", {})})
    plan = make_plan(agent_specs(agent, settings), ["pong", "freeway"], rules, 2, episodes, **others)
    execute(plan, folder / "undisturbed")
    return folder / "undisturbed"


def test_the_shards_of_a_run_are_played_in_arrays_and_merged(slurm, tmp_path, rows, capsys):
    folder = tmp_path / "a run"
    lines = ("setup=export ONE=1", f"setup=echo $ONE > {tmp_path}/said")
    of_job = (f"{JOB},gpus=1,reservation=mine", *lines)
    asked_for = ("random", *GAMES, "--episodes", 2, *(word for text in of_job for word in ("--slurm", text)))
    asked_for += ("--slurm", "merge:time=5", "--out", folder)
    owner = ("Users=root", "Nodes=ALL", "Flags=IGNORE_JOBS")
    asked("scontrol", "create", "reservation", "ReservationName=mine", "StartTime=now", "Duration=60", *owner)
    submit(*asked_for, "--slurm", "dry_run=yes")
    shown = capsys.readouterr().out
    assert not folder.exists()
    script, _, merges = shown.partition("\n\n#!")
    (tmp_path / "script").write_text(script)
    assert subprocess.run(["sbatch", "--test-only", tmp_path / "script"], check=False).returncode == 0
    submit(*asked_for)
    told = capsys.readouterr().out
    paths = sorted(folder.glob("slurm/[0-9]*_submission.sh"))
    ids = [path.name.split("_")[0] for path in paths]
    first, second, last = (path.read_text() for path in paths)
    assert {*first.splitlines()} <= {*script.splitlines()}
    assert "--array=0-2%3" in script
    assert "--array" not in second
    assert "--gpus" in first
    assert "--gpus" not in last
    assert "--time=5\n" in last
    dependency = f"#SBATCH --dependency=afterany:{ids[0]}:{ids[1]}"
    assert {*last.splitlines()[1:]} - {*merges.splitlines()} == {dependency}
    submitted = f"submitted job arrays {ids[0]}, {ids[1]}: 4 jobs of 1 worker; job {ids[2]} merges the shards"
    assert f"4 trials in 4 shards; {submitted}" in " ".join(told.split())
    assert {trial.state for trial in status([folder]).trials} <= {"pending", "playing"}
    logs = sorted(folder.glob("slurm/shard-*.log"))
    assert [path.name for path in logs] == [f"shard-{number}-of-4.log" for number in range(1, 5)]
    wait(lambda: not states())
    asked("scontrol", "delete", "ReservationName=mine")
    assert ends()[-5:] == ["COMPLETED 0:0"] * 5, logs(tmp_path)
    assert (tmp_path / "said").read_text() == "1\n"
    assert all("2 episodes, 240 frames" in log.read_text() for log in logs)
    assert rows(folder) == rows(undisturbed(tmp_path, "random", 2))


def test_learners_in_jobs_that_are_ended_again_and_again_go_on(slurm, tmp_path, rows, monkeypatch):
    monkeypatch.setenv("PACE", "0.02")
    folder = tmp_path / "run"
    training = ("--training-episodes", 44, "--set", "checkpoint_frames=240")
    reported = ("--override", "reported_episodes=evaluation", "--episodes", 1)
    submit(f"{PACED}:Learner", *GAMES, *training, *reported, "--slurm", JOB, "--slurm", "jobs=2", "--out", folder)
    before = [0, 0]
    for how in (["scontrol", "requeue"], ["scancel", "--signal=USR2"], None):
        wait(lambda before=before: len(running()) == 2 and all(map(gt, recorded(folder), before)))
        count = restarts()
        if how is None:  # preempted
            asked("sbatch", "--partition=urgent", "--cpus-per-task=2", "--output=/dev/null", "--wrap", "sleep 1")
        for job in running() if how else ():
            asked(*how, job)
        wait(lambda count=count: restarts() == count + 2)
        before = recorded(folder)
        assert sum(before) < 4 * 45
    wait(lambda: not states())
    monkeypatch.setenv("PACE", "0")
    rest = {"settings": {"checkpoint_frames": "240"}, "override": {"reported_episodes": "evaluation"}}
    assert rows(folder) == rows(undisturbed(tmp_path, f"{PACED}:Learner", 1, **rest, training_episodes=44))


def test_a_job_at_its_time_limit_goes_on(slurm, tmp_path, rows, monkeypatch):
    monkeypatch.setenv("PACE", "0.05")
    folder, before = tmp_path / "run", restarts()
    limit = "time=1,signal_delay_s=10"
    (tmp_path / "disk").mkdir()
    where = ("--slurm", "jobs=2", "--engine", f"scratch={tmp_path / 'disk'}", "--out", folder)
    submit(f"{PACED}:Paced", *GAMES, "--episodes", 18, "--slurm", limit, *where)
    wait(lambda: not states())
    assert restarts() >= before + 2
    monkeypatch.setenv("PACE", "0")
    assert rows(folder) == rows(undisturbed(tmp_path, f"{PACED}:Paced", 18))
    assert not any((tmp_path / "disk").iterdir())


def test_a_job_that_records_nothing_ends_however_short_its_limit(slurm, tmp_path, monkeypatch):
    monkeypatch.setenv("PACE", "10")
    folder, before = tmp_path / "run", restarts()
    limit = "time=1,signal_delay_s=10"
    submit(f"{PACED}:Paced", *GAMES, "--episodes", 1, "--slurm", limit, "--slurm", "jobs=2", "--out", folder)
    wait(lambda: not states())
    assert restarts() == before + 2 * 2
    assert ends()[-3:].count("FAILED 1:0") >= 2
    assert len(told := [log.read_text() for log in folder.glob("slurm/shard-*.log")]) == 2
    assert all("nothing was recorded in 3 rounds of this job" in text for text in told)


def jobs_of(folder):
    """Return what `status` says of a run's jobs: state, reason, and the last line of the log."""
    found = status([folder])
    assert not found.jobs_unknown
    return [(job.state, job.reason, job.said) for job in found.jobs]


def test_jobs_submitted_from_inside_of_a_job_are_jobs_like_others(slurm, tmp_path):
    folder = tmp_path / "run"
    asked_for = ("run", "random", *GAMES, "--episodes", "1", "--slurm", f"{JOB},mem=300M", "--slurm", "jobs=2")
    words = [sys.executable, "-m", "arcademark", *asked_for, "--out", str(folder)]
    script = tmp_path / "outer"
    script.write_text(f"#!/bin/bash\n{shlex.join(words)}\n")
    outer = ("--ntasks=2", "--mem=2000", "--gpus=1", "--export=ALL,SLURM_CPU_BIND=none")
    subprocess.run(["sbatch", "--wait", *outer, f"--output={tmp_path}/outer.log", script], check=True)
    wait(lambda: not states())
    assert ends()[-3:] == ["COMPLETED 0:0"] * 3, logs(tmp_path)
    assert len(read_run(folder).episodes.trial) == 4


def test_what_no_node_has_is_refused_and_what_none_can_give_now_waits(slurm, tmp_path):
    def asked_for(name, *more):
        return ("random", *GAMES, "--episodes", 1, *more, "--out", tmp_path / name)

    (node,) = asked("sinfo", "-h", "-N", "-p", "cpu", "-o", "%N").split()
    asked("scontrol", "update", f"NodeName={node}", "State=DRAIN", "Reason=test")
    try:
        for number, never in enumerate(("mem=90G", "gpus=4", "gpus=a100:1", "constraint=fast", "cpus=3")):
            with pytest.raises(ArcadeMarkError, match="nothing was submitted"):
                submit(*asked_for(f"never-{number}", "--slurm", f"{JOB},jobs=2,{never}"))
        assert not list(tmp_path.glob("never-*"))
        wanted = f"{JOB},jobs=2,mem=300M,gpus=1,cpus=2"
        submit(*asked_for("run", "--slurm", wanted, "--slurm", "merge:cpus=1"))
        drained = ("queued", f"all suitable nodes are down or drained ({node})", "")
        wait(lambda: jobs_of(tmp_path / "run").count(drained) >= 2)
        with pytest.raises(ArcadeMarkError, match=r"its jobs are in the queue .*arcademark runs cancel"):
            submit(*asked_for("run"))
        asked("scancel", "--user", str(os.getuid()))
        wait(lambda: not states())
        assert {state for state, *_ in jobs_of(tmp_path / "run")} == {"cancelled"}
    finally:
        asked("scontrol", "update", f"NodeName={node}", "State=RESUME")
    submit(*asked_for("run", "--slurm", f"{JOB},jobs=1"))  # as nothing was recorded in two
    wait(lambda: not states())
    assert len(read_run(tmp_path / "run").episodes.trial) == 4


def test_how_a_killed_process_ended_is_in_the_log_and_in_status(slurm, tmp_path, monkeypatch):
    monkeypatch.setenv("PACE", "0.02")
    folder = tmp_path / "run"
    asked_for = (f"{PACED}:Paced", *GAMES, "--episodes", 400, "--slurm", f"{JOB},jobs=1", "--out", folder)
    submit(*asked_for)
    for number in (1, 2, 3):  # each time after some episodes
        before = recorded(folder)[0]
        wait(lambda before=before: states() and recorded(folder)[0] > before + 2)
        count = restarts()
        for process in players(folder):
            os.kill(process, signal.SIGKILL)
        if number < 3:
            wait(lambda count=count: restarts() > count)
            assert jobs_of(folder)[0] in (("requeued", "", ""), ("running", "", ""))
    wait(lambda: not states())
    log = (folder / "slurm" / "shard-1-of-1.log").read_text()
    assert "; out of memory is a likely cause (--slurm mem=… requests more)" in log
    assert "back into the queue, round 2 of 3 without progress" in log
    assert "timed out" not in log
    assert "submitit" not in log
    (job,) = [job for job in jobs_of(folder) if job[0] == "failed"]
    assert job[2].startswith("arcademark: the process that plays was ended by SIGKILL")


def players(folder):
    """Return the processes that play a run's shards."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = (process / "cmdline").read_bytes().split(b"\0")
            if (
                any(word.startswith(b"shard=") for word in words)
                and f"{folder}/shards/1-of-1".encode() in words
                and b"-m" in words
            ):
                found.append(int(process.name))
    return found


def test_a_job_that_fails_before_python_starts_is_shown(slurm, tmp_path):
    folder = tmp_path / "run"
    submit(
        "random", *GAMES, "--episodes", 1, "--slurm", JOB, "--slurm", "setup=echo no module; exit 3", "--out", folder
    )
    wait(lambda: not states())
    failed = [job for job in status([folder]).jobs if job.shard]
    assert {(job.state, job.reason, job.said) for job in failed} == {("failed", "exit code other than 0", "no module")}
    assert Path(failed[0].log).read_text() == "no module\n"


def test_packages_that_are_installed_anew_cost_a_round(slurm, tmp_path, rows, monkeypatch):
    package = tmp_path / "lib" / "arcademark"
    shutil.copytree(Path(arcademark.__file__).parent, package)
    monkeypatch.setenv("PYTHONPATH", str(package.parent))
    monkeypatch.setenv("PACE", "0.05")
    folder = tmp_path / "run"
    asked_for = (f"{PACED}:Paced", *GAMES, "--episodes", "8", "--slurm", JOB, "--slurm", "jobs=2", "--out", str(folder))
    subprocess.run([sys.executable, "-m", "arcademark", "run", *asked_for], check=True)
    with half_installed(package):  # as jobs begin
        time.sleep(5)
    wait(lambda: all(recorded(folder)))
    count = restarts()
    with half_installed(package):  # while they play
        for worker in workers(package.parent):
            os.kill(worker, signal.SIGKILL)
        wait(lambda: restarts() == count + 2)
    wait(lambda: not states())
    assert ends()[-3:] == ["COMPLETED 0:0"] * 3, logs(tmp_path)
    monkeypatch.setenv("PACE", "0")
    assert rows(folder) == rows(undisturbed(tmp_path, f"{PACED}:Paced", 8))


@contextlib.contextmanager
def half_installed(package):
    away = package.rename(package.with_name("away"))
    package.mkdir()
    (package / "__init__.py").touch()
    yield
    shutil.rmtree(package)
    away.rename(package)


def workers(path):
    """Return the processes that play from a path of packages."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            works = b"engines.worker" in (process / "cmdline").read_bytes()
            if works and f"PYTHONPATH={path}".encode() in (process / "environ").read_bytes().split(b"\0"):
                found.append(int(process.name))
    return found


def test_what_was_learnt_in_jobs_plays_in_variants_and_settings_are_tuned(slurm, tmp_path):
    def give(verb, *arguments):
        assert cli.main([verb, *map(str, arguments)], standalone_mode=False) == 0

    options = ("--games", "pong,freeway", "--engine", "emulator=ale", "--override", "max_frames_per_episode=120")
    options += ("--episodes", "1", "--training-episodes", "3")
    asked_for = (f"{PACED}:Learner", *options, "--variants", "1")
    folder, whole = tmp_path / "variants", tmp_path / "whole"
    give("robustness", *asked_for, "--slurm", JOB, "--out", folder)
    tuned = ("--grid", "checkpoint_frames=120,240", "--out", tmp_path / "tuned")
    give("tune", f"{PACED}:Learner", *options, *tuned, "--slurm", JOB, "--slurm", "jobs=2")
    wait(lambda: not states())
    assert ends()[-6:] == ["COMPLETED 0:0"] * 6, logs(tmp_path)
    give("robustness", *asked_for, "--out", whole)
    assert replace(robustness(folder), directory="") == replace(robustness(whole), directory="")
    give("robustness", *asked_for, "--slurm", JOB, "--out", folder)  # submits nothing
    assert not states()
    assert len({trial.agent for trial in read_run(tmp_path / "tuned").trials if trial.status == "done"}) == 2


def test_killed_jobs_are_submitted_again(slurm, tmp_path, rows, monkeypatch, capsys):
    monkeypatch.setenv("PACE", "0.02")
    folder = tmp_path / "run"
    asked_for = (f"{PACED}:Paced", *GAMES, "--episodes", 5, "--slurm", JOB, "--slurm", "jobs=2", "--out", folder)
    submit(*asked_for)
    with pytest.raises(ArcadeMarkError, match="its jobs are in the queue"):
        submit(*asked_for)
    wait(lambda: sum(recorded(folder)) > 1)
    asked("scancel", "--full", "--signal=KILL", "--state=RUNNING", "--name=arcademark")
    wait(lambda: not states())
    assert 1 < sum(recorded(folder)) < 4 * 5
    submit(*asked_for)
    wait(lambda: not states())
    monkeypatch.setenv("PACE", "0")
    assert rows(folder) == rows(undisturbed(tmp_path, f"{PACED}:Paced", 5))
    capsys.readouterr()
    submit(*asked_for)
    assert "all complete" in capsys.readouterr().out


def test_a_trial_that_always_fails_is_marked_and_the_rest_completes(slurm, tmp_path):
    agent = tmp_path / "agent.py"
    agent.write_text(
        "def make_agent(env):\n"
        "    if env.seed == 1 and env.game == 'pong':\n"
        "        raise RuntimeError('no weights')\n"
        "    return lambda observation: 0\n"
    )
    submit(
        f"{agent}:make_agent", *GAMES, "--episodes", 1, "--slurm", JOB, "--slurm", "jobs=2", "--out", tmp_path / "run"
    )
    wait(lambda: not states())
    assert sorted(ends()[-3:]) == ["COMPLETED 0:0", "FAILED 1:0", "FAILED 1:0"]  # the shard, and what merges it
    trials = read_run(tmp_path / "run").trials
    assert [(trial.game, trial.seed) for trial in trials if trial.status != "done"] == [("pong", 1)]
    (reason,) = [trial.error for trial in trials if trial.status == "failed"]
    assert "RuntimeError: no weights" in str(reason)


GREEDY = """
import os


def make_agent(env):
    if int(os.environ.get("SLURM_MEM_PER_NODE", "9999")) < 150:
        process = os.getpid()
        while b"shard=" not in open(f"/proc/{process}/cmdline", "rb").read():
            process = int(open(f"/proc/{process}/stat").read().rpartition(")")[2].split()[1])
        os.kill(process, 9)
    return lambda observation: 0
"""


def test_from_python_jobs_that_run_out_of_memory_are_given_more(slurm, tmp_path, rows):
    agent, folder = tmp_path / "agent.py", tmp_path / "run"
    agent.write_text(GREEDY)
    report = arcademark.run(
        f"{agent}:make_agent",
        ["pong", "freeway"],
        seeds=2,
        episodes=1,
        emulator="ale",
        overrides={"max_frames_per_episode": 120},
        slurm={"time": 10, "signal_delay_s": 20, "jobs": 2, "mem": "100M*attempt"},
        out=folder,
    )
    assert len(report.algorithms[0].scores) == 2, logs(folder)
    assert [path.name for path in folder.glob("slurm/attempt-*")] == ["attempt-1"]
    assert rows(folder) == rows(undisturbed(tmp_path, f"{agent}:make_agent", 1))
    scripts = sorted(folder.glob("slurm/[0-9]*_submission.sh"), key=lambda path: int(path.name.split("_")[0]))
    asked_for = [re.search(r"--mem=(\w+)", path.read_text())[1] for path in scripts]
    assert asked_for == ["100M", "100M", "200M", "200M"]


def test_cancelled_by_its_folder_and_waited_for(slurm, tmp_path, rows, monkeypatch, capsys):
    monkeypatch.setenv("PACE", "0.02")
    folder = tmp_path / "run"
    asked_for = (f"{PACED}:Paced", *GAMES, "--episodes", 3, "--slurm", f"{JOB},jobs=2", "--out", folder)
    submit(*asked_for)
    wait(lambda: sum(recorded(folder)) > 1)
    assert cli.main(["runs", "cancel", str(folder)], standalone_mode=False) == 0
    assert "cancelled jobs" in capsys.readouterr().out
    wait(lambda: not states())
    assert 1 < sum(recorded(folder)) < 4 * 3
    assert cli.main(["runs", "cancel", str(folder)], standalone_mode=False) == 0
    assert "has no jobs in the queue" in capsys.readouterr().out
    monkeypatch.setenv("PACE", "0")
    submit(*asked_for, "--slurm", "wait=yes")
    printed = capsys.readouterr()
    assert "all trials are played" in " ".join(printed.out.split())
    assert "completed" in printed.err
    assert rows(folder) == rows(undisturbed(tmp_path, f"{PACED}:Paced", 3))
