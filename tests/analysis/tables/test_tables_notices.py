"""Every notice of scores with what sets it off, and without."""

import dataclasses

import pytest

from arcademark import wording
from arcademark.analysis.estimates import Estimate
from arcademark.analysis.notices import KINDS, notice
from arcademark.analysis.scoring.analysis import analyse
from arcademark.analysis.scoring.compare import compare_tables
from arcademark.analysis.subsets import predictors
from arcademark.metrics.uncertainty import coverage
from arcademark.subset.predict.calibration import Covered
from arcademark.suite import anomalies, tasks
from arcademark.suite.protocols import protocol
from made_up import ATARI_5, OWN_AGENT, collected, made_up_run, trained
from made_up_tables import made_up_table

GAMES = tasks.suite("atari-57").tasks
SQUARES = [float(run * run) for run in range(12)]
OF_2013 = "Battle Zone, Gopher, Ice Hockey, Pong, Robotank and Skiing"


def case(kind, source, *parts, **options):
    """A notice's kind, what is analysed and with which options, and what the notice says; no parts: there is none."""
    return pytest.param(kind, source, parts, options, id=kind)


def table(label="", **how):
    """A table of "mine" under a protocol."""
    return lambda: made_up_table(("mine",), ("pong",), protocols={"mine": label}, **how)


def two(games=("pong",), **how):
    """A table of "mine" and "yours"."""
    return lambda: made_up_table(games=games, **how)


def scores(**by_name):
    return lambda: by_name


def named(name):
    return lambda: name


def run(directory="runs/random", *agents, **how):
    return made_up_run(directory, agents or ("random",), **how)


def runs(*records):
    return lambda: collected(*(records or (run(),)))


def with_trials(record, **changes):
    return dataclasses.replace(record, trials=tuple(dataclasses.replace(trial, **changes) for trial in record.trials))


def constant(*_):
    return [100.0] * 10


