"""``arcademark subset``: search, study and predict, on the catalogue and on a benchmark of one's own."""

import json
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from arcademark.analysis.subsets import predictors
from arcademark.subset.predict import calibration, files
from arcademark.subset.predict.any_tasks import MEAN
from arcademark.subset.predict.choosing import choose
from arcademark.subset.predict.spread import conformal_half_width
from arcademark.suite.subsets import subset

TRAINING = ("subset", "search", "catalogue:atari-5-training")
FIVE = "battle_zone,42000\ndouble_dunk,5\nname_this_game,12000\nphoenix,30000\nQ*bert,25000\n"


@pytest.fixture
def own(benchmark):
    """A benchmark of eight tasks that 24 algorithms of eight papers have played."""
    rng = np.random.default_rng(2)
    level = rng.uniform(0.1, 1.2, size=24)
    return benchmark(
        {
            f"player{number:02}": {
                f"maze {letter}": 100 + 50 * max(0.0, value + rng.normal(scale=0.1)) for letter in "abcdefgh"
            }
            for number, value in enumerate(level)
        },
        **{f"player{number:02}": f"paper {number // 3}" for number in range(24)},
    )


@pytest.fixture
def mine(tmp_path):
    (tmp_path / "mine.csv").write_text("game,Mine\n" + FIVE, encoding="utf-8")
    return "mine.csv"


@pytest.mark.slow
def test_the_papers_plan_comes_out_and_its_models_are_kept(invoke):
    answer = invoke(*TRAINING, "--plan", "atari-5", "--set", "top=1", "--out", "models", "--format=json")
    assert (answer.code, answer.err) == (0, "")
    document = answer.json
    found = {result["name"]: result["best"] for result in document["results"]}
    assert found["5"]["tasks"] == ["battle_zone", "double_dunk", "name_this_game", "phoenix", "qbert"]
    assert found["1"]["tasks"] == ["name_this_game"]
    assert [round(found[name]["r2"], 3) for name in ("1", "3", "5", "10", "3-val", "5-val")] == [
        *(0.864, 0.976, 0.984, 0.992, 0.952, 0.972)
    ]
    assert all(result["certificate"]["gap"] == 0 for result in document["results"])
    assert document["left_out"] == {"surround": "33 algorithms have it, fewer than 40"}
    assert len(list(Path("models").glob("*.json"))) == 6


def test_constraints_are_kept(invoke):
    chosen = ("--tasks", "include=Q*bert,exclude=phoenix,zaxxon")
    answer = invoke(*TRAINING, "--size", 2, "--format=json", "--set", "top=50", *chosen)
    results = answer.json["results"][0]
    chosen = [results["best"]["tasks"], *(item["tasks"] for item in results["runners_up"])]
    assert all("qbert" in tasks for tasks in chosen)
    assert not {"phoenix", "zaxxon"} & {task for tasks in chosen for task in tasks}
    errors = [results["best"]["cv_mse"], *(item["cv_mse"] for item in results["runners_up"])]
    assert errors == sorted(errors)


@pytest.mark.parametrize("target", ["hwrns median", "at human level", "own.py:best"])
def test_other_targets(invoke, target):
    Path("own.py").write_text("import numpy as np\n\n\ndef best(scores):\n    return float(np.max(scores))\n")
    answer = invoke(*TRAINING, "--size", 1, "--target", target, "--format=json")
    assert (answer.code, answer.err) == (0, "")
    document = answer.json
    assert document["results"][0]["best"]["n"] >= 40
    if target == "own.py:best":
        games = {"video_pinball", "atlantis", "boxing", "breakout", "star_gunner", "demon_attack", "gopher", "asterix"}
        assert games & {task for item in document["results"][0]["runners_up"] for task in item["tasks"]}


@pytest.mark.slow
def test_another_benchmark_from_search_to_prediction(invoke, own):
    told = invoke("subset", "search", *own, *("--size", 2, "--target", "mean", "--out", "m.json", "--set", "nnls=yes"))
    assert (told.code, told.err) == (0, "")
    assert "model: m.json" in told.out
    assert "24 algorithms, 8 tasks" in told.out
    model = json.loads(Path("m.json").read_text(encoding="utf-8"))
    assert model["references"] == {task: [100.0, 150.0] for task in model["tasks"]}
    first, second = model["tasks"]
    Path("new.csv").write_text(f"algorithm,task,score\nme,{first},125\nme,{second},150\n", encoding="utf-8")
    answer = invoke("subset", "predict", "new.csv", "--estimator", "m.json", "--format=json")
    assert (answer.code, answer.err) == (0, "")
    (prediction,) = answer.json["predictions"]
    logs = np.log10([51.0, 101.0]) @ np.array(model["coefficients"])
    assert prediction["estimate"]["value"] == pytest.approx(10**logs - 1)
    study = invoke("subset", "study", *own, "--models", "m.json", "--format=json")
    (kind,) = study.json["kinds"]
    assert kind["agreements"][0]["compared"] == 24


