"""Every erratum of the Atari-5 paper that arithmetic or its data decide, computed anew."""

import itertools
import math
import statistics

import atari5_training as data
import numpy as np
import pytest
from scipy import stats

from arcademark.catalogue import collections
from arcademark.catalogue.errata import NOT_DECIDABLE, errata
from arcademark.reproduce.atari5 import data as atari5_data
from arcademark.suite.costs import runnings
from arcademark.suite.protocols import protocol
from arcademark.suite.references import scores as reference_scores
from arcademark.suite.subsets import subset
from arcademark.suite.tasks import canonical_game, games

PAPER = "aitchison-2023"
FOUND = {erratum.where: erratum for erratum in errata(PAPER) if erratum.category != "sources disagree"}
ATARI_5, ATARI_10 = subset("atari-5").tasks, subset("atari-10").tasks
ENTRIES = collections.entries("atari-5-training")
RAINBOW, AGENT57 = runnings()["rainbow"], runnings()["agent57"]
AGENT57_HOURS = AGENT57.training_frames / AGENT57.frames_per_second / 3600
(REVIEWED_AGENT57,) = (entry for entry in collections.entries("review-2021") if entry.algorithm == "Agent57")
PRINTED_ESTIMATE = 1620
"""Of Go-Explore's median, §5.3."""
POUNDS_PER_KILOWATT_HOUR = 0.92
POUND, SHORT_TON = 0.45359237, 2000
"""In kilograms, and in pounds."""


def printed_numbers(table, row):
    return [float(cell.replace(",", "").strip("$")) for cell in atari5_data.printed(table)[row]]


def citations():
    """Those of ALE, and of each other benchmark."""
    found = {row: printed_numbers(1, row)[0] for row in atari5_data.printed(1)}
    return found.pop("ALE"), tuple(found.values())


def preemptive_share(row):
    _, preemptive, standard = printed_numbers(6, row)
    return f"{preemptive / standard:.2f}"


def years_from_dqn_to_agent57():
    years = {entry.algorithm: entry.year for entry in ENTRIES}
    return {5: "five years"}[years["Agent57"] - years["Nature DQN"]]


def growth_of_training_frames(to):
    return f"{to / protocol('dqn-2015').training_frames:g} times"


def hours_of_all_games(algorithm):
    return printed_numbers(6, {"Rainbow DQN": "Rainbow DQN", "Agent57": "Agent-57"}[algorithm.title])[0]


def standard_cost(algorithm):
    return hours_of_all_games(algorithm) * (algorithm.gpu_price + algorithm.machine_price)


def review(algorithm):
    return {
        result.task: result.score
        for result in collections.results("review-2021")
        if result.entry.algorithm == algorithm
    }


def by_agent(collection):
    found = {}
    for result in collections.results(collection):
        found.setdefault(result.entry.algorithm, {})[result.task] = result.score
    return found


def negative_in_dqn_7():
    inputs, targets, _ = data.sample(subset("dqn-7").tasks)
    coefficients = dict(zip(subset("dqn-7").tasks, data.fit(inputs, targets), strict=True))
    assert round(coefficients["breakout"], 4) == -0.3007
    assert round(coefficients["enduro"], 4) == -0.0041
    return {1: "one", 2: "two"}[sum(value < 0 for value in coefficients.values())]


def go_explore():
    scores = data.hns(review("Go-Explore"))
    logs = data.log_score(np.array([scores[game] for game in ATARI_5]))
    return statistics.median(scores.values()), 10 ** float(logs @ np.array(subset("atari-5").coefficients)) - 1


def go_explore_estimate():
    true, guess = go_explore()
    assert round(true) == 1446
    return f"{guess:,.0f}, an overestimate of {100 * (guess - true) / true:.1f}%"


