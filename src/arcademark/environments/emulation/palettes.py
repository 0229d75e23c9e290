"""The console's colours, as the emulator shows them.

A screen byte is an index into 256 colours: the console's 128 at even indices; at odd ones the same colour after the
loss that PAL consoles show on pictures with an odd number of lines (among the ROMs: Air Raid only). Measured from
ale-py 0.12 by playing all 104 single-player ROMs while writing random bytes into memory; a test compares them on every
ROM.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from arcademark.environments.emulation.contract import Emulator
from arcademark.environments.emulation.facts import Standard
from arcademark.suite.settings import Colours

LUMA = (0.2989, 0.587, 0.114)
"""Weights of red, green and blue in luminance; the emulator rounds the sum to the nearest integer."""

_COLOURS: dict[Standard, str] = {
    "NTSC": (
        "0000004a4a4a6f6f6f8e8e8eaaaaaac0c0c0d6d6d6ececec48480069690f86861da2a22abbbb35d2d240e8e84afcfc54"
        "7c2c00904811a26221b47a30c3903dd2a44adfb755ecc860901c00a33915b55328c66c3ad5824ae39759f0aa67fcbc74"
        "940000a71a1ab83232c84848d65c5ce46f6ff08080fc909084006497197aa8308fb846a2c659b3d46cc3e07cd2ec8ce0"
        "50008468199a7d30ad9246c0a459d0b56ce0c57ceed48cfc140090331aa34e32b56848c67f5cd5956fe3a980f0bc90fc"
        "000094181aa72d32b84248c8545cd6656fe47580f08490fc001c88183b9d2d57b04272c2548ad265a0e175b5ef84c8fc"
        "0030641850802d6d984288b054a0c565b7d975cceb84e0fc00403018624e2d8169429e8254b89965d1ae75e7c284fcd4"
        "0044001a661a32843248a0485cba5c6fd26f80e88090fc90143c00355f18527e2d6e9c4287b7549ed065b4e775c8fc84"
        "3038005059166d762b88923ea0ab4fb7c25fccd86ee0ec7c482c00694d14866a26a28638bb9f47d2b656e8cc63fce070"
    ),
    "PAL": (
        "0000002b2b2b525252767676979797b6b6b6d2d2d2ececec0000002b2b2b525252767676979797b6b6b6d2d2d2ececec"
        "80580096711aab8732be9c48cfaf5cdfc06feed180fce090445c005e791a7693328cac48a0c25cb3d76fc4ea80d4fc90"
        "70340089511aa06b32b68448c99a5cdcaf6fecc280fcd4900064141a803532985248b06e5cc5876fd99e80ebb490fcc8"
        "700014891a35a03252b6486ec95c87dc6f9eec80b4fc90c8005c5c1a7676328e8e48a4a45cb8b86fcbcb80dcdc90ecec"
        "70005c841a74963289a8489eb75cb0c66fc1d380d1e090e0003c70195a892f75a0448eb657a5c968badc79ceec88e0fc"
        "5800706e1a898332a09648b6a75cc9b76fdcc680ecd490fc002070193f892f5aa04474b6578bc968a1dc79b5ec88c8fc"
        "3400804a1a965f32ab7248be835ccf936fdfa280eeb090fc0000881a1a9d3232b04848c25c5cd26f6fe18080ef9090fc"
        "0000002b2b2b525252767676979797b6b6b6d2d2d2ececec0000002b2b2b525252767676979797b6b6b6d2d2d2ececec"
    ),
}


def rgb_table(standard: Standard) -> NDArray[np.uint8]:
    """Return red, green and blue of each screen byte, uint8 (256, 3)."""
    colours = np.frombuffer(bytes.fromhex(_COLOURS[standard]), np.uint8).reshape(128, 3)
    table = np.empty((256, 3), np.uint8)
    table[0::2] = colours
    table[1::2] = _luminance(colours)[:, None]
    return table


def gray_table(standard: Standard) -> NDArray[np.uint8]:
    """Return the luminance of each screen byte, uint8 (256,).

    For an odd byte the emulator returns the blue of the next colour, and 0 for the last byte; this is kept, as scores
    may depend on it.
    """
    colours = np.frombuffer(bytes.fromhex(_COLOURS[standard]), np.uint8).reshape(128, 3)
    table = np.zeros(256, np.uint8)
    table[0::2] = _luminance(colours)
    table[1:255:2] = colours[1:, 2]
    return table


def _luminance(colours: NDArray[np.uint8]) -> NDArray[np.uint8]:
    luminance: NDArray[np.uint8] = np.floor(colours @ np.array(LUMA) + 0.5).astype(np.uint8)
    return luminance


def recolour(emulator: Emulator, colours: Colours) -> Emulator:
    """Show an emulator's screens in other colours, except for "original"."""
    if colours != "original":
        other = _other_colours(colours, np.ptp(emulator.rgb.reshape(16, 16, 3), axis=2).any(axis=1))
        emulator.rgb, emulator.gray, emulator.recoloured = emulator.rgb[other], emulator.gray[other], other
    return emulator


def _other_colours(colours: Colours, coloured: NDArray[np.bool_]) -> NDArray[np.uint8]:
    """Return the screen byte whose colour is shown instead of each: hue in bits 4 to 7, luminance in 1 to 3.

    `coloured` marks those of the 16 hues that are not gray: they rotate by a third of their circle.
    """
    index, other, hues = np.arange(128), np.arange(16), np.flatnonzero(coloured)
    other[hues] = np.roll(hues, -(len(hues) // 3))
    luminance = index & 7
    byte = {
        "inverted": index ^ 7,
        "rotated": other[index >> 3] << 3 | luminance,
        "gray": luminance,
        "shuffled": (45 * index + 23) % 128,  # 45 has no factor in common with 128
    }[colours]
    return np.repeat(byte << 1, 2).astype(np.uint8) | (np.arange(256) & 1).astype(np.uint8)
