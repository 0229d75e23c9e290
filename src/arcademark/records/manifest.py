"""The manifest: a run's request and provenance, as ``manifest.json`` in its directory.

A run only grows: games, seeds and episodes may be added later; settings that change a score may not change.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Set
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, NotRequired, TypedDict

from msgspec import Meta

from arcademark.errors import ArcadeMarkError, one_line
from arcademark.files import parse_json, read_as, read_text
from arcademark.records.model import Score, Share, TrialRecord
from arcademark.suite import protocols
from arcademark.suite.protocols import Protocol, from_json
from arcademark.suite.settings import MAX_EPISODES

FILE = "manifest.json"
SCHEMA_VERSION = 1
HUMAN = "human"
"""The reference of the agent that is a person."""

Document = dict[str, Any]

MAX_BYTES = 16 * 2**20
MAX_DIGITS = 4_000  # of a whole number, such as a parameter; Python reads slightly more

Whole = Annotated[int, Meta(ge=0, le=2**63 - 1)]
Count = Annotated[int, Meta(ge=1, le=MAX_EPISODES)]


class Provenance(TypedDict):
    """Provenance of a run, on which nothing depends."""

    command: NotRequired[str]  # the command line
    machine: NotRequired[dict[str, str | int | float | bool | None]]  # its system, processor and cores
    emulator: NotRequired[str | None]
    """Requested emulator, "ale" or "console"; null for the one that is available."""


class AgentSource(TypedDict):
    """The file of a user's own agent."""

    path: str
    sha256: str
    commit: NotRequired[str | None]  # of its repository, in older runs


class Agent(TypedDict):
    """An agent with its parameters."""

    label: str
    reference: NotRequired[str]
    parameters: NotRequired[dict[str, Any] | None]
    source: NotRequired[AgentSource | None]
    plans: NotRequired[bool]  # true for a planner, once it was made
    draws: NotRequired[bool]  # whether it draws random numbers, if it declares so, once it was made
    files: NotRequired[dict[str, str]]
    """SHA-256 of the files that parameters name, by parameter; missing in older runs."""
    by_seed: NotRequired[bool]  # true where a parameter names the seed: "model-{seed}.pt"
    checkpoints: NotRequired[dict[str, str]]
    """By game and seed, "pong 0", for agents trained elsewhere: SHA-256 of a network's file, or of the checkpoint of a
    learner or trainer in another run."""
    trained_frames: NotRequired[dict[str, Whole]]
    """By game and seed: frames of its training elsewhere, by its file, once it was read."""
    peak_bytes: NotRequired[dict[str, Whole]]
    """By game and seed: the peak memory of the process that played the trial."""
    snapshots: NotRequired[dict[str, list[tuple[Share, Score, Count]]]]
    """By game and seed, for a learner: evaluations before the end of training, with the used share of its budget, the
    mean score, and the number of episodes, which are the first of the evaluation and are not recorded."""


class Settings(TypedDict):
    """Every setting of a protocol, overrides included, as `to_json` writes them; it checks their values."""

    name: str
    title: str
    citation: str
    settings: dict[str, Any]
    overrides: dict[str, Any]
    provenance: dict[str, dict[str, str]]
    suite: NotRequired[dict[str, Any]]  # of tasks beyond Atari; reading it checks its values


class Continued(Provenance):
    """A later command that continued the run, with its provenance."""

    started: str
    versions: NotRequired[dict[str, str | None]]


class Imported(TypedDict):
    """Source of the scores of a run that was not played here (`arcademark.records.imported`)."""

    formats: list[str]  # of `arcademark.scores.reading.FORMATS`
    files: dict[str, str]  # from the path of each log, below what was named, to its SHA-256
    averages: list[str]  # labels of agents whose rows of training are averages that the tool logged
    assumed: list[str]  # sentences: assumptions where the logs lack information
    doubts: list[tuple[str, str, str]]  # agent's label, game, and why these are unlikely to be raw scores of games


