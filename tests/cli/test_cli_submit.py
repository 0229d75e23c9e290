"""What is submitted to SLURM, as far as it can be told without one; tests/cluster has the rest."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from arcademark.agents.loading import agent_specs
from arcademark.cli.commands import WORDS
from arcademark.cli.play import jobs, run
from arcademark.records.reading import read_run
from arcademark.runs.cluster import slurm
from arcademark.runs.execution import execute
from arcademark.runs.plan import make_plan
from arcademark.suite.protocols import protocol

SHORT = ("--games", "pong,freeway", "--episodes", "1", "--override", "max_frames_per_episode=200", "--seeds", "2")
LIMIT = ("--slurm", "time=4:00:00")


@pytest.fixture
def toy():
    rules = protocol("world-records").override({"max_frames_per_episode": 120})
    return make_plan(agent_specs("random"), ["toy"], rules, episodes=1)


def test_the_script_is_printed_and_nothing_is_written(invoke):
    shown = invoke(
        "run", "random", *SHORT, *LIMIT, "--slurm", "partition=a,b,gpus=a100:2,cpus=2,mem=8G", "--dry-run", code=0
    )
    array, merge = shown.out.split("\n\n#!")
    assert array.startswith("#!/bin/bash\n# 4 trials in 2 shards; 2 jobs of 2 workers; for shard K it runs\n# ")
    assert f"--shard K/2 --out {Path.cwd()}/runs/random/shards/K-of-2" in array
    assert "#SBATCH --dependency=afterany:ARRAY\n" in merge
    assert "#SBATCH --partition=a,b\n" in merge
    assert not re.search("#SBATCH --(array|gpus)", merge)
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
    ("text", "minutes"),
    [("90", 90), ("90:30", 91), ("1:30:00", 90), ("1:30:01", 91), ("2-12", 3600), ("1-00:30", 1470), ("0-0:0:5", 1)],
)
def test_times_are_read_as_slurm_does(text, minutes):
    assert slurm.minutes(text) == minutes


def test_shards_that_are_complete_are_left_out_and_others_of_another_run_refused(invoke):
    invoke("run", "random", *SHORT, "--shard", "2/3", "--out", "runs/random/shards/2-of-3", code=0)
    assert "--array=0-1%2" in invoke("run", "random", *SHORT, *LIMIT, "--dry-run").out
    for given, told in (
        (("random", *SHORT, "--slurm", "jobs=4"), "is divided into 3 shards"),
        (("random", *SHORT, "--protocol", "machado-2018", "--out", "runs/random"), "is of another run"),
    ):
        assert told in invoke("run", *given, *LIMIT, "--dry-run", code=2).err
    merged = invoke("runs", "merge", "runs/random", "runs/random/shards/2-of-3")
    assert merged.code == 1  # as the other shards are missing


def test_what_slurm_says_without_being_reached_is_told_in_a_line(invoke, monkeypatch, tmp_path):
    for name in ("squeue", "sbatch"):
        (tmp_path / name).write_text("#!/bin/sh\nprintf 'no controller\\nat all\\n' >&2; exit 1\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    refused = invoke("run", "random", *SHORT, *LIMIT, code=2)
    assert "SLURM cannot be asked (squeue: no controller); give this on a login node" in " ".join(refused.err.split())


@pytest.mark.slow
def test_what_was_submitted_is_shown_before_a_job_begins_and_logs_are_named(invoke, monkeypatch, tmp_path):
    for name in ("squeue", "sbatch", "scontrol", "srun"):
        (tmp_path / name).write_text(f"#!/bin/sh\n{'echo Submitted batch job 7' if name == 'sbatch' else ''}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    invoke("run", "random", *SHORT, *LIMIT, "--slurm", "jobs=2", code=0)
    shown = invoke("status", "runs/random", "--to=json").json
    assert {trial["state"] for trial in shown["trials"]} == {"pending"}
    logs = {path.name.rpartition("-")[0]: os.readlink(path) for path in Path("runs/random/slurm").glob("random-*.log")}
    assert sorted(logs) == [f"random-{game}-s{seed}" for game in ("freeway", "pong") for seed in (0, 1)]
    assert {*logs.values()} == {"7_0_0_log.out", "7_1_0_log.out"}
    other = ("run", "random", *SHORT, "--out", "runs/other")
    assert invoke(*other, "--protocol", "saber", "--engine", "emulator=ale").code == 0
    assert "runs/other: is of another run" in invoke(*other, *LIMIT, code=2).err


def test_a_job_is_given_what_the_user_wrote_but_for_what_is_of_the_submission():
    written = ["net.pt", "--games", "pong", "--set", "a=1", "--set=b=x y", "--engine", "episode_seconds=0.5"]
    own = ["--slurm", "time=9", "--slurm", "jobs=2", "--workers", "3", "--dry-run", "--out", "here"]
    own += ["--slurm", "merge:time=5", "--slurm", "python=python3"]
    with run.command.make_context("run", [*own, *written]) as context:
        given = list(jobs.given(context.meta[WORDS]))
    assert given == written


def test_parameters_as_people_write_them():
    texts = ("time=60,partition=a,b", "setup=export A=1,B=2", "mem=4G,setup=module load cuda", "gres=gpu:1,disk:5")
    of_job, last = slurm.parameters(
        [pair for text in (*texts, "reservation=mine") for pair in jobs._pairs(text)], [("cpus", "1")]
    )
    assert {name: of_job[name] for name in ("time", "partition", "mem", "setup", "gres", "additional_parameters")} == {
        "time": 60,
        "partition": "a,b",
        "mem": "4G",
        "setup": ["export A=1,B=2", "module load cuda", of_job["setup"][2]],
        "gres": "gpu:1,disk:5",
        "additional_parameters": {"requeue": True, "reservation": "mine"},
    }
    assert (last["gres"], last["cpus_per_task"], last["job_name"]) == ("disk:5", 1, "arcademark-merge")


@pytest.mark.parametrize("asked", [["gpus=1", "mem_per_gpu=8G", "cpus_per_gpu=4"], ["gres=gpu:a100:1"]])
def test_the_last_job_has_no_gpu_unless_one_is_asked_for(asked):
    pairs = [("time", "60"), *(tuple(one.split("=")) for one in asked)]
    last = slurm.parameters(pairs)[1]
    assert not [name for name in last if "gpu" in name or name == "gres"]
    assert slurm.parameters(pairs, [("gpus", "1")])[1]["gpus_per_node"] == "1"


def test_settings_to_tune_are_dealt_out_and_ranked_once_merged(invoke):
    asked = ("tune", "const", "--try", "action=FIRE,NOOP", "--games", "pong", *SHORT[2:], "--out", "runs/tuned")
    shown = invoke(*asked, *LIMIT, "--slurm", "jobs=2", "--dry-run", code=0)
    assert "4 trials in 2 shards" in shown.out
    plays = "-m arcademark tune const --try action=FIRE,NOOP --games pong"
    assert plays in shown.out
    assert not Path("runs").exists()
    for number in (1, 2):
        part = ("--shard", f"{number}/2", "--out", f"runs/tuned/shards/{number}-of-2")
        assert invoke(*asked[:-2], *part).out == ""
    told = invoke(*asked, *LIMIT).words
    merge = "arcademark runs merge runs/tuned runs/tuned/shards/*"
    assert f"all complete; see '{merge}'" in told
    assert invoke("runs", "merge", "runs/tuned", *Path("runs/tuned/shards").iterdir()).code == 0
    assert "all complete; see 'the same command without --slurm'" in invoke(*asked, *LIMIT).words
    ranked = invoke(*asked, "--to=json")
    assert [one["values"] for one in ranked.json["settings"]]


@pytest.mark.slow
def test_a_shard_of_variants_has_all_of_its_games_and_seeds(invoke):
    asked = ("robustness", "random", *SHORT, "--variants", "1")
    shown = invoke(*asked, *LIMIT, "--out", "whole", "--dry-run", code=0)
    assert " trials in 4 shards; 4 jobs of 1 worker" in shown.out
    assert invoke(*asked, "--out", "whole").code == 0
    for number in range(1, 5):
        played = invoke(*asked, "--shard", f"{number}/4", "--out", f"runs/all/shards/{number}-of-4")
        assert (played.code, played.out) == (0, "")
        base = read_run(f"runs/all/shards/{number}-of-4/base").trials
        assert len({(trial.game, trial.seed) for trial in base}) == 1
    told = invoke(*asked, *LIMIT, "--out", "runs/all").words
    assert "arcademark runs merge runs/all/base runs/all/shards/*/base" in told
    for name in (path.name for path in Path("whole").iterdir()):
        assert invoke("runs", "merge", f"runs/all/{name}", *Path("runs/all/shards").glob(f"*/{name}")).code == 0
    merged, whole = (invoke("robustness", "--out", of, "--to=json").json for of in ("runs/all", "whole"))
    assert merged | {"directory": "whole"} == whole


LATE = """
import sys
from arcademark.cli.main import main
from arcademark.runs import execution
play = execution._Run.play
def watched(self, engine):
    global before
    before = {*sys.modules}
    return play(self, engine)
