import os
import sys
from pathlib import Path

import numpy as np
import pytest

from arcademark.agents.loading import AgentSpec, agent_specs, applies, kind, make_agent
from arcademark.classic.baselines import Perturb, Random
from arcademark.errors import ArcadeMarkError
from arcademark.importing import canonical_reference
from arcademark.suite.tasks import joystick_action

GOOD = """
import numpy as np

class Agent:
    def __init__(self, env, *, depth: int = 1):
        self.depth = depth
    def act(self, observations, first, rngs):
        return np.full(len(first), self.depth)

def make_agent(env, *, depth: int = 1):
    return Agent(env, depth=depth)

def make_nothing(env):
    pass

number = 3
"""


def first_action(policy, env):
    return policy.act(
        np.zeros((1, *env.observation_shape), np.uint8), np.array([True]), [np.random.default_rng(0)]
    ).tolist()


def load(ref, settings, env):
    return make_agent(agent_specs(ref, settings)[0], env)


def fails(ref, env=None, **settings):
    with pytest.raises(ArcadeMarkError) as caught:
        load(ref, settings, env)
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_a_file_is_loaded_from_anywhere_by_its_absolute_path(own_agent, env, tmp_path, monkeypatch):
    own_agent(GOOD)
    monkeypatch.chdir(tmp_path)
    (spec,) = agent_specs("own.py:make_agent", {"depth": "2"})
    assert spec == AgentSpec(f"{tmp_path}/own.py:make_agent", {"depth": 2})
    assert spec.label == "own.py:make_agent(depth=2)"
    monkeypatch.chdir("/")
    assert first_action(make_agent(spec, env), env) == [2]


def test_a_module_of_the_current_folder_is_loaded(tmp_path, env, monkeypatch):
    (tmp_path / "own_package_for_test").mkdir()
    (tmp_path / "own_package_for_test" / "agents.py").write_text(GOOD)
    monkeypatch.chdir(tmp_path)
    (spec,) = agent_specs("own_package_for_test.agents:make_agent")
    assert spec.label == "own_package_for_test.agents:make_agent"
    assert first_action(make_agent(spec, env), env) == [1]
    assert str(tmp_path) not in sys.path


def test_neighbours_of_the_same_name_are_kept_apart(own_agent, env):
    """Imported with the file, or by its factory."""
    imports, makes = "from helper_in_test import ACTION", "return lambda observation: ACTION"
    codes = f"{imports}\ndef make_agent(): {makes}", f"def make_agent():\n    {imports}\n    {makes}"
    refs = []
    for folder, action, code in zip("ab", (2, 3), codes, strict=True):
        own_agent(f"ACTION = {action}", name=f"{folder}/helper_in_test.py")
        refs.append(own_agent(code, name=f"{folder}/agent.py"))
    assert [first_action(make_agent(agent_specs(ref)[0], env), env) for ref in refs] == [[2], [3]]
    assert [first_action(make_agent(agent_specs(ref)[0], env), env) for ref in refs] == [[2], [3]]


BROKEN = [
    ("import sys; sys.exit(3)", "make_agent", "importing it raised SystemExit: 3 (own.py, line 1)"),
    ("import sys\ndef make_agent(env): sys.exit()", "make_agent", "its factory raised SystemExit (own.py, line 2)"),
    ("import numpy\n\n1 / 0", "make_agent", "importing it raised ZeroDivisionError: division by zero (own.py, line 3)"),
    ("def (", "make_agent", "(own.py, line 1)"),
    ("import torch_in_test", "make_agent", "ModuleNotFoundError: No module named 'torch_in_test' (own.py, line 1)"),
    (GOOD, "make_agnt", "did you mean 'make_agent'"),
    (GOOD, "zzz", "it defines Agent, make_agent, make_nothing"),
    (GOOD, "number", "'number' is a int; expected a function or class"),
    (GOOD, "make_nothing", "its factory returned NoneType; expected an object with act(), plan() or predict()"),
    (GOOD + "\ndef make(env): return Agent", "make", "returned the class Agent; expected an instance"),
]


