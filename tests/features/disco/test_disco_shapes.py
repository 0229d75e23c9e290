import numpy as np
import pytest
from drawn import as_rows, images, screen, size, slow_difference
from hypothesis import given, settings
from hypothesis import strategies as st

from arcademark.features.disco.blobs import Workspace
from arcademark.features.disco.shapes import (
    difference,
    draw,
    hash_rows,
    look_up,
    mirror,
    ones,
    put,
    put_images,
)

pytestmark = pytest.mark.slow  # to compile


@st.composite
def shapes(draw_one, most=9):
    height, width = draw_one(st.integers(1, most)), draw_one(st.integers(1, most))
    row = st.tuples(*[st.booleans()] * width)
    return draw_one(st.tuples(*[row] * height))


def fast_difference(a, b, max_area_ratio, limit):
    return difference(as_rows(a), *size(a), as_rows(b), *size(b), max_area_ratio, limit)


@settings(deadline=None, max_examples=200)
@given(shapes(5), shapes(5), st.sampled_from([1.2, 2.0, 25.0]), st.sampled_from([0.0, 0.1, 0.3, 1.0]))
def test_differences_are_those_of_a_reference_implementation(a, b, max_area_ratio, limit):
    assert fast_difference(a, b, max_area_ratio, limit) == pytest.approx(slow_difference(a, b, max_area_ratio, limit))


@given(st.integers(0, 2**64 - 1))
def test_ones_are_counted(word):
    assert ones(np.uint64(word)) == word.bit_count()


@settings(deadline=None)
@given(shapes(), st.booleans(), st.booleans())
def test_mirror_images(shape, across, down):
    out = np.zeros(64, np.uint64)
    mirror(as_rows(shape), *size(shape), across, down, out)
    np.testing.assert_array_equal(out, as_rows(images(shape)[across + 2 * down]))


def test_a_blob_is_drawn_as_it_looks_and_has_the_number_of_its_drawing():
    image = screen("..aaa...........", "...a.a..........", "..aaa...........")
    workspace = Workspace(np.zeros_like(image))
    assert workspace.find(image) == 1
    rows = np.full(64, 99, np.uint64)
    draw(workspace.runs, workspace.blobs[0], rows)
    assert rows[:4].tolist() == [0b0111, 0b1010, 0b0111, 99]
    assert hash_rows(rows, 3, 4) == workspace.hashes[0]


@settings(deadline=None)
@given(st.lists(st.integers(1, 2**64 - 1), unique=True, max_size=14))
def test_the_table_gives_back_what_was_put_into_it(numbers):
    keys, values = np.zeros(16, np.uint64), np.zeros(16, np.int32)
    for i, key in enumerate(numbers):
        assert look_up(keys, values, np.uint64(key)) == -1
        put(keys, values, np.uint64(key), i)
    assert [look_up(keys, values, np.uint64(key)) for key in numbers] == list(range(len(numbers)))


def test_mirror_images_are_found_and_the_first_shape_keeps_them():
    keys, values = np.zeros(64, np.uint64), np.zeros(64, np.int32)
    corner = ((True, True, True), (True, False, False))
    put_images(keys, values, as_rows(corner), 2, 3, 4)
    put_images(keys, values, as_rows(images(corner)[2]), 2, 3, 5)
    assert [look_up(keys, values, np.uint64(hash_rows(as_rows(image), 2, 3))) for image in images(corner)] == [4] * 4
    assert np.count_nonzero(keys) == 4
