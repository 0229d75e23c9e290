"""Files that a command writes: whole or not at all.

One rule holds for all: a folder that is missing is made; a page or a figure replaces an earlier one of its kind that we
wrote, being made anew from the same scores, and nothing else; scores replace nothing unless that is asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from arcademark.errors import ArcadeMarkError
from arcademark.files import check_replaceable, write_whole
from arcademark.reports import wording

PAGE = "Also write a page that works offline; replaces an earlier page."
"""The help of every ``--html``."""


def check_ending(path: Path | None, endings: Sequence[str], *, option: str, folder: bool = False) -> None:
    """Refuse, before any work, a name whose ending is not one of what is written.

    Parameters
    ----------
    path : Path or None
        None: nothing is asked for.
    endings : sequence of str
        ".png", ".svg"; case does not count.
    option : str
        The option that named the path, "--figure".
    folder : bool
        Whether it may name a folder instead: one that is there, or any name without an ending.

    Raises
    ------
    ArcadeMarkError
        If the name ends otherwise.
    """
    if path is None or path.suffix.lower() in endings or (folder and (not path.suffix or path.is_dir())):
        return
    expected = f"expected a name that ends with {wording.listing(endings, last='or')}"
    raise ArcadeMarkError(f"{option} {path}: {expected}{', or a folder' if folder else ''}")


def write(path: Path, content: str | bytes, *, option: str, example: str, overwrite: bool | None = None) -> None:
    """Write a file, and its folder where that is missing.

    Parameters
    ----------
    path : Path
    content : str or bytes
    option : str
        The option that named the path, "--html".
    example : str
        A name of a file, "page.html".
    overwrite : bool or None, optional
        Whether to replace a file that is there; None: one of the same kind that we wrote, or an empty one.

    Raises
    ------
    ArcadeMarkError
        If the path is a directory, cannot be written, or is a file that is not to be replaced; what is there stays.
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
