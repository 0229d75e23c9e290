"""The package's own names take what one would give them: one thing where several may be given, a count, a path."""

import csv
import dataclasses
import inspect
import json
import pkgutil
import pydoc
import re
import sys
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import matplotlib.figure
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import arcademark
import command_line
from arcademark.agents.loading import agent_specs
from arcademark.ale import envpool
from arcademark.analysis.subsets.searching import SearchKeywords, SearchRequest
from arcademark.analysis.tables.dataset import ScoreKeywords, ScoreOptions
from arcademark.cli.main import main
from arcademark.errors import ArcadeMarkError
from arcademark.metrics.sequential import SequentialPlan
from arcademark.records.reading import read_run
from arcademark.runs.request import RunOptions, request
from arcademark.suite.protocols import protocol

SCORES = {"A": {"pong": [1.0, 2.0], "breakout": [30.0, 40.0]}, "B": {"pong": [3.0, 4.0], "breakout": [50.0, 60.0]}}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    directory = tmp_path_factory.mktemp("runs") / "random"
    rules = protocol("world-records").override({"max_frames_per_episode": 60})
    plan = arcademark.make_plan("random", "pong", rules, seeds=2, episodes=1)
    assert arcademark.execute(plan, str(directory), workers=1).complete
    return directory


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


@pytest.mark.parametrize("given", [0, -1, (), "2", None, [1, "2"], [0.5], 2**62, 10**30, range(10**12), [-1], [1, 1]])
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


def test_the_modes_of_reset_in_any_spelling():
    for mode in (AutoresetMode.SAME_STEP, "same_step", "SameStep", "SAME_STEP", "same-step"):
        assert arcademark.make_vec("toy", 1, autoreset_mode=mode).autoreset_mode is AutoresetMode.SAME_STEP
    for mode in ("same", "", None, 3, np.array([1, 2]), ["same_step", "next_step"]):
        with pytest.raises(ArcadeMarkError, match=r"autoreset_mode .* one of 'next_step', 'same_step', 'disabled'"):
            arcademark.make_vec("toy", 1, autoreset_mode=mode)


STRANGE = (object(), 1 + 2j, b"x", bytearray(b"x"), np.array([[1 + 2j]]), np.datetime64("2026-01-01"), [object()])
TABLE = arcademark.ScoreTable.from_mapping({"A": {"pong": 1.0}})
PUBLIC = (
    *(getattr(arcademark, name) for name in arcademark.__all__ if name not in ("ArcadeMarkError", "ScoreTable")),
    *(getattr(arcademark.api.Report, name) for name in ("save", "plot", "curves")),
    *(TABLE.select, TABLE.rename, TABLE.to_dataframe, TABLE.from_mapping, ScoreOptions, SearchRequest, SequentialPlan),
)
ANYTHING = {"self", "agent", "policy", "options", "overrides", "where"}


@pytest.mark.parametrize("call", [*filter(callable, PUBLIC)], ids=lambda call: getattr(call, "__name__", "catalogue"))
def test_a_value_of_another_kind_is_an_error_that_names_the_parameter(call):
    function = arcademark.catalogue.load if call is arcademark.catalogue else call
    parameters = inspect.signature(function).parameters
    before = [None] if "self" in parameters else []
    for name, parameter in parameters.items():
        for value in STRANGE if name not in ANYTHING or "Mapping" in str(parameter.annotation) else ():
            repeated = parameter.kind == parameter.VAR_POSITIONAL
            arguments, keywords = ([TABLE, value], {}) if repeated else (before, {name: value})
            with pytest.raises(ArcadeMarkError, match=rf"^{name} .*: expected "):
                call(*arguments, **keywords)


