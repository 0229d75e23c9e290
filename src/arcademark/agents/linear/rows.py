"""Sums of rows of weights, as vector instructions.

A loop over the numbers of a row compiles to one instruction a number, since the compiler cannot tell that weights,
gains and values do not overlap. So the loop is written in the compiler's own language (LLVM), with a row as one vector,
which takes half the time. The target's vectors may be of any width.
"""

from __future__ import annotations

from typing import Any

import numba.core.cgutils
import numba.extending
from llvmlite import ir  # type: ignore[import-untyped]
from numba import njit, types

cgutils: Any = numba.core.cgutils
intrinsic: Any = numba.extending.intrinsic

LANES = 18
"""Numbers in a row: the actions of the console's joystick."""

_LINE = 64
"""Bytes that the processor fetches at once."""

_INT64 = ir.IntType(64)
_DOUBLES = ir.VectorType(ir.DoubleType(), LANES)


@intrinsic
def add_rows(_context, weights, features, gains, groups, sign, values):  # type: ignore[no-untyped-def]
    """Add to the weights of features, and sum them up: callable from kernels only; indices are not checked.

    ::

        for feature, group in zip(features, groups):
            weights[feature] += gains[group]
            values += sign * weights[feature]

    `weights`, (F, LANES), and `gains`, (G, LANES), are C-contiguous and of one type; `features` and `groups` are int32;
    `values` is float64, (LANES,).
    """
    return types.void(weights, features, gains, groups, sign, values), _generate


def _generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    weights, features, gains, groups, sign, values = (
        context.make_array(kind)(context, builder, argument) if isinstance(kind, types.Array) else argument
        for kind, argument in zip(signature.args, arguments, strict=True)
    )
    number = signature.args[0].dtype
    size = number.bitwidth // 8
    vector = ir.VectorType(context.get_data_type(number), LANES)
    (count,) = cgutils.unpack_tuple(builder, features.shape, 1)
    total = cgutils.alloca_once_value(builder, ir.Constant(_DOUBLES, [0.0] * LANES))
    with cgutils.for_range(builder, count) as loop:
        row = _row(builder, weights, _load(builder, features, loop.index), vector)
        gain = _row(builder, gains, _load(builder, groups, loop.index), vector)
        weight = builder.fadd(builder.load(row, align=size), builder.load(gain, align=size))
        builder.store(weight, row, align=size)
        wide = builder.fpext(weight, _DOUBLES) if size < 8 else weight
        builder.store(builder.fadd(builder.load(total), wide), total)
    signs = ir.Constant(_DOUBLES, ir.Undefined)
    for lane in range(LANES):
        signs = builder.insert_element(signs, sign, ir.Constant(ir.IntType(32), lane))
    place = builder.bitcast(values.data, _DOUBLES.as_pointer())
    changed = builder.fadd(builder.load(place, align=8), builder.fmul(signs, builder.load(total)))
    builder.store(changed, place, align=8)
    return context.get_dummy_value()


@intrinsic
def expect_row(_context, weights, feature):  # type: ignore[no-untyped-def]
    """Ask for a feature's weights ahead of their use: callable from kernels only; arguments as of `add_rows`."""
    return types.void(weights, feature), _generate_expectation


def _generate_expectation(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    weights = context.make_array(signature.args[0])(context, builder, arguments[0])
    start = builder.gep(weights.data, [builder.mul(builder.zext(arguments[1], _INT64), ir.Constant(_INT64, LANES))])
    byte, flag = ir.IntType(8), ir.IntType(32)
    start = builder.bitcast(start, byte.as_pointer())
    kind = ir.FunctionType(ir.VoidType(), [start.type, flag, flag, flag])
    prefetch = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
    for offset in range(0, LANES * signature.args[0].dtype.bitwidth // 8, _LINE):
        place = builder.gep(start, [ir.Constant(_INT64, offset)])
        builder.call(prefetch, [place, flag(1), flag(3), flag(1)])
    return context.get_dummy_value()


@njit(cache=True)
def read_rows(weights, on, off, values):  # type: ignore[no-untyped-def]
    """Change the values of a state to those of the next, without learning; `on`, `off`: `features.base.Change`."""
    for feature in off:
        for action in range(len(values)):
            values[action] -= weights[feature, action]
    for feature in on:
        for action in range(len(values)):
            values[action] += weights[feature, action]


def _load(builder: Any, array: Any, index: Any) -> Any:
    return builder.zext(builder.load(builder.gep(array.data, [index])), _INT64)


def _row(builder: Any, array: Any, index: Any, vector: Any) -> Any:
    start = builder.gep(array.data, [builder.mul(index, ir.Constant(_INT64, LANES))])
    return builder.bitcast(start, vector.as_pointer())
