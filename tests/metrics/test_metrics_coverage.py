import itertools
import re
import runpy
from pathlib import Path

import numpy as np
import pytest

from arcademark.metrics.aggregate import AGGREGATES, Aggregate
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


def test_the_simulation_knows_the_truth_of_every_statistic_of_the_registry(monkeypatch):
    """Of one that is added, too: the mean without the lowest and highest tenth of the runs."""
    monkeypatch.setitem(AGGREGATES, "trimmed", Aggregate("trimmed", "trimmed mean", "", "runs", trim=0.1))
    simulation = runpy.run_path(str(DOCS.parent / "bench" / "interval_coverage.py"))
    exact = np.zeros(11)  # relative spreads: all runs are the mean
    people = simulation["Population"](np.arange(11.0) * 20, exact, exact + 1, normal=True)
    truth = dict(zip(simulation["STATISTICS"], people.truth(np.random.default_rng(0)), strict=True))
    short = np.maximum(100 - people.means, 0).mean()
    expected = {"mean": 100, "median": 100, "iqm": 100, "optimality_gap": short, "trimmed": 100}
    assert {name: truth[name] for name in expected} == pytest.approx(expected, abs=2)
    others = dict(zip(simulation["OTHERS"], people.truth_of_others(np.random.default_rng(0)), strict=True))
    assert others["capped optimality_gap"] == pytest.approx(short)
    assert others["difference of trimmed"] == pytest.approx(0.1 * truth["trimmed"])
