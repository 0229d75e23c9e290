import copy
import json
import pickle
import re

import gymnasium
import pytest

from arcademark.errors import ArcadeMarkError, UnknownNameError
from arcademark.suite.protocols import (
    AtariProtocol,
    differences,
    from_json,
    protocol,
    protocols,
    step_protocol,
)
from arcademark.suite.settings import format_setting
from arcademark.suite.task_suites import load_suite

SETTINGS = AtariProtocol.declarations()
NAMES = [
    *("ale-2013", "dqn-2015", "noop-108000", "human-starts", "machado-2018"),
    *("saber", "world-records", "go-explore", "ale-v5", "atari-100k", "sb3-atari"),
]

CHANGES = [
    {},
    {"frame_skip": 3, "repeat_action_probability": 0.1, "action_set": "full", "max_frames_per_episode": None},
    {"mode": 4, "difficulty": None, "frame_stack": 1000, "fire_reset": True, "evaluation_episodes": 7},
    {"start": "noop", "noop_max": 30, "modification": "one_armed", "colours": "gray", "counted_frames": "emulated"},
    {"start": "every_noop", "noop_max": 7, "training_reward_clipping": False, "max_frames_per_episode": 2**40},
    {"start": "human", "noop_max": 0, "training_frames": None, "training_episodes": 7},
    {"observation": "rgb", "screen_size": (96, 80), "frame_skip": 1000},
    {"observation": "palette", "screen_size": None, "max_pool": False, "repeat_action_probability": 1.0},
    {"training_episode_end": "life_lost", "evaluation_episode_end": "game_over", "reported_episodes": "evaluation"},
]
"""Together with what they need: some settings only change together."""


def test_names():
    assert list(protocols()) == NAMES
    assert all(entry.name == name and entry.title and entry.citation for name, entry in protocols().items())


@pytest.mark.parametrize("name", NAMES)
def test_every_setting_is_cited_or_a_choice_with_its_reason(name):
    assert list(protocol(name).provenance) == list(SETTINGS)
    for entry in protocol(name).provenance.values():
        assert len(entry.note) > 20
        assert entry.status == "choice" or re.search(r"\b20(1[3-9]|2[0-5])\b|ale-py 0\.12\.1", entry.note)


@pytest.mark.parametrize("name", NAMES[:-1])  # that there were, without a button pressed
def test_a_protocol_of_an_older_version_is_read_as_it_was(name):
    """There was no pressing of FIRE and there were no variants; trials keep the names that they had."""
    older = protocol(name).to_json()
    for setting in ("fire_reset", "modification", "colours"):
        del older["settings"][setting], older["provenance"][setting]
    read = from_json(older)
    assert read == protocol(name)
    assert list(read.provenance) == list(SETTINGS)
    assert read.provenance["fire_reset"].status == "choice"
    del older["settings"]["noop_max"]
    with pytest.raises(ArcadeMarkError, match="noop_max"):
        from_json(older)


def test_every_start_is_the_protocol_with_each_of_its_starts_once():
    every = protocol("noop-108000").every_start()
    assert every.label == "noop-108000 (start=every_noop, evaluation_episodes=30)"
    assert [every.noops(episode) for episode in (0, 1, 29, 30)] == [1, 2, 30, 1]
    assert protocol("noop-108000").noops(0) is None
    starts = {name: protocol(name).starts for name in NAMES if not protocol(name).repeat_action_probability}
    assert starts == dict.fromkeys(starts, 30) | {"ale-2013": 1, "human-starts": None}
    assert every.starts == 30
    assert protocol("saber").starts is None
    for name in ("ale-2013", "saber", "human-starts"):
        with pytest.raises(ArcadeMarkError, match="no no-op starts"):
            protocol(name).every_start()


