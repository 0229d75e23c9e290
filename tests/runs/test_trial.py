"""One trial: the loops, and that nothing but (seed, phase, episode) decides what happens in an episode."""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest

from arcademark.environments.registry import environment_spec, open_environment
from arcademark.records.model import EpisodeResult, decode_actions
from arcademark.records.randomness import episode_rng
from arcademark.runs.playing.events import TrainingBlock
from arcademark.runs.playing.slot import Meter, Slot
from arcademark.runs.playing.trial import TrialPlayer, training_episode
from arcademark.runs.replay.episodes import Recorded, open_recorded, replay_all


def results(trial, episodes, checkpoint=None):
    return {
        item.record.episode: (item.record.score, item.record.frames, item.record.end, item.actions)
        for item in TrialPlayer(trial).play(episodes, checkpoint)
        if isinstance(item, EpisodeResult)
    }


def test_a_generator_is_what_the_store_promises():
    expected = np.random.default_rng(np.random.SeedSequence(9, spawn_key=(1, 4, 0)))
    assert episode_rng(9, "evaluation", 4, "environment").random() == expected.random()


def test_a_score_does_not_depend_on_order_or_company(toy_plan, paced):
    override = {"repeat_action_probability": 0.25, "max_frames_per_episode": 400}
    alone = toy_plan(paced("Remembering"), override=override).trials[0]
    plain = results(alone, range(9))
    assert len({frames for _, frames, _, _ in plain.values()}) > 2
    assert results(alone, [7, 2]) == {number: plain[number] for number in (7, 2)}
    for size in (2, 4, 16):
        trial = dataclasses.replace(alone, agent=type(alone.agent)(alone.agent.ref, {"batch_size": size}))
        assert results(trial, range(9)) == plain
        assert results(trial, [8, 3, 4]) == {number: plain[number] for number in (8, 3, 4)}


def test_a_policy_always_sees_its_batch(toy_plan, paced):
    (trial,) = toy_plan(paced("Remembering")).trials
    player = TrialPlayer(dataclasses.replace(trial, agent=type(trial.agent)(trial.agent.ref, {"batch_size": 5})))
    seen = set()
    act = player.agent.policy.act

    def watched(*shown):
        seen.add((*map(len, shown), bool(shown[0][2:].any()), bool(shown[1][2:].all())))
        return act(*shown)

    player.agent.policy.act = watched
    assert sum(isinstance(item, EpisodeResult) for item in player.play([0, 1])) == 2
    assert seen == {(5, 5, 5, False, True)}


def training(trial, checkpoint=None):
    blocks = [item for item in TrialPlayer(trial).play([0, 1], checkpoint) if isinstance(item, TrainingBlock)]
    rows = [
        (result.record.episode, result.record.score, result.record.frames, result.actions)
        for block in blocks
        for result in block.results
    ]
    return blocks, rows


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


@pytest.mark.parametrize(("clipping", "largest"), [(True, 1.0), (False, 2.0)])
def test_rewards_are_clipped_for_the_learner_only(toy_plan, paced, clipping, largest):
    override = {"training_reward_clipping": clipping, "frame_skip": 14, "max_frames_per_episode": 2000}
    (trial,) = toy_plan(paced("Learner"), frames=6_000, override=override).trials
    player = TrialPlayer(trial)
    seen = []
    player.agent.policy.learn = lambda transition, rng: seen.append(transition.reward)
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