def test_names_may_be_in_any_collection():
    scores = {"A": {"pong": 1.0, "qbert": 200.0}, "B": {"pong": 2.0, "qbert": 300.0}}
    for kind in (list, tuple, np.array, dict.fromkeys, iter):
        found = arcademark.report(scores, algorithms=kind(["B"]), games=kind(["qbert"]), metrics=kind(["hns"]))
        assert [one.name for one in found.algorithms] == ["B"]
        assert [score.game for score in found.algorithms[0].scores] == ["qbert"]
        predicted = arcademark.predict(scores, algorithms=kind(["A"]), games=kind(["pong"]))
        assert [one.algorithm for one in predicted.predictions] == ["A"]
        plan = arcademark.make_plan(kind(["random"]), kind(["pong", "qbert"]), episodes=1)
        assert plan.games == ("pong", "qbert")
    for name in ("algorithms", "games", "metrics"):
        for wrong in (object(), 3, [None], b"x", np.array([1]), np.array(5)):
            with pytest.raises(ArcadeMarkError, match=f"{name} .*: expected a name, or several"):
                arcademark.report(scores, **{name: wrong})
    with pytest.raises(ArcadeMarkError, match="seed -1: expected 0 or more"):
        arcademark.report(scores, seed=-1)
    everything = arcademark.report(scores, algorithms=None, games=None, metrics=None, seed=np.float64(3.0))
    assert everything == arcademark.report(scores, seed=3)


def test_one_name_is_no_sequence_of_letters():
    one = arcademark.report(SCORES, algorithms="A", games="pong", metrics="hns")
    same = arcademark.report([SCORES], algorithms=["A"], games=["pong"], metrics=["hns"])
    assert one == same
    assert [item.name for item in one.algorithms] == ["A"]
    assert arcademark.compare(SCORES, "A", "B", games=["pong", "breakout"]).games


def test_runs_and_tables_are_given_as_text_or_as_a_path(run, tmp_path):
    report = arcademark.report([run])
    assert [item.name for item in report.algorithms] == ["random"]
    assert arcademark.report(run) == arcademark.report(str(run)) == arcademark.report((str(run),)) == report
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
    page, cell = shown.to_html(), shown._repr_html_()
    assert page.startswith("<!doctype html>")
    assert page.partition("<title>")[2].partition("<")[0]
    assert r"\begin{tabular}" in shown.to_latex()
    assert shown.to_markdown().startswith("# ")
    assert shown.to_json()["schema"].startswith("arcademark.")
    assert "srcdoc=" in cell
    assert "<!doctype" not in cell
    assert str(shown).count("\n") > 5


def test_a_report_reads_as_its_numbers_and_prints_text_in_a_notebook(monkeypatch, capsys):
    shown = FORMS["report"]()
    assert shown.algorithms[0].name == "A"
    assert "A and B" in repr(shown)
    plain = str(shown)
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert str(shown) == plain
    assert capsys.readouterr().out == ""


def frame(form=list, **columns):
    """Make what pandas' and polars' DataFrames offer of themselves: columns by an index, and columns."""
    return SimpleNamespace(columns=list(columns), to_dict=lambda: {name: form(of) for name, of in columns.items()})


@pytest.mark.parametrize("form", [list, lambda values: dict(enumerate(values))])
def test_a_data_frame_is_a_table(form):
    columns = {"algorithm": ["A", "A", "B"], "game": ["pong"] * 3, "run": [0, 1, 0], "score": [1.0, 2.0, 3.0]}
    table = {"A": {"pong": [1.0, 2.0]}, "B": {"pong": [3.0]}}
    of_frame, of_table = (arcademark.report(scores, resamples=50) for scores in (frame(form, **columns), table))
    assert [item.summaries for item in of_frame.algorithms] == [item.summaries for item in of_table.algorithms]
    assert [item.scores for item in of_frame.algorithms] == [item.scores for item in of_table.algorithms]
    assert "Read as: 1 to 2 runs of 2 algorithms ('A', 'B') on 1 game." in {item.text for item in of_frame.notices}
    with pytest.raises(ArcadeMarkError, match="the DataFrame, row 1: expected the columns"):
        arcademark.report(frame(algorithm=["A"], game=["pong"]))
    with pytest.raises(ArcadeMarkError, match="'many' is no score; expected a number"):
        arcademark.report(frame(algorithm=["A"], game=["pong"], score=["many"]))


