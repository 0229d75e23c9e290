"""Numbers as people write them: read as they were meant, or refused."""

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from score_files import write as write_file

from arcademark.errors import ArcadeMarkError
from arcademark.scores.readers.sheets.sheet import Sheet
from arcademark.scores.reading import read_tables


def sheet(cells, separator=";", decimal=None):
    return Sheet(Path("t.csv"), ("score",), (cells,), len(cells), lambda row: row + 2, separator, decimal)


def read(cells, separator=";", decimal=None):
    return sheet(cells, separator, decimal).scores(0).tolist()


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["10.596", "1.234.567"], [10596, 1234567]),
        (["10.596", "18,9"], [10596, 18.9]),
        (["10.596", "1.234,5"], [10596, 1234.5]),
        (["10.596", "18.9"], [10.596, 18.9]),
        (["10.596", "0.123"], [10.596, 0.123]),
        (["1,234", "1234.567"], [1234, 1234.567]),
        (["1,234", "1,234.5"], [1234, 1234.5]),
        (["1,234,567"], [1234567]),
        (["3,5 ± 0,2", "1.234"], [3.5, 1234]),
        (["1.234 ± 0,25"], [1234]),
        (
            ["1 234 567", "1\u00a0234", "1\u202f234,5", "1’234", "1'234"],
            [1234567, 1234, 1234.5, 1234, 1234],
        ),
        (["−20.7", "\u221220,700.5", "–3.5"], [-20.7, -20700.5, -3.5]),
        (["**12**", "*12*", r"\textbf{12}", r"$\mathbf{12}$", r"\textbf{$12$}*", "12*"], [12] * 6),
        (["12.5 ± 3", "12.5±3", "12.5 +/- 3", "12.5+-3", r"$12.5 \pm 3$", r"12.5 $\pm$ 3", "**12.5** ± 3"], [12.5] * 7),
        (["12.5 (3)", "12.5 (±3)", "12.5(3)", "**12.5** (3)", "12.5 (30)"], [12.5] * 5),
        (["12.5 [11, 14.5]", "12.5 (11; 14)", "12.5 [11,14]", "12.5 (11–14)", "12.5 (11 to 14)"], [12.5] * 5),
        (["−12.5 [−14, −11]", "-12.5 (-14--11)", "12,345.5 [12,000.5, 13,000.5]"], [-12.5, -12.5, 12345.5]),
        (["1.234 (0,25)", "7,5"], [1234, 7.5]),
        (["10.6k", "1.2M", "−3 K", "7", "10.6k ± 0.3k", "10.6k (300)"], [10600, 1200000, -3000, 7, 10600, 10600]),
        (["1,2M", "7,5"], [1200000, 7.5]),
        (["1e3", "−", "NA", "7"], [1000, math.nan, math.nan, 7]),
    ],
)
def test_what_a_file_shows_decides(cells, expected):
    assert read(cells) == pytest.approx(expected, rel=0, abs=0, nan_ok=True)


@pytest.mark.parametrize(
    ("separator", "cells"), [(";", ["10.596", "7"]), ("\t", ["10.596", "7"]), ("\t", ["1,234"]), (",", ["1,234", "7"])]
)
def test_what_may_be_either_is_refused_and_the_option_named(separator, cells):
    with pytest.raises(
        ArcadeMarkError, match=r"row 2, column 'score': '.*' may be .* or .*--read decimal=\. or --read decimal=,"
    ):
        read(cells, separator)
    assert {read(cells, separator, mark)[0] for mark in ".,"} == {
        float(cells[0].replace(",", ".")),
        float(cells[0].replace(",", "").replace(".", "")),
    }


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (["1,5", "2.5"], "'1,5' has a decimal comma, and .*row 3.*'2.5' a decimal point; write all numbers alike"),
        (["1.234.567", "7", "0.5"], "row 2.*'1.234.567' has a decimal comma, and .*row 4.*'0.5' a decimal point"),
        (["45%"], "'45%' is no score"),
        (["1.23.4"], "'1.23.4' is no score"),
        (["1 23"], "'1 23' is no score"),
        (["1 234'567"], "is no score"),
        (["± 3"], "is no score"),
        ([r"\textbf{" * 9 + "1" + "}" * 9], "is no score"),
        (["9,1e300"], "no longer exact"),
        (["-1e400"], "infinite or beyond"),
        (["inf"], "infinite or beyond"),
        (["45 [50; 60]"], "leave what is in brackets out and write 45 alone"),
        (["45 [50; 40]"], "leave what is in brackets out and write 45 alone"),
        (["0.7 (10596)", "1.2 (401)", "0.3 (0.1)"], "'0.7 .10596.' may be a score .* 2 of 3 numbers in brackets are"),
        (["10.6 ± 1.2k"], "expected a number such as 1234.5"),
        *(([cell], "expected a number such as 1234.5") for cell in ("10_00", "1__000", "12*3", "12,34,567", "0x10")),
    ],
)
def test_what_contradicts_itself_is_refused(cells, message):
    with pytest.raises(ArcadeMarkError, match=message):
        read(cells)


