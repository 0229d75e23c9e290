"""Reads the sheets of workbooks of Excel and LibreOffice as people see them.

Conventions
-----------
* A number in a percent format is what is shown, ``12%``, and not 0.12.
* A formula whose value the file does not hold is its text, ``=B2+1``, and no missing score.
"""

from __future__ import annotations

import html
import io
import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from arcademark import files
from arcademark.errors import ArcadeMarkError
from arcademark.scores.readers.base import refuse_more_cells
from arcademark.scores.readers.sheets.grid import Grid

_Marks = Mapping[tuple[int, int], str]
"""By row and column of a sheet, from 0: "%" where its number is in percent, or a formula without a value."""

_ATTRIBUTES = rb"""((?:[^<>"']|"[^"<]*"|'[^'<]*')*?)"""
_CELL = re.compile(rb"<(?:\w+:)?c\b" + _ATTRIBUTES + rb"(?:/>|>([^<]*(?:<(?!/?(?:\w+:)?c\b)[^<]*)*)</(?:\w+:)?c>)")
_FORMULA = re.compile(rb"<(?:\w+:)?f\b" + _ATTRIBUTES + rb"(?:/>|>([^<]*)<)")
_VALUE = re.compile(rb"<(?:\w+:)?(?:v|t)\b[^<>]*>[^<]")
_FORMAT = re.compile(rb"<(?:\w+:)?numFmt\b" + _ATTRIBUTES + rb"/?>")
_STYLES = re.compile(rb"</?(?:\w+:)?cellXfs\b")
_STYLE = re.compile(rb"<(?:\w+:)?xf\b" + _ATTRIBUTES + rb"/?>")
_SHEET = re.compile(rb"<(?:\w+:)?sheet\b" + _ATTRIBUTES + rb"/?>")
_RELATION = re.compile(rb"<(?:\w+:)?Relationship\b" + _ATTRIBUTES + rb"/?>")
_ODS = re.compile(rb"<table:(table|table-row|table-cell|covered-table-cell)\b(?!-)" + _ATTRIBUTES + rb"/?>")
_PERCENT_FORMATS = frozenset({b"9", b"10"})
"""Numbers of Excel's own percent formats."""
_MAX_FORMULA = 60
"""Maximum length of a formula's text."""


def is_workbook(names: Sequence[str]) -> bool:
    """Return whether an archive's members are those of a workbook of Excel or LibreOffice."""
    return any(name.startswith("xl/workbook") or name == "content.xml" for name in names)


def grids_of_workbook(path: Path, content: bytes) -> list[Grid]:
    """Return the sheets of a workbook that hold anything."""
    try:
        import python_calamine
    except ImportError:
        raise ArcadeMarkError(
            f"{path}: reading workbooks needs python-calamine; pip install '.[readers]', or save the sheet as CSV"
        ) from None
    archive = files.ZipArchive(content, path, "save it again", "workbook")
    if archive.inflated_bytes > files.MAX_BYTES:
        raise ArcadeMarkError(
            f"{path}: holds {archive.inflated_bytes:,} bytes when it is unpacked, expected at most "
            f"{files.MAX_BYTES:,}; save fewer sheets in a file"
        )
    try:
        book = python_calamine.CalamineWorkbook.from_filelike(io.BytesIO(content))
        sheets = [book.get_sheet_by_name(name) for name in book.sheet_names]
        for sheet in sheets:
            refuse_more_cells(path, sheet.total_height * sheet.total_width)
        rows = [sheet.to_python(skip_empty_area=False) for sheet in sheets]
    except (python_calamine.CalamineError, OSError, ValueError) as error:
        raise ArcadeMarkError(f"{path}: not a whole workbook ({str(error)[:100]}); save it again, or as CSV") from error
    of_sheets = _marks(archive, [(len(cells), max(map(len, cells), default=0)) for cells in rows])
    visible = python_calamine.SheetVisibleEnum.Visible
    found = []
    for at, (sheet, cells, known) in enumerate(zip(sheets, rows, book.sheets_metadata, strict=True)):
        marks = of_sheets[at] if at < len(of_sheets) else {}
        texts = [
            (row + 1, [_cell(value, marks.get((row, column), "")) for column, value in enumerate(values)])
            for row, values in enumerate(cells)
        ]
        found.append(Grid(sheet.name, [row for row in texts if any(row[1])], known.visible != visible))
    return [grid for grid in found if grid.rows]