def test_a_study_relative_to_an_algorithm(invoke):
    command = ("subset", "study", "catalogue:review-2021", "--models", "atari-5", "--relative-to", "Rainbow")
    rows = {line["row"]["algorithm"]: line["row"] for line in invoke(*command, "--format=json").json["lines"]}
    assert rows["Rainbow"]["relative"] == rows["Rainbow"]["estimates"][0]["relative"] == 1
    assert rows["MuZero"]["relative"] == pytest.approx(rows["MuZero"]["true"] / rows["Rainbow"]["true"])
    assert "Ordered otherwise, the better one first: all" in invoke(*command).out


def test_five_games_give_the_median_every_game_and_what_to_play_next(invoke, mine):
    answer = invoke("subset", "predict", mine, "--protocol", "world-records")
    assert (answer.code, answer.err) == (0, "")
    assert "Play next" in answer.out
    assert "frame cap" not in answer.out
    (prediction,) = invoke("subset", "predict", mine, "--format=json").json["predictions"]
    assert len(prediction["forecast"]["tasks"]) == len(prediction["forecast"]["plays"]) == 52
    assert list(prediction["forecast"]["summaries"]) == ["median", "mean", "at human level", "records broken"]
    alien = prediction["forecast"]["tasks"]["alien"]
    assert 0 <= alien["low"] < alien["value"] < alien["high"]
    answer = invoke("subset", "predict", mine, "--estimator", "atari-5", "--protocol", "world-records")
    assert "157 %" in answer.out.replace("\N{NO-BREAK SPACE}", " ")
    (prediction,) = invoke("subset", "predict", mine, "--estimator", "atari-5", "--format=json").json["predictions"]
    assert "frame cap of these scores is not known" in prediction["estimate"]["warnings"][0]


@pytest.mark.parametrize("model", [("--estimator", "atari-5"), pytest.param((), marks=pytest.mark.slow)])
def test_scores_outside_the_training_table_are_flagged(invoke, mine, model):
    Path("odd.csv").write_text("game,Odd\n" + FIVE.replace("42000", "42000000"), encoding="utf-8")
    assert "Scores on Battle Zone are outside the training table" in invoke("subset", "predict", "odd.csv", *model).out
    assert "outside" not in invoke("subset", "predict", mine, *model).out


@pytest.fixture
def few(tmp_path):
    (tmp_path / "few.csv").write_text("game,Few\nAlien,2000\nPong,18\nBreakout,200\n", encoding="utf-8")
    return "few.csv"


@pytest.mark.slow
def test_games_that_cost_more_frames_are_played_later(invoke, few, tmp_path):
    plays = invoke("subset", "predict", "few.csv", "--format=json").json["predictions"][0]["forecast"]["plays"]
    first = plays[0]["task"]
    lines = [f"{play['task']},{10000 if play['task'] == first else 1}" for play in plays]
    (tmp_path / "frames.csv").write_text("game,frames\n" + "\n".join(lines) + "\n", encoding="utf-8")
    dear = invoke("subset", "predict", "few.csv", "--frames", "frames.csv", "--format=json").json
    assert dear["predictions"][0]["forecast"]["plays"][-1]["task"] == first
    assert "per frame" in invoke("subset", "predict", "few.csv", "--frames", "frames.csv").words


