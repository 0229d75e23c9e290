"""Write the results of runs as the project keeps them: a CSV row a trial.

python results/collect.py STUDY RUN [RUN ...]
"""

import csv
import hashlib
import sys
from pathlib import Path
from typing import Any

import numpy as np

import arcademark.reproduce
from arcademark.metrics.uncertainty.intervals import score_intervals
from arcademark.reproduce.ours import TrialResult
from arcademark.runs.store.manifest import versions
from arcademark.runs.store.reading import RunRecord, action_digests, read_run
from arcademark.suite.tasks import score_bounds

DATA = Path(arcademark.reproduce.__file__).parent / "data"


def rows(run: RunRecord) -> list[dict[str, Any]]:
    """Return a row for each trial that has all its evaluation episodes."""
    made_with = ", ".join(f"{name} {version}" for name, version in sorted(versions(run.manifest).items()))
    result = []
    for place, trial in enumerate(run.trials):
        played = run.episodes[(run.episodes.trial == place) & ~run.episodes.training]
        if len(played) < trial.episodes:
            continue
        mean, low, high, error = score_intervals([played.score], [score_bounds(trial.game)])[0]
        digests, checksum = action_digests(run, trial.id), hashlib.sha256()
        for number, score, frames in zip(played.episode.tolist(), played.score.tolist(), played.frames, strict=True):
            checksum.update(f"{number} {score!r} {frames} {digests[number].hex()}\n".encode())
        numbers = {"least": played.score.min(), "mean": mean, "most": played.score.max()}
        numbers |= {"low": low, "high": high, "standard_error": error, "seconds": played.wall_seconds.sum()}
        result.append(
            {
                "agent": trial.agent,
                "game": trial.game,
                "seed": trial.seed,
                "episodes": len(played),
                **{name: "" if np.isnan(number) else f"{number:.10g}" for name, number in numbers.items()},
                "frames": played.frames.sum(),
                "versions": made_with,
                "checksum": checksum.hexdigest()[:16],
            }
        )
    return result


def main(study: str, *runs: str) -> None:
    """Write the study's file, and its checksum beside those of the other data."""
    with (DATA / f"{study}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [*TrialResult.__annotations__], lineterminator="\n")
        writer.writeheader()
        for run in runs:
            writer.writerows(rows(read_run(run)))
    data = sorted(path for path in DATA.iterdir() if path.suffix in {".csv", ".toml"})
    sums = (f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in data)
    (DATA / "SHA256SUMS").write_text("".join(sums), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
