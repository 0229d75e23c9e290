"""A model of the Hugging Face Hub, "hf:sb3/ppo-PongNoFrameskip-v4": its network's file, and the game in its name.

Only that file is fetched, by ``huggingface_hub``, and read like any checkpoint: nothing in it is run. A folder of the
same layout is read in place.
"""

from __future__ import annotations

import os
import re
from pathlib import Path, PurePosixPath

from arcademark.agents.checkpoints.contents import MAX_BYTES
from arcademark.errors import ArcadeMarkError
from arcademark.importing import described, needing, said
from arcademark.suite.tasks import known_spelling

PREFIX = "hf:"
PROTOCOL = "sb3-atari"
"""Protocol of models of Atari games on the hub, which were trained with Stable-Baselines3's wrappers."""
_NETWORKS = (".zip", ".pt", ".pth", ".cleanrl_model", ".safetensors", ".onnx", ".msgpack")
_OTHERS = re.compile(r"train_eval_metrics\.zip|(?:optimizer|.*\.optimizer|pytorch_variables|training_args)\.\w+")
_GAME = re.compile(r"(?:ALE[-/])?([A-Z][A-Za-z]+?)(?:NoFrameskip|Deterministic)?-v\d+")


def file_of(reference: str) -> str:
    """Return the path of the network's file of a model, fetched unless it was before.

    Parameters
    ----------
    reference : str
        ``hf:OWNER/NAME``, ``hf:OWNER/NAME@REVISION`` or ``hf:FOLDER``; with ``:FILE`` one of several files.

    Raises
    ------
    ArcadeMarkError
        If it cannot be fetched, ``huggingface_hub`` is missing, or it has no file or several that may be networks.
    """
    name, wanted, revision = _parts(reference)
    folder = Path(name)
    if not revision and folder.is_dir():
        files = [path.relative_to(folder).as_posix() for path in sorted(folder.rglob("*")) if path.is_file()]
        return str(folder / _chosen(files, folder.name, wanted, reference))
    if not re.fullmatch(r"[\w.-]+/[\w.-]+", name):
        raise ArcadeMarkError(f"{reference}: expected hf:OWNER/NAME, or a folder of a model")
    with needing(f"{reference}: needs the Hub's package", "hub"):
        import huggingface_hub as hub
    try:
        model = hub.HfApi().model_info(name, revision=revision or None, files_metadata=True)
        sizes = {file.rfilename: file.size or 0 for file in model.siblings}
        chosen = _chosen([*sizes], PurePosixPath(name).name, wanted, reference)
        if sizes[chosen] > MAX_BYTES:
            raise ArcadeMarkError(f"{reference}: {chosen} has {sizes[chosen]:,} bytes; at most {MAX_BYTES:,} are read")
        return str(hub.hf_hub_download(name, chosen, revision=model.sha))
    except ArcadeMarkError:
        raise
    except Exception as error:  # of the network, of the Hub, of the disk
        raise ArcadeMarkError(
            f"{reference}: cannot be fetched ({described(error)}); check its name and the connection"
        ) from None


def game_of(reference: str) -> str | None:
    """Return the game in a model's name, "pong" of "hf:sb3/ppo-PongNoFrameskip-v4"; None if it names none."""
    found = _GAME.search(PurePosixPath(_parts(reference)[0]).name)
    return known_spelling(found[1]) if found else None


def _parts(reference: str) -> tuple[str, str, str]:
    """Return a model's name or folder, the requested file, and the revision; "" for each that is not given."""
    name, _, wanted = reference.removeprefix(PREFIX).partition(":")
    name = os.path.expanduser(name)
    if os.path.isdir(name):
        return name, wanted, ""
    name, _, revision = name.partition("@")
    return name, wanted, revision


def _chosen(files: list[str], name: str, wanted: str, reference: str) -> str:
    """Return the file of the network: the requested one, otherwise that of the model's name, otherwise the only one."""
    networks = [file for file in files if file.endswith(_NETWORKS) and not _OTHERS.fullmatch(PurePosixPath(file).name)]
    top = [file for file in networks if "/" not in file] or networks
    same = [file for file in top if PurePosixPath(file).stem == name]
    found = [file for file in files if file == wanted] if wanted else same[:1] or top
    if len(found) == 1:
        return found[0]
    listed = ", ".join(said(str, file) for file in (top or files)[:10])
    what = f"has no file {wanted!r}" if wanted else f"has {len(found)} files that may be networks"
    model = reference.removesuffix(f":{wanted}")
    raise ArcadeMarkError(f"{model}: {what} ({listed}); name one: {model}:FILE")