@pytest.mark.parametrize(("code", "factory", "message"), BROKEN)
def test_what_is_wrong_in_a_file_is_named_with_its_line(own_agent, env, code, factory, message):
    assert message in fails(own_agent(code, factory), env)


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("rnadom", "unknown agent 'rnadom'; did you mean 'random'"),
        ("none.py:make_agent", "there is no such file"),
        ("own.py", "expected path/to/file.py:NAME"),
        ("own.py:", "expected path/to/file.py:NAME"),
        ("own agent:make", "neither a module's name nor a file"),
        ("not_there_in_test.agents:make", "no module 'not_there_in_test'"),
    ],
)
def test_what_is_missing_is_named(reference, message):
    assert message in fails(reference)


def test_what_a_factory_raises_is_told_with_its_settings(env, fakes):
    assert fails(f"{fakes}/raising.py:make_agent", env, at_once="yes") == (
        "agent raising.py:make_agent(at_once=true) on pong: its factory raised RuntimeError: no weights found "
        "(raising.py, line 9)"
    )


LEARNER = ("act", "learn", "train", "evaluate", "checkpoint", "restore")


def class_with(methods):
    return "class Mine:\n" + "".join(f"    def {method}(self, *_):\n        return b''\n" for method in methods)


@pytest.mark.parametrize(
    ("lacking", "message"),
    [
        (("train", "restore"), "it has learn() but not train, restore; a learner needs all"),
        (LEARNER[2:], "it has learn() but not train, evaluate, checkpoint, restore; a learner needs all"),
        (("learn",), "it has train() but not learn; a learner needs all"),
    ],
)
def test_a_learner_that_lacks_methods_is_refused_before_it_is_made(own_agent, lacking, message):
    reference = own_agent(class_with(method for method in LEARNER if method not in lacking), "Mine")
    with pytest.raises(ArcadeMarkError) as refused:
        agent_specs(reference)
    assert str(refused.value) == f"agent {Path(reference.rpartition(':')[0]).name}:Mine: {message}"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (class_with(LEARNER), "learner"),
        (class_with(["act"]), "policy"),
        (class_with(["act", "train", "checkpoint", "restore"]), "policy"),
        (class_with(["predict", "learn"]), "policy"),
        (class_with(["__call__"]), "policy"),
        (class_with(["plan"]), "planner"),
        (class_with(["act", "learn", "__getattr__"]), "function"),
        ("def Mine():\n    return lambda observation: 0\n", "function"),
    ],
)
def test_what_an_agent_is_before_it_is_made(own_agent, body, expected):
    (spec,) = agent_specs(own_agent(body, "Mine"))
    assert kind(spec) == expected


def test_settings_are_checked_against_what_the_agent_declares(own_agent):
    ref = own_agent(GOOD)
    assert "unknown parameter 'dept'; did you mean 'depth'?" in fails(ref, dept="2")
    assert fails(ref, depth="x") == "agent own.py:make_agent: parameter 'depth' is 'x': expected int"
    assert "has no parameters; remove depth" in fails("random", depth="2")
    assert "baselines is a set and has no parameters" in fails("baselines", action="2")
    assert "did you mean 'UP'" in fails("const", action="UPP")


def test_a_file_whose_name_is_no_text_is_refused(tmp_path):
    path = os.fsdecode(os.fsencode(tmp_path) + b"/own\xff.py")
    with open(path, "w") as file:
        file.write("make = None\n")
    with pytest.raises(ArcadeMarkError, match=r"own\\udcff\.py:make': its path contains bytes that are not text"):
        canonical_reference(f"{path}:make")


def act(policy, seeds, calls=1):
    rngs = [np.random.default_rng(seed) for seed in seeds]
    observations = np.zeros((len(rngs), 4, 6, 5), dtype=np.uint8)
    return np.array([policy.act(observations, np.zeros(len(rngs), dtype=bool), rngs) for _ in range(calls)])


@pytest.mark.parametrize(
    ("text", "name"), [("fire", "FIRE"), (17, "DOWNLEFTFIRE"), ("0", "NOOP"), ("up-left", "UPLEFT")]
)
def test_an_action_is_named_or_numbered(text, name):
    assert joystick_action(text) == name
    for wrong, message in ((18, "expected an index from 0 to 17"), (-1, "expected an index"), ("FIER", "'FIRE'")):
        with pytest.raises(ArcadeMarkError, match=message):
            joystick_action(wrong)


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
