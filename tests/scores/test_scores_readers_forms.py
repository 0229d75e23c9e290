"""Forms in which scores come beside plain tables: frames, what we print, folders as tools leave them."""

import json

import numpy as np
import pytest
from score_files import monitor, read, refuse, write

from arcademark.errors import ArcadeMarkError
from arcademark.scores.readers.base import Options
from arcademark.scores.readers.frames import read_frame
from arcademark.suite.tasks import canonical_game
from command_line import execute

GAMES = Options(canonical_task=canonical_game)
PONG, CARTPOLE = "PongNoFrameskip-v4", "CartPole-v1"
WIDE = "game,DQN,PPO,rank\nPong,18.9,20.7,2\nQ*bert,10596,14293,1\n"


def curve(last):
    return f"Steps,eprewmean\n1000,-21\n2000,{last}\n"


def table_of(reading):
    table = reading.table
    return {
        name: {task: runs[~np.isnan(runs)].tolist() for task, runs in zip(table.tasks, table.scores[at], strict=True)}
        for at, name in enumerate(table.algorithms)
    }


@pytest.mark.parametrize("wrong", [[1, 2], None, np.zeros((2, 2)), "scores.csv"])
def test_what_is_no_frame_is_refused(wrong):
    with pytest.raises(ArcadeMarkError, match=f"{type(wrong).__name__} given, expected a ScoreTable, a DataFrame"):
        read_frame(wrong)


@pytest.mark.needs("pandas")
def test_a_frame_is_read_as_the_csv_that_it_would_be():
    import pandas
    import pyarrow

    frame = pandas.DataFrame(
        {
            "game": ["Pong", "Qbert"],
            "DQN": [18.9, np.nan],
            "PPO": pandas.array([20, None], dtype="Int64"),
            "rank": [1, 2],
        }
    )
    expected = {"DQN": {"pong": [18.9], "qbert": []}, "PPO": {"pong": [20.0], "qbert": []}}
    assert table_of(read_frame(frame, GAMES)) == table_of(read_frame(frame.set_index("game"), GAMES)) == expected
    assert read_frame(frame, GAMES).read_as.endswith("; ignored: rank")
    assert table_of(read_frame(frame.set_index("game")["DQN"], GAMES)) == {"DQN": expected["DQN"]}
    means = frame.set_index("game")[["DQN"]].T
    assert table_of(read_frame(means, GAMES)) == {"DQN": expected["DQN"]}
    runs = pandas.DataFrame({"algo": ["A", "A"], "env": ["Pong", "Pong"], "seed": [0, 1], "score": [1.0, 2.0]})
    stated = runs.groupby(["algo", "env"]).agg({"score": ["mean", "std"]})
    assert table_of(read_frame(stated, GAMES)) == {"A": {"pong": [1.5]}}
    several = pandas.DataFrame(
        [[1.0, 2.0, 3.0, 4.0]],
        index=pandas.Index(["Pong"], name="game"),
        columns=pandas.MultiIndex.from_product([["DQN", "PPO"], [0, 1]], names=["algo", "seed"]),
    )
    assert table_of(read_frame(several, GAMES)) == {"DQN": {"pong": [1.0, 2.0]}, "PPO": {"pong": [3.0, 4.0]}}
    pivoted = runs.pivot_table(index="env", columns="algo", values=["score"])
    assert table_of(read_frame(pivoted, GAMES)) == {"A": {"pong": [1.5]}}
    large = runs.assign(seed=[2**62, 2**62 + 1])
    assert table_of(read_frame(large, GAMES)) == {"A": {"pong": [1.0, 2.0]}}
    assert table_of(read_frame(pyarrow.Table.from_pandas(runs), GAMES)) == {"A": {"pong": [1.0, 2.0]}}
    twice = pandas.DataFrame([["Pong", 1.0, 2.0]], columns=["game", "DQN", "DQN"])
    with pytest.raises(Exception, match="named twice"):
        read_frame(twice, GAMES)


def test_what_is_printed_as_latex_and_markdown_reads_back(tmp_path):
    write(tmp_path / "scores.csv", WIDE)
    for form in ("latex", "markdown"):
        printed = execute(tmp_path, ["arcademark", "score", "scores.csv", "--format", form])
        assert table_of(read(write(tmp_path / "printed.txt", printed))) == table_of(read(tmp_path / "scores.csv")), form