def test_playing_ends_in_a_report(tmp_path):
    rules = arcademark.protocol("world-records").override({"max_frames_per_episode": 60})
    shown = arcademark.run("random", "pong", rules, episodes=1, out=tmp_path / "run", workers=1)
    assert [item.name for item in shown.algorithms] == ["random"]
    assert arcademark.verify(tmp_path / "run", workers=1).findings
    assert set(arcademark.__all__) <= set(dir(arcademark))


LEARNER = str(Path(__file__).parent / "fakes" / "learner.py:make_learner")


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A report of a learner with two seeds, its run's directory, and the scores that it logged meanwhile."""
    folder = tmp_path_factory.mktemp("trained")
    overrides = {"max_frames_per_episode": 120, "reported_episodes": "evaluation", "training_frames": 2400}
    how = {"overrides": overrides, "seeds": 2, "episodes": 2, "out": folder / "run", "tensorboard": folder / "tb"}
    return arcademark.run(LEARNER, "pong", "world-records", workers=1, name="learner", **how), folder


def command(monkeypatch, capsys, *arguments):
    """Return what a command prints."""
    capsys.readouterr()
    monkeypatch.setattr(sys, "argv", ["arcademark", *map(str, arguments)])
    with pytest.raises(SystemExit, match=r"^0$"):
        main()
    return capsys.readouterr().out


def test_overrides_are_those_of_the_command(tmp_path, monkeypatch, capsys):
    how = {"fire_reset": True, "max_frames_per_episode": 60}
    arcademark.run("random", "pong", "dqn-2015", overrides=how, episodes=1, out=tmp_path / "python", workers=1)
    options = [part for name, value in how.items() for part in ("--override", f"{name}={str(value).lower()}")]
    asked = ("random", "--games", "pong", "--protocol", "dqn-2015", *options, "--episodes", 1, "--workers", 1)
    command(monkeypatch, capsys, "run", *asked, "--out", tmp_path / "command")
    found = [json.loads((tmp_path / name / "manifest.json").read_text()) for name in ("python", "command")]
    assert found[0]["protocol"] == found[1]["protocol"]
    assert found[0]["protocol"]["settings"]["fire_reset"] is True
    with pytest.raises(ArcadeMarkError, match="unknown protocol setting 'fire'"):
        arcademark.run("random", "pong", overrides={"fire": True}, out=tmp_path / "wrong")


def test_runs_are_compared_as_the_command_compares_them(run, trained, monkeypatch, capsys):
    _, folder = trained
    shown = arcademark.compare(str(run), str(folder / "run"), resamples=100)
    assert shown.title == "random against learner"
    asked = ("compare", run, folder / "run", "--intervals", "resamples=100", "--format=json")
    assert shown.to_json() == json.loads(command(monkeypatch, capsys, *asked))
    assert arcademark.compare(run, folder / "run", "random", "learner", resamples=100) == shown
    three = arcademark.compare(SCORES, {"C": {"pong": [5.0, 6.0]}}, "A", "C", resamples=100)
    assert [side.name for side in three.algorithms] == ["A", "C"]


