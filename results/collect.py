"""Write the results of runs as the project keeps them: a CSV row a trial, and learners' curves beside them.

python results/collect.py STUDY RUN [RUN ...] [FORECAST.json ...]

A forecast is what `arcademark plan … --format json` printed of one of the runs. What the study has already is kept. Of
a trial that several runs have, or a run and the study, what was played furthest is taken, of as many frames the later
run, and of two with other learning parameters (`results/trials.py`) the later, too; of one that was cut off, what there
is.
"""

import csv
import hashlib
import json
import sys
from collections.abc import Iterable, Iterator
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

import numpy as np

import arcademark.reproduce
from arcademark.metrics.training import training_score
from arcademark.metrics.uncertainty.intervals import score_intervals
from arcademark.records.manifest import emulators, versions
from arcademark.records.model import Episodes, Phase, RunRecord, TrialRecord, scored_phase
from arcademark.records.reading import action_digests, read_run
from arcademark.reproduce.ale2013.ours import LAST, CurvePoint, Forecast, TrialResult
from arcademark.suite import learners
from arcademark.suite.tasks import canonical_game, score_bounds

DATA = Path(arcademark.reproduce.__file__).parent / "data"
POINTS = 10


def rows(run: RunRecord) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Yield a row and the points of its curve for each trial that has its evaluation, or training."""
    packages = [f"{name} {version}" for name, version in sorted(versions(run.manifest).items())]
    played_on = emulators(run.manifest)
    for trial in run.trials:
        made_with = dict.fromkeys([*packages, *(named.partition(" (")[0] for named in played_on.get(trial.game, []))])
        training, evaluation = run.training(trial), run.evaluation(trial)
        if scored_phase(run.protocol, bool(trial.learns)) == "training":
            scored = training[-trial.episodes :]
        else:
            scored = evaluation
        if not scored or (len(evaluation) and len(evaluation) < trial.episodes):
            continue
        mean, low, high, error = score_intervals([scored.score], [score_bounds(trial.game)])[0]
        numbers = {"least": scored.score.min(), "mean": mean, "most": scored.score.max()}
        numbers |= {"low": low, "high": high, "standard_error": error}
        numbers |= {"seconds": training.wall_seconds.sum() + evaluation.wall_seconds.sum()}
        named = {"agent": trial.agent, "game": trial.game, "seed": trial.seed}
        row = {
            **named,
            "episodes": len(scored),
            **{name: "" if np.isnan(number) else f"{number:.10g}" for name, number in numbers.items()},
            "frames": training.frames.sum() + evaluation.frames.sum(),
            "versions": ", ".join(made_with),
            "checksum": checksum(run, trial),
            "budget": (trial.training_frames or 0) if trial.learns else 0,
            "simulated_frames": evaluation.simulated_frames.sum(),
            "learning": learning(run, trial.agent),
        }
        yield row, [named | point for point in curve(training, trial)]


def learning(run: RunRecord, agent: str) -> str:
    """Return the parameters with which SARSA learnt, "" of other agents."""
    entry = next(one for one in run.manifest["agents"] if one["label"] == agent)
    if entry.get("reference") != learners.NAME:
        return ""
    given = {name: value for name, value in (entry.get("parameters") or {}).items() if value is not None}
    used = learners.defaults(str(given.get("features", learners.FEATURES))) | given
    return " ".join(f"{name}={used[name]}" for name in ("alpha", "alpha_schedule", "lambda_"))


def checksum(run: RunRecord, trial: TrialRecord) -> str:
    """Return the checksum of all of a trial's episodes."""
    result = hashlib.sha256()
    parts: tuple[tuple[Phase, Episodes], ...] = (
        ("training", run.training(trial)),
        ("evaluation", run.evaluation(trial)),
    )
    for phase, played in parts:
        digests = action_digests(run, trial.id, phase)
        for number, score, frames in zip(played.episode.tolist(), played.score.tolist(), played.frames, strict=True):
            result.update(f"{number} {score!r} {frames} {digests[number].hex()}\n".encode())
    return result.hexdigest()[:16]


