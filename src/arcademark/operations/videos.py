"""Animations of the beginnings of recorded episodes: one per agent and game, of the median score."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from arcademark.analysis.site.document import Film
from arcademark.errors import ArcadeMarkError
from arcademark.records.model import RunRecord
from arcademark.records.reading import read_actions
from arcademark.runs.replay import video
from arcademark.runs.replay.episodes import Recorded, open_recorded, replay
from arcademark.runs.replay.watch import EVERY_FRAMES, FRAMES_PER_SECOND

LONGEST = 8 * FRAMES_PER_SECOND
"""Maximum number of shown frames of an episode."""

MAX_BYTES = 1_000_000
"""Total size of all animations, so that the pages stay small."""


def make_films(runs: Sequence[RunRecord]) -> tuple[dict[tuple[str, str], list[Film]], dict[str, bytes], int]:
    """Make animations of runs.

    Returns
    -------
    films : dict
        By a run's directory and an agent's label.
    files : dict
        Their contents, by path.
    left_out : int
        Episodes for which there was no room, or that do not replay.
    """
    films: dict[tuple[str, str], list[Film]] = {}
    files: dict[str, bytes] = {}
    left_out = 0
    for run in runs:
        for recorded in _chosen(run):
            trial, row = recorded
            name = f"films/{len(files)}.gif"
            try:
                content = _gif(run, recorded)
            except ArcadeMarkError:  # the missing badge shows episodes that do not replay
                content = b""
            if not content or sum(map(len, files.values())) + len(content) > MAX_BYTES:
                left_out += 1
                continue
            files[name] = content
            shown = min(LONGEST, row.frames)
            film = Film(trial.game, name, trial.seed, row.episode, row.score, shown, row.frames)
            films.setdefault((str(run.directory), trial.agent), []).append(film)
    return films, files, left_out


def _chosen(run: RunRecord) -> Iterator[Recorded]:
    """Choose the episode of the median score per agent and game."""
    for agent, game in dict.fromkeys((trial.agent, trial.game) for trial in run.trials):
        trials = [trial for trial in run.trials if (trial.agent, trial.game) == (agent, game)]
        rows = [run.scored_episodes(trial) for trial in trials]
        scores = np.concatenate([part.score for part in rows])
        if scores.size:
            middle = int(np.argsort(scores, kind="stable")[scores.size // 2])
            ends = np.cumsum([len(part) for part in rows])
            place = int(np.searchsorted(ends, middle, side="right"))
            yield Recorded(trials[place], rows[place][middle - int(ends[place])])


def _gif(run: RunRecord, recorded: Recorded) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "film.gif"
        video.write(path, _pictures(run, recorded), FRAMES_PER_SECOND / EVERY_FRAMES[".gif"])
        return path.read_bytes()


def _pictures(run: RunRecord, recorded: Recorded) -> Iterator[video.Picture]:
    trial, row = recorded
    environment = open_recorded(run.protocol, trial, row.phase)
    actions = read_actions(run.directory, trial.id, row.episode, row.phase).tolist()
    for number, _ in enumerate(replay(environment, recorded, actions, by_frame=True)):
        if number >= LONGEST:
            return
        if number % EVERY_FRAMES[".gif"] == 0:
            yield environment.render()
