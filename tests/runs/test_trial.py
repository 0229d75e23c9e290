"""One trial: the loops, and that nothing but (seed, phase, episode) decides what happens in an episode."""

from __future__ import annotations

import dataclasses
import itertools
from types import SimpleNamespace

import numpy as np
import pytest

from arcademark.environments.registry import environment_spec, open_environment
from arcademark.runs.plan import make_plan
from arcademark.runs.playing.slot import Begun, Meter, Played, Slot, TrainingBlock, episode_rng
from arcademark.runs.playing.trial import Player, training_episode
from arcademark.runs.replay.episodes import Recorded, open_recorded, replay_all
from arcademark.runs.store.reading import EpisodeResult, decode_actions


def results(trial, episodes, checkpoint=None):
    return {
        item.record.episode: (item.record.score, item.record.frames, item.record.end, item.actions)
        for item in Player(trial).play(episodes, checkpoint)
        if isinstance(item, EpisodeResult)
    }


def test_generators_are_apart():
    draws = {
        float(episode_rng(seed, phase, episode, stream).random())
        for seed in (0, 1)
        for phase in ("training", "evaluation")
        for episode in (0, 1)
        for stream in ("environment", "agent")
    }
    assert len(draws) == 16
    assert episode_rng(3, "evaluation", 5, "agent").random() == episode_rng(3, "evaluation", 5, "agent").random()


def test_a_generator_is_what_the_store_promises():
    expected = np.random.default_rng(np.random.SeedSequence(9, spawn_key=(1, 4, 0)))
    assert episode_rng(9, "evaluation", 4, "environment").random() == expected.random()


def test_episodes_are_played_in_order_and_told(toy_plan):
    (trial,) = toy_plan().trials
    told = list(Player(trial).play([0, 1, 2]))
    begun = [item for item in told if isinstance(item, Begun)]
    ended = [item.record for item in told if isinstance(item, EpisodeResult)]
    assert begun == [Begun("evaluation", number) for number in range(3)]
    assert [record.episode for record in ended] == [0, 1, 2]
    assert sum(item.frames for item in told if isinstance(item, Played)) == sum(record.frames for record in ended)


def test_an_episode_is_what_its_actions_give(toy_plan):
    (trial,) = toy_plan(override={"repeat_action_probability": 0.25}).trials
    (result,) = [item for item in Player(trial).play([6]) if isinstance(item, EpisodeResult)]
    actions = decode_actions(result.actions)
    environment = open_environment(environment_spec("toy", trial.protocol))
    environment.reset(episode_rng(trial.seed, "evaluation", 6, "environment"))
    steps = [environment.step(int(action)) for action in actions]
    assert sum(step.reward for step in steps) == result.record.score
    assert [step.terminated or step.truncated for step in steps] == [False] * (len(steps) - 1) + [True]
    assert environment.episode_frames == result.record.frames
    assert len(actions) == result.record.steps


def test_a_score_does_not_depend_on_order_or_company(toy_plan, paced):
    override = {"repeat_action_probability": 0.25, "max_frames_per_episode": 400}
    alone = toy_plan(paced("Remembering"), override=override).trials[0]
    plain = results(alone, range(9))
    assert len({frames for _, frames, _, _ in plain.values()}) > 2
    assert results(alone, [7, 2]) == {number: plain[number] for number in (7, 2)}
    for size in (2, 4, 16):
        spec = type(alone.agent)(alone.agent.ref, {"batch_size": size})
        trial = type(alone)(spec, alone.game, alone.protocol, alone.seed, alone.episodes)
        assert results(trial, range(9)) == plain
        assert results(trial, [8, 3, 4]) == {number: plain[number] for number in (8, 3, 4)}


def test_a_policy_always_sees_its_batch(toy_plan, paced):
    (trial,) = toy_plan(paced("Remembering")).trials
    spec = type(trial.agent)(trial.agent.ref, {"batch_size": 5})
    player = Player(type(trial)(spec, trial.game, trial.protocol, trial.seed, trial.episodes))
    shapes, blank = set(), []
    act = player.agent.policy.act

    def watched(observations, first, rngs):
        shapes.add((observations.shape[0], len(first), len(rngs)))
        blank.append((observations[2:].any(), first[2:].all()))
        return act(observations, first, rngs)

    player.agent.policy.act = watched
    assert sum(isinstance(item, EpisodeResult) for item in player.play([0, 1])) == 2
    assert shapes == {(5, 5, 5)}
    assert set(blank) == {(False, True)}


def test_a_cap_truncates_and_the_game_terminates(toy_plan):
    (capped,) = toy_plan(override={"max_frames_per_episode": 20}).trials
    assert {end for _, _, end, _ in results(capped, range(4)).values()} == {"truncated"}
    (free,) = toy_plan(override={"max_frames_per_episode": "none"}).trials
    assert {end for _, _, end, _ in results(free, range(4)).values()} == {"terminated"}


def test_an_agent_may_act_each_frame(toy_plan):
    rules = toy_plan(override={"frame_skip": 5}).protocol
    plan = make_plan("random", ["toy"], dataclasses.replace(rules, name="ale-2013"), episodes=1)
    player = Player(plan.trials[0])
    (one,) = [item.record for item in player.play([0]) if isinstance(item, EpisodeResult)]
    assert player.frames_per_action == 1
    assert one.steps == one.frames
    (stepwise,) = toy_plan(override={"frame_skip": 5}).trials
    assert Player(stepwise).frames_per_action is None


