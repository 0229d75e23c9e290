"""Files that anyone may have written, damaged at random: read, or refused in one line; never a traceback.

`ARCADEMARK_FUZZ` says how many inputs are tried; the same number gives the same inputs.
"""

import gzip
import io
import json
import os
import resource
import time
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tensorboard.compat.proto.event_pb2 import Event

from arcademark.analysis.subsets import models, predictors
from arcademark.classic.features.samples import read_trajectory
from arcademark.environments.registry import environment_spec
from arcademark.errors import MAX_MESSAGE_CHARS, ArcadeMarkError
from arcademark.scores.export import write_long
from arcademark.scores.reading import read_tables
from arcademark.scores.references import read_references
from arcademark.subset.predict import files
from arcademark.suite.protocols import protocol, step_protocol, suite_protocol
from arcademark.suite.task_suites import load_suite
from arcademark.suite.tasks import canonical_game
from damaging import damaged

INPUTS = int(os.environ.get("ARCADEMARK_FUZZ", "400"))
SUITE = Path(__file__).parents[1] / "examples" / "small_tasks.toml"
CATCH = SUITE.parent / "own_game" / "catch.toml"
MAX_SECONDS = 10
MAX_BYTES = 2 * 2**30

LONG = "algorithm,game,seed,episode,frames,score,protocol\n" + "".join(
    f"{name},{game},{seed},{episode},{1000 * episode},{seed + episode / 8},machado-2018\n"
    for name in ("DQN", "'=x")
    for game in ("Pong", "Q*bert")
    for seed in range(2)
    for episode in range(3)
)
WIDE = "game;DQN;PPO\nPong;18,9 ± 0,3;−20,7\nQ*bert;10.596;14.293,3\nALE/SpaceInvaders-v5;1.976;\n"
MARKDOWN = "| game | DQN | **PPO** |\n|:--|--:|:-:|\n| Pong | 18.9 | **20.7** |\n| Qbert | 10,596 | 4,293.3 |\n"
MONITOR = '#{"t_start": 1700000000.5, "env_id": "arcademark/pong"}\nr,l,t\n-21.0,3056,2.1\n-20.0,3302,4.4\n'
RLLIB = "".join(
    json.dumps(
        {
            "training_iteration": at,
            "env_runners": {"episode_return_mean": -20.4 + at},
            "hist_stats": {"episode_reward": [-21.0, -20.0, -19.5 + at]},
            "episodes_this_iter": 1,
            "config": {"env": "ALE/Pong-v5", "seed": 7},
        }
    )
    + "\n"
    for at in range(1, 4)
)
ZOO = "environment_name,seed,iteration,frame,eval_episode_return\n" + "".join(
    f"pong,{seed},{at},{at}000000,{-21 + seed + at / 4}\n" for seed in (1, 2) for at in range(3)
)
PROGRESS = "time/total_timesteps,rollout/ep_rew_mean,loss\n1000,-21.0,\n2000,-20.5,0.1\n3000,,0.2\n"
WANDB = (
    '"global_step","Pong-v5__dqn__1__17 - charts/episodic_return","Pong-v5__dqn__1__17 - charts/episodic_return__MIN"\n'
    '"1000","-21","-21"\n"2000","-20","-20"\n'
)
RLIABLE = json.dumps({"DQN": {"pong": [18.9, None, 19.3], "qbert": [31.8]}, "PPO": {"pong": [1, 2]}})
ARRAYS = {"DQN": np.array([[18.9, 31.8], [19.3, 32.5]]), "PPO": np.array([[20, 32]], dtype=np.int16)}
EVALUATIONS = {
    "timesteps": np.arange(1, 4) * 1000,
    "results": np.arange(6.0).reshape(3, 2),
    "ep_lengths": np.ones((3, 2)),
}


def npz(arrays):
    out = io.BytesIO()
    np.savez_compressed(out, **arrays)
    return out.getvalue()


def npy(array):
    out = io.BytesIO()
    np.save(out, array)
    return out.getvalue()


def parquet(columns):
    out = io.BytesIO()
    pq.write_table(pa.table(dict(columns)), out)
    return out.getvalue()


def events():
    found = [Event(wall_time=1.0, file_version="brain.Event:2")]
    for step in range(3):
        event = Event(wall_time=2.0 + step, step=step)
        event.summary.value.add(tag="charts/episodic_return", simple_value=step - 20.5)
        tensor = event.summary.value.add(tag="eval/mean_reward").tensor
        tensor.dtype = 1
        tensor.float_val.append(float(step))
        found.append(event)
    parts = [event.SerializeToString() for event in found]
    return b"".join(len(part).to_bytes(8, "little") + bytes(4) + part + bytes(4) for part in parts)


def scores(**options):
    def read(path):
        table = read_tables(path, canonical_task=canonical_game, **options).table
        write_long(table, path.parent / "out.csv")

    return read


