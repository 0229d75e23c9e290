"""Checks that feature sets fulfil the contract of `arcademark.classic.features.base`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arcademark.classic.features.base import BinaryFeatures, CountedFeatures, Features
from arcademark.environments.base import EnvironmentSpec
from arcademark.environments.registry import as_asked, open_environment
from arcademark.errors import ArcadeMarkError
from arcademark.testing.base import require

Make = Callable[[], Features]
Screens = NDArray[np.uint8]


def check_features(make: Make, env: EnvironmentSpec, rng: np.random.Generator, steps: int = 15) -> None:
    """Run every check of a feature set, on random play of the game for which it was made.

    Parameters
    ----------
    make : callable
        Returns a new feature set at each call.
    env : EnvironmentSpec
        The game, which is played with the observations that the set requires.
    rng : numpy.random.Generator
        Generator of the random play.
    steps : int
        Number of observations.

    Raises
    ------
    AssertionError
        If a check fails, with the difference.
    """
    features = make()
    binary, counted = isinstance(features, BinaryFeatures), isinstance(features, CountedFeatures)
    require(binary != counted, "a feature set has update() or count(), but not both")
    observations = play(as_asked(env, features.observed), rng, steps)
    for check in (check_changes, check_independent_of_the_past, check_pictures):
        check(make, observations)
    check_descriptions(features)


def play(env: EnvironmentSpec, rng: np.random.Generator, steps: int) -> Screens:
    """Return the observations of random play, a read-only array of shape (steps, *env.observation_shape)."""
    game = open_environment(env)
    game.reset(rng)
    seen = np.empty((steps, *env.observation_shape), np.uint8)
    for observation in seen:
        game.observe(observation)
        if any(game.step(int(rng.integers(env.num_actions)))[1:]):
            game.reset(rng)
    game.close()
    seen.flags.writeable = False
    return seen


def check_changes(make: Make, observations: Screens) -> None:
    """Check that features are in range and unique; binary ones become active or inactive only if they were not."""
    features = make()
    features.begin()
    active: set[int] = set()
    for step, observation in enumerate(observations):
        where = f"at observation {step}"
        first, second = _answer(features, observation)
        if isinstance(features, CountedFeatures):
            active = {number for number, _ in first}
            require(len(active) == len(first), f"a feature is counted twice {where}")
            require(all(count != 0 for _, count in first), f"a count is 0 {where}")
        else:
            require(len({*first, *second}) == len(first) + len(second), f"a feature changes twice {where}")
            require(not active & set(first), f"a feature becomes active that was active {where}")
            require(active >= set(second), f"a feature becomes inactive that was not active {where}")
            active = (active | set(first)) - set(second)
        require(all(0 <= number < features.num_features for number in active), f"a feature is out of range {where}")


def check_independent_of_the_past(make: Make, observations: Screens) -> None:
    """Check that an episode does not depend on observations before its `begin`."""
    features, fresh = make(), make()
    for observation in observations:
        _answer(features, observation)
    for one in (features, fresh):
        one.begin()
    for observation in observations[::-1]:
        same = _answer(features, observation) == _answer(fresh, observation)
        require(same, "observations before begin() change the features after it")


def check_pictures(make: Make, observations: Screens) -> None:
    """Check that a picture is in colour, and that drawing one or describing a feature changes nothing."""
    features, alone = make(), make()
    for one in (features, alone):
        one.begin()
    for observation in observations:
        image = features.picture(observation)
        colours = image.dtype == np.uint8 and image.ndim == 3 and image.shape[2] == 3
        require(colours, f"a picture is {image.dtype} of shape {image.shape}; expected uint8, (height, width, 3)")
        features.describe(0)
        same = _answer(features, observation) == _answer(alone, observation)
        require(same, "a picture or a description changes the features")


def check_descriptions(features: Features) -> None:
    """Check that the first and the last feature have a description, and those out of range are refused."""
    last = features.num_features - 1
    require(all(features.describe(feature) for feature in (0, last)), "a feature has no description")
    for feature in (-1, last + 1):
        try:
            features.describe(feature)
        except ArcadeMarkError as error:
            require(str(error) == f"feature {feature}: expected 0 to {last}", f"feature {feature} raises: {error}")
        else:
            raise AssertionError(f"feature {feature} is described; expected it to be refused, beyond 0 to {last}")


def _answer(features: Any, observation: Screens) -> tuple[list[Any], list[Any]]:
    """Return the features that became active and inactive, or (feature, count) pairs and an empty list."""
    if isinstance(features, BinaryFeatures):
        on, off = features.update(observation)
        require(on.dtype == off.dtype == np.int32, f"features are {on.dtype} and {off.dtype}; expected int32")
        return sorted(on.tolist()), sorted(off.tolist())
    numbers, counts = features.count(observation)
    require((numbers.dtype, counts.dtype) == (np.int32, np.float32), "expected features of int32, counts of float32")
    require(numbers.shape == counts.shape, f"{numbers.shape} features with {counts.shape} counts")
    return sorted(zip(numbers.tolist(), counts.tolist(), strict=True)), []