def test_what_is_saved_is_what_the_command_writes(run, tmp_path, monkeypatch, capsys):
    report = arcademark.report(run)
    for name in ("page.html", "report.json", "report.tex", "report.md", "scores.csv"):
        report.save(tmp_path / "new" / name)
        report.save(str(tmp_path / "new" / name))
    saved = {path.suffix: path.read_text("utf-8") for path in (tmp_path / "new").iterdir()}
    assert saved.pop(".json") == command(monkeypatch, capsys, "report", run, "--format=json")
    assert saved.pop(".tex") == command(monkeypatch, capsys, "report", run, "--format=latex", "--all")
    assert saved.pop(".md") == command(monkeypatch, capsys, "report", run, "--format=markdown", "--all")
    command(monkeypatch, capsys, "report", run, "--save", tmp_path / "command.html")
    assert saved.pop(".html") == (tmp_path / "command.html").read_text("utf-8")
    (row,) = csv.DictReader(saved.pop(".csv").splitlines())
    score = report.algorithms[0].scores[0]
    assert (row["algorithm"], row["game"], float(row["score"])) == ("random", "pong", score.score.value)
    assert float(row["hns"]) == score.normalised["hns"].value
    again = arcademark.report(tmp_path / "new" / "scores.csv").algorithms[0].scores[0]
    assert again.normalised["hns"].value == score.normalised["hns"].value


def test_a_name_that_is_not_ours_is_no_formula_and_no_file_of_others_is_replaced(tmp_path):
    report = arcademark.report({"=1+1": {"pong": 3.0}})
    report.save(tmp_path / "scores.csv")
    assert "'=1+1,pong," in (tmp_path / "scores.csv").read_text()
    (tmp_path / "mine.md").write_text("# Mine\n")
    with pytest.raises(ArcadeMarkError, match=r"mine\.md: was not written by ArcadeMark"):
        report.save(tmp_path / "mine.md")
    with pytest.raises(ArcadeMarkError, match=r"report.txt: expected a name that ends with .html, .json, .md"):
        report.save("report.txt")
    with pytest.raises(ArcadeMarkError, match=r"predicted.csv: this document has no table of rows"):
        FORMS["predict"]().save(tmp_path / "predicted.csv")
    assert not (tmp_path / "predicted.csv").exists()


NEAREST = {
    "run": (lambda: arcademark.run("random", episode=3), "episodes"),
    "report": (lambda: arcademark.report(SCORES, algorithm="A"), "algorithms"),
    "compare": (lambda: arcademark.compare(SCORES, metric="hns"), "metrics"),
    "predict": (lambda: arcademark.predict(SCORES, models="any"), "model"),
    "search": (lambda: arcademark.search(sizes=3), "size"),
}


@pytest.mark.parametrize("name", NEAREST)
def test_an_unknown_keyword_is_refused_with_the_nearest_known_one(name):
    call, nearest = NEAREST[name]
    with pytest.raises(ArcadeMarkError, match=rf"^unknown parameter of {name} .*did you mean .*'{nearest}'"):
        call()


@pytest.mark.parametrize(
    ("keywords", "of"),
    [(ScoreKeywords, ScoreOptions), (SearchKeywords, SearchRequest)],
)
def test_keywords_are_the_fields_of_what_they_fill(keywords, of):
    left_out = {"size", "incomplete"} if of is SearchRequest else set()  # `choose` says the second
    assert set(keywords.__annotations__) == {field.name for field in dataclasses.fields(of)} - left_out


def test_run_takes_all_that_the_command_takes():
    command = import_module("arcademark.cli.play.run").command
    known = set(inspect.signature(arcademark.run).parameters)
    options = {option.name for option in command.params}
    of_output = {"everything", "form", "saved", "drawn", "quiet"}
    assert options - known == of_output
    placing = {
        "address",
        "gpus",
        "scratch",
        "emulator",
        "answer_seconds",
        "episode_seconds",
        "shard",
    }  # --engine NAME=…
    assert known - options == placing