def test_ale_v5_is_what_ale_py_registers():
    import ale_py

    gymnasium.register_envs(ale_py)
    registered = gymnasium.spec("ALE/Pong-v5").kwargs
    entry = protocol("ale-v5")
    assert registered["frameskip"] == entry.frame_skip
    assert registered["repeat_action_probability"] == entry.repeat_action_probability
    assert registered["full_action_space"] is (entry.action_set == "full")
    assert registered["max_num_frames_per_episode"] == entry.max_frames_per_episode
    env = gymnasium.make("ALE/Pong-v5")
    assert env.observation_space.shape == (210, 160, 3)
    env.close()


def test_an_unknown_protocol_is_refused():
    assert protocol("SABER") is protocol("saber")
    with pytest.raises(UnknownNameError, match="did you mean 'world-records'"):
        protocol("world-record")


def test_overrides_are_labelled_and_keep_the_named_value():
    changed = protocol("world-records").override({"screen_size": "none", "frame_skip": "5"})
    assert changed.label == "world-records (frame_skip=5, screen_size=none)"
    assert changed.overrides == {"frame_skip": 4, "screen_size": (84, 84)}
    assert (changed.frame_skip, changed.screen_size) == (5, None)
    assert protocol("world-records").label == "world-records"
    assert changed != protocol("world-records")


@pytest.mark.parametrize("changes", CHANGES, ids=str)
@pytest.mark.parametrize("name", NAMES)
def test_what_is_overridden_is_restored_and_kept_however_it_is_written(name, changes):
    named, changes = protocol(name), {"observation": "grayscale"} | changes
    changed = named.override(changes)
    assert changed.override(changes) == changed
    assert changed.override(changed.overrides) == named
    assert all(getattr(changed, setting) == value for setting, value in changes.items())
    typed = {setting: f" {format_setting(value)} " for setting, value in changes.items()}
    assert named.override(typed) == changed
    apart = [(entry.setting, entry.a, entry.b) for entry in differences(named, changed)]
    assert {setting for setting, *_ in apart} == set(changed.overrides)
    assert [(entry.setting, entry.b, entry.a) for entry in differences(changed, named)] == apart
    assert (changed == named) == (apart == [])
    for restored in (
        from_json(json.loads(json.dumps(changed.to_json()))),
        pickle.loads(pickle.dumps(changed)),
        copy.deepcopy(changed),
    ):
        assert (restored, hash(restored), restored.label) == (changed, hash(changed), changed.label)
        assert (restored.overrides, restored.provenance) == (changed.overrides, changed.provenance)


