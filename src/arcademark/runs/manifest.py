"""The manifest: what a run was asked for and with what, as ``manifest.json`` in its directory.

Its fields::

    schema            version of this layout
    created           when the run began, ISO 8601 with the zone
    command           the command that began it
    protocol          every setting, overrides included (Protocol.to_json)
    agents            [{label, reference, parameters, source, files}]; source of a user's own agent: {path, sha256,
                      commit}; files {parameter: sha256 of the file it names}, missing in older runs;
                      "plans": true of a planner, once it was made
    games             {game: checksum of its ROM}
    seeds, episodes   of each trial
    training_frames   what --frames asked for, or null: the protocol's
    training_episodes what --training-episodes asked for, or null; runs of before it was there have none
    left_out          [[agent, game, reason]], the combinations that have no trial
    versions          {arcademark, ale-py, numpy, python}
    emulator          what the games were asked to be played on, "ale" or "console"; null: whichever can be had
    emulators         {game: [what it was played on, "ale-py 0.12.1" or "console 5f43e732cb187f58"]}, in the order of
                      use, once it is begun; runs of before it was there were played on ale-py
    machine           {system, processor, cores}
    continued         [{started, command, versions, machine, emulator}], one each time the run was continued

A run only grows: games, seeds and episodes may be added by a later command; whatever changes a score may not change.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Set
from pathlib import Path
from typing import Any

from arcademark.errors import ArcadeMarkError, one_line
from arcademark.files import parse_json, read_text
from arcademark.runs.checks import MOST_EPISODES
from arcademark.suite import protocols
from arcademark.suite.protocols import Protocol

FILE = "manifest.json"
SCHEMA_VERSION = 1

Document = dict[str, Any]
_Check = Callable[[Any], bool]

MOST_BYTES = 16 * 2**20
MOST_DIGITS = 4_000
"""Of a whole number, such as a parameter may be: below what Python refuses to read."""


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _any(_: Any) -> bool:
    return True


def _flag(value: Any) -> bool:
    return isinstance(value, bool)


def _plain(value: Any) -> bool:
    return value is None or isinstance(value, str | int | float)


def _whole(least: int, most: int) -> _Check:
    return lambda value: isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def _or_null(check: _Check) -> _Check:
    return lambda value: value is None or check(value)


def _each(check: _Check) -> _Check:
    return lambda value: isinstance(value, list) and all(map(check, value))


def _named(check: _Check) -> _Check:
    return lambda value: isinstance(value, dict) and all(map(check, value.values()))


def _fields(required: Mapping[str, _Check], optional: Mapping[str, _Check] | None = None) -> _Check:
    def check(value: Any) -> bool:
        known = {**required, **(optional or {})}
        return (
            isinstance(value, dict)
            and required.keys() <= value.keys()
            and all(known[name](item) for name, item in value.items() if name in known)
        )

    return check


_BUDGET = _or_null(_whole(0, 2**63 - 1))
_MADE_WITH: Mapping[str, _Check] = {"command": _text, "versions": _named(_or_null(_text)), "machine": _named(_plain)}
_SOURCE = _fields({"path": _text, "sha256": _text}, {"commit": _or_null(_text)})
_AGENT = _fields(
    {"label": _text},
    {
        "reference": _text,
        "parameters": _or_null(_named(_any)),
        "source": _or_null(_SOURCE),
        "plans": _flag,
        "files": _named(_text),
    },
)
_PROTOCOL = _fields(
    {
        **dict.fromkeys(("name", "title", "citation"), _text),
        "settings": _named(_any),  # the protocol checks them itself
        "overrides": _named(_any),
        "provenance": _named(_named(_text)),
    }
)
REQUIRED: Mapping[str, _Check] = {
    "protocol": _PROTOCOL,
    "agents": _each(_AGENT),
    "games": _named(_text),
    "seeds": _each(_whole(0, 2**63 - 1)),
    "episodes": _whole(1, MOST_EPISODES),
    "left_out": _each(lambda item: isinstance(item, list) and len(item) == 3 and all(map(_text, item))),
    "versions": _MADE_WITH["versions"],
}
OPTIONAL: Mapping[str, _Check] = {
    **_MADE_WITH,
    "created": _text,
    "training_frames": _BUDGET,
    "training_episodes": _BUDGET,
    "emulator": _or_null(_text),
    "emulators": _named(_each(_text)),
    "continued": _each(_fields({"started": _text, **_MADE_WITH}, {"emulator": _or_null(_text)})),
}
"""What runs of before it was there have not, or what nothing depends on."""


def read(directory: Path) -> Document:
    """Read a run's manifest.

    Raises
    ------
    ArcadeMarkError
        If there is none, or it is damaged or from a newer version.
    """
    path = directory / FILE
    if directory.exists() and not directory.is_dir():
        raise ArcadeMarkError(f"{directory}: is a file; expected the directory of a run")
    if not path.exists():
        what = "no such directory" if not directory.is_dir() else f"not a run directory ({FILE} is missing)"
        raise ArcadeMarkError(f"{directory}: {what}; 'arcademark run … --out {directory}' makes one")
    remedy = "it is damaged: restore it from a copy"
    document = parse_json(read_text(path, MOST_BYTES), path, remedy, most_digits=MOST_DIGITS)
    version = document.get("schema") if isinstance(document, dict) else None
    if not isinstance(version, int) or version < 1:
        raise ArcadeMarkError(f"{path}: not a run's manifest (no 'schema'); restore it or choose another directory")
    if version > SCHEMA_VERSION:
        raise ArcadeMarkError(
            f"{path}: written by a newer ArcadeMark (schema {one_line(str(version), 20)}, this one reads up to "
            f"{SCHEMA_VERSION}); install the newer version"
        )
    for name, check in {**REQUIRED, **OPTIONAL}.items():
        if name in REQUIRED and name not in document:
            raise ArcadeMarkError(f"{path}: damaged ({name!r} is missing); restore it from a copy")
        if name in document and not check(document[name]):
            shown = one_line(repr(document[name]), 60)
            raise ArcadeMarkError(f"{path}: damaged ({name!r} cannot be {shown}); restore it from a copy")
    return dict(document)


def write(directory: Path, document: Document) -> None:
    """Write the manifest so that a crash leaves the old one or the new one, never half of one."""
    draft = directory / f"{FILE}.draft"
    draft.unlink(missing_ok=True)  # a link there would have another file written
    with draft.open("x", encoding="utf-8", errors="backslashreplace") as file:
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


def mark_emulator(document: Document, game: str, emulator: str) -> bool:
    """Mark what a game is played on; False if it is marked already."""
    used = document["emulators"].setdefault(game, [])
    if emulator in used:
        return False
    used.append(emulator)
    return True


def emulators(document: Document) -> dict[str, list[str]]:
    """Return what each game was played on, in words with its version; the toy game is its own emulator."""
    played = document.get("emulators")
    if played is not None:
        return dict(played)
    return {game: [f"ale-py {document['versions'].get('ale-py')}"] for game, rom in document["games"].items() if rom}


def grown(there: Document, now: Document, started: str) -> Document:
    """Return the manifest of a run that is continued: what was there, what is new, and with what."""
    seeds, left_out = set(there["seeds"]), set(map(tuple, there["left_out"]))
    now_too = {"started": started, **{key: now[key] for key in ("command", "versions", "machine", "emulator")}}
    return there | {
        "games": there["games"] | now["games"],
        "seeds": there["seeds"] + [seed for seed in now["seeds"] if seed not in seeds],
        "episodes": max(there["episodes"], now["episodes"]),
        "left_out": there["left_out"] + [item for item in now["left_out"] if tuple(item) not in left_out],
        "emulators": emulators(there),
        "continued": [*there.get("continued", []), now_too],
    }


def _agent_differences(there: list[Mapping[str, Any]], now: list[Mapping[str, Any]]) -> list[tuple[str, Any, Any]]:
    old, new = ({agent["label"]: agent for agent in agents} for agents in (there, now))
    if old.keys() != new.keys():
        return [("agents", _listed(old.keys() - new.keys()), _listed(new.keys() - old.keys()))]
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


def _listed(labels: Set[str]) -> str | None:
    shown = sorted(labels)[:3] + (["…"] if len(labels) > 3 else [])
    return ", ".join(shown) or None


def _sha256(agent: Mapping[str, Any]) -> str | None:
    source = agent.get("source")
    return source["sha256"][:12] if source else None


def _shown(value: Any) -> str:
    return "none" if value is None else str(value)