@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
def test_every_interval_is_at_the_level_asked_for(invoke, level):
    """Of a published model, of its every other game and of whatever games there are."""
    command = ("subset", "predict", "catalogue:review-2021", "--algorithms", "Rainbow", "--estimator", "atari-5")
    answer = invoke(*command, "--level", level, "--format=json")
    assert (answer.code, answer.err) == (0, "")
    document = answer.json
    estimate = document["predictions"][0]["estimate"]
    assert (document["level"], estimate["level"], estimate["log_error"]) == (level, level, 0.104)
    assert not [name for name in estimate if name.startswith("nested_")]
    reach = conformal_half_width(subset("atari-5").nested.every, level)
    if level == 0.99:  # of 30 papers
        assert (estimate["low"], estimate["high"]) == (None, None)
        told = "30 papers are too few for a 99 % interval; they allow one of up to 96 %"
        assert any(told in text for text in estimate["notes"])
    else:
        ends = [(1 + estimate["value"]) * 10**by - 1 for by in (-reach, reach)]
        assert [estimate["low"], estimate["high"]] == pytest.approx(ends)
    shown = invoke(*command, "--level", level, "--format=markdown", "--all").words
    assert (f"| on other papers | {100 * level:g} % from | to |" in shown) == (level < 0.99)


def test_papers_are_left_out_and_the_model_keeps_the_errors(invoke, own):
    search = ("subset", "search", *own, "--size", 2)
    answer = invoke(*search, "--nested", "--set", "papers=papers.csv", "--format=json", "--out", "model.json")
    assert (answer.code, answer.err) == (0, "")
    (found,) = answer.json["results"]
    nested = found["nested"]
    assert (nested["papers"], len(nested["held_out"])) == (8, 24)
    assert {item["source"] for item in nested["held_out"]} == {f"paper {number}" for number in range(8)}
    errors = [np.log(10) * abs(item["true"] - item["predicted"]) for item in nested["held_out"]]
    assert [nested["mean"], nested["median"], nested["worst"]] == pytest.approx(
        [np.mean(errors), np.median(errors), max(errors)]
    )
    assert sum(item["times"] for item in nested["winners"]) == 8
    # Eight papers are too few for 90 %: with what is left for a new one, they come to 8/9.
    assert [item["half_width"] is None for item in nested["intervals"]] == [False, False, True, True]
    kept = files.loads(Path("model.json").read_text(encoding="utf-8")).nested
    assert (kept.mean, kept.n) == (nested["mean"], 24)
    assert conformal_half_width(kept.errors, nested["intervals"][1]["level"]) == nested["intervals"][1]["half_width"]


@pytest.mark.slow
def test_the_best_of_every_size_with_its_error_and_proof(invoke):
    answer = invoke(*TRAINING, "--sizes", "1-3,5", "--save", "curve.svg", "--out", "models", "--save", "page.html")
    assert (answer.code, answer.err) == (0, "")
    words = answer.words
    assert "5 10.4 % 1.64 % 44 0.6966 of 3,819,816" in words.replace("\N{NO-BREAK SPACE}", " ")
    assert "The best where whoever is left out counts" in words
    assert "Battle Zone, +Double Dunk, Name This Game, Phoenix, +Q*bert" in words
    drawing = ElementTree.fromstring(Path("curve.svg").read_text(encoding="utf-8"))
    texts = {"".join(item.itertext()) for item in drawing.iter("{http://www.w3.org/2000/svg}text")}
    assert {"best", "best if all count", "1", "2", "3", "5", "44", "62", "n"} <= texts
    page = Path("page.html").read_text(encoding="utf-8")
    assert "best if all count, on other" not in page
    assert 'aria-label="Relative error of the median HNS' in page
    names = sorted(path.stem for path in Path("models").iterdir())
    assert names == sorted(f"atari-5-training-{size}{kind}" for size in (1, 2, 3, 5) for kind in ("", "-charged"))


@pytest.mark.slow
def test_json_has_both_ways_to_choose_and_nested_errors(invoke):
    answer = invoke(*TRAINING, "--sizes", "2", "--nested", "--format=json", "--save", "curve.png")
    assert (answer.code, answer.err) == (0, "")
    document = answer.json
    assert document["schema"] == "arcademark.subset-sizes/4"
    assert [series["incomplete"] for series in document["series"]] == ["leave out", "charge"]
    (item,) = document["series"][0]["sizes"]
    assert item["best"]["tasks"] == ["battle_zone", "name_this_game"]
    assert item["certificate"]["gap"] == 0
    assert item["nested"]["mean"] > item["error"] > item["spread"] > 0
    assert Path("curve.png").read_bytes().startswith(b"\x89PNG")


SEARCH = ("subset", "search", "catalogue:atari-5-training", "--size", 2, "--set", "top=1")
REVIEW = ("subset", "predict", "catalogue:review-2021", "--estimator", "m.json")