def fitted_to_itself():
    """The estimate of Go-Explore by a model that is fitted to it and the other 44."""
    scores = data.hns(review("Go-Explore"))
    inputs, targets, _ = data.sample(ATARI_5)
    own = data.log_score(np.array([scores[game] for game in ATARI_5]))
    target = data.log_score(np.array([statistics.median(scores.values())]))
    inputs, targets = np.vstack([inputs, own]), np.concatenate([targets, target])
    assert len(targets) == 45
    guess = 10 ** float(own @ data.fit(inputs, targets)) - 1
    assert round(guess) == PRINTED_ESTIMATE
    return guess


def planning_shares():
    ours = by_agent("ale-2013")
    printed = data.raw()["Planning"]
    uct = sum(ours["UCT"].get(game) == score for game, score in printed.items())
    best = {game: max(scores[game] for scores in ours.values() if game in scores) for game in printed}
    assert all(abs(best[game] - score) < 0.51 for game, score in printed.items())  # breadth-first search is rounded
    return uct, len(printed) - uct


def accuracy_holds():
    errors = data.relative_errors("atari-5")
    ranked = sorted(errors, key=lambda name: data.median(name))
    thirds = [np.array([errors[name] for name in part]) for part in np.array_split(np.array(ranked), 3)]
    assert [len(part) for part in thirds] == [15, 15, 14]
    assert [round(100 * math.sqrt(np.mean(part**2)), 1) for part in thirds] == [8.1, 11.7, 14.3]
    assert [round(100 * np.mean(np.abs(part)), 1) for part in thirds] == [6.8, 9.0, 11.4]
    pairs = list(itertools.combinations(thirds, 2))
    tests = [stats.ttest_ind(f(a), f(b), equal_var=False) for a, b in pairs for f in (np.abs, np.square)]
    return all(test.pvalue > 0.05 for test in tests)


def well_predicted_others():
    return sum(data.game_models(ATARI_5)[game][1] > 0.8 for game in data.GAMES if game not in ATARI_5)


def fitted(games, target):
    return ", ".join(f"{value:.3f}" for value in data.game_models(games)[target][0])


def energy(hours):
    return (AGENT57.gpu_watts + AGENT57.machine_watts) * len(data.GAMES) * hours / 1e6


def pounds_of_carbon():
    return energy(AGENT57_HOURS) * 1000 * POUNDS_PER_KILOWATT_HOUR


