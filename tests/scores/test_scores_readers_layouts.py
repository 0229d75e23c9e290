import numpy as np
import pytest

from arcademark.errors import ArcadeMarkError, UnknownNameError
from arcademark.scores.readers.tables import rows
from arcademark.scores.reading import read_tables

NAN = np.nan
GAMES = {"Pong": "pong", "Q*bert": "qbert", "ALE/Qbert-v5": "qbert"}


def canonical(name):
    if name not in GAMES:
        raise UnknownNameError("game", name, GAMES)
    return GAMES[name]


def write(tmp_path, text, encoding="utf-8"):
    path = tmp_path / "scores.csv"
    path.write_text(text, encoding=encoding)
    return path


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty; expected scores"),
        ("algorithm,Pong\n", "no rows below the header"),
        ("name;score\nx;1\n", "row 1: expected the columns"),
        ("algorithm\ndqn\n", "row 1: expected the columns"),
        ("algorithm,,pong\ndqn,1,2\n", "row 1, column 2: the column has no name"),
        ("algorithm,Pong,pong\ndqn,1,2\n", "row 1, column 3: the column 'pong' is named twice"),
        ("algorithm,Pong\ndqn,1\n\nppo,1,2\n", "row 4: 3 cells, expected 2"),
        ("algorithm,Pong\ndqn,fast\n", "row 2, column 'Pong': 'fast' is no score; expected a number"),
        ("algorithm,Pong\n ,1\n", "row 2, column 'algorithm': the cell is empty, expected a name"),
        ("algorithm,Pnog\ndqn,1\n", "row 1, column 'Pnog': unknown game 'Pnog'; did you mean 'Pong'"),
        ("game,dqn\nPong,1\nPnog,1\n", "row 3, column 'game': unknown game 'Pnog'; did you mean 'Pong'"),
        ("algorithm,game,score,run\na,Pong,1,x\n", "row 2, column 'run': 'x' is no whole number"),
        ("algorithm,game,score\na,Pong,1\na,Pong,2\n", r"row 3: a second score for 'a' on 'pong', .* is in row 2"),
        ("algorithm,Q*bert,ALE/Qbert-v5\na,1,2\n", "row 2: a second score for 'a' on 'qbert'"),
        ('algorithm,Pong\na,"1\n', "row 2: a quotation mark opens here"),
        ('algorithm,Pong\n"a\nb",1\nc,2\nd,"1\ne,5\n', "row 5: a quotation mark opens here"),
        ('algorithm,Pong\n"a"b,1\n', "row 2: a quotation mark opens here"),
        ("algorithm,Pong\na\x1b[31m,1\n", r"row 2, column 'algorithm': 'a\\x1b\[31m' contains .* U\+001B; take it out"),
        ("algorithm,Po\x07ng\na,1\n", r"row 1, column 2: 'Po\\x07ng' contains .* U\+0007; take it out"),
        ("algorithm,Pong\na\u202eb,1\n", r"U\+202E; take it out"),
        ("algorithm,Pong\na,18.9 [17.2, 20.1]\n", "cells, expected 2"),
        ("algorithm,game,score,run\na,Pong,1,1.5\n", "row 2, column 'run': '1.5' is no whole number"),
        ("algorithm,game,episode,score\na,Pong,1,1\na,Pong,1,2\n", "row 3: a second score .*run 0, same episode"),
        (
            "algorithm,game,frames,episode,score\na,Pong,1,1,1\na,Pong,2,1,1\na,Pong,2,1,2\n",
            r"row 4: a second score .*same episode and frames \(the first is in row 3\)",
        ),
        ("game,run,a\nPong,1,1\nPong,2,2\nPong,1,3\n", r"row 4: a second score for 'a' on 'pong', run 1 .* row 2\)"),
        ("algorithm,game,score\na,Pong,1\na,Q*bert,x\na,Pong,3\n", "row 3, column 'score': 'x' is no score"),
        ("algorithm,game,episode,score\na,Pong,1,\n", "no cell holds a score"),
    ],
)
def test_what_is_wrong_is_named_with_file_row_and_column(tmp_path, text, message):
    path = write(tmp_path, text)
    with pytest.raises(ArcadeMarkError, match=message) as caught:
        read_tables(path, canonical_task=canonical)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def read(tmp_path, text, **options):
    return read_tables(write(tmp_path, text), canonical_task=canonical, **options)


