"""What feature sets see: what is active is counted, described and drawn."""

import itertools

import numpy as np
import pytest

from arcademark.classic.features import registry
from arcademark.classic.features.base import Change, Counts
from arcademark.classic.features.registry import FeatureSet
from arcademark.classic.features.sets.tiles import NOTHING
from arcademark.operations import seen
from arcademark.runs.replay.feature_steps import random_play
from shown import printed


class Pixels:
    """A feature for each pixel of the toy game, active where the screen is not black."""

    observed = "palette"
    num_features = 64

    def __init__(self, env, *, bright=0, background=False):
        self.bright = bright
        self.hidden = np.zeros((8, 8), np.uint8) if background else None
        self.last = np.zeros(64, bool)

    def begin(self):
        self.last[:] = False

    def update(self, observation):
        now = observation.ravel() > self.bright
        on, off = (np.flatnonzero(change).astype(np.int32) for change in (now & ~self.last, self.last & ~now))
        self.last = now
        return Change(on, off)

    def describe(self, feature):
        return f"pixel {feature % 8}, {feature // 8}"

    def picture(self, observation):
        return np.repeat(observation[..., None], 3, axis=2)


class Colours:
    """A count for each colour, and one class."""

    observed = "palette"
    num_features = 128

    def __init__(self, env):
        pass

    def begin(self):
        pass

    def count(self, observation):
        colours, counts = np.unique(observation, return_counts=True)
        return Counts(colours.astype(np.int32), counts.astype(np.float32))

    def describe(self, feature):
        return f"pixels of colour {feature}"

    def picture(self, observation):
        return np.zeros((4, 4, 3), np.uint8)

    def classes_picture(self):
        return np.zeros((10, 40, 3), np.uint8)


SETS = {
    "pixels": FeatureSet("pixels", "single pixels", "made up", "palette", Pixels, 64),
    "colours": FeatureSet("colours", "counts of colours", "made up", "palette", Colours),
}


@pytest.fixture(autouse=True)
def sets(monkeypatch):
    monkeypatch.setattr(registry, "_SETS", SETS)


def screens(until):
    """The toy game's screens up to a frame, and which of them begin episodes."""
    found = []
    for moment in random_play("toy", "palette").moments():
        found.append((moment.first, moment.frames, moment.observation.copy()))
        if moment.frames + 5 > until:
            return found
    return None


def test_active_features_are_those_of_the_moment():
    item, _ = seen.see("pixels", random_play("toy", "palette"), 60)
    shown = screens(60)
    last = shown[-1][2].ravel()
    assert [active.feature for active in item.active_features] == np.flatnonzero(last).tolist()
    assert all(active.value == 1 for active in item.active_features)
    assert (
        item.active_features[0].meaning
        == f"pixel {item.active_features[0].feature % 8}, {item.active_features[0].feature // 8}"
    )
    assert (item.features, item.frames, item.steps) == (64, shown[-1][1], len(shown))


def test_means_leave_out_first_steps():
    item, _ = seen.see("pixels", random_play("toy", "palette"), 400)
    shown = screens(400)
    assert sum(first for first, *_ in shown) > 1
    pairs = [(a[2] > 0, b[2] > 0) for a, b in itertools.pairwise(shown) if not b[0]]
    assert item.newly_active == pytest.approx(np.mean([np.sum(b & ~a) for a, b in pairs]))
    assert item.mean_active == pytest.approx(np.mean([b.sum() for _, b in pairs]))


def test_counts_are_told_with_their_values():
    item, row = seen.see("colours", random_play("toy", "palette"), 60)
    screen = screens(60)[-1][2]
    assert {active.feature: active.value for active in item.active_features} == {
        colour: np.sum(screen == colour) for colour in np.unique(screen).tolist()
    }
    assert item.newly_active == 0
    assert row.pictures[-1].title.startswith("The classes of objects")


def test_the_background_is_drawn_and_taken_away():
    _, row = seen.see("pixels", random_play("toy", "palette"), 60, {"background": True})
    whole, background, foreground, _ = (picture.pixels for picture in row.pictures)
    screen = screens(60)[-1][2]
    assert whole.shape == (8, 8, 3)
    assert np.array_equal((foreground == NOTHING).all(axis=2), screen == 0)
    assert np.array_equal(foreground[screen > 0], whole[screen > 0])
    assert (background == 0).all()
    assert len(seen.see("pixels", random_play("toy", "palette"), 60)[1].pictures) == 2


def test_the_terminal_fits_80_columns_and_says_all():
    found = [
        seen.see("pixels", random_play("toy", "palette"), 60, {"bright": 1}),
        seen.see("colours", random_play("toy", "palette"), 60),
    ]
    items, rows = zip(*found, strict=True)
    text = printed(seen.FeaturesSeen(items), rows=rows)
    assert max(map(len, text.splitlines())) <= 80
    words = " ".join(text.split())
    assert "toy pixels 64 4 " in words
    assert "toy, pixels(bright=1)" in words
    assert f"random play, seed 0, after {found[0][0].frames} frames" in words
    assert "pixels of colour 127" in words