RECOMPUTED = {
    "Abstract and §9": lambda: f"{100 * data.cross_validated(ATARI_5)[1]:.1f} % on average",
    "§1: from DQN (2015) to Agent57 (2020)": years_from_dqn_to_agent57,
    "§1: growth of training frames from 2015's DQN to Agent57": lambda: growth_of_training_frames(
        AGENT57.training_frames
    ),
    "§2 and Table 1: ALE's citations against the other benchmarks' together": lambda: (
        f"{citations()[0] / sum(citations()[1]):.2f} times"
    ),
    "Appendix A: preemptive against standard cost": lambda: (
        f"{preemptive_share('Rainbow DQN')} and {preemptive_share('Agent-57')}"
    ),
    "Appendix D: where the algorithms' names are from": lambda: (
        f"{sum('Papers with Code' in entry.read_in for entry in ENTRIES)} of the {len(ENTRIES)}"
    ),
    "§4.1 and Table 8: how many algorithms": lambda: (
        f"{len(data.raw()) - (data.HUMAN in data.raw())} and the human reference"
    ),
    "Public training table, Prior+Duel hs": lambda: f"{len(data.raw()['Prior+Duel hs'])} games",
    "Table 2, DQN-7": lambda: f"a model with {negative_in_dqn_7()} negative coefficients",
    "Table 3, Agent57, median": lambda: f"{data.median('Agent57'):,.0f}",
    "Table 3, IQN, median": lambda: f"{data.median('IQN'):,.0f}",
    "Table 3, Agent57, Atari-5": lambda: f"{data.predictions('atari-5')['Agent57'][1]:,.0f}",
    "Table 3, Ape-X, Atari-5": lambda: f"{data.predictions('atari-5')['Ape-X'][1]:,.0f}",
    "Table 3, IQN, Atari-5": lambda: f"{data.predictions('atari-5')['IQN'][1]:,.0f}",
    "§5.3, Go-Explore: by how much 1,620 exceeds 1,446": lambda: (
        f"{100 * (PRINTED_ESTIMATE / round(go_explore()[0]) - 1):.1f}%"
    ),
    "§5.3, Go-Explore: the Atari-5 estimate": go_explore_estimate,
    "§5.4: the measure of accuracy": lambda: "both support the statement" if accuracy_holds() else "",
    "§5.5: games predicted with R² above 0.8": lambda: f"{well_predicted_others()} of the other {57 - 5}",
    "§5.5: variance that Atari-5's models explain": lambda: (
        f"{100 * data.explained(ATARI_5, [g for g in data.GAMES if g not in ATARI_5]):.1f} % over the other 52 games"
    ),
    "§5.5: variance that Atari-10's models explain": lambda: (
        f"{100 * data.explained(ATARI_10, [g for g in data.GAMES if g not in ATARI_10]):.1f} % over the other 47 games"
    ),
    "§6, correlation of Skiing with Alien": lambda: f"{data.correlation('skiing', 'alien'):.2f}",
    "§6, correlation of Skiing with Ms. Pac-Man": lambda: f"{data.correlation('skiing', 'ms_pacman'):.2f}",
    "§6, correlation of Skiing with River Raid": lambda: f"{data.correlation('skiing', 'riverraid'):.2f}",
    "§7 and Tables 3 and 8: Rainbow's median": lambda: f"{data.median('Rainbow (noop)'):.0f}",
    "Appendix A, Agent-57: hours": lambda: f"{AGENT57_HOURS:.1f}, rounded {AGENT57_HOURS:.0f}",
    "Table 6, Rainbow DQN, standard cost": lambda: f"${standard_cost(RAINBOW):,.0f}",
    "Table 6, Agent-57, standard cost": lambda: f"${standard_cost(AGENT57):,.0f}",
    "Appendix A, Power Usage: energy of an Agent57 run": lambda: f"{energy(AGENT57_HOURS):.3f} MWh",
    "Appendix A, Carbon Emissions": lambda: (
        f"{pounds_of_carbon() / SHORT_TON:.2f} short tons, {pounds_of_carbon() * POUND / 1000:.2f} tonnes"
    ),
    "Table 8, Planning": lambda: "{} games of UCT, {} of other agents".format(*planning_shares()),
    "Table 8, Planning, and the algorithms left out": lambda: (
        f"{planning_shares()[0]} of the 50 scores are the same UCT's"
    ),
    "Table 10, ICML: Amidar, x_2": lambda: fitted(ATARI_5, "amidar").split(", ")[2],
    "Table 10, ICML: Yars' Revenge, x_1, x_2, x_4 and x_5": lambda: "{}, {}, {} and {}".format(
        *(fitted(ATARI_5, "yars_revenge").split(", ")[place] for place in (1, 2, 4, 5))
    ),
}

CHECKED_BELOW = {
    "§3.3 and §4.3: what the best subset minimises",
    "§4.1, below the normalisation",
    "§4.1 and Table 8: Surround",
    "§4.1, which algorithms were removed",
    "§4.3: how subsets are ranked",
    "§4.3 and Algorithm 1: negative coefficients",
    "§5.3: the frame cap of the dataset",
    "Appendix E, formula",
    "Table 10, ICML: Tennis to Zaxxon",
    "Table 11, ICML",
    "Table 12, ICML: Name This Game to Q*bert",
    "Table 8, ICML: rows from GDI-H3 to ES",
}
"""Errata whose correction is no number: what their explanations say is asserted by a test of its own."""

ONLY_TO_BE_READ = {"spelling", "citation", "cross-reference", "formula", "term", "text corrupted", "text and code"}
"""Categories of errata that one sees by reading the texts side by side."""
READ = {
    "Title page",
    "Appendix A, Agent-57: the emulator's speed",
    "§4.1, whose the normalisation is",
    "Appendix E: the validation models' names",
}


