"""Folders and several files at once, and where names come from."""

import itertools
from pathlib import Path

import numpy as np
import pytest
from score_files import episodes, monitor, read, write

from arcademark.errors import ArcadeMarkError, UnknownNameError
from arcademark.scores.readers.formats import recognise
from arcademark.scores.readers.logs.naming import Names, from_path
from arcademark.scores.reading import FORMATS, read_tables
from arcademark.suite.tasks import canonical_game
from plugin_packages import install

NAN = np.nan


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("logs/dqn/Pong/3/monitor.csv", Names("dqn", "Pong", 3)),
        ("logs/dqn/PongNoFrameskip-v4_2/0.monitor.csv", Names("dqn", "PongNoFrameskip-v4", 2)),
        ("Pong/dqn/seed_12/evaluations.npz", Names("dqn", "Pong", 12)),
        ("dqn/pong/s7.monitor.csv", Names("dqn", "pong", 7)),
        ("runs/ALE/Pong-v5__ppo_atari__4__1700/events.out.tfevents.1.host", Names("ppo_atari", "Pong-v5", 4)),
        ("runs/Pong-v5__my__agent__4__1700/events.out.tfevents.1.host", Names("my__agent", "Pong-v5", 4)),
        ("dqn/pong.csv", Names("dqn", "pong", None)),
        ("one/pong/two/0/monitor.csv", Names(None, "pong", 0)),
        ("dqn/3/monitor.csv", Names(None, None, 3)),
        ("monitor.csv", Names()),
        ("dqn/pitfall2/1/monitor.csv", Names("dqn", "pitfall2", 1)),
    ],
)
def test_names_in_paths(path, names):
    assert from_path(Path(path), canonical_game) == names


def test_a_folder_that_is_named_as_the_log_names_its_task_is_the_task(tmp_path):
    monitor(tmp_path / "dqn" / "CartPole-v1_2" / "monitor.csv", 1, env="CartPole-v1")
    made = read_tables(tmp_path)
    assert (made.table.algorithms, made.table.tasks, made.runs) == (("dqn",), ("CartPole-v1",), {"dqn": (2,)})
    with pytest.raises(ArcadeMarkError, match="unknown game 'CartPole-v1'"):
        read(tmp_path)


def test_a_folder_of_logs_is_one_table(tmp_path):
    for algorithm in ("dqn", "ppo"):
        for game, env in (("Pong", "PongNoFrameskip-v4"), ("Qbert", "ALE/Qbert-v5")):
            for seed in (0, 4):
                score = seed + 10 * (algorithm == "ppo") + 100 * (game == "Qbert")
                monitor(tmp_path / algorithm / game / str(seed) / "monitor.csv", score, env=env)
    write(tmp_path / "README.md", "notes")
    made = read(tmp_path)
    assert (made.table.algorithms, made.table.tasks) == (("dqn", "ppo"), ("pong", "qbert"))
    np.testing.assert_array_equal(made.table.scores, [[[0, 4], [100, 104]], [[10, 14], [110, 114]]])
    assert made.runs == {"dqn": (0, 4), "ppo": (0, 4)}
    assert made.table.sources == (str(tmp_path / "dqn"), str(tmp_path / "ppo"))
    assert len(made.files) == 8
    assert made.summary == "sb3-monitor, 8 files, 8 episodes: 2 algorithms, 2 tasks, 2 runs"
    assert "1 file left out, of a kind without scores: README.md" in made.notes


def test_a_pattern_names_and_chooses(tmp_path):
    monitor(tmp_path / "exp1" / "mine-v2" / "breakout-seed3" / "monitor.csv", 5, env=None)
    monitor(tmp_path / "exp1" / "other.csv", 7)
    made = read(tmp_path, pattern="{algorithm}/{game}-{seed}/monitor.csv")
    assert (made.table.algorithms, made.table.tasks, made.runs) == (("mine-v2",), ("breakout",), {"mine-v2": (3,)})
    assert any("not matching the pattern" in note and "exp1/other.csv" in note for note in made.notes)
    with pytest.raises(ArcadeMarkError, match="the pattern's seed is 'mine-v2', expected a number"):
        read(tmp_path, pattern="{seed}/{game}-*/monitor.csv")
    with pytest.raises(ArcadeMarkError, match=r"no file of scores in this folder \(2 files left out, not matching"):
        read(tmp_path, pattern="{algorithm}/nothing.csv")


