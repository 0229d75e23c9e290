import dataclasses

import pytest
from made_up_papers import CELLS, STATEMENTS, TABLE, made_up
from shown import printed


@pytest.mark.parametrize("width", [80, 120])
def test_golden_terminal(width, golden):
    golden(f"reproduction_{width}.txt", printed(made_up(), width) + printed(made_up(TABLE), width, everything=True))


def test_what_a_table_further_up_explains_is_referred_to():
    why = "The score is a hundredth of what it is elsewhere, and nobody knows how that came about."
    cells = tuple(dataclasses.replace(item, why=why) if item.why == "A hundredth." else item for item in CELLS)
    again = tuple(
        dataclasses.replace(
            item,
            where=item.where.replace("Table 3", "Table 4"),
            place=None if item.place is None else dataclasses.replace(item.place, table=4),
            recomputed="27.99" if item.recomputed == "27.31" else item.recomputed,
        )
        for item in cells
    )
    first = dataclasses.replace(TABLE, comparisons=cells)
    second = dataclasses.replace(TABLE, number=4, title="Table 4: again", comparisons=again)
    lines = [line.strip() for line in printed(made_up(first, second, figures=()), 120).splitlines()]
    there = lines[lines.index("Table 4: again") :]
    assert any(line.startswith("As in Table 3: The score is a hundredth") for line in there)
    assert "Quick, mean, hns   2.55   27.99" in there
    assert "Nobody knows." in there
    assert lines.count(why) == 1


def test_what_is_not_explained_is_said_loudly():
    cells = tuple(dataclasses.replace(item, why="", category="") for item in CELLS)
    statements = tuple(dataclasses.replace(item, why="") for item in STATEMENTS.comparisons)
    bad = made_up(
        dataclasses.replace(TABLE, comparisons=cells), dataclasses.replace(STATEMENTS, comparisons=statements)
    )
    text = printed(bad)
    assert "≠ not explained, 3 cells" in text
    assert "not explained" in text[text.index("Statements") :]
    assert "4 differ, 4 without an explanation" in text
    assert "[31mNot explained." in printed(bad, colour=True)
