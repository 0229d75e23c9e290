"""What `arcademark tune` prints of its settings: within 80 columns, and as its page says."""

import dataclasses
import re

import pytest

from arcademark.analysis.runs.tuning import Tuned, TunedParameters, TunedSetting, TuningSensitivity
from arcademark.suite import tasks
from arcademark.suite.subsets import training_games
from shown import printed

HARD = ("montezuma_revenge", "private_eye", "gravitar", "pitfall", "venture", "solaris", "freeway")


def made(games=None, reach=0.25, count=3, learnt_once=False):
    games = games or training_games()
    settings = tuple(
        TunedSetting(
            f"uct(exploration={i}.5, horizon_frames={i}00)",
            {"exploration": f"{i}.5", "horizon_frames": f"{i}00"},
            1 - i / 20,
            1 - i / 20 - reach,
            1 - i / 20 + reach,
            dict.fromkeys(games, 12345.6 * i - 18.5),
        )
        for i in range(count)
    )
    return Tuned("runs/tune-uct", "ale-2013", tuple(games), (), (), learnt_once, settings)


@pytest.mark.parametrize("games", [None, HARD])
@pytest.mark.parametrize("reach", [0.25, 4.58])
@pytest.mark.parametrize("count", [2, 12])
def test_80_columns_are_enough(games, reach, count):
    shown = printed(made(games, reach, count))
    assert max(map(len, shown.splitlines())) <= 80
    assert "…" not in shown
    assert re.search(r"(?<!\w)-\d", shown) is None  # a minus sign is no hyphen
    for game in games or training_games():
        assert all(word in shown for word in tasks.game_name(game).split())


def test_places_and_scores_are_numbered_alike():
    lines = [line.split() for line in printed(made()).splitlines()]
    assert ["1", "0.5", "000", "1.000", "±0.25"] in lines
    assert ["3", "2.5", "200", "0.900", "±0.25"] in lines
    assert ["1", *["−18.5"] * 5] in lines
    assert ["3", *["24,672.7"] * 5] in lines
    assert ["1", "0.5", "000", "1.000", "over", "±1"] in [line.split() for line in printed(made(reach=2)).splitlines()]


def test_sensitivity_is_shown_with_what_did_not_choose():
    names = ("exploration", "horizon_frames")
    rows = [TunedParameters(names[:i], 0.7 + i / 10, (0.7 + i / 10) / 0.9, 0.6, 0.5, 0.7) for i in range(3)]
    values = {"exploration": "1.5", "horizon_frames": "100"}
    best = dict.fromkeys(training_games(), values)
    found = TuningSensitivity(tuple(best), values, best, 0.2, 0.1, -0.12, 0.32, "seed", 5, 2, tuple(rows))
    shown = printed(dataclasses.replace(made(), sensitivity=found))
    assert max(map(len, shown.splitlines())) <= 80
    said = " ".join(shown.split())
    assert "exploration, horizon_frames 0.900 100 % 0.600 0.50 … 0.70" in said
    assert "gives 0.200 more than the best fixed setting, and 0.100 (95 %: −0.12 … 0.32) on seeds that did not" in said
    assert "Effective dimensionality: 2 parameters of 2, tuned game by game, reach 95 %" in said
    alone = dataclasses.replace(found, held_out=None, low=None, high=None, unit="", parts=1)
    assert "With more episodes or seeds" in " ".join(printed(dataclasses.replace(made(), sensitivity=alone)).split())
