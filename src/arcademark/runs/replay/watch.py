"""Episodes as moving pictures, with the running score: a recorded episode is replayed, or an agent plays.

The screen is that of an environment that plays the same actions frame by frame, not the agent's observation.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any, Literal, Unpack

import numpy as np

from arcademark.environments.base import EnvironmentSpec, Step, one_by_one
from arcademark.environments.registry import environment_spec, open_environment, referee
from arcademark.errors import ArcadeMarkError, escaped
from arcademark.files import check_replaceable
from arcademark.records.model import RunRecord, scored_phase
from arcademark.records.reading import read_actions
from arcademark.runs.plan import Trial
from arcademark.runs.playing.slot import Slot, begin
from arcademark.runs.playing.trial import TrialPlayer
from arcademark.runs.replay import video
from arcademark.runs.replay.episodes import (
    EpisodeFilter,
    Recorded,
    observed_as,
    open_recorded,
    read_to_replay,
    replay,
    select_one,
)
from arcademark.suite.protocols import Protocol

FRAMES_PER_SECOND = 60
PER_SECOND = {"frame": FRAMES_PER_SECOND, "step": 15}
"""Pictures per second, by the protocol's unit."""

EVERY_FRAMES = {".gif": 3, ".mp4": 1}
"""Frames per picture, at real speed. Odd numbers, since games draw some objects only every other frame."""

PICTURES = 12
"""Number of pictures on a sheet."""

_STARTS = {".gif": b"GIF89a", ".mp4": b"\0\0\0\0ftyp", ".png": b"\x89PNG"}


@dataclass(frozen=True, eq=False)
class Shot:
    """Screen after a frame, with the score and the chosen action, by its number and name."""

    screen: video.Picture
    frames: int
    score: float
    ended: bool
    chosen: int
    action: str
    values: tuple[float, ...] = ()
    unit: Literal["frame", "step"] = "frame"


def watch(
    directory: str | os.PathLike[str],
    *,
    out: str | os.PathLike[str] | None = None,
    beside: tuple[str | os.PathLike[str], EpisodeFilter] | None = None,
    scale: int = 2,
    actions: bool = False,
    pictures: int = PICTURES,
    on_frames: Callable[[int, int], None] = lambda _done, _total: None,
    **choice: Unpack[EpisodeFilter],
) -> Path:
    """Write an episode of a run as GIF, MP4 or PNG, at the speed at which people play, and return the file.

    By default it is a GIF in the current folder, named after game, seed and episode. A GIF shows every third frame, an
    MP4 every frame, and a PNG a number of `pictures`, evenly spaced up to the end. With `beside`, a run and a choice, a
    second episode is shown next to it; with `actions` the actions, too. Only a file that this function wrote is
    replaced. `on_frames` is called with the number of frames so far and that of the longer episode. No file is left if
    the replay does not give the recorded score.
    """
    episodes = _chosen(directory, choice, beside)
    names = dict.fromkeys(_name(recorded) for _, recorded in episodes)
    path = Path(out) if out is not None else Path("-".join(names) + ".gif")
    kind = path.suffix.lower()
    unit = "step" if any(run.protocol.unit == "step" for run, _ in episodes) else "frame"
    every = EVERY_FRAMES.get(kind, 1) if unit == "frame" else 1
    if scale < 1 or pictures < 1:
        raise ArcadeMarkError(f"scale {scale}, {pictures} pictures: expected whole numbers of at least 1")
    if not path.parent.is_dir():
        raise ArcadeMarkError(f"{path}: there is no folder {path.parent}; make it, or choose another --out")
    check_replaceable(path, _STARTS.get(kind, b""), "choose another --out, or remove it first")
    total = max(recorded.episode.frames for _, recorded in episodes)
    marks = np.linspace(total / pictures, total, pictures).round().tolist() if kind == ".png" else None

    def chosen() -> Iterator[video.Picture]:
        for count, shots in enumerate(_together([_replayed(*episode) for episode in episodes])):
            frames, ended = max(shot.frames for shot in shots), all(shot.ended for shot in shots)
            if (count % every == 0 if marks is None else bool(marks) and frames >= marks[0]) or ended:
                yield _picture(shots, episodes, scale, actions)
                on_frames(frames, total)
                while marks and frames >= marks[0]:
                    marks.pop(0)

    video.write(path, chosen(), PER_SECOND[unit] / every)
    return path