def test_a_shard_of_another_suite_is_played(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    how = {"suite": "gymnasium:CartPole-v1,Acrobot-v1", "episodes": 1, "workers": 1}
    shown = arcademark.run("random", shard=(1, 2), overrides={"max_steps_per_episode": 20}, **how)
    (directory,) = Path("runs").iterdir()
    assert directory.name == f"random-{shown.runs[0].protocol.name}-1-of-2"
    assert len(read_run(directory).episodes) == 1
    with pytest.raises(ArcadeMarkError, match="a suite has its own protocol"):
        arcademark.run("random", "all", "dqn-2015", **how)
    with pytest.raises(ArcadeMarkError, match="nothing_here"):
        arcademark.run(commands=["./nothing_here"], **how)
    with pytest.raises(ArcadeMarkError, match="nothing_here"):
        arcademark.run(commands="./nothing_here", **how)
    with pytest.raises(ArcadeMarkError, match="no AGENT is named"):
        arcademark.run(**how)


def texts(figure):
    return {text.get_text() for text in figure.findobj(matplotlib.text.Text)}


def test_figures_of_the_page_are_drawn_and_saved(trained, run, tmp_path):
    report, folder = trained
    both = arcademark.report([run, folder / "run"])
    figure = both.plot()
    assert {"Pong", "human average", "random", "learner"} <= texts(figure)
    figure.savefig(tmp_path / "own.png")
    assert {"Pong", "random", "learner"} <= texts(both.plot(figure="distribution"))
    learning = report.plot(tmp_path / "learning.svg", figure="learning")
    assert {"Pong", "training frames"} <= texts(learning)
    drawing = (tmp_path / "learning.svg").read_text()
    report.plot(tmp_path / "learning.svg", figure="learning")
    assert drawing == (tmp_path / "learning.svg").read_text()
    assert drawing.startswith("<?xml")
    assert {"A", "B"} <= texts(FORMS["compare"]().plot(tmp_path / "profiles.pdf"))
    assert (tmp_path / "profiles.pdf").read_bytes().startswith(b"%PDF")
    with pytest.raises(ArcadeMarkError, match=r"unknown figure 'curves'.*learning"):
        report.plot(figure="curves")
    with pytest.raises(ArcadeMarkError, match="page has no figure"):
        arcademark.report({"A": {"pong": [1.0, 2.0]}}).plot()
    with pytest.raises(ArcadeMarkError, match=r"ends with .svg, .png or .pdf"):
        report.plot("learning.jpg")


@pytest.mark.needs("IPython")
def test_a_notebook_shows_what_a_cell_ends_with(trained, run):
    """By IPython's own formatters, as a kernel has them before matplotlib is set up."""
    formatters = import_module("IPython.core.formatters")
    shell = import_module("IPython.core.interactiveshell").InteractiveShell
    shown = formatters.DisplayFormatter(parent=shell.instance()).format
    report, _ = trained
    drawing = report.plot()
    assert "Pong" in shown(drawing)[0]["image/svg+xml"]
    drawing.set_size_inches(3, 2)
    drawing.axes[0].set_title("changed")
    assert "changed" in shown(drawing)[0]["image/svg+xml"]
    assert "Pong" in shown(report.plot(figure="learning"))[0]["image/svg+xml"]
    for made in FORMS.values():
        assert "<iframe" in shown(made())[0]["text/html"]
    assert isinstance(drawing, matplotlib.figure.Figure)


def public_functions():
    """Every function that the documentation of the Python API lists, by the name that it goes by there."""
    text = (Path(__file__).parents[1] / "docs/reference/python.md").read_text()
    names = re.findall(r"autofunction:: ([\w.]+)", text)
    found = {
        name: pkgutil.resolve_name(name if name.startswith("arcademark.") else f"arcademark.{name}") for name in names
    }
    own = {name: getattr(arcademark, name) for name in arcademark.__all__}
    return (
        found | {name: item for name, item in own.items() if inspect.isfunction(item)} | {"envpool.make": envpool.make}
    )


@pytest.mark.parametrize("name", public_functions())
def test_help_shows_which_keywords_may_be_left_out_and_what_holds_then(name):
    function = public_functions()[name]
    by_keyword = [one for one in inspect.signature(function).parameters.values() if one.kind == one.KEYWORD_ONLY]
    needed = {"judge": {"frames", "out"}}
    assert {one.name for one in by_keyword if one.default is one.empty} == needed.get(name, set())
    text = pydoc.plain(pydoc.render_doc(function))
    assert all(f"{one.name}: " in text for one in by_keyword)


def test_the_defaults_that_help_shows_are_the_true_ones(monkeypatch, tmp_path):
    def defaults(function):
        signature = inspect.signature(function)
        return {name: one.default for name, one in signature.parameters.items() if one.default is not one.empty}

    assert {defaults(make)["protocol"] for make in (arcademark.make, arcademark.make_vec)} == {None}
    assert arcademark.make("toy").environment_spec == arcademark.make("toy", "world-records").environment_spec
    monkeypatch.chdir(tmp_path)
    of_run = {name: value for name, value in defaults(arcademark.run).items() if name in RunOptions.__annotations__}
    assert of_run.keys() == RunOptions.__annotations__.keys()
    explicit, implied = request("random", None, of_run), request("random", None, {})
    assert explicit == implied
    assert explicit.plan("pong") == implied.plan("pong") == arcademark.make_plan("random", "pong")
    known = inspect.signature(arcademark.execute).parameters
    assert {name: known[name].default for name in known.keys() & of_run} == {
        name: of_run[name] for name in known.keys() & of_run
    }
    chosen = defaults(arcademark.report)
    assert ScoreOptions(**chosen) == ScoreOptions()
    assert arcademark.report(SCORES, **chosen).to_json() == arcademark.report(SCORES).to_json()
    taken = {
        name: value for name, value in defaults(arcademark.search).items() if name in SearchKeywords.__annotations__
    }
    assert SearchRequest(**taken) == SearchRequest()
    of_config = {field.name for field in dataclasses.fields(envpool.Config)}
    assert envpool.Config(**{name: one for name, one in defaults(envpool.make).items() if name in of_config}) == (
        envpool.Config()
    )


def test_unknown_keywords_are_named_with_the_closest(run):
    with pytest.raises(ArcadeMarkError, match=r"unknown parameter of verify 'sede'.*seed"):
        arcademark.verify(run, sede=1)


def test_curves_of_training_as_arrays(trained):
    report, _ = trained
    curves = report.curves(50)
    frames, scores = curves["learner", "pong"]
    assert list(curves) == [("learner", "pong")]
    assert (frames.shape, scores.shape) == ((50,), (2, 50))
    (told,) = report.learning
    np.testing.assert_array_equal(scores.mean(axis=0), told.mean(50).mean)
    np.testing.assert_array_equal(frames, told.mean(50).frames)
    assert frames[-1] == min(seed.end_frames[-1] for seed in told.seeds)
    assert FORMS["report"]().curves() == {}


@pytest.mark.slow
def test_games_are_played_until_the_median_is_known_as_well_as_wanted(tmp_path):
    how = {"overrides": {"max_frames_per_episode": 200}, "episodes": 1, "workers": 1, "out": tmp_path / "run"}
    report = arcademark.run("random", "qbert", until_error=100.0, **how)
    assert [score.game for score in report.algorithms[0].scores] == ["qbert"]
    with pytest.raises(ArcadeMarkError, match="is for one agent, and 2 are named"):
        arcademark.run(["random", "uct"], until_error=20.0, **how)


@pytest.mark.needs("nbclient")
@pytest.mark.needs("ipykernel")
def test_a_notebook_shows_how_far_a_run_is(tmp_path):
    """A bar is displayed once, is updated while the run is played, and says at the end what was played."""
    nbclient, nbformat = import_module("nbclient"), import_module("nbformat")
    how = (
        f"seeds=2, episodes=4, workers=1, out={str(tmp_path / 'a<b>')!r}, overrides={{'max_frames_per_episode': 3000}}"
    )
    sources = ("import arcademark", f"arcademark.run('random', ['pong', 'qbert'], {how}).plot()")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])
    heard = []

    class Client(nbclient.NotebookClient):
        def process_message(self, message, cell, index):
            heard.append(message)
            return super().process_message(message, cell, index)

    Client(notebook, timeout=300, kernel_name="python3").execute()
    bar, figure = notebook.cells[1].outputs
    assert "image/svg+xml" in figure.data
    assert 'value="1.0000"' in bar.data["text/html"]
    assert "100% · 16 episodes, " in bar.data["text/html"]
    assert f"→ {tmp_path}/a&lt;b&gt;</span>" in bar.data["text/html"]
    kinds = [message["msg_type"] for message in heard]
    assert kinds.count("display_data") == 1
    updates = [one["content"]["data"]["text/plain"] for one in heard if one["msg_type"] == "update_display_data"]
    assert len(updates) == len(set(updates)) > 2
    assert any("/16 episodes · " in update for update in updates[:-1])
    assert updates[-1].startswith("100%  16 episodes, ")