def search(invoke, *options):
    answer = invoke(*SEARCH, "--out", "m.json", *options)
    assert (answer.code, answer.err) == (0, "")
    return answer.words, json.loads(Path("m.json").read_text(encoding="utf-8"))


def test_an_error_in_points_is_no_factor(invoke):
    told, model = search(invoke, "--target", "mean", "--set", "transform=none")
    assert "predict the mean HNS over all" in told
    assert "62 algorithms, 56 games, scores as they are" in told
    assert "mean error, %" in invoke(*SEARCH, "--target", "mean", "--set", "transform=none", "--format=markdown").out
    assert model["log_error"] is None
    answer = invoke(*REVIEW, "--format=json")
    estimates = [item["estimate"] for item in answer.json["predictions"] if item["estimate"]]
    error = model["absolute_error"]
    assert error > 100
    assert all(item["absolute_error"] == error and item["log_error"] is None for item in estimates)
    assert all(item["low"] is None and item["high"] is None for item in estimates), "no paper was left out"
    assert f"±{error:.1f} points" in invoke(*REVIEW).out.replace("\N{NO-BREAK SPACE}", " ")


def test_a_count_is_no_percentage(invoke):
    told, model = search(invoke, "--target", "at human level")
    assert "predict the number of games at human level over all" in told
    assert (model["summary"], model["unit"]) == ("at human level", "games")
    assert model["name"] == "atari-5-training-at-human-level-2"
    out = invoke(*REVIEW).out.replace("\N{NO-BREAK SPACE}", " ")
    (line,) = [line for line in out.splitlines() if line.startswith("Rainbow ")]
    assert line.count("%") == 1, "the error alone is a share"
    assert " games " in line


def test_a_task_without_any_score_is_said_not_to_take_part(invoke, benchmark):
    own = benchmark(
        {f"a{place}": {"x": place, "y": 2 * place, "z": 3 * place, "void": ""} for place in range(6)}, 0, 10
    )
    search = ("subset", "search", *own, "--size", 1, "--set", "folds=3")
    told = invoke(*search).words
    assert "6 algorithms, 3 tasks" in told
    assert "Left out: void (no algorithm has a score on it)." in told
    assert invoke(*search, "--tasks", "exclude=void").code == 0


@pytest.mark.slow
def test_intervals_hold_what_was_left_out_in_every_way(invoke):
    answer = invoke("subset", "coverage", "atari-5", "atari-10", "pong", "--sizes", "5,10", "--format=json")
    shown = answer.json
    assert (answer.code, shown["schema"]) == (0, "arcademark.subset-coverage/5")
    rows = {(row["subset"], row["left_out"]): row for row in shown["rows"]}
    newest = next(way for _, way in rows if way.startswith("since"))
    given, chosen = ("atari-5", "atari-10", "pong"), ("best 5", "best 10")
    assert set(rows) == {(name, way) for name in given + chosen for way in ("each paper", "each kind", newest)}
    for name in ("atari-5", "atari-10", *chosen):  # also from games chosen on the same table
        for level in rows[name, "each paper"]["levels"]:
            assert level["held"] == pytest.approx(0.9, abs=0.03), (name, level)
    for (name, way), row in rows.items():
        assert (row["algorithms"] < shown["algorithms"] / 2) == (way == newest)
        assert 0.8 <= row["games_coverage"] <= 0.97, (name, way)
        assert row["coverage"]["median"] >= (0.85 if name in ("atari-5", "pong") else 0.8), (name, way)
        assert [level["level"] for level in row["levels"]] == ["weak", "middle", "strong"]
        assert sum(level["algorithms"] for level in row["levels"]) > row["algorithms"]
    for level in rows["atari-5", "each paper"]["levels"]:
        assert level["width"] < 4.5, level
    assert rows["atari-5", "each paper"]["by_group"] == pytest.approx(0.9, abs=0.03)
    assert 0 < rows["atari-5", "each paper"]["by_group_error"] < 0.06
    assert rows["atari-5", "each paper"]["mean_error"] < 0.2 < rows["pong", "each paper"]["mean_error"]
    assert rows["atari-5", "each paper"]["mean_error"] < rows["atari-5", newest]["mean_error"]


