import numpy as np
import pytest

from arcademark.classic.features.disco import features as module
from arcademark.classic.features.disco.classes import ObjectClasses, find_classes
from arcademark.classic.features.disco.drawing import COLOURS, SCALE
from arcademark.classic.features.disco.features import Disco, make_disco
from arcademark.classic.features.disco.sightings import sight
from arcademark.errors import ArcadeMarkError

pytestmark = pytest.mark.slow  # to compile

NOTHING = np.zeros((16, 16), np.uint8)


def shapes_seen():
    """Give screens on which two shapes get about: a bow, more often, and a bar."""
    for i in range(12):
        image = NOTHING.copy()
        image[3, i : i + 3] = image[4, i] = image[4, i + 2] = 1
        if i % 4:
            image[i, 0:4] = 2
        yield image


@pytest.fixture
def classes():
    return find_classes(sight(shapes_seen(), NOTHING), NOTHING.shape, 10, 0.2, 0.3)


@pytest.fixture
def disco(classes):
    """Two classes, two tilings of 2 by 2 tiles: 2 + 2·2·4 + 2·16 features."""
    return Disco(NOTHING, classes, max_velocity=3, tilings=2, grid=2, max_instances=6)


def field(*things):
    """Draw a bow (class 0) or a bar (class 1) with its middle at each (class, row, column)."""
    image = NOTHING.copy()
    for kind, y, x in things:
        if kind == 0:
            image[y, x - 1 : x + 2] = image[y + 1, x - 1] = image[y + 1, x + 1] = 5
        else:
            image[y, x - 1 : x + 3] = 7
    return image


def counted(disco, image):
    features, counts = disco.count(image)
    assert (features.dtype, counts.dtype) == (np.int32, np.float32)
    return dict(zip(features.tolist(), counts.tolist(), strict=True))


def instances(disco, image):
    """Return class, row and column of each instance on a screen, in reading order."""
    found = np.zeros_like(disco._instances)
    return found[: disco._classify(image, found), :3]


def test_how_many_features_there_are(classes):
    def number(count, **parameters):
        fields = {**classes.arrays(), "frequency": np.ones(count)}
        return Disco(NOTHING, ObjectClasses(**fields), **parameters).num_features

    assert len(classes) == 2
    assert [number(c) for c in (2, 3, 5, 10)] == [33_794, 99_843, 330_245, 1_479_690]
    assert number(2, tilings=2, grid=2) == 2 + 2 * 2 * 4 + 2 * 16


def test_the_features_of_none_and_of_one_instance(disco):
    """16 pixels are 3 halves of tiles: pixels 0-5, 6-10, 11-15. Tiling 0: tiles 0-10 and 11-15; tiling 1: 0-5, 6-15."""
    for things, features in (((), {0, 1}), (((0, 3, 4),), {1, 2, 6}), (((0, 13, 7),), {1, 2 + 2, 6 + 3})):
        disco.begin()
        assert counted(disco, field(*things)) == dict.fromkeys(features, 1)


def test_the_features_of_a_pair(disco):
    """31 distances are 3 halves: -15 to -5, -4 to 5, 6 to 15; 13 speeds: -6 to -2, -1 to 2, 3 to 6."""
    disco.begin()
    assert counted(disco, field((0, 3, 4), (1, 13, 7))) == {
        **dict.fromkeys((2 + 0, 2 + 4 + 0), 1.0),
        **dict.fromkeys((10 + 2, 10 + 4 + 3), 1.0),
        **dict.fromkeys((18 + 0, 18 + 16 + 0b0111), 1.0),  # 10 above, 3 to the left, as fast
    }
    found = counted(disco, field((0, 6, 4), (1, 12, 7)))  # the bow moved down by 3, the bar up by 1: 4 faster
    assert {feature: n for feature, n in found.items() if feature >= 18} == {18 + 0b0010: 1, 18 + 16 + 0b0111: 1}


def test_mirrored_and_other_colours_are_instances_too(disco):
    image = field((1, 12, 7))
    image[3, 3] = image[3, 5] = image[4, 3:6] = 99
    assert instances(disco, image).tolist() == [[0, 3, 4], [1, 12, 7]]
    image[3, 4] = 99
    assert instances(disco, image).tolist() == [[1, 12, 7]]


