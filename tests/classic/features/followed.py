"""What several tests of feature sets share."""

import numpy as np

from arcademark.environments.registry import open_environment


def follow(features, observations):
    """Return all that is active after each observation of an episode, checking that nothing comes or goes twice."""
    features.begin()
    active = set()
    seen = []
    for observation in observations:
        on, off = (array.tolist() for array in features.update(observation))
        assert len({*on, *off}) == len(on) + len(off)
        assert active.isdisjoint(on)
        assert active.issuperset(off)
        active = (active - set(off)) | set(on)
        seen.append(active)
    return seen


def random_play(env, steps):
    """Return what is observed in the first steps of random play, as far as the episode goes."""
    game, rng = open_environment(env), np.random.default_rng(3)
    game.reset(np.random.default_rng(4))
    seen = np.empty((steps, *env.observation_shape), np.uint8)
    for step, observation in enumerate(seen):
        game.observe(observation)
        if any(game.step(int(rng.integers(env.num_actions)))[1:]):
            return seen[: step + 1]
    return seen