class Manifest(Provenance):
    """Request and provenance of a run; older runs lack keys that are not required."""

    schema: int  # the version of this layout
    created: NotRequired[str]  # when the run began, ISO 8601 with the zone
    protocol: Settings
    agents: list[Agent]
    games: dict[str, str]  # from each game to the checksum of its ROM
    seeds: list[Whole]
    episodes: Count  # of each trial
    training_frames: NotRequired[Whole | None]  # value of ``--frames``; null for the protocol's
    training_episodes: NotRequired[Whole | None]  # value of ``--training-episodes``, or null
    left_out: list[tuple[str, str, str]]  # agent, game and reason of the combinations that have no trial
    shard: NotRequired[tuple[Whole, Whole]]
    """Number of the shard, from 1, and of all shards; the others have the rest of the trials of all games and seeds."""
    versions: dict[str, str | None]
    """Versions of arcademark, ale-py, numpy and python, and of the libraries of agents, once they were made."""
    emulators: NotRequired[dict[str, list[str]]]
    """Emulator of each game, "ale-py 0.12.1" or "console 5f43e732cb187f58", in the order of use; none before it
    begins. Older runs were played on ale-py."""
    continued: NotRequired[list[Continued]]  # one each time the run was continued
    imported: NotRequired[Imported]  # only of a run that was not played
    trained_under: NotRequired[Settings]
    """Protocol of another run in which this run's agents were trained, if they were."""


def read(directory: Path) -> Document:
    """Read a run's manifest."""
    path = directory / FILE
    if os.path.exists(directory) and not os.path.isdir(directory):
        raise ArcadeMarkError(f"{directory}: is a file; expected the directory of a run")
    if not os.path.exists(path):
        what = "no such directory" if not os.path.isdir(directory) else f"not a run directory ({FILE} is missing)"
        raise ArcadeMarkError(f"{directory}: {what}; 'arcademark run … --out {directory}' makes one")
    remedy = "it is damaged: restore it from a copy"
    document = parse_json(read_text(path, MAX_BYTES), path, remedy, most_digits=MAX_DIGITS)
    version = document.get("schema") if isinstance(document, dict) else None
    if not isinstance(version, int) or version < 1:
        raise ArcadeMarkError(f"{path}: not a run's manifest (no 'schema'); restore it or choose another directory")
    if version > SCHEMA_VERSION:
        raise ArcadeMarkError(
            f"{path}: written by a newer ArcadeMark (schema {one_line(str(version), 20)}, this one reads up to "
            f"{SCHEMA_VERSION}); install the newer version"
        )
    read_as(Manifest, document, f"{path}: damaged", "restore it from a copy")
    return dict(document)


def write(directory: Path, document: Document) -> None:
    """Write the manifest so that a crash leaves the old one or the new one, never half of one."""
    draft = directory / f"{FILE}.draft"
    draft.unlink(missing_ok=True)  # through a link another file would be written
    with draft.open("x", encoding="utf-8", errors="backslashreplace") as file:
        json.dump(document, file, indent=2, ensure_ascii=False, allow_nan=False)
        file.write("\n")
        file.flush()
        os.fsync(file.fileno())
    draft.replace(directory / FILE)


def agents_of(document: Document) -> dict[str, dict[str, Any]]:
    """Return a manifest's agents by their labels."""
    return {agent["label"]: agent for agent in document["agents"]}


def game_and_seed(game: str, seed: int) -> str:
    """Return the key of a trial among an agent's facts, "pong 0"."""
    return f"{game} {seed}"


def trained_under(directory: Path, document: Document) -> Protocol | None:
    """Return the protocol under which learners were trained, if that was in another run."""
    return protocol_of(directory, document, "trained_under") if "trained_under" in document else None


