"""A cartridge's program as C: the text that, with the core's, is compiled for one game.

::

    translated(name, rom) ─→ random play on a core that notes jumps ─→ Program: instructions reached from the vectors
    and from there ─→ translation: C, a label a block ─→ compiled, kept in the cache folder

What an instruction does is the interpreter's own text of it (``native/processor.c``), its operand a constant; time is
counted as there. Where the program goes on at an address that was not reached, or in memory, the interpreter plays an
instruction at a time until it comes to a block again (``native/translated.c``).
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.resources import files

import numpy as np

from arcademark.console.build import FLAGS, core, kept, library, library_unless_busy, native, version
from arcademark.console.games import KINDS, game
from arcademark.console.instructions import operations
from arcademark.console.machine import Machine

_MAKERS = ("instructions.py", "translate.py")
SEEN_FRAMES, HELD = 4_000, 8
"""Frames of random play that show where programs jump to, and frames that each of its actions is held."""

BANKS = {"2K": 1, "4K": 1, "F8": 2, "F6": 4, "F8SC": 2, "F6SC": 4, "DPC": 2}
"""Banks of 4 KB of the kinds of cartridges that are translated."""

_FLAT = {"2K": (0, 0x1000), "4K": (0, 0x1000), "F8": (0, 0xFF8), "F6": (0, 0xFF6)}
_FLAT |= {"F8SC": (0x100, 0xFF8), "F6SC": (0x100, 0xFF6), "DPC": (0x80, 0xFC0)}
"""Where nothing but the cartridge's bytes is read, as in the core's `map_banks`."""

_FIRST_BANK = {"F8": 1, "F8SC": 1, "DPC": 1}
_VECTOR, _BREAK_VECTOR = 0xFFC, 0xFFE
_TIMER = 0x284
_JUMP, _JUMP_SUBROUTINE, _BREAK = 0x4C, 0x20, 0x00
_LEAVE = frozenset({0x6C, 0x60, 0x40, _BREAK})
"""Instructions after which only the machine's state tells where the program goes on."""

_LOADS = frozenset({0xAD, 0xAE, 0xAC})
_COMPARES = frozenset({0xC9, 0xE0, 0xC0, 0x29})
_STORES = re.compile(r"\b(WRITE|WRITE_ZERO|MODIFY|PUSH)\b")

Place = tuple[int, int]
"""A bank and an address."""


@dataclass(frozen=True)
class Instruction:
    """One in the cartridge: its opcode, its operand, and the address after it."""

    code: int
    operand: int
    after: int


# ---- the cartridge's program


