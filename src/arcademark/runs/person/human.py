"""A person plays a trial in a window: in real time, 60 frames per second, or stepped, the game waiting for each action.

The action is read when an agent would choose one, and held for as many frames. While paused the picture is hidden; the
pause counts for the episode's wall time, not for its frames.
"""

from __future__ import annotations

import functools
import os
import time
from array import array
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from arcademark.agents.loading import AgentSpec, all_parameters, named
from arcademark.environments.emulation import facts
from arcademark.environments.registry import EmulatorName, environment_spec, referee
from arcademark.errors import ArcadeMarkError
from arcademark.records import manifest
from arcademark.records.manifest import HUMAN
from arcademark.records.model import Checkpoint, EpisodeRecord, EpisodeResult, Unfinished
from arcademark.records.reading import read_run
from arcademark.runs import execution
from arcademark.runs.engines.here import InProcessEngine
from arcademark.runs.person.joystick import HELP, HELP_STEPPED, Stick
from arcademark.runs.person.window import Window
from arcademark.runs.plan import Plan, Trial, make_plan
from arcademark.runs.playing.events import Begun, PlayedFrames, PlayEvent
from arcademark.runs.playing.slot import Meter, Slot
from arcademark.runs.playing.trial import TrialPlayer
from arcademark.runs.replay import video
from arcademark.runs.replay.watch import FRAMES_PER_SECOND, clock
from arcademark.suite.protocols import Protocol
from arcademark.suite.task_suites import TaskSuite

SCALE = 3
SEEDS = 2**63
"""Number of seeds for practice."""


@dataclass
class Sitting:
    """Episodes and frame times of a person's session.

    Attributes
    ----------
    episodes : list of EpisodeRecord
        Finished episodes.
    left : bool
        Whether an episode was left unfinished.
    errors : array of float
        Deviations of the time between two pictures from 1/60 s, in seconds.
    """

    episodes: list[EpisodeRecord] = field(default_factory=list)
    left: bool = False
    errors: array[float] = field(default_factory=lambda: array("d"))

    def error(self, share: float) -> float:
        """Return a quantile of the errors, in seconds; NaN if there are none."""
        return float(np.quantile(self.errors, share)) if self.errors else float("nan")


def planned(
    directory: str | os.PathLike[str] | None,
    game: str,
    protocol: Protocol,
    *,
    seed: int = 0,
    episodes: int = 1,
    name: str | None = None,
    stepped: bool = False,
) -> Plan:
    """Plan further episodes of a person's run in a directory, or of practice if that is None.

    With a name the label is "NAME [human]", or "NAME [human, stepped]". ArcadeMarkError: as in `make_plan`, or an
    existing run cannot be read.
    """
    spec = AgentSpec(HUMAN, {"stepped": True} if stepped else {})
    if name is not None:
        (spec,) = named((spec,), f"{name} [{HUMAN}{', stepped' if stepped else ''}]")
    plan = make_plan(spec, [game], protocol, (seed,), episodes, emulator=referee(environment_spec(game, protocol)))
    (trial,) = plan.trials
    most = 0
    if directory is not None and (Path(directory) / manifest.FILE).exists():
        run = read_run(directory)
        most = run.manifest["episodes"]
        played = sum(len(run.evaluation(one)) for one in run.trials if one.id == trial.id)
        trial = replace(trial, episodes=played + episodes)
    return replace(plan, trials=(trial,), episodes=max(trial.episodes, most))


def record(plan: Plan, directory: str | os.PathLike[str], window: Window, *, scale: int = SCALE) -> Sitting:
    """Let a person play the missing episodes of a plan of `planned`, and record each as it ends.

    ArcadeMarkError: as in `execution.execute`, or no window can be opened.
    """
    sitting = Sitting()

    def make_player(trial: Trial, emulator: EmulatorName | None) -> TrialPlayer:
        return HumanPlayer(trial, emulator, window, sitting, scale)

    window.show(_blank(plan.games[0], plan.protocol.suite, scale))  # before anything is written
    summary = execution.execute(plan, directory, make=lambda *_: InProcessEngine(make_player=make_player))
    for failed in summary.failed:
        raise ArcadeMarkError(f"{failed.agent} on {failed.game}: {failed.error}")
    return sitting


def practise(trial: Trial, window: Window, *, scale: int = SCALE) -> Sitting:
    """Let a person play other seeds than the trial's until they stop; nothing is recorded."""
    sitting = Sitting()
    seed = int(np.random.default_rng().integers(SEEDS))
    emulator = referee(environment_spec(trial.game, trial.protocol))
    player = HumanPlayer(replace(trial, seed=seed), emulator, window, sitting, scale, practice=True)
    for _ in player.play(range(SEEDS)):
        pass
    return sitting