execution._Run.play = watched
try:
    main()
finally:
    print(sorted(name for name in {*sys.modules} - before if name.startswith("arcademark")))
"""


@pytest.mark.slow
@pytest.mark.parametrize("command", [("run", "random"), ("tune", "const", "--try", "action=FIRE,NOOP")])
def test_a_shard_imports_nothing_of_this_package_once_it_plays(command, tmp_path):
    asked = [*command, *SHORT, "--shard", "1/2", "--out", str(tmp_path / "run")]
    played = subprocess.run([sys.executable, "-c", LATE, *asked], capture_output=True, text=True, check=True)
    assert played.stdout == "[]\n"


def stubborn(seconds):
    """Return a shard's job whose process takes no notice of being told to end."""
    code = "import signal, time; signal.signal(15, signal.SIG_IGN); print('on', flush=True); time.sleep(60)"
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    child.stdout.readline()
    return slurm.ShardJob(Path("nowhere"), ("run",), 4, seconds, child.pid), child


def test_a_play_that_does_not_end_is_ended_in_time_and_not_put_back_for_ever():
    job, child = stubborn(1)
    with child:
        again = job.checkpoint(3)
        assert child.wait() == -signal.SIGKILL
    assert again.args == (3, 1)
    assert again.function.child is None
    again = again._checkpoint_function()
    assert again.args == (3, 2)
    with pytest.raises(SystemExit, match="nothing was recorded in 3 rounds"):
        again._checkpoint_function()


def test_what_was_recorded_of_any_run_of_a_shard_is_progress(toy, tmp_path):
    job = slurm.ShardJob(tmp_path, ("robustness",), 4, 60)
    with pytest.raises(SystemExit):
        job.checkpoint(3, rounds=2)
    execute(toy, tmp_path / "shards" / "3-of-4" / "base")
    assert job.checkpoint(3, rounds=2).args == (3, 0)
    job.before = slurm._sum(tmp_path / "shards" / "3-of-4", slurm.FRAMES)
    with pytest.raises(SystemExit):
        job.checkpoint(3, rounds=2)