@pytest.mark.parametrize(
    "text",
    [
        "Game,Seed,dqn,ppo\nPong,3,1,10\nPong,5,2,20\nQ*bert,3,4,\nQ*bert,5,6,30\n",
        "Algorithm,Pong,run,Q*bert\ndqn,1,3,4\ndqn,2,5,6\nppo,10,3,\nppo,20,5,30\n",
        "agent,env,seed,return\ndqn,Pong,3,1\ndqn,Pong,5,2\ndqn,Q*bert,5,6\ndqn,Q*bert,3,4\n"
        "ppo,Pong,3,10\nppo,Pong,5.0,20\nppo,Q*bert,3,\nppo,Q*bert,5,30\n",
    ],
    ids=["wide by game", "wide by algorithm", "long, other names"],
)
def test_runs_in_every_layout(tmp_path, text):
    made = read(tmp_path, text)
    np.testing.assert_array_equal(made.table.scores, [[[1, 2], [4, 6]], [[10, 20], [NAN, 30]]])
    assert made.runs == {"dqn": (3, 5), "ppo": (3, 5)}
    assert made.notes == ("1 score of 8 missing: empty cells, or marked as missing",)
    rows = text.count("\n") - 1  # of the file below its header, whatever a row holds
    assert (made.amounts, made.episodes) == ({"row": rows}, None)
    assert f", {rows} rows: 2 algorithms, 2 tasks, 1 to 2 runs" in made.summary


def test_runs_are_numbered_for_each_algorithm_apart(tmp_path):
    made = read(tmp_path, "algorithm,game,run,score\nb,Pong,7,1\na,Pong,-1,2\nb,Pong,2,3\na,Q*bert,40,4\n")
    assert made.runs == {"b": (2, 7), "a": (-1, 40)}
    np.testing.assert_array_equal(made.table.scores, [[[3, 1], [NAN, NAN]], [[2, NAN], [NAN, 4]]])


def test_episodes_are_averaged_and_kept(tmp_path):
    text = "algorithm,game,seed,episode,score\na,Pong,1,1,4\na,Pong,1,0,2\na,Pong,0,0,9\na,Pong,0,1,\nb,Pong,0,0,5\n"
    made = read(tmp_path, text)
    np.testing.assert_array_equal(made.table.scores, [[[9, 3]], [[5, NAN]]])
    assert [part.tolist() for part in made.episodes["a", "pong"]] == [[9], [2, 4]]
    assert made.notes == ("a run's score is the mean of all its episodes", "1 row of 5 without a score left out")
    assert made.amounts == {"row": 5}
    last = read(tmp_path, text, last=1)
    np.testing.assert_array_equal(last.table.scores, [[[9, 4]], [[5, NAN]]])


def test_frames_put_a_learning_curve_in_order_and_its_end_counts(tmp_path):
    text = "algorithm,game,frames,score\na,Pong,300,4\na,Pong,100,1\na,Pong,200,2\nb,Pong,100,7\n"
    made = read(tmp_path, text)
    assert made.table.scores.ravel().tolist() == [4, 7]
    assert made.episodes is None
    assert made.notes == ("a run's score is its last row", "2 earlier rows of 4 left out of the scores")
    two = read(tmp_path, text, last=2)
    assert two.table.scores.ravel().tolist() == [3, 7]
    assert two.notes[:2] == (
        "a run's score is the mean of its last 2 rows",
        "1 of 2 runs have fewer than 2, the fewest 1 row, and count with those",
    )


def test_episodes_at_the_last_frames_are_an_evaluation_and_others_a_training_log(tmp_path):
    head = "algorithm,game,frames,episode,score\n"
    evaluation = read(tmp_path, head + "a,Pong,1,0,1\na,Pong,1,1,2\na,Pong,9,0,10\na,Pong,9,1,20\nb,Pong,9,0,5\n")
    assert evaluation.table.scores.ravel().tolist() == [15, 5]
    assert evaluation.notes[0] == "a run's score is the mean of its episodes at its last frames"
    training = read(tmp_path, head + "".join(f"a,Pong,{1000 - i},{i},{i}\n" for i in range(150)))
    assert training.table.scores.ravel().tolist() == [np.mean(range(100))]
    assert training.notes[0] == "a run's score is the mean of its last 100 episodes"


