"""Bits of memory and their pairs, against vectors of all bits and all pairs of them."""

from itertools import combinations

import numpy as np
import pytest
from followed import follow
from hypothesis import given, settings
from hypothesis import strategies as st

from arcademark.classic.features.registry import make_features
from arcademark.classic.features.sets.lsh import Lsh, random_vectors
from arcademark.classic.features.sets.ram import BETWEEN, CLEAR, SET, Ram, RamBits
from arcademark.environments.registry import environment_spec
from arcademark.errors import ArcadeMarkError
from arcademark.suite.protocols import protocol

TOY = environment_spec("toy", protocol("ale-2013"))
PONG = environment_spec("pong", protocol("ale-2013"))


def memory(*values, size=8):
    return np.array([*values, *[0] * (size - len(values))], np.uint8)


def slow_bits(observation):
    return {8 * i + bit for i, byte in enumerate(observation.tolist()) for bit in range(8) if byte & 2**bit}


def slow_pairs(features, observation):
    """Name every pair by what it is described as, so that its number is checked from the other side."""
    bits = slow_bits(observation)
    return {f"{features.describe(i)} and {features.describe(j)}" for i, j in combinations(sorted(bits), 2)}


MEMORIES = st.lists(st.lists(st.sampled_from([0, 1, 3, 128, 255, 90]), min_size=8, max_size=8).map(bytes), max_size=6)


@given(MEMORIES)
@settings(max_examples=25)
def test_bits_and_pairs_are_those_of_the_memory(memories):
    observations = [np.frombuffer(item, np.uint8) for item in memories]
    features = Ram(TOY)
    assert follow(RamBits(TOY), observations) == [slow_bits(item) for item in observations]
    for observation, active in zip(observations, follow(features, observations), strict=True):
        assert {i for i in active if i < 64} == slow_bits(observation)
        assert {features.describe(i) for i in active if i >= 64} == slow_pairs(features, observation)


def test_descriptions():
    features = Ram(PONG)
    assert features.describe(0) == "bit 0 (worth 1) of byte 0"
    assert features.describe(1023) == "bit 7 (worth 128) of byte 127"
    assert features.describe(1024 + 2) == "bit 1 (worth 2) of byte 0 and bit 2 (worth 4) of byte 0"


def test_picture_shows_bits_and_changes_nothing():
    features = Ram(PONG)
    observation = memory(*range(128), size=128)
    features.update(observation)
    picture = features.picture(observation)
    assert picture.shape == (16 * 11 - 2, 8 * 26 - 2, 3)
    assert picture.dtype == np.uint8
    for byte in range(128):
        top, left = byte // 8 * 11, byte % 8 * 26
        for bit in range(8):
            colour = SET if byte >> bit & 1 else CLEAR
            assert (picture[top : top + 9, left + 3 * (7 - bit) :][:, :3] == colour).all()
    assert (picture[9::11] == BETWEEN).all()
    assert [array.size for array in features.update(observation)] == [0, 0]


# Hashed screens against sums over whole vectors of bits, formed anew for every screen


def binarize(screen, encoding):
    """Return a screen's bits: one for each colour and pixel, or for each digit and pixel."""
    if encoding == "binary":
        return np.concatenate([screen.ravel() >> digit & 1 for digit in range(7)])
    bits = np.zeros((128, *screen.shape), np.uint8)
    for (y, x), colour in np.ndenumerate(screen):
        bits[colour, y, x] = 1
    return bits.ravel()


def slow_features(screen, vectors, table_size, encoding):
    bits = binarize(screen, encoding)
    sums = [int(values[bits[places] == 1].sum()) for places, values in zip(*vectors, strict=True)]
    return {i * table_size + total % table_size for i, total in enumerate(sums)}


def toy_screens():
    """Return screens that differ by a few pixels each, of colours that are often the same."""
    colours = st.sampled_from([0, 0, 1, 64, 127])
    pixels = st.dictionaries(st.integers(0, 63), colours, max_size=12)
    return st.tuples(colours, st.lists(pixels, min_size=1, max_size=6)).map(draw_screens)


