"""What feature sets see of games: pictures, how many features are active and how many become so, and their time.

They are shown observations of random play, or of a recorded episode, one by one as by a learner up to a moment.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from arcademark.agents.parameters import declared
from arcademark.environments.emulation.facts import standard
from arcademark.environments.emulation.palettes import rgb_table
from arcademark.errors import ArcadeMarkError, UnknownNameError
from arcademark.features.base import BinaryFeatures, Change, Counts, Features
from arcademark.features.registry import feature_set, make_features
from arcademark.features.sets.tiles import NOTHING
from arcademark.reports import wording
from arcademark.reports.columns import Column
from arcademark.reports.figures.model import Picture, PictureRow
from arcademark.reports.record import Value
from arcademark.runs.replay.feature_steps import Moment, Play
from arcademark.suite.tasks import game_name

AFTER_FRAMES = 600
"""Frames of random play before the moment that is shown: ten seconds."""

MOST_DESCRIBED = 8
"""Active features that are described where not everything is shown."""

Image = NDArray[np.uint8]


@dataclass(frozen=True)
class Active:
    """A feature that is not zero, and what it means as its set describes it."""

    feature: int
    value: float
    meaning: str

    COLUMNS: ClassVar = (
        Column("feature", "feature", str),
        Column("value", "value", partial(wording.score, places=0)),
        Column("what it means", "meaning", kind="prose"),
    )


@dataclass(frozen=True, eq=False)
class Images:
    """Pictures of a moment, shape (height, width, 3).

    Those that a set does not have, such as of a background that it takes away, are None.
    """

    screen: Image
    picture: Image
    background: Image | None = None
    foreground: Image | None = None
    classes: Image | None = None


@dataclass(frozen=True)
class Seen:
    """What one feature set sees of one game.

    parameters: The set's, as far as they were given.
    source: What was played: "random play, seed 0" or a run's episode.
    frames: Played before the moment that is shown.
    steps: Observations shown to the set, that moment's included.
    features, active: Length of the whole vector; features that are not zero at that moment.
    mean_active, newly_active: Features that are not zero, and that became so, a step, but for first steps of episodes;
        None if there are no others.
    microseconds: Time of a step, median; learning is not included.
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

    COLUMNS: ClassVar = (
        Column("game", lambda item: game_name(item.game)),
        Column("set", "set"),
        Column("features", "features"),
        Column("active", "active"),
        Column("newly active a step", "newly_active", lambda value: wording.score(value, 1 if value < 100 else 0)),
        Column("µs a step", "microseconds", lambda value: wording.score(value, 1 if value < 100 else 0)),
    )

    @property
    def title(self) -> str:
        """The game, and the set with the parameters that were given."""
        given = ", ".join(f"{name}={value}" for name, value in self.parameters.items())
        return f"{game_name(self.game)}, {self.set}{f'({given})' if given else ''}"

    @property
    def moment(self) -> str:
        """Which moment is shown."""
        return f"{self.source}, after {wording.count(self.frames)} frames"

    @property
    def chosen_features(self) -> tuple[Active, ...]:
        """Active features that are described where not everything is shown."""
        return self.active_features[:: max(1, self.active // MOST_DESCRIBED)][:MOST_DESCRIBED]


@dataclass(frozen=True)
class FeaturesSeen:
    """What feature sets see of games."""

    SCHEMA: ClassVar[str] = "arcademark.features/1"

    seen: tuple[Seen, ...]


def read_settings(names: Sequence[str], settings: Mapping[str, str]) -> dict[str, Any]:
    """Read parameters, each of which every named set must declare."""
    found: dict[str, Any] = {}
    for name in names:
        known = {parameter.name: parameter for parameter in declared(feature_set(name).factory)[0]}
        for key, value in settings.items():
            if not known:
                raise ArcadeMarkError(f"feature set {name} has no parameters; remove --set {key}")
            if key not in known:
                raise UnknownNameError(f"parameter of feature set {name}", key, known)
            try:
                found[key] = known[key].read(value)
            except ValueError:
                expected = known[key].expected
                raise ArcadeMarkError(
                    f"feature set {name}: parameter {key!r} is {value!r}: expected {expected}"
                ) from None
    return found


def see(
    name: str, play: Play, frames: int | None = None, parameters: Mapping[str, Any] | None = None
) -> tuple[Seen, Images]:
    """Show a feature set a game up to the last moment after at most so many frames.

    By default these are `AFTER_FRAMES` of random play, or half of a recorded episode.
    """
    if play.frames is not None and frames is not None and frames >= play.frames:
        raise ArcadeMarkError(f"{source(play)} ends after {play.frames:,} frames; choose an earlier moment")
    after = frames if frames is not None else AFTER_FRAMES if play.frames is None else play.frames // 2
    follower = Follower(make_features(name, play.spec, parameters))
    for moment in play.moments():
        follower.follow(moment)
        if moment.frames + play.spec.protocol.frame_skip > after:
            return _seen(name, play, parameters or {}, follower, moment)
    raise AssertionError("no end of play before the moment")  # frames before an episode's last step are below its own


def _seen(
    name: str, play: Play, parameters: Mapping[str, Any], follower: Follower, moment: Moment
) -> tuple[Seen, Images]:
    features = follower.features
    active = tuple(
        Active(int(feature), float(follower.values[feature]), features.describe(int(feature)))
        for feature in np.flatnonzero(follower.values)
    )
    later = [pair for pair in zip(follower.active, follower.came, strict=True) if pair[1] is not None]
    mean_active, newly_active = map(statistics.fmean, zip(*later, strict=True)) if later else (None, None)
    shown = Seen(
        set=name,
        parameters=parameters,
        game=play.spec.game,
        source=source(play),
        frames=moment.frames,
        steps=len(follower.active),
        features=features.num_features,
        active=len(active),
        mean_active=mean_active,
        newly_active=newly_active,
        microseconds=statistics.median(follower.microseconds),
        active_features=active,
    )
    return shown, _images(features, moment, play.spec.game)


def _images(features: Features, moment: Moment, game: str) -> Images:
    screen, picture = moment.environment.render(), features.picture(moment.observation)
    background = getattr(features, "hidden", None)
    classes = features.classes_picture() if isinstance(features, TellsClasses) else None
    if not isinstance(background, np.ndarray):
        return Images(screen, picture, classes=classes)
    colours = rgb_table(standard(game))[::2]
    foreground = np.where((moment.observation == background)[..., None], np.array(NOTHING, np.uint8), screen)
    return Images(screen, picture, colours[background], foreground, classes)


def pictures(item: Seen, images: Images) -> PictureRow:
    """Lay out the pictures of a game and a feature set, with what there is to say of them."""
    numbers = [f"{wording.count(item.features)} features", f"{wording.count(item.active)} active"]
    if item.newly_active is not None:
        numbers.append(f"{Seen.COLUMNS[4].text(item)} newly active a step")
    named = (
        ("The screen", images.screen),
        ("Its background: each pixel's most frequent colour", images.background),
        ("The screen without it", images.foreground),
        (f"What {item.set} sees", images.picture),
        ("The classes of objects that it discovered", images.classes),
    )
    return PictureRow(
        item.title,
        f"{' · '.join(numbers)} · {item.moment}",
        tuple(
            Picture(title, pixels, 2 if pixels.shape[1] >= 2 * pixels.shape[0] else 1)  # what is broad has more room
            for title, pixels in named
            if pixels is not None
        ),
    )


@runtime_checkable
class TellsClasses(Protocol):
    """A feature set that tells kinds of objects apart."""

    def classes_picture(self) -> Image:
        """Draw the kinds, of shape (height, width, 3)."""


class Follower:
    """A feature set that is shown moments: its values, and for each step what is active, what became so, and the time.

    What became active is None in the first step of an episode.
    """

    def __init__(self, features: Features) -> None:
        self.features = features
        self.values = np.zeros(features.num_features, np.float32)
        self.active: list[int] = []
        self.came: list[int | None] = []
        self.microseconds: list[float] = []
        self._look: Callable[[NDArray[np.uint8]], Change | Counts]
        self._look = features.update if isinstance(features, BinaryFeatures) else features.count
        self._shown: NDArray[np.int32] = np.empty(0, np.int32)
        self._active = 0

    def follow(self, moment: Moment) -> None:
        """Show the set another moment."""
        if moment.first:
            self.features.begin()
            self.values[np.flatnonzero(self.values)] = 0
            self._active = 0
        begin = time.perf_counter_ns()
        seen = self._look(moment.observation)
        self.microseconds.append((time.perf_counter_ns() - begin) / 1000)
        came = self._change(seen) if isinstance(seen, Change) else self._replace(seen)
        self.active.append(self._active)
        self.came.append(None if moment.first else came)

    def _change(self, change: Change) -> int:
        """Take over what changed, and return how many features became active."""
        self.values[change.on], self.values[change.off] = 1, 0
        self._active += len(change.on) - len(change.off)
        return len(change.on)

    def _replace(self, counts: Counts) -> int:
        """Take over all features that are not zero, and return how many of them were."""
        came = int(np.count_nonzero(self.values[counts.features] == 0))
        self.values[self._shown] = 0
        self.values[counts.features] = counts.counts
        self._shown, self._active = counts.features.copy(), len(counts.features)
        return came


def source(play: Play) -> str:
    """Say what is played."""
    if play.recorded is None:
        return f"random play, seed {play.seed}"
    trial, row = play.recorded
    return f"{row.phase} episode {row.episode} of {trial.id}"
