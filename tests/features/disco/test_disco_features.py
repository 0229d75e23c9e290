import numpy as np
import pytest
from drawn import screen

from arcademark.errors import ArcadeMarkError
from arcademark.features.disco import features as module
from arcademark.features.disco.classes import ObjectClasses, find_classes
from arcademark.features.disco.drawing import COLOURS, MARGIN, SCALE
from arcademark.features.disco.features import Disco, make_disco
from arcademark.features.disco.sightings import sight
from arcademark.features.registry import make_features

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


def test_an_empty_screen_has_no_instance_of_any_class(disco):
    disco.begin()
    assert counted(disco, NOTHING) == {0: 1, 1: 1}


def test_the_features_of_one_instance(disco):
    """16 pixels are 3 halves of tiles: pixels 0-5, 6-10, 11-15. Tiling 0: tiles 0-10 and 11-15; tiling 1: 0-5, 6-15."""
    disco.begin()
    assert counted(disco, field((0, 3, 4))) == {1: 1, 2 + 0: 1, 2 + 4 + 0: 1}
    disco.begin()
    assert counted(disco, field((0, 3, 7))) == {1: 1, 2 + 0: 1, 2 + 4 + 1: 1}
    disco.begin()
    assert counted(disco, field((0, 13, 7))) == {1: 1, 2 + 2: 1, 2 + 4 + 3: 1}


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
    assert disco.describe(10 + 2) == "instances of class 1 in rows 11 to 15, columns 0 to 10"
    assert disco.describe(18 + 0b0010) == (
        "pairs of classes 0 and 1: the former -15 to +5 pixels below and -15 to +5 right of the latter, "
        "+3 to +6 pixels a step faster down and -6 to +2 right"
    )
    for wrong in (-1, 50):
        with pytest.raises(ArcadeMarkError, match="expected 0 to 49"):
            disco.describe(wrong)


@pytest.mark.parametrize("seed", range(20))
def test_what_is_described_is_what_is_counted(disco, seed):
    rng = np.random.default_rng(seed)
    y, x, below, right = (int(n) for n in (*rng.integers(1, 14, 2), *rng.integers(1, 13, 2)))
    if abs(y - below) < 3:
        below = (y + 6) % 13
    disco.begin()
    for feature in counted(disco, field((0, y, x), (1, below, right))):
        words = [w.strip(",") for w in disco.describe(feature).split()]
        ranges = [(int(words[i - 1]), int(words[i + 1])) for i, word in enumerate(words) if word == "to"]
        actual = (y - below, x - right, 0, 0) if len(ranges) == 4 else (y, x) if "0" in words[:5] else (below, right)
        assert all(low <= value <= high for (low, high), value in zip(ranges, actual, strict=True))


def test_a_picture_shows_instances_in_the_colours_of_their_classes(disco):
    image = field((0, 3, 4), (1, 13, 7))
    image[9, 3:8] = 100
    picture = disco.picture(image)
    assert (picture.shape, picture.dtype) == ((16, 16, 3), np.uint8)
    assert picture[3, 4].tolist() == COLOURS[0].tolist()
    assert picture[13, 7].tolist() == COLOURS[1].tolist()
    rest = (image == 0) | (image == 100)
    assert len({tuple(pixel) for pixel in picture[~rest].tolist()}) == 2
    assert np.all(picture[rest].max(axis=-1) == picture[rest].min(axis=-1))
    assert picture[rest].max() < 128
    assert picture[9, 4].tolist() != picture[8, 4].tolist()


def test_a_picture_of_classes_has_a_row_for_each(disco):
    picture = disco.classes_picture()
    assert (picture.ndim, picture.shape[2], picture.dtype) == (3, 3, np.uint8)
    for i, shape in enumerate((2 * 3 - 1, 4)):
        assert np.all(picture == COLOURS[i], axis=-1).sum() == shape * SCALE**2
    rows = [np.flatnonzero(np.all(picture == COLOURS[i], axis=-1).any(axis=1)) for i in (0, 1)]
    assert rows[0].max() < rows[1].min()
    assert np.all(picture[:MARGIN] == 0)


def test_without_classes_the_picture_says_so(classes):
    empty = {name: value[:0] for name, value in classes.arrays().items()}
    picture = Disco(NOTHING, ObjectClasses(**empty)).classes_picture()
    assert picture.max() > 200


def test_too_many_features_are_refused(classes):
    with pytest.raises(ArcadeMarkError, match="lower grid or tilings"):
        Disco(NOTHING, classes, grid=200)


def test_the_toy_game_has_one_class_and_it_is_the_basket(make_env):
    disco = make_features("disco", make_env("toy"), {"background_screens": 500, "class_screens": 1000})
    assert disco.num_features == 513
    image = screen("....c...", *[""] * 6, "...bbb..", width=8)
    assert instances(disco, image).tolist() == [[0, 7, 4]]


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


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"max_classes": 0}, "max_classes is 0; expected at least 1"),
        ({"max_instances": 0}, "max_instances is 0"),
        ({"tilings": 0}, "tilings is 0"),
        ({"grid": -1}, "grid is -1"),
        ({"max_velocity": -1}, "max_velocity is -1"),
        ({"min_frequency": 1.5}, "min_frequency is 1.5; expected a share from 0 to 1"),
        ({"min_extent": -0.1}, "min_extent is -0.1"),
        ({"class_screens": 0}, "0 sample screens"),
        ({"min_extent": 1.0, "class_screens": 50}, "no class of objects in 50 sample screens of 'toy'; lower"),
    ],
)
def test_bad_parameters_are_refused(make_env, parameters, message):
    with pytest.raises(ArcadeMarkError, match=message):
        make_disco(make_env("toy"), **{"background_screens": 50, **parameters})


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
