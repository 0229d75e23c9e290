"""Counters' ends and scores' bounds are those of the rules by which our own console pays rewards."""

import json
from importlib.resources import files
from types import SimpleNamespace

from arcademark.catalogue.reading import read_sources
from arcademark.environments.base import Step
from arcademark.runs.replay.episodes import Recorded, replay_all
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


def most_shown(value):
    """Return the most that pairs of decimal digits show, or a multiple of it."""
    match value:
        case ["bcd" | "bcd_of", *digits]:
            return 100 ** len(digits) - 1
        case ["mul", ["bcd", *digits], int(unit)]:
            return int((100 ** len(digits) - 1) * unit)
    raise AssertionError(value)


def test_ends_are_those_of_the_rules():
    rules = json.loads((files("arcademark.console") / "data" / "games.json").read_text(encoding="utf-8"))
    ends = {game: end for game in tasks.games() if (end := anomalies.highest(game)) is not None}
    assert len(ends) > 60
    for game, end in ends.items():
        rule = rules[game]
        assert rule["reward"]["kind"] == "delta"
        assert not {"if_negative_add", "min", "max", "hold_when"} & rule["reward"].keys()
        end_of_rule = BY_DIGIT[game] if game in BY_DIGIT else most_shown(rule["score"]["value"])
        assert end == end_of_rule - rule["score"]["at_reset"], game
    assert not {"asteroids", "space_invaders", "centipede", "journey_escape", "pong"} & ends.keys()


BY_RULES_OF_PLAY = {
    "bowling": (0, 300),
    "boxing": (-100, 100),
    "breakout": (0, 864),
    "double_dunk": (-24, 24),
    "enduro": (0, None),
    "fishing_derby": (-99, 99),
    "freeway": (0, 41),
    "ice_hockey": (-99, 99),
    "othello": (-64, 64),
    "pong": (-21, 21),
    "skiing": (None, 0),
    "superman": (None, 5999),
    "surround": (-10, 10),
    "tennis": (-24, 24),
}
"""Games whose end, or whose play, says more than how rewards are paid."""

AT_THE_END = ("backgammon", "tic_tac_toe_3d", "video_checkers", "video_chess")
STARTS = {"blackjack": 200, "pitfall": 2000, "pitfall2": 4000, "private_eye": 1000}
"""What counters show before the first point."""


def least(expression, named):
    """Return the least that an expression of memory can be; a byte is 0 or more."""
    if isinstance(expression, int):
        return expression
    operation, *operands = expression
    if operation == "val":
        return least(named[operands[0]], named)
    if operation == "if":
        return min(least(operand, named) for operand in operands[1:])
    if operation == "lut":
        return min(*operands[1].values(), least(operands[2], named))
    if operation in ("add", "mul"):
        assert all(least(operand, named) >= 0 for operand in operands)
        return sum(least(operand, named) for operand in operands) if operation == "add" else 0
    if operation in ("ram", "bcd", "bcd_of", "shr", "band", "it", "eq", "and"):
        return 0
    if operation == "sub":  # wizard_of_wor: 8,000 less where it is 8,000 or more
        assert operands == [["bcd", 134, 136], ["if", ["ge", ["bcd", 134, 136], 8000], 8000, 0]]
        return 0
    raise AssertionError(expression)


def test_lowest_and_highest_scores_are_those_of_the_rules():
    rules = json.loads((files("arcademark.console") / "data" / "games.json").read_text(encoding="utf-8"))
    by_counter = []
    for game in tasks.games():
        bounds, reward = tasks.score_bounds(game), rules[game]["reward"]
        if game in BY_RULES_OF_PLAY:
            assert bounds == BY_RULES_OF_PLAY[game], game
        elif game in AT_THE_END:
            assert (bounds, reward["kind"]) == ((-1, 1), "expr")
        elif bounds[0] is not None and game != "video_cube":
            assert reward["kind"] == "delta"
            assert "hold_when" not in reward
            score = rules[game]["score"]
            assert least(score["value"], dict(rules[game].get("let", []))) == 0, game
            assert score["at_reset"] == STARTS.get(game, 0) or game == "blackjack"
            assert bounds == (-STARTS.get(game, 0), None), game
            by_counter.append(game)
    assert len(by_counter) == 77
    unknown = {game for game in tasks.games() if tasks.score_bounds(game) == (None, None)}
    assert unknown == {"casino", "et", "hangman", "journey_escape", "miniature_golf", "word_zapper"}
    assert tasks.score_bounds("CartPole-v1") == (None, None)


def test_every_row_is_of_a_game_and_a_kind_with_a_source():
    for game, found in anomalies.anomalies().items():
        assert game in tasks.games()
        assert len({one.kind for one in found}) == len(found)
        for one in found:
            assert one.source
            assert (one.value is None) == (one.kind in ("endless", "differs"))
            assert (one.paper in read_sources()) == (one.kind == "differs")
    assert [game for game in ("battle_zone", "breakout", "pong") if anomalies.endless(game)] == [
        "battle_zone",
        "breakout",
    ]


def test_points_that_a_counter_takes_back_are_counted_on_replay():
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
    found = replay_all(played, Recorded(*recorded), [0, 0, 0])
    assert (found.score, found.lost) == (200, 1_000_000)
