"""What planners simulated is told, and counted where the protocol counts it."""

import dataclasses

import numpy as np
import pytest
from made_up import analysed, made_up_run
from shown import page as rendered
from shown import printed

from arcademark.suite.protocols import protocol


def planned(rules="ale-2013", simulated_frames=1_000_000):
    """A run of a made-up planner: 4 episodes a game of 2,250 decisions and 9,000 frames each."""
    run = made_up_run("runs/uct", ("uct",), ("pong", "seaquest"), seeds=(0,), episodes=4, using=protocol(rules))
    return dataclasses.replace(
        run,
        trials=tuple(dataclasses.replace(trial, plans=True) for trial in run.trials),
        episodes=dataclasses.replace(run.episodes, simulated_frames=np.full(len(run.episodes), simulated_frames)),
    )


def test_decisions_and_simulated_frames_are_shown():
    report = analysed(planned(), made_up_run("runs/random", ("random",), ("pong", "seaquest")))
    costs = [score.played.planning for score in report.algorithms[0].scores]
    assert [(cost.decisions, cost.simulated_frames) for cost in costs if cost] == [(9_000, 4_000_000)] * 2
    assert [cost.frames_per_decision for cost in costs if cost] == [pytest.approx(4000 / 9)] * 2
    assert [score.played.planning for score in report.algorithms[1].scores] == [None, None]
    shown = printed(report, 100)
    assert "Planning on the emulator" in shown
    (row,) = [line.split() for line in shown.splitlines() if line.startswith("Pong") and "4,000,000" in line]
    assert row == ["Pong", "uct", "9,000", "4,000,000", "444"]
    page = rendered(report)
    assert page.count("4,000,000") >= 2
    assert "8,000,000 simulated" in page


@pytest.mark.parametrize(("rules", "counted"), [("ale-2013", 72_000), ("go-explore", 8_072_000)])
def test_what_counts_is_what_the_protocol_counts(rules, counted):
    report = analysed(planned(rules))
    (run,) = report.runs
    assert (run.frames, run.simulated_frames, run.counted_frames) == (72_000, 8_000_000, counted)
    words = " ".join(printed(report, 100).split())
    assert "uct: 72,000 frames played and 8,000,000 simulated to choose the actions" in words
    assert f": {counted:,}." in words
    (methods, *_) = report.methods
    assert "444 frames a decision on average, 8,000,000 in all" in methods
    assert ("do not count" in methods) is (counted == 72_000)


@pytest.mark.parametrize(("rules", "wanted"), [("ale-2013", 10), ("go-explore", 50)])
def test_planners_are_held_to_their_own_number_of_episodes(rules, wanted):
    (notice,) = [notice for notice in analysed(planned(rules)).notices if notice.kind == "fewer_episodes"]
    assert notice.text == f"uct: 4 episodes a seed; the protocol averages {wanted}."


def test_a_planner_that_has_not_played_yet():
    run = planned()
    empty = dataclasses.replace(
        run,
        episodes=run.episodes[:0],
        trials=tuple(dataclasses.replace(trial, status="pending") for trial in run.trials),
    )
    report = analysed(empty)
    assert [score.played.planning for score in report.algorithms[0].scores] == [None, None]
    assert "Planning on" not in printed(report, 100)
