"""What every feature set keeps: the contract of `arcademark.features.base`, in a real game and in the toy game."""

import inspect

import numpy as np
import pytest

from arcademark.environments.registry import open_environment
from arcademark.errors import ArcadeMarkError, UnknownNameError
from arcademark.features.base import BinaryFeatures, CountedFeatures
from arcademark.features.registry import feature_set, feature_sets, make_features

STEPS = 15
FEWER = {"background_screens": 200, "class_screens": 400, "vectors": 200}
"""As much as is enough here."""
COMPILED = ("b-pros", "b-prost", "blob-prost", "disco")
"""Those whose kernels take seconds to compile."""


@pytest.fixture(scope="module", params=["freeway", "toy"])
def played(request, make_env):
    """Specs and the first observations of a game, by what is observed."""
    envs = {kind: make_env(request.param, observation=kind) for kind in ("palette", "ram")}
    return envs, {kind: observations(env) for kind, env in envs.items()}


def observations(env):
    game, rng = open_environment(env), np.random.default_rng(0)
    game.reset(np.random.default_rng(1))
    seen = np.empty((STEPS, *env.observation_shape), np.uint8)
    for observation in seen:
        game.observe(observation)
        if any(game.step(int(rng.integers(env.num_actions)))[1:]):
            game.reset(np.random.default_rng(2))
    seen.flags.writeable = False
    return seen


@pytest.fixture(
    params=[pytest.param(name, marks=pytest.mark.slow) if name in COMPILED else name for name in feature_sets()]
)
def item(request):
    return feature_set(request.param)


@pytest.fixture
def make(played, item):
    """Make the set in question for the game in question."""
    declared = inspect.signature(item.factory).parameters
    parameters = {name: value for name, value in FEWER.items() if name in declared}
    return lambda: make_features(item.name, played[0][item.observed], parameters)


@pytest.fixture
def screens(played, item):
    return played[1][item.observed]


def told(features, observation):
    """Return what a feature set tells of an observation, as sorted lists."""
    if isinstance(features, BinaryFeatures):
        on, off = features.update(observation)
        assert on.dtype == off.dtype == np.int32
        return sorted(on.tolist()), sorted(off.tolist())
    numbers, counts = features.count(observation)
    assert (numbers.dtype, counts.dtype, numbers.shape) == (np.int32, np.float32, counts.shape)
    return sorted(zip(numbers.tolist(), counts.tolist(), strict=True))


def test_it_is_what_the_list_says(played, item, make):
    features = make()
    assert isinstance(features, BinaryFeatures) != isinstance(features, CountedFeatures)
    assert features.observed == item.observed
    if played[0]["ram"].game != "toy" and item.name != "lsh":
        assert item.features in (None, features.num_features)


def test_what_it_tells_fits_what_it_told_before(make, screens):
    features = make()
    features.begin()
    active = set()
    for screen in screens:
        if isinstance(features, CountedFeatures):
            counted = told(features, screen)
            active = {number for number, _ in counted}
            assert len(active) == len(counted)
            assert all(count != 0 for _, count in counted)
        else:
            on, off = told(features, screen)
            assert len(set(on)) == len(on)
            assert not active & set(on)
            assert active >= set(off)
            assert len(set(off)) == len(off)
            active = (active | set(on)) - set(off)
        assert all(0 <= number < features.num_features for number in active)
    assert active or isinstance(features, CountedFeatures)


def test_an_episode_depends_on_nothing_before_it(make, screens):
    features, fresh = make(), make()
    for screen in screens:
        told(features, screen)
    for one in (features, fresh):
        one.begin()
    for screen in screens[::-1]:
        assert told(features, screen) == told(fresh, screen)


def test_pictures_and_descriptions_change_nothing(make, screens):
    features, alone = make(), make()
    for one in (features, alone):
        one.begin()
    for screen in screens:
        image = features.picture(screen)
        assert (image.dtype, image.ndim, image.shape[2]) == (np.uint8, 3, 3)
        assert features.describe(0)
        assert features.describe(features.num_features - 1)
        assert told(features, screen) == told(alone, screen)


def test_a_feature_that_is_none_is_refused(make):
    features = make()
    for feature in (-1, features.num_features):
        with pytest.raises(ArcadeMarkError, match=rf"^feature {feature}: expected 0 to {features.num_features - 1}$"):
            features.describe(feature)


def test_parameters_have_defaults_and_are_set_by_name(item):
    env, *parameters = inspect.signature(item.factory).parameters.values()
    assert env.name == "env"
    assert all(parameter.kind is parameter.KEYWORD_ONLY for parameter in parameters)
    assert all(parameter.default is not parameter.empty for parameter in parameters)


def test_an_unknown_set_is_told_with_the_closest(make_env):
    with pytest.raises(UnknownNameError, match="unknown feature set 'basics'; did you mean 'basic'"):
        make_features("basics", make_env("toy"))
