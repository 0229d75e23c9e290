"""Facts of the games: cartridges, controllers, and how memory encodes reward, lives and end.

``data/games.json`` contains one object per game; ``data/SOURCES.md`` explains its origin and fields. Rules are data,
compiled here into programs for the core: an expression is a number, or a list of an operation and its operands.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from types import MappingProxyType
from typing import Any

from arcademark.errors import UnknownNameError
from arcademark.suite.cartridges import Cartridge
from arcademark.suite.tables import read_text

NEVER = 0x7FFFFFFF
"""Marks a register that a reset does not change."""

REGISTERS = ("score", "lives", "reward", "terminal")
"""Values that the rules store each frame, before the game's own."""

Expression = Any
"""An int, or a list of an operation's name and its operands."""

_OPERATIONS = (
    *("end", "number", "ram", "cart", "bcd", "old", "mode", "temporary", "keep_temporary", "store", "add", "sub"),
    *("mul", "div", "mod", "neg", "min", "max", "band", "shr", "s8", "eq", "ne", "lt", "le", "gt", "ge", "and", "or"),
    *("not", "jump", "jump_if_not", "bcd_of"),
)
"""The core's operations, by number."""

_CODE = {name: number for number, name in enumerate(_OPERATIONS)}
_LATEST = frozenset({"val", "reward", "terminal", "delta"})
"""Operations that name a value of this frame."""


@dataclass(frozen=True, eq=False)
class GameRules:
    """A game's facts in the form that the core needs.

    Parameters
    ----------
    name : str
        Its id.
    facts : mapping
        Its object in the data file.
    program : tuple of int
        The rules of a frame.
    at_reset : tuple of int
        Values of the rules' registers after a reset.
    known_as : str
        The id of the game as which ale-py knows the cartridge; "" if it does not know it.
    """

    name: str
    facts: Mapping[str, Any]
    program: tuple[int, ...]
    at_reset: tuple[int, ...]
    known_as: str


@functools.cache
def _facts() -> dict[str, dict[str, Any]]:
    facts: dict[str, dict[str, Any]] = json.loads(read_text("games.json", files("arcademark.emulator") / "data"))
    return facts


def names() -> tuple[str, ...]:
    """Return the ids of all games."""
    return tuple(_facts())


def game(name: str | GameRules) -> GameRules:
    """Return a game's facts, given its id; return facts unchanged.

    Raises
    ------
    UnknownNameError
        If there is no such game.
    """
    return name if isinstance(name, GameRules) else _game(name)


@functools.cache
def _game(name: str) -> GameRules:
    if name not in _facts():
        raise UnknownNameError("game", name, _facts())
    return _rules(name, _facts()[name], name)


def _rules(name: str, facts: Mapping[str, Any], known_as: str) -> GameRules:
    keep = facts.get("keep", {})
    at_reset = [facts.get("score", {}).get("at_reset", 0), facts["lives"]["at_reset"], 0, 0]
    at_reset += [NEVER if entry["at_reset"] == "keep" else entry["at_reset"] for entry in keep.values()]
    return GameRules(name, facts, _program(facts), tuple(at_reset), known_as)


_UNKNOWN = MappingProxyType({"first_line": 34, "height": 210, "bars": True, "boot_difficulty": 0, "mode": 0})
"""Facts assumed for a cartridge that ale-py does not know: those of most that it knows."""

_PADDLES = MappingProxyType({"range": [27450, 790196], "both_ports": False, "swapped": False})

_OF_CARTRIDGES = (
    *("cartridge", "first_line", "height", "bars", "boot_difficulty", "mode", "select", "paddles", "swapped_ports"),
    *("starting_actions", "illegal"),
)
"""Facts of a cartridge that do not depend on the meaning of its memory."""


@functools.cache
def _by_checksum() -> dict[str, str]:
    return {facts["rom_md5"]: name for name, facts in _facts().items()}


