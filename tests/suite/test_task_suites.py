"""Suites of tasks beyond Atari: what their files may hold, what they mean, and what is refused."""

import json
import pickle

import pytest

from arcademark.errors import ArcadeMarkError
from arcademark.suite.protocols import from_json, step_protocol
from arcademark.suite.task_suites import load_suite, parse_suite, read_suite
from plugin_packages import install

FILE = """
title = "Two of the classics"
citation = "Barto et al. 1983"

[protocol]
training_steps = 50_000
evaluation_episodes = 20

[tasks.cartpole]
environment = "CartPole-v1"
max_steps = 200
training = true
low = { score = 22.5, source = "random play" }
high = { score = 200, source = "its limit" }

[tasks.lake]
environment = "FrozenLake-v1"
kwargs = { is_slippery = false, desc = ["SF", "HG"] }

[subsets]
poles = ["cartpole"]
"""


def test_a_file_says_what_is_played_and_how():
    suite = read_suite(FILE, "two.toml", "two")
    rules = step_protocol(suite)
    assert (suite.name, suite.title, list(suite.tasks)) == ("two", "Two of the classics", ["cartpole", "lake"])
    assert rules.settings() == {
        "max_steps_per_episode": None,
        "training_steps": 50_000,
        "training_episodes": None,
        "evaluation_episodes": 20,
        "reported_episodes": "evaluation",
    }
    assert [rules.provenance[name].status for name in ("training_steps", "reported_episodes")] == ["cited", "choice"]
    assert (rules.training_frames, rules.unit, rules.frame_skip) == (50_000, "step", 1)
    assert suite.tasks["cartpole"].high.score == 200.0
    assert (suite.training_tasks, suite.test_tasks) == (("cartpole",), ("lake",))
    assert [rules.cap(task) for task in suite.tasks] == [200, None]
    assert [rules.override({"max_steps_per_episode": 300}).cap(task) for task in suite.tasks] == [200, 300]
    assert suite.tasks["lake"].played() == {
        "environment": "FrozenLake-v1",
        "kwargs": {"is_slippery": False, "desc": ["SF", "HG"]},
        "max_steps": None,
    }


@pytest.mark.parametrize(
    ("names", "meant"),
    [
        ("all", "cartpole lake"),
        ("training", "cartpole"),
        ("test", "lake"),
        ("poles,lake", "cartpole lake"),
        ("CartPole-v1", "cartpole"),
        (["lake", "all"], "lake cartpole"),
    ],
)
def test_names_of_tasks_and_subsets(names, meant):
    assert read_suite(FILE, "two.toml", "two").resolve(names) == tuple(meant.split())


def test_a_protocol_is_restored_from_json_and_pickled():
    rules = step_protocol(read_suite(FILE, "two.toml", "two")).override({"max_steps_per_episode": "30"})
    for again in (from_json(json.loads(json.dumps(rules.to_json()))), pickle.loads(pickle.dumps(rules))):
        assert again == rules
        assert again.label == "two (max_steps_per_episode=30)"
        assert again.suite.to_json() == rules.suite.to_json()