SHORT = run(seeds=(0,), episodes=1)
FAILED = [("random", "qbert", seed) for seed in (0, 1)]
CASES = [
    # how much of a benchmark there is, and estimates
    case("partial_suite", two(GAMES[:27]), "All algorithms have 27 of the 57 games of atari-57"),
    case("partial_suite", two(GAMES)),
    case("estimate_doubtful", two(ATARI_5), "frame cap of these scores is not known"),
    case("estimate_doubtful", two(ATARI_5), protocol="world-records"),
    case(
        "estimate_doubtful",
        runs(run(using=protocol("world-records").override({"max_frames_per_episode": 400_000}))),
        "random: these scores are from episodes of at most 400,000",
        "108,000",
    ),
    case("estimate_refused", two(ATARI_5[1:]), "Atari-5 also needs Battle Zone", model="atari-5"),
    case("estimate_reading", runs(), "Compare Atari-5 estimates with Atari-5 estimates only", model="atari-5"),
    case(
        "estimate_reading",
        runs(run("a"), run("b", OWN_AGENT, games=("name_this_game", "pong"))),
        "112 published algorithms of 43 papers",
    ),
    case("suite_complete", two(GAMES), "mine and yours have all games", model="atari-10"),
    case("no_reference", scores(mine={"pong": 1.0, "carnival": 500.0}), "Carnival", "--suite ale-55 or ale-47"),
    # protocols and training
    case(
        "protocols_differ",
        named("catalogue:ale-2013"),
        "Breadth-first search and UCT plan on the emulator",
        "averaged episodes (500 in each of 30 trials, 10)",
        suite="ale-55",
    ),
    case("protocols_differ", named("catalogue:ale-2013"), suite="ale-55", algorithms=["Basic", "BASS"]),
    case("protocols_differ", named("catalogue:ale-2013"), suite="ale-55", algorithms=["UCT", "Breadth-first search"]),
    case(
        "protocols_differ",
        named("catalogue:review-2021"),
        "sticky actions (0.0: Rainbow, 0.25: Go-Explore, not known: IMPALA and 10 others)",
        "and 9 settings more",
    ),
    case("settings", named("catalogue:review-2021"), "frame stack (4: ", "averaged episodes ("),
    case(
        "protocols_differ", two(protocols={"mine": "world-records", "yours": "dqn-2015"}), "sticky actions (0.25, 0.0)"
    ),
    case("protocols_differ", two(protocols=dict.fromkeys(("mine", "yours"), "world-records (frame_skip=5)"))),
    case(
        "protocols_differ",
        two(protocols={"mine": "our-own", "yours": "saber"}),
        "one protocol is our-own with unknown settings, the other saber",
    ),
    case(
        "protocols_differ",
        runs(run("a"), run("b", OWN_AGENT, using=protocol("world-records").override({"frame_skip": 5}))),
        "action repeats (4, 5)",
    ),
    case("protocol_unknown", two(), "Protocol unknown for mine and yours"),
    case("protocol_unknown", two(), protocol="saber"),
    case("protocol_unknown", table("saber")),
    case("protocol_unknown", table("world-record"), "did you mean 'world-records'"),
    case(
        "protocol_unknown",
        table("saber (frame_skip=often)"),
        "the changes of the protocol saber in 'saber (frame_skip=often)'",
    ),
    case(
        "training_differs",
        lambda: made_up_table(("mine", "yours", "theirs"), ("pong",), runs=1),
        "Training frames: 50: mine and theirs; 200,000: yours.",
        frames={"mine": 50, "yours": 200_000, "theirs": 50},
    ),
    case("training_differs", two(), frames=200),
    case("training_differs", two(), "Training lengths may differ", frames={"mine": 50}),
    case("efficiency", two(), "Training frames are unknown for yours", frames={"mine": 1_000_000}),
    case(
        "training_budget",
        runs(with_trials(run(using=protocol("noop-108000"), learns=True), training_frames=1_000_000)),
        "trained for 1,000,000 frames",
    ),
    case(
        "modified_protocol",
        runs(run(using=protocol("world-records").override({"frame_skip": 5}))),
        "frame_skip is 5 instead of 4",
    ),
    case(
        "modified_protocol",
        runs(run(using=dataclasses.replace(protocol("world-records"), name="machado-2018"))),
        "names machado-2018, but this protocol has other settings here: frame_skip is 4 instead of 5",
        "The definition has changed since, or the manifest was edited.",
    ),
    case(
        "action_interval",
        runs(with_trials(run(), frames_per_action=1)),
        "random chooses an action every frame, its protocol's agents every 4 frames.",
    ),
    # games, runs and intervals
    case("games_differ", scores(mine={"pong": 1.0, "qbert": 100.0}, yours={"pong": 2.0}), "yours lacks Q*bert"),
    case("games_differ", scores(mine={"pong": 1.0, "qbert": 100.0}, yours={"pong": 2.0}), games="common"),
    case(
        "games_differ",
        runs(run("a"), run("b", OWN_AGENT, games=ATARI_5[:3])),
        f"{OWN_AGENT} lacks Phoenix and Q*bert",
    ),
    case("games_differ", runs(run(played=0))),
    case(
        "few_runs",
        two(GAMES, runs={"mine": 3, "yours": 20}),
        "mine, 3 runs per game: some intervals may be too narrow",
        "intervals covered the true value less often than that",
        "HNS and HWRNS, mean 91 to 95",
        "yours, 20 runs per game",
        "HNS and HWRNS, optimality gap 77 to 95",
    ),
    case("few_runs", two(GAMES, runs=1)),
    case(
        "few_runs",
        scores(mine={game: SQUARES[: 3 + place % 4] for place, game in enumerate(GAMES[:26])}),
        "mine, as few as 3 runs per game: some intervals may be too narrow. In simulations of 3 runs on 26 games",
    ),
    case(
        "few_runs",
        scores(mine=dict.fromkeys(GAMES[:10], SQUARES) | {GAMES[0]: [1.0]}),
        "mine, 12 runs per game: some",
    ),
    case("runs", two(runs=1), "One run per game"),
    case("intervals", runs(SHORT), "or whose scores are all equal: random"),
    case("intervals", runs(run(scores=constant)), "or whose scores are all equal: random."),
    case(
        "episodes_as_runs",
        runs(trained(run(seeds=(3,)), lengths=(30,))),
        "from a single run is a 95 % Student's t interval over its episodes",
    ),
    case("measures", two(("pong", "venture")), "Venture", suite="ale-55"),
    # scores that are hardly right
    case(
        "implausible",
        scores(mine={"pong": 50.7, "boxing": 90.0}, yours={"pong": 20.0}),
        "check that they are right: Pong 50.7 of mine (record 21.0).",
    ),
    case("implausible", named("catalogue:review-2021")),
    case(
        "unchecked", scores(mine={"pong": 1.0, "pooyan": 500.0}), "is known for Pooyan: scores there were not compared"
    ),
    case("unchecked", scores(mine={"pong": 1.0}), suite="ale-55"),
    case(
        "counter",
        scores(mine={"defender": 500_000.0, "asterix": 1_000_000.0}),
        "subtracts all points: Asterix 1,000,000 of mine (at most 999,999).",
    ),
    case(
        "units",
        scores(mine={"defender": 500_000.0}, yours={"defender": 9_000.0}),
        "if these scores are from one: Defender 500,000 of mine would be 5,000.",
    ),
    case("units", named("catalogue:review-2021")),
    case(
        "differs",
        named("catalogue:ale-2013"),
        "Scores of Basic, BASS",
        "The references of ale-55",
        f"on {OF_2013}: ",
        suite="ale-55",
    ),
    case("differs", scores(mine={"pong": 1.0, "freeway": 1.0}), "on Pong: ", suite="ale-55"),
    case("differs", scores(mine={"pong": 1.0, "freeway": 1.0})),
    case("differs", scores(mine={"freeway": 1.0}), suite="ale-55"),
    # runs
    case("trials_failed", runs(run(failed=FAILED)), "2 trials of random failed"),
    case("trials_incomplete", runs(run(played=4)), "10 trials of random are not finished: 40 of 100 episodes"),
    case("trials_incomplete", runs()),
    case("episodes_truncated", runs(), "Double Dunk (4 of 20)"),
    case("fewer_episodes", runs(), "10 episodes per seed; the protocol averages 100"),
]


