"""Arithmetic expressions over the memory of a game, which define a cartridge's score, lives and end.

``10 * bcd(ram[0x80]) + (ram[0x81] & 0x0f)`` is parsed by a grammar of its own, never evaluated as code::

    number  ram[ADDRESS]  bcd(…)  signed(…)  min(…, …)  max(…, …)  score  lives  (…)
    -   * // %   + -   >>   &   == != < <= > >=   not   and   or        by precedence, highest first, as in Python

Addresses are those of the console's 128 bytes, 0x80 to 0xff. Values are 32-bit integers; comparisons, ``not``, ``and``
and ``or`` are 1 or 0; division by 0 is 0.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

Expression = Any
"""An int, or a list of an operation's name and its operands, as the emulator compiles it."""

MAX_CHARS = 500
"""Maximum number of characters of an expression."""

MAX_DEPTH = 16
"""Maximum nesting of parentheses, functions and signs."""

MAX_VALUES = 32
"""Maximum number of values on the stack during evaluation; the core has 64."""

MAX_NUMBER = 2**31 - 1
FIRST_ADDRESS, LAST_ADDRESS = 0x80, 0xFF

_TOKEN = re.compile(
    r"\s*(?:(0[xX][0-9a-fA-F]+|\d+)|([A-Za-z_]\w*)|(//|>>|==|!=|<=|>=|[-+*%&<>()\[\],])|(\S))", re.ASCII
)
_LEVELS: tuple[Mapping[str, str], ...] = (
    {"or": "or"},
    {"and": "and"},
    {},  # not
    {"==": "eq", "!=": "ne", "<=": "le", ">=": "ge", "<": "lt", ">": "gt"},
    {"&": "band"},
    {">>": "shr"},
    {"+": "add", "-": "sub"},
    {"*": "mul", "//": "div", "%": "mod"},
)
_NOT, _COMPARISON = 2, 3
_FUNCTIONS = {"bcd": ("bcd_of", 1), "signed": ("s8", 1), "min": ("min", 2), "max": ("max", 2)}
NAMES = ("score", "lives")
"""Further names, which some expressions may use."""


def parse(text: str, names: Sequence[str] = ()) -> Expression:
    """Parse an expression, which may contain ``names`` of `NAMES`; a ValueError names the error and its place."""
    if len(text) > MAX_CHARS:
        raise ValueError(f"{len(text):,} characters; expected at most {MAX_CHARS}")
    expression = _Parser(text, names).whole()
    if _waiting(expression) > MAX_VALUES:
        raise ValueError(f"more than {MAX_VALUES} intermediate values; expected fewer parentheses")
    return expression


def _waiting(expression: Expression) -> int:
    """Return the maximum number of values on the stack while an expression is evaluated from left to right."""
    if isinstance(expression, int) or expression[0] in ("ram", "val"):
        return 1
    most = 0
    for place, operand in enumerate(expression[1:]):  # a generator would deepen the recursion of a long sum
        most = max(most, place + _waiting(operand))
    return most


