"""CSV with named series: logs of one run, and what W&B exports of several."""

import pytest
from score_files import episodes, read, refuse, write

from arcademark.scores.readers.formats import recognise


def test_a_progress_file(tmp_path):
    path = write(
        tmp_path / "progress.csv", "rollout/ep_rew_mean,time/total_timesteps,train/loss\n5,300,1\n,400,1\n3,100,1\n"
    )
    assert recognise(path, path).format == "metrics-csv"
    assert read(path, algorithm="a", task="pong").table.scores.item() == 5
    assert read(path, algorithm="a", task="pong", last=2).table.scores.item() == 4
    refuse(path, "there is no series 'x'; it has rollout/ep_rew_mean", algorithm="a", task="pong", tag="x")


def test_a_run_history_with_an_episode_a_row(tmp_path):
    path = write(tmp_path / "history.csv", "global_step,charts/episodic_return,losses/loss\n10,1,\n15,,0.5\n20,3,\n")
    made = read(path, algorithm="a", task="pong")
    assert episodes(made) == {("a", "pong"): [[1, 3]]}


PONG, BREAKOUT = (f"{run} - charts/episodic_return" for run in ("Pong-v4__dqn__1__17", "Breakout-v4__dqn__2__18"))
EXPORT = f'''"global_step","{PONG}","{PONG}__MIN","{PONG}__MAX","{BREAKOUT}"
"100","-21","-21","-21",""
"200","","","","3"
"300","-19","-20","-18","5"
'''


def test_an_export_of_cleanrls_runs(tmp_path):
    path = write(tmp_path / "wandb_export.csv", EXPORT)
    assert recognise(path, path).format == "wandb"
    made = read(path)
    assert (made.table.algorithms, made.table.tasks, made.runs) == (("dqn",), ("pong", "breakout"), {"dqn": (1, 2)})
    assert episodes(made) == {("dqn", "pong"): [[-21, -19]], ("dqn", "breakout"): [[3, 5]]}
    assert any("W&B thinned them" in note and "(1 log)" in note for note in made.notes)


def test_names_of_runs_by_a_pattern_or_counted(tmp_path):
    path = write(
        tmp_path / "export.csv", "Step,pong-ppo-4 - eval/mean_reward,pong-ppo-9 - eval/mean_reward\n1,1,2\n2,3,\n"
    )
    made = read(path, pattern="{game}-{algorithm}-{seed}")
    assert (made.table.algorithms, made.runs) == (("ppo",), {"ppo": (4, 9)})
    assert made.table.scores.ravel().tolist() == [3, 2]
    counted = read(path, algorithm="ppo", task="pong")
    assert counted.runs == {"ppo": (0, 1)}
    refuse(path, "'pong-ppo-4': nothing says which algorithm")
    refuse(path, "does not end as the pattern", pattern="{algorithm}_{game}_{seed}")
    refuse(path, r"\{run\} is unknown or there twice; known: \{algorithm\}, \{game\}, \{seed\}", pattern="{run}")


def test_an_export_of_several_series_needs_one(tmp_path):
    path = write(tmp_path / "export.csv", "Step,a - loss,a - entropy\n1,1,2\n")
    refuse(path, "no series that is known to be scores", algorithm="a", task="pong")
    assert read(path, algorithm="a", task="pong", tag="entropy").table.scores.item() == 2


def test_algorithms_with_a_dash_make_no_export(tmp_path):
    path = write(tmp_path / "t.csv", "game,dqn - a,dqn - b\npong,1,2\n")
    assert recognise(path, path).format == "wide"


def test_options_that_a_file_is_read_with_read_its_folder_too(tmp_path):
    text = "misc/total_timesteps,reward_of_eval\n100,1\n200,3\n"
    path = write(tmp_path / "ppo2" / "PongNoFrameskip-v4" / "0" / "progress.csv", text)
    write(tmp_path / "ppo2" / "PongNoFrameskip-v4" / "0" / "notes.csv", "a,b\nx,y\n")
    options = {"format": "metrics-csv", "tag": "reward_of_eval"}
    for place in (path, tmp_path):
        found = read(place, **options)
        assert (found.table.algorithms, found.table.tasks, found.runs) == (("ppo2",), ("pong",), {"ppo2": (0,)})
        assert found.table.scores.item() == 3 or found.amounts == {"episode": 2}
    assert read(tmp_path, tag="reward_of_eval").table.tasks == ("pong",)


LOGS = {
    "progress.csv": "eprewmean,misc/total_timesteps\n1,100\n3,200\n",
    "progress.txt": "Epoch\tAverageEpRet\tTotalEnvInteracts\n0\t1\t100\n1\t3\t200\n",
    "scores.txt": "steps\tepisodes\telapsed\tmean\tmedian\tstdev\n100\t5\t1.5\t1\t1\t0\n200\t9\t2.5\t3\t3\t0\n",
}


def test_earlier_logs_of_chainerrl_have_no_episodes(tmp_path):
    path = write(
        tmp_path / "a3c" / "Pong-v5" / "2" / "scores.txt", "steps\telapsed\tmean\tmedian\n100\t1.5\t-20\t-21\n"
    )
    assert read(path).table.scores.item() == -20


@pytest.mark.parametrize("name", LOGS)
def test_logs_of_baselines_spinning_up_and_pfrl(tmp_path, name):
    path = write(tmp_path / "ppo" / "Pong-v5" / "2" / name, LOGS[name])
    for place in (path, tmp_path):
        found = read(place)
        assert (found.table.algorithms, found.table.tasks, found.runs) == (("ppo",), ("pong",), {"ppo": (2,)})
        assert found.table.scores.item() == 3


def test_dreamers_metrics(tmp_path):
    lines = '{"step": 100, "fps": 9.5}\n{"step": 200, "episode/score": 1.0}\n{"step": 300, "episode/score": 3}\n'
    path = write(tmp_path / "dreamer" / "pong" / "1" / "scores.jsonl", lines)
    for place in (path, tmp_path):
        found = read(place)
        assert (found.table.algorithms, found.runs) == (("dreamer",), {"dreamer": (1,)})
        assert episodes(found) == {("dreamer", "pong"): [[1, 3]]}


def test_the_files_of_d3rlpy_have_no_header_and_their_names_say_their_series(tmp_path):
    folder = tmp_path / "DQN_pong_20260101000000"
    write(folder / "environment.csv", "1,1000,-20.5\n2,2000,18.5\n")
    write(folder / "loss.csv", "1,1000,0.5\n2,2000,0.25\n")
    reading = read(tmp_path, pattern="{algorithm}_{game}_*/*")
    assert (reading.table.algorithms, reading.table.tasks) == (("DQN",), ("pong",))
    assert reading.table.scores.ravel().tolist() == [18.5]
    assert any("loss.csv" in note for note in reading.notes)
    refuse(folder / "loss.csv", "as d3rlpy writes epoch, step and 'loss', which is not known", task="Pong")
