"""Bits of memory and their pairs, against vectors of all bits and all pairs of them."""

from itertools import combinations

import numpy as np
from followed import follow
from hypothesis import given, settings
from hypothesis import strategies as st

from arcademark.environments.registry import environment_spec
from arcademark.features.sets.ram import BETWEEN, CLEAR, SET, Ram, RamBits
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
@settings(max_examples=25, deadline=None)
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