def trial_id(
    agent: str,
    game: str,
    protocol: Protocol,
    seed: int,
    training_frames: int | None,
    training_episodes: int | None,
    checkpoint: str = "",
) -> str:
    """Return a trial's stable name, "random-pong-s0-1a2b3c4d", with a hash of all that can change an episode's score.

    The number of episodes cannot, nor the path of a user's own agent (the manifest has its file's checksum).

    Parameters
    ----------
    agent, game : str
        The agent's label and the task's id.
    protocol : Protocol
    seed : int
    training_frames, training_episodes : int, optional
        A learner's budget, as `training_budget` returns it.
    checkpoint : str
        SHA-256 of the result of training elsewhere; "" if there is none.
    """
    episodes = training_episodes
    trained = "" if episodes in (None, protocol.training_episodes) else f',"training_episodes":{episodes}'
    network = f',"checkpoint":"{checkpoint}"' if checkpoint else ""
    canonical = (
        f'{{"agent":{_json(agent)},"game":{_json(game)},"protocol":{_settings(protocol, game)},'
        f'"seed":{seed}{trained},"training_frames":{_json(training_frames)}{network}}}'
    )
    return f"{slug(agent)}-{game}-s{seed}-{hashlib.sha256(canonical.encode()).hexdigest()[:8]}"


_json = lru_cache(maxsize=1024)(json.dumps)


@lru_cache(maxsize=1024)
def _settings(protocol: Protocol, task: str) -> str:
    """Return as JSON the settings that can change an episode's score; a plan's trials share them."""
    return json.dumps(protocol.of_trial(task), sort_keys=True, separators=(",", ":"))


@lru_cache(maxsize=1024)
def slug(label: str) -> str:
    """Return the agent's part of names of trials and folders."""
    return re.sub(r"[^a-z0-9_]+", "-", label.lower().replace(".py:", "-")).strip("-")[:32]


def trial_of(
    document: Document, protocol: Protocol, agent: Mapping[str, Any] | None, game: str, seed: int
) -> str | None:
    """Return the id of a trial of one of a manifest's agents; None if it has no such trial.

    `protocol` is the manifest's.
    """
    networks, key = agent.get("checkpoints") if agent else None, game_and_seed(game, seed)
    if agent is None or game not in document["games"] or (networks and key not in networks):
        return None
    if "imported" in document:
        return imported_id(agent["label"], game, document["protocol"]["settings"], seed)
    checkpoint = networks[key] if networks else ""
    return trial_id(agent["label"], game, protocol, seed, *budget_of(document, protocol), checkpoint)


def imported_id(agent: str, game: str, settings: Mapping[str, Any], seed: int) -> str:
    """Return the name of a trial that was not played here; `settings` are the protocol's, as in a manifest."""
    canonical = json.dumps([agent, game, settings, seed], sort_keys=True)
    return f"imported-{game}-s{seed}-{hashlib.sha256(canonical.encode()).hexdigest()[:8]}"


def unplanned(
    document: Document, protocol: Protocol, trials: Iterable[TrialRecord]
) -> Iterator[tuple[TrialRecord, str]]:
    """Yield the trials that are not part of a manifest's plan, each with the reason; `protocol` is the manifest's."""
    agents, seeds = agents_of(document), set(document["seeds"])
    budget, most = budget_of(document, protocol), document["episodes"]
    for trial in trials:
        due = trial_of(document, protocol, agents.get(trial.agent), trial.game, trial.seed)
        trained = trial.training_frames, trial.training_episodes
        for planned, wrong in (
            (trial.agent in agents, f"it has no agent {one_line(trial.agent, 60)!r}"),
            (trial.game in document["games"], f"it has no game {one_line(trial.game, 60)!r}"),
            (trial.seed in seeds, f"it has no seed {trial.seed}"),
            (due in (None, trial.id), f"the trial's id should be {due}"),
            (trial.episodes <= most, f"the trial has {trial.episodes:,} episodes, more than {most:,}"),
            (
                "imported" in document or trained == budget or (not trial.learns and trained == (None, None)),
                f"the trial trains for {_budget_text(*trained)}, not for {_budget_text(*budget)}",
            ),
        ):
            if not planned:
                yield trial, wrong
                break


