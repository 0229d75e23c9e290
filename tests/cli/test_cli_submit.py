"""What is submitted to SLURM, as far as it can be told without one; tests/cluster has the rest."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import arcademark
from arcademark.agents.loading import agent_specs
from arcademark.cli.commands import WORDS
from arcademark.cli.play import jobs, run
from arcademark.errors import ArcadeMarkError
from arcademark.records import queue
from arcademark.records.reading import read_run
from arcademark.runs import request
from arcademark.runs.cluster import slurm
from arcademark.runs.cluster.parameters import minutes, read_parameters
from arcademark.runs.engines import processes
from arcademark.runs.execution import execute
from arcademark.runs.plan import make_plan
from arcademark.runs.scheduling import lengths as scheduling
from arcademark.runs.scheduling.lengths import deal
from arcademark.suite.protocols import protocol

SHORT = ("--games", "pong,freeway", "--episodes", "1", "--override", "max_frames_per_episode=200", "--seeds", "2")
LIMIT = ("--slurm", "time=4:00:00")


@pytest.fixture
def fake(monkeypatch, tmp_path):
    """Return what puts a SLURM in the path that accepts everything, but for scripts of commands that are given."""
    folder = tmp_path / "fake"

    def make(**scripts):
        folder.mkdir(exist_ok=True)
        accepts = "echo Submitted batch job 7"
        for name in ("squeue", "sbatch", "scontrol", "srun", "sinfo", "sacct", "scancel"):
            script = scripts.get(name, accepts if name == "sbatch" else "")
            (folder / name).write_text(f"#!/bin/sh\n{script}\n")
            (folder / name).chmod(0o755)
        monkeypatch.setenv("PATH", str(folder))
        return folder

    return make


@pytest.fixture
def toy():
    rules = protocol("world-records").override({"max_frames_per_episode": 120})
    return make_plan(agent_specs("random"), ["toy"], rules, episodes=1)


def test_the_script_is_printed_and_nothing_is_written(invoke):
    shown = invoke(
        "run",
        "random",
        *SHORT,
        *LIMIT,
        "--slurm",
        "partition=a,b,gpus=a100:2,cpus=2,mem=8G",
        "--slurm",
        "dry_run=yes",
        code=0,
    )
    array, merge = shown.out.split("\n\n#!")
    assert array.startswith("#!/bin/bash\n# 4 trials in 2 shards; 2 jobs of 2 workers; for shard K it runs\n# ")
    assert f"--engine shard=K/2 --out {Path.cwd()}/runs/random/shards/K-of-2" in array
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


@pytest.mark.parametrize("name", ["setup", "teardown", "merge:setup"])
def test_a_line_of_a_script_may_name_what_switches_are_called(invoke, name):
    """All after ``setup=`` is its line, so ``wait=yes`` and ``dry_run=no`` there are no settings."""
    line = "export LIMITS=a,wait=yes,dry_run=no"
    shown = invoke("run", "random", *SHORT, *LIMIT, "--slurm", f"dry_run=yes,{name}={line}", code=0)
    assert f"\n{line}\n" in shown.out
    assert jobs._switches(f"wait=yes,partition=cpu,setup={line}") == ([("wait", "yes")], f"partition=cpu,setup={line}")


@pytest.mark.parametrize(
    ("text", "expected"),
    [("90", 90), ("90:30", 91), ("1:30:00", 90), ("1:30:01", 91), ("2-12", 3600), ("1-00:30", 1470), ("0-0:0:5", 1)],
)
def test_times_are_read_as_slurm_does(text, expected):
    assert minutes(text) == expected


def test_shards_that_are_complete_are_left_out_and_others_of_another_run_refused(invoke):
    invoke("run", "random", *SHORT, "--engine", "shard=2/3", "--out", "runs/random/shards/2-of-3", code=0)
    assert "--array=0-1%2" in invoke("run", "random", *SHORT, *LIMIT, "--slurm", "dry_run=yes").out
    for given, told in (
        (("random", *SHORT, "--slurm", "jobs=4"), "is divided into 3 shards"),
        (("random", *SHORT, "--protocol", "machado-2018", "--out", "runs/random"), "contains another run"),
    ):
        assert told in invoke("run", *given, *LIMIT, "--slurm", "dry_run=yes", code=2).err
    merged = invoke("runs", "merge", "runs/random", "runs/random/shards/2-of-3")
    assert merged.code == 1  # as the other shards are missing


def test_what_slurm_says_without_being_reached_is_told_in_a_line(invoke, monkeypatch, tmp_path):
    for name in ("squeue", "sbatch"):
        (tmp_path / name).write_text("#!/bin/sh\nprintf 'no controller\\nat all\\n' >&2; exit 1\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    refused = invoke("run", "random", *SHORT, *LIMIT, code=2)
    assert "SLURM does not answer (squeue: no controller); run this on a login node" in " ".join(refused.err.split())


@pytest.mark.slow
def test_what_was_submitted_is_shown_before_a_job_begins_and_logs_are_named(invoke, fake):
    fake()
    invoke("run", "random", *SHORT, *LIMIT, "--slurm", "jobs=2", code=0)
    shown = invoke("status", "runs/random", "--format=json").json
    assert {trial["state"] for trial in shown["trials"]} == {"pending"}
    logs = {path.name: os.readlink(path) for path in Path("runs/random/slurm").glob("*.log")}
    assert logs == {
        "shard-1-of-2.log": "7_0_0_log.out",
        "shard-2-of-2.log": "7_1_0_log.out",
        "merge.log": "7_0_log.out",
    }
    other = ("run", "random", *SHORT, "--out", "runs/other")
    assert invoke(*other, "--protocol", "saber", "--engine", "emulator=ale").code == 0
    assert "runs/other: contains another run" in invoke(*other, *LIMIT, code=2).err


def test_a_job_is_given_what_the_user_wrote_but_for_what_is_of_the_submission():
    written = ["net.pt", "--games", "pong", "--set", "a=1", "--set=b=x y", "--engine", "episode_seconds=0.5"]
    own = ["--slurm", "time=9", "--slurm", "jobs=2", "--workers", "3", "--slurm", "dry_run=yes", "--out", "here"]
    own += ["--slurm", "merge:time=5", "--slurm", "python=python3"]
    with run.command.make_context("run", [*own, *written]) as context:
        given = list(jobs.given(context.meta[WORDS]))
    assert given == written


def test_parameters_as_people_write_them():
    texts = ("time=60,partition=a,b", "setup=export A=1,B=2", "mem=4G,setup=module load cuda", "gres=gpu:1,disk:5")
    of_job, last = read_parameters(
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
    last = read_parameters(pairs)[1]
    assert not [name for name in last if "gpu" in name or name == "gres"]
    assert read_parameters(pairs, [("gpus", "1")])[1]["gpus_per_node"] == "1"


def test_nothing_of_submitit_is_printed(invoke, fake):
    fake(sbatch="echo Submitted batch job 7; echo sbatch: a warning >&2")
    submitted = invoke("run", "random", *SHORT, *LIMIT, "--slurm", "gpus=1,cpus_per_gpu=2", code=0)
    assert submitted.err == ""


def test_settings_to_tune_are_dealt_out_and_ranked_once_merged(invoke):
    asked = ("tune", "const", "--grid", "action=FIRE,NOOP", "--games", "pong", *SHORT[2:], "--out", "runs/tuned")
    shown = invoke(*asked, *LIMIT, "--slurm", "jobs=2", "--slurm", "dry_run=yes", code=0)
    assert "4 trials in 2 shards" in shown.out
    plays = "-m arcademark tune const --grid action=FIRE,NOOP --games pong"
    assert plays in shown.out
    starts = [line for line in shown.out.splitlines() if " -m " in line or " -c " in line]
    assert len(starts) > 2
    assert all(" -P " in line for line in starts)  # nothing is imported from the folder in which jobs begin
    assert not Path("runs").exists()
    for number in (1, 2):
        part = ("--engine", f"shard={number}/2", "--out", f"runs/tuned/shards/{number}-of-2")
        assert invoke(*asked[:-2], *part).out == ""
    told = invoke(*asked, *LIMIT).words
    merge = "arcademark runs merge runs/tuned runs/tuned/shards/*"
    assert f"all complete; see '{merge}'" in told
    assert invoke("runs", "merge", "runs/tuned", *Path("runs/tuned/shards").iterdir()).code == 0
    assert "all complete; see 'the same command without --slurm'" in invoke(*asked, *LIMIT).words
    ranked = invoke(*asked, "--format=json")
    assert [one["values"] for one in ranked.json["settings"]]


def test_jobs_get_nothing_of_a_job_around_them(invoke, fake, monkeypatch, tmp_path):
    fake(sbatch=f"export -p >> {tmp_path}/said; echo Submitted batch job 7", squeue=f"export -p >> {tmp_path}/said")
    outer = ("SLURM_JOB_ID", "SLURM_NTASKS", "SLURM_MEM_PER_NODE", "SLURM_EXPORT_ENV", "SRUN_CPUS_PER_TASK")
    outer += ("SLURMD_NODENAME", "SUBMITIT_FOLDER", "SQUEUE_STATES", "SBATCH_MEM_BIND_TYPE", "CUDA_VISIBLE_DEVICES")
    against = ("SBATCH_TIMELIMIT", "SBATCH_PARTITION")
    kept = ("SLURM_CONF", "SLURM_JWT", "SBATCH_HINT", "SBATCH_ACCOUNT", "HOME")
    for name in (*outer, *against, *kept):
        monkeypatch.setenv(name, "1")
    invoke("run", "random", *SHORT, *LIMIT, "--slurm", "partition=gpu", code=0)
    said = (tmp_path / "said").read_text()
    assert said.count("export PWD=") >= 5  # asked, tried twice, submitted twice
    assert not [name for name in (*outer, "SBATCH_TIMELIMIT") if f"export {name}=" in said]
    assert "SBATCH_PARTITION" not in said.rpartition("SLURM_TIME_FORMAT")[2]
    assert all(said.count(f"export {name}=") == said.count("export PWD=") for name in kept)
    assert os.environ["SLURM_NTASKS"] == "1"
    monkeypatch.delenv("SLURM_JOB_ID")
    assert {"CUDA_VISIBLE_DEVICES", "SBATCH_MEM_BIND_TYPE"} <= queue.environment().keys()


UNAVAILABLE = "Requested node configuration is not available"
TRIED = f"""
case $1 in --test-only) echo "allocation failure: {UNAVAILABLE}" >&2; exit 1;; esac
echo Submitted batch job 7
"""


def test_what_is_only_not_available_now_is_queued(invoke, fake):
    fake(sbatch=TRIED, sinfo="echo 'cpu* 2'; echo 'big 64'; echo 'cpu* 1'")
    invoke("run", "random", *SHORT, *LIMIT, "--slurm", "cpus=2,jobs=2", code=0)
    refused = invoke("run", "random", *SHORT, *LIMIT, "--slurm", "cpus=3,jobs=1", "--out", "runs/large", code=2)
    assert "the largest node has 2 processors, and cpus=3 are requested" in refused.err
    fake(sbatch=f"echo 'sbatch: error: {UNAVAILABLE}' >&2; exit 1")
    refused = invoke("run", "random", *SHORT, *LIMIT, "--slurm", "gpus=9", "--out", "runs/large", code=2)
    assert refused.err.count(UNAVAILABLE) == 1  # and nothing of submitit, or of sbatch itself
    assert "nothing was submitted" in refused.err
    assert not Path("runs/large").exists()


FEW = """
case $1 in --test-only) while read -r line; do set -- $line; [ "${2#--array=}" = "$2" ] || array=$2; done;; esac
case ${array:-$(while read -r line; do set -- $line; [ "${2#--array=}" = "$2" ] || echo $2; done < ${1:-/dev/null})} in
''|--array=0-[0-3]%*) echo Submitted batch job 7;;
*) echo 'sbatch: error: QOSMaxSubmitJobPerUserLimit' >&2
   echo 'sbatch: error: Batch job submission failed: Job violates accounting/QOS policy' >&2; exit 1;;