def test_how_a_table_is_read_is_shown_and_explained(tmp_path):
    write(tmp_path / "scores.csv", WIDE)
    line = "Read as: 1 run of 2 algorithms ('DQN', 'PPO') on 2 games; ignored: rank"
    for command in (["score", "scores.csv"], ["compare", "scores.csv", "DQN", "PPO"]):
        assert line in " ".join(execute(tmp_path, ["arcademark", *command]).split())
        printed = json.loads(execute(tmp_path, ["arcademark", *command, "--format", "json"]))
        assert f"{line}." in [item["text"] for item in printed["notices"]]
    execute(tmp_path, ["arcademark", "score", "scores.csv", "--save", "page.html"])
    assert "ignored: rank" in (tmp_path / "page.html").read_text()
    told = execute(tmp_path, ["arcademark", "score", "scores.csv", "--explain", "--read", "PPO=note"])
    assert "'rank': rank, ignored (by its name)" in told
    assert "'PPO': note, ignored (as said)" in told
    assert "'DQN': value: scores of 'DQN' (no other role fits)" in told


def test_how_rows_are_read_is_explained(tmp_path):
    text = "algo,Pong\nDQN seed 0,18\nDQN seed 1,19\nstd,0.5\n"
    explained = read(write(tmp_path / "scores.csv", text)).explained
    assert explained[-3:] == (
        "row 'DQN seed 0': scores of 'DQN', run 0 (by its name)",
        "row 'DQN seed 1': scores of 'DQN', run 1 (by its name)",
        "row 'std': spread, ignored (by its name)",
    )


def test_games_asked_for_leave_out_tasks_of_unknown_names(tmp_path):
    write(tmp_path / "scores.csv", "game,DQN\nPong,18.9\nSheepRaider,4\n")
    refuse(tmp_path / "scores.csv", "unknown game 'SheepRaider'")
    assert "SheepRaider" in execute(tmp_path, ["arcademark", "score", "scores.csv", "--games", "pong", "--all"])


def test_logs_of_other_tasks_and_of_training_beside_evaluation_are_left_out(tmp_path):
    write(tmp_path / "ppo2" / PONG / "0" / "eval" / "progress.csv", curve(18))
    write(tmp_path / "ppo2" / PONG / "0" / "train" / "progress.csv", curve(10))
    write(tmp_path / "ppo2" / CARTPOLE / "0" / "progress.csv", curve(500))
    monitor(tmp_path / "ppo2" / "cart" / "1" / "monitor.csv", 500, env=CARTPOLE)
    made = read(tmp_path)
    assert table_of(made) == {"ppo2": {"pong": [18.0]}}
    assert any(note.startswith("2 logs left out, of none of the games: ") for note in made.notes)
    assert any(note.startswith("1 log of training left out beside those of evaluation: ") for note in made.notes)


@pytest.mark.parametrize(
    ("path", "name"),
    [
        (f"dqn/default/{PONG}/seed_0", "dqn"),
        (f"dqn/seed_0/{PONG}", "dqn"),
        (f"{PONG}/2026-01-31_12-00/dqn/0", "dqn"),
        (f"dqn/lr0.1/{PONG}/0", "dqn/lr0.1"),
    ],
)
def test_folders_between_an_algorithm_and_a_game_are_passed_over_or_part_of_its_name(tmp_path, path, name):
    write(tmp_path / path / "progress.csv", curve(18))
    assert table_of(read(tmp_path)) == {name: {"pong": [18.0]}}


@pytest.mark.parametrize("folder", ["ppo-Pong-v5", "ppo_Pong-v5_0_lr=0.1_2026-01-31", "logs-Pong-v5"])
def test_a_folder_names_an_algorithm_before_the_environment(tmp_path, folder):
    write(tmp_path / folder / "progress.csv", curve(18))
    if folder.startswith("logs"):
        refuse(tmp_path, "nothing says which algorithm this is")
        return
    monitor(tmp_path / "ppo-CartPole-v1" / "0.monitor.csv", 500, env=CARTPOLE)
    made = read(tmp_path)
    assert table_of(made) == {"ppo": {"pong": [18.0]}}
    assert any(note.startswith("1 log left out, of none of the games: ") for note in made.notes)


def test_settings_beside_a_log_are_no_scores(tmp_path):
    folder = tmp_path / "PPO_Pong-v5_1a_0"
    row = {"training_iteration": 1, "episode_reward_mean": 4.0, "config": {"env": "Pong-v5", "seed": 7}}
    write(folder / "result.json", json.dumps(row) + "\n")
    write(folder / "params.json", {"env": "Pong-v5", "num_workers": 32, "lr_schedule": [[0, 0.1], [9, 0.01]]})
    made = read(tmp_path)
    assert table_of(made) == {"PPO": {"pong": [4.0]}}
    assert any(note.startswith("1 file left out, without scores in a known format: ") for note in made.notes)


