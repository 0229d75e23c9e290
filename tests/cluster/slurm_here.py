"""A SLURM cluster of this machine alone, while a command runs: ``python tests/cluster/slurm_here.py bash``."""

import contextlib
import getpass
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PATH = f"{os.environ['PATH']}{os.pathsep}/usr/sbin"
PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "scontrol", "squeue", "scancel")
MISSING = [name for name in PROGRAMS if shutil.which(name, path=PATH) is None]

CONFIGURATION = """
ClusterName=here
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=0
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
KillWait=30
MinJobAge=3600
MaxArraySize={most}
GresTypes=gpu
NodeName={host} NodeAddr=127.0.0.1 CPUs=2 RealMemory=8192 Gres=gpu:1 State=UNKNOWN
PartitionName=cpu Nodes={host} Default=YES PriorityTier=1 GraceTime=30
PartitionName=urgent Nodes={host} PriorityTier=2 PreemptMode=off
"""
"""Two cores, 8 GB, and a GPU that is none, whatever the machine has.

Jobs of the partition "urgent" preempt others, given half a minute.
"""


@contextlib.contextmanager
def cluster(most=1001):
    """Start the daemons in a temporary folder; yield the environment in which SLURM's commands find them; end all.

    `most` is SLURM's MaxArraySize.
    """
    with contextlib.ExitStack() as stack:
        folder = Path(tempfile.mkdtemp(prefix="slurm-"))
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        folder.chmod(0o755)
        for name in ("state", "spool"):
            (folder / name).mkdir()
        (folder / "munge.key").write_bytes(os.urandom(1024))
        (folder / "munge.key").chmod(0o600)
        host, user = socket.gethostname().partition(".")[0], getpass.getuser()
        configuration = folder / "slurm.conf"
        configuration.write_text(
            CONFIGURATION.format(host=host, ports=free_ports(2), user=user, folder=folder, most=most)
        )
        (folder / "gres.conf").write_text("Name=gpu File=/dev/null\n")
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(("SLURM_", "SBATCH_"))}
        environment = {**inherited, "PATH": PATH, "SLURM_CONF": str(configuration)}
        files = [
            f"--{name}={folder}/munge.{name.split('-')[0]}" for name in ("socket", "pid-file", "log-file", "seed-file")
        ]
        for daemon in (
            ["munged", "--foreground", "--force", f"--key-file={folder}/munge.key", *files],
            ["slurmctld", "-D", "-f", str(configuration)],
            ["slurmd", "-D", "-f", str(configuration)],
        ):
            with open(folder / f"{daemon[0]}.log", "ab") as log:
                process = subprocess.Popen(daemon, env=environment, stdout=log, stderr=log, start_new_session=True)
            stack.callback(end, process)
            if daemon[0] == "munged":
                wait_for((folder / "munge.socket").exists, folder)
        wait_for(lambda: "idle" in asked("sinfo", "-h", "-o", "%t", environment=environment), folder)
        stack.callback(cancel, environment)
        yield environment


def asked(*command, environment=None):
    """Return what a command prints, whether it fails or not."""
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False).stdout


def free_ports(count):
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


def wait_for(ready, folder, seconds=60.0):
    limit = time.monotonic() + seconds
    while not ready():
        if time.monotonic() > limit:
            logs = (f"{path.name}: {path.read_text(errors='replace')[-2000:]}" for path in sorted(folder.glob("*.log")))
            raise RuntimeError("SLURM does not start; " + "\n".join(logs))
        time.sleep(0.05)


def cancel(environment):
    """End all jobs, at once; those that run are not the daemons' children."""
    limit = time.monotonic() + 10
    mine = ("--user", getpass.getuser())
    while asked("squeue", "-h", environment=environment) and time.monotonic() < limit:
        asked("scancel", "--full", "--signal=KILL", "--state=RUNNING", *mine, environment=environment)
        asked("scancel", *mine, environment=environment)
        time.sleep(0.2)


def end(process):
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


if __name__ == "__main__":
    if MISSING:
        sys.exit(f"SLURM is not installed ({', '.join(MISSING)} missing); as root: apt-get install slurm-wlm munge")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with cluster() as here:
        sys.exit(subprocess.run(sys.argv[1:] or ["bash"], env=here, check=False).returncode)
