"""Plans: which trials, under which names."""

import dataclasses
import random
import re

import pytest

from arcademark.agents.loading import AgentSpec, agent_specs, named
from arcademark.errors import ArcadeMarkError, UnknownNameError
from arcademark.records.reading import read_run
from arcademark.runs import execution
from arcademark.runs.engines.here import InProcessEngine
from arcademark.runs.execution import execute
from arcademark.runs.plan import Trial, make_plan
from arcademark.runs.request import request
from arcademark.runs.scheduling.lengths import SIMULATED_PER_PLAYED, Lengths, deal, frames_left
from arcademark.runs.scheduling.progress import TrialStanding
from arcademark.suite import protocols
from arcademark.suite.protocols import protocol
from arcademark.suite.subsets import resolve_tasks
from arcademark.suite.tasks import games
from plugin_packages import install

FULL = {"training_episodes": 5000}


def test_defaults(tmp_path):
    plan = request("random", None, {"out": tmp_path}).plan(None)
    assert [trial.game for trial in plan.trials] == list(resolve_tasks("atari-5"))
    assert {trial.seed for trial in plan.trials} == {0}
    assert {trial.episodes for trial in plan.trials} == {protocol("world-records").evaluation_episodes}
    assert plan.protocol == protocol("world-records")
    assert plan.left_out == ()


def test_a_trial_for_each_seed_game_and_agent():
    agents = [*agent_specs("const"), *agent_specs("sarsa")]
    plan = make_plan(agents, "pong,breakout", "machado-2018", seeds=(3, 1), episodes=2, frames=500)
    assert len(plan.trials) == len({trial.id for trial in plan.trials}) == 2 * 2 * 19
    assert [trial.seed for trial in plan.trials] == [3] * 38 + [1] * 38
    assert {trial.training_frames for trial in plan.trials} == {500}


def test_games_one_by_one_may_be_spelt_in_any_way():
    assert make_plan("random", ["Q*bert", "ALE/Pong-v5", "qbert", "toy"]).games == ("qbert", "pong", "toy")


def test_an_id_is_that_of_versions_without_later_settings():
    plans = [make_plan("random", ["pong"], protocol("dqn-2015").override({"fire_reset": on})) for on in (False, True)]
    assert plans[0].trials[0].id == "random-pong-s0-3981a745"
    assert plans[1].trials[0].id != plans[0].trials[0].id


def test_an_id_says_what_it_is():
    trial = Trial(AgentSpec("/here/my_agent.py:make", {"depth": 2}), "pong", protocol("world-records"), 7, 5)
    assert re.fullmatch(r"my_agent-make-depth-2-pong-s7-[0-9a-f]{8}", trial.id)


@pytest.mark.parametrize(
    ("change", "same"),
    [
        ({"episodes": 9}, True),
        ({"agent": AgentSpec("/elsewhere/my_agent.py:make", {"depth": 2})}, True),
        ({"protocol": protocol("world-records").override({"evaluation_episodes": 3})}, True),
        ({"agent": AgentSpec("/here/my_agent.py:make", {"depth": 3})}, False),
        ({"game": "breakout"}, False),
        ({"seed": 1}, False),
        ({"training_frames": 10}, False),
        ({"training_episodes": 10}, False),
        ({"protocol": protocol("world-records").override({"frame_skip": 3})}, False),
    ],
)
def test_an_id_changes_with_what_can_change_a_score(change, same):
    values = {
        "agent": AgentSpec("/here/my_agent.py:make", {"depth": 2}),
        "game": "pong",
        "protocol": protocol("world-records"),
        "seed": 0,
        "episodes": 5,
        "training_frames": None,
    }
    assert (Trial(**values).id == Trial(**values | change).id) is same


@pytest.mark.parametrize(
    ("name", "asked", "budget"),
    [
        ("ale-2013", {}, (None, 5000)),
        ("ale-2013", {"training_episodes": 50}, (None, 50)),
        ("ale-2013", {"frames": 9000}, (9000, None)),
        ("world-records", {}, (200_000_000, None)),
        ("world-records", {"training_episodes": 50}, (None, 50)),
        ("world-records", {"training_episodes": 0}, (None, 0)),
    ],
)
def test_training_has_one_budget(name, asked, budget):
    plan = make_plan("sarsa", "pong", name, **asked)
    assert [(trial.training_frames, trial.training_episodes) for trial in plan.trials] == [budget]
    assert (plan.frames, plan.training_episodes) == (asked.get("frames"), asked.get("training_episodes"))


def test_the_protocols_own_budget_in_episodes_leaves_the_id_alone():
    (default,), (same,) = (make_plan("sarsa", "pong", "ale-2013", **more).trials for more in ({}, FULL))
    assert default.id == same.id == dataclasses.replace(default, training_episodes=None).id


def test_what_does_not_apply_is_left_out_by_name():
    plan = make_plan("perturb", "skiing,pong", "world-records", episodes=1)
    left_out = {(item.agent, item.game) for item in plan.left_out}
    assert {game for _, game in left_out} == {"skiing"}
    assert len(plan.trials) == 36 - len(left_out) < 36
    assert all(item.reason for item in plan.left_out)
    assert not left_out & {(trial.agent.label, trial.game) for trial in plan.trials}
    with pytest.raises(ArcadeMarkError, match=r"nothing to play: const.* on skiing: "):
        make_plan(agent_specs("const", {"action": "UPFIRE"}), "skiing", episodes=1)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"protocol": "human-starts"}, "cannot be run"),
        ({"seeds": (2**63,)}, "seeds"),
        ({"episodes": 0}, "episodes 0"),
        ({"episodes": 2**63}, "episodes 9223372036854775808"),
        ({"episodes": 1_000_001}, "episodes 1000001: expected 1 to 1,000,000 per trial"),
        ({"frames": -1}, "training frames -1"),
        ({"frames": 2**63}, "training frames 9223372036854775808"),
        ({"training_episodes": -1}, "training episodes -1"),
    ],
)
def test_bad_plans(settings, message):
    with pytest.raises(ArcadeMarkError, match=message):
        make_plan("random", "pong", **settings)


