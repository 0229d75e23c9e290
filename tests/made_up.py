"""Runs with made-up scores: plausible numbers for looks and layout, measured by nobody."""

import dataclasses
import itertools
from pathlib import Path

import numpy as np

from arcademark.analysis.scoring.analysis import analyse
from arcademark.records.model import EpisodeRecord, Episodes, RunRecord, TrialRecord
from arcademark.scores.runs import collect, score_run
from arcademark.suite.protocols import protocol

ATARI_5 = ("battle_zone", "double_dunk", "name_this_game", "phoenix", "qbert")
OWN_AGENT = "my_agent.py:make_agent(depth=2)"
MADE_UP = {  # mean, spread and step of the scores, made up
    "random": {
        "battle_zone": (2600, 1500, 1000),
        "double_dunk": (-18.4, 1.2, 2),
        "name_this_game": (2250, 600, 10),
        "phoenix": (830, 450, 20),
        "qbert": (170, 120, 25),
        "montezuma_revenge": (0, 0, 100),
    },
    OWN_AGENT: {
        "battle_zone": (31000, 6000, 1000),
        "double_dunk": (-2.0, 4.0, 2),
        "name_this_game": (9100, 1300, 10),
        "phoenix": (21000, 9000, 20),
        "qbert": (14200, 2500, 25),
        "montezuma_revenge": (400, 350, 100),
    },
}


def made_up_scores(agent, game, seed, episodes):
    mean, spread, step = MADE_UP.get(agent, MADE_UP["random"]).get(game, (1000.0, 300.0, 10.0))
    rng = np.random.default_rng([seed, *f"{agent} {game}".encode()])
    values = np.round((mean + spread * rng.standard_normal(episodes)) / step) * step
    return [float(value) for value in (values if game == "double_dunk" else np.maximum(values, 0))]


def in_columns(trials, rows):
    """The episodes of these trials, in the order in which the store would give them back."""
    places = {trial.id: place for place, trial in enumerate(trials)}
    ordered = sorted(rows, key=lambda row: (places[row.trial_id], row.phase == "evaluation", row.episode))
    return Episodes(
        tuple(places),
        np.array([places[row.trial_id] for row in ordered], np.int32),
        np.array([row.phase == "training" for row in ordered], np.bool_),
        np.array([row.episode for row in ordered], np.int64),
        np.array([row.score for row in ordered], np.float64),
        np.array([row.frames for row in ordered], np.int64),
        np.array([row.steps for row in ordered], np.int64),
        np.array([row.end == "truncated" for row in ordered], np.bool_),
        np.array([row.wall_seconds for row in ordered], np.float64),
        np.array([row.simulated_frames for row in ordered], np.int64),
    )


def made_up_run(
    directory="runs/random",
    agents=("random",),
    games=ATARI_5,
    *,
    seeds=(0, 1),
    episodes=10,
    played=None,
    failed=(),
    using=None,
    learns=False,
    scores=made_up_scores,
):
    """A run as the store would give it back; `played` episodes of each trial, none of those in `failed`."""
    using = using or protocol("world-records")
    trials, rows = [], []
    for agent, game, seed in itertools.product(agents, games, seeds):
        name = f"{agent}-{game}-s{seed}"
        count = 0 if (agent, game, seed) in failed else episodes if played is None else played
        status = "failed" if (agent, game, seed) in failed else "done" if count == episodes else "running"
        error = "ValueError: <b>depth</b> must be positive" if status == "failed" else None
        trials.append(TrialRecord(name, agent, game, seed, episodes, None, None, status, error, learns))
        for number, score in enumerate(scores(agent, game, seed, episodes)[:count]):
            cut = game == "double_dunk" and number % 5 == 4
            end = "truncated" if cut else "terminated"
            rows.append(EpisodeRecord(name, "evaluation", number, score, 9_000, 2_250, end, 0.5))
    manifest = {
        "schema": 1,
        "created": "2026-01-01T00:00:00+00:00",
        "command": f"arcademark run {agents[0]} --games {','.join(games)} --seeds {len(seeds)} --out {directory}",
        "protocol": using.to_json(),
        "agents": [{"label": agent} for agent in agents],
        "games": dict.fromkeys(games, "0123456789abcdef0123456789abcdef"),
        "seeds": list(seeds),
        "episodes": episodes,
        "left_out": [],
        "versions": {"arcademark": "0.1.0", "ale-py": "0.12.1", "numpy": "2.4.6", "python": "3.11.9"},
        "machine": {"system": "Linux x86_64", "processor": "Made-up 2000", "cores": 2},
        "continued": [],
    }
    return RunRecord(Path(directory), manifest, using, tuple(trials), in_columns(trials, rows))


def trained(record, lengths=(400,), *, budget=None, seeds_left=0):
    """The run of a learner: each trial with so many training episodes (by seed), that get better and longer.

    The last `seeds_left` trials have none yet.
    """
    trials, rows, budget = [], list(record.episodes), budget or max(lengths)
    for place, trial in enumerate(record.trials):
        count = lengths[place % len(lengths)] if place < len(record.trials) - seeds_left else 0
        trials.append(dataclasses.replace(trial, learns=True, training_episodes=budget))
        mean, spread, step = MADE_UP.get(trial.agent, MADE_UP["random"]).get(trial.game, (1000.0, 300.0, 10.0))
        rng = np.random.default_rng([trial.seed, *f"training {trial.agent} {trial.game}".encode()])
        for number in range(count):
            share = (number + 1) / (number + 1 + 0.2 * max(lengths))
            score = round((share * mean + 0.5 * spread * rng.standard_normal()) / step) * step
            frames = 5 * round(400 + 1600 * share + 200 * rng.random())
            rows.append(
                EpisodeRecord(trial.id, "training", number, float(score), frames, frames // 5, "terminated", 0.5)
            )
    planned = record.manifest | {"training_episodes": budget}
    return dataclasses.replace(record, manifest=planned, trials=tuple(trials), episodes=in_columns(trials, rows))


def collected(*records):
    return collect([score_run(record) for record in records])


def analysed(*records, **options):
    """The report of runs, with few resamples: for what does not depend on intervals."""
    return analyse(collected(*records), resamples=20, **options)
