"""What is odd in games' scores: of games there are, with a source, and counted on replay."""

from types import SimpleNamespace

from arcademark.catalogue.reading import read_sources
from arcademark.environments.base import Step
from arcademark.runs.replay.episodes import Recorded, replay_all
from arcademark.suite import anomalies, tasks
from arcademark.suite.protocols import protocol


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