esac
"""


def test_no_more_jobs_are_submitted_than_a_user_may_have(invoke, fake):
    fake(sbatch=FEW)
    eight = (*SHORT[:-1], "4", *LIMIT)
    refused = invoke("run", "random", *eight, "--slurm", "jobs=8", code=2)
    assert "QOSMaxSubmitJobPerUserLimit" in refused.err
    assert "give fewer: --slurm jobs=3" in refused.err
    assert "\\n" not in refused.err
    assert not Path("runs").exists()
    assert "8 trials in 3 shards" in invoke("run", "random", *eight, code=0).words


def test_shards_are_dealt_anew_until_an_episode_is_recorded(invoke, fake):
    fake(sbatch="echo Submitted batch job 7; echo refused >&2; case $1 in --test-only) ;; *) exit 1;; esac")
    assert "nothing was submitted" in invoke("run", "random", *SHORT, *LIMIT, "--slurm", "jobs=2", code=2).err
    assert not Path("runs").exists()
    fake()
    asked = ("run", "random", *SHORT, *LIMIT, "--slurm")
    invoke(*asked, "jobs=2", code=0)
    invoke(*asked, "jobs=4", code=0)  # the jobs before were cancelled
    assert [path.name for path in Path("runs/random/shards").iterdir()] == ["1-of-4"]
    assert sorted(path.name for path in Path("runs/random/slurm").glob("shard-*")) == [
        f"shard-{number}-of-4.log" for number in range(1, 5)
    ]
    with pytest.raises(SystemExit, match="1"):
        slurm.gather(Path("runs/random"), ["python"], [""])
    assert not Path("runs/random/manifest.json").exists()  # the job that merges has made no run
    other = ("run", "random", *SHORT, "--protocol", "saber", *LIMIT, "--slurm", "jobs=4", "--out", "runs/random")
    invoke(*other, code=0)
    assert invoke("status", "runs/random", "--format=json").json["protocols"][0].startswith("saber")
    database = Path("runs/random/shards/1-of-4/run.sqlite")
    invoke("run", "random", *SHORT, "--engine", "shard=1/2", "--out", "runs/random/shards/1-of-2", code=0)
    assert "is divided into 2 shards" in invoke(*asked, "jobs=4", code=2).err
    invoke(*asked, "jobs=2", code=0)
    assert not database.exists()  # of the division before
    database = Path("runs/random/shards/1-of-2/run.sqlite")
    database.write_bytes(database.read_bytes()[:5000])  # it may hold something
    assert "is divided into 2 shards" in invoke(*asked, "jobs=4", code=2).err


def test_a_submission_is_dealt_out_once_and_has_a_link_a_job(fake, monkeypatch, tmp_path):
    fake()
    dealt = []
    monkeypatch.setattr(scheduling, "deal", lambda *given: dealt.append(1) or deal(*given))
    rules = protocol("world-records")
    plan = make_plan(agent_specs("random"), "atari-57", rules, 4, 1)
    work = slurm.submission([("time", "60"), ("jobs", "100")], {"": plan}, tmp_path / "run", ["run"], [], 1)
    work.submit([""])
    assert len(dealt) <= 2
    names = [path.name for path in (tmp_path / "run" / "slurm").iterdir()]
    assert len([name for name in names if name.endswith(".log")]) == 101
    assert len(names) < 2 * 101 + 10
    parts = scheduling.dealt({"": plan}, 100)
    assert [part[""] for part in parts] == [scheduling.shard(plan, number, 100).trials for number in range(1, 101)]


@pytest.mark.slow
def test_a_run_whose_jobs_are_in_the_queue_is_not_played_beside_them(invoke, fake):
    fake(sbatch="echo Submitted batch job 7")
    asked = ("run", "random", *SHORT, "--engine", "emulator=ale", "--out", "runs/random")
    invoke(*asked, *LIMIT, code=0)
    fake(squeue="echo 7; echo 99")
    refused = invoke(*asked, code=2)
    assert "runs/random: its jobs are in the queue (7) and play it" in refused.err
    assert "'arcademark runs cancel runs/random'" in refused.err
    variants = ("robustness", "random", *SHORT, "--engine", "emulator=ale", "--variants", "1", "--out", "runs/random")
    assert "its jobs are in the queue (7)" in invoke(*variants, code=2).err
    fake(squeue="echo no controller >&2; exit 1")  # as on another machine
    invoke(*asked, code=0)


def test_what_slurm_knows_of_jobs_is_shown(invoke, fake):
    fake()
    invoke("run", "random", *SHORT[:-1], "4", *LIMIT, "--slurm", "jobs=8", "--out", "runs/one", code=0)
    invoke("run", "random", *SHORT, *LIMIT, "--slurm", "jobs=2", "--out", "runs/two", code=0)
    for path in Path("runs/two/slurm").glob("*.log"):
        there = os.readlink(path)
        path.unlink()
        path.symlink_to(there.replace("7_", "9_", 1))
    for number, text in enumerate(("", "arcademark: on its way", "srun: error: Unable to create step", "", "ended")):
        Path(f"runs/one/slurm/7_{number}_0_log.out").write_text(f"{text}\nsrun: error: n1: task 0: Exited\n")
    listed = [
        *("7_0|RUNNING|None|2026-01-01T00:00:00", "7_1|PENDING|BeginTime|2026-01-01T00:02:00"),
        *("7_2|FAILED|NonZeroExitCode|2026-01-01T00:00:00", "7_3|CANCELLED|None|N/A"),
        *("7_5|PENDING|ReqNodeNotAvail, UnavailableNodes:n[1-2]|N/A", "7_6|PENDING|Resources|N/A"),
        *("7_7|PENDING|Resources|N/A", "7|PENDING|Dependency|N/A", "9|COMPLETED|None|N/A"),
    ]
    fake(
        squeue="\n".join(f"echo '{line}'" for line in listed),
        sacct="echo '7_4|OUT_OF_MEMORY|0:125'; echo '9_[0,5-9%2]|COMPLETED|0:0'",
    )
    document = invoke("status", "runs", "--format=json", code=1).json
    states = {(job["folder"], tuple(job["shard"] or ())): (job["state"], job["reason"]) for job in document["jobs"]}
    assert states == {
        ("runs/one", (1, 8)): ("running", ""),
        ("runs/one", (2, 8)): ("requeued", ""),
        ("runs/one", (3, 8)): ("failed", "exit code other than 0"),
        ("runs/one", (4, 8)): ("cancelled", ""),
        ("runs/one", (5, 8)): ("failed", "out of memory"),
        ("runs/one", (6, 8)): ("queued", "all suitable nodes are down or drained (n[1-2])"),
        ("runs/one", (7, 8)): ("queued", "waits for room"),
        ("runs/one", (8, 8)): ("queued", "waits for room"),
        ("runs/one", ()): ("queued", "waits for the others"),
        ("runs/two", (2, 2)): ("unknown", ""),
    }
    (again,) = [job for job in document["jobs"] if job["begins"]]
    assert again["begins"] == "2026-01-01T00:02:00"
    said = {job["shard"][0]: (job["said"], job["log"]) for job in document["jobs"] if job["said"]}
    assert said[3] == ("srun: error: Unable to create step", "runs/one/slurm/7_2_0_log.out")
    assert [run["directory"] for run in document["whole"]] == ["runs/one", "runs/two"]
    assert [len(run["trials"]) for run in document["whole"]] == [8, 4]
    shown = invoke("status", "runs", code=1)
    for told in (
        "1 running, 4 queued, 1 requeued, 2 failed, 1 cancelled, 1 unknown",
        "shards 7 and 8",
        "waits for room",
    ):
        assert told in shown.words
    assert "runs/one: random" in shown.out
    assert "runs/two: random" in shown.out
    fake(squeue="echo no controller >&2; exit 1", sacct="exit 1")
    assert "unknown: SLURM does not answer (squeue: no controller)" in invoke("status", "runs/one", code=0).words


def test_jobs_that_slurm_forgot_are_shown_until_their_shards_are_done(invoke, fake):
    fake()
    asked = ("run", "random", *SHORT, "--engine", "emulator=ale", "--out")
    invoke(*asked, "runs/random", *LIMIT, "--slurm", "jobs=2", code=0)
    for number in (1, 2):
        jobs_there = invoke("status", "runs", "--format=json").json["jobs"]
        assert [job["shard"] for job in jobs_there] == [[left, 2] for left in range(number, 3)] + [None]
        assert {job["state"] for job in jobs_there} == {"unknown"}
        invoke(*asked, f"runs/random/shards/{number}-of-2", "--engine", f"shard={number}/2", code=0)
    invoke("runs", "merge", "runs/random", *Path("runs/random/shards").iterdir(), code=0)
    for folder in ("runs", "runs/random"):
        document = invoke("status", folder, "--format=json", code=0).json
        assert document["jobs"] == []
        assert [run["directory"] for run in document["whole"]] == ["runs/random"]


def test_a_folder_of_another_user_is_refused_as_by_a_local_run(invoke, fake):
    fake()
    asked = ("run", "random", *SHORT, "--out", "/proc/nowhere")  # not even root may write there
    local = invoke(*asked, code=2).err
    assert local.startswith("arcademark: /proc/nowhere: cannot be read or written (")
    assert invoke(*asked, *LIMIT, code=2).err == local


def test_jobs_do_not_play_on_a_ray_cluster(invoke, fake):
    refused = invoke("run", "random", *SHORT, *LIMIT, "--engine", "ray,address=auto", code=2)
    assert "--slurm: its jobs play on their own nodes" in refused.err
    assert "docs/ray.md" in refused.err


@pytest.mark.slow
def test_a_shard_of_variants_has_all_of_its_games_and_seeds(invoke):
    asked = ("robustness", "random", *SHORT, "--variants", "1")
    shown = invoke(*asked, *LIMIT, "--out", "whole", "--slurm", "dry_run=yes", code=0)
    assert " trials in 4 shards; 4 jobs of 1 worker" in shown.out
    assert invoke(*asked, "--out", "whole").code == 0
    for number in range(1, 5):
        played = invoke(*asked, "--engine", f"shard={number}/4", "--out", f"runs/all/shards/{number}-of-4")
        assert (played.code, played.out) == (0, "")
        base = read_run(f"runs/all/shards/{number}-of-4/base").trials
        assert len({(trial.game, trial.seed) for trial in base}) == 1
    told = invoke(*asked, *LIMIT, "--out", "runs/all").words
    assert "arcademark runs merge runs/all/base runs/all/shards/*/base" in told
    for name in (path.name for path in Path("whole").iterdir()):
        assert invoke("runs", "merge", f"runs/all/{name}", *Path("runs/all/shards").glob(f"*/{name}")).code == 0
    merged, whole = (invoke("robustness", "--out", of, "--format=json").json for of in ("runs/all", "whole"))
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
@pytest.mark.parametrize("command", [("run", "random"), ("tune", "const", "--grid", "action=FIRE,NOOP")])
def test_a_shard_imports_nothing_of_this_package_once_it_plays(command, tmp_path):
    asked = [*command, *SHORT, "--engine", "shard=1/2", "--out", str(tmp_path / "run")]
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


@pytest.mark.parametrize(
    ("code", "how"),
    [
        (-signal.SIGKILL, "SIGKILL"),
        (137, "SIGKILL"),
        (-signal.SIGSEGV, "SIGSEGV"),
        (3, "exit code 3"),
        (255, "exit code 255"),
    ],
)
def test_how_a_process_ended_is_said(code, how):
    assert processes.how_ended(code) == how


def test_a_round_that_ran_out_of_memory_is_without_progress(toy, tmp_path, capsys):
    job = slurm.ShardJob(tmp_path, ("run",), 4, 60, ended="was ended by SIGKILL", killed=True)
    execute(toy, tmp_path / "shards" / "3-of-4")
    again = job.checkpoint(3, rounds=1)
    assert again.args == (3, 2)
    assert "back into the queue, round 2 of 3 without progress" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="was ended by SIGKILL, in the last of 3 rounds without progress"):
        job.checkpoint(3, rounds=2)
    assert again.function.checkpoint(3, rounds=2).args == (3, 0)  # it was not killed again


def test_what_was_recorded_of_any_run_of_a_shard_is_progress(toy, tmp_path):
    job = slurm.ShardJob(tmp_path, ("robustness",), 4, 60)
    with pytest.raises(SystemExit):
        job.checkpoint(3, rounds=2)
    execute(toy, tmp_path / "shards" / "3-of-4" / "base")
    assert job.checkpoint(3, rounds=2).args == (3, 0)
    job.before = slurm._sum(tmp_path / "shards" / "3-of-4", slurm.FRAMES)
    with pytest.raises(SystemExit):
        job.checkpoint(3, rounds=2)


def test_memory_and_time_grow_with_the_attempt():
    pairs = [("time", "1:00:00*attempt"), ("mem", "2G*attempt")]
    assert [read_parameters(pairs, (), number)[0]["mem"] for number in (1, 2, 3)] == ["2G", "4G", "6G"]
    assert [read_parameters(pairs, (), number)[0]["time"] for number in (1, 2)] == [60, 120]
    for name, text in (("mem", "lots*attempt"), ("mem", "2G*2"), ("time", "soon*attempt"), ("cpus", "2*attempt")):
        with pytest.raises(ArcadeMarkError):
            read_parameters([("time", "60"), (name, text)] if name != "time" else [(name, text)])


def test_jobs_that_want_more_end_and_the_last_one_submits_them_again(invoke, fake, monkeypatch, capfd):
    fake()
    asked = ("run", "random", *SHORT, "--engine", "emulator=ale", "--slurm", "time=60,mem=2G*attempt,jobs=2")
    invoke(*asked, code=0)
    folder = Path("runs/random").absolute()
    job = slurm.ShardJob(folder, ("run",), 2, 60, killed=True, ended="was ended by SIGKILL", grows=frozenset({"mem"}))
    with pytest.raises(SystemExit, match="this job had too little mem"):
        job.checkpoint(1)
    assert slurm.attempt(folder) == 2
    assert "--mem=4G" in invoke(*asked, "--slurm", "dry_run=yes", code=0).out
    called = []
    monkeypatch.setattr(slurm.subprocess, "call", lambda command: called.append(command) or code)
    for code, message in ((0, ""), (7, "nothing was submitted (exit code 7")):
        with pytest.raises(SystemExit, match="1" if code else "0"):
            slurm.gather(folder, ["exec", "python"], [""], (1, ("run", "random")))
        assert called.pop() == ["exec", "python", "-P", "-m", "arcademark", "run", "random"]
        assert message in capfd.readouterr().out
    with pytest.raises(SystemExit, match="1"):
        slurm.gather(folder, ["python"], [""], (2, ("run", "random")))  # which wanted no more
    hungry = slurm.ShardJob(folder, ("run",), 2, 60, grows=frozenset({"mem"}))
    assert hungry.checkpoint(1).args == (1, 1)  # more memory is no use to what takes too long


def test_a_runs_jobs_are_cancelled_by_its_folder_and_waited_for(invoke, fake):
    assert "give the jobs' resources" in invoke("run", "random", *SHORT, "--slurm", "wait=yes", code=2).err
    fake()
    invoke("run", "random", *SHORT, *LIMIT, "--slurm", "jobs=2", code=0)
    bin_ = fake(squeue="echo 7; echo 99", scancel='echo "$@" > "$0".said')
    assert invoke("runs", "cancel", "runs/random", code=0).words == (
        "runs/random: cancelled jobs 7; the same command submits the remaining trials"
    )
    assert (bin_ / "scancel.said").read_text() == "7\n"
    ended = 'case "$*" in *--array*) echo "7|CANCELLED|None|N/A";; *) echo 7;; esac'
    fake(squeue=ended)
    waited = invoke("run", "random", *SHORT, *LIMIT, "--slurm", "jobs=2,wait=yes", code=1)
    assert "trials are missing" in waited.words
    fake()
    assert "runs/random: has no jobs in the queue" in invoke("runs", "cancel", "runs/random", code=0).words


def test_from_python_a_run_is_submitted_as_by_the_command(fake, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    fake()
    how = {"seeds": [3, 7], "episodes": 1, "overrides": {"max_frames_per_episode": 200, "screen_size": None}}
    given = {**how, "emulator": "ale", "settings": {"action": "FIRE"}, "name": "mine"}
    words = request.words("const", ["pong", "freeway"], "saber", given)
    assert words == [
        *("run", "const", "--games=pong,freeway", "--protocol=saber", "--seeds=3,7,", "--episodes=1", "--name=mine"),
        *("--override=max_frames_per_episode=200", "--override=screen_size=none", "--set=action=FIRE"),
        "--engine=emulator=ale",
    ]
    arcademark.run("random", "pong", slurm={"time": "4:00:00", "setup": ["a", "b"]}, **how)  # which plays nothing
    script = next(Path("runs/random/slurm").glob("*_submission.sh")).read_text()
    assert "\na\nb\n" in script
    for options, said in (
        ({"slurm": {}}, "a job.s time limit"),
        ({"slurm": {"time": 60, "cores": 2}}, "no parameter of submitit"),
        ({"slurm": {"time": 60}, "shard": (1, 2)}, "leave out shard"),
        ({"slurm": {"time": 60}, "until_error": 0.1}, "leave out until_error"),
    ):
        with pytest.raises(ArcadeMarkError, match=said):
            arcademark.run("random", "pong", out="other", **options)
    with pytest.raises(ArcadeMarkError, match="a command can name"):
        arcademark.run(lambda observation: 0, "pong", slurm={"time": 60})
