"""What of a cartridge's program can be reached, found without running it.

::

    Program(rom, kind, seen) ─→ instructions by location, and the locations at which blocks of them begin

From the vectors, and from locations that the program was seen to jump to, every branch, jump, subroutine and switch of
banks at a fixed address is followed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from arcademark.emulator.instructions import operations

BANKS = {"2K": 1, "4K": 1, "F8": 2, "F6": 4, "F8SC": 2, "F6SC": 4, "E0": 8, "FE": 2, "DPC": 2}
"""Banks of 4 KB of each kind of cartridge; of E0, slices of 1 KB."""

FLAT = {"2K": (0, 0x1000), "4K": (0, 0x1000), "F8": (0, 0xFF8), "F6": (0, 0xFF6), "E0": (0, 0xFE0), "FE": (0, 0x1000)}
FLAT |= {"F8SC": (0x100, 0xFF8), "F6SC": (0x100, 0xFF6), "DPC": (0x80, 0xFC0)}
"""Where nothing but the cartridge's bytes is read, as in the core's `map_banks`."""

JUMP, JUMP_INDIRECT, JUMP_SUBROUTINE, BREAK = 0x4C, 0x6C, 0x20, 0x00
LEAVE = frozenset({JUMP_INDIRECT, 0x60, 0x40, BREAK})
"""Instructions after which the machine's state decides where the program goes on."""

_FIRST_BANK = {"F8": 1, "F8SC": 1, "E0": 7, "DPC": 1}
_VECTOR, _BREAK_VECTOR = 0xFFC, 0xFFE
_LAST_SLICE = 7

Location = tuple[int, int]
"""A bank and an address."""


@dataclass(frozen=True)
class Instruction:
    """One in the cartridge: its opcode, its operand, and the address after it."""

    code: int
    operand: int
    after: int

    @property
    def text(self) -> str:
        """What it does, in C."""
        return operations()[self.code].text

    @property
    def condition(self) -> str:
        """When it branches, in C; "" if it is no branch."""
        return operations()[self.code].condition

    @property
    def target(self) -> int:
        """Where it leads, if it is a branch."""
        return self.after + (self.operand ^ 0x80) - 0x80 & 0xFFFF


