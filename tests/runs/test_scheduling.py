"""What trials are expected to cost, the order in which they are begun, and the parts in which they are dealt out."""

import random

import pytest

from arcademark.errors import UnknownNameError
from arcademark.runs import execution
from arcademark.runs.engines.here import InProcessEngine
from arcademark.runs.execution import execute
from arcademark.runs.plan import make_plan
from arcademark.runs.playing.progress import Standing
from arcademark.runs.playing.scheduling import SIMULATED_PER_PLAYED, Lengths, deal, frames_left
from arcademark.runs.store.reading import read_run
from arcademark.suite import protocols
from arcademark.suite.tasks import games
from plugin_packages import install

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
    assert Lengths().of("pong", RULES) == RANDOM["pong"]
    twice = Lengths([("pong", 3 * RANDOM["pong"], 1), ("pong", RANDOM["pong"], 1)])
    assert twice.of("qbert", RULES) == pytest.approx(2 * RANDOM["qbert"])
    assert twice.of("pong", RULES.override({"max_frames_per_episode": "1000"})) == 1000
    rules = protocols.protocol("ale-2013").override({"training_episodes": "3"})
    trials = [
        trial
        for agent, episodes in (("random", 4), ("sarsa", 4), ("uct", 2))
        for trial in make_plan(agent, "pong", rules, episodes=episodes).trials
    ]
    expected = [4, 4 + 3, 2 * SIMULATED_PER_PLAYED]
    assert frames_left([*map(Standing, trials)], Lengths()) == [RANDOM["pong"] * length for length in expected]


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
