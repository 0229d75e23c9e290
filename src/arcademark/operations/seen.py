"""Views of games by feature sets: pictures, numbers of active and newly active features, and their time.

Sets process observations of random play, or of a recorded episode, one by one as in a learner, up to the shown frame.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from arcademark import wording
from arcademark.agents.parameters import declared, read_parameters
from arcademark.analysis.settings import Value
from arcademark.classic.features.base import BinaryFeatures, Change, Counts, Features
from arcademark.classic.features.registry import feature_set, make_features
from arcademark.classic.features.sets.tiles import NOTHING
from arcademark.environments.emulation.facts import standard
from arcademark.environments.emulation.palettes import rgb_table
from arcademark.errors import ArcadeMarkError
from arcademark.pages.figures.model import Picture, PictureRow
from arcademark.runs.replay.feature_steps import Moment, RecordedPlay
from arcademark.suite.tasks import game_name

AFTER_FRAMES = 600
"""Frames of random play before the shown one: ten seconds."""

MAX_DESCRIBED = 8
"""Number of active features that are described in a short display."""


@dataclass(frozen=True)
class Active:
    """A non-zero feature, with its description by the set."""

    feature: int
    value: float
    meaning: str


@dataclass(frozen=True)
class Seen:
    """View of one game by one feature set.

    parameters: Given parameters of the set.
    source: Source of the observations: "random play, seed 0" or a run's episode.
    frames: Frames before the shown observation.
    steps: Observations processed, the shown one included.
    features, active: Length of the whole vector; number of non-zero features at the shown observation.
    mean_active, newly_active: Non-zero and newly non-zero features per step, without first steps of episodes; None if
        there are no others.
    microseconds: Median time per step, without learning.
    """

    set: str
    parameters: Mapping[str, Value]
    game: str
    source: str
    frames: int
    steps: int
    features: int
    active: int
    mean_active: float | None
    newly_active: float | None
    microseconds: float
    active_features: tuple[Active, ...]

    @property
    def title(self) -> str:
        """The game, and the set with its given parameters."""
        given = ", ".join(f"{name}={value}" for name, value in self.parameters.items())
        return f"{game_name(self.game)}, {self.set}{f'({given})' if given else ''}"

    @property
    def moment(self) -> str:
        """The shown frame, in words."""
        return f"{self.source}, after {wording.count(self.frames)} frames"

    @property
    def chosen_features(self) -> tuple[Active, ...]:
        """Active features that are described in a short display."""
        return self.active_features[:: max(1, self.active // MAX_DESCRIBED)][:MAX_DESCRIBED]


@dataclass(frozen=True)
class FeaturesSeen:
    """Features that feature sets compute from games."""

    SCHEMA: ClassVar[str] = "arcademark.features/1"

    seen: tuple[Seen, ...]


def read_settings(names: Sequence[str], settings: Mapping[str, str]) -> dict[str, Any]:
    """Read parameters, which every named set must declare; defaults are left out."""
    values: dict[str, Any] = {}
    for name in names:
        values |= read_parameters(f"feature set {name}", declared(feature_set(name).factory)[0], settings)
    return values


def see(
    name: str, play: RecordedPlay, frames: int | None = None, parameters: Mapping[str, Any] | None = None
) -> tuple[Seen, PictureRow]:
    """Process a game with a feature set up to a number of frames; return its view, and pictures.

    By default it is `AFTER_FRAMES` of random play, or half of a recorded episode.
    """
    if play.frames is not None and frames is not None and frames >= play.frames:
        raise ArcadeMarkError(f"{source(play)} ends after {play.frames:,} frames; choose an earlier frame")
    after = frames if frames is not None else AFTER_FRAMES if play.frames is None else play.frames // 2
    features = make_features(name, play.spec, parameters)
    look = features.update if isinstance(features, BinaryFeatures) else features.count
    values: dict[int, float] = {}
    later: list[tuple[int, int]] = []
    microseconds: list[float] = []
    moments = play.moments()  # keeps the environment open
    for moment in moments:
        if moment.first:
            features.begin()
            values = {}
        begin = time.perf_counter_ns()
        change = look(moment.observation)
        microseconds.append((time.perf_counter_ns() - begin) / 1000)
        before, values = values, _changed(values, change)
        if not moment.first:
            later.append((len(values), len(values.keys() - before.keys())))
        if moment.frames + play.spec.frames_per_action > after:
            break
    mean_active, newly_active = map(statistics.fmean, zip(*later, strict=True)) if later else (None, None)
    item = Seen(
        set=name,
        parameters=parameters or {},
        game=play.spec.game,
        source=source(play),
        frames=moment.frames,
        steps=len(microseconds),
        features=features.num_features,
        active=len(values),
        mean_active=mean_active,
        newly_active=newly_active,
        microseconds=statistics.median(microseconds),
        active_features=tuple(
            Active(feature, value, features.describe(feature)) for feature, value in sorted(values.items())
        ),
    )
    return item, _pictures(item, features, moment)


def _changed(values: Mapping[int, float], change: Change | Counts) -> dict[int, float]:
    """Return the non-zero features after a step."""
    if isinstance(change, Counts):
        return dict(zip(change.features.tolist(), change.counts.tolist(), strict=True))
    off = set(change.off.tolist())
    return {name: value for name, value in values.items() if name not in off} | dict.fromkeys(change.on.tolist(), 1.0)


def _pictures(item: Seen, features: Features, moment: Moment) -> PictureRow:
    """Return the pictures of a game and a feature set, with captions."""
    numbers = [f"{wording.count(item.features)} features", f"{wording.count(item.active)} active"]
    if item.newly_active is not None:
        numbers.append(f"{wording.small(item.newly_active)} newly active per step")
    screen = moment.environment.render()
    named = [("The screen", screen)]
    background, classes = (getattr(features, name, None) for name in ("hidden", "classes_picture"))
    if isinstance(background, np.ndarray):
        colours = rgb_table(standard(item.game, moment.environment.spec.atari.suite))[::2]
        alone = np.where((moment.observation == background)[..., None], np.array(NOTHING, np.uint8), screen)
        named.append(("Its background: each pixel's most frequent colour", colours[background]))
        named.append(("The screen without it", alone))
    named.append((f"Active features of {item.set}", features.picture(moment.observation)))
    if classes is not None:
        named.append(("The classes of objects that it discovered", classes()))
    return PictureRow(
        item.title,
        f"{' · '.join(numbers)} · {item.moment}",
        tuple(
            Picture(title, pixels, 2 if pixels.shape[1] >= 2 * pixels.shape[0] else 1)  # wide ones stay small
            for title, pixels in named
        ),
    )


def source(play: RecordedPlay) -> str:
    """Return the source of a play's observations, in words."""
    if play.recorded is None:
        return f"random play, seed {play.seed}"
    trial, row = play.recorded
    return f"{row.phase} episode {row.episode} of {trial.id}"