def shown(
    directory: str | os.PathLike[str],
    *,
    beside: tuple[str | os.PathLike[str], EpisodeFilter] | None = None,
    scale: int = 2,
    **choice: Unpack[EpisodeFilter],
) -> Iterator[video.Picture]:
    """Yield one picture per frame of a recorded episode, or of two side by side; otherwise like `watch`."""
    episodes = _chosen(directory, choice, beside)
    for shots in _together([_replayed(*episode) for episode in episodes]):
        yield _picture(shots, episodes, scale, actions=True)


def play(
    trial: Trial, show: Callable[[video.Picture], bool], *, episode: int | None = None, scale: int = 2
) -> float | None:
    """Let an agent play an evaluation episode, the first by default, and show one picture per frame.

    A learner is trained first, without pictures. Nothing is recorded.

    Parameters
    ----------
    trial : Trial
    show : callable
        Called with each picture when it is due; False ends the episode.

    Returns
    -------
    float or None
        The score, equal to that of the same trial's episode in a run; None if the viewer ended the episode.
    """
    number = episode or 0
    player = _Shown(trial, number, show, scale)
    if player.learns and scored_phase(trial.protocol, learns=True) == "training":
        raise ArcadeMarkError(
            f"{trial.protocol.name} scores a learner's training, with no episode after it to watch; use another "
            "protocol, or override reported_episodes=evaluation"
        )
    try:
        for _ in player.play([number]):
            pass
    except _EndedError:
        return None
    return player.score


class _EndedError(Exception):
    """The viewer ended the episode."""


class _Shown(TrialPlayer):
    """Plays a trial's episode, and repeats every action frame by frame to show it."""

    def __init__(self, trial: Trial, episode: int, show: Callable[[video.Picture], bool], scale: int) -> None:
        emulator = referee(environment_spec(trial.game, trial.protocol))
        super().__init__(trial, emulator)
        self._names = _names(trial.protocol, trial.game, episode, trial.agent.label, trial.seed)
        self.score, self._show, self._scale = 0.0, show, scale
        shown = environment_spec(trial.game, observed_as(trial.protocol, "ram"), self.spec.frames_per_action)
        self._screen = open_environment(shown, emulator=emulator, pictures=True)
        self.score = begin(self._screen, trial.seed, "evaluation", episode)

    def slot(self, row: int) -> Slot:
        """Make a slot that shows its play."""
        return _ShownSlot(row, self)

    def acted(self, action: Any) -> None:
        """Show an action that the agent has chosen."""
        text = self.agent.action_values()
        values = () if text is None else tuple(text.tolist())
        for step in self._screen.each_frame(action):
            self.score += step.reward
            frames, ended = self._screen.episode_frames, step.terminated or step.truncated
            chosen = _chosen_action(self.spec, action)
            unit = self.trial.protocol.unit
            shot = Shot(self._screen.render(), frames, self.score, ended, *chosen, values, unit)
            if not self._show(_single(shot, *self._names, self._scale, actions=True)):
                raise _EndedError


class _ShownSlot(Slot):
    def __init__(self, row: int, player: _Shown) -> None:
        super().__init__(row, player.open(), player.plans)
        self._player = player

    def step(self, action: Any) -> Step:
        """Show an action, and play it."""
        self._player.acted(action)
        return super().step(action)


