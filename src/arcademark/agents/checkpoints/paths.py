"""A checkpoint, or a pattern of them, 'models/{game}/seed{seed}.zip', and the file of each trial."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal

from arcademark.agents.checkpoints.contents import MAX_BYTES, MAX_ENTRIES
from arcademark.agents.checkpoints.orbax_folders import orbax_root
from arcademark.agents.checkpoints.reading import files_beside
from arcademark.errors import ArcadeMarkError, UnknownNameError, one_line
from arcademark.files import read_bytes

SUFFIXES = (".zip", ".pt", ".pth", ".cleanrl_model", ".safetensors", ".onnx", ".ckpt")
_FIELD = re.compile(r"\{([^{}]*)\}")
_ANNOUNCED = re.compile(r"(?:(?<![a-z])(?:game|env|seed|s)[-_=]?)?\{[^{}]*\}", re.IGNORECASE)
_FIELDS = ("game", "gym_id", "seed")
RLLIB = ("rllib_checkpoint.json", "class_and_ctor_args.pkl", "algorithm_state.pkl")
"""Files, one of which is in each of RLlib's checkpoints."""
MAX_LISTED = 10


def is_checkpoint(reference: str) -> bool:
    """Return True if an agent's reference names checkpoints, rather than code or a built-in agent.

    Folders are RLlib's or Orbax's.
    """
    if reference.endswith(SUFFIXES) or _FIELD.search(reference):
        return True
    if reference.endswith(".py"):
        return False
    return os.path.isfile(reference) or (os.sep in reference and os.path.isdir(reference))


def folder_kind(folder: Path) -> Literal["rllib", "orbax", ""]:
    """Return the library of a checkpoint's folder; "" if it is not such a folder."""
    if any((folder / name).is_file() for name in RLLIB):
        return "rllib"
    return "orbax" if orbax_root(folder) is not None else ""


def short(pattern: str) -> str:
    """Return a short name, "pong.zip", or a pattern's fixed parts, "models-ppo".

    These begin with the folder before the first field, without words that only introduce a field: "seed{seed}".
    """
    parts = Path(pattern).parts
    first = next((i for i, part in enumerate(parts) if _FIELD.search(part)), None)
    if first is None:
        return parts[-1] if parts else pattern
    words = _ANNOUNCED.sub("/", "/".join(parts[max(0, first - 1) :])).removesuffix(Path(pattern).suffix).split("/")
    return "-".join(filter(None, (word.strip("-_. ") for word in words))) or "checkpoints"


def canonical_pattern(pattern: str) -> str:
    """Return a pattern with an absolute path.

    Raises
    ------
    UnknownNameError
        If it has a field other than game, gym_id and seed.
    ArcadeMarkError
        If its path contains bytes that are not text.
    """
    for name in _FIELD.findall(pattern):
        if name not in _FIELDS:
            raise UnknownNameError("field of a pattern of checkpoints", name, _FIELDS)
    path = os.path.abspath(os.path.expanduser(pattern))
    if path != one_line(path, len(path)):
        raise ArcadeMarkError(
            f"checkpoint {pattern!r}: its path contains bytes that are not text; rename file or folder"
        )
    return path


def file_of(pattern: str, game: str, seed: int) -> Path:
    """Return the checkpoint of a game and seed.

    ``{game}`` is our id, "space_invaders"; ``{gym_id}`` is "SpaceInvadersNoFrameskip-v4", "ALE/SpaceInvaders-v5" or
    "ALE-SpaceInvaders-v5", whichever exists; ``{seed}`` is the trial's.

    Raises
    ------
    ArcadeMarkError
        If no file exists, or several.
    """
    return files_of(pattern, [(game, seed)])[game, seed]


def files_of(pattern: str, trials: Iterable[tuple[str, int]]) -> Mapping[tuple[str, int], Path]:
    """Return the checkpoint of each game and seed.

    Raises
    ------
    ArcadeMarkError
        If some are missing, or two files fit the same trial.
    """
    missing, paths = [], {}
    for game, seed in trials:
        candidates = _candidates(pattern, game, seed)
        existing = [path for path in candidates if path.exists()]
        if len(existing) > 1:
            raise ArcadeMarkError(
                f"checkpoint of {game}, seed {seed}: {existing[0]} and {existing[1]} both exist; name one"
            )
        if existing:
            paths[game, seed] = existing[0]
        else:
            missing.append(str(candidates[0]))
    if missing:
        more = f" and {len(missing) - MAX_LISTED:,} more" if len(missing) > MAX_LISTED else ""
        number = "1 checkpoint is" if len(missing) == 1 else f"{len(missing):,} checkpoints are"
        raise ArcadeMarkError(
            f"{number} missing: {', '.join(missing[:MAX_LISTED])}{more}; correct the path, or leave their games or "
            "seeds out"
        )
    return paths


def checksum(path: Path) -> str:
    """Return the SHA-256 of a file, or of a folder's names and files."""
    if not path.is_dir():
        return digest_of(read_bytes(path, MAX_BYTES), path)
    names = sorted(name for name in path.rglob("*") if name.is_file())[: MAX_ENTRIES + 1]
    if len(names) > MAX_ENTRIES:
        raise ArcadeMarkError(f"{path}: contains more than {MAX_ENTRIES:,} files, the most that is read")
    digest = hashlib.sha256()
    for name in names:
        content = hashlib.sha256(read_bytes(name, MAX_BYTES)).hexdigest()
        digest.update(f"{name.relative_to(path)}\0{content}\n".encode())
    return digest.hexdigest()


def digest_of(data: bytes, path: Path) -> str:
    """Return the SHA-256 of a file with the content `data` and of its `files_beside`."""
    digest = hashlib.sha256(data)
    for beside in files_beside(data, path):
        digest.update(read_bytes(beside, MAX_BYTES))
    return digest.hexdigest()


def _candidates(pattern: str, game: str, seed: int) -> list[Path]:
    title = "".join(word.capitalize() for word in game.split("_"))
    ids = [f"{title}NoFrameskip-v4", f"ALE/{title}-v5", f"ALE-{title}-v5"] if "{gym_id}" in pattern else [""]
    return [
        Path(pattern.replace("{game}", game).replace("{seed}", str(seed)).replace("{gym_id}", name)) for name in ids
    ]