def test_outside_of_notebooks_a_run_shows_no_bar(tmp_path, capsys, monkeypatch):
    """Neither in a script nor in IPython's terminal, which cannot replace what it printed."""
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=SimpleNamespace))
    how = {"overrides": {"max_frames_per_episode": 60}, "episodes": 1, "workers": 1}
    arcademark.run("random", "pong", out=tmp_path / "run", **how)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("command", ["report", "compare"])
def test_what_changes_the_meaning_of_a_number_is_said_by_default(command, tmp_path, capsys):
    """Cells that are dropped, and runs whose spread is not known; each is one item, and said once."""
    rows = ["A,pong,1,0", "A,pong,n/a,1", "A,qbert,3000,0", "B,pong,2,0", "B,qbert,2500,0", "B,alien,2500,0"]
    (tmp_path / "scores.csv").write_text("\n".join(["algorithm,game,score,run", *rows]))
    arguments = (command, str(tmp_path / "scores.csv"))
    said = ("1 score of 6 missing: empty cells, or marked as missing.", "One run per game: ")
    for more in ((), ("--all",)):
        assert command_line.arcademark(*arguments, *more) == 0
        shown = " ".join(capsys.readouterr().out.split())
        assert [shown.count(text) for text in said] == [1, 1]


def test_the_games_that_differences_are_over_are_counted():
    """Those that both algorithms have, not those of the table."""
    scores = {"A": {"pong": 1.0, "qbert": 3000.0, "alien": 900.0}, "B": {"pong": 2.0, "qbert": 200.0, "krull": 2000.0}}
    text = arcademark.compare(scores).to_markdown()
    assert "Over 2 games that both have" in text
    assert "Over 4 of the 57 games" not in text


