"""A report of scores as a model card of the Hugging Face Hub: metadata of the evaluation, then the report."""

from __future__ import annotations

import json
from typing import Any

from arcademark import wording
from arcademark.analysis.runs.directory import Run
from arcademark.analysis.scoring.report import ScoreReport
from arcademark.analysis.tables.document import Score
from arcademark.pages.render import blocks, markdown

NAME = "README.md"


def render(report: ScoreReport, document: blocks.Document) -> str:
    """Return a model card, with JSON values in its YAML metadata."""
    head = "\n".join(f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in _metadata(report).items())
    body, last, generator = markdown.render(document, everything=True).rpartition("\n\n*")
    return f"---\n{head}\n---\n\n{body}\n\n{_verifying(report)}{last}{generator}"


def _metadata(report: ScoreReport) -> dict[str, Any]:
    """Return the metadata that the Hub shows as evaluation results (``model-index``), with one result per game."""
    games = {game.id: game.name for game in report.games}
    atari = not report.benchmark.own
    kind = ["atari"] if atari else []
    return {
        "tags": ["reinforcement-learning", "deep-reinforcement-learning", *kind, "arcademark"],
        "model-index": [
            {
                "name": algorithm.name,
                "results": [
                    {
                        "task": {"type": "reinforcement-learning", "name": "reinforcement-learning"},
                        "dataset": {
                            "name": f"{games[score.game]}{f' ({algorithm.protocol})' if algorithm.protocol else ''}",
                            "type": f"ALE/{''.join(map(str.capitalize, score.game.split('_')))}-v5"
                            if atari
                            else f"{report.benchmark.name}/{score.game}",
                        },
                        "metrics": [_metric(score, report.intervals.confidence)],
                    }
                    for score in algorithm.scores
                    if score.score.value is not None
                ],
            }
            for algorithm in report.algorithms
        ],
    }


def _metric(score: Score, confidence: float) -> dict[str, Any]:
    """Return the mean score, named with the number of episodes or runs and its interval."""
    number = f"{len(score.played.episodes)} episodes" if score.played else f"{score.runs} runs"
    between = f", {wording.percentage(confidence)} interval {score.interval}" if score.score.low is not None else ""
    return {
        "type": "mean_reward",
        "name": f"mean raw score of {number}{between}",
        "value": score.score.value,
        "verified": False,
    }


def _verifying(report: ScoreReport) -> str:
    """Describe how to replay the runs."""
    places = [place for run in report.runs if (place := _replayed(run))]
    if not places:
        return "## Verify\n\nThese scores have no recorded actions, so they cannot be replayed."
    commands = "\n".join(f"arcademark verify {place}" for place in places)
    return (
        "## Verify\n\nEvery action of every episode is recorded in the run's directory. With it, without the network,\n"
        "this replays all episodes and compares their scores:\n\n"
        f"```sh\npip install arcademark\n{commands}\n```"
    )


def _replayed(run: Run) -> str:
    """Return the directory with the actions behind a run's scores, "" if there is none."""
    if run.imported is None:
        return run.directory
    last_evaluation = max(run.imported.files, default="").rpartition("/")[0]
    return f"{run.directory}/{last_evaluation}" if run.imported.judged else ""