def _cell(value: Any, mark: str) -> str:
    if mark == "%" and isinstance(value, float):
        return f"{100 * value:.15g}%"
    text = str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
    return text or mark.removesuffix("%")


def _marks(archive: files.ZipArchive, shapes: Sequence[tuple[int, int]]) -> Sequence[_Marks]:
    """Return the marks of each sheet, of so many rows and columns."""
    names = set(archive.names)
    if "content.xml" in names:
        return _percents(archive.read("content.xml"), shapes)
    if not {"xl/workbook.xml", "xl/_rels/workbook.xml.rels"} <= names:
        return ()
    sheets = [_attribute(one[1], rb"\w+:id") for one in _SHEET.finditer(archive.read("xl/workbook.xml"))]
    relations = [one[1] for one in _RELATION.finditer(archive.read("xl/_rels/workbook.xml.rels"))]
    targets = {_attribute(one, b"Id"): _attribute(one, b"Target").decode(errors="replace") for one in relations}
    percents = _percent_styles(archive.read("xl/styles.xml")) if "xl/styles.xml" in names else frozenset[bytes]()
    places = [posixpath.normpath(posixpath.join("/xl", targets.get(sheet, ""))).lstrip("/") for sheet in sheets]
    return [dict(_marked(archive.read(place), percents)) if place in names else {} for place in places[: len(shapes)]]


def _attribute(attributes: bytes, name: bytes) -> bytes:
    found = re.search(rb"(?:^|\s)" + name + rb"""\s*=\s*(?:"([^"]*)"|'([^']*)')""", attributes)
    return (found[1] or found[2] or b"") if found else b""


def _percent_styles(content: bytes) -> frozenset[bytes]:
    """Return the numbers of the styles whose cells are in percent."""
    formats = {_attribute(one[1], b"numFmtId"): _attribute(one[1], b"formatCode") for one in _FORMAT.finditer(content)}
    percents = {
        number
        for number, code in formats.items()
        if b"%" in re.sub(rb"\"[^\"]*\"|\\.", b"", html.unescape(code.decode(errors="replace")).encode())
    }
    ends = [end.start() for end in islice(_STYLES.finditer(content), 2)]
    numbers = [_attribute(one[1], b"numFmtId") for one in _STYLE.finditer(content, *ends)] if len(ends) == 2 else []
    return frozenset(
        str(at).encode() for at, number in enumerate(numbers) if number in percents | _PERCENT_FORMATS - formats.keys()
    )


def _marked(content: bytes, percents: frozenset[bytes]) -> Iterator[tuple[tuple[int, int], str]]:
    """Yield the marks of a sheet of Excel."""
    if not percents and not _FORMULA.search(content):
        return
    for cell in _CELL.finditer(content):
        place = re.fullmatch(rb"([A-Z]{1,3})([0-9]{1,7})", _attribute(cell[1], b"r"))
        formula = _FORMULA.search(cell[2] or b"")
        lacking = formula is not None and not _VALUE.search(cell[2])
        if place is None or not (lacking or _attribute(cell[1], b"s") in percents):
            continue
        column = 0
        for letter in place[1]:
            column = 26 * column + letter - ord("A") + 1
        text = html.unescape((formula[2] or b"").decode(errors="replace")) if formula and lacking else ""
        yield (int(place[2]) - 1, column - 1), f"={text[:_MAX_FORMULA]}" if lacking else "%"


def _percents(content: bytes, shapes: Sequence[tuple[int, int]]) -> Sequence[_Marks]:
    """Return the marks of LibreOffice's sheets: of cells in percent."""
    result: list[dict[tuple[int, int], str]] = []
    row, rows, column = 0, 0, 0
    for found in _ODS.finditer(content):
        times = re.fullmatch(rb"[0-9]{1,9}", _attribute(found[2], rb"table:number-(?:rows|columns)-repeated"))
        repeated = int(times[0]) if times else 1
        if found[1] == b"table":
            result.append({})
            row, rows = 0, 0
        elif found[1] == b"table-row":
            row, rows, column = row + rows, repeated, 0
        else:
            if 0 < len(result) <= len(shapes) and _attribute(found[2], b"office:value-type") == b"percentage":
                height, width = shapes[len(result) - 1]
                columns = range(column, min(column + repeated, width))
                result[-1] |= {(one, at): "%" for one in range(row, min(row + rows, height)) for at in columns}
            column += repeated
    return result
