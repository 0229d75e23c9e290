"""Counters' ends are those of the rules by which our own console pays rewards."""

from __future__ import annotations

import json
from importlib.resources import files
from types import SimpleNamespace
from typing import Any, cast

from arcademark.environments.base import Environment, Step
from arcademark.runs.replay import Recorded, replay_all
from arcademark.suite import anomalies, tasks
from arcademark.suite.protocols import protocol

BY_DIGIT = {
    "alien": 999_990,
    "battle_zone": 999_000,
    "breakout": 999,
    "defender": 999_999,
    "phoenix": 999_990,
    "riverraid": 999_999,
    "road_runner": 999_900,
    "star_gunner": 999_900,
}
"""Games whose digits stand in a byte each."""


def shown(value: Any) -> int:
    """Return the most that pairs of decimal digits show, or a multiple of it."""
    match value:
        case ["bcd" | "bcd_of", *digits]:
            return 100 ** len(digits) - 1
        case ["mul", ["bcd", *digits], int(unit)]:
            return int((100 ** len(digits) - 1) * unit)
    raise AssertionError(value)


def test_ends_are_those_of_the_rules() -> None:
    rules = json.loads((files("arcademark.console") / "data" / "games.json").read_text(encoding="utf-8"))
    ends = {game: end for game in tasks.games() if (end := anomalies.highest(game)) is not None}
    assert len(ends) > 60
    for game, end in ends.items():
        rule = rules[game]
        assert rule["reward"]["kind"] == "delta"
        assert not {"if_negative_add", "min", "max", "hold_when"} & rule["reward"].keys()
        found = BY_DIGIT[game] if game in BY_DIGIT else shown(rule["score"]["value"])
        assert end == found - rule["score"]["at_reset"], game
    assert not {"asteroids", "space_invaders", "centipede", "journey_escape", "pong"} & ends.keys()


def test_every_row_is_of_a_game_and_a_kind_with_a_source() -> None:
    for game, found in anomalies.anomalies().items():
        assert game in tasks.games()
        assert len({one.kind for one in found}) == len(found)
        for one in found:
            assert one.source
            assert (one.value is None) == (one.kind == "endless")
    assert [game for game in ("battle_zone", "breakout", "pong") if anomalies.endless(game)] == [
        "battle_zone",
        "breakout",
    ]


def test_points_that_a_counter_takes_back_are_counted_on_replay() -> None:
    rewards = iter([999_900.0, -999_950.0 + 50, 200.0])
    assert [anomalies.counter_passed("asterix", reward) for reward in (-499_999, -999_950)] == [0, 1_000_000]
    assert anomalies.counter_passed("breakout", -998) == 1_000
    assert anomalies.counter_passed("skiing", -5_000) == 0
    played = SimpleNamespace(
        spec=SimpleNamespace(protocol=protocol("ale-2013")),
        reset=lambda *_: 0.0,
        step=lambda _: Step(next(rewards), False, False),
        episode_frames=12,
    )
    recorded = SimpleNamespace(seed=0, game="asterix"), SimpleNamespace(phase="evaluation", episode=0)
    found = replay_all(cast(Environment, played), cast(Recorded, Recorded(*recorded)), [0, 0, 0])  # type: ignore[arg-type]
    assert (found.score, found.lost) == (200, 1_000_000)