def test_logs_of_acme_and_dopamine(tmp_path):
    rows = "episode_length,episode_return,evaluator_episodes\n100,-19,1\n100,-18,2\n"
    write(tmp_path / "acme" / "dqn" / "pong" / "0" / "logs" / "evaluator" / "logs.csv", rows)
    assert table_of(read(tmp_path / "acme")) == {"dqn": {"pong": [-18.5]}}
    points = [(0, -20.0), (0, -19.0), (1, 17.0), (1, 18.0)]
    content = [{"Iteration": at, "Value": value, "Agent": "DQN"} for at, value in points]
    made = read(write(tmp_path / "Pong.json", content))
    assert table_of(made) == {"DQN": {"pong": [17.0, 18.0]}}
    assert "2 rows at the same Iteration are as many runs" in made.notes
    refuse(write(tmp_path / "Pong.json", content[:3]), "a second score for 'DQN'")


def test_what_a_running_job_has_not_finished_is_left_out(tmp_path):
    write(tmp_path / "a" / "ppo2" / PONG / "0" / "progress.csv", curve(18) + "3000")
    assert table_of(read(tmp_path / "a")) == {"ppo2": {"pong": [18.0]}}
    row = '{"training_iteration": 1, "episode_reward_mean": 4.0, "config": {"env": "ALE/Pong-v5", "seed": 7}}\n'
    write(tmp_path / "b" / "PPO_ALE_Pong-v5_1a_0" / "result.json", row + row[:40])
    assert table_of(read(tmp_path / "b")) == {"PPO": {"pong": [4.0]}}


def test_lines_of_json_end_where_an_editor_ends_them_in_any_encoding(tmp_path):
    rows = '{"algorithm": "DQN", "game": "pong", "run": %d, "score": 18, "note": "a\u2028b"}\n'
    assert table_of(read(write(tmp_path / "scores.jsonl", rows % 0 + rows % 1))) == {"DQN": {"pong": [18.0, 18.0]}}
    row = '{"training_iteration": 1, "episode_reward_mean": 4.0, "config": {"env": "ALE/Pong-v5", "seed": 7}}\n'
    result = write(tmp_path / "result.json", row.encode("utf-16"))
    assert table_of(read(result, format="rllib", algorithm="PPO")) == {"PPO": {"pong": [4.0]}}


def test_paths_name_the_games_and_algorithms_of_tables(tmp_path):
    write(tmp_path / "DQN" / "pong.csv", "seed,score\n0,18\n1,19\n")
    write(tmp_path / "PPO" / "pong.csv", "seed,score\n0,20\n1,21\n")
    assert table_of(read(tmp_path)) == {"DQN": {"pong": [18.0, 19.0]}, "PPO": {"pong": [20.0, 21.0]}}
    write(tmp_path / "each" / "A.csv", "game,score\nPong,1\n")
    write(tmp_path / "each" / "B.csv", "game,score\nPong,2\n")
    refuse(tmp_path / "each", "no column 'algorithm'; .* pattern=")
    assert table_of(read(tmp_path / "each", pattern="{algorithm}.csv")) == {"A": {"pong": [1.0]}, "B": {"pong": [2.0]}}


def test_numbers_under_the_name_of_a_note_are_scores_where_citations_would_be_whole(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("game,Human,Human Ref,DQN,DQN ref\nPong,14.6,14.5,18.9,12\nBoxing,12.1,12.1,71.8,12\n")
    table = read([str(path)]).table
    assert table.algorithms == ("Human", "Human Ref", "DQN")


@pytest.mark.parametrize(
    ("names", "kept"),
    [
        (("weak", "best"), ("weak", "best")),
        (("DQN", "UCB", "Max"), ("DQN", "UCB", "Max")),
        (("DQN", "PPO", "mean", "best"), ("DQN", "PPO")),
        (("Human", "Human Ref"), ("Human", "Human Ref")),
    ],
)
def test_a_row_is_a_statistic_only_where_its_name_is_sure(tmp_path, names, kept):
    rows = "".join(f"{name},pong,{number}\n" for number, name in enumerate(names))
    made = read(write(tmp_path / "a.csv", f"algorithm,game,score\n{rows}"))
    assert set(made.table.algorithms) == set(kept)


def test_lengths_of_training_that_are_not_all_known_order_nothing(tmp_path):
    made = read(write(tmp_path / "a.csv", "algorithm,game,score,frames\nDQN,pong,1,200\nPPO,pong,2,\n"))
    assert made.table.scores.ravel().tolist() == [1, 2]
    assert "'frames' is left out: cells of it are empty" in made.notes


def test_a_pattern_takes_an_environment_with_its_version(tmp_path):
    write(tmp_path / "Pong-v5-DQN-train" / "progress.csv", curve(18))
    assert table_of(read(tmp_path, pattern="{game}-{algorithm}-train/*")) == {"DQN": {"pong": [18.0]}}