class Program:
    """What of a cartridge can be reached from its vectors.

    Attributes
    ----------
    instructions : dict
        By location.
    leaders : set
        Locations at which blocks begin.
    entries : set
        Those among them to which other ways lead than jumps to a fixed address.
    """

    def __init__(self, rom: bytes, kind: str, seen: Mapping[Location, bool]) -> None:
        self.kind, self.banks = kind, BANKS[kind]
        self.start, self.end = FLAT[kind]
        self.bank_size = 1024 if kind == "E0" else 4096
        size = 2048 if kind == "2K" else self.bank_size * self.banks
        whole = (rom + bytes(size))[:size]
        self.rom = whole * 2 if kind == "2K" else whole
        self.instructions: dict[Location, Instruction] = {}
        self.leaders: set[Location] = set()
        self.entries: set[Location] = set()
        self._addresses = {(bank, self._at(bank, address)): address for bank, address in seen}
        self._waiting: list[Location] = []
        first = _FIRST_BANK.get(kind, 0)
        vectors = [(bank, self._word(bank, _VECTOR)) for bank in range(self.banks)]
        begin = vectors.pop(first)
        if kind in ("E0", "FE"):
            begin = (begin[1] >> 10 & 3) + 4 if kind == "E0" else self.bank_of(0, 0, begin[1]) or 0, begin[1]
            vectors = []
        for bank, address in [begin, *seen, *vectors]:
            self._lead(bank, address, entry=seen.get((bank, address), True))
            self._walk()

    def known(self, bank: int | None, address: int) -> bool:
        """Whether a block begins there."""
        return (bank, address) in self.leaders

    def bank_of(self, bank: int, address: int, goal: int) -> int | None:
        """Return which bank a jump from a location to an address ends in, None if the machine's state decides."""
        if self.kind == "FE":
            return 0 if goal & 0x2000 else 1
        if self.kind != "E0" or (address ^ goal) & 0xC00 == 0:
            return bank
        return _LAST_SLICE if goal & 0xC00 == 0xC00 else None

    def _word(self, bank: int, offset: int) -> int:
        at = self._at(bank, offset)
        return int.from_bytes(self.rom[at : at + 2], "little")

    def _at(self, bank: int, address: int) -> int:
        return self.bank_size * bank + address % self.bank_size

    def _lead(self, bank: int | None, address: int, *, entry: bool = False) -> None:
        address &= 0xFFFF
        if bank is None or not address & 0x1000 or not self._decode(bank, address):
            return
        if self._addresses.setdefault((bank, self._at(bank, address)), address) != address:
            return  # the same bytes run at another address too
        if entry:
            self.entries.add((bank, address))
        if (bank, address) not in self.leaders:
            self.leaders.add((bank, address))
            self._waiting.append((bank, address))

    def _decode(self, bank: int, address: int) -> Instruction | None:
        offset, at = address & 0xFFF, self._at(bank, address)
        operation = operations().get(self.rom[at])
        if operation is None or offset < self.start or offset + operation.bytes >= self.end:
            return None
        if address % self.bank_size + operation.bytes + 1 >= self.bank_size:
            return None  # what follows it may be of another bank
        operand = self.rom[at + 1 : at + 1 + operation.bytes]
        return Instruction(self.rom[at], int.from_bytes(operand, "little"), address + 1 + operation.bytes)

    def _walk(self) -> None:
        while self._waiting:
            bank, address = self._waiting.pop()
            while (bank, address) not in self.instructions and (instruction := self._decode(bank, address)):
                self.instructions[bank, address] = instruction
                if not self._follow(bank, address, instruction):
                    break
                address = instruction.after

    def _follow(self, bank: int, address: int, instruction: Instruction) -> bool:
        """Note where an instruction leads; return whether the next belongs to its block."""
        if instruction.code in (JUMP, JUMP_SUBROUTINE):
            self._lead(self.bank_of(bank, address, instruction.operand), instruction.operand)
            if instruction.code == JUMP_SUBROUTINE:
                self._lead(bank, instruction.after, entry=True)
        elif instruction.code == BREAK:
            vector = self._word(self.bank_of(bank, address, 0xFFFF) or bank, _BREAK_VECTOR)
            self._lead(self.bank_of(bank, address, vector), vector, entry=True)
            self._lead(bank, instruction.after, entry=True)
        elif instruction.condition:
            self._lead(self.bank_of(bank, address, instruction.target), instruction.target)
            self._lead(bank, instruction.after)
        elif (switched := self.switch(instruction)) is not None:
            self._lead(switched, instruction.after, entry=True)
        elif instruction.code not in LEAVE:
            if self.ends_frame(instruction):
                self._lead(bank, instruction.after, entry=True)
            return True
        return False

    def switch(self, instruction: Instruction) -> int | None:
        """Return the bank of 4 KB that a fixed address selects."""
        least = {"F8": 0xFF8, "F8SC": 0xFF8, "DPC": 0xFF8, "F6": 0xFF6, "F6SC": 0xFF6}.get(self.kind)
        if least is None or "ABSOLUTE" not in instruction.text or instruction.code in (JUMP, JUMP_INDIRECT):
            return None
        selected = (instruction.operand & 0xFFF) - least
        return selected if instruction.operand & 0x1000 and 0 <= selected < self.banks else None

    def may_switch(self, instruction: Instruction) -> bool:
        """Whether an access of an instruction may select another bank."""
        if self.banks == 1 or self.kind == "FE":
            return False
        span = 256 if "INDEXED" in instruction.text else 1 if "ABSOLUTE" in instruction.text else 0
        touched = range(instruction.operand, instruction.operand + span)
        return "POINTER" in instruction.text or any(at & 0x1000 and at & 0xFFF >= self.end for at in touched)

    @staticmethod
    def ends_frame(instruction: Instruction) -> bool:
        """Whether it stores to the register whose stores end frames."""
        fixed = "ZERO;" in instruction.text or "ABSOLUTE" in instruction.text
        return fixed and "WRITE" in instruction.text and instruction.operand & 0x10BF == 0

    def ends_block(self, instruction: Instruction) -> bool:
        """Whether no instruction that follows it belongs to its block."""
        ends = instruction.code in LEAVE or instruction.code in (JUMP, JUMP_SUBROUTINE) or bool(instruction.condition)
        return ends or self.switch(instruction) is not None

    def block(self, bank: int, address: int) -> list[Instruction]:
        """Return the instructions of a block."""
        parts: list[Instruction] = []
        at = address
        while (instruction := self.instructions.get((bank, at))) and (not parts or not self.known(bank, at)):
            parts.append(instruction)
            at = instruction.after
            if self.ends_block(instruction):
                break
        return parts

    def leads(self, bank: int, address: int) -> list[Location]:
        """Return where a block leads by fixed ways, as far as blocks begin there."""
        last = self.block(bank, address)[-1]
        to = [last.after] if last.condition or not self.ends_block(last) else []
        to += [last.target] if last.condition else []
        to += [last.operand] if last.code in (JUMP, JUMP_SUBROUTINE) else []
        locations = ((self.bank_of(bank, address, goal), goal) for goal in to)
        return [(to_bank, goal) for to_bank, goal in locations if to_bank is not None and self.known(to_bank, goal)]