def test_no_screen_has_more_instances_than_there_is_room_for(disco):
    crowd = field(*[(0, y, x) for y in (0, 3, 6) for x in (1, 5, 9, 13)], (1, 12, 2), (1, 14, 9))
    assert instances(disco, crowd).tolist() == [[0, 0, 1], [0, 0, 5], [0, 0, 9], [0, 0, 13], [1, 12, 2], [1, 14, 9]]
    noise = np.random.default_rng(0).integers(0, 3, NOTHING.shape, np.uint8)
    disco.begin()
    assert len(disco.count(noise).features) <= 2 + 2 * (6 + 18)


def test_features_are_described_in_words(disco):
    assert disco.describe(1) == "no instance of class 1 on the screen"
    assert disco.describe(2 + 4 + 1) == "instances of class 0 in rows 0 to 5, columns 6 to 15"
    assert disco.describe(18 + 0b0010) == (
        "pairs of classes 0 and 1: the former -15 to +5 pixels below and -15 to +5 right of the latter, "
        "+3 to +6 pixels per step faster down and -6 to +2 right"
    )


def test_pictures_show_instances_and_classes_in_the_colours_of_these(disco):
    image = field((0, 3, 4), (1, 13, 7))
    image[9, 3:8] = 100
    picture = disco.picture(image)
    assert [picture[place].tolist() for place in ((3, 4), (13, 7))] == COLOURS[:2].tolist()
    rest = (image == 0) | (image == 100)
    assert len({tuple(pixel) for pixel in picture[~rest].tolist()}) == 2
    assert np.all(picture[rest].max(axis=-1) == picture[rest].min(axis=-1))  # grey, and dark
    assert picture[9, 4].max() < 128
    assert picture[9, 4].tolist() != picture[8, 4].tolist()
    picture = disco.classes_picture()
    for i, shape in enumerate((2 * 3 - 1, 4)):
        assert np.all(picture == COLOURS[i], axis=-1).sum() == shape * SCALE**2
    rows = [np.flatnonzero(np.all(picture == COLOURS[i], axis=-1).any(axis=1)) for i in (0, 1)]
    assert rows[0].max() < rows[1].min()


def test_too_many_features_are_refused(classes):
    with pytest.raises(ArcadeMarkError, match="lower grid or tilings"):
        Disco(NOTHING, classes, grid=200)


def test_classes_are_found_once_and_then_read_from_the_cache(make_env, monkeypatch):
    env = make_env("freeway")
    settings = {"background_screens": 300, "class_screens": 400}
    first = make_disco(env, **settings)
    assert len(first.classes) > 0

    def fail(*_):
        raise AssertionError("sampled again")

    monkeypatch.setattr(module, "sight", fail)
    again = make_disco(env, **settings, max_velocity=3, tilings=2, grid=4, max_instances=5)
    assert again.num_features == len(first.classes) * 33 + (len(first.classes) * (len(first.classes) - 1) // 2) * 512
    np.testing.assert_array_equal(again.classes.rows, first.classes.rows)
    for changed in ("max_classes", "min_frequency", "min_extent", "class_screens", "background_screens", "background"):
        with pytest.raises(AssertionError, match="sampled again"):
            make_disco(env, **{**settings, changed: {"background": False, "min_frequency": 0.3}.get(changed, 1)})


def test_where_there_is_no_class_it_is_said(make_env):
    with pytest.raises(ArcadeMarkError, match="no class of objects in 50 sample screens of 'toy'; lower min_frequency"):
        make_disco(make_env("toy"), background_screens=50, class_screens=50, min_extent=1.0)


def test_freeway_has_cars_and_a_chicken(make_env):
    """Figure 6 of Bellemare et al. 2013: all ten cars are one class, the chicken another."""
    disco = make_disco(make_env("freeway"))
    car, chicken = disco.classes.frequency
    assert len(disco.classes) == 2
    assert car > 0.99
    assert chicken > 0.9
    cars, chickens = disco.classes.instances
    assert 8 < cars <= 10
    assert chickens < 1.1
    assert (disco.classes.silhouette(0).shape, disco.num_features) == ((8, 8), 33_794)
