"""Files that a command writes: whole or not at all."""

from __future__ import annotations

from pathlib import Path

from arcademark.errors import ArcadeMarkError


def write(path: Path, content: str | bytes, *, option: str, example: str) -> None:
    """Write a file, and its folder where that is missing.

    Parameters
    ----------
    path : Path
    content : str or bytes
    option : str
        The option that named the path, "--html".
    example : str
        A name of a file, "page.html".

    Raises
    ------
    ArcadeMarkError
        If the path is a directory or cannot be written; nothing is left there then.
    """
    if path.is_dir():
        raise ArcadeMarkError(f"{path}: is a directory; name a file, as in {option} {path / example}")
    draft = path.with_name(f".{path.name}.draft")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        draft.write_bytes(content.encode() if isinstance(content, str) else content)
        draft.replace(path)
    except OSError as error:
        raise ArcadeMarkError(f"{path}: cannot write the file ({error.strerror}); choose another {option}") from None
