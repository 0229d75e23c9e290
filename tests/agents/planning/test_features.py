"""What planners see: atoms and cells against hand-computed values and reference implementations."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from seeing_models import SeeingModel, tile_screen

from arcademark.agents.planning.features import (
    BASIC,
    OFFSETS,
    NoveltyTable,
    PairTable,
    RamFeatures,
    ScreenCells,
    TileFeatures,
    make_features,
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


def test_a_tile_is_15_rows_of_10_pixels_and_the_lowest_bit_is_no_colour():
    screen = np.zeros((210, 160), np.uint8)
    screen[14, 9], screen[15, 10], screen[209, 159] = 2, 5, 254
    atoms = read_screen(TileFeatures((210, 160), pairs=False), screen)
    black = list(range(224))
    assert atoms.tolist() == [*black, 1 * 224 + 0, 2 * 224 + 1 * 16 + 1, 127 * 224 + 223]
    assert BASIC == 28_672


def test_what_is_read_is_kept_when_the_next_is_read():
    features = TileFeatures((210, 160), pairs=False)
    first = read_screen(features, tile_screen((0, 0, 1)))
    kept = first.copy()
    read_screen(features, tile_screen((5, 5, 9)))
    assert (first == kept).all()


def test_a_byte_is_novel_if_no_state_had_its_value_at_so_small_a_depth():
    table = NoveltyTable(512)
    first, second, both = (np.array(ram, np.uint16) for ram in ([5, 263], [5, 264], [6, 264]))
    assert table.enter(first, None, 2)
    assert not table.enter(first, None, 2)
    assert table.enter(second, None, 2)  # 8 is new
    assert not table.enter(second, None, 3)
    assert table.enter(both, None, 4)  # 6 is new
    assert table.holds(both, None, 4)
    assert table.enter(both, None, 1)  # both are met sooner
    assert table.holds(second, None, 2)  # by the 5, for the 8 was met at 1
    assert not table.holds(both, None, 2)
    assert not table.enter(second, None, 2)


def test_the_five_is_not_a_five_elsewhere():
    table = NoveltyTable(512)
    table.enter(np.array([5, 263], np.uint16), None, 0)
    assert table.enter(np.array([7, 261], np.uint16), None, 9)


@pytest.mark.slow
def test_an_offset_is_novel_where_no_tile_is():
    """Two colours in tiles where they were before, but never at once."""
    tables = NoveltyTable(BASIC), PairTable()
    shown = [((3, 3, 1), (8, 8, 2)), ((3, 4, 1), (8, 9, 2)), ((3, 3, 1), (8, 9, 2)), ((3, 3, 1), (8, 9, 2))]
    features = TileFeatures((210, 160), pairs=True)
    novel = []
    for depth, patches in enumerate(shown):
        atoms = read_screen(features, tile_screen(*patches))
        novel.append([table.enter(atoms, None, depth) for table in tables])
    assert novel == [[True, True], [True, True], [False, True], [False, False]]


def test_a_movement_is_novel_where_no_screen_is():
    """The same two screens, first one way, then the other."""
    features, table = TileFeatures((210, 160), pairs=True), PairTable()
    left, right = (read_screen(features, tile_screen((3, column, 1))) for column in (3, 4))
    assert table.enter(left, None, 0)
    assert table.enter(right, left, 1)
    assert not table.enter(right, None, 2)
    assert table.enter(left, right, 3)
    assert not table.enter(right, left, 4)


def test_the_papers_number_of_atoms():
    """20,598,848: tiles; unordered pairs of atoms of one screen by offset; ordered pairs of two screens."""
    space = OFFSETS * 128 * 127 // 2 + (OFFSETS - 1) // 2 * 128 + 128
    assert BASIC + space + OFFSETS * 128 * 128 == 20_598_848


@settings(max_examples=40, deadline=None)
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


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6), width=st.integers(1, 16), height=st.integers(1, 16), levels=st.integers(1, 256))
def test_cells_are_as_their_reference_implementation(seed, width, height, levels):
    screen = random_screen(np.random.default_rng(seed), (210, 160))
    cells = ScreenCells("pong", (210, 160), width, height, levels)
    expected = slow_cell(screen, gray_table("NTSC"), width, height, levels)
    assert read_screen(cells, screen) == expected.tobytes()


def test_a_cell_by_hand():
    """Eight columns become three, of 8/3 columns each: two thirds of the third are the first's."""
    screen = np.zeros((8, 8), np.uint8)
    screen[:4, 2] = 240
    cells = ScreenCells("toy", (8, 8), 3, 2, 256)
    model = SeeingModel([[0]], [[0]], [[]], screens={0: screen})
    cell = np.frombuffer(cells.read(model), np.uint8).reshape(2, 3)
    assert cell.tolist() == [[60, 30, 0], [0, 0, 0]]  # 240 · (2/3) / (8/3), 240 · (1/3) / (8/3)


def test_levels_are_of_equal_width():
    for byte, level in ((0, 0), (31, 0), (32, 1), (128, 4), (255, 7)):
        cells = ScreenCells("toy", (8, 8), 1, 1, 8)
        assert read_screen(cells, np.full((8, 8), byte, np.uint8)) == bytes([level])


@pytest.mark.parametrize(
    ("name", "kind", "table"),
    [("ram", RamFeatures, NoveltyTable), ("tiles", TileFeatures, NoveltyTable), ("b-prost", TileFeatures, PairTable)],
)
@pytest.mark.parametrize("game", ["pong", "toy", "carnival"])
def test_features_are_known_by_name(name, kind, table, game):
    features = make_features(name, game)
    assert (type(features), type(features.new_table())) == (kind, table)
