"""The emulator's states, kept in a tenth of their size.

ale-py's own state is 7.7 KB of text and integers. 6.7 KB of it is the emulator's random generator as decimal text,
which few games touch at all: a game meets one to four of these texts, so each is kept once. A byte of the console's
memory takes four bytes, three of them zero, which are left out. The count of frames since the game was loaded, which
decides nothing, is left out too, so that the same place reached twice gives equal states. The rest, about half a
kilobyte, stays as it is::

    paddles | frame count | episode's frames, switches, checksum, cycles | generator | processor | memory | the rest
            |   dropped   |                                              |   shared  |           | 1 of 4 |
"""

from __future__ import annotations

import struct
from typing import Any, NamedTuple

from ale_py import ALEState

from arcademark.errors import ArcadeMarkError

RAM_SIZE = 128
_COUNT, _COUNT_END = 8, 12
"""Where the count of frames since loading is."""
_TEXT = 78
"""Where the generator's text begins, with its length."""
_RAM = 81
"""Where the memory begins, counted from the end of the text."""
_RAM_END = _RAM + 4 * RAM_SIZE
_NO_COUNT = bytes(_COUNT_END - _COUNT)
_HEAD = _TEXT - len(_NO_COUNT)
"""Length of what is kept of the part before the text."""
_TEXTS: dict[bytes, bytes] = {}
"""Each distinct text of a random generator that this process has met, once."""


class CompactState(NamedTuple):
    """One state of the emulator, hashable and picklable; equal exactly if the game goes on alike.

    Parameters
    ----------
    data : bytes
        The state without what is shared or left out.
    text : bytes
        The random generator, the same object in all states that share it.
    last_frame : (CompactState, int) or None
        The state before the last frame and the frame's action, where a game needs them to be restored.
    """

    data: bytes
    text: bytes
    last_frame: tuple[CompactState, int] | None

    def __reduce__(self) -> tuple[Any, ...]:
        return _read_pickle, tuple(self)


def _read_pickle(data: bytes, text: bytes, last_frame: tuple[CompactState, int] | None) -> CompactState:
    return CompactState(data, _TEXTS.setdefault(text, text), last_frame)


class Packer:
    """Packs and unpacks the states of one game.

    Parameters
    ----------
    state : ale_py.ALEState
        Any state of the game.
    ram : bytes
        The memory in that state.

    Raises
    ------
    ArcadeMarkError
        If the emulator does not lay its states out as expected.
    """

    def __init__(self, state: ALEState, ram: bytes) -> None:
        serial = state.serialize()
        self._set_text(serial)
        data = self.pack(state, None).data
        begin = _HEAD + _RAM
        again = self.unpack(data, self._text).serialize()
        if data[begin : begin + RAM_SIZE] != ram or again[_COUNT_END:] != serial[_COUNT_END:]:
            raise ArcadeMarkError(
                "the emulator's states are not laid out as those of ale-py 0.12; install that version"
            )

    def _set_text(self, serial: bytes) -> None:
        (length,) = struct.unpack_from("<I", serial, _TEXT)
        text = serial[_TEXT : _TEXT + 4 + length]
        self._text = _TEXTS.setdefault(text, text)
        end = _TEXT + len(text)
        self._end, self._ram, self._ram_end = end, end + _RAM, end + _RAM_END

    def pack(self, state: ALEState, last_frame: tuple[CompactState, int] | None) -> CompactState:
        """Return `state` made compact."""
        serial = state.serialize()
        if not serial.startswith(self._text, _TEXT):
            self._set_text(serial)
        ram, ram_end = self._ram, self._ram_end
        data = b"".join(
            (
                serial[:_COUNT],
                serial[_COUNT_END:_TEXT],
                serial[self._end : ram],
                serial[ram:ram_end:4],
                serial[ram_end:],
            )
        )
        return CompactState(data, self._text, last_frame)

    def unpack(self, data: bytes, text: bytes) -> ALEState:
        """Return the emulator's own state."""
        ram = _HEAD + _RAM
        memory = bytearray(4 * RAM_SIZE)
        memory[::4] = data[ram : ram + RAM_SIZE]
        return ALEState(
            b"".join(
                (
                    data[:_COUNT],
                    _NO_COUNT,
                    data[_COUNT:_HEAD],
                    text,
                    data[_HEAD:ram],
                    memory,
                    data[ram + RAM_SIZE :],
                )
            )
        )