class Program:
    """What of a cartridge can be reached from its vectors.

    Attributes
    ----------
    instructions : dict
        By place.
    leaders : set
        Places at which blocks begin.
    segments : dict
        By bank, the upper four bits of its addresses.
    """

    def __init__(self, rom: bytes, kind: str, seen: Iterable[Place] = ()) -> None:
        self.kind, self.banks = kind, BANKS[kind]
        self.start, self.end = _FLAT[kind]
        size = 2048 if kind == "2K" else 4096 * self.banks
        whole = (rom + bytes(size))[:size]
        self.rom = whole * 2 if kind == "2K" else whole
        self.instructions: dict[Place, Instruction] = {}
        self.leaders: set[Place] = set()
        seen = list(seen)
        most = Counter((bank, address & 0xF000) for bank, address in seen).most_common()
        self.segments = {bank: upper for (bank, upper), _ in reversed(most)}
        self._waiting: list[Place] = []
        first = _FIRST_BANK.get(kind, 0)
        vectors = [(bank, self._word(bank, _VECTOR)) for bank in range(self.banks)]
        for bank, address in [vectors[first], *seen, *vectors]:
            self._lead(bank, address)
            self._walk()

    def _word(self, bank: int, offset: int) -> int:
        return int.from_bytes(self.rom[4096 * bank + offset : 4096 * bank + offset + 2], "little")

    def known(self, bank: int, address: int) -> bool:
        """Whether a block begins there."""
        return (bank, address) in self.leaders

    def _lead(self, bank: int, address: int) -> None:
        address &= 0xFFFF
        if not address & 0x1000 or (bank, address) in self.leaders or not self._decode(bank, address):
            return
        if self.segments.setdefault(bank, address & 0xF000) == address & 0xF000:
            self.leaders.add((bank, address))
            self._waiting.append((bank, address))

    def _decode(self, bank: int, address: int) -> Instruction | None:
        offset = address & 0xFFF
        code = self.rom[4096 * bank + offset]
        operation = operations().get(code)
        if operation is None or offset < self.start or offset + operation.bytes >= self.end:
            return None
        operand = self.rom[4096 * bank + offset + 1 : 4096 * bank + offset + 1 + operation.bytes]
        return Instruction(code, int.from_bytes(operand, "little"), address + 1 + operation.bytes)

    def _walk(self) -> None:
        while self._waiting:
            bank, address = self._waiting.pop()
            while (bank, address) not in self.instructions and (found := self._decode(bank, address)):
                self.instructions[bank, address] = found
                if not self._follow(bank, found):
                    break
                address = found.after

    def _follow(self, bank: int, found: Instruction) -> bool:
        """Note where an instruction leads; return whether the next belongs to its block."""
        if found.code == _JUMP:
            self._lead(bank, found.operand)
        elif found.code == _JUMP_SUBROUTINE:
            self._lead(bank, found.operand)
            self._lead(bank, found.after)
        elif found.code == _BREAK:
            self._lead(bank, self._word(bank, _BREAK_VECTOR))
            self._lead(bank, found.after)
        elif operations()[found.code].condition:
            self._lead(bank, target(found))
            self._lead(bank, found.after)
        elif (switched := self.switch(found)) is not None:
            self._lead(switched, found.after)
        elif found.code not in _LEAVE:
            return True
        return False

    def switch(self, found: Instruction) -> int | None:
        """Return the bank that a fixed address selects."""
        least = 0xFF6 if self.kind in ("F6", "F6SC") else 0xFF8
        if self.banks == 1 or "ABSOLUTE" not in operations()[found.code].text or found.code in (_JUMP, 0x6C):
            return None
        selected = (found.operand & 0xFFF) - least
        return selected if found.operand & 0x1000 and 0 <= selected < self.banks else None

    def may_switch(self, found: Instruction) -> bool:
        """Whether an access of an instruction may select another bank."""
        text = operations()[found.code].text
        if self.banks == 1:
            return False
        reach = 256 if "INDEXED" in text else 1 if "ABSOLUTE" in text else 0
        touched = range(found.operand, found.operand + reach)
        return "POINTER" in text or any(place & 0x1000 and place & 0xFFF >= self.end for place in touched)


def target(found: Instruction) -> int:
    """Return where a branch leads."""
    return found.after + (found.operand ^ 0x80) - 0x80 & 0xFFFF


# ---- the text


def label(bank: int, address: int) -> str:
    """Return the name of a block."""
    return f"L{bank}_{address:04X}"


def _go(program: Program, bank: int, address: int) -> str:
    if program.known(bank, address):
        return f"goto {label(bank, address)};"
    return f"here = 0x{address:04X}; goto interpreted;"


def _block(program: Program, bank: int, address: int) -> Iterator[str]:
    """Write a block."""
    places, at = [], address
    while (found := program.instructions.get((bank, at))) and (at == address or not program.known(bank, at)):
        places.append(at)
        at = found.after
        if _ends(program, found):
            break
    yield f"BLOCK({label(bank, address)}, 0x{address:04X}, {len(places)})"
    for number, place in enumerate(places):
        found = program.instructions[bank, place]
        yield from _instruction(program, bank, found, len(places) - 1 - number, _wait(program, bank, address, places))
    last = program.instructions[bank, places[-1]]
    if not _ends(program, last) or operations()[last.code].condition:
        yield _go(program, bank, last.after)


def _ends(program: Program, found: Instruction) -> bool:
    operation = operations()[found.code]
    ends = found.code in _LEAVE or found.code in (_JUMP, _JUMP_SUBROUTINE) or bool(operation.condition)
    return ends or program.switch(found) is not None


