"""Files that a command writes: whole or not at all.

A missing folder is made; a page or a figure replaces an earlier one of its kind that we wrote, and nothing else; scores
replace nothing unless that is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from arcademark.errors import ArcadeMarkError
from arcademark.files import check_replaceable, write_whole
from arcademark.reports import wording


def check_ending(path: Path | None, endings: Sequence[str], *, option: str, folder: bool = False) -> None:
    """Refuse, before any work, a name with another ending than these: ".png".

    With `folder` it may name one that is there, or have no ending.
    """
    if path is None or path.suffix.lower() in endings or (folder and (not path.suffix or path.is_dir())):
        return
    expected = f"expected a name that ends with {wording.listing(endings, last='or')}"
    raise ArcadeMarkError(f"{option} {path}: {expected}{', or a folder' if folder else ''}")


def write(path: Path, content: str | bytes, *, option: str, example: str, overwrite: bool | None = None) -> None:
    """Write a file, named by an option, such as an example; what must not be replaced stays.

    With `overwrite` None a file is replaced if it is of the same kind and we wrote it, or if it is empty.
    """
    if path.is_dir():
        raise ArcadeMarkError(f"{path}: is a directory; name a file, as in {option} {path / example}")
    data = content.encode(errors="backslashreplace") if isinstance(content, str) else content
    try:
        if path.exists() and not path.is_file():  # a device or a pipe
            path.write_bytes(data)
            return
        if overwrite is None:
            check_replaceable(path, data, f"choose another {option}, or move it away")
        elif path.exists() and not overwrite:
            raise ArcadeMarkError(f"{path}: exists already; name another file, or replace it with --overwrite")
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, lambda draft: _fill(draft, data))
    except OSError as error:
        raise ArcadeMarkError(f"{path}: cannot write the file ({error.strerror}); choose another {option}") from None


def _fill(draft: Path, data: bytes) -> None:
    draft.write_bytes(data)


def check_folder(folder: Path, *, option: str, page: str = "") -> None:
    """Refuse, before any work, a folder that holds anything, unless it has a page that we wrote."""
    if not folder.is_dir():
        if folder.exists():
            raise ArcadeMarkError(f"{option} {folder}: is no folder; choose another")
    elif page and (folder / page).exists():
        check_replaceable(folder / page, b"<!doctype html>", f"choose another {option}, or move it away")
    elif any(folder.iterdir()):
        raise ArcadeMarkError(f"{option} {folder}: the folder holds other files; name a new or an empty one")


def write_folder(folder: Path, contents: Mapping[str, bytes], *, option: str) -> None:
    """Write files into a folder in their order, each whole; the page that `check_folder` asks for is the last."""
    for name, content in contents.items():
        path = folder / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, partial(_fill, data=content))
        except OSError as error:
            told = f"cannot write the file ({error.strerror}); choose another {option}"
            raise ArcadeMarkError(f"{path}: {told}") from None