class _EndedError(Exception):
    """The window was closed."""


class HumanPlayer(TrialPlayer):
    """Plays a trial's episodes with a person's actions."""

    def __init__(
        self,
        trial: Trial,
        emulator: EmulatorName | None,
        window: Window,
        sitting: Sitting,
        scale: int = SCALE,
        *,
        practice: bool = False,
    ) -> None:
        super().__init__(trial, emulator)
        self._window, self._sitting, self._scale, self._practice = window, sitting, scale, practice
        self._stepped = bool(all_parameters(trial.agent)["stepped"])
        self._stick = Stick(self.spec.action_meanings)
        self._meter = Meter()
        self._last: float | None = None  # time of the picture before, if this one follows it directly
        window.listener = self._stick.hear

    def play(
        self,
        episodes: Collection[int],
        checkpoint: Checkpoint | None = None,
        unfinished: Sequence[Unfinished] = (),
        stopping: Callable[[], bool] = lambda: False,
    ) -> Iterator[PlayEvent]:
        """Play these evaluation episodes, each begun by FIRE, until the window is closed."""
        slot = self.slot(0)
        try:
            for episode in episodes:
                yield from self._wait(episode)
                yield Begun("evaluation", episode)
                self._sitting.left = True
                for event in self._episode(slot, episode):
                    if isinstance(event, EpisodeResult):
                        self._sitting.episodes.append(event.record)
                        self._sitting.left = False
                    yield event
        except _EndedError:
            pass
        yield self._meter.tick(())

    def _wait(self, episode: int) -> Iterator[PlayedFrames]:
        """Wait until a person begins."""
        self._stick.release()
        before = [_time_and_score(row.frames, row.score) for row in self._sitting.episodes[-1:]]
        picture = self._blank(self._title(episode), "   ".join([*before, "space: begin"]))
        while not self._stick.begun:
            yield from self._show(picture, ())
        self._stick.release()
        self._last = None

    def _episode(self, slot: Slot, episode: int) -> Iterator[PlayedFrames | EpisodeResult]:
        slot.begin(self.trial.seed, "evaluation", episode)
        yield from self._show(self._picture(slot), (slot,))
        ended = terminated = False
        while not ended:
            while self._stepped and not self._stick.touched():
                yield from self._show(self._picture(slot), (slot,))
            for _, terminated, truncated in slot.each_frame(self._stick.action()):
                yield from self._show(self._picture(slot), (slot,))
                ended = terminated or truncated
        yield slot.result(self.trial.id, terminated)
        self._meter.ended(slot)
        self._last = None

    def _show(self, picture: video.Picture, playing: Sequence[Slot]) -> Iterator[PlayedFrames]:
        """Show a picture once, after any pause, and yield the amounts played when due."""
        hidden = True
        while hidden:
            hidden = self._stick.paused
            if not self._window.show(self._blank("paused", "P: continue") if hidden else picture):
                raise _EndedError
            if self._last is not None and not hidden:
                self._sitting.errors.append(abs(self._window.shown - self._last - 1 / FRAMES_PER_SECOND))
            self._last = None if hidden else self._window.shown
            if time.perf_counter() > self._meter.due:
                yield self._meter.tick(playing)

    def _picture(self, slot: Slot) -> video.Picture:
        caption = _time_and_score(slot.environment.episode_frames, slot.score)
        screen = slot.environment.render()
        return _drawn(screen, self._scale, self._title(slot.episode), caption, self._stepped)

    def _blank(self, left: str, right: str) -> video.Picture:
        return _blank(self.trial.game, self.trial.protocol.suite, self._scale, left, right, self._stepped)

    def _title(self, episode: int) -> str:
        return f"{self.trial.game} · {'practice' if self._practice else f'episode {episode}'}"


def _time_and_score(frames: int, score: float) -> str:
    return f"{clock(frames)}   score {score:,.15g}"


def _blank(
    game: str, suite: TaskSuite | None, scale: int, left: str = "", right: str = "", stepped: bool = False
) -> video.Picture:
    """Draw a blank screen with a caption."""
    return _drawn(np.zeros((*facts.screen_shape(game, suite), 3), np.uint8), scale, left, right, stepped)


def _drawn(screen: video.Picture, scale: int, left: str, right: str, stepped: bool) -> video.Picture:
    picture = video.captioned(screen, scale, left, right)
    return np.concatenate([_help(picture.shape[1], stepped), picture])


@functools.cache
def _help(width: int, stepped: bool) -> video.Picture:
    return video.noted(np.empty((0, width, 3), np.uint8), HELP_STEPPED if stepped else HELP)