def test_what_a_shell_shows_is_short_and_has_no_internals():
    assert set(dir(arcademark)) == set(arcademark.__all__)
    report = arcademark.report("catalogue:review-2021")
    shown = set(dir(report))
    assert {"algorithms", "save", "plot", "to_pandas", "to_json", "curves"} <= shown
    assert not any(name.startswith("_") for name in shown)
    table = arcademark.catalogue("review-2021")
    games, protocols = arcademark.games(), arcademark.protocols()
    for value in (report, report.algorithms[0], table, games, games["pong"], protocols, protocols["dqn-2015"]):
        assert len(repr(value)) < 24 * 80
    assert repr(games).startswith("<104: adventure, air_raid, ")
    assert len(games) == 104
    with pytest.raises(TypeError, match="does not support item assignment"):
        games["pong"] = games["qbert"]
    assert table.algorithms == arcademark.catalogue.load("review-2021").algorithms


@pytest.mark.needs("pandas")
def test_a_comparison_is_a_table_of_differences():
    compared = arcademark.compare("catalogue:review-2021", "MuZero", "Agent57")
    frame = compared.to_pandas()
    assert list(frame.columns[:3]) == ["algorithm", "other", "game"]
    assert len(frame) == 57
    assert set(frame["algorithm"]) == {"MuZero"}
