"""What planners see: atoms and cells against hand-computed values and reference implementations."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from seeing_models import SeeingModel

from arcademark.classic.planning.features import (
    BASIC,
    OFFSETS,
    NoveltyTable,
    PairTable,
    ScreenCells,
    TileFeatures,
)
from arcademark.environments.emulation.palettes import gray_table


def read_screen(features, screen):
    model = SeeingModel([[0]], [[0]], [[]], screens={0: screen})
    return features.read(model)


def random_screen(rng, shape=(210, 160), colours=5):
    """Make a screen of a few colours in blocks, so that tiles hold one or more of them."""
    blocks = rng.integers(colours, size=(-(-shape[0] // 6), -(-shape[1] // 4)))
    screen = np.kron(blocks, np.ones((6, 4), np.int64))[: shape[0], : shape[1]]
    return (2 * (screen * 37 % 128) + rng.integers(2)).astype(np.uint8)


# Reference implementations: sets and dictionaries.


def slow_tiles(screen):
    height, width = screen.shape
    found = set()
    for row, column in product(range(14), range(16)):
        rows = slice(row * height // 14, (row + 1) * height // 14)
        columns = slice(column * width // 16, (column + 1) * width // 16)
        found |= {(row, column, int(byte) // 2) for byte in np.unique(screen[rows, columns])}
    return found


def slow_pairs(atoms, before):
    """Return the atoms of B-PROS and B-PROT: unordered pairs on one screen, ordered ones over two."""
    space = set()
    for r, c, k in atoms:
        for s, d, m in atoms:
            there, back = ("space", k, m, s - r, d - c), ("space", m, k, r - s, c - d)
            space.add(min(there, back))
    time = {("time", k, m, s - r, d - c) for r, c, k in before or () for s, d, m in atoms}
    return space | time


class SlowTable:
    def __init__(self):
        self.depths = {}

    def enter(self, facts, depth):
        novel = {fact for fact in facts if self.depths.get(fact, 99) > depth}
        self.depths.update(dict.fromkeys(novel, depth))
        return bool(novel)

    def holds(self, facts, depth):
        return any(self.depths.get(fact, 99) >= depth for fact in facts)


@pytest.mark.parametrize("shape", [(210, 160), (250, 160), (214, 160), (8, 8)])
def test_tiles_hold_the_colours_that_are_seen_in_them(shape):
    rng = np.random.default_rng(0)
    for _ in range(5):
        screen = random_screen(rng, shape)
        features = TileFeatures(shape, pairs=False)
        atoms = read_screen(features, screen)
        assert (np.diff(atoms.astype(int)) > 0).all()
        found = {(n % 224 // 16, n % 16, n // 224) for n in atoms.tolist()}
        assert found == slow_tiles(screen)


def test_the_papers_number_of_atoms():
    """20,598,848: tiles; unordered pairs of atoms of one screen by offset; ordered pairs of two screens."""
    space = OFFSETS * 128 * 127 // 2 + (OFFSETS - 1) // 2 * 128 + 128
    assert BASIC + space + OFFSETS * 128 * 128 == 20_598_848


@settings(max_examples=40)
@given(seed=st.integers(0, 10**6), num_atoms=st.integers(1, 25), root=st.sampled_from(["none", "alone", "after"]))
def test_tables_are_as_their_reference_implementations(seed, num_atoms, root):
    rng = np.random.default_rng(seed)
    tiles, pairs, slow_tile, slow_pair = NoveltyTable(BASIC), PairTable(), SlowTable(), SlowTable()

    def draw():
        numbers = np.unique(rng.choice(4, num_atoms) * 224 * 31 + rng.choice([0, 1, 15, 16, 100, 223], num_atoms))
        return numbers.astype(np.uint16), {(n % 224 // 16, n % 16, n // 224) for n in numbers.tolist()}

    before, facts_before = draw() if root == "after" else (None, None)
    for i in range(12):
        atoms, facts = draw()
        depth = 0 if i == 0 and root != "none" else int(rng.integers(1, 5))
        both = facts | slow_pairs(facts, facts_before)
        if i % 3 == 2:
            assert tiles.holds(atoms, before, depth) == slow_tile.holds(facts, depth)
            assert pairs.holds(atoms, before, depth) == slow_pair.holds(both, depth)
        else:
            assert tiles.enter(atoms, before, depth) == slow_tile.enter(facts, depth)
            assert pairs.enter(atoms, before, depth) == slow_pair.enter(both, depth)
        before, facts_before = (atoms, facts) if rng.random() < 0.7 else (before, facts_before)


def slow_cell(screen, gray, width, height, levels):
    fine = np.kron(gray[screen].astype(np.int64), np.ones((height, width), np.int64))
    blocks = fine.reshape(height, screen.shape[0], width, screen.shape[1])
    total = blocks.sum(axis=(1, 3))
    return (total * levels // (256 * screen.size)).astype(np.uint8)


@settings(max_examples=15)
@given(seed=st.integers(0, 10**6), width=st.integers(1, 16), height=st.integers(1, 16), levels=st.integers(1, 256))
def test_cells_are_as_their_reference_implementation(seed, width, height, levels):
    screen = random_screen(np.random.default_rng(seed), (210, 160))
    cells = ScreenCells("pong", (210, 160), width, height, levels)
    expected = slow_cell(screen, gray_table("NTSC"), width, height, levels)
    assert read_screen(cells, screen) == expected.tobytes()