@pytest.mark.parametrize(("kind", "source", "parts", "options"), CASES)
def test_what_sets_a_notice_off(kind, source, parts, options):
    report = analyse(source(), resamples=20, **options)
    text = " ".join(f"{notice.text} {notice.hint}" for notice in report.notices if notice.kind == kind)
    assert bool(text) == bool(parts) or kind == "intervals"
    for part in parts:
        assert part in text
    assert [notice.level for notice in report.notices] == [KINDS[notice.kind] for notice in report.notices]
    order = [list(KINDS).index(notice.kind) for notice in report.notices]
    assert order == sorted(order)  # warnings first


def test_other_roms_and_emulators_show():
    first, second = run("runs/a"), run("runs/b", OWN_AGENT)
    second.manifest["versions"] = second.manifest["versions"] | {"ale-py": "0.11.0"}
    second.manifest["games"] = second.manifest["games"] | {"qbert": "f" * 32}
    (notice,) = (one for one in analyse(collected(first, second)).notices if one.kind == "emulators_differ")
    assert all(part in notice.text for part in ("0.12.1", "0.11.0", "Q*bert"))


def test_what_was_left_out_is_said_with_the_reason():
    record = run()
    record.manifest["left_out"] = [["const(action=UP)", "skiing", "no UP"], ["const(action=FIRE)", "skiing", "no FIRE"]]
    (notice,) = (one for one in analyse(collected(record)).notices if one.kind == "left_out")
    assert notice.text == (
        "random leaves out games that cannot be played: const(action=UP) on Skiing and const(action=FIRE) on Skiing; "
        "of the first, no UP."
    )


