import importlib.util
import os
import signal
import sys
from dataclasses import replace
from itertools import repeat
from pathlib import Path

import numpy as np
import pytest

from arcademark.records.reading import read_run
from arcademark.reproduce.ale2013 import ours, scores
from arcademark.reproduce.ale2013.ours import TrialResult
from arcademark.suite import tasks
from arcademark.suite.tables import read_records

GAMES = set(scores.games())
ROOT = Path(__file__).parents[2]
PPO = ("ppo-world-records", "ppo-tuning", "ppo-atari-57")


def script(name, monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "results")
    spec = importlib.util.spec_from_file_location(f"results_{name}", ROOT / "results" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    return module


def kept(page):
    return (ROOT / "docs" / "results" / f"{page}.md").read_text(encoding="utf-8")


def trial(agent, game, mean, error=None, **fields):
    ends = {} if error is None else {"low": mean - 2 * error, "high": mean + 2 * error, "standard_error": error}
    return TrialResult(agent, game, 0, 30, **{"least": mean, "mean": mean, "most": mean, **ends, **fields})


@pytest.fixture
def baselines(monkeypatch):
    """Return our column beside the paper's, by game, of the trials given."""

    def of(name, *studies):
        given = dict(zip((ours.STUDY, ours.STARTS), studies, strict=True))
        monkeypatch.setattr(ours, "results", lambda study: given.get(study, ()))
        (column,) = (part for part in ours.columns() if part.title.endswith(name))
        return dict(zip(scores.games(), column.comparisons, strict=True))

    return of


def test_trials_are_of_the_suite_and_their_numbers_hang_together():
    rows = ours.results(ours.STUDY)
    assert {row.game for row in rows if row.agent == "random"} == GAMES
    assert len({(row.agent, row.game, row.seed) for row in rows}) == len(rows)
    for row in (*rows, *ours.results(ours.STARTS)):
        assert row.game in GAMES
        assert row.least <= row.mean <= row.most
        assert 0 < row.frames <= row.episodes * 18_000
        assert len(row.checksum) == 16
        assert "ale-py" in row.versions or "console" in row.versions
        if row.standard_error is not None:
            assert row.low < row.mean < row.high


def test_a_mean_agrees_within_three_standard_errors(baselines):
    printed = dict(zip(scores.games(), scores.raw(("Random",))[0], strict=True))
    means = {"alien": printed["alien"] + 29, "amidar": printed["amidar"] + 31}
    column = baselines("Random", [trial("random", game, mean, 10.0) for game, mean in means.items()], [])
    assert [column[game].verdict for game in means] == ["agrees", "differs"]
    assert column["asterix"].verdict == "not available"
    started = [trial("random", "amidar", printed["amidar"] + 2, 1.0)]
    for mean, explained in ((31, True), (29, False)):
        item = baselines("Random", [trial("random", "amidar", printed["amidar"] + mean, 10.0)], started)["amidar"]
        assert bool(item.why) == explained
    started = [trial("random", "amidar", printed["amidar"] + 4, 1.0)]
    assert not baselines("Random", [trial("random", "amidar", means["amidar"], 10.0)], started)["amidar"].why


def test_the_best_of_eighteen_is_compared_once_all_are_played(baselines):
    const = [trial(f"const(action={action})", "alien", 1.0) for action in tasks.JOYSTICK_ACTIONS]
    perturb = [trial(f"perturb(action={action})", "alien", n, 0.5) for n, action in enumerate(tasks.JOYSTICK_ACTIONS)]
    assert baselines("Perturb", [*const, *perturb[:-1]], [])["alien"].verdict == "not available"
    item = baselines("Perturb", [*const, *perturb], [])["alien"]
    assert "17" in item.recomputed
    assert tasks.JOYSTICK_ACTIONS[-1] in item.recomputed


def test_another_score_of_a_single_game_is_explained_by_other_starts_that_reach_it(baselines):
    printed = dict(zip(scores.games(), scores.raw(("Const",))[0], strict=True))["seaquest"]
    played = [trial("const(action=UP)", "seaquest", printed + 20)]
    for most, explained in ((printed + 20, True), (printed - 1, False)):
        started = [trial("const(action=UP)", "seaquest", printed - 20, least=printed - 40, most=most)]
        assert not baselines("Const", played, [])["seaquest"].why
        item = baselines("Const", played, started)["seaquest"]
        assert (item.verdict, bool(item.why)) == ("differs", explained)


@pytest.mark.parametrize(
    ("game", "action", "then", "today"),
    [("atlantis", 0, 1_500, 2_000), ("wizard_of_wor", 1, 300, 500), ("journey_escape", 0, 0, -10_700)],
)
def test_const_scores_what_the_paper_prints_where_games_begin_as_in_2013(game, action, then, today, monkeypatch):
    from arcademark.emulator.machine import Machine
    from arcademark.environments.emulation.atari import rom_path

    starts, rom = script("starts", monkeypatch), rom_path(game).read_bytes()
    assert then == scores.raw(("Const",))[0, scores.place(game)]
    machines = [kind(game, rom) for kind in (starts.Machine2013, Machine)]
    assert [starts.episode(machine, repeat(action))[0] for machine in machines] == [then, today]


def test_starts_as_in_2013_explain_every_score_of_const():
    best = {}
    for row in (one for one in ours.results(ours.STARTS) if one.agent != "random"):
        least, most = best.get(row.game, (row.least, row.most))
        best[row.game] = max(least, row.least), max(most, row.most)
    printed = dict(zip(scores.games(), scores.raw(("Const",))[0].tolist(), strict=True))
    assert {game for game, ends in best.items() if ends != (printed[game],) * 2} == {
        *("freeway", "assault", "demon_attack", "ice_hockey")
    }
    assert all(least <= printed[game] <= most for game, (least, most) in best.items())


def test_the_command_sets_ours_beside_the_papers():
    from arcademark.analysis.reproductions.analysis import reproduced

    document = reproduced("ale-2013", ours=True)
    random = document.parts[0]
    assert [item.where for item in random.comparisons] == [tasks.game_name(game) for game in scores.games()]
    assert random.counts.unavailable == 0
    assert random.counts.agree + random.counts.differ == len(GAMES)


def test_a_paper_without_runs_of_ours_is_told():
    from arcademark.analysis.reproductions.analysis import reproduced
    from arcademark.errors import ArcadeMarkError

    with pytest.raises(ArcadeMarkError, match="no runs of our own for review"):
        reproduced("review", ours=True)


def test_what_our_runs_have_not_is_refused():
    from arcademark.cli.main import cli
    from arcademark.errors import ArcadeMarkError

    with pytest.raises(ArcadeMarkError, match="leave the others out"):
        cli.main(["reproduce", "ale-2013", "--with", "ours", "--figure", "2"], standalone_mode=False)


@pytest.mark.parametrize("study", PPO)
def test_curves_lead_to_the_scores_of_trained_agents(study):
    trials = {(row.agent, row.game, row.seed): row for row in ours.results(study)}
    ends = {}
    for point in ours.curves(study):
        key = point.agent, point.game, point.seed
        assert ends[key].episodes < point.episodes if key in ends else point.episodes > 0
        ends[key] = point
    assert ends.keys() == trials.keys()
    for key, row in trials.items():
        assert ends[key].frames == row.frames
        assert ends[key].last(100) == pytest.approx(row.mean, rel=1e-6)
        assert row.episodes == min(100, ends[key].episodes)


def test_runs_are_collected_into_what_a_study_has(tmp_path, monkeypatch):
    collect = script("collect", monkeypatch)
    made = {}
    monkeypatch.setattr(collect, "DATA", tmp_path)
    monkeypatch.setattr(collect, "read_run", lambda run: run)
    monkeypatch.setattr(collect, "rows", lambda run: made[run])

    def collected(run, *trials, learning="alpha=0.5"):
        made[run] = [
            (
                {"agent": agent, "game": "pong", "seed": 0, "frames": frames, "mean": mean, "learning": learning},
                [{"agent": agent, "game": "pong", "seed": 0, "frames": frames, "last_5": mean}],
            )
            for agent, frames, mean in trials
        ]
        collect.main("made-up", run)
        rows, points = (collect.there(f"made-up{end}.csv") for end in ("", "-curves"))
        assert [(row["agent"], row["frames"]) for row in rows] == [(one["agent"], one["frames"]) for one in points]
        return [(row["agent"], row["frames"], row["mean"]) for row in rows]

    assert collected("first", ("a", 10, 1.0), ("b", 20, 2.0)) == [("a", "10", "1.0"), ("b", "20", "2.0")]
    assert collected("second", ("a", 10, 3.0), ("b", 19, 4.0), ("c", 5, 5.0)) == [
        *(("a", "10", "3.0"), ("b", "20", "2.0"), ("c", "5", "5.0"))
    ]
    kept = collected("cut off", ("c", 1, 6.0))
    assert kept[2] == ("c", "5", "5.0")
    assert collected("with others", ("c", 1, 6.0), learning="alpha=0.1")[2] == ("c", "1", "6.0")
    assert "made-up.csv" in (tmp_path / "SHA256SUMS").read_text(encoding="utf-8")


def test_learners_are_of_the_training_games_and_at_the_papers_budget():
    rows = ours.results("sarsa")
    assert len({(row.agent, row.game, row.seed) for row in rows}) == len(rows)
    ends = {(point.agent, point.game, point.seed): point for point in ours.curves("sarsa")}
    for row in rows:
        assert row.game in scores.games()[:5]
        assert (row.episodes, ends[row.agent, row.game, row.seed].episodes) == (500, 5_000)
        assert ends[row.agent, row.game, row.seed].frames < row.frames <= 5_500 * 18_000


def test_cells_with_earlier_defaults_are_marked_and_take_part_in_the_comparison(monkeypatch):
    classic = script("classic", monkeypatch)
    monkeypatch.setattr(
        classic, "defaults", lambda features: {"alpha": 0.2, "alpha_schedule": "linear", "lambda_": 0.9}
    )
    printed = scores.raw(("LSH",))[0]
    words = ("alpha=0.2", "alpha_schedule=linear", "lambda_=0.9", "hash_seed=0")
    now, before = (
        trial("sarsa(features=lsh)", game, factor * printed[scores.place(game)], learning=words)
        for game, factor in (("asterix", 2.0), ("freeway", 0.5))
    )
    before = replace(before, learning=("alpha=0.2", "alpha_schedule=constant", "lambda_=0.9"))
    assert (classic.trial_settings(now), classic.trial_settings(before)) == ("0.2 → 0, 0.9", "0.2, 0.9 †")
    other = replace(now, seed=1, mean=4 * now.mean, learning=(*words[:-1], "hash_seed=1"))
    for trials, shown in (([now, before], "1.00 | 0.50 … 2.00"), ([now, before, other], "1.58 | 0.50 … 5.00")):
        (row,) = (line for line in classic.compared_with_paper([now, before], trials).splitlines() if "LSH" in line)
        assert row == f"| LSH | 0.2 → 0, 0.9 | 1 of 2 | {shown} |"


def test_trials_of_a_cell_are_told_apart_by_their_parameters_alone(monkeypatch):
    classic = script("classic", monkeypatch)
    usual = {"bass": 0.5, "lsh": 0.2}
    monkeypatch.setattr(
        classic, "defaults", lambda name: {"alpha": usual[name], "alpha_schedule": "constant", "lambda_": 0.9}
    )
    learning = ("alpha=0.5", "alpha_schedule=constant", "lambda_=0.9")
    rows = [
        replace(trial(agent, "asterix", mean + seed % 3), seed=seed, learning=(*learning, f"hash_seed={seed}"))
        for agent, mean in (("sarsa(features=bass)", 100.0), ("sarsa(features=lsh)", 50.0))
        for seed in range(12)
    ]
    rows.append(replace(rows[0], seed=12, learning=("alpha=0.1", *learning[1:])))
    title, _, table, _, tests = classic.other_seeds(rows)
    assert title == "## Other seeds"
    assert [line.split(" | ")[1:5] for line in table.splitlines()[2:]] == [
        *(["BASS", "0.5, 0.9", "12", "101.0"], ["LSH", "0.5, 0.9 †", "12", "51.0"])
    ]
    assert tests.splitlines()[2].startswith("| BASS |  | +")
    assert tests.splitlines()[2].endswith("* |")


@pytest.fixture
def trials(monkeypatch, tmp_path):
    """Return the driver of tuning and published trials, with tables of its own."""
    module = script("trials", monkeypatch)
    monkeypatch.setattr(module, "TUNING", tmp_path / "tuning.csv")
    monkeypatch.setattr(sys.modules["collect"], "DATA", tmp_path)
    monkeypatch.setattr(module, "SETS", ("basic",))
    return module


def made_up(trials, training, ratio):
    setting = training.setting
    columns = {**vars(setting), "game": training.game, "training_episodes": training.training_episodes, "seed": 100}
    frozen = ratio * trials.from_paper(setting.features, training.game)
    return {name: str(value) for name, value in {**columns, "frozen": frozen}.items()}


def followed(trials, ratio):
    """Play the queue until published trials begin, with made-up results."""
    done = []
    while True:
        training = next(one for one in trials.queue(done, trials.SETS) if not trials.recorded(one, done))
        if training.published:
            return done, training
        done.append(made_up(trials, training, ratio(training)))


def test_the_grid_is_extended_until_it_brackets_the_best_and_the_better_finalist_is_chosen(trials):
    def ratio(training):
        alpha, long = training.setting.alpha, training.training_episodes == 1000 and training.game == "freeway"
        if training.setting.alpha_schedule == "linear":
            return 0.1
        return {0.02: 0.5, 0.05: 0.6 if long else 0.9, 0.1: 0.8}.get(alpha, 0.4)

    done, published = followed(trials, ratio)
    tried = {float(row["alpha"]) for row in done if row["alpha_schedule"] == "constant"}
    assert tried == {0.5, 0.2, 0.1, 0.05, 0.02}  # the grid's least, 0.05, led, and 0.02 did not
    long = [float(row["alpha"]) for row in done if (row["game"], row["training_episodes"]) == ("freeway", "1000")]
    assert sorted(long) == [0.05, 0.1]
    assert (published.setting.alpha, published.game, published.seed) == (0.1, "freeway", 0)
    assert {row["game"] for row in done} == {"asterix", "freeway", "space_invaders"}


def test_a_game_without_a_point_does_not_rule_out_a_setting_alone(trials):
    setting = trials.Setting("basic", 0.5, "constant", 0.9)
    done = [
        made_up(
            trials, trials.Training(setting, game, 300 if game == "freeway" else 1000), 0.0 if game == "freeway" else 1
        )
        for game in trials.GAMES
    ]
    assert trials.merit(setting, done) == pytest.approx(0.01 ** (1 / 3))
    assert trials.merit(setting, done[:2]) is None


def test_freeway_is_not_played_by_settings_that_it_could_not_place_among_the_best_two(trials):
    def ratio(training):
        if training.game == "freeway":
            return 1.5
        return {0.5: 1.0, 0.2: 0.9, 1.0: 0.95}.get(training.setting.alpha, 0.1)

    done, published = followed(trials, ratio)
    played = [
        (row["alpha_schedule"], row["alpha"])
        for row in done
        if (row["game"], row["training_episodes"]) == ("freeway", "300")
    ]
    assert played == [("linear", "0.5"), ("linear", "0.2"), ("constant", "0.5")]
    assert sum(row["game"] == "asterix" for row in done) == len(trials.GRID)
    assert published.setting.alpha == 0.5


def test_a_setting_that_forgets_freeway_is_replaced_by_the_second(trials):
    ratios = {(0.5, "linear"): 1.0, (0.2, "linear"): 0.9}

    def ratio(training):
        return ratios.get((training.setting.alpha, training.setting.alpha_schedule), 0.1)

    done, first = followed(trials, ratio)
    assert (first.setting.alpha, first.game) == (0.5, "freeway")
    kept, lost = made_up(trials, first, 0.51), made_up(trials, first, 0.49)
    assert trials.chosen("basic", [*done, kept | {"seed": "0"}]) == first.setting
    assert trials.chosen("basic", [*done, lost | {"seed": "0"}]).alpha == 0.2
    (second,) = {one.setting for one in trials.queue([*done, lost | {"seed": "0"}], ["basic"]) if one.published}
    assert trials.chosen("basic", [*done, lost | {"seed": "0"}]) == second


@pytest.mark.slow
def test_snapshots_are_the_weights_of_a_shorter_training_and_published_rows_those_of_the_run(
    trials, monkeypatch, tmp_path
):
    kind = trials.Training
    monkeypatch.setattr(kind, "episodes", 2)
    monkeypatch.setattr(kind, "snapshot_episodes", 2)
    monkeypatch.setattr(trials, "SNAPSHOTS", (0.5, 1.0))
    setting = trials.Setting("ram-bits", 0.5, "constant", 0.9)
    whole, shorter = (kind(setting, "space_invaders", episodes) for episodes in (20, 10))
    for training in (whole, shorter):
        folder = tmp_path / str(training.training_episodes)
        folder.mkdir()
        assert trials.work(training, folder)
    first, second = trials.table()
    assert first["snapshots"].split()[0] == second["snapshots"].split()[-1]
    assert first["snapshots"].split()[1] != second["snapshots"].split()[1]
    scores = [float(score) for score in second["tenths"].split()]  # an episode each
    assert [float(mean) for mean in first["tenths"].split()[:5]] == np.mean([scores[::2], scores[1::2]], 0).tolist()
    assert trials.recorded(whole, trials.table())
    assert not [*tmp_path.rglob("weights-*")]

    monkeypatch.setattr(trials, "PUBLISHED", 20)
    assert not trials.recorded(whole, trials.table())
    run = read_run(tmp_path / "20" / "run")
    trials.publish(whole, run)
    (row,) = read_records("sarsa.csv", TrialResult, tmp_path)
    assert (row.agent, row.game, row.seed, row.episodes) == ("sarsa(features=ram-bits)", "space_invaders", 100, 2)
    assert row.learning == ("alpha=0.5", "alpha_schedule=constant", "lambda_=0.9")
    (early,) = run.manifest["agents"][0]["snapshots"].values()
    assert [share for share, *_ in early] == [0.8, 0.85, 0.9, 0.95]
    assert row.snapshots == (*(score for _, score, _ in early), run.evaluation(run.trials[0]).score[0])
    assert trials.recorded(whole, trials.table())
    assert not trials.recorded(replace(whole, setting=replace(setting, alpha=0.2)), trials.table())


def test_a_training_whose_weights_diverge_scores_0(trials, tmp_path):
    training = trials.Training(trials.Setting("ram-bits", 1e300, "constant", 0.9), "space_invaders", 4)
    assert trials.work(training, tmp_path)
    (row,) = trials.table()
    assert (row["frozen"], row["snapshots"]) == ("0", "")
    assert trials.recorded(training, trials.table())


def test_a_trial_that_is_stopped_goes_on_and_others_leave_it_alone(trials, monkeypatch, tmp_path):
    monkeypatch.setattr(trials.Training, "episodes", 1)
    training = trials.Training(trials.Setting("ram-bits", 0.5, "constant", 0.9), "space_invaders", 4)
    monkeypatch.setattr(trials, "queue", lambda done, sets: [training])
    player = trials.TrialPlayer

    def stopping(*given):
        made = player(*given)
        os.kill(os.getpid(), signal.SIGINT)
        return made

    with monkeypatch.context() as patched:
        patched.setattr(trials, "TrialPlayer", stopping)
        _, folder = next(trials.following(tmp_path, trials.SETS))
        assert trials.play(training, folder) is None
    with trials.claimed(folder / "claim") as mine:
        assert mine
        assert list(trials.following(tmp_path, trials.SETS)) == []
    run = trials.play(training, folder)
    assert len(run.training(run.trials[0])) == 4


def test_a_learner_of_ours_is_shown_beside_the_papers_thirty(monkeypatch):
    rows = [trial("sarsa", "freeway", 12.0), trial("sarsa(features=lsh)", "freeway", 1.0)]
    monkeypatch.setattr(ours, "results", lambda study: rows if study == "sarsa" else ())
    shown = {part.title.rpartition(": ")[2]: part.comparisons for part in ours.columns()[3:]}
    assert shown.keys() == {"Basic", "LSH"}
    (item,) = shown["Basic"]
    assert (item.where, item.recomputed, item.verdict) == ("Freeway", "12", "not available")


def test_the_tests_of_our_table_3_are_welchs(monkeypatch):
    from scipy.stats import ttest_ind

    ahead = script("classic", monkeypatch).ahead
    rng = np.random.default_rng(3)
    for lift in (0.0, 0.5, 2.0):
        samples = rng.normal(0, 1, 40), rng.normal(lift, 3, 60)
        a, b = (
            replace(trial("sarsa", "pong", one.mean(), one.std(ddof=1) / len(one) ** 0.5), episodes=len(one))
            for one in samples
        )
        found = ttest_ind(*samples, equal_var=False)
        assert ahead(a, b) == -ahead(b, a) == (np.sign(found.statistic) if found.pvalue < 0.01 else 0)


def test_pages_are_what_the_data_give(monkeypatch):
    from arcademark.analysis.reproductions.analysis import reproduced
    from arcademark.pages import presenter
    from arcademark.pages.render import markdown

    assert kept("world-records") == script("pages", monkeypatch).world_records()
    classic = script("classic", monkeypatch)
    assert kept("learners") == classic.learners()
    assert kept("planners") == classic.planners()
    assert kept("baselines") == markdown.render(presenter.document(reproduced("ale-2013", ours=True)))


@pytest.mark.slow
def test_the_page_of_atari_5_is_what_the_data_give(monkeypatch):
    assert kept("atari-5") == script("pages", monkeypatch).atari_5()