def errors(trained, tasks):
    """Estimated less true means, each algorithm's without its paper."""
    names = trained.joint.tasks
    missed = calibration.misses(trained, np.isin(names, tasks), (MEAN,), predictors.noise(len(names))).errors["mean"]
    kept = [missed.values(missed.estimates, group) for group in dict.fromkeys(missed.groups)]
    rows = [missed.groups == group for group in dict.fromkeys(missed.groups)]
    return np.concatenate([values[row] - missed.truths[row] for values, row in zip(kept, rows, strict=True)])


def test_games_are_chosen_anew_without_what_is_left_out(invoke, benchmark):
    """Of a benchmark of one's own: eight tasks, thirty players of six papers, two of them on tasks turned round."""
    rng = np.random.default_rng(1)
    scores = {}
    for player in range(30):
        skills = rng.normal(size=2)
        scores[f"p{player}"] = {}
        for task in range(8):
            own = skills[(task + (player // 5 == 5)) % 2] if task < 6 else rng.normal()
            scores[f"p{player}"][f"t{task}"] = 10 ** (1.5 + 0.4 * own + 0.1 * rng.normal())
    papers = {name: f"paper {number // 5}" for number, name in enumerate(scores)}
    learnt = ("--training", *benchmark(scores, 0, 100, **papers), "--set", "papers=papers.csv")
    answer = invoke("subset", "coverage", "t6,t7", "--sizes", "2", *learnt, "--format=json")
    assert (answer.code, answer.err) == (0, "")
    shown = answer.json
    assert (shown["noun"], shown["algorithms"], shown["groups"]) == ("task", 30, 6)
    given, best = shown["rows"]
    assert (given["games"], given["same"], given["left_out"]) == (["t6", "t7"], None, "each paper")
    trained = predictors.own(["scores.csv"], Path("references.csv"), Path("papers.csv")).trained
    assert tuple(best["games"]) == choose(trained, 2)
    choices = [choose(trained, 2, without=f"paper {number}") for number in range(6)]
    assert best["same"] == sum(choice == choose(trained, 2) for choice in choices) / 6
    assert best["mean_error"] < given["mean_error"]
    told = invoke("subset", "coverage", "--sizes", "2", *learnt).out
    assert "Coverage of 90 % intervals, from some tasks" in told
    asked = ("--set", "transform=none", "--target", "mean", "--random", "8", "--format=json")
    (row,) = invoke("subset", "coverage", "--sizes", "1", *learnt, *asked).json["rows"]
    plain = predictors.own(["scores.csv"], Path("references.csv"), Path("papers.csv"), "none").trained
    singles = [abs(errors(plain, [task])) for task in plain.joint.tasks]
    means = [np.mean(one) for one in singles]
    beside, chosen = row["beside"], [choose(plain, 1, MEAN, without=f"paper {number}") for number in range(6)]
    best = np.concatenate([abs(errors(plain, tasks))[5 * number :][:5] for number, tasks in enumerate(chosen)])
    assert (beside["subsets"], row["mean_error"]) == (8, pytest.approx(best.mean()))
    assert beside["mean_error"] == pytest.approx(np.mean(means))
    assert beside["worse"] == np.mean(means > best.mean())
    gains = np.mean([one.reshape(6, 5).mean(axis=1) for one in singles], axis=0) - best.reshape(6, 5).mean(axis=1)
    reach = stats.t.ppf(0.95, 5) * gains.std(ddof=1) / 6**0.5
    assert [beside["low"], beside["high"]] == pytest.approx([gains.mean() - reach, gains.mean() + reach])
    places = [plain.joint.tasks.index(tasks[0]) for tasks in chosen for _ in range(5)]
    alone = plain.percent[np.arange(30), places] - plain.percent.mean(axis=1)
    assert beside["alone"] == pytest.approx(np.mean(abs(alone)))
    assert "chosen anew each time" in " ".join(told.split())


def test_estimates_import_no_compiler_and_nothing_that_draws(tmp_path):
    (tmp_path / "mine.csv").write_text("algorithm,alien,pong\na,900,3\nb,1500,9\n", encoding="utf-8")
    code = (
        "import sys; from arcademark.cli.main import cli; cli(sys.argv[1:], standalone_mode=False); print(*sys.modules)"
    )
    for command in (("score",), ("subset", "predict")):
        done = subprocess.run(
            [sys.executable, "-c", code, *command, "mine.csv"], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        loaded = done.stdout.splitlines()[-1].split()
        assert "arcademark.subset.predict.outlook" in loaded
        assert not {"numba", "scipy", "matplotlib"} & {*loaded}
