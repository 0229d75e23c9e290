"""Screens drawn with characters, and reference implementations that several tests need."""

import itertools

import numpy as np


def screen(*lines, width=16):
    """Read a screen: a dot is colour 0, a letter its place in the alphabet; as wide as `width`."""
    rows = [[0 if c in ". " else ord(c.lower()) - 96 for c in line.ljust(width)] for line in lines]
    return np.array(rows, np.uint8)


def blobs_of(image, background):
    """Return the sets of pixels that hang together in front of a background, in reading order of their first."""
    left = {(int(y), int(x)) for y, x in np.argwhere(image != background)}
    found = []
    while left:
        blob, edge = set(), {min(left)}
        while edge:
            blob |= edge
            left -= edge
            around = {(y + dy, x + dx) for y, x in edge for dy, dx in itertools.product((-1, 0, 1), repeat=2)}
            colours = {image[p] for p in blob}
            edge = {p for p in around & left if image[p] in colours}
        found.append(frozenset(blob))
    return found


def box(blob):
    """Return top, left, height and width."""
    ys, xs = zip(*blob, strict=True)
    return min(ys), min(xs), max(ys) - min(ys) + 1, max(xs) - min(xs) + 1


def silhouette(blob):
    """Return the shape of a blob as tuples of bool."""
    top, left, height, width = box(blob)
    return tuple(tuple((top + y, left + x) in blob for x in range(width)) for y in range(height))


def may_be_object(blob):
    """Say whether a blob has a size that objects have."""
    return len(blob) >= 3 and max(box(blob)[2:]) <= 64


def images(shape):
    """Return the four mirror images of a shape."""
    across = tuple(row[::-1] for row in shape)
    return shape, across, shape[::-1], across[::-1]


def as_rows(shape):
    """Return a shape's words, in room for 64."""
    rows = np.zeros(64, np.uint64)
    for y, row in enumerate(shape):
        rows[y] = sum(1 << x for x, pixel in enumerate(row) if pixel)
    return rows


def size(shape):
    return len(shape), len(shape[0])


def slow_difference(a, b, max_area_ratio, limit):
    """Lay the smaller box over the larger one everywhere, in any mirror image."""
    (ah, aw), (bh, bw) = size(a), size(b)
    if ah * aw > bh * bw:
        return slow_difference(b, a, max_area_ratio, limit)
    if ah > bh or aw > bw or bh * bw > max_area_ratio * ah * aw:
        return 2
    least = min(
        sum(image[y][x] != b[down + y][right + x] for y in range(ah) for x in range(aw))
        for image in images(a)
        for down in range(bh - ah + 1)
        for right in range(bw - aw + 1)
    ) / (ah * aw + bh * bw)
    return least if least <= limit else 2
