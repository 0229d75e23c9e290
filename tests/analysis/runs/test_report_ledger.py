"""What the ledger says of test games: settings are counted, more trials of one setting are fine."""

import dataclasses

import pytest

from arcademark.analysis.runs import ledger
from arcademark.records.ledger import Ledger, LedgerEntry, Unread
from arcademark.suite.task_suites import read_suite
from made_up import analysed, made_up_run
from shown import printed


def entry(directory="runs/a", game="breakout", **more):
    made = LedgerEntry(
        directory=directory,
        algorithm="sarsa",
        parameters={},
        code=None,
        training_frames=None,
        training_episodes=None,
        protocol="ale-2013",
        game=game,
        seeds=(0,),
        episodes=10,
        begun="2026-01-02T03:04:05+00:00",
        commands=(f"arcademark run sarsa --out {directory}",),
    )
    return dataclasses.replace(made, **more)


def alpha(value, **more):
    return {"alpha": value, **more}


def test_three_settings_on_a_test_game_are_two_too_many():
    entries = [entry(f"runs/{n}", parameters=alpha(n / 10, features="ram")) for n in (1, 2, 5)]
    (account,) = ledger.accounts(entries)
    assert ledger.warning(account) == (
        "sarsa(features=ram) was evaluated on Breakout in 3 runs (runs/1, runs/2 and runs/5) with 3 different "
        "settings: the methodology allows one (Bellemare et al. 2013, §1 and §3.1.2)."
    )
    assert [use.setting for use in account.uses] == ["alpha=0.1", "alpha=0.2", "alpha=0.5"]


@pytest.mark.parametrize(
    "second",
    [
        entry("runs/b"),
        entry("runs/b", seeds=(7,), protocol="machado-2018"),
        entry("runs/b", game="pong"),
        entry("runs/b", algorithm="uct", parameters={"simulations": 3}),
        entry("runs/b", parameters={"features": "ram"}),
    ],
)
def test_more_trials_games_and_algorithms_are_fine(second):
    shown = ledger.view(Ledger(("runs/a", "runs/b"), (entry(), second), ()))
    assert shown.kept
    assert sum(len(account.uses) for account in shown.accounts) == len({entry().setting, second.setting})


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"parameters": {"alpha": 0.2}}, "alpha=0.2"),
        ({"parameters": {"background": False}}, "background=false"),
        ({"training_episodes": 50}, "defaults, trained for 50 episodes"),
        ({"training_frames": 1}, "defaults, trained for 1 frame"),
        ({"code": "b" * 64}, "defaults, code bbbbbbbb"),
    ],
)
def test_what_makes_another_setting(change, words):
    (account,) = ledger.accounts([entry(), entry("runs/b", **change)])
    assert [(item.game, item.settings, item.runs) for item in account.repeated] == [
        ("breakout", 2, ("runs/a", "runs/b"))
    ]
    assert account.uses[1].setting == words


def test_training_games_and_baselines_do_not_count():
    training = [entry(f"runs/{n}", game, parameters=alpha(n)) for n in (1, 2) for game in ("freeway", "assault", "toy")]
    assert ledger.accounts(training) == ()
    baselines = [entry(f"runs/{n}", algorithm="const", parameters={"action": n}) for n in ("UP", "DOWN")]
    (account,) = ledger.accounts(baselines)
    assert account.baseline
    assert account.repeated == ()


def test_a_task_that_was_for_testing_in_one_run_is_so_in_all():
    task = '[tasks.{}]\nenvironment = "CartPole-v1"\ntraining = {}\n'
    suites = [
        read_suite(task.format("a", one) + task.format("b", "true"), "own.toml", "own") for one in ("true", "false")
    ]
    entries = [entry(f"runs/{n}", "a", parameters=alpha(n), suite=suite) for n, suite in enumerate(suites)]
    (account,) = ledger.accounts(entries)
    assert [(one.game, one.settings) for one in account.repeated] == [("a", 2)]


def test_games_are_told_together_where_they_met_the_same():
    entries = [entry(f"runs/{n}", game, parameters=alpha(n)) for n in (1, 2) for game in ("pong", "breakout")]
    (account,) = ledger.accounts([*entries, entry("runs/3", "qbert"), entry("runs/1", "qbert", parameters=alpha(1))])
    assert "on Pong and Breakout in 2 runs" in ledger.warning(account)
    assert "and with several on 1 other:" in ledger.warning(account)
    assert "(runs" not in ledger.warning(account, paths=False)


@pytest.mark.parametrize("entries", [False, True])
def test_the_terminal_has_all_of_it(entries):
    several = [
        entry("runs/first", parameters=alpha(0.1)),
        entry("runs/other", "pong", parameters=alpha(0.25), begun="2026-02-03T00:00:00+00:00", seeds=(0, 1)),
        entry("runs/other", "breakout", parameters=alpha(0.25)),
        entry("runs/train", "freeway"),
        entry("runs/random", "qbert", algorithm="random"),
    ]
    shown = ledger.view(Ledger(("runs/first",) * 4, tuple(several), (Unread("runs/x", "runs/x: is damaged"),)))
    text = printed(shown, 80, everything=entries)
    assert max(map(len, text.splitlines())) <= 80
    words = " ".join(text.replace("━", "").split())
    assert words.startswith("Ledger of 4 runs Warning: sarsa was evaluated on Breakout in 2 runs")
    assert "left out: runs/x: is damaged" in words
    assert "alpha=0.25 2 1 3 20 2026-01-02 … 2026-02-03" in words
    assert "a baseline" in words
    assert "settings may be tried: Freeway" in words
    assert ("arcademark run sarsa --out runs/train" in words) is entries
    assert "with a single setting" not in words


def run_of(directory, label, parameters, game="pong"):
    record = made_up_run(directory, (label,), (game,))
    record.manifest["agents"] = [{"label": label, "parameters": parameters}]
    return record


def test_a_report_warns_of_several_settings_on_test_games():
    first, second = (run_of(f"runs/{n}", f"sarsa(alpha={n})", {"alpha": n}) for n in (1, 2))
    told = [notice for notice in analysed(first, second).notices if notice.kind == "test_games"]
    assert [notice.level for notice in told] == ["warning"]
    assert "sarsa was evaluated on Pong in 2 runs with 2 different settings" in told[0].text
    for records in [(first,), [run_of(f"runs/{n}", f"sarsa(alpha={n})", {"alpha": n}, "freeway") for n in (1, 2)]]:
        assert not [notice for notice in analysed(*records).notices if notice.kind == "test_games"]
