"""Damaged and hostile runs by the hundred: each is used, or refused in one line, by all that read or continue it.

``ARCADEMARK_FUZZ=10000`` tries so many; ``ARCADEMARK_FUZZ_SEED`` tries others. What failed is told with its number,
which ``ARCADEMARK_FUZZ_ONLY`` tries again alone.
"""

import contextlib
import json
import os
import random
import resource
import shutil
import sqlite3
import time
import traceback

import numpy as np
import pytest
from unfinished import keep

import altering
from altering import alter
from arcademark.agents.loading import agent_specs
from arcademark.analysis.scoring.analysis import analyse
from arcademark.errors import ArcadeMarkError
from arcademark.records.ledger import read_ledger
from arcademark.records.reading import read_run
from arcademark.runs import execution
from arcademark.runs.engines.here import InProcessEngine
from arcademark.runs.plan import make_plan
from arcademark.runs.playing.events import Failed
from arcademark.runs.replay.feature_steps import recorded_play
from arcademark.runs.replay.verify import verify
from arcademark.runs.replay.watch import watch
from arcademark.scores.runs import load_runs
from arcademark.suite.protocols import protocol
from damaging import damaged

INPUTS = int(os.environ.get("ARCADEMARK_FUZZ", "250"))
SEED = int(os.environ.get("ARCADEMARK_FUZZ_SEED", "0"))
ONLY = os.environ.get("ARCADEMARK_FUZZ_ONLY")
MAX_SECONDS = 10.0
MAX_BYTES = 2 << 30
PAGE = 4096

TEXTS = ["", "a", "\x1b[2J", "\udcff", "../../x", "[bold]", "=1+1", "é" * 2000, "x" * 200_000, "NaN", "1e400", "\0"]
NUMBERS = [0, -1, 1, 0.5, -0.0, 1e300, -1e300, 2**31, 2**53, 2**63 - 1, -(2**63), 10**6, 10**7]
VALUES = [*TEXTS, *NUMBERS, None, b"", b"\0\xff", b"x" * 5000]
JSON_VALUES = [*TEXTS, *NUMBERS, None, True, False, [], {}, [[]], {"a": 1}, [1, "a", None], 10**30, 10**400]


@pytest.fixture(scope="module")
def honest(tmp_path_factory):
    """Small runs and their plans: policies that are done, a planner within an episode, a learner within training."""
    folder = tmp_path_factory.mktemp("fuzz")
    settings = {"max_frames_per_episode": 100, "reported_episodes": "evaluation"}
    rules = protocol("world-records").override(settings)
    ale = protocol("ale-2013").override({"max_frames_per_episode": 40, "reported_episodes": "evaluation"})
    planner = agent_specs("uct", {"simulations": "4", "horizon_frames": "10"})
    learner = agent_specs("sarsa", {"features": "lsh", "vectors": "20", "nonzero": "3"})
    plans = {
        "policies": make_plan([*agent_specs("random"), *agent_specs("const")], ["toy"], rules, (0, 1), episodes=2),
        "emulated": make_plan("random", ["pong"], ale, episodes=2),
        "planner": make_plan(planner, ["toy"], rules, episodes=2),
        "learner": make_plan(learner, ["toy"], rules, episodes=2, frames=300),
    }
    for name, plan in plans.items():
        execution.execute(plan, folder / name, engine="this process")
    alter(folder / "planner", "DELETE FROM evaluation", "DELETE FROM episode")
    keep(plans["planner"], folder / "planner")
    alter(folder / "learner", "UPDATE checkpoint SET finished = 0, frames = 100")
    alter(folder / "learner", "DELETE FROM evaluation", "DELETE FROM episode WHERE phase = 'evaluation'")
    for name in plans:
        with sqlite3.connect(folder / name / "run.sqlite") as database:  # pages and rows still in the log
            database.execute("PRAGMA journal_mode = WAL")
            database.execute("UPDATE trial SET error = NULL")
            database.commit()
            shutil.copytree(folder / name, folder / f"{name} played")
        database.close()
    return tuple((folder / f"{name}{ending}", plan) for name, plan in plans.items() for ending in ("", " played"))


@pytest.fixture(scope="module", autouse=True)
def _in_this_process():
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(execution.ENGINES, "this process", lambda *_: InProcessEngine())
        patch.setattr("arcademark.runs.engines.here.failure", _failure)
        yield


def _failure(error):
    if not isinstance(error, ArcadeMarkError):
        raise error
    return Failed(str(error))


# Damage


