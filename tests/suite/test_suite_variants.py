"""Modifications as data, and which variants a game has."""

import pytest

from arcademark.environments.emulation import facts
from arcademark.suite.modifications import modifications
from arcademark.suite.protocols import protocol
from arcademark.suite.tasks import games
from arcademark.suite.variants import KINDS, kind_of, variants

RULES = protocol("world-records")


def test_modifications_are_of_games_whose_states_are_whole_and_say_where_they_come_from():
    apart = facts.REAL_RESET | facts.NOT_EXACT
    assert modifications().keys() <= games().keys() - apart
    found = [one for known in modifications().values() for one in known.values()]
    assert len(found) == len({one.name for one in found}) == 16
    assert all(one.what.endswith(".") and ".py" in one.source and one.writes for one in found)
    writes = [write for one in found for write in one.writes]
    assert all((write.value is None) != (write.copy is None) for write in writes)
    assert all(write.where[1] <= write.where[2] for write in writes if write.where)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("game", ["pong", "boxing", "skiing"])
def test_variants_differ_from_the_protocol_in_one_way(kind, game):
    found = variants(kind, game, RULES)
    assert len(found) == len({str(change) for change in found})
    assert kind == "switches" or len(found) <= 4
    assert all(len(change) == 1 or change.keys() == {"difficulty", "mode"} for change in found)
    for change in found:
        changed = RULES.override(change)
        assert kind_of(RULES, changed) == kind
        assert change not in variants(kind, game, changed)


def test_what_a_game_has_not_is_no_variant():
    assert variants("modification", "skiing", RULES) == ()
    assert variants("switches", "pong", RULES) == (
        *({"difficulty": 1}, {"mode": 1}),
        *({"difficulty": 2}, {"difficulty": 3}),
        *({"difficulty": number, "mode": 1} for number in (1, 2, 3)),
    )
    for game, known in games().items():
        assert len(variants("switches", game, RULES)) == len(known.modes) * len(known.difficulties) - 1
    assert variants("switches", "toy", RULES) == ()
    assert kind_of(RULES, RULES.override({"frame_skip": 2, "colours": "gray"})) is None
    assert kind_of(RULES, RULES.override({"frame_stack": 2})) is None
    assert kind_of(RULES, RULES) is None
