"""ale-py's states, packed to a tenth of their size.

Of their 7.7 KB, parts are left out that have no effect once the game has begun, so that the same situation reached in
two ways gives equal states, and parts that all states of a game share: the random generator (6.7 KB of decimal text,
which only a reset draws from), the count of frames since the game was loaded, three zero bytes with each byte of
memory, and the cartridge's checksum and length. ::

    paddles | count | episode's frames, switches | checksum | cycles | generator | processor | memory | picture, sound
       8    |   -   |             12             |    -     |   4    |     -     |    81     |  128   |   about 330
"""

from __future__ import annotations

from itertools import pairwise, starmap

import numpy as np

from arcademark.emulator.original import ALEState
from arcademark.environments.emulation.facts import RAM_SIZE
from arcademark.errors import ArcadeMarkError

_COUNT, _AFTER_COUNT, _CHECKSUM, _CYCLES, _TEXT = 8, 12, 24, 74, 78
"""Offsets of these in a state of ale-py; the text begins with its length."""
_PROCESSOR = 81
"""Bytes between the text and the memory."""


class Packer:
    """Packs and unpacks the states of one game, given any of them and the memory in it.

    ArcadeMarkError: the emulator does not lay its states out as expected.
    """

    def __init__(self, state: ALEState, ram: bytes) -> None:
        serial = state.serialize()
        text_end = _TEXT + 4 + int.from_bytes(serial[_TEXT : _TEXT + 4], "little")
        processor = text_end - len(serial)  # from the end: what follows the text has the same length always
        memory = processor + _PROCESSOR
        memory_end = memory + 4 * RAM_SIZE
        self._blank = bytearray(serial)
        self._blank[_COUNT:_AFTER_COUNT] = bytes(_AFTER_COUNT - _COUNT)
        self._kept = (
            slice(0, _COUNT),
            slice(_AFTER_COUNT, _CHECKSUM),
            slice(_CYCLES, _TEXT),
            slice(processor, memory),
            slice(memory, memory_end, 4),
            slice(memory_end, None),
        )
        ends = np.cumsum([0, *(len(serial[part]) for part in self._kept)]).tolist()
        self._places = tuple(starmap(slice, pairwise(ends)))
        """Places of the parts in a packed state."""
        data = self.pack(state)
        again = self.unpack(data).serialize()
        if data[self._places[4]] != ram or again[_AFTER_COUNT:] != serial[_AFTER_COUNT:]:
            raise ArcadeMarkError(
                "the emulator's states are not laid out as those of ale-py 0.12; install that version"
            )

    def pack(self, state: ALEState) -> bytes:
        """Return the packed state."""
        serial = state.serialize()
        return b"".join([serial[part] for part in self._kept])

    def unpack(self, data: bytes) -> ALEState:
        """Return the emulator's own state."""
        serial = self._blank.copy()
        for part, place in zip(self._kept, self._places, strict=True):
            serial[part] = data[place]
        return ALEState(bytes(serial))
