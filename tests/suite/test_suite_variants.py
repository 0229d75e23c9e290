"""Modifications as data, and which variants a game has."""

import hashlib

import pytest

from arcademark.environments.emulation import facts
from arcademark.errors import ArcadeMarkError
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


@pytest.mark.parametrize(
    "write",
    [
        *(
            "{ at = [128], value = 1 }",
            "{ at = [-1], value = 1 }",
            "{ at = [], value = 1 }",
            "{ at = [1], value = 256 }",
        ),
        *("{ at = [1] }", "{ at = [1], value = 1, copy = 2 }", "{ at = [1], copy = 128 }", "{ at = 1, value = 1 }"),
        *("{ at = [1], value = 1, where = [128, 0, 1] }", "{ at = [1], value = 1, where = [1, 2, 1] }", "{ on = 1 }"),
    ],
)
def test_writes_out_of_bounds_are_refused(tmp_path, write):
    text = f'[pong.a]\nwhat = "A."\nsource = "B"\nwrites = [{write}]\n'
    (tmp_path / "modifications.toml").write_text(text)
    (tmp_path / "SHA256SUMS").write_text(f"{hashlib.sha256(text.encode()).hexdigest()}  modifications.toml\n")
    with pytest.raises(ArcadeMarkError, match=r"modifications\.toml, pong\.a: .*; correct that table"):
        modifications(tmp_path)


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
