"""An episode as a moving picture: its recorded actions are replayed, and the screen is shown with the running score."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Unpack

from arcademark.errors import ArcadeMarkError
from arcademark.files import check_replaceable
from arcademark.runs import video
from arcademark.runs.replay import Choice, Recorded, open_recorded, replay, select_one
from arcademark.runs.store import RunRecord, read_actions, read_run

FRAMES_PER_SECOND = 60
EVERY_FRAMES = {".gif": 3, ".mp4": 1}
"""Real speed in both. An odd number, since games flicker: what they draw every other frame would always be left out, or
never."""


def watch(
    directory: str | os.PathLike[str],
    *,
    out: str | os.PathLike[str] | None = None,
    scale: int = 2,
    every_frames: int | None = None,
    overwrite: bool = False,
    on_frames: Callable[[int, int], None] = lambda _done, _total: None,
    **choice: Unpack[Choice],
) -> Path:
    """Write an episode of a run as GIF or MP4, at the speed at which people play, and return the file.

    By default it is a GIF in the current folder, named after game, seed and episode; it shows one of 3 frames, an MP4
    each. Without `overwrite` only a file that this function wrote is replaced. `on_frames` is called now and then with
    the frames shown and those of the episode. No file is left where the replay does not give the recorded score.
    """
    run = read_run(directory)
    recorded = select_one(run, **choice)
    path = Path(out) if out is not None else Path(_name(recorded))
    every = every_frames or EVERY_FRAMES.get(path.suffix.lower(), 1)
    if every < 1 or scale < 1:
        raise ArcadeMarkError(f"scale {scale}, every {every} frames: expected whole numbers of at least 1")
    if not path.parent.is_dir():
        raise ArcadeMarkError(f"{path}: there is no folder {path.parent}; make it, or choose another --out")
    if not overwrite:
        start = {".gif": b"GIF89a", ".mp4": b"\0\0\0\0ftyp"}.get(path.suffix.lower(), b"")
        check_replaceable(path, start, "choose another --out, or replace it with --overwrite")
    pictures = _pictures(run, recorded, scale, every, on_frames)
    video.write(path, pictures, FRAMES_PER_SECOND / every)
    return path


def _name(recorded: Recorded) -> str:
    trial, row = recorded
    training = "training-" if row.phase == "training" else ""
    return f"{trial.game}-seed{trial.seed}-{training}episode{row.episode}.gif"


def _pictures(
    run: RunRecord, recorded: Recorded, scale: int, every: int, on_frames: Callable[[int, int], None]
) -> Iterator[video.Picture]:
    """Replay frame by frame and show one of so many, and the last one."""
    trial, row = recorded
    actions = read_actions(run.directory, trial.id, row.episode, row.phase).tolist()
    environment = open_recorded(run.protocol, trial, row.phase)
    left, score, ended = f"{trial.game} · episode {row.episode}", 0.0, False
    for shown, step in enumerate(replay(environment, recorded, actions, by_frame=True)):
        score += step.reward
        ended = step.terminated or step.truncated
        if shown % every == 0 or ended:
            frames = environment.episode_frames
            yield video.captioned(environment.render(), scale, left, f"{_clock(frames)}   score {score:,.15g}")
            on_frames(frames, row.frames)
    if (score, environment.episode_frames, ended) != (row.score, row.frames, True):
        raise ArcadeMarkError(
            f"{run.directory}: {row.phase} episode {row.episode} of trial {trial.id} does not replay as recorded: "
            f"score {score:.15g} in {environment.episode_frames} frames, recorded {row.score:.15g} in {row.frames}; "
            f"'arcademark verify {run.directory}' shows more"
        )


def _clock(frames: int) -> str:
    seconds = frames // FRAMES_PER_SECOND
    return f"{seconds // 60}:{seconds % 60:02}"
