"""Every feature set keeps the contract of `arcademark.classic.features.base`, in a real game and in the toy game."""

import inspect

import numpy as np
import pytest

from arcademark.classic.features.registry import feature_set, feature_sets, make_features
from arcademark.classic.features.sets.basic import Basic
from arcademark.errors import UnknownNameError
from arcademark.testing import check_features

FEWER = {"background_screens": 200, "class_screens": 400, "vectors": 200}
"""As much as is enough here."""
COMPILED = ("b-pros", "b-prost", "blob-prost", "disco")
"""Those whose kernels take seconds to compile."""


@pytest.fixture(
    params=[pytest.param(name, marks=pytest.mark.slow) if name in COMPILED else name for name in feature_sets()]
)
def item(request):
    return feature_set(request.param)


@pytest.mark.parametrize("game", ["freeway", "toy"])
def test_it_keeps_the_contract_and_is_what_the_list_says(game, item, make_env):
    env = make_env(game, observation=item.observed)
    declared = inspect.signature(item.factory).parameters
    parameters = {name: value for name, value in FEWER.items() if name in declared}
    check_features(lambda: make_features(item.name, env, parameters), env, np.random.default_rng(0))
    features = make_features(item.name, env, parameters)
    assert features.observed == item.observed
    if game != "toy" and item.name != "lsh":
        assert item.features in (None, features.num_features)


class Forgetful(Basic):
    def begin(self):
        pass


class Double(Basic):
    def update(self, observation):
        change = super().update(observation)
        return change._replace(on=np.repeat(change.on, 2))


class Beyond(Basic):
    def update(self, observation):
        change = super().update(observation)
        return change._replace(on=change.on + self.num_features)


class Drawing(Basic):
    def picture(self, observation):
        self.update(observation)
        return super().picture(observation)


class Undescribed(Basic):
    def describe(self, feature):
        return "a feature"


@pytest.mark.parametrize(
    ("broken", "complaint"),
    [
        (Forgetful, "before begin"),
        (Double, "a feature changes twice"),
        (Beyond, "is out of range"),
        (Drawing, "changes the features"),
        (Undescribed, "feature -1 is described"),
    ],
)
def test_a_feature_set_that_breaks_a_rule_fails_by_it(broken, complaint, make_env):
    env = make_env("toy", observation="palette")
    with pytest.raises(AssertionError, match=complaint):
        check_features(lambda: broken(env, background=False), env, np.random.default_rng(0))


def test_parameters_have_defaults_and_are_set_by_name(item):
    env, *parameters = inspect.signature(item.factory).parameters.values()
    assert env.name == "env"
    assert all(parameter.kind is parameter.KEYWORD_ONLY for parameter in parameters)
    assert all(parameter.default is not parameter.empty for parameter in parameters)


def test_an_unknown_set_is_told_with_the_closest(make_env):
    with pytest.raises(UnknownNameError, match="unknown feature set 'basics'; did you mean 'basic'"):
        make_features("basics", make_env("toy"))
