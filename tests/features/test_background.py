import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from arcademark.features.samples import sample_screens
from arcademark.features.sets.background import background, most_frequent


def slow_most_frequent(screens):
    """Count each pixel's colours, one by one; the first of the most frequent."""
    found = np.empty(screens.shape[1:], np.uint8)
    for pixel in np.ndindex(found.shape):
        shown = screens[(slice(None), *pixel)].tolist()
        found[pixel] = max(range(128), key=lambda colour: (shown.count(colour), -colour))
    return found


@given(st.data())
@settings(deadline=None)
def test_equals_its_reference_implementation(data):
    """Few colours make ties; screens of any size end within a word."""
    shape = data.draw(st.tuples(st.integers(1, 9), st.integers(1, 4), st.integers(1, 11)))
    screens = data.draw(arrays(np.uint8, shape, elements=st.sampled_from([0, 1, 2, 127])))
    one = np.empty(shape[1:], np.uint8)

    def overwritten():
        for screen in screens:
            one[:] = screen
            yield one

    np.testing.assert_array_equal(most_frequent(overwritten()), slow_most_frequent(screens))


@pytest.mark.slow
@pytest.mark.parametrize("game", ["toy", "pong"])
def test_a_games_background_is_that_of_its_sample_screens(make_env, game):
    env = make_env(game)
    screens = [screen.copy() for screen in sample_screens(env, 50, None, np.random.default_rng(2013))]
    found = background(env, 50)
    np.testing.assert_array_equal(found, slow_most_frequent(np.array(screens)))
    np.testing.assert_array_equal(background(env, 50), found)


def test_it_is_found_once_for_all_that_it_depends_on(make_env, monkeypatch, tmp_path):
    monkeypatch.setenv("ARCADEMARK_CACHE", str(tmp_path))
    calls = []
    monkeypatch.setattr(
        "arcademark.features.sets.background.most_frequent",
        lambda screens: (calls.append(1), most_frequent(screens))[1],
    )
    for env, screens, seed in [
        (make_env("toy"), 61, 1),
        (make_env("toy", observation="ram"), 61, 1),
        (make_env("toy"), 62, 1),
        (make_env("toy"), 61, 2),
        (make_env("toy", frame_skip=2), 61, 1),
    ]:
        background(env, screens, seed=seed)
        background(env, screens, seed=seed)
    assert len(calls) == 4