class _Parser:
    """Parser of an expression, from left to right."""

    def __init__(self, text: str, names: Sequence[str]) -> None:
        every = _TOKEN.finditer(text.rstrip())
        self._tokens = [(found[found.lastindex or 0], found.start(found.lastindex or 0)) for found in every]
        self._tokens.append(("", len(text)))
        self._names = names
        self._at = self._depth = 0

    def whole(self) -> Expression:
        expression = self._operations(0)
        if self._next:
            raise self._error("an operator")
        return expression

    @property
    def _next(self) -> str:
        return self._tokens[self._at][0]

    @property
    def _at_number(self) -> bool:
        return self._next.isascii() and self._next[:1].isdecimal()

    def _take(self) -> str:
        self._at += 1
        return self._tokens[self._at - 1][0]

    def _error(self, expected: str) -> ValueError:
        token, place = self._tokens[self._at]
        return ValueError(f"character {place + 1}, {f'{token[:20]!r}' if token else 'its end'}: expected {expected}")

    def _expect(self, token: str) -> None:
        if self._next != token:
            raise self._error(repr(token))
        self._at += 1

    def _within(self, read: Callable[[], Expression]) -> Expression:
        """Parse the next deeper level."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise self._error(f"at most {MAX_DEPTH} parentheses and signs within each other")
        expression = read()
        self._depth -= 1
        return expression

    def _operations(self, level: int) -> Expression:
        """Parse operations of a precedence level and of higher ones, from left to right."""
        if level == len(_LEVELS):
            return self._operand()
        if level == _NOT and self._next == "not":
            self._at += 1
            return ["not", self._within(lambda: self._operations(_NOT))]
        expression = self._operations(level + 1)
        while self._next in _LEVELS[level]:
            operation = _LEVELS[level][self._take()]
            expression = [operation, expression, self._operations(level + 1)]
            if level == _COMPARISON and self._next in _LEVELS[level]:
                raise self._error("'and', as in 0 < lives and lives < 3")
        return expression

    def _operand(self) -> Expression:
        token = self._next
        if token == "-":
            self._at += 1
            return ["neg", self._within(self._operand)]
        if token == "(":
            self._at += 1
            expression = self._within(lambda: self._operations(0))
            self._expect(")")
            return expression
        if self._at_number:
            return self._number()
        if token == "ram":
            return self._byte()
        if token in _FUNCTIONS:
            return self._function()
        if token in self._names:
            self._at += 1
            return ["val", token]
        raise self._error(
            f"a number, {', '.join(('ram[…]', *(f'{name}(…)' for name in _FUNCTIONS), *self._names))} or ("
        )

    def _number(self) -> int:
        token = self._next
        if token[0] == "0" and token[1:].isdecimal():  # octal in C
            raise self._error("a number without a leading 0")
        number = int(token, 16) if token[1:2] in ("x", "X") else int(token)
        if number > MAX_NUMBER:
            raise self._error(f"a number up to {MAX_NUMBER:,}")
        self._at += 1
        return number

    def _byte(self) -> Expression:
        self._at += 1
        self._expect("[")
        if not self._at_number:
            raise self._error("an address, such as 0x80")
        place, address = self._at, self._number()
        if not FIRST_ADDRESS <= address <= LAST_ADDRESS:
            self._at = place
            raise self._error(
                f"an address from {FIRST_ADDRESS:#x} to {LAST_ADDRESS:#x} (byte 0 of getRAM is {FIRST_ADDRESS:#x}; a "
                "cartridge's own memory cannot be read)"
            )
        self._expect("]")
        return ["ram", address]

    def _function(self) -> Expression:
        name, count = _FUNCTIONS[self._take()]
        self._expect("(")
        operands = [self._within(lambda: self._operations(0))]
        for _ in range(count - 1):
            self._expect(",")
            operands.append(self._within(lambda: self._operations(0)))
        self._expect(")")
        return [name, *operands]


# ---- evaluation without the emulator's core


_VALUES: Mapping[str, Callable[..., int]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": lambda a, b: a // b if b else 0,
    "mod": lambda a, b: a % b if b else 0,
    "neg": operator.neg,
    "min": min,
    "max": max,
    "band": operator.and_,
    "shr": lambda a, b: a >> (b & 31),
    **{name: getattr(operator, name) for name in ("eq", "ne", "lt", "le", "gt", "ge")},
    "and": lambda a, b: bool(a and b),
    "or": lambda a, b: bool(a or b),
    "not": operator.not_,
    "s8": lambda a: (a + 128) % 256 - 128,
    "bcd_of": lambda byte: 10 * (byte >> 4 & 15) + (byte & 15),
}


def evaluate(expression: Expression, memory: Sequence[int], values: Mapping[str, int]) -> int:
    """Return an expression's value, equal to that of the emulator's core.

    Parameters
    ----------
    expression : Expression
        Expression that `parse` returned.
    memory : sequence of int
        The console's 128 bytes.
    values : mapping of str to int
        Values of its names.
    """
    if isinstance(expression, int):
        return expression
    operation, *operands = expression
    if operation == "ram":
        return int(memory[operands[0] - FIRST_ADDRESS])
    if operation == "val":
        return values[operands[0]]
    found = []
    for operand in operands:
        found.append(evaluate(operand, memory, values))  # noqa: PERF401
    return wrapped(int(_VALUES[operation](*found)))


def wrapped(value: int) -> int:
    """Return a value as a 32-bit integer, as the emulator's core stores it."""
    return (value + 2**31) % 2**32 - 2**31
