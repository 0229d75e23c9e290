"""Which episodes are the same, on games that leave nothing but their start to chance."""

import numpy as np
import pytest

from arcademark.agents.loading import agent_specs
from arcademark.analysis.scoring.analysis import analyse
from arcademark.environments.registry import environment_spec, open_environment
from arcademark.records.randomness import episode_rng
from arcademark.records.reading import read_run
from arcademark.records.repeats import kinds
from arcademark.runs.execution import execute
from arcademark.runs.plan import make_plan
from arcademark.runs.replay.verify import verify
from arcademark.suite.protocols import protocol

pytestmark = pytest.mark.usefixtures("in_this_process")

CAP = 600
RULES = protocol("dqn-2015").override(
    {"observation": "ram", "screen_size": "none", "max_pool": False, "frame_stack": 1, "max_frames_per_episode": CAP}
)
STICKY = RULES.override({"repeat_action_probability": 0.25})


def played(tmp_path, agent="const", game="breakout", rules=RULES, **asked):
    specs = agent_specs(agent, {"action": "RIGHT" if game == "toy" else "FIRE"} if agent == "const" else {})
    plan = make_plan(specs, [game], rules, **asked)
    execute(plan, tmp_path / "run", workers=1)
    return read_run(tmp_path / "run")


def numbered(record):
    return kinds(record, record.trials).tolist()


@pytest.mark.slow
def test_episodes_of_one_start_are_the_same_whatever_the_seed(tmp_path):
    record = played(tmp_path, episodes=20, seeds=2)
    starts = [
        int(episode_rng(seed, "evaluation", episode, "environment").integers(1, 31))
        for seed in range(2)
        for episode in range(20)
    ]
    assert len(set(starts)) < 30 < len(starts) == 40  # some twice
    assert numbered(record) == [starts.index(start) for start in starts]
    assert record.manifest["agents"][0]["draws"] is False


@pytest.mark.slow
@pytest.mark.parametrize(
    ("agent", "game", "rules", "draws"),
    [
        ("random", "breakout", RULES, True),
        ("const", "breakout", STICKY, False),  # the same actions, of which other ones stick
        ("const", "toy", RULES, False),  # which draws more than its start
    ],
)
def test_others_are_different(agent, game, rules, draws, tmp_path):
    record = played(tmp_path, agent, game, rules, episodes=40)
    found = kinds(record, record.trials)
    assert found is None or found.tolist() == list(range(40))
    assert record.manifest["agents"][0]["draws"] is draws
    assert analyse([tmp_path / "run"]).algorithms[0].scores[0].played.different == 40


@pytest.mark.slow
def test_all_starts_are_each_number_of_noops_once(tmp_path):
    record = played(tmp_path, episodes="all-starts")
    assert record.protocol.label.endswith("(max_frames_per_episode=600, start=every_noop, observation=ram, "
                                          "screen_size=none, max_pool=false, frame_stack=1)")  # fmt: skip
    env = open_environment(environment_spec("breakout", RULES))
    expected = []
    for noops in range(1, 31):
        score = env.reset(np.random.default_rng(0), noops)
        while not env.ended:
            score += env.step(1).reward
        expected.append((score, env.episode_frames))
    assert [(row.score, row.frames) for row in record.episodes] == expected
    assert numbered(record) == list(range(30))
    assert verify(tmp_path / "run", workers=1).confirmed == 30


@pytest.mark.parametrize(("episodes", "kind"), [(10, "few_starts"), ("all-starts", "starts")])
def test_reports_say_how_many_different_episodes_there_are(episodes, kind, tmp_path):
    played(tmp_path, episodes=episodes)
    report = analyse([tmp_path / "run"])
    (score,) = report.algorithms[0].scores
    told = {notice.kind: notice.text for notice in report.notices}
    assert {"few_starts", "starts", "modified_protocol"} & told.keys() == {kind, "modified_protocol"}
    assert "start" not in told["modified_protocol"]
    assert score.played.possible == 30
    assert score.played.exact is (kind == "starts")
    assert score.score.value == pytest.approx(np.mean(score.played.episodes))
    if kind == "starts":
        assert score.score.low is None
    else:
        assert f"at most 30 episodes are different: {score.played.different} of 10" in told[kind]


def test_episodes_of_unknown_agents_that_are_the_same_are_told(tmp_path):
    """What draws nothing without saying so has no known number of episodes."""
    (tmp_path / "mine.py").write_text("def fire(env):\n    return lambda observation: 1\n")
    played(tmp_path, f"{tmp_path}/mine.py:fire", episodes=20)
    report = analyse([tmp_path / "run"])
    played_ = report.algorithms[0].scores[0].played
    assert (played_.possible, played_.exact) == (None, False)
    assert played_.different < 20
    (told,) = (notice.text for notice in report.notices if notice.kind == "starts")
    assert f"{played_.different} of 20 on Breakout are different" in told


def test_a_protocol_without_starts_cannot_have_them_all():
    with pytest.raises(Exception, match="no no-op starts"):
        make_plan("random", ["pong"], "machado-2018", episodes="all-starts")