def _wait(program: Program, bank: int, address: int, places: list[int]) -> str:
    """Return what passes over rounds of a block that only waits for the timer, "" for any other."""
    parts = [program.instructions[bank, place] for place in places]
    if len(parts) not in (2, 3) or not operations()[parts[-1].code].condition or target(parts[-1]) != address:
        return ""
    if parts[0].code not in _LOADS or parts[0].operand != _TIMER or any(p.code not in _COMPARES for p in parts[1:-1]):
        return ""
    time = 4 + 2 * (len(parts) - 2) + 3 + _crossing(parts[-1])
    return f"WAIT({time}, {len(parts)}); "


def _crossing(branch: Instruction) -> int:
    return int((branch.after ^ target(branch)) & 0xFF00 != 0)


def _instruction(program: Program, bank: int, found: Instruction, left: int, wait: str) -> Iterator[str]:
    operation = operations()[found.code]
    if operation.condition:
        yield f"cycles += 2; bus = 0x{found.operand:02X};"
        time, going = 1 + _crossing(found), _go(program, bank, target(found))
        yield f"if ({operation.condition}) {{ cycles += {time}; {wait}{going} }}"
        return
    if found.code in (_JUMP_SUBROUTINE, _BREAK):
        yield f"here = 0x{found.after - (found.code != _BREAK):04X};"
    yield f"DO_WITH(0x{found.operand:X}, {operation.text})"
    fixed = "ABSOLUTE" in operation.text or re.search(r"\bZERO;", operation.text)
    after = "here" if found.code in _LEAVE or found.code == _JUMP_SUBROUTINE else f"0x{found.after & 0xFFFF:04X}"
    if _STORES.search(operation.text) and not (fixed and found.operand & 0x1280 == 0x80):
        yield f"STOP_CHECK({after})"
    if found.code in (_JUMP, _JUMP_SUBROUTINE):
        yield _go(program, bank, found.operand)
    elif found.code in _LEAVE:
        yield "goto dispatch;"
    elif program.switch(found) is not None:
        yield f"here = {after}; goto dispatch;"
    elif program.may_switch(found):
        yield f"BANK_CHECK({bank}, {after}, {left})"


def translation(rom: bytes, kind: str, seen: Iterable[Place] = ()) -> dict[str, str]:
    """Return the files that, with the core's, make a translated core.

    Parameters
    ----------
    rom : bytes
        The cartridge.
    kind : str
        One of `BANKS`.
    seen : iterable of (int, int)
        Banks and addresses that the program was seen to jump to, beside what its vectors lead to.
    """
    program = Program(rom, kind, seen)
    named: dict[int, list[str]] = {bank: ["0"] * 4096 for bank in range(program.banks)}
    blocks = []
    for bank in range(program.banks):
        blocks.append(f"#undef ROM\n#define ROM (k->rom + {4096 * bank})")
        for place in sorted(program.leaders):
            if place[0] == bank:
                named[bank][place[1] & 0xFFF] = f"&&{label(*place)}"
                blocks += _block(program, *place)
    rows = ",\n".join("{" + ",".join(row) + "}" for row in named.values())
    segments = ",".join(f"0x{program.segments.get(bank, 0):04X}" for bank in range(program.banks))
    labels = (
        f"static const void *const labels[{program.banks}][4096] = {{{rows}}};\n"
        f"static const uint16_t segments[{program.banks}] = {{{segments}}};\n"
        f"#define BANK (s->bank & {program.banks - 1})\n"
        "#define LABEL_AT(here) ((here & 0xF000) == segments[BANK] ? labels[BANK][here & 0xFFF] : 0)\n"
    )
    flat = f"#define FLAT_START {program.start}u\n#define FLAT_SPAN {program.end - program.start}u\n"
    only = f"#define CARTRIDGE_KIND {KINDS.index(kind)}\n#define CARTRIDGE_SUM 0x{_checksum(rom):016X}u\n"
    return {"core.c": _core(flat + only), "labels.inc": labels, "blocks.inc": "\n".join(blocks) + "\n"}


