"""The manifest: what a run was asked for and with what, as ``manifest.json`` in its directory.

Its fields::

    schema            version of this layout
    created           when the run began, ISO 8601 with the zone
    command           the command that began it
    protocol          every setting, overrides included (Protocol.to_json)
    agents            [{label, reference, parameters, source, files}]; source of a user's own agent: {path, sha256,
                      commit}; files {parameter: sha256 of the file or folder it names}, missing in older runs;
                      "plans": true of a planner, once it was made
    games             {game: checksum of its ROM}
    seeds, episodes   of each trial
    training_frames   what --frames asked for, or null: the protocol's
    training_episodes what --training-episodes asked for, or null; runs of before it was there have none
    left_out          [[agent, game, reason]], the combinations that have no trial
    versions          {arcademark, ale-py, numpy, python}
    machine           {system, processor, cores}
    continued         [{started, command, versions, machine}], one each time the run was continued

A run only grows: games, seeds and episodes may be added by a later command; whatever changes a score may not change.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Set
from pathlib import Path
from typing import Any

from arcademark.errors import ArcadeMarkError
from arcademark.suite import protocols
from arcademark.suite.protocols import Protocol

FILE = "manifest.json"
SCHEMA_VERSION = 1

REQUIRED = ("protocol", "agents", "games", "seeds", "episodes", "left_out", "versions")

Document = dict[str, Any]


def read(directory: Path) -> Document:
    """Read a run's manifest.

    Raises
    ------
    ArcadeMarkError
        If there is none, or it is damaged or from a newer version.
    """
    path = directory / FILE
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        what = "no such directory" if not directory.is_dir() else f"not a run directory ({FILE} is missing)"
        raise ArcadeMarkError(f"{directory}: {what}; 'arcademark run … --out {directory}' makes one") from None
    except NotADirectoryError:
        raise ArcadeMarkError(f"{directory}: is a file; expected the directory of a run") from None
    except OSError as error:
        raise ArcadeMarkError(f"{path}: cannot be read ({error.strerror}); check its permissions") from None
    except ValueError as error:
        raise ArcadeMarkError(f"{path}: damaged ({error}); restore it from a copy") from None
    version = document.get("schema") if isinstance(document, dict) else None
    if not isinstance(version, int):
        raise ArcadeMarkError(f"{path}: not a run's manifest (no 'schema'); restore it or choose another directory")
    if version > SCHEMA_VERSION:
        raise ArcadeMarkError(
            f"{path}: written by a newer ArcadeMark (schema {version}, this one reads up to {SCHEMA_VERSION});"
            " install the newer version"
        )
    if missing := [name for name in REQUIRED if name not in document]:
        raise ArcadeMarkError(f"{path}: damaged ({missing[0]!r} is missing); restore it from a copy")
    return dict(document)


def write(directory: Path, document: Document) -> None:
    """Write the manifest so that a crash leaves the old one or the new one, never half of one."""
    draft = directory / f"{FILE}.draft"
    draft.unlink(missing_ok=True)
    with draft.open("x", encoding="utf-8") as file:  # whoever made the folder may have put a link there
        json.dump(document, file, indent=2, ensure_ascii=False, allow_nan=False)
        file.write("\n")
        file.flush()
        os.fsync(file.fileno())
    draft.replace(directory / FILE)


def protocol_of(directory: Path, document: Document) -> Protocol:
    """Return the protocol that a manifest holds.

    Raises
    ------
    ArcadeMarkError
        If it is no protocol.
    """
    try:
        return Protocol.from_json(document["protocol"])
    except (ArcadeMarkError, KeyError, TypeError, ValueError) as error:
        raise ArcadeMarkError(f"{directory / FILE}: damaged ({error}); restore it from a copy") from None


def differences(there: Document, now: Document) -> list[str]:
    """Name every change that a run may not see, as "protocol frame_skip: 4 there, 5 now"."""
    found: list[tuple[str, Any, Any]] = []
    old, new = Protocol.from_json(there["protocol"]), Protocol.from_json(now["protocol"])
    if old.name != new.name:
        found.append(("protocol", old.name, new.name))
    found += [(f"protocol {item.setting}", item.a, item.b) for item in protocols.differences(old, new)]
    found += _agent_differences(there["agents"], now["agents"])
    for field in ("training_frames", "training_episodes"):
        given, asked = (document.get(field) or "the protocol's" for document in (there, now))
        found.append((f"{field.replace('_', ' ')} (they cannot be changed)", given, asked))
    found.append(("version of ale-py", there["versions"].get("ale-py"), now["versions"].get("ale-py")))
    for game in [game for game in there["games"] if game in now["games"]]:
        found.append((f"ROM of {game}", there["games"][game], now["games"][game]))
    if now["episodes"] < there["episodes"]:
        found.append(("episodes (they can be raised, not lowered)", there["episodes"], now["episodes"]))
    return [f"{what}: {_shown(a)} there, {_shown(b)} now" for what, a, b in found if a != b]


def mark_planner(document: Document, label: str) -> bool:
    """Mark the agent of this label as a planner; False if it is marked already."""
    unmarked = [agent for agent in document["agents"] if agent["label"] == label and not agent.get("plans")]
    for agent in unmarked:
        agent["plans"] = True
    return bool(unmarked)


def grown(there: Document, now: Document, started: str) -> Document:
    """Return the manifest of a run that is continued: what was there, what is new, and with what."""
    seeds, left_out = set(there["seeds"]), set(map(tuple, there["left_out"]))
    now_too = {"started": started, **{key: now[key] for key in ("command", "versions", "machine")}}
    return there | {
        "games": there["games"] | now["games"],
        "seeds": there["seeds"] + [seed for seed in now["seeds"] if seed not in seeds],
        "episodes": max(there["episodes"], now["episodes"]),
        "left_out": there["left_out"] + [item for item in now["left_out"] if tuple(item) not in left_out],
        "continued": [*there.get("continued", []), now_too],
    }


def _agent_differences(there: list[Mapping[str, Any]], now: list[Mapping[str, Any]]) -> list[tuple[str, Any, Any]]:
    old, new = ({agent["label"]: agent for agent in agents} for agents in (there, now))
    if old.keys() != new.keys():
        return [("agents", _named(old.keys() - new.keys()), _named(new.keys() - old.keys()))]
    code = [
        (f"code of {label} (sha256 of {agent['source']['path']})", agent["source"]["sha256"][:12], _sha256(new[label]))
        for label, agent in old.items()
        if agent.get("source")
    ]
    files = [
        (f"file of {label} (sha256 of its parameter '{name}')", before[:12], new[label]["files"].get(name, "none")[:12])
        for label, agent in old.items()
        for name, before in agent.get("files", {}).items()
    ]
    return code + files


def _named(labels: Set[str]) -> str | None:
    shown = sorted(labels)[:3] + (["…"] if len(labels) > 3 else [])
    return ", ".join(shown) or None


def _sha256(agent: Mapping[str, Any]) -> str | None:
    source = agent.get("source")
    return source["sha256"][:12] if source else None


def _shown(value: Any) -> str:
    return "none" if value is None else str(value)