def test_what_the_caller_says_goes_before_the_pattern_the_file_and_the_path(tmp_path):
    monitor(tmp_path / "dqn" / "Qbert" / "3" / "monitor.csv", 1, env="PongNoFrameskip-v4")
    assert read(tmp_path).table.tasks == ("pong",)
    assert read(tmp_path, pattern="{algorithm}/{game}/{seed}/*").table.tasks == ("qbert",)
    said = read(tmp_path, pattern="{algorithm}/{game}/{seed}/*", task="Breakout", algorithm="me", run=8)
    assert (said.table.algorithms, said.table.tasks, said.runs) == (("me",), ("breakout",), {"me": (8,)})


def test_two_logs_of_one_run_are_refused(tmp_path):
    monitor(tmp_path / "dqn" / "Pong" / "monitor.csv", 1)
    monitor(tmp_path / "dqn" / "Pong" / "logs" / "monitor.csv", 1)
    with pytest.raises(ArcadeMarkError, match=r"a second log of 'dqn' on 'pong', run 0 .* pattern= .* and \{seed\}"):
        read(tmp_path)


def test_a_format_chooses_among_the_logs_of_a_run(tmp_path):
    folder = tmp_path / "dqn" / "Pong" / "1"
    monitor(folder / "monitor.csv", 1)
    np.savez(folder / "evaluations.npz", timesteps=[1], results=[[5.0, 6.0]])
    write(folder / "progress.csv", "rollout/ep_rew_mean\n1\n")
    with pytest.raises(ArcadeMarkError, match="choose one kind of file with format="):
        read(tmp_path)
    made = read(tmp_path, format="sb3-evaluations")
    assert made.table.scores.item() == 5.5
    assert any(note.startswith("2 files left out, of another format") for note in made.notes)
    (folder / "evaluations.npz").unlink()
    copied = read(tmp_path)
    assert copied.format == "sb3-monitor"
    assert "1 file left out, repeating other logs there: dqn/Pong/1/progress.csv" in copied.notes


def test_files_of_other_content_are_left_out_and_damaged_ones_are_not(tmp_path):
    monitor(tmp_path / "dqn" / "pong" / "1" / "monitor.csv", 1)
    write(tmp_path / "dqn" / "pong" / "1" / "params.json", '{"lr": 0.1, "layers": ["a"]}')
    write(tmp_path / "dqn" / "pong" / "1" / "losses.csv", "loss,step\n1,2\n")
    write(tmp_path / ".hidden" / "monitor.csv", "x")
    made = read(tmp_path)
    assert any(note.startswith("2 files left out, without scores in a known format") for note in made.notes)
    write(tmp_path / "dqn" / "pong" / "2" / "result.json", '{"episode_reward_mean": 1')
    with pytest.raises(ArcadeMarkError, match=r"result\.json, row 1, character \d+: not JSON"):
        read(tmp_path)


def test_a_log_without_an_episode_is_missing_and_said(tmp_path):
    monitor(tmp_path / "dqn" / "pong" / "1" / "monitor.csv", 4)
    monitor(tmp_path / "dqn" / "pong" / "2" / "monitor.csv")
    made = read(tmp_path)
    np.testing.assert_array_equal(made.table.scores, [[[4, NAN]]])
    assert any(note.startswith("1 log without a score, missing in the table: ") for note in made.notes)


def test_several_tables_are_put_together_run_by_run(tmp_path):
    head = "algorithm,game,run,score,protocol\n"
    a = write(tmp_path / "a.csv", head + "dqn,Pong,1,1,saber\nppo,Pong,0,2,ale-v5\n")
    b = write(tmp_path / "b.csv", head + "dqn,Pong,0,3,saber\ndqn,Qbert,1,4,saber\n")
    made = read([a, b])
    assert made.table.protocols == ("saber", "ale-v5")
    np.testing.assert_array_equal(made.table.scores, [[[3, 1], [NAN, 4]], [[2, NAN], [NAN, NAN]]])
    assert made.runs == {"dqn": (0, 1), "ppo": (0,)}
    assert made.table.sources[0] == f"{a}, {b}"
    assert read(tmp_path).table == made.table
    wide = write(tmp_path / "c.csv", "game,new\nPong,7\n")
    assert read([a, wide]).format == "long + wide"