def translated(name: str, rom: bytes) -> ctypes.CDLL:
    """Return a core with a cartridge translated, compiled now or on an earlier day.

    Parameters
    ----------
    name : str
        The game's id.
    rom : bytes
        Its cartridge. That of a kind not among `BANKS` is interpreted.

    Raises
    ------
    NoCore
        If there is no compiler, or compiling fails.
    """
    made = translated_unless_busy(name, rom, wait=True)
    assert made is not None
    return made


def translated_unless_busy(name: str, rom: bytes, *, wait: bool = False) -> ctypes.CDLL | None:
    """Return what `translated` does, None at once where another process translates the same, unless it is to wait."""
    kind = _kind(name)
    if kind not in BANKS:
        return core()
    return library_unless_busy(_parts(name, rom), lambda: translation(rom, kind, _seen(name, rom)), FLAGS, wait=wait)


def cached(name: str, rom: bytes) -> ctypes.CDLL | None:
    """Return what `translated` compiled on an earlier day, None if it did not; never compile."""
    return kept(_parts(name, rom), FLAGS) if _kind(name) in BANKS else None


def _kind(name: str) -> str:
    kind: str = game(name).facts["cartridge"]
    return kind


def _parts(name: str, rom: bytes) -> tuple[str, ...]:
    return version(), _own_version(), name, hashlib.sha256(rom).hexdigest()


@functools.cache
def _own_version() -> str:
    """Return a checksum of what makes translations."""
    package = files("arcademark.console")
    text = native("translated.c") + "".join((package / name).read_text("utf-8") for name in _MAKERS)
    return hashlib.sha256(text.encode()).hexdigest()


def _tracer() -> dict[str, str]:
    """Return the files of a core that translates nothing and notes where programs jump to."""
    head = "#define TRACED\n#define FLAT_START 0u\n#define FLAT_SPAN 0u\n"
    return {"core.c": _core(head), "labels.inc": "#define LABEL_AT(here) NULL\n", "blocks.inc": ""}


def _seen(name: str, rom: bytes) -> Iterator[Place]:
    """Play random actions and return the banks and addresses that the program jumps to."""
    tracer = library((version(), _own_version()), _tracer, (*FLAGS, "-O1"))
    noted = ctypes.create_string_buffer(4 * 4096)
    tracer.console_trace(noted)
    try:
        machine = Machine(name, rom, chosen=tracer)
        actions = np.repeat(np.random.default_rng(0).integers(18, size=SEEN_FRAMES // HELD), HELD).astype(np.uint8)
        for part in np.split(actions, 10):
            machine.play(part.tobytes(), 0)
            if machine.game_over():
                machine.reset(machine.mode, 0)
    finally:
        tracer.console_trace(None)
    for at, upper in enumerate(noted.raw):
        if upper:
            yield at >> 12, upper << 12 | at & 0xFFF


def _checksum(rom: bytes) -> int:
    """Return the FNV-1a checksum of a cartridge, as the translated core makes it: 64 bits."""
    total = 0xCBF29CE484222325
    for byte in rom:
        total = (total ^ byte) * 0x100000001B3 & 2**64 - 1
    return total


def _core(facts: str) -> str:
    """Return the core's text, with the interpreter for single instructions and the translation beside it."""
    processor = native("processor.c")
    processor = _replaced(processor, "static void run(Console *k)", "static void interpret(Console *k, int most)")
    processor = _replaced(processor, "budget = MOST_INSTRUCTIONS", "budget = most")
    picture = _replaced(
        native("picture.c"),
        "static void write_picture(",
        "static void write_picture(Console *k, unsigned r, uint8_t value, int later);\n"
        "static inline __attribute__((always_inline)) void write_register(",
    )
    picture += (
        "\nstatic void write_picture(Console *k, unsigned r, uint8_t value, int later)\n"
        "{\n    write_register(k, r, value, later);\n}\n"
    )
    core = _replaced(native("core.c"), '#include "picture.c"', picture)
    core = _replaced(core, '#include "processor.c"', processor + facts + native("translated.c"))
    return "#define console_insert insert_any\n" + core


def _replaced(text: str, old: str, new: str) -> str:
    before, after = text.split(old)
    return before + new + after
