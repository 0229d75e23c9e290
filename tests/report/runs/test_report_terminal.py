from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest
from made_up import ATARI_5, collected, made_up_run
from rich.table import Table
from shown import printed

from arcademark.reports import presenter
from arcademark.reports.render import terminal
from arcademark.reports.tables.analysis import analyse
from arcademark.reports.tables.report import ScoreReport


@pytest.mark.parametrize("width", [80, 120])
def test_golden_terminal(
    report_one: ScoreReport, report_two: ScoreReport, width: int, golden: Callable[[str, str], None]
) -> None:
    golden(f"terminal_{width}.txt", printed(report_one, width) + "\n" + printed(report_two, width, everything=True))


@pytest.mark.parametrize("width", [80, 120, 200])
def test_no_line_is_wider_than_the_terminal(report_two: ScoreReport, width: int) -> None:
    assert max(map(len, printed(report_two, width, everything=True).splitlines())) <= width


@pytest.mark.parametrize("width", [20, 40, 60])
def test_a_narrow_terminal_loses_no_digit_and_no_row(report_two: ScoreReport, width: int) -> None:
    def numbers(text: str) -> Counter[str]:
        return Counter(word for word in text.split() if any(letter.isdigit() for letter in word))

    parts = terminal.parts(presenter.document(report_two), 80, everything=True)
    tables = [part for part in parts if isinstance(part, Table) and part.columns[1:2]]
    there = numbers(printed(report_two, width, everything=True))
    for table in tables:
        for cell in (cell for column in table.columns if column.no_wrap for cell in column.cells):
            assert numbers(str(cell)) <= there, cell


def test_piped_output_has_no_escape_codes(report_two: ScoreReport) -> None:
    assert "\x1b" not in printed(report_two, 80)
    assert "\x1b[" in printed(report_two, 80, colour=True)


def test_users_text_is_no_markup() -> None:
    agents = ("[red]mine[/red]", "other")
    report = analyse(collected(made_up_run(agents=agents, failed=[(agents[0], "qbert", 0)])))
    text = printed(report, 160, everything=True)
    named = [line for line in text.splitlines() if "mine" in line]
    assert len(named) >= len(ATARI_5) + 5  # title, warning, headline, summaries, what is not finished
    assert all("[red]mine[/red]" in line for line in named)
