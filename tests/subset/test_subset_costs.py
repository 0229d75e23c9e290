"""Costs, by hand and as the Atari-5 paper's Table 6 prints them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from arcademark.errors import ArcadeMarkError, UnknownNameError
from arcademark.subset.costs import cost, hours
from arcademark.suite.costs import Running, running, runnings


def test_table_6():
    rainbow, agent57 = (cost(running(name), 57) for name in ("rainbow", "agent57"))
    assert (rainbow.gpu_hours, round(rainbow.preemptive or 0), round(rainbow.standard, 2)) == (
        13_680,
        10_670,
        35_759.52,
    )
    assert (agent57.gpu_hours, round(agent57.preemptive or 0), round(agent57.standard, 2)) == (
        21_375,
        30_673,
        110_352.71,
    )
    assert (rainbow.kilowatt_hours, rainbow.carbon_kilograms) == (None, None)
    assert agent57.kilowatt_hours == pytest.approx(615 * 21.375)


def test_by_hand():
    own = Running("own", "Own", 2.0, 1.5, 0.5, gpu_watts=300.0, machine_watts=200.0)
    found = cost(own, 5, runs=3, pounds_per_kwh=1.0)
    assert (found.gpu_hours, found.standard, found.preemptive) == (30.0, 60.0, None)
    assert found.kilowatt_hours == pytest.approx(15.0)
    assert found.carbon_kilograms == pytest.approx(15.0 * 0.45359237)


def test_hours_of_agent57():
    assert hours(90e9, 260 * 256) == pytest.approx(375.601, abs=1e-3)


def test_every_running_can_be_reckoned_and_says_who_says_so():
    for name, found in runnings().items():
        assert found.name == name
        assert found.citation
        assert found.assumed
        assert cost(found, 5).standard == pytest.approx(
            5 * found.hours_per_task * (found.gpu_price + found.machine_price)
        )


@pytest.mark.parametrize("name", ["rainbow", "Rainbow", "Rainbow DQN", "rainbow-dqn"])
def test_names(name):
    assert running(name).title == "Rainbow DQN"
    with pytest.raises(UnknownNameError, match="agent57"):
        running("agent58")


@pytest.mark.parametrize(
    ("change", "tasks", "told"),
    [
        ({"hours_per_task": 0.0}, 5, "hours a task: 0, expected a number above 0"),
        ({"gpu_price": -1.0}, 5, "gpu price: -1, expected 0 or more"),
        ({"machine_watts": float("nan")}, 5, "machine watts: nan"),
        ({}, 0, "ask for at least one"),
    ],
)
def test_bad_input(change, tasks, told):
    with pytest.raises(ArcadeMarkError, match=told):
        cost(replace(running("agent57"), **change), tasks)
    with pytest.raises(ArcadeMarkError, match="frames a second: 0"):
        hours(1.0, 0.0)
