"""What feature sets see of games: pictures, how many features are active and how many become so, and their time.

Observations come from random play or from a recorded episode (`arcademark.runs.moments`). They are shown to the
feature set one by one, as a learner would, up to the moment that is looked at.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from arcademark.agents.parameters import declared
from arcademark.environments.facts import standard
from arcademark.environments.palettes import rgb_table
from arcademark.errors import ArcadeMarkError, UnknownNameError
from arcademark.features.base import BinaryFeatures, Change, Counts, Features
from arcademark.features.registry import feature_set, make_features
from arcademark.features.tiles import NOTHING
from arcademark.runs.moments import Moment, Play

AFTER_FRAMES = 600
"""Frames of random play before the moment that is shown: ten seconds."""

Image = NDArray[np.uint8]


@dataclass(frozen=True)
class Active:
    """A feature that is not zero.

    Parameters
    ----------
    feature : int
    value : float
    meaning : str
        As the set describes it.
    """

    feature: int
    value: float
    meaning: str


@dataclass(frozen=True, eq=False)
class Images:
    """Pictures of a moment, each of shape (height, width, 3).

    Parameters
    ----------
    screen : uint8 array
        As people see it.
    picture : uint8 array
        What the feature set sees.
    background, foreground : uint8 array or None
        What the set takes for background, and the screen without it; None if it takes nothing away.
    classes : uint8 array or None
        The kinds of objects that it tells apart; None if it does not.
    """

    screen: Image
    picture: Image
    background: Image | None = None
    foreground: Image | None = None
    classes: Image | None = None


@dataclass(frozen=True)
class Seen:
    """What one feature set sees of one game.

    Parameters
    ----------
    name, game : str
        The feature set's and the game's.
    parameters : mapping
        Those of the set's parameters that were given.
    source : str
        What was played: "random play, seed 0" or a run's episode.
    frames : int
        Frames played before the moment that is shown.
    steps : int
        Observations shown to the set, that moment's included.
    features : int
        Length of the whole vector.
    active : tuple of Active
        The features that are not zero at that moment.
    mean_active, newly_active : float or None
        Features that are not zero, and that became so, a step; first steps of episodes do not count. None if there is
        no other step.
    microseconds : float
        Time of a step, median; learning is not included.
    images : Images
    """

    name: str
    game: str
    parameters: Mapping[str, Any]
    source: str
    frames: int
    steps: int
    features: int
    active: tuple[Active, ...]
    mean_active: float | None
    newly_active: float | None
    microseconds: float
    images: Images


def read_settings(names: Sequence[str], settings: Mapping[str, str]) -> dict[str, Any]:
    """Check parameters against what feature sets declare.

    Parameters
    ----------
    names : sequence of str
        Every set must have all that is given.
    settings : mapping of str to str

    Raises
    ------
    UnknownNameError
        If there is no such feature set, or one has no such parameter.
    ArcadeMarkError
        If a value is not what is expected.
    """
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


def see(name: str, play: Play, frames: int | None = None, parameters: Mapping[str, Any] | None = None) -> Seen:
    """Show a feature set a game up to a moment.

    Parameters
    ----------
    name : str
        Of the feature set.
    play : Play
        With the observations that the set wants (`FeatureSet.observed`).
    frames : int, optional
        The moment shown is the last one after at most so many frames. By default `AFTER_FRAMES` of random play, or half
        of a recorded episode.
    parameters : mapping, optional
        The feature set's.

    Raises
    ------
    ArcadeMarkError
        If the set cannot be made for this game, or the recorded episode has fewer frames.
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


def _seen(name: str, play: Play, parameters: Mapping[str, Any], follower: Follower, moment: Moment) -> Seen:
    features = follower.features
    came = [number for number in follower.came if not np.isnan(number)]
    later = [active for active, number in zip(follower.active, follower.came, strict=True) if not np.isnan(number)]
    return Seen(
        name=name,
        game=play.spec.game,
        parameters=parameters,
        source=source(play),
        frames=moment.frames,
        steps=len(follower.active),
        features=features.num_features,
        active=tuple(
            Active(int(feature), float(follower.values[feature]), features.describe(int(feature)))
            for feature in np.flatnonzero(follower.values)
        ),
        mean_active=statistics.fmean(later) if later else None,
        newly_active=statistics.fmean(came) if came else None,
        microseconds=statistics.median(follower.microseconds),
        images=_images(features, moment, play.spec.game),
    )


def _images(features: Features, moment: Moment, game: str) -> Images:
    screen, picture = moment.environment.render(), features.picture(moment.observation)
    background = getattr(features, "hidden", None)
    classes = features.classes_picture() if isinstance(features, TellsClasses) else None
    if not isinstance(background, np.ndarray):
        return Images(screen, picture, classes=classes)
    colours = rgb_table(standard(game))[::2]
    foreground = np.where((moment.observation == background)[..., None], np.array(NOTHING, np.uint8), screen)
    return Images(screen, picture, colours[background], foreground, classes)


@runtime_checkable
class TellsClasses(Protocol):
    """A feature set that tells kinds of objects apart."""

    def classes_picture(self) -> Image:
        """Draw the kinds, of shape (height, width, 3)."""


class Follower:
    """A feature set that is shown moments, and what was found on the way.

    Attributes
    ----------
    values : float32 array, shape (num_features,)
        Of the last moment.
    active, came, microseconds : list of float
        A number a step: features that are not zero; that became so (NaN in first steps); time.
    """

    def __init__(self, features: Features) -> None:
        self.features = features
        self.values = np.zeros(features.num_features, np.float32)
        self.active: list[float] = []
        self.came: list[float] = []
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
        came = self._take(seen) if isinstance(seen, Change) else self._replace(seen)
        self.active.append(float(self._active))
        self.came.append(np.nan if moment.first else float(came))

    def _take(self, change: Change) -> int:
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