def test_no_erratum_is_left_unchecked():
    assert RECOMPUTED.keys() | CHECKED_BELOW | READ <= FOUND.keys()
    rest = [FOUND[where] for where in FOUND.keys() - RECOMPUTED.keys() - CHECKED_BELOW - READ]
    unchecked = [e.where for e in rest if e.category not in ONLY_TO_BE_READ and e.holds != NOT_DECIDABLE]
    assert not unchecked


@pytest.mark.parametrize("where", RECOMPUTED)
def test_what_holds_is_what_we_compute(where):
    assert RECOMPUTED[where]() == FOUND[where].holds
    assert FOUND[where].holds != FOUND[where].printed


@pytest.mark.parametrize(
    ("where", "figures"),
    [
        (
            "§1: growth of training frames from 2015's DQN to Agent57",
            lambda: growth_of_training_frames(REVIEWED_AGENT57.training_frames),
        ),
        (
            "§2 and Table 1: ALE's citations against the other benchmarks' together",
            lambda: f"{sum(citations()[1]):,.0f}.",
        ),
        ("Table 3, Agent57, median", lambda: f"{data.median('Agent57'):.1f}"),
        ("Table 3, IQN, median", lambda: f"{data.median('IQN'):.1f}"),
        ("Table 3, Agent57, Atari-5", lambda: f"{data.predictions('atari-5')['Agent57'][1]:,.1f}"),
        ("Table 3, Ape-X, Atari-5", lambda: f"{data.predictions('atari-5')['Ape-X'][1]:.1f}"),
        ("Table 3, IQN, Atari-5", lambda: f"{data.predictions('atari-5')['IQN'][1]:.1f}"),
        (
            "§5.3, Go-Explore: by how much 1,620 exceeds 1,446",
            lambda: f"{PRINTED_ESTIMATE / round(go_explore()[0]):.4f}",
        ),
        ("§6, correlation of Skiing with Alien", lambda: f"{data.correlation('skiing', 'alien'):.4f}"),
        ("§6, correlation of Skiing with Ms. Pac-Man", lambda: f"{data.correlation('skiing', 'ms_pacman'):.4f}"),
        ("§6, correlation of Skiing with River Raid", lambda: f"{data.correlation('skiing', 'riverraid'):.4f}"),
        ("Appendix A, Agent-57: hours", lambda: f"{AGENT57_HOURS:.2f}."),
        ("Appendix A, Agent-57: what 260 a second are", lambda: f"{AGENT57_HOURS / 4:.1f} hours"),
        ("Appendix A, Agent-57: the emulator's speed", lambda: f"{AGENT57.frames_per_second:,.0f} steps"),
        ("Table 6, Rainbow DQN, standard cost", lambda: f"${standard_cost(RAINBOW):,.2f}"),
        ("Table 6, Agent-57, standard cost", lambda: f"${standard_cost(AGENT57):,.2f}"),
        (
            "Appendix A, Power Usage: energy of an Agent57 run",
            lambda: f"{energy(AGENT57.hours_per_task):.3f} MWh with 375 hours",
        ),
        ("Appendix A, Carbon Emissions", lambda: f"{pounds_of_carbon():,.0f} pounds"),
        ("§5.3, Go-Explore: the Atari-5 estimate", lambda: f"{fitted_to_itself():,.1f}"),
    ],
)
def test_figures_in_explanations_are_what_we_compute(where, figures):
    assert figures() in FOUND[where].why


def test_no_numbers_that_round_to_those_of_go_explore_give_the_printed_overestimate():
    printed = FOUND["§5.3, Go-Explore: by how much 1,620 exceeds 1,446"].printed
    largest = (PRINTED_ESTIMATE + 0.5) / (round(go_explore()[0]) - 0.5)
    assert round(100 * (largest - 1), 1) < float(printed.strip("%"))


def test_hours_are_what_the_paper_multiplies():
    for algorithm in (RAINBOW, AGENT57):
        assert hours_of_all_games(algorithm) == algorithm.hours_per_task * len(data.GAMES)