def known_as(rom: bytes) -> str:
    """Return the id of the game as which ale-py knows a ROM; "" if it does not know it."""
    return _by_checksum().get(hashlib.md5(rom, usedforsecurity=False).hexdigest(), "")


@functools.lru_cache(maxsize=64)
def own_game(name: str, cartridge: Cartridge, rom: bytes) -> GameRules:
    """Return the facts of a user's own game.

    If ale-py knows the ROM, its facts supply what the description omits, so that both emulators play alike.
    ArcadeMarkError: the description needs a kind.
    """
    known = known_as(rom)
    base: Mapping[str, Any] = _facts()[known] if known else _UNKNOWN
    facts = {key: value for key, value in base.items() if key in _OF_CARTRIDGES}
    if cartridge.kind or not known:
        facts["cartridge"] = cartridge.wiring(rom, name)
    if cartridge.rows is not None:
        facts["height"] = cartridge.rows
    if cartridge.controller is not None:
        facts["paddles"] = _PADDLES if cartridge.controller == "paddles" else {}
    if cartridge.starting_actions is not None:
        facts["starting_actions"] = cartridge.starting_actions
    if "select" in facts:  # registers belong to the known game's rules
        facts["select"] = {key: value for key, value in facts["select"].items() if not key.startswith("set_register")}
    expressions = cartridge.expressions
    wraps = {"if_negative_add": cartridge.score_wraps_at} if cartridge.score_wraps_at else {}
    rules = {
        "let": [("lives", expressions["lives"])],
        "score": {"value": expressions["score"], "at_reset": 0},
        "reward": {"kind": "delta", **wraps},
        "terminal": {"when": expressions["end"], "latched": False},
        "lives": {"value": ["val", "lives"], "zero_at_end": False, "at_reset": 0},
    }
    return _rules(name, facts | rules, known)


def condition(facts: Mapping[str, Any], expression: Expression) -> tuple[int, ...]:
    """Return a program that leaves an expression's value on the stack, for use between frames."""
    compiler = _Compiler({}, [*REGISTERS, *facts.get("keep", {})])
    compiler.emit(expression)
    return tuple(compiler.code)


def _program(facts: Mapping[str, Any]) -> tuple[int, ...]:
    """Compile the rules of a frame."""
    keep = facts.get("keep", {})
    compiler = _Compiler(_values(facts), [*REGISTERS, *keep])
    score = facts.get("score")
    stored = [
        score.get("kept", ["val", "score"]) if score else 0,
        facts["lives"]["value"],
        ["reward"],
        ["terminal"],
        *(entry["next"] for entry in keep.values()),
    ]
    for expression in stored:
        compiler.prepare(expression)
    for expression in stored:
        compiler.emit(expression)
    for register in reversed(range(len(stored))):
        compiler.add("store", register)
    return tuple(compiler.code)


def _values(facts: Mapping[str, Any]) -> dict[str, Expression]:
    """Return the named values of a frame, as expressions."""
    values: dict[str, Expression] = dict(facts.get("let", []))
    if "score" in facts:
        values["score"] = facts["score"]["value"]
        values["delta"] = ["sub", ["val", "score"], ["old", "score"]]
    terminal = facts["terminal"]["when"]
    values["terminal"] = ["or", ["old", "terminal"], terminal] if facts["terminal"]["latched"] else terminal
    rule = facts["reward"]
    reward = {"delta": ["delta"], "fall": ["sub", ["old", "score"], ["val", "score"]]}.get(
        rule["kind"], rule.get("value")
    )
    if "if_negative_add" in rule:
        reward = ["if", ["lt", reward, 0], ["add", reward, rule["if_negative_add"]], reward]
    if "min" in rule:
        reward = ["max", reward, rule["min"]]
    if "max" in rule:
        reward = ["min", reward, rule["max"]]
    if "zero_when" in rule:
        reward = ["if", rule["zero_when"], 0, reward]
    if "hold_when" in rule:
        reward = ["if", rule["hold_when"], ["old", "reward"], reward]
    values["reward"] = reward
    return values


