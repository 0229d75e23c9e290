import itertools
import re
from pathlib import Path

import pytest

from arcademark.metrics.aggregate import AGGREGATES
from arcademark.metrics.uncertainty import coverage
from arcademark.metrics.uncertainty.bootstrap import METHOD
from arcademark.metrics.uncertainty.intervals import METHODS

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "intervals.md").read_text(encoding="utf-8")
TABLES = (DOCS / "research" / "intervals.md").read_text(encoding="utf-8")
STATISTICS = (*AGGREGATES, "probability_of_improvement")
OTHERS = tuple(f"{kind} {name}" for kind in ("difference of", "capped", "difference of capped") for name in AGGREGATES)
MEASURED = ((0.931, 0.955), (0.94, 0.943), (0.9, 0.97), (0.95, 0.95), (0.95, 0.96))
TABLE = {("symmetric", "iqm", 57, runs): ends for runs, ends in zip(coverage.RUNS, MEASURED, strict=True)}


def test_every_method_was_measured_for_every_statistic():
    expected = itertools.product(METHODS, (*STATISTICS, *OTHERS), coverage.TASKS, coverage.RUNS)
    assert coverage.shares().keys() == set(expected)
    assert all(0 <= low <= high <= 1 for low, high in coverage.shares().values())


@pytest.mark.parametrize("statistic", STATISTICS)
def test_the_default_holds_the_truth_more_often_than_percentiles_from_three_runs(statistic):
    for tasks in coverage.TASKS:
        default, plain = (coverage.measured(statistic, method, tasks, 3) for method in (METHOD, "percentile"))
        assert default[0] > plain[0]
        assert default[1] > plain[1]


def test_the_nearest_number_of_tasks_and_no_more_runs_stand_for_others(monkeypatch):
    monkeypatch.setattr(coverage, "shares", lambda: TABLE)
    assert coverage.measured("iqm", "symmetric", 57, 3) == (0.94, 0.943)
    assert coverage.measured("iqm", "symmetric", 39, 4) == (0.94, 0.943)
    assert coverage.measured("iqm", "symmetric", 1000, 500) == (0.95, 0.96)
    assert coverage.measured("iqm", "symmetric", 38, 3) is None  # 26 tasks are nearer, by ratio
    assert coverage.measured("iqm", "symmetric", 57, 1) is None
    assert coverage.measured("mean", "symmetric", 57, 3) is None


@pytest.mark.parametrize("statistic", [*STATISTICS, *OTHERS])
def test_the_tables_show_what_was_measured(statistic):
    table = TABLES.split(f"**{statistic.replace('_', ' ')}**\n\n")[1].split("\n\n")[0].splitlines()
    columns = [re.match(r"(\d+) tasks, (\w+)", cell.strip()) for cell in table[0].split("|")[2:-1]]
    for i, row in enumerate(table[2:]):
        runs, *cells = (cell.strip() for cell in row.split("|")[1:-1])
        assert int(runs) == coverage.RUNS[i]
        for column, cell in zip(columns, cells, strict=True):
            low, high = coverage.shares()[column[2], statistic, int(column[1]), coverage.RUNS[i]]
            assert cell == f"{low:.3f}–{high:.3f}"


@pytest.mark.parametrize("statistic", STATISTICS)
def test_the_page_sums_up_the_tables(statistic):
    rows = re.findall(r"^\| (.+?) \| (.+) \|$", PAGE.split("<!-- summary: begin -->")[1], re.MULTILINE)
    shown = dict(rows)[statistic.replace("_", " ")].split(" | ")
    columns = re.findall(r"(\d+) games, (\d+) runs", dict(rows)["95 % interval of"])
    ends = [coverage.shares()[METHOD, statistic, int(games), int(runs)] for games, runs in columns]
    assert shown == [coverage.span(shares).replace(" to ", "–") for shares in ends]


@pytest.mark.slow
def test_the_examples_of_the_page_run(capsys):
    examples = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    for example in examples:
        exec(example, {})
    assert len(examples) == 2
    assert len(capsys.readouterr().out.splitlines()) == 2