def _chosen(
    directory: str | os.PathLike[str],
    choice: EpisodeFilter,
    beside: tuple[str | os.PathLike[str], EpisodeFilter] | None,
) -> list[tuple[RunRecord, Recorded]]:
    wanted = [(directory, choice), *([beside] if beside else [])]
    runs = [(read_to_replay(place, one.get("suite")), one) for place, one in wanted]
    return [(run, select_one(run, **one)) for run, one in runs]


def _name(recorded: Recorded) -> str:
    trial, row = recorded
    training = "training-" if row.phase == "training" else ""
    return f"{trial.game}-seed{trial.seed}-{training}episode{row.episode}"


def _together(episodes: Sequence[Iterator[Shot]]) -> Iterator[tuple[Shot, ...]]:
    """Yield the shots of several episodes together; the last one of an ended episode is repeated."""
    last: list[Shot] = []
    for shots in zip_longest(*episodes):
        last = [shot or last[place] for place, shot in enumerate(shots)]
        yield tuple(last)


def _picture(
    shots: Sequence[Shot], episodes: Sequence[tuple[RunRecord, Recorded]], scale: int, actions: bool
) -> video.Picture:
    """Draw one picture of one episode, or of two side by side."""
    pictures = []
    for shot, (run, (trial, row)) in zip(shots, episodes, strict=True):
        names = _names(run.protocol, trial.game, row.episode, trial.agent, trial.seed)
        pictures.append(_single(shot, *names, scale, actions))
    return pictures[0] if len(pictures) == 1 else video.beside(pictures)


def _names(protocol: Protocol, task: str, episode: int, agent: str, seed: int) -> tuple[str, str]:
    """Return the titles of the episode and of its player."""
    return f"{protocol.task_name(task)} · episode {episode}", f"{escaped(agent)} · seed {seed}"


def _single(shot: Shot, left: str, player: str, scale: int, actions: bool) -> video.Picture:
    text = f"step {shot.frames:,}   score {shot.score:,.6g}"
    if shot.unit == "frame":
        text = f"{clock(shot.frames)}   score {shot.score:,.15g}"
    picture = video.captioned(shot.screen, scale, left, text)
    if actions:
        bar = video.action_bar(picture.shape[1], shot.action, shot.chosen, shot.values)
        picture = np.concatenate([picture, bar])
    return video.noted(picture, player)


def _replayed(run: RunRecord, recorded: Recorded) -> Iterator[Shot]:
    """Replay an episode frame by frame; ArcadeMarkError at its end if it differs from the record."""
    trial, row = recorded
    environment = open_recorded(run.protocol, trial, row.phase, pictures=True)
    score, ended = 0.0, False
    chosen: Any = 0

    def text() -> Iterator[Any]:
        nonlocal chosen
        for chosen in one_by_one(read_actions(run.directory, trial.id, row.episode, row.phase)):  # noqa: UP028 - kept
            yield chosen

    for step in replay(environment, recorded, text(), by_frame=True):
        score += step.reward
        ended = step.terminated or step.truncated
        shown = environment.render(), environment.episode_frames, score, ended
        yield Shot(*shown, *_chosen_action(environment.spec, chosen), unit=run.protocol.unit)
    if (score, environment.episode_frames, ended) != (row.score, row.frames, True):
        raise ArcadeMarkError(
            f"{run.directory}: {row.phase} episode {row.episode} of trial {trial.id} does not replay as recorded: "
            f"score {score:.15g} in {environment.episode_frames} frames, recorded {row.score:.15g} in {row.frames}; "
            f"'arcademark verify {run.directory}' shows more"
        )


def _chosen_action(spec: EnvironmentSpec, action: Any) -> tuple[int, str]:
    """Return an action's number and name; for an array 0 and its numbers."""
    if spec.array_actions is None:
        return action, spec.action_meanings[action]
    return 0, " ".join(f"{number:.3g}" for number in np.ravel(action).tolist())


def clock(frames: int) -> str:
    """Return the time of a number of frames, "1:32"."""
    seconds = frames // FRAMES_PER_SECOND
    return f"{seconds // 60}:{seconds % 60:02}"
