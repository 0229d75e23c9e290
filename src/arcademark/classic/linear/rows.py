"""Sums of rows of weights, as vector instructions.

A loop over the numbers of a row compiles to one instruction per number, since the compiler cannot determine that
weights, gains and values do not overlap. The loop is therefore written in LLVM's intermediate language, with a row as
the vectors of `PARTS`; the target's vectors may have any width. A row as one vector of 18 numbers took 2.7 times as
long, as the compiler split it and joined it again.
"""

from __future__ import annotations

from typing import Any

from arcademark.compiled import cgutils, intrinsic, ir, njit, types

LANES = 18
"""Numbers in a row: the actions of the console's joystick."""

PARTS = ((0, 16), (16, 2))
"""The first number of each vector of a row, and its length, a power of two."""

_LINE = 64
"""Bytes of a cache line."""

_INT64 = ir.IntType(64)


@intrinsic
def add_rows(_context, weights, features, gains, groups, total):  # type: ignore[no-untyped-def]
    """Add to the weights of features, and sum them; callable only from kernels, indices are not checked.

    ::

        for feature, group in zip(features, groups):
            weights[feature] += gains[group]
            total += weights[feature]

    `weights`, (F, LANES), and `gains`, (G, LANES), are C-contiguous and of the same type; `features` and `groups` are
    int32; `total` is float64, (LANES,).
    """
    return types.void(weights, features, gains, groups, total), _generate


def _generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    weights, features, gains, groups, total = (
        context.make_array(kind)(context, builder, argument) if isinstance(kind, types.Array) else argument
        for kind, argument in zip(signature.args, arguments, strict=True)
    )
    number = signature.args[0].dtype
    size = number.bitwidth // 8
    one = context.get_data_type(number)
    (count,) = cgutils.unpack_tuple(builder, features.shape, 1)
    parts = []
    for first, lanes in PARTS:
        wide = ir.VectorType(ir.DoubleType(), lanes)
        place = _row(builder, total, ir.Constant(_INT64, 0), first, wide)
        parts.append((first, wide, place, cgutils.alloca_once_value(builder, builder.load(place, align=8))))
    with cgutils.for_range(builder, count) as loop:
        feature, group = _load(builder, features, loop.index), _load(builder, groups, loop.index)
        for first, wide, _, part in parts:
            vector = ir.VectorType(one, wide.count)
            row = _row(builder, weights, feature, first, vector)
            gain = _row(builder, gains, group, first, vector)
            weight = builder.fadd(builder.load(row, align=size), builder.load(gain, align=size))
            builder.store(weight, row, align=size)
            weight = builder.fpext(weight, wide) if size < 8 else weight
            builder.store(builder.fadd(builder.load(part), weight), part)
    for _, _, place, part in parts:
        builder.store(builder.load(part), place, align=8)
    return context.get_dummy_value()


@intrinsic
def expect_row(_context, array, row):  # type: ignore[no-untyped-def]
    """Prefetch the first `LANES` numbers of a row of a C-contiguous array; callable only from kernels."""
    return types.void(array, row), _generate_expectation


def _generate_expectation(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    array = context.make_array(signature.args[0])(context, builder, arguments[0])
    _, columns = cgutils.unpack_tuple(builder, array.shape, 2)
    start = builder.gep(array.data, [builder.mul(builder.zext(arguments[1], _INT64), columns)])
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
    """Change the values of a state to those of the next, without learning; `on` and `off`: `features.base.Change`."""
    for feature in off:
        for action in range(len(values)):
            values[action] -= weights[feature, action]
    for feature in on:
        for action in range(len(values)):
            values[action] += weights[feature, action]


def _load(builder: Any, array: Any, index: Any) -> Any:
    return builder.zext(builder.load(builder.gep(array.data, [index])), _INT64)


def _row(builder: Any, array: Any, index: Any, first: int, vector: Any) -> Any:
    place = builder.add(builder.mul(index, ir.Constant(_INT64, LANES)), ir.Constant(_INT64, first))
    start = builder.gep(array.data, [place])
    return builder.bitcast(start, vector.as_pointer())