def draw_screens(drawing):
    colour, edits = drawing
    screen = np.full(64, colour, np.uint8)
    screens = []
    for edit in edits:
        for place, new in edit.items():
            screen[place] = new
        screens.append(screen.reshape(8, 8).copy())
    return screens


@pytest.mark.parametrize(("encoding", "num_bits"), [("one-hot", 128 * 64), ("binary", 7 * 64)])
@settings(max_examples=50)
@given(st.integers(1, 40), st.integers(1, 300), st.integers(2, 60), st.integers(0, 5), toy_screens())
def test_features_are_those_of_whole_vectors(encoding, num_bits, vectors, nonzero, table_size, seed, screens):
    features = Lsh(TOY, vectors=vectors, nonzero=nonzero, table_size=table_size, hash_seed=seed, encoding=encoding)
    drawn = random_vectors(num_bits, vectors, nonzero, table_size, seed)
    assert features.num_features == vectors * table_size
    expected = [slow_features(screen, drawn, table_size, encoding) for screen in screens]
    assert follow(features, screens) == expected
    assert follow(features, screens[::-1]) == expected[::-1]


def test_seeds_draw_what_they_always_drew():
    bits, values = random_vectors(4_300_800, 2, 3, 50, 0)
    assert bits.tolist() == [[10424, 112417, 754271], [454971, 1019933, 2415694]]
    assert values.tolist() == [[8, 8, 14], [2, 11, 45]]
    assert not np.array_equal(random_vectors(4_300_800, 2, 3, 50, 1)[0], bits)


@pytest.mark.parametrize("nonzero", [5, 14])
def test_vectors_look_at_different_bits_all_as_likely(nonzero):
    bits, values = random_vectors(20, 20_000, nonzero, 4, 7)
    assert (np.diff(np.sort(bits.astype(np.int64), axis=1)) > 0).all()
    share = nonzero / 20
    shares = np.bincount(bits.ravel().astype(np.int64), minlength=20) / len(bits)
    assert np.abs(shares - share).max() < 5 * np.sqrt(share * (1 - share) / len(bits))
    both = share * (nonzero - 1) / 19
    together = ((bits == 0).any(axis=1) & (bits == 1).any(axis=1)).mean()
    assert abs(together - both) < 5 * np.sqrt(both * (1 - both) / len(bits))
    assert (np.unique(values) == [1, 2, 3, 4]).all()
    shares = np.bincount(values.ravel().astype(np.int64))[1:] / values.size
    assert np.abs(shares - 0.25).max() < 5 * np.sqrt(0.1875 / values.size)


@pytest.mark.parametrize("encoding", ["one-hot", "binary"])
def test_picture_shows_where_vectors_look_and_changes_nothing(encoding):
    screen = np.random.default_rng(0).integers(0, 128, (8, 8)).astype(np.uint8)
    features = Lsh(TOY, vectors=3, nonzero=40, encoding=encoding)
    features.update(screen)
    places = {int(bit) for bit in random_vectors(64 * (128 if encoding == "one-hot" else 7), 3, 40, 50, 0)[0].ravel()}
    set_bits = binarize(screen, encoding)
    seen = {place % 64 for place in places if set_bits[place]}
    picture = features.picture(screen)
    assert 0 < len(seen) < 64
    for (y, x), colour in np.ndenumerate(screen):
        gray = 2 * int(colour)
        assert picture[y, x].tolist() == [gray if 8 * y + x in seen else gray // 5] * 3
    assert [array.size for array in features.update(screen)] == [0, 0]


def test_sums_are_described():
    assert Lsh(TOY, vectors=40).describe(17 * 50 + 3) == "random vector 17 of 40 has sum 3 modulo 50"


@pytest.mark.parametrize(
    "parameters",
    [
        {"nonzero": 449, "encoding": "binary"},
        {"vectors": 60_000, "table_size": 40_000},
        {"vectors": 60_000, "nonzero": 2_000},
    ],
)
def test_too_many_are_refused(parameters):
    with pytest.raises(ArcadeMarkError, match=r"lsh: .* vectors of .* bits, in .* buckets, are too many"):
        make_features("lsh", TOY, parameters)
