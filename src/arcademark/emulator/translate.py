"""A cartridge's program as C, compiled apart from the core, which calls it.

::

    translated(name, rom) ─→ random play that notes jumps ─→ Program: instructions reached from the vectors and from
    there ─→ translation: C, a label a block ─→ compiled, kept in the cache folder ─→ TranslatedCore: calls it

What an instruction does is the interpreter's own text of it (``native/processor.c``), its operand a constant; time is
counted as there. Where the program goes on at an address that was not reached, or in memory, the interpreter plays an
instruction at a time until it comes to a block again (``native/translated.c``).
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import re
from collections.abc import Iterator, Mapping
from importlib.resources import files

import numpy as np

from arcademark.emulator import build
from arcademark.emulator.build import CORE_FLAGS, FLAGS, MAIN, TranslatedCore, kept, library, native, version
from arcademark.emulator.games import GameRules, game
from arcademark.emulator.machine import Machine
from arcademark.emulator.program import BREAK, FLAT, JUMP, JUMP_SUBROUTINE, LEAVE, Instruction, Location, Program
from arcademark.suite.cartridges import KINDS

_MAKERS = ("instructions.py", "program.py", "translate.py")
SEEN_FRAMES, HELD = 4_000, 8
"""Frames of random play that show where programs jump to, and frames that each of its actions is held."""

_TIMERS = 0x284
"""Bits of an address that are set where the timer is read, and those that are clear there."""

_READERS = frozenset({0xAD, 0xAE, 0xAC, 0x2C, 0xCD, 0xEC, 0xCC})
_COMPARERS = frozenset({0xC9, 0xE0, 0xC0, 0x29})
_ROM = {
    "E0": "k->rom[1024 * (s->slice[(at) >> 10 & 3] & 7) + ((at) & 0x3FF)]",
    "FE": "k->rom[((at) & 0x2000 ? 0 : 4096) + ((at) & 0xFFF)]",
}
"""Value at an address of kinds whose blocks do not determine the bank of all that they read."""

_CHIP_STORE = re.compile(r"(cycles \+= \d+); (?:ZERO; WRITE_ZERO\(|ABSOLUTE; WRITE\(ea, )(.*)\);")
_STORES = re.compile(r"\b(WRITE|WRITE_ZERO|MODIFY|PUSH)\b")


# ---- the text


class _Text:
    """The text of a program's blocks, and of the tables that find them."""

    def __init__(self, program: Program) -> None:
        self.program = program
        locations = sorted(program.leaders)
        self._backward = {to for location in locations for to in program.leads(*location) if to <= location}
        ahead: dict[Location, int] = {}
        for location in reversed(locations):
            after = (ahead[to] for to in program.leads(*location) if to > location and to not in self._backward)
            ahead[location] = len(program.block(*location)) + max(after, default=0)
        self.most = max(ahead.values(), default=0) + 1
        """More instructions than are done anywhere before those left to the frame are looked at."""

    def blocks(self) -> Iterator[str]:
        """Write all blocks."""
        bank_before = None
        for location in sorted(self.program.leaders):
            if location[0] != bank_before:
                bank_before = location[0]
                yield f"#undef IN_BANK\n#define IN_BANK(here) (BANK(here) == {location[0]})"
                if self.program.kind not in _ROM:
                    yield f"#undef ROM\n#define ROM(at) k->rom[{4096 * location[0]} + ((at) & 0xFFF)]"
            yield from self._block(*location)

    def tables(self) -> str:
        """Write how the block at an address is found."""
        program, size = self.program, self.program.bank_size
        named = {bank: ["0"] * size for bank in range(program.banks)}
        addresses = {bank: ["0"] * size for bank in range(program.banks)}
        for bank, address in program.entries | self._backward:
            named[bank][address % size] = f"&&{label(bank, address)}"
            addresses[bank][address % size] = str(address)
        rows, numbers = (",\n".join("{" + ",".join(row) + "}" for row in of.values()) for of in (named, addresses))
        number = {"E0": "s->slice[(here) >> 10 & 3] & 7", "FE": "!((here) & 0x2000)"}
        return (
            f"static const void *const labels[{program.banks}][{size}] = {{{rows}}};\n"
            f"static const uint16_t addresses[{program.banks}][{size}] = {{{numbers}}};\n"
            f"#define BANK(here) ({number.get(program.kind, f's->bank & {program.banks - 1}')})\n"
            f"#define LABEL_AT(here) (addresses[BANK(here)][(here) & 0x{size - 1:X}] == (here) ? "
            f"labels[BANK(here)][(here) & 0x{size - 1:X}] : 0)\n"
        )

    def _go(self, bank: int, address: int, goal: int) -> str:
        to = self.program.bank_of(bank, address, goal)
        if to is not None and self.program.known(to, goal):
            return f"goto {label(to, goal)};"
        return f"here = 0x{goal:04X}; goto {'dispatch' if to is None else 'interpreted'};"

    def _block(self, bank: int, address: int) -> Iterator[str]:
        program, parts = self.program, self.program.block(bank, address)
        begin = "BLOCK_AT_END" if (bank, address) in self._backward else "BLOCK"
        yield f"{begin}({label(bank, address)}, 0x{address:04X}, {len(parts)})"
        at = address
        for number, instruction in enumerate(parts):
            if instruction.condition:
                yield f"cycles += 2; bus = 0x{instruction.operand:02X};"
                going = _passing(parts, address) + self._go(bank, at, instruction.target)
                yield f"if ({instruction.condition}) {{ cycles += {1 + _crossing(instruction)}; {going} }}"
            else:
                yield from self._instruction(bank, at, instruction, len(parts) - 1 - number)
            before, at = at, instruction.after
        if parts[-1].condition or not program.ends_block(parts[-1]):
            yield self._go(bank, before, parts[-1].after)

    def _instruction(self, bank: int, at: int, instruction: Instruction, left: int) -> Iterator[str]:
        program, text, code, operand = self.program, instruction.text, instruction.code, instruction.operand
        after = "here" if code in LEAVE or code == JUMP_SUBROUTINE else f"0x{instruction.after & 0xFFFF:04X}"
        if code in (JUMP_SUBROUTINE, BREAK):
            yield f"here = 0x{instruction.after - (code != BREAK):04X};"
        if (store := _CHIP_STORE.fullmatch(text)) and not operand & 0x1080:
            kind = "WAIT_LINE(" if operand & 0x3F == 2 else f"STORE_CHIP(0x{operand & 0x3F:02X}, "
            yield f"{store[1]}; {kind}{store[2]}, {after})"
        elif _STORES.search(text):
            yield f"DO_STORING(0x{operand:X}, {text}, {after})"
        else:
            yield f"DO_WITH(0x{operand:X}, {text})"
        if code in (JUMP, JUMP_SUBROUTINE):
            yield self._go(bank, at, operand)
        elif code in LEAVE:
            yield "goto dispatch;"
        elif program.switch(instruction) is not None:
            yield f"here = {after}; goto dispatch;"
        elif program.may_switch(instruction):
            yield f"BANK_CHECK({after}, {left})"