@pytest.mark.parametrize(
    ("setting", "value", "expected"),
    [
        ("frame_skip", "0", "a whole number from 1 to 10,000"),
        ("frame_skip", "4.0", "a whole number from 1 to 10,000"),
        ("frame_skip", "__", "a whole number from 1 to 10,000"),
        ("frame_skip", True, "a whole number from 1 to 10,000"),
        ("frame_skip", 4.0, "a whole number from 1 to 10,000"),
        ("frame_skip", "none", "a whole number from 1 to 10,000"),
        ("frame_skip", "9" * 5000, "a whole number from 1 to 10,000"),
        ("frame_stack", 10**9, "a whole number from 1 to 1,000"),
        ("repeat_action_probability", "1.5", "a probability from 0 to 1"),
        ("repeat_action_probability", "nan", "a probability from 0 to 1"),
        ("repeat_action_probability", None, "a probability from 0 to 1"),
        ("max_frames_per_episode", "unlimited", "a whole number from 1 to 1,099,511,627,776 or 'none'"),
        ("start", "noops", "'reset' or 'noop' or 'every_noop' or 'human'"),
        ("screen_size", "84", "a height and a width such as '84x84' or 'none'"),
        ("screen_size", "84x0", "a height and a width such as '84x84' or 'none'"),
        ("screen_size", 84, "a height and a width such as '84x84' or 'none'"),
        ("max_pool", "yes", "'true' or 'false' or 'rgb' or 'resized'"),
        ("max_pool", 1, "'true' or 'false' or 'rgb' or 'resized'"),
        ("action_set", ["full"], "'full' or 'minimal'"),
    ],
)
def test_invalid_values_are_refused_with_what_is_allowed(setting, value, expected):
    with pytest.raises(ArcadeMarkError, match=f"protocol setting {setting}=") as refused:
        protocol("world-records").override({setting: value})
    assert f"expected {expected}" in str(refused.value)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"noop_max": 30}, "noop_max must be"),
        ({"start": "noop"}, "noop_max must be"),
        ({"start": "human", "noop_max": 3}, "noop_max must be"),
        ({"training_episodes": 10}, "either training_frames or training_episodes"),
        ({"training_frames": None}, "either training_frames or training_episodes"),
        ({"training_episode_end": "life_lost"}, "training_episode_end=game_over or reported_episodes=evaluation"),
        ({"evaluation_episode_end": "life_lost"}, "training_episode_end=life_lost or reported_episodes=evaluation"),
        ({"observation": "ram"}, "frame_stack=1.*screen_size=none.*max_pool=false"),
        ({"observation": "palette"}, "screen_size=none.*max_pool=false"),
        ({"observation": "palette", "screen_size": None}, "max_pool=false"),
    ],
)
def test_contradictions_are_refused_with_the_remedy(changes, message):
    with pytest.raises(ArcadeMarkError, match=message):
        protocol("world-records").override(changes)


@pytest.mark.parametrize("name", ["name", "provenance", "overrides", "frameskip", "label"])
def test_what_is_no_setting_cannot_be_overridden(name):
    with pytest.raises(UnknownNameError, match="did you mean 'frame_skip'" if name == "frameskip" else "unknown"):
        protocol("world-records").override({name: "x"})


def test_json_with_a_part_missing_or_wrong_is_refused():
    data = protocol("saber").to_json()
    for part in ("name", "settings", "overrides", "provenance"):
        with pytest.raises(ArcadeMarkError, match="expected what to_json"):
            from_json({key: value for key, value in data.items() if key != part})
    with pytest.raises(ArcadeMarkError, match="frame_skip"):
        from_json(data | {"settings": {k: v for k, v in data["settings"].items() if k != "frame_skip"}})
    with pytest.raises(ArcadeMarkError, match="frame_skip=many"):
        from_json(data | {"settings": data["settings"] | {"frame_skip": "many"}})
    with pytest.raises(ArcadeMarkError, match="to_json"):
        from_json({"settings": None})
    whole = step_protocol(load_suite("classic-control")).to_json()
    for strange in (
        *({"suite": suite, "settings": 5} for suite in ({}, None, 5, [], {"tasks": 5}, {"tasks": {"a": 5}})),
        *(whole | {"settings": settings} for settings in (5, None, [], {"frame_skip": 4})),
        *(5, None, [], "suite"),
    ):
        with pytest.raises(ArcadeMarkError, match=r"suite|protocol"):
            from_json(strange)


ALSO = {
    "max_episode_frames": "max_frames_per_episode",
    "max_num_frames_per_episode": "max_frames_per_episode",
    "sticky_actions": "repeat_action_probability",
    "action_repeat": "frame_skip",
    "reward_clipping": "training_reward_clipping",
    "eval_episodes": "evaluation_episodes",
    "stack_frames": "frame_stack",
    "image_size": "screen_size",
}


def test_every_setting_is_suggested_by_its_words_in_any_order():
    named = protocol("world-records")
    words = {"_".join(reversed(name.split("_"))): name for name in named.settings() if "_" in name}
    plural = {f"{name}s": name for name in named.settings()}
    for given, meant in {**words, **plural, **ALSO}.items():
        if given not in named.settings():
            with pytest.raises(UnknownNameError, match=f"did you mean '{meant}'"):
                named.override({given: 1})
