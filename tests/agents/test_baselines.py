import numpy as np
import pytest

from arcademark.agents.baselines import Perturb, Random, console_action
from arcademark.agents.loading import agent_specs, applies, make_agent
from arcademark.errors import ArcadeMarkError


def act(policy, seeds, calls=1):
    rngs = [np.random.default_rng(seed) for seed in seeds]
    observations = np.zeros((len(rngs), 4, 6, 5), dtype=np.uint8)
    return np.array([policy.act(observations, np.zeros(len(rngs), dtype=bool), rngs) for _ in range(calls)])


@pytest.mark.parametrize(
    ("text", "name"), [("fire", "FIRE"), (17, "DOWNLEFTFIRE"), ("0", "NOOP"), ("up-left", "UPLEFT")]
)
def test_an_action_is_named_or_numbered(text, name):
    assert console_action(text) == name
    for wrong, message in ((18, "expected an index from 0 to 17"), (-1, "expected an index"), ("FIER", "'FIRE'")):
        with pytest.raises(ArcadeMarkError, match=message):
            console_action(wrong)


def test_random_is_uniform_over_the_games_actions(small_env):
    counts = np.bincount(act(Random(small_env), [0, 1], 3000).ravel(), minlength=3)
    assert len(counts) == 3
    np.testing.assert_allclose(counts / 6000, 1 / 3, atol=0.03)


def test_random_draws_each_frame_under_the_2013_protocol_only(make_env):
    assert Random(make_env(protocol_name="ale-2013")).frames_per_action == 1
    assert Random(make_env(protocol_name="world-records")).frames_per_action is None
    assert Perturb(make_env(protocol_name="ale-2013"), action="FIRE").frames_per_action == 1
    assert Perturb(make_env(protocol_name="world-records"), action="FIRE").frames_per_action is None


def test_perturb_strays_with_the_papers_probability_to_any_action(env):
    actions = act(Perturb(env, action="FIRE"), [3], 40_000).ravel()
    counts = np.bincount(actions, minlength=18) / len(actions)
    expected = np.full(18, 0.05 / 18)
    expected[1] += 0.95
    np.testing.assert_allclose(counts, expected, atol=0.003)


def test_the_baseline_set_has_37_members_all_different():
    specs = agent_specs("baselines")
    assert len(specs) == len({spec.label for spec in specs}) == 37
    assert [spec.ref for spec in specs].count("const") == [spec.ref for spec in specs].count("perturb") == 18
    assert specs[2].label == "const(action=FIRE)"


def test_a_variant_whose_action_the_game_lacks_does_not_apply(small_env, env):
    fitting = [spec.label for spec in agent_specs("const") if applies(spec, small_env) is None]
    assert fitting == ["const(action=NOOP)", "const(action=RIGHT)", "const(action=LEFT)"]
    assert all(applies(spec, env) is None for spec in agent_specs("baselines"))
    fire = agent_specs("perturb", {"action": "1"})[0]
    assert applies(fire, small_env) == "pong has no action FIRE in its full set (NOOP, RIGHT, LEFT)"
    with pytest.raises(ArcadeMarkError, match=r"perturb\(action=FIRE\) does not play this game: pong has no action"):
        make_agent(fire, small_env)