def test_games_that_need_not_end_are_named(monkeypatch):
    monkeypatch.setattr(anomalies, "endless", lambda game: game == "double_dunk")
    (notice,) = (one for one in analyse(collected(run())).notices if one.kind == "episodes_truncated")
    assert notice.hint == "Episodes of Double Dunk may never end."


def test_runs_that_are_likely_episodes_are_warned_of(tmp_path):
    def warning(runs, header="run", more=""):
        rows = [f"mine,{game},{run}{more},{score}" for game in ("qbert", "pong") for run, score in enumerate(runs)]
        path = tmp_path / "scores.csv"
        path.write_text("\n".join([f"algorithm,game,{header},score", *rows]))
        notices = analyse(path, resamples=20).notices
        return " ".join(notice.text for notice in notices if notice.kind == "episodes_as_runs")

    whole = [25.0 * score for score in range(10)]
    assert "mine has 10 or more runs per game that look like single episodes" in warning(whole)
    for others in (whole[:9], [*whole[:9], 212.5], [25.0] * 10):
        assert not warning(others)
    assert "Several runs of mine on a game have one seed" in warning([1.5, 2.5], "run,seed", ",7")
    assert not warning([1.5, 2.5], "run,seed", ",")
    assert "mine, if it was trained" in warning(whole, "episode")


def not_simulated(source, **options):
    notices = analyse(source, resamples=20, **options).notices
    return " ".join(item.text for item in notices if item.kind == "not_simulated")


def test_intervals_that_were_not_simulated_are_named():
    """Whatever `few_runs` has no measurement of passes as sound unless it is said."""
    table = two(GAMES, runs=20)
    assert "not simulated for 95 % intervals of summaries of SABER" in not_simulated(table())
    assert not not_simulated(table(), metrics="hns")
    assert "summaries over fewer than 5 games" in not_simulated(two(GAMES[:4], runs=3)(), metrics="hns")
    text = not_simulated(collected(run()))
    assert "summaries over episodes (random); an estimate if the same games are played again" in text
    assert "SABER" not in text  # no summary has intervals over runs
    compared = {item.kind: item.text for item in compare_tables(table(), metrics="hns", resamples=20).notices}
    assert compared["not_simulated"].endswith("not simulated for 95 % intervals of performance profiles.")
    assert not not_simulated(two(GAMES, runs=1)())


def test_a_statistic_without_a_simulation_does_not_pass_as_sound(monkeypatch):
    known = {key: value for key, value in coverage.shares().items() if key[1] not in ("iqm", "difference of iqm")}
    monkeypatch.setattr(coverage, "shares", lambda: known)
    assert "not simulated for 95 % intervals of IQM of HNS." in not_simulated(two(GAMES, runs=20)(), metrics="hns")


def test_a_training_of_unknown_length_may_differ():
    told = {item.kind: item.text for item in compare_tables(two()(), frames={"mine": 50}).notices}
    assert told["training_differs"].endswith("Training frames: 50: mine; not known: yours.")
    untrained, learner = made_up_run("runs/random"), trained(made_up_run("runs/learner", (OWN_AGENT,)), (30,))
    told = {item.kind: item.text for item in analyse(collected(untrained, learner)).notices}
    assert "training_differs" not in told
    assert "unknown for random" not in " ".join(told.values())


@pytest.mark.parametrize(
    ("covered", "said"),
    [
        (None, "coverage of such intervals is not known"),
        (Covered(9, 10, 0.95), "cover 9 of 10 (95 % by paper) true medians"),
    ],
)
def test_intervals_of_estimates_that_were_not_checked_are_said_to_be_so(covered, said):
    estimate = Estimate("any", "5 games", "atari-57", 30.0, low=20.0, high=40.0, covered=covered)
    shown = [] if covered is None else [wording.covered(covered)]
    text = notice("estimate_reading", estimate=estimate, trained=predictors.atari().trained, covered=shown).text
    assert said.replace(" %", "\N{NO-BREAK SPACE}%") in text