def test_a_cell_against_the_mark_asked_for_is_refused():
    with pytest.raises(ArcadeMarkError, match=r"row 3.*'0\.5' is no score; .*with ',' before decimals"):
        read(["1,5", "0.5"], ";", ",")
    with pytest.raises(ArcadeMarkError, match="decimal is 'x', expected"):
        read_tables("scores.csv", decimal="x")


def test_one_column_decides_for_all_and_it_is_told(tmp_path):
    path = write_file(tmp_path / "scores.csv", "game;DQN;PPO\npong;10.596;1.234,5 ± 1\nqbert;7;8\n")
    reading = read_tables(path)
    assert reading.table.scores[..., 0].tolist() == [[10596, 7], [1234.5, 8]]
    assert any("decimal comma" in note and "'1.234,5 ± 1'" in note for note in reading.notes)
    assert any("left out of the scores: intervals come from the runs" in note for note in reading.notes)
    path.write_text("game;score;algorithm;frames\npong;10.596;a;1.000.000\nqbert;7;a;2.000.000\n")
    assert read_tables(path).table.scores[0, :, 0].tolist() == [10596, 7]


def test_one_cell_does_not_decide_what_several_others_mean_and_never_silently(tmp_path):
    path = write_file(tmp_path / "scores.csv", "game;DQN;PPO\npong;18.912;401.234\nqbert;21,5;31.823\n")
    with pytest.raises(ArcadeMarkError, match=r"'18\.912' may be 18\.912 or 18912, and only .*'21,5' says"):
        read_tables(path)
    assert read_tables(path, decimal=",").table.scores[1, 0, 0] == 401234
    path.write_text('game,DQN,PPO\npong,18.9,"1,234"\nqbert,21.5,"10,596"\n')
    reading = read_tables(path)
    assert reading.table.scores[1, :, 0].tolist() == [1234, 10596]
    assert any("decimal point, as" in note and "'1,234' is 1234" in note for note in reading.notes)


def test_a_percent_sign_is_named_and_changes_no_other_cell(tmp_path):
    path = write_file(tmp_path / "scores.csv", "game,DQN\npong,18.9\nqbert,15.4%\n")
    with pytest.raises(ArcadeMarkError, match=r"row 3, column 'DQN': '15\.4%' is no score; a percent sign"):
        read_tables(path)


def test_a_number_of_a_run_is_a_number_alone(tmp_path):
    path = write_file(tmp_path / "scores.csv", "game,algorithm,seed,score\npong,a,1 ± 2,5\n")
    with pytest.raises(ArcadeMarkError, match=r"column 'seed': '1 ± 2' is no whole number"):
        read_tables(path)


def test_a_table_in_markdown_is_read(tmp_path):
    path = tmp_path / "scores.md"
    path.write_text(
        "| Game | DQN | **PPO** |\n|:-----|----:|:---:|\n| Pong | 18.9 ± 0.3 | **−20.7** |\n| Q*bert | | 10,596.5 |\n"
    )
    table = read_tables(path).table
    assert table.tasks == ("Pong", "Q*bert")
    assert table.scores[..., 0].tolist() == [pytest.approx([18.9, math.nan], nan_ok=True), [-20.7, 10596.5]]
    path.write_text("Game|DQN\n---|---\nPong|x\n")
    with pytest.raises(ArcadeMarkError, match="row 3, column 'DQN': 'x' is no score"):
        read_tables(path)


STYLES = [(".", ""), (".", ","), (",", ""), (",", "."), (".", " "), (",", " "), (".", "'"), (",", "\u202f"), (".", "’")]


def write(number, places, decimal, group, minus):
    text = f"{abs(number):,.{places}f}".replace(",", "\0").replace(".", decimal).replace("\0", group)
    return (minus if number < 0 else "") + text


@given(
    st.lists(st.tuples(st.integers(-(10**9), 10**9), st.integers(0, 4)), min_size=1, max_size=6),
    st.sampled_from(STYLES),
    st.sampled_from([",", ";", "\t", ""]),
    st.sampled_from(["-", "−"]),
    st.sampled_from(["{}", "**{}**", r"\textbf{{{}}}", "{} ± {}"]),
    st.booleans(),
)
def test_numbers_of_every_style_are_read_back_or_refused(numbers, style, separator, minus, form, said):
    decimal, group = style
    values = [number / 10**places for number, places in numbers]
    texts = [write(value, places, decimal, group, minus) for value, (_, places) in zip(values, numbers, strict=True)]
    cells = [form.format(text, text.lstrip("-−")) for text in texts]
    points = "." in "".join(texts) and not any("," in text or text.count(".") > 1 for text in texts)
    if decimal == "," and separator != ";" and not said and points:
        return  # 1.234 where commas separate cells, or where all numbers are such, has a decimal point
    try:
        found = read(cells, separator, decimal if said else None)
    except ArcadeMarkError as error:
        if said or "--read decimal=" not in str(error):
            raise
    else:
        assert found == pytest.approx(values, rel=1e-15, abs=0)