def test_a_trial_is_told_apart_by_its_own_task_alone():
    one = step_protocol(read_suite(FILE, "two.toml", "two"))
    other = step_protocol(read_suite(FILE.replace("is_slippery = false", "is_slippery = true"), "two.toml", "two"))
    assert one.of_trial("cartpole") == other.of_trial("cartpole")
    assert one.of_trial("lake") != other.of_trial("lake")


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("[protocol]", "[protokoll]", "unknown field 'protokoll'; did you mean 'protocol'"),
        ("training_steps", "training_frames", "unknown protocol setting 'training_frames'"),
        ("50_000", "-1", "training_steps=-1: expected a whole number"),
        ('environment = "CartPole-v1"', 'environment = "os.system(1)"', r"tasks.cartpole: .*\.environment"),
        ("max_steps = 200", "max_steps = 0", r"tasks.cartpole: Expected `int` >= 1 - at `\$.max_steps`; correct"),
        ("training = true", "training = 1", r"tasks.cartpole: Expected `bool`.*\.training"),
        ("score = 200", "score = nan", r"tasks.cartpole: .*\.high.score"),
        ("score = 200", "score = 22.5", "another score than low's"),
        ('source = "its limit"', 'source = "a\\nb"', r"tasks.cartpole: .*\.high.source"),
        ('["cartpole"]', '["pole"]', "subsets.poles: .* ids of tasks"),
        ("poles =", "Test =", "Test: expected another name"),
        ("[tasks.lake]", "[tasks.all]", "all: expected another name"),
        ("[tasks.lake]", "[tasks.Lake]", "tasks.Lake: expected a name of 1 to 64 lower-case letters, digits and '_'"),
        ("[tasks.lake]", '[tasks.lake]\nid = "pond"', "tasks.lake: its id is its table's name; leave out id"),
        ("poles =", '"po,les" =', "subsets, 'po,les': expected a name of up to 64 letters"),
        ("poles =", '"" =', "subsets, '': expected a name of up to 64 letters"),
        ("poles =", '"a\\u001b[31m" =', r"subsets, 'a.x1b\[31m': expected a name of up to 64 letters"),
        ("is_slippery = false", "is_slippery = 2020-01-01", "tasks.lake: kwargs.is_slippery"),
        ("[subsets]", "[subsets", "is not TOML"),
    ],
)
def test_mistakes_name_the_place(before, after, message):
    assert before in FILE
    with pytest.raises(ArcadeMarkError, match=message):
        step_protocol(read_suite(FILE.replace(before, after), "two.toml", "two"))


@pytest.mark.parametrize(
    "data", [None, [], {}, {"tasks": {}}, {"name": "x/y", "tasks": {"a": {"environment": "A-v0"}}}]
)
def test_what_is_no_suite_is_refused(data):
    with pytest.raises(ArcadeMarkError, match="suite:"):
        parse_suite(data, "suite", "name")


def test_environments_are_named_on_the_spot():
    suite = load_suite("gymnasium:CartPole-v1, minigrid:MiniGrid-Empty-5x5-v0")
    assert {name: (task.environment, task.module) for name, task in suite.tasks.items()} == {
        "cartpole_v1": ("CartPole-v1", ""),
        "minigrid_empty_5x5_v0": ("minigrid:MiniGrid-Empty-5x5-v0", "minigrid"),
    }
    with pytest.raises(ArcadeMarkError, match="names no environment"):
        load_suite("gymnasium:")
    with pytest.raises(ArcadeMarkError, match="have the name a_v0"):
        load_suite("gymnasium:A-v0,a/v0")
    with pytest.raises(ArcadeMarkError, match="unknown suite 'no-such'"):
        load_suite("no-such")
    for name in ("Atari-57", "atari-5", "Pong"):
        with pytest.raises(
            ArcadeMarkError, match=rf"suite '{name}' consists of ALE's own games; .* --games {name.lower()}"
        ):
            load_suite(name)


def test_a_folder_is_no_suite(tmp_path, monkeypatch):
    (tmp_path / "docs").mkdir()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ArcadeMarkError, match="unknown suite 'docs'"):
        load_suite("docs")


def test_a_file_of_any_name_has_a_suite_of_an_allowed_name(tmp_path):
    for name, expected in (
        ("Mine", "mine"),
        ("Über (2) games", "uber-2-games"),
        ("游戏", "suite"),
        ("x" * 90, "x" * 64),
    ):
        (tmp_path / f"{name}.toml").write_text(FILE)
        assert load_suite(str(tmp_path / f"{name}.toml")).name == expected


def test_suites_of_other_packages(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "two.toml").write_text(FILE)
    module = "from pathlib import Path\nFILE = Path(__file__).with_name('two.toml')\ndef path(): return str(FILE)\n"
    install(
        tmp_path, "games_of_ours", "[arcademark.suites]\nours = games_of_ours:FILE\nmade = games_of_ours:path\n", module
    )
    assert load_suite("ours") == load_suite("made") == load_suite(str(tmp_path / "two.toml"))
    with pytest.raises(ArcadeMarkError, match="unknown suite 'our'; did you mean 'ours'"):
        load_suite("our")