def label(bank: int, address: int) -> str:
    """Return the name of a block."""
    return f"L{bank}_{address:04X}"


def _passing(parts: list[Instruction], address: int) -> str:
    """Return what passes over rounds of a block that only waits for the timer, "" for any other."""
    first, last = parts[0], parts[-1]
    if len(parts) not in (2, 3) or last.target != address or first.code not in _READERS:
        return ""
    if first.operand & 0x1284 != _TIMERS or any(part.code not in _COMPARERS for part in parts[1:-1]):
        return ""
    time = 4 + 2 * (len(parts) - 2) + 3 + _crossing(last)
    return f"PASS_ROUNDS({first.operand & 1}, {time}, {len(parts)}); "


def _crossing(branch: Instruction) -> int:
    return int((branch.after ^ branch.target) & 0xFF00 != 0)


def translation(rom: bytes, kind: str, seen: Mapping[Location, bool] | None = None) -> dict[str, str]:
    """Return the files that, with some of the core's, make a translation.

    Parameters
    ----------
    rom : bytes
        The cartridge.
    kind : str
        One of `arcademark.suite.cartridges.KINDS`.
    seen : mapping, optional
        Locations that the program was seen to jump to, and whether no fixed way led there.
    """
    text = _Text(Program(rom, kind, seen or {}))
    start, end = FLAT[kind]
    facts = (
        f"#define FLAT_START {start}u\n#define FLAT_SPAN {end - start}u\n#define LONGEST {text.most}\n"
        f"#define ROM(at) {_ROM.get(kind)}\n"
        f"#define CARTRIDGE_KIND {KINDS.index(kind)}\n#define CARTRIDGE_SUM 0x{_checksum(rom):016X}u\n"
    )
    blocks = "".join(f"{line}\n" for line in text.blocks())
    return {MAIN: facts + native("translated.c"), "labels.inc": text.tables(), "blocks.inc": blocks}