class _Compiler:
    """Compiler of a program, which evaluates each named value once, before the expressions that need it."""

    def __init__(self, values: Mapping[str, Expression], registers: list[str]) -> None:
        self.code: list[int] = []
        self._values = values
        self._registers = {name: number for number, name in enumerate(registers)}
        self._kept: dict[str, int] = {}
        self._temporaries = 0

    def add(self, operation: str, *operand: int) -> None:
        """Append an operation."""
        self.code += [_CODE[operation], *operand]

    def prepare(self, expression: Expression) -> None:
        """Evaluate the named values that an expression needs, so that none is first evaluated within a condition."""
        for name in _named(expression):
            if name not in self._kept:
                self.prepare(self._values[name])
                self.emit(self._values[name])
                self._kept[name] = self._keep()

    def emit(self, expression: Expression, it: tuple[str, int] | None = None) -> None:
        """Append operations that leave an expression's value on the stack; `it` is the operation for "it"."""
        if isinstance(expression, int):
            self.add("number", expression)
            return
        operation, *operands = expression
        if operation in ("ram", "cart"):
            self.add(operation, operands[0])
        elif operation in ("bcd", "bcd_of"):
            self._add_up(operation, operands, it)
        elif operation in _LATEST:
            self.add("temporary", self._kept[operands[0] if operands else operation])
        elif operation == "old":
            self.add("old", self._registers[operands[0]])
        elif operation == "mode":
            self.add("mode")
        elif operation == "it":
            assert it is not None
            self.add(*it)
        elif operation == "sum":
            first, last, each = operands
            for address in range(first, last + 1):
                self.emit(each, ("ram", address))
                if address > first:
                    self.add("add")
        elif operation == "if":
            self.emit(operands[0], it)
            self._choose(lambda: self.emit(operands[1], it), lambda: self.emit(operands[2], it))
        elif operation == "lut":
            self._look_up(operands, it)
        else:
            for count, operand in enumerate(operands):
                self.emit(operand, it)
                if count or len(operands) == 1:
                    self.add(operation)

    def _add_up(self, operation: str, operands: list[Expression], it: tuple[str, int] | None) -> None:
        """Add up decimal bytes, the lowest first: those at addresses, or values of expressions."""
        for number, operand in enumerate(operands):
            if operation == "bcd":
                self.add("bcd", operand)
            else:
                self.emit(operand, it)
                self.add("bcd_of")
            if number:
                self.add("number", 100**number)
                self.add("mul")
                self.add("add")

    def _look_up(self, operands: list[Expression], it: tuple[str, int] | None) -> None:
        expression, table, default = operands
        self.emit(expression, it)
        slot = self._keep()
        self._entries(list(table.items()), default, slot)
        self._temporaries -= 1

    def _entries(self, entries: list[tuple[str, int]], default: Expression, slot: int) -> None:
        if not entries:
            self.emit(default, ("temporary", slot))
            return
        (key, value), *others = entries
        self.add("temporary", slot)
        self.add("number", int(key))
        self.add("eq")
        self._choose(lambda: self.emit(value), lambda: self._entries(others, default, slot))

    def _choose(self, first: Callable[[], None], second: Callable[[], None]) -> None:
        """Append two branches; the first is taken if the value on top of the stack is not 0."""
        self.add("jump_if_not", 0)
        from_condition = len(self.code)
        first()
        self.add("jump", 0)
        self.code[from_condition - 1] = len(self.code) - from_condition
        from_first = len(self.code)
        second()
        self.code[from_first - 1] = len(self.code) - from_first

    def _keep(self) -> int:
        self.add("keep_temporary", self._temporaries)
        self._temporaries += 1
        return self._temporaries - 1


def _named(expression: Expression) -> Iterator[str]:
    """Yield the named values that an expression needs."""
    if isinstance(expression, list):
        if expression and expression[0] in _LATEST:
            yield expression[1] if expression[0] == "val" else expression[0]
        else:
            for part in expression:
                yield from _named(part)