def curve(training: Episodes, trial: TrialRecord) -> Iterator[dict[str, Any]]:
    """Yield what a trial's last episodes had scored at each tenth of its budget, and at its end."""
    ends = np.cumsum(training.frames)
    behind = np.arange(1, len(ends) + 1) if trial.training_episodes else ends
    budget = trial.training_episodes or trial.training_frames or 0
    counts = [int((behind <= budget * part // POINTS).sum()) for part in range(1, POINTS)]
    for count in dict.fromkeys(count for count in (*counts, len(ends)) if count):
        means = {f"last_{k}": f"{training_score(training.score[:count], ends[:count], k).end:.7g}" for k in LAST}
        yield {"frames": ends[count - 1], "episodes": count, **means}


def forecast(path: str) -> Iterator[dict[str, Any]]:
    """Yield what was foretold of an episode of each game."""
    plan = json.loads(Path(path).read_text(encoding="utf-8"))
    for game in plan["by_game"]:
        yield {
            "agent": ", ".join(plan["agents"]),
            "game": canonical_game(game["game"]),
            "frames": game["episode_frames"],
            "simulated_frames": round(game["simulated_frames"] / game["episodes"]),
            "core_hours": f"{game['core_hours'] / game['episodes']:.4g}",
        }


def there(name: str) -> list[dict[str, Any]]:
    """Return the rows of a study's file, none where there is none yet."""
    path = DATA / name
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def trial_of(row: dict[str, Any]) -> tuple[str, str, int]:
    """Return which trial a row is of."""
    return row["agent"], row["game"], int(row["seed"])


def write(name: str, kind: type, found: Iterable[dict[str, Any]]) -> None:
    """Write a file with a column for each field of the dataclass that is not everywhere what it is by default."""
    usual = {each.name: "" if each.default in (None, MISSING, ()) else each.default for each in fields(kind)}
    whole = [usual | row for row in found]
    kept = [column for column in usual if any(str(row[column]) != str(usual[column]) for row in whole)]
    with (DATA / name).open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, kept, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(whole)


def main(study: str, *given: str) -> None:
    """Write the study's files."""
    plans = [path for path in given if path.endswith(".json")]
    merge(study, [found for run in given if run not in plans for found in rows(read_run(run))])
    if plans:
        known = {(row["agent"], row["game"]): row for row in there(f"{study}-forecasts.csv")}
        known |= {(row["agent"], row["game"]): row for path in plans for row in forecast(path)}
        write(f"{study}-forecasts.csv", Forecast, known.values())
        summed()


def merge(study: str, found: Iterable[tuple[dict[str, Any], list[dict[str, Any]]]]) -> None:
    """Add trials and their curves to the study's files."""
    furthest: dict[tuple[str, str, int], tuple[dict[str, Any], list[dict[str, Any]]]]
    furthest = {trial_of(row): (row, []) for row in there(f"{study}.csv")}
    for point in there(f"{study}-curves.csv"):
        furthest[trial_of(point)][1].append(point)
    for row, points in found:
        key = trial_of(row)
        known = furthest.get(key, ({}, []))[0]
        if (known.get("learning") or "") != row.get("learning", "") or int(known.get("frames", 0)) <= row["frames"]:
            furthest[key] = row, points
    write(f"{study}.csv", TrialResult, [row for row, _ in furthest.values()])
    if points := [point for _, points in furthest.values() for point in points]:
        write(f"{study}-curves.csv", CurvePoint, points)
    summed()


def summed() -> None:
    """Write the checksums of all data."""
    data = sorted(path for path in DATA.iterdir() if path.suffix in {".csv", ".toml"})
    sums = (f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in data)
    (DATA / "SHA256SUMS").write_text("".join(sums), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