def _bytes(rng, directory, name):
    path = directory / name
    content = path.read_bytes() if path.exists() else b""
    first, second = (PAGE * rng.randrange(max(1, len(content) // PAGE)) for _ in range(2))
    kind = rng.choice(("anywhere", "anywhere", "begin", "hole", "moved"))
    match kind:
        case "anywhere":
            content = damaged(content, np.random.default_rng(rng.randrange(2**32)))
        case "begin":
            content = damaged(content[:200], np.random.default_rng(rng.randrange(2**32)))[:200] + content[200:]
        case "hole":
            content = content[:first] + bytes(PAGE) + content[first + PAGE :]
        case "moved":
            content = content[:first] + content[second : second + PAGE] + content[first + PAGE :]
    path.write_bytes(content)
    return f"{name} {kind} {first} {second}"


def _change_rows(rng, directory, _):
    with altering.database(directory) as database:
        tables = ["trial", "episode", "checkpoint", "unfinished", "evaluation"]
        table = rng.choice([name for name in tables if database.execute(f"SELECT 1 FROM {name}").fetchone()])
        columns = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
        column, value = rng.choice(columns), rng.choice(VALUES)
        row = rng.choice([row for (row,) in database.execute(f"SELECT rowid FROM {table}")])
        place = f"rowid = {row}" if rng.random() < 0.7 else "TRUE"
        if isinstance(value, str):
            value = value.encode("utf-8", "surrogatepass")
        statement = rng.choice(
            (
                *[f"UPDATE {table} SET {column} = ?1 WHERE {place}"] * 6,
                *[f"UPDATE {table} SET {column} = CAST(?1 AS TEXT) WHERE {place}"] * 3,
                f"DELETE FROM {table} WHERE {place} AND (TRUE OR ?1)",
                f"UPDATE {table} SET {column} = {rng.choice(columns)} WHERE {place} AND (TRUE OR ?1)",
            )
        )
        with contextlib.suppress(sqlite3.IntegrityError):
            database.execute(statement, (value,))
        return f"{statement} {str(value)[:40]!r}"


def _change_manifest(rng, directory, _):
    document = json.loads((directory / "manifest.json").read_text())
    told = []
    for _ in range(rng.choice((1, 1, 1, 3))):
        places = list(_places(document))
        parent, key = rng.choice(places)
        kind = rng.choice(("value", "value", "value", "missing", "more", "deep"))
        told.append(f"{kind} at {key!r}")
        match kind:
            case "value":
                parent[key] = rng.choice(JSON_VALUES)
            case "missing":
                del parent[key]
            case "more" if isinstance(parent, dict):
                parent[rng.choice(TEXTS)] = rng.choice(JSON_VALUES)
            case "more":
                parent.append(rng.choice(JSON_VALUES))
            case "deep":
                for _ in range(rng.choice((3, 70, 500))):
                    parent[key] = [parent[key]]
        if kind == "deep" or not document:
            break
    (directory / "manifest.json").write_text(json.dumps(document))
    return f"manifest.json {told}"


def _places(value):
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield value, key
        yield from _places(item)


DAMAGES = (
    *[(_bytes, "run.sqlite")] * 5,
    *[(_bytes, "run.sqlite-wal")] * 2,
    *[(_bytes, "manifest.json")] * 2,
    *[(_change_rows, "")] * 6,
    *[(_change_manifest, "")] * 4,
)


def _damage(rng, directory):
    damage, name = rng.choice(DAMAGES)
    try:
        return damage(rng, directory, name)
    except (sqlite3.Error, ValueError, IndexError) as error:  # damaged too much already
        return f"{damage.__name__}: {error}"


# Use


def _uses(plan, directory):
    yield "analyse", lambda: analyse([directory])
    yield "verify", lambda: verify(directory, workers=1)
    yield "load_runs", lambda: load_runs([directory])
    yield "ledger", lambda: read_ledger([directory])
    yield (
        "moments",
        lambda: list(zip(recorded_play(directory, "ram", trial="", episode=0).moments(), range(3), strict=False)),
    )
    yield "watch", lambda: watch(directory, out=directory / "film.gif")
    yield "continue", lambda: execution.execute(plan, directory, engine="this process")
    yield "read again", lambda: read_run(directory)


def _try(plan, directory):
    """Use a damaged run in every way; return what went wrong, "" if nothing did."""
    for name, use in _uses(plan, directory):
        began = time.perf_counter()
        try:
            use()
        except ArcadeMarkError as error:
            if not str(error).isprintable() and "\n" in str(error):
                return f"{name}: more than one line: {error!r}"
        except BaseException:
            return f"{name}: {traceback.format_exc()}"
        if time.perf_counter() - began > MAX_SECONDS:
            return f"{name}: took {time.perf_counter() - began:.0f} s"
    return ""


@pytest.mark.slow
def test_no_damage_leads_to_a_traceback(honest, tmp_path):
    failures = []
    for number in [int(ONLY)] if ONLY else range(INPUTS):
        rng = random.Random(f"{SEED} {number}")
        original, plan = rng.choice(honest)
        directory = tmp_path / "run"
        shutil.rmtree(directory, ignore_errors=True)
        shutil.copytree(original, directory)
        told = [_damage(rng, directory) for _ in range(rng.choice((1, 1, 2)))]
        if problem := _try(plan, directory):
            failures.append(f"input {number} ({original.name}): {told}: {problem}")
    assert not failures, f"{len(failures)} of {INPUTS} inputs; the first:\n" + "\n".join(failures[:3])
    assert 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < MAX_BYTES