@pytest.mark.parametrize(("kind", "shape"), [("palette", (8, 8)), ("ram", (8,))])
def test_an_agent_is_shown_what_it_asks_for(tmp_path, kind, shape):
    code = f"""
import numpy as np

class Looks:
    observation = {kind!r}
    batch_size = 2

    def act(self, observations, first, rngs):
        assert observations.shape == (self.batch_size, *{shape}), observations.shape
        assert observations.max() < (128 if self.observation == "palette" else 256)
        return np.zeros(self.batch_size, int)

class Learns(Looks):
    batch_size = 1

    def train(self): ...
    def evaluate(self): ...
    def checkpoint(self):
        return b""
    def restore(self, checkpoint): ...
    def learn(self, transition, rng):
        assert transition.observation.shape == transition.next_observation.shape == {shape}
"""
    (tmp_path / "looks.py").write_text(code)
    for name, frames in (("Looks", None), ("Learns", 200)):
        (trial,) = make_plan(f"{tmp_path}/looks.py:{name}", ["toy"], "ale-2013", episodes=3, frames=frames).trials
        recorded = trial.protocol
        ended = [item.record for item in Player(trial).play(range(3)) if isinstance(item, EpisodeResult)]
        assert {record.end for record in ended} == {"terminated"}
        assert trial.protocol == recorded


def training(trial, checkpoint=None):
    blocks = [item for item in Player(trial).play([0, 1], checkpoint) if isinstance(item, TrainingBlock)]
    rows = [
        (result.record.episode, result.record.score, result.record.frames, result.actions)
        for block in blocks
        for result in block.results
    ]
    return blocks, rows


def test_training_spends_its_budget(toy_plan, paced):
    (trial,) = toy_plan(paced("Learner"), frames=1000).trials
    blocks, rows = training(trial)
    frames = [block.checkpoint.frames for block in blocks]
    assert [number for number, *_ in rows] == list(range(len(rows)))
    assert frames[-1] >= 1000 > frames[-1] - rows[-1][2]
    assert [block.checkpoint.finished for block in blocks] == [False] * (len(blocks) - 1) + [True]
    assert all(after - before >= 150 for before, after in itertools.pairwise(frames[:-1]))
    assert sum(row[2] for row in rows) == frames[-1]


@pytest.mark.slow
def test_a_learner_goes_on_from_every_checkpoint(toy_plan, paced):
    (trial,) = toy_plan(paced("Learner"), frames=1000).trials
    blocks, rows = training(trial)
    evaluation = results(trial, [0, 1])
    assert len(blocks) > 3
    for index, block in enumerate(blocks):
        again, rest = training(trial, block.checkpoint)
        assert rest == rows[block.checkpoint.episodes :]
        assert [item.checkpoint for item in again] == [item.checkpoint for item in blocks[index + 1 :]]
        assert results(trial, [0, 1], block.checkpoint) == evaluation


def test_training_counted_in_episodes(toy_plan, paced):
    plan = toy_plan(paced("Learner"), override={"training_frames": "none", "training_episodes": 7})
    blocks, rows = training(plan.trials[0])
    assert len(rows) == 7 == blocks[-1].checkpoint.episodes


@pytest.mark.parametrize(("clipping", "largest"), [(True, 1.0), (False, 2.0)])
def test_rewards_are_clipped_for_the_learner_only(toy_plan, paced, clipping, largest):
    override = {"training_reward_clipping": clipping, "frame_skip": 14, "max_frames_per_episode": 2000}
    (trial,) = toy_plan(paced("Learner"), frames=20_000, override=override).trials
    player = Player(trial)
    seen = []
    player.agent.learner.learn = lambda transition, rng: seen.append(transition.reward)
    told = list(player.play([]))
    scores = [result.record.score for block in told if isinstance(block, TrainingBlock) for result in block.results]
    assert max(seen) == largest
    assert sum(scores) >= sum(seen)
    assert (sum(scores) == sum(seen)) is not clipping


class Watching:
    """Do nothing, and keep what a learner is told."""

    def __init__(self):
        self.told = []

    def act(self, observations, first, rngs):
        self.told.append(("first" if first[0] else "next", observations[0].copy()))
        return np.zeros(1, np.int64)

    def learn(self, transition, rng):
        self.told.append((transition.terminated, transition.truncated))


@pytest.mark.parametrize("fire", [False, True])
def test_a_lost_life_ends_an_episode_for_the_learner_and_goes_on_in_the_recorded_game(toy_plan, fire):
    """The toy game has 5 lives and loses one every 7 frames to who does nothing in its way; a press takes a frame."""
    settings = {"training_episode_end": "episodic_life", "reported_episodes": "evaluation", "frame_skip": 1}
    settings["fire_reset"] = fire
    (trial,) = toy_plan(override=settings | {"repeat_action_probability": 0.25}).trials
    environment = open_environment(environment_spec("toy", trial.protocol), training=True)
    learner = Watching()
    *_, result = training_episode(trial, learner, Slot(0, environment), 3, Meter())
    flags = [what for what in learner.told if isinstance(what[0], bool)]
    firsts = [what[0] for what in learner.told if not isinstance(what[0], bool)]
    assert flags.count((True, False)) == firsts.count("first") == 5
    ends = [i for i, flag in enumerate(flags) if flag == (True, False)]
    assert [i for i, first in enumerate(firsts) if first == "first"] == [0] + [end + 1 for end in ends[:-1]]
    pressed = 4 if fire else 0  # no action after each life but the last is the protocol's where it presses FIRE
    assert result.record.steps == len(flags) + 4 - pressed
    assert result.record.frames == result.record.steps + (2 + 4 * 3 if fire else 0)
    recorded = Recorded(SimpleNamespace(seed=trial.seed, game="toy", frames_per_action=None), result.record)
    again = open_recorded(trial.protocol, recorded.trial, "training")
    found = replay_all(again, recorded, decode_actions(result.actions).tolist())
    record = result.record
    assert found == (record.score, record.frames, record.steps, "terminated", 0)