def _budget_text(frames: int | None, episodes: int | None) -> str:
    unit, amount = ("frames", frames) if frames is not None else ("episodes", episodes)
    return "nothing" if amount is None else f"{amount:,} {unit}"


def budget_of(document: Document, protocol: Protocol) -> tuple[int | None, int | None]:
    """Return a learner's budget, as in `training_budget`."""
    return training_budget(protocol, document.get("training_frames"), document.get("training_episodes"))


def training_budget(protocol: Protocol, frames: int | None, episodes: int | None) -> tuple[int | None, int | None]:
    """Return a learner's budget in frames or in episodes, one of them None: the requested, else the protocol's."""
    if frames is None and episodes is None:
        return protocol.training_frames, protocol.training_episodes
    return frames, episodes


def protocol_of(directory: Path, document: Document, which: str = "protocol") -> Protocol:
    """Return the protocol of a manifest; ArcadeMarkError: it is damaged."""
    try:
        protocol = from_json(document[which])
        if protocol.suite and which == "protocol":
            for task in document["games"]:
                protocol.suite.tasks[task]
        return protocol
    except (ArcadeMarkError, KeyError, TypeError, ValueError) as error:
        raise ArcadeMarkError(f"{directory / FILE}: damaged ({error}); restore it from a copy") from None


def differences(recorded: Document, now: Document, *, growing: bool = True) -> list[str]:
    """Name every change that a run does not allow, as "protocol frame_skip: 4 there, 5 now".

    `growing`: whether the second continues the first, and so cannot have fewer episodes.
    """
    changes: list[tuple[str, Any, Any]] = []
    old, new = from_json(recorded["protocol"]), from_json(now["protocol"])
    if old.name != new.name:
        changes.append(("protocol", old.name, new.name))
    changes += [(f"protocol {item.setting}", item.a, item.b) for item in protocols.differences(old, new)]
    if old.name == new.name:
        changes.append(("suite", old.suite and old.suite.name, new.suite and new.suite.name))
    if old.suite and new.suite:
        for task in [task for task in recorded["games"] if task in now["games"]]:
            kinds = old.of_trial(task)["task"], new.of_trial(task)["task"]
            names = dict.fromkeys((*kinds[0], *kinds[1]))
            changes += [(f"{name} of task {task}", *(kind.get(name) for kind in kinds)) for name in names]
    before, after = (document.get("trained_under") for document in (recorded, now))
    if before != after:
        labels = [trained and from_json(trained).label for trained in (before, after)]
        other = ", with other settings" if labels[0] == labels[1] else ""
        changes.append(("protocol of training", labels[0], f"{labels[1] or 'none'}{other}"))
    changes += _agent_differences(agents_of(recorded), agents_of(now))
    for field in ("training_frames", "training_episodes"):
        given, wanted = (document.get(field) or "the protocol's" for document in (recorded, now))
        changes.append((f"{field.replace('_', ' ')} (they cannot be changed)", given, wanted))
    changes.append(("version of ale-py", recorded["versions"].get("ale-py"), now["versions"].get("ale-py")))
    for game in [game for game in recorded["games"] if game in now["games"]]:
        changes.append((f"version or ROM of {game}", recorded["games"][game], now["games"][game]))
    if growing and now["episodes"] < recorded["episodes"]:
        changes.append(("episodes (they can be raised, not lowered)", recorded["episodes"], now["episodes"]))
    return [f"{what}: {_text(a)} there, {_text(b)} now" for what, a, b in changes if a != b]


def versions(document: Document) -> dict[str, str]:
    """Return the versions that a run was made with, "2.9.0, then 2.10.0" where it was continued with others."""
    by_package: dict[str, dict[str, None]] = {}
    for made in (document, *document.get("continued", [])):
        for package, version in (made.get("versions") or {}).items():
            by_package.setdefault(package, {}).update({version: None} if version is not None else {})
    return {package: ", then ".join(known) for package, known in by_package.items() if known}