def test_protocols_stand_in_the_table_and_an_algorithm_has_one(tmp_path):
    head = "algorithm,game,score,protocol\n"
    assert read(tmp_path, head + "b,Pong,1,saber\na,Pong,1,\nb,Q*bert,1,saber\n").table.protocols == ("saber", "")
    with pytest.raises(ArcadeMarkError, match=r"row 4, column 'protocol': 'b' is scored under 'ale-v5' .* row 2; "):
        read(tmp_path, head + "b,Pong,1,saber\na,Pong,1,x\nb,Q*bert,1,ale-v5\n")
    wide = read(tmp_path, "algorithm,protocol,Pong,Q*bert\nb,saber,1,2\na,ale-v5,3,4\n").table
    assert (wide.protocols, wide.tasks) == (("saber", "ale-v5"), ("pong", "qbert"))


def test_what_a_table_does_not_say_is_asked_for(tmp_path):
    with pytest.raises(
        ArcadeMarkError,
        match="row 1: there is no column 'algorithm'; add one, or, for all rows, say it with algorithm=",
    ):
        read(tmp_path, "game,score\nPong,1\n")
    with pytest.raises(
        ArcadeMarkError, match="row 1: there is no column 'task'; add one, or, for all rows, say it with task="
    ):
        read(tmp_path, "algorithm,score\na,1\n")
    made = read(tmp_path, "game,score\nPong,1\n", algorithm="mine", run=4)
    assert (made.table.algorithms, made.runs) == (("mine",), {"mine": (4,)})
    assert read(tmp_path, "algorithm,score\na,1\n", task="Pong").table.tasks == ("pong",)


def test_a_corner_without_a_name_is_told_by_the_games(tmp_path):
    by_game = read(tmp_path, ",dqn,ppo\nPong,1,2\nQ*bert,3,4\n").table
    by_algorithm = read(tmp_path, ",Pong,Q*bert\ndqn,1,3\nppo,2,4\n").table
    np.testing.assert_array_equal(by_game.scores, by_algorithm.scores)
    assert by_game.tasks == by_algorithm.tasks == ("pong", "qbert")
    with pytest.raises(ArcadeMarkError, match="row 3, column '': unknown game 'Pnog'; did you mean 'Pong'"):
        read(tmp_path, ",dqn,ppo\nPong,1,2\nPnog,3,4\n")
    with pytest.raises(ArcadeMarkError, match="column 1: the column has no name; name it 'game' or 'algorithm'"):
        read(tmp_path, ",dqn,ppo\nPgno,1,2\nPnog,3,4\n")
    with pytest.raises(ArcadeMarkError, match="the column has no name; name it"):
        read_tables(write(tmp_path, ",dqn\nPong,1\n"))


def test_what_is_left_out_is_said(tmp_path):
    made = read(tmp_path, ",algorithm,game,score,note\n0,a,Pong,1,x\n", last=5)
    assert made.notes == ("'last' has no effect: the table has neither episodes nor frames",)
    assert made.read_as == "Read as: 1 run of 1 algorithm ('a') on 1 game; ignored: (unnamed), note"
    assert made.explained[1] == "'algorithm': algorithm (by its name)"
    assert read(tmp_path, "game,a\nPong,1\nMean,1\n").notes == ("left out, for they are none of the games: Mean",)
    seeds = read(tmp_path, "game,algorithm,seed,score\nPong,a,0,1\nPong,a,1,2\nMean,a,,1.5\n")
    assert seeds.table.scores.tolist() == [[[1.0, 2.0]]]
    assert read(tmp_path, "game,a,b\nPong,1,\n").notes[-1] == "1 algorithm without any score: b"


def test_columns_without_any_score_are_no_algorithms_name(tmp_path):
    reading = read(tmp_path, "game,DQN,PPO\nPong,18,'-\nQ*bert,900,'-\n")
    assert (reading.table.algorithms, reading.ignored) == (("DQN",), ("PPO",))


def test_rows_that_are_numbered_as_runs_are_refused_before_memory_is_spent(tmp_path, monkeypatch):
    monkeypatch.setattr(rows, "MAX_CELLS", 100)
    ones = "".join(f"b{i},Q*bert,0,1\n" for i in range(50))
    text = "algorithm,game,run,score\n" + ones + "".join(f"a,Pong,{i},1\n" for i in range(100))
    with pytest.raises(ArcadeMarkError, match="column 'run' holds 100 runs of one algorithm; number an algorithm's"):
        read(tmp_path, text)