def translated(name: str | GameRules, rom: bytes, *, wait: bool = True) -> TranslatedCore | None:
    """Return the core with a cartridge translated, compiled now or on an earlier day.

    Parameters
    ----------
    name : str or GameRules
        The game's id, or its facts.
    rom : bytes
        Its cartridge.
    wait : bool
        Whether to wait where another process translates the same; else the result is None then.

    Raises
    ------
    NoCore
        If there is no compiler, or compiling fails.
    """
    compiled = kept(_parts(name, rom), CORE_FLAGS)
    if compiled is None:
        kind, seen = str(game(name).facts["cartridge"]), _seen(name, rom)
        compiled = library(_parts(name, rom), lambda: translation(rom, kind, seen), CORE_FLAGS, wait=wait)
    return None if compiled is None else TranslatedCore(compiled)


def cached(name: str | GameRules, rom: bytes) -> TranslatedCore | None:
    """Return what `translated` compiled on an earlier day, None if it did not; never compile."""
    compiled = kept(_parts(name, rom), CORE_FLAGS)
    return None if compiled is None else TranslatedCore(compiled)


def played(name: str | GameRules, rom: bytes, frames: int) -> int:
    """Count frames that the interpreter played of a cartridge; return those of all processes, as far as is known."""
    return build.played(_parts(name, rom), CORE_FLAGS, frames)


def _parts(name: str | GameRules, rom: bytes) -> tuple[str, ...]:
    rules = game(name)
    own = () if rules.name == rules.known_as else (str(rules.facts["cartridge"]),)  # may be wired in other ways
    return version(), translation_version(), rules.name, hashlib.sha256(rom).hexdigest(), *own


@functools.cache
def translation_version() -> str:
    """Return a checksum of what makes translations."""
    package = files("arcademark.emulator")
    text = native("translated.c") + "".join((package / name).read_text("utf-8") for name in _MAKERS)
    return hashlib.sha256(text.encode()).hexdigest()


def _tracer() -> dict[str, str]:
    """Return the files of a translation of nothing, of any cartridge, that notes where programs jump to."""
    head = (
        "#define TRACED\n#define FLAT_START 0u\n#define FLAT_SPAN 0u\n#define LONGEST 1\n#define ROM(at) 0\n"
        "#define CARTRIDGE_KIND -1\n#define CARTRIDGE_SUM 0\n"
    )
    return {MAIN: head + native("translated.c"), "labels.inc": "#define LABEL_AT(here) NULL\n", "blocks.inc": ""}


@functools.cache
def _seen(name: str | GameRules, rom: bytes) -> dict[Location, bool]:
    """Play random actions and return the locations that the program jumps to, and whether no fixed way led there."""
    tracer = library((version(), translation_version()), _tracer, (*FLAGS, "-O1"))
    assert tracer is not None
    noted = ctypes.create_string_buffer(8 * 4096)
    tracer.console_trace(noted)
    try:
        machine = Machine(name, rom, chosen=TranslatedCore(tracer))
        actions = np.repeat(np.random.default_rng(0).integers(18, size=SEEN_FRAMES // HELD), HELD).astype(np.uint8)
        for part in np.split(actions, 10):
            machine.play(part.tobytes(), 0)
            if machine.game_over():
                machine.reset(machine.mode, 0)
    finally:
        tracer.console_trace(None)
    return {(at >> 12, (bits & 15) << 12 | at & 0xFFF): bits > 15 for at, bits in enumerate(noted.raw) if bits}


def _checksum(rom: bytes) -> int:
    """Return the FNV-1a checksum of a cartridge, as the core makes it: 64 bits."""
    total = 0xCBF29CE484222325
    for byte in rom:
        total = (total ^ byte) * 0x100000001B3 & 2**64 - 1
    return total