def emulators(document: Document) -> dict[str, list[str]]:
    """Return the emulators of each game, with their versions; the toy game is its own emulator."""
    played = document.get("emulators")
    if played is not None:
        return dict(played)
    return {game: [f"ale-py {document['versions'].get('ale-py')}"] for game, rom in document["games"].items() if rom}


def grown(recorded: Document, now: Document, started: str) -> Document:
    """Return the manifest of a run that is continued: earlier and new parts, and the new provenance."""
    command = {"started": started, **{key: now[key] for key in ("command", "versions", "machine", "emulator")}}
    shard = {"shard": now["shard"]} if "shard" in now else {}
    return joined(recorded, now) | {"continued": [*recorded.get("continued", []), command]} | shard


def joined(one: Document, other: Document) -> Document:
    """Return the manifest of one run extended by another's contents, except its start and its continuations."""
    seeds, left_out = set(one["seeds"]), set(map(tuple, one["left_out"]))
    emulated = {game: [*names] for game, names in emulators(one).items()}
    for game, names in emulators(other).items():
        known = emulated.setdefault(game, [])
        known += [name for name in names if name not in known]
    agents = agents_of(other)
    protocol = one["protocol"]
    if "suite" in protocol:  # tasks may have been added to its file
        suite, more = protocol["suite"], other["protocol"]["suite"]
        both = {part: {**more[part], **suite[part]} for part in ("tasks", "subsets")}
        protocol = protocol | {"suite": suite | both}
    return one | {
        "protocol": protocol,
        "agents": [_joined_agent(agent, agents[agent["label"]]) for agent in one["agents"]],
        "games": one["games"] | other["games"],
        "seeds": [*one["seeds"], *(seed for seed in other["seeds"] if seed not in seeds)],
        "episodes": max(one["episodes"], other["episodes"]),
        "left_out": one["left_out"] + [item for item in other["left_out"] if tuple(item) not in left_out],
        "emulators": emulated,
    }


def _joined_agent(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Return an agent with the facts of both: the other's if they differ, but the larger peak of memory."""
    by_trial = ("checkpoints", "trained_frames", "peak_bytes", "snapshots")
    facts = {name: one.get(name, {}) | other.get(name, {}) for name in by_trial}
    for trial, peak in one.get("peak_bytes", {}).items():
        facts["peak_bytes"][trial] = max(peak, facts["peak_bytes"][trial])
    flags = {name: other[name] for name in ("plans", "draws") if name in other}
    return one | flags | {name: known for name, known in facts.items() if known or name == "checkpoints"}


def _agent_differences(
    old: Mapping[str, Mapping[str, Any]], new: Mapping[str, Mapping[str, Any]]
) -> list[tuple[str, Any, Any]]:
    if old.keys() != new.keys():
        return [("agents", _listed(old.keys() - new.keys()), _listed(new.keys() - old.keys()))]
    changes: list[tuple[str, Any, Any]] = []
    for label, agent in old.items():
        other = new[label]
        if source := agent.get("source"):
            after = (other.get("source") or {}).get("sha256", "none")
            changes.append((f"code of {label} (sha256 of {source['path']})", source["sha256"][:12], after[:12]))
        for name, before in agent.get("files", {}).items():
            after = other.get("files", {}).get(name, "none")
            changes.append((f"file of {label} (sha256 of its parameter '{name}')", before[:12], after[:12]))
        for trial, before in agent.get("checkpoints", {}).items():
            after = other.get("checkpoints", {}).get(trial, before)
            changes.append((f"checkpoint of {label} on {trial} (sha256)", before[:12], after[:12]))
        changes.append((f"parameters of {label}", agent.get("parameters") or {}, other.get("parameters") or {}))
    return changes


def _listed(labels: Set[str]) -> str | None:
    return ", ".join(sorted(labels)[:3] + (["…"] if len(labels) > 3 else [])) or None


def _text(value: Any) -> str:
    return "none" if value is None else str(value)