def test_agents_of_one_label_are_refused(tmp_path):
    files = [tmp_path / folder / "own.py" for folder in ("a", "b")]
    for file in files:
        file.parent.mkdir()
        file.write_text("def make():\n    return lambda observation: 0\n")
    specs = [spec for file in files for spec in agent_specs(f"{file}:make")]
    with pytest.raises(
        ArcadeMarkError, match=r"agent own\.py:make is .*a/own\.py:make and .*b/own\.py:make; rename one"
    ):
        make_plan(specs, "pong", episodes=1)


def test_an_agent_whose_settings_make_no_name_needs_one(tmp_path):
    (tmp_path / "own.py").write_text("def make(*, text=''):\n    return lambda observation: 0\n")
    for text, why in (
        ("x" * 1000, "are longer than the 1,000 characters of a name; give it one with --name"),
        ("\udcff", r"own\.py:make\(text=\\udcff\): its name contains bytes that are not text"),
    ):
        specs = agent_specs(f"{tmp_path / 'own.py'}:make", {"text": text})
        with pytest.raises(ArcadeMarkError, match=why):
            make_plan(specs, "pong", episodes=1)
    assert make_plan(named(specs, "mine"), "pong", episodes=1).trials


def test_planners_play_their_own_number_of_episodes():
    def episodes(agent, rules, **more):
        return make_plan(agent, "pong", rules, **more).episodes

    rules = protocol("ale-2013")
    assert episodes("random", rules) == rules.evaluation_episodes == 500
    assert episodes("uct", rules) == 10
    assert episodes("uct", rules.override({"frame_skip": 4})) == 10
    assert episodes("uct", rules.override({"evaluation_episodes": 20})) == 20
    assert episodes("uct", rules, episodes=3) == 3
    assert episodes("uct", "world-records") == protocol("world-records").evaluation_episodes
    assert make_plan([*agent_specs("uct"), *agent_specs("random")], "pong", rules).episodes == 500


# What trials are expected to cost, the order in which they are begun, and the parts in which they are dealt out


RULES = protocols.protocol("world-records")
RANDOM = {game: games()[game].random_frames for game in games()}


def test_parts_are_even_and_whole():
    rng = random.Random(0)
    drawn = [rng.choice([1, 5, 20, 100]) for _ in range(285)]
    parts = deal(drawn, 20)
    assert sorted(place for part in parts for place in part) == list(range(285))
    sums = [sum(drawn[place] for place in part) for part in parts]
    assert max(sums) < 1.02 * sum(drawn) / 20
    assert deal([3.0, 3.0, 2.0, 2.0, 2.0], 2) == [[0, 2, 4], [1, 3]]


def test_what_is_left_goes_by_random_play_recorded_lengths_and_what_planners_simulate():
    assert Lengths(()).expected("pong", RULES) == RANDOM["pong"]
    (trial,) = make_plan("random", "pong", RULES).trials
    twice = Lengths([TrialStanding(trial, episodes=1, frames=times * RANDOM["pong"]) for times in (3, 1)])
    assert twice.expected("qbert", RULES) == pytest.approx(2 * RANDOM["qbert"])
    assert twice.expected("pong", RULES.override({"max_frames_per_episode": "1000"})) == 1000
    rules = protocols.protocol("ale-2013").override({"training_episodes": "3"})
    trials = [
        trial
        for agent, episodes in (("random", 4), ("sarsa", 4), ("uct", 2))
        for trial in make_plan(agent, "pong", rules, episodes=episodes).trials
    ]
    expected = [4, 4 + 3, 2 * SIMULATED_PER_PLAYED]
    assert frames_left([*map(TrialStanding, trials)]) == [RANDOM["pong"] * length for length in expected]


def test_trials_are_begun_longest_first_and_recorded_in_the_plans_order(tmp_path, monkeypatch):
    begun = []

    class Noting(InProcessEngine):
        def run(self, jobs, memory):
            begun.extend(job.trial.game for job in jobs)
            return super().run(jobs[:1], memory)

    monkeypatch.setitem(execution.ENGINES, "noting", Noting)
    rules = RULES.override({"max_frames_per_episode": "4000"})
    names = ["breakout", "qbert", "seaquest"]
    plan = make_plan("random", names, rules, episodes=1)
    execute(plan, tmp_path, engine="noting")
    assert begun == sorted(names, key=RANDOM.__getitem__, reverse=True)
    assert [trial.game for trial in read_run(tmp_path).trials] == names
    begun.clear()
    execute(plan, tmp_path, engine="noting")
    assert begun == sorted(names, key=RANDOM.__getitem__, reverse=True)[1:]


def test_an_engine_of_another_package_plays_by_its_name(tmp_path, monkeypatch):
    install(
        tmp_path,
        "engine_of_theirs",
        "[arcademark.engines]\nhere = arcademark.runs.engines.here:InProcessEngine\n",
    )
    monkeypatch.syspath_prepend(tmp_path)
    plan = make_plan("random", ["pong"], RULES.override({"max_frames_per_episode": "400"}), episodes=1)
    execute(plan, tmp_path / "run", engine="here")
    assert [trial.status for trial in read_run(tmp_path / "run").trials] == ["done"]
    with pytest.raises(UnknownNameError, match="unknown engine 'her'; did you mean 'here'"):
        execute(plan, tmp_path / "other", engine="her")