@pytest.mark.parametrize("name", ["atari-1", "atari-3", "atari-5", "atari-10", "atari-3-val", "atari-5-val", "dqn-7"])
def test_table_2_is_cross_validated(name):
    chosen = subset(name)
    r_squared, error, _ = data.cross_validated(chosen.tasks)
    assert (round(r_squared, 3), round(error, 3)) == (chosen.r_squared, chosen.relative_error)


@pytest.mark.parametrize("name", ["atari-1", "atari-3", "atari-5", "atari-10", "atari-3-val", "atari-5-val"])
def test_table_9_is_fitted_without_intercept_to_the_training_table(name):
    chosen = subset(name)
    inputs, targets, _ = data.sample(chosen.tasks)
    assert data.fit(inputs, targets) == pytest.approx(chosen.coefficients, abs=6e-5)


def test_how_close_atari_5_comes_on_its_own_data():
    errors = np.abs(list(data.relative_errors("atari-5").values()))
    assert (len(errors), int((errors <= 0.1).sum()), round(100 * errors.mean(), 1)) == (44, 29, 9.0)


def test_seventeen_games_and_the_printed_shares_have_the_subsets_own_games_in_them():
    assert sum(model[1] > 0.8 for model in data.game_models(ATARI_5).values()) == 17
    assert round(100 * data.explained(ATARI_5, data.GAMES), 1) == 71.5
    assert round(100 * data.explained(ATARI_10, data.GAMES), 1) == 80.0


def test_medians_of_table_8_are_over_all_games_surround_among_them():
    assert round(data.median("MuZero"), 1) == 2041.1
    assert round(data.median("MuZero", without=("surround",)), 1) == 2211.3
    assert sum("surround" in scores for scores in data.raw().values()) < 40
    assert all(sum(game in scores for scores in data.raw().values()) >= 40 for game in data.GAMES if game != "surround")
    assert data.median(data.HUMAN) == 100
    assert min(map(data.median, data.raw())) > 40
    assert round(min(map(data.median, data.raw())), 1) == 53.0


def test_the_frame_caps_of_2013_and_2015_are_not_those_of_the_others():
    assert protocol("dqn-2015").max_frames_per_episode == protocol("ale-2013").max_frames_per_episode == 18_000
    assert {"Nature DQN", "Planning"} <= data.raw().keys()


@pytest.mark.parametrize(
    ("games", "target", "printed"),
    [
        (ATARI_5, "tutankham", "0.357, -0.035, 0.067, 0.776, -0.181, 0.143"),
        (ATARI_5, "zaxxon", "-0.145, 0.355, -0.060, 0.468, 0.250, 0.029"),
        (ATARI_5, "wizard_of_wor", "0.104, 0.503, 0.082, 0.229, 0.188, 0.008"),
        (
            ATARI_10,
            "berzerk",
            "-1.226, 0.343, -0.289, -0.211, 0.519, -0.297, 0.590, -0.097, 0.570, 0.371, -0.247",
        ),
        (ATARI_10, "zaxxon", "-0.188, -0.035, 0.097, 0.014, -0.053, 0.538, 0.365, 0.048, -0.155, 0.280, 0.034"),
    ],
)
def test_tables_10_and_11_of_the_arxiv_text_are_fitted_to_clipped_scores(games, target, printed):
    assert fitted(games, target) == printed


@pytest.mark.parametrize(
    ("spellings", "title"),
    [
        ("Q*Bert, Q*bert, QBert, Qbert", "Q*bert"),
        ("Ms. Pacman, MsPacMan, MsPacman, Ms Pacman", "Ms. Pac-Man"),
        ("Riverraid, River Raid", "River Raid"),
        ("Private eye", "Private Eye"),
        ("Montezuma Revenge, Montezumarevenge", "Montezuma's Revenge"),
        ("Skiiing", "Skiing"),
        ("DoubleDdunk", "Double Dunk"),
    ],
)
def test_games_are_known_by_every_name_that_the_paper_has_for_them(spellings, title):
    assert {games()[canonical_game(spelling)].name for spelling in spellings.split(", ")} == {title}