LOG = {"algorithm": "mine", "task": "pong"}
ORDER = {"algorithm": "mine", "tasks": ["pong", "qbert"]}
PONG = environment_spec("pong", protocol("ale-2013"))
COLUMNS = {"algorithm": ["a", "b", "a"], "game": ["pong", "pong", "qbert"], "score": [1.5, None, 3.0], "run": [0, 1, 0]}
HONEST = {
    "long": ("scores.csv", LONG.encode(), scores()),
    "long with tabs": ("scores.tsv", LONG.replace(",", "\t").encode("utf-16"), scores(last=2)),
    "wide": ("scores.csv", WIDE.encode(), scores()),
    "wide with an option": ("scores.csv", WIDE.encode(), scores(decimal=",")),
    "markdown": ("scores.md", MARKDOWN.encode(), scores()),
    "parquet": ("scores.parquet", parquet(COLUMNS), scores()),
    "npz": ("scores.npz", npz(ARRAYS), scores(**ORDER)),
    "npy": ("scores.npy", npy(ARRAYS["DQN"]), scores(**ORDER)),
    "rliable": ("scores.json", RLIABLE.encode(), scores()),
    "monitor": ("monitor.csv", MONITOR.encode(), scores(algorithm="mine")),
    "evaluations": ("evaluations.npz", npz(EVALUATIONS), scores(**LOG)),
    "rllib": ("result.json", RLLIB.encode(), scores(algorithm="mine")),
    "tensorboard": ("events.out.tfevents.1", events(), scores(**LOG)),
    "progress": ("progress.csv", PROGRESS.encode(), scores(**LOG)),
    "wandb": ("export.csv", WANDB.encode(), scores()),
    "long packed": ("scores.csv.gz", gzip.compress(LONG.encode(), mtime=0), scores()),
    "zoo": ("results.csv", ZOO.encode(), scores(algorithm="mine")),
    "references": ("references.csv", b"task,low,high\nHopper-v4,0,3000\nCommuting-v0,90,30.5\n", read_references),
    "model": ("model.json", files.dumps(models.model("atari-3")).encode(), lambda path: models.model(str(path))),
    "frames": ("frames.csv", b"game,frames\npong,1000\nqbert,2e6\n", predictors.read_frames),
    "papers": ("papers.csv", b'algorithm,paper\nDQN,Mnih 2015\n"PPO, ours",we\n', predictors.read_papers),
    "suite": ("suite.toml", SUITE.read_bytes(), lambda path: step_protocol(load_suite(str(path)))),
    "own game": ("catch.toml", CATCH.read_bytes(), lambda path: suite_protocol(load_suite(str(path)))),
    "trajectory": ("actions.txt", b"# from the start\n0\n3\n17\n", lambda path: read_trajectory(str(path), PONG)),
}


def rezipped(content, rng):
    """Damage the arrays in an archive, or the archive, and close it properly again."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    chosen = list(members)[int(rng.integers(len(members)))]
    method = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)[int(rng.integers(4))]
    kind = int(rng.integers(6))
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method if kind == 0 else zipfile.ZIP_DEFLATED) as archive:
        for name, member in members.items():
            archive.writestr(name, damaged(member, rng) if name == chosen and kind > 1 else member)
        if kind == 1:
            archive.writestr(("read me.txt", "a/", "../b.npy", "c.npy")[int(rng.integers(4))], b"text")
    made = bytearray(out.getvalue())
    if kind == 2:  # encrypted, it says
        for mark in (b"PK\x01\x02", b"PK\x03\x04"):
            at = made.rindex(mark) + (8 if mark == b"PK\x01\x02" else 6)
            made[at] |= 1
    return bytes(made)


def made(name, content, rng):
    """Return one input of a kind."""
    if content.startswith(b"PK") and rng.random() < 0.7:
        return rezipped(content, rng)
    if rng.random() < 0.05:
        others = list(HONEST.values())
        content += others[int(rng.integers(len(others)))][1]
    return damaged(content, rng)


@pytest.mark.parametrize("name", HONEST)
def test_honest_files_are_read(tmp_path, name):
    file, content, read = HONEST[name]
    (tmp_path / file).write_bytes(content)
    read(tmp_path / file)


@pytest.mark.parametrize("name", HONEST)
def test_what_is_no_file_is_refused_at_once(tmp_path, name):
    file, _, read = HONEST[name]
    os.mkfifo(tmp_path / file)
    with pytest.raises(ArcadeMarkError, match="is a named pipe; expected a file"):
        read(tmp_path / file)
    (tmp_path / file).unlink()
    (tmp_path / file).symlink_to(tmp_path / file)
    with pytest.raises(ArcadeMarkError, match="Too many levels of symbolic links"):
        read(tmp_path / file)


@pytest.mark.parametrize("name", HONEST)
def test_damaged_files_are_read_or_refused_in_one_line(tmp_path, name):
    file, content, read = HONEST[name]
    refused = []
    inputs = -(-INPUTS // len(HONEST))
    for seed in range(inputs):
        path = tmp_path / file
        path.write_bytes(made(name, content, np.random.default_rng(seed)))
        begun = time.process_time()
        try:
            read(path)
        except ArcadeMarkError as error:
            refused.append(str(error))
        except BaseException as error:
            error.add_note(f"{name}, input {seed}")
            raise
        assert time.process_time() - begun < MAX_SECONDS, (name, seed)
    assert refused
    assert not [message for message in refused if not message.isprintable() or len(message) > MAX_MESSAGE_CHARS]
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 < MAX_BYTES, name
