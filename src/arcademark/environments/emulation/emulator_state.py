"""The emulator's states, kept in a tenth of their size.

Left out of ale-py's 7.7 KB is what decides nothing once the game has begun, so that the same place reached in two ways
gives equal states, and what all states of a game share: the random generator (6.7 KB of decimal text, which only a
reset draws from), the count of frames since the game was loaded, three zero bytes with each byte of memory, and the
cartridge's checksum and length. ::

    paddles | count | episode's frames, switches | checksum | cycles | generator | processor | memory | picture, sound
       8    |   -   |             12             |    -     |   4    |     -     |    81     |  128   |   about 330
"""

from __future__ import annotations

from ale_py import ALEState

from arcademark.environments.emulation.facts import RAM_SIZE
from arcademark.errors import ArcadeMarkError

_COUNT, _AFTER_COUNT, _CHECKSUM, _CYCLES, _TEXT = 8, 12, 24, 74, 78
"""Where these begin in a state of ale-py; the text with its length."""
_PROCESSOR = 81
"""Bytes between the text and the memory."""
_LINES = 27
"""Bytes from the picture chip's name to the last frame's count of lines, which is followed by the current one."""
_NO_COUNT = bytes(_AFTER_COUNT - _COUNT)
_OUR_CYCLES = _CHECKSUM - len(_NO_COUNT)
_OUR_PROCESSOR = _OUR_CYCLES + _TEXT - _CYCLES
_OUR_RAM = _OUR_PROCESSOR + _PROCESSOR
_OUR_RAM_END = _OUR_RAM + RAM_SIZE
"""Where these begin in ours."""


class Packer:
    """Packs and unpacks the states of one game, given any of them and the memory in it.

    ArcadeMarkError: the emulator does not lay its states out as expected.
    """

    def __init__(self, state: ALEState, ram: bytes) -> None:
        serial = state.serialize()
        text_end = _TEXT + 4 + int.from_bytes(serial[_TEXT : _TEXT + 4], "little")
        self._checksum, self._text = serial[_CHECKSUM:_CYCLES], serial[_TEXT:text_end]
        self._processor = text_end - len(serial)  # from the end: what follows the text has the same length always
        self._ram = self._processor + _PROCESSOR
        self._ram_end = self._ram + 4 * RAM_SIZE
        data = self.pack(state)
        again = self.unpack(data).serialize()
        if data[_OUR_RAM:_OUR_RAM_END] != ram or again[_AFTER_COUNT:] != serial[_AFTER_COUNT:]:
            raise ArcadeMarkError(
                "the emulator's states are not laid out as those of ale-py 0.12; install that version"
            )

        self._lines = data.index(b"\x03\0\0\0TIA", _OUR_RAM_END) + _LINES

    def whole(self, data: bytes) -> bool:
        """Whether the frame before a compact state was drawn to its end: it has as many lines as the last frame."""
        lines = self._lines
        return data[lines : lines + 4] == data[lines + 4 : lines + 8]

    def pack(self, state: ALEState) -> bytes:
        """Return `state` made compact."""
        serial = state.serialize()
        return b"".join(
            (
                serial[:_COUNT],
                serial[_AFTER_COUNT:_CHECKSUM],
                serial[_CYCLES:_TEXT],
                serial[self._processor : self._ram],
                serial[self._ram : self._ram_end : 4],
                serial[self._ram_end :],
            )
        )

    def unpack(self, data: bytes) -> ALEState:
        """Return the emulator's own state."""
        memory = bytearray(4 * RAM_SIZE)
        memory[::4] = data[_OUR_RAM:_OUR_RAM_END]
        return ALEState(
            b"".join(
                (
                    data[:_COUNT],
                    _NO_COUNT,
                    data[_COUNT:_OUR_CYCLES],
                    self._checksum,
                    data[_OUR_CYCLES:_OUR_PROCESSOR],
                    self._text,
                    data[_OUR_PROCESSOR:_OUR_RAM],
                    memory,
                    data[_OUR_RAM_END:],
                )
            )
        )