def test_other_medians_that_the_icml_text_runs_together():
    printed = {
        "MuZero (Res2 Adam)": 1010.6,
        "GDI-I3": 868.0,
        "NoisyNet-Dueling": 174.4,
        "Adam Huber": 97.8,
        "CGP": 53.0,
    }
    assert {name: round(data.median(name), 1) for name in printed} == printed


def test_references_that_the_icml_text_runs_together():
    low, human = reference_scores("random"), reference_scores("human")
    assert (low["phoenix"], human["phoenix"], low["pitfall"], human["pitfall"]) == (761.4, 7242.6, -229.44, 6463.7)
    assert (low["pong"], human["pong"], low["private_eye"], human["private_eye"]) == (-20.71, 14.6, 24.94, 69571.3)


@pytest.mark.parametrize("algorithm", ["MuZero", "Rainbow (noop)"])
def test_reading_the_references_the_wrong_way_round_does_not_give_the_medians(algorithm):
    swapped = statistics.median(100 - value for value in data.percentages()[algorithm].values())
    assert swapped < 0 < data.median(algorithm)


def test_sources_that_disagree_on_an_algorithms_score():
    theirs = by_agent("review-2021")
    pairs = (("Rainbow", "Rainbow (noop)"), ("GDI-H3", "GDI-H3(200M frames)"), ("GDI-I3", "GDI-I3"))
    different = [
        (a, game)
        for a, b in pairs
        for game, score in data.raw()[b].items()
        if game in theirs[a] and not math.isclose(theirs[a][game], score, abs_tol=0.5)
    ]
    assert sorted(different) == [
        ("GDI-H3", "kung_fu_master"),
        ("GDI-I3", "kung_fu_master"),
        ("Rainbow", "riverraid"),
        ("Rainbow", "up_n_down"),
    ]
    listed = [e for e in errata(PAPER, "sources disagree") if "Table 8 and the review" in e.where]
    assert len(listed) == len(different)


def test_no_exchange_of_one_game_makes_a_better_subset_of_five():
    def training_error(games):
        inputs, targets, _ = data.sample(games)
        return float(np.mean((targets - inputs @ data.fit(inputs, targets)) ** 2))

    best, validated = training_error(ATARI_5), data.cross_validated(ATARI_5)[2]
    for out, game in itertools.product(ATARI_5, data.GAMES):
        if game not in ATARI_5 and game != "surround":
            other = tuple(sorted({*ATARI_5, game} - {out}))
            assert training_error(other) > best
            assert data.cross_validated(other)[2] > validated


@pytest.mark.slow
def test_of_all_subsets_of_five_games_atari_5_is_the_best_by_either_criterion():
    games = [game for game in data.GAMES if game != "surround"]
    names = sorted(data.raw())
    scores = np.array([[data.percentages()[name].get(game, np.nan) for game in games] for name in names])
    present, inputs = ~np.isnan(scores), data.log_score(np.nan_to_num(scores))
    targets = np.array([data.log_score(data.median(name)) for name in names])
    chosen = np.array(list(itertools.combinations(range(len(games)), 5)), dtype=np.int8)
    assert len(chosen) == math.comb(56, 5) == 3_819_816
    errors = np.concatenate([_errors(part, present, inputs, targets) for part in np.array_split(chosen, 4000)])
    best = [tuple(sorted(games[place] for place in chosen[row])) for row in np.argsort(errors)[:200]]
    assert best[0] == tuple(sorted(ATARI_5))
    assert min(best, key=lambda names: data.cross_validated(names)[2]) == best[0]


def _errors(chosen, present, inputs, targets):
    """Training mean squared error of many subsets at once, each over the algorithms that have all its games."""
    columns = [chosen[:, place] for place in range(chosen.shape[1])]
    there = np.logical_and.reduce([present.T[column] for column in columns])
    x = np.stack([inputs.T[column] * there for column in columns], axis=1)
    y = (targets * there)[:, :, None]
    moments = x @ y
    coefficients = np.linalg.solve(x @ x.transpose(0, 2, 1), moments)
    return ((y**2).sum(axis=(1, 2)) - (moments * coefficients).sum(axis=(1, 2))) / there.sum(axis=1)
