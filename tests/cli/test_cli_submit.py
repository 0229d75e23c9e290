"""What is submitted to SLURM, as far as it can be told without one; tests/cluster has the rest."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("submitit", reason="submitit is not installed: pip install '.[slurm]'")

from arcademark.cli import submit
from arcademark.runs import slurm

SHORT = ("--games", "pong,freeway", "--episodes", "1", "--override", "max_frames_per_episode=200", "--seeds", "2")
LIMIT = ("--slurm", "time=4:00:00")


def test_the_script_is_printed_and_nothing_is_written(invoke):
    shown = invoke(
        "submit", "random", *SHORT, *LIMIT, "--slurm", "partition=a,b,gpus=a100:2,cpus=2,mem=8G", "--dry-run"
    )
    assert shown.code == 0, shown.err
    array, merge = shown.out.split("\n\n#!")
    assert array.startswith("#!/bin/bash\n# 4 trials in 2 shards; 2 jobs of 2 workers; for shard K it runs\n# ")
    assert f"--shard K/2 --out {Path.cwd()}/runs/random/shards/K-of-2" in array
    assert "#SBATCH --dependency=afterany:ARRAY\n" in merge
    assert "#SBATCH --array" not in merge
    assert [line for line in array.splitlines() if line.startswith("#SBATCH") and "/" not in line] == [
        "#SBATCH --array=0-1%2",
        "#SBATCH --cpus-per-task=2",
        "#SBATCH --gpus-per-node=a100:2",
        "#SBATCH --job-name=arcademark",
        "#SBATCH --mem=8G",
        "#SBATCH --nodes=1",
        "#SBATCH --open-mode=append",
        "#SBATCH --partition=a,b",
        "#SBATCH --requeue",
        "#SBATCH --signal=USR2@90",
        "#SBATCH --time=240",
        "#SBATCH --wckey=submitit",
    ]
    assert "--cpus-per-task=2" in array.splitlines()[-1]
    assert not any(Path.cwd().iterdir())


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (("--slurm", "partition=cpu"), "expected the limit of a job"),
        (("--slurm", "time=soon"), "expected minutes"),
        (("--slurm", "time=0"), "expected minutes"),
        (("--slurm", "time=3"), "twice the 90 seconds"),
        (("--slurm", "time=60,cores=2"), "known: account, array_parallelism"),
        (("--slurm", "time=60,cpus=0"), "whole number of at least 1"),
        (("--slurm", "time=60,cpus=2,cpus_per_task=2"), "given too"),
        (("--slurm", "time=60,qos="), "expected a value"),
        (("--slurm", "time=60,time=70"), "given twice"),
        ((*LIMIT, "--out", "runs/%j"), "choose another directory"),
        ((*LIMIT, "--jobs", "5"), "--jobs 5: expected at most one job a trial: 4 here"),
        ((*LIMIT, "--set", "weights=none"), "parameter"),
        ((*LIMIT, "--games", "chess"), "chess"),
        ((*LIMIT, "--engine", "steam"), "unknown engine 'steam'"),
        (LIMIT, "sbatch is not found"),
    ],
)
def test_what_cannot_be_submitted_is_refused_before_anything_is_written(invoke, monkeypatch, given, told):
    monkeypatch.setenv("PATH", os.devnull)
    refused = invoke("submit", "random", *SHORT, *given)
    assert refused.code == 2
    assert told in " ".join(refused.err.split())
    assert not any(Path.cwd().iterdir())


@pytest.mark.parametrize(
    ("text", "minutes"),
    [("90", 90), ("90:30", 91), ("1:30:00", 90), ("1:30:01", 91), ("2-12", 3600), ("1-00:30", 1470), ("0-0:0:5", 1)],
)
def test_times_are_read_as_slurm_does(text, minutes):
    assert slurm.minutes(text) == minutes


def test_shards_that_are_complete_are_left_out_and_others_of_another_run_refused(invoke):
    shown = invoke("run", "random", *SHORT, "--shard", "2/3", "--out", "runs/random/shards/2-of-3")
    assert shown.code == 0, shown.err
    again = invoke("submit", "random", *SHORT, *LIMIT, "--dry-run")
    assert "--array=0-1%2" in again.out
    for given, told in (
        (("random", *SHORT, "--jobs", "4"), "is divided into 3 shards"),
        (("random", *SHORT, "--protocol", "machado-2018", "--out", "runs/random"), "is of another run"),
    ):
        refused = invoke("submit", *given, *LIMIT, "--dry-run")
        assert refused.code == 2
        assert told in refused.err
    assert invoke("merge", "runs/random", "runs/random/shards/2-of-3").code == 0


def test_a_run_that_is_complete_is_to_be_merged_and_then_reported(invoke):
    assert invoke("run", "random", *SHORT, "--out", "runs/random/shards/1-of-1").code == 0
    for see in ("merge runs/random runs/random/shards/*", "report runs/random"):
        told = " ".join(invoke("submit", "random", *SHORT, *LIMIT).out.split())
        assert f"4 trials in 1 shard, all complete; see 'arcademark {see}'" in told
        assert invoke("merge", "runs/random", "runs/random/shards/1-of-1").code == 0


def test_what_slurm_says_without_being_reached_is_told_in_a_line(invoke, monkeypatch, tmp_path):
    for name in ("squeue", "sbatch"):
        (tmp_path / name).write_text("#!/bin/sh\nprintf 'no controller\\nat all\\n' >&2; exit 1\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    refused = invoke("submit", "random", *SHORT, *LIMIT)
    assert refused.code == 2
    assert "SLURM cannot be asked (squeue: no controller); give this on a login node" in " ".join(refused.err.split())


def test_a_job_is_given_what_the_user_wrote_but_for_what_is_of_the_submission():
    written = ["net.pt", "--games", "pong", "--set", "a=1", "--set", "b=x y", "--trust", "--episode-seconds", "0.5"]
    own = ["--slurm", "time=9", "--jobs", "2", "--workers", "3", "--dry-run", "--out", "here"]
    with submit.command.make_context("submit", [*own, *written]) as context:
        given = list(submit._given(context))
    assert given == ["net.pt", "--games=pong", "--set=a=1", "--set=b=x y", "--episode-seconds=0.5", "--trust"]


def stubborn(seconds: int) -> tuple[slurm.ShardJob, subprocess.Popen[bytes]]:
    """Return a shard's job whose process takes no notice of being told to end."""
    code = "import signal, time; signal.signal(15, signal.SIG_IGN); print('on', flush=True); time.sleep(60)"
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert child.stdout is not None
    child.stdout.readline()
    return slurm.ShardJob(Path("nowhere"), ("run",), 4, 0, seconds, child.pid), child


def test_a_play_that_does_not_end_is_ended_in_time_and_not_put_back_for_ever():
    job, child = stubborn(1)
    with child:
        again = job.checkpoint(3)
        assert child.wait() == -signal.SIGKILL
    assert again.args == (3, 1)
    assert again.function.child is None
    again = again._checkpoint_function()
    assert again.args == (3, 2)
    assert again._checkpoint_function() is None