def test_tables_and_logs_with_episodes_side_by_side(tmp_path):
    table = write(tmp_path / "a.csv", "algorithm,game,run,episode,score\ndqn,Pong,1,0,1\ndqn,Pong,1,1,2\n")
    made = read([table, monitor(tmp_path / "ppo" / "pong" / "3" / "monitor.csv", 5, 6)])
    assert episodes(made) == {("dqn", "pong"): [[1, 2]], ("ppo", "pong"): [[5, 6]]}


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ("dqn,Pong,0,1,x\n", "dqn,Pong,0,2,x\n", r"b\.csv: a second score for 'dqn' on 'pong', run 0 .*a\.csv"),
        ("dqn,Pong,0,1,x\n", "dqn,Pong,1,2,y\n", r"b\.csv: 'dqn' is scored under 'y' here and under 'x' in .*a\.csv"),
        ("dqn,Pong,0,1,x\n", "dqn,Pong,1,2,\n", "scored under no named protocol here and under 'x'"),
    ],
)
def test_tables_that_contradict_each_other(tmp_path, first, second, message):
    head = "algorithm,game,run,score,protocol\n"
    with pytest.raises(ArcadeMarkError, match=message):
        read([write(tmp_path / "a.csv", head + first), write(tmp_path / "b.csv", head + second)])


def test_what_cannot_be_read_at_all(tmp_path):
    with pytest.raises(ArcadeMarkError, match=r"nowhere\.csv: cannot read the file"):
        read(tmp_path / "nowhere.csv")
    with pytest.raises(ArcadeMarkError, match="no file of scores in this folder; it is empty"):
        read(tmp_path)
    with pytest.raises(ArcadeMarkError, match="no tables given"):
        read([])
    path = write(tmp_path / "a.csv", "game,dqn\npong,1\n")
    with pytest.raises(ArcadeMarkError, match="named twice"):
        read([path, path])
    with pytest.raises(ArcadeMarkError, match="last is 0, expected at least 1"):
        read(path, last=0)


def test_formats_are_recognised_by_content_and_may_be_said(tmp_path):
    path = write(tmp_path / "a.csv", "game,dqn\npong,1\n")
    assert recognise(path, path).format == "wide"
    assert read(path, format="wide").format == "wide"
    with pytest.raises(UnknownNameError, match="unknown format 'excel'"):
        read(path, format="excel")
    with pytest.raises(ArcadeMarkError, match="no file of format 'rliable'; it looks like 'wide'"):
        read(path, format="rliable")
    with pytest.raises(ArcadeMarkError, match="no file of format 'long'; it looks like 'wide'"):
        read(path, format="long")
    with pytest.raises(ArcadeMarkError, match="row 1: expected a monitor's first line"):
        read(path, format="sb3-monitor")
    assert all(FORMATS.values())


READER = """
def read(path):
    text = path.read_text()
    if not text.startswith("%mine"):
        return None
    return {"A": {"pong": [float(line) for line in text.split()[1:]]}}

def broken(path):
    raise KeyError("cell")

def listing(path):
    return [1]
"""


def test_other_packages_read_what_none_of_ours_knows(tmp_path, monkeypatch):
    (site := tmp_path / "site").mkdir()
    monkeypatch.syspath_prepend(str(site))
    install(site, "plug_reader", "[arcademark.readers]\nmine = plug_reader:read\n", READER)
    (logs := tmp_path / "logs").mkdir()
    (logs / "a.mine").write_text("%mine 1 2.5")
    (logs / "b.mine").write_text("%other")
    for place, format in itertools.product((logs / "a.mine", logs), (None, "mine")):
        reading = read_tables(place, canonical_task=str.upper, format=format)
        assert (reading.format, reading.table.tasks) == ("mine", ("PONG",))
        assert reading.table.scores.tolist() == [[[1.0, 2.5]]]
        assert reading.table.sources == (str(logs / "a.mine"),)
    (scores := tmp_path / "scores.csv").write_text("game,dqn\npong,1\n")
    assert read_tables(scores).format == "wide"
    for format in (None, "mine"):
        with pytest.raises(ArcadeMarkError, match=r"b\.mine"):
            read_tables(logs / "b.mine", format=format)
    with pytest.raises(UnknownNameError, match="unknown format 'mime'; did you mean 'mine'"):
        read_tables(scores, format="mime")


@pytest.mark.parametrize(
    ("reader", "error"), [("broken", "raised KeyError: 'cell'"), ("listing", "gave no table of scores: list")]
)
def test_a_reader_of_another_package_that_fails_is_named(tmp_path, monkeypatch, reader, error):
    monkeypatch.syspath_prepend(str(tmp_path))
    install(tmp_path, f"plug_{reader}", f"[arcademark.readers]\n{reader} = plug_{reader}:{reader}\n", READER)
    with pytest.raises(ArcadeMarkError, match=f"the reader '{reader}' of another package {error}"):
        read_tables(write(tmp_path / "a.mine", "%mine 1"))
