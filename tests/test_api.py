"""The package's own names take what one would give them: one thing where several may be given, a count, a path."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import arcademark
from arcademark.agents.loading import agent_specs
from arcademark.errors import ArcadeMarkError
from arcademark.suite.protocols import protocol

SCORES = {"A": {"pong": [1.0, 2.0], "breakout": [30.0, 40.0]}, "B": {"pong": [3.0, 4.0], "breakout": [50.0, 60.0]}}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    directory = tmp_path_factory.mktemp("runs") / "random"
    rules = protocol("world-records").override({"max_frames_per_episode": 60})
    plan = arcademark.make_plan("random", "pong", rules, seeds=2, episodes=1)
    assert arcademark.execute(plan, str(directory), workers=1).complete
    return directory


def test_one_run_is_analysed_by_its_path(run):
    report = arcademark.report([run])
    assert [item.name for item in report.algorithms] == ["random"]
    assert arcademark.report(run) == arcademark.report(str(run)) == arcademark.report((str(run),)) == report


@pytest.mark.parametrize(
    ("given", "seeds"),
    [
        (2, (0, 1)),
        (np.int64(2), (0, 1)),
        (range(1, 3), (1, 2)),
        (np.array([4, 3]), (4, 3)),
        ({7}, (7,)),
        (iter([5]), (5,)),
    ],
)
def test_seeds_are_a_count_or_numbers(given, seeds):
    found = arcademark.make_plan("random", "pong", seeds=given, episodes=1).seeds
    assert found == seeds
    assert {type(seed) for seed in found} == {int}


@pytest.mark.parametrize(
    "given", [0, -1, (), 2.0, "2", None, [1, "2"], [0.5], 2**62, 10**30, range(10**12), [-1], [1, 1]]
)
def test_other_seeds_are_refused(given):
    with pytest.raises(ArcadeMarkError, match="seeds"):
        arcademark.make_plan("random", "pong", seeds=given, episodes=1)


def test_a_run_has_a_bounded_number_of_trials():
    with pytest.raises(ArcadeMarkError, match="37 agents on 57 games with 10,000 seeds: a run has at most 1,000,000"):
        arcademark.make_plan("baselines", "atari-57", seeds=10_000, episodes=1)


def test_agents_are_named_alone_or_together():
    const = agent_specs("const", {"action": "FIRE"})
    named = arcademark.make_plan(["random", *const], ["pong"], episodes=1)
    assert [spec.label for spec in named.agents] == ["random", "const(action=FIRE)"]
    assert arcademark.make_plan(const[0], "pong", episodes=1).agents == const


@pytest.mark.parametrize("mode", [AutoresetMode.SAME_STEP, "same_step", "SameStep", "SAME_STEP", "same-step"])
def test_the_modes_of_reset_in_any_spelling(mode):
    assert arcademark.make_vec("toy", 1, autoreset_mode=mode).autoreset_mode is AutoresetMode.SAME_STEP


@pytest.mark.parametrize("mode", ["same", "", None, 3])
def test_other_modes_of_reset_are_refused(mode):
    with pytest.raises(ArcadeMarkError, match=r"autoreset_mode .* one of 'next_step', 'same_step', 'disabled'"):
        arcademark.make_vec("toy", 1, autoreset_mode=mode)


def test_one_name_is_no_sequence_of_letters():
    one = arcademark.report(SCORES, algorithms="A", games="pong", metrics="hns")
    same = arcademark.report([SCORES], algorithms=["A"], games=["pong"], metrics=["hns"])
    assert one == same
    assert [item.name for item in one.algorithms] == ["A"]
    assert arcademark.compare(SCORES, "A", "B", games=["pong", "breakout"]).games


def test_tables_are_given_as_text_or_as_a_path(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("algorithm,pong,breakout\nA,1,30\nB,3,50\n")
    assert arcademark.report(str(path)) == arcademark.report(Path(path)) == arcademark.report([path])


FORMS = {
    "report": lambda: arcademark.report(SCORES, resamples=50),
    "compare": lambda: arcademark.compare(SCORES, "A", "B", resamples=50),
    "predict": lambda: arcademark.predict({"A": {"pong": 20.0, "qbert": 9000.0, "seaquest": 2000.0}}, "any"),
    "search": lambda: arcademark.search(size=1),
}


@pytest.mark.parametrize("name", FORMS)
def test_what_is_returned_has_every_form(name):
    shown = FORMS[name]()
    assert shown.to_html().startswith("<!doctype html>")
    assert shown.to_html().partition("<title>")[2].partition("<")[0] in shown.to_html()
    assert r"\begin{tabular}" in shown.to_latex()
    assert shown.to_markdown().startswith("# ")
    assert shown.to_json()["schema"].startswith("arcademark.")
    assert "srcdoc=" in shown._repr_html_()
    assert "<!doctype" not in shown._repr_html_()
    assert str(shown).count("\n") > 5


def test_a_notebook_prints_text(monkeypatch, capsys):
    shown = FORMS["report"]()
    plain = str(shown)
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert str(shown) == plain
    assert capsys.readouterr().out == ""


def test_a_report_reads_as_its_numbers():
    shown = arcademark.report(SCORES, resamples=50)
    assert shown.algorithms[0].name == "A"
    assert "algorithms" in dir(shown)
    assert "A and B" in repr(shown)
    with pytest.raises(AttributeError):
        _ = shown.nothing


class Frame:
    """What pandas' DataFrame offers of itself."""

    def __init__(self, **columns):
        self.columns = list(columns)
        self._columns = columns

    def to_dict(self):
        return {name: dict(enumerate(values)) for name, values in self._columns.items()}


def test_a_data_frame_is_a_table():
    frame = Frame(algorithm=["A", "A", "B"], game=["pong", "pong", "pong"], run=[0, 1, 0], score=[1.0, 2.0, 3.0])
    table = {"A": {"pong": [1.0, 2.0]}, "B": {"pong": [3.0]}}
    assert arcademark.report(frame, resamples=50) == arcademark.report(table, resamples=50)
    with pytest.raises(ArcadeMarkError, match="without the column 'score'"):
        arcademark.report(Frame(algorithm=["A"], game=["pong"]))
    with pytest.raises(ArcadeMarkError, match="expected numbers"):
        arcademark.report(Frame(algorithm=["A"], game=["pong"], score=["many"]))


def test_playing_ends_in_a_report(tmp_path):
    rules = arcademark.protocol("world-records").override({"max_frames_per_episode": 60})
    shown = arcademark.run("random", "pong", rules, episodes=1, out=tmp_path / "run", workers=1)
    assert [item.name for item in shown.algorithms] == ["random"]
    assert arcademark.verify(tmp_path / "run", workers=1).findings
    assert set(arcademark.__all__) <= set(dir(arcademark))
