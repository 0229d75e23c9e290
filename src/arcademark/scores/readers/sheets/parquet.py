"""Reads tables in Parquet files, after checking their metadata against the limits of reading."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arcademark.errors import ArcadeMarkError
from arcademark.files import MAX_BYTES
from arcademark.scores.readers.base import LARGEST, MAX_CELLS_READ
from arcademark.scores.readers.sheets.sheet import Sheet, bare, checked

_THRIFT = {"thrift_string_size_limit": 2**24, "thrift_container_size_limit": 2**20}
"""Limits of a Parquet file's description of itself: bytes of a text, members of a list."""


def parse_parquet(path: Path, content: bytes) -> Sheet:
    """Parse a Parquet file's content, of text and numbers; its first row is row 1."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise ArcadeMarkError(
            f"{path}: reading Parquet needs pyarrow; pip install '.[readers]', or save the table as CSV"
        ) from None
    try:
        file = pyarrow.parquet.ParquetFile(pyarrow.BufferReader(content), memory_map=False, **_THRIFT)
        _check_size(path, file.metadata)
        texts = [field.name for field in file.schema_arrow if _is_text(field.type)]
        file = pyarrow.parquet.ParquetFile(pyarrow.BufferReader(content), read_dictionary=texts, **_THRIFT)
        table = file.read(use_threads=False)
    except (pyarrow.ArrowException, OSError, ValueError, KeyError, TypeError, OverflowError, MemoryError) as error:
        reason = (str(error) or "too little memory").splitlines()[0]
        raise ArcadeMarkError(f"{path}: not a whole Parquet file ({reason}); write it again") from error
    if not table.num_columns:
        raise ArcadeMarkError(f"{path}: the file is empty; expected columns of scores")
    header = tuple("" if re.fullmatch(r"__index_level_\d+__", name) else bare(name) for name in table.column_names)
    columns = tuple(_cells(path, name, table.column(i)) for i, name in enumerate(header))
    return checked(Sheet(path, header, columns, table.num_rows, lambda row: row + 1), 0)


def _check_size(path: Path, metadata: Any) -> None:
    """Check a Parquet file's metadata against the limits of reading."""
    cells = metadata.num_rows * metadata.num_columns
    groups = [metadata.row_group(at) for at in range(metadata.num_row_groups)]
    unpacked = sum(
        max(0, group.column(at).total_uncompressed_size) for group in groups for at in range(group.num_columns)
    )
    if not 0 <= cells <= MAX_CELLS_READ or unpacked > MAX_BYTES:
        raise ArcadeMarkError(
            f"{path}: holds {cells:,} cells, {unpacked:,} bytes when they are unpacked; expected at most "
            f"{MAX_CELLS_READ:,} and {MAX_BYTES:,}; give a smaller table"
        )


def _is_text(kind: Any) -> bool:
    import pyarrow.types as kinds

    return bool(kinds.is_string(kind) or kinds.is_large_string(kind))


def _cells(path: Path, name: str, column: Any) -> Sequence[str] | NDArray[np.float64]:
    import pyarrow
    import pyarrow.types as kinds

    indexed = kinds.is_dictionary(column.type)
    kind = column.type.value_type if indexed else column.type
    try:
        if kinds.is_integer(kind) and not indexed and _beyond(column):  # what is no float: seeds, say
            return ["" if cell is None else str(cell) for cell in column.to_pylist()]
        if kinds.is_integer(kind) or kinds.is_floating(kind) or kinds.is_decimal(kind):
            return np.asarray(column.cast("float64", safe=False).to_numpy(), dtype=np.float64)
        if _is_text(kind):
            parts = column.chunks if indexed else column.dictionary_encode().chunks
            return [cell for part in parts for cell in _texts(part)]
    except (pyarrow.ArrowException, ValueError) as error:  # of text that is no UTF-8, say
        reason = str(error).splitlines()[0]
        raise ArcadeMarkError(f"{path}, column {name!r}: cannot be read ({reason}); write it again") from error
    if kinds.is_null(kind):
        return np.full(len(column), math.nan)
    if kinds.is_boolean(kind) or kinds.is_temporal(kind):
        return ["" if cell is None else str(cell) for cell in column.to_pylist()]
    raise ArcadeMarkError(f"{path}, column {name!r}: holds {column.type}, expected text or numbers; convert it")


def _beyond(column: Any) -> bool:
    """Return whether integers are too large for floats."""
    import pyarrow.compute

    bounds = pyarrow.compute.min_max(column).as_py()
    return any(bound is not None and abs(bound) > LARGEST for bound in bounds.values())


def _texts(part: Any) -> Iterator[str]:
    """Yield a column's texts; equal ones are one object."""
    known = ["" if text is None else text for text in part.dictionary.to_pylist()]
    return ("" if at is None else known[at] for at in part.indices.to_pylist())
