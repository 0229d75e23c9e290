"""Rollout-IW(1) on small games: hand-computed labels, a reference implementation, and what its options do."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from seeing_models import Replayer, paths, seeing_model
from small_models import START, decide

from arcademark.classic.planning.rollout_iw import RolloutIW
from arcademark.environments.generative import snapshot
from arcademark.environments.registry import environment_spec, open_environment, open_model
from arcademark.suite.protocols import protocol


def make(model, frames=60, discount=0.5, **more):
    planner = RolloutIW(model.spec, frames_per_decision=frames, discount=discount, **more)
    planner.yield_frames = 1
    return planner


def searched(planner, model, rng=None, start=START):
    """Let a planner search without acting; return the root and the labels."""
    labels = []
    planner.descend = lambda action: None
    forget = planner.forget_search

    def keep_labels():
        labels.append((set(planner._met), set(planner._solved)))
        forget()

    planner.forget_search = keep_labels
    decide(planner, model, start, True, rng or np.random.default_rng(0))
    del planner.descend, planner.forget_search
    return planner.root, *labels[-1]


def test_a_lost_life_costs_ten_times_the_aversion():
    spec = environment_spec("toy", protocol("ale-2013").override({"frame_skip": 1}))
    environment, model = open_environment(spec), open_model(spec)
    environment.reset(np.random.default_rng(1))
    planner = RolloutIW(spec, frames_per_decision=4000, risk_aversion=2)
    nodes = paths(searched(planner, model, np.random.default_rng(0), snapshot(environment))[0])
    for path, node in nodes.items():
        if path and node.state is not None:
            lost = nodes[path[:-1]].state.lives - node.state.lives
            assert node.reward == -20 * lost or (lost == 0 and node.reward >= 0)
    assert {node.reward for node in nodes.values()} == {-20.0, 0.0, 1.0}


# A reference implementation: sets and dictionaries of paths; each state is reached by playing the actions anew.


class ReferenceSearch:
    def __init__(self, model, frames, horizon, subscores, still_frames, rng):
        self.model, self.frames, self.horizon, self.rng = model, frames, horizon, rng
        self.subscores, self.still_frames = subscores, still_frames
        self.look = Replayer(model, START)
        self.children, self.untried = {(): []}, {(): list(range(model.num_actions))}
        self.rewards, self.ended = {(): 0.0}, {(): False}
        self.depths, self.met, self.solved = {}, set(), set()

    def score_class(self, path):
        score = sum(self.rewards[path[: i + 1]] for i in range(len(path)))
        return len(bin(int(score))) - 2 if self.subscores and score >= 1 else 0

    def still(self, path):
        """For how many frames the end of a path has shown the same; the root is not known."""
        frames, skip = 0, self.model.spec.protocol.frame_skip
        while self.still_frames and len(path) > 1 and self.look(path)[2] == self.look(path[:-1])[2]:
            path, frames = path[:-1], frames + skip
        return frames

    def search(self):
        while () not in self.solved and self.roll_out():
            pass
        return {path: (self.rewards[path], self.ended[path]) for path in self.children if path}

    def roll_out(self):
        path = ()
        while True:
            open_children = [child for child in self.children[path] if child not in self.solved]
            untried = self.untried[path]
            if self.still(path):
                open_children = [child for child in open_children if child[-1] == path[-1]]
                untried = [action for action in untried if action == path[-1]]
            i = self.rng.integers(len(open_children) + len(untried))
            if i < len(open_children):
                path = open_children[i]
            else:
                skip = self.model.spec.protocol.frame_skip
                if len(self.children) * skip > self.frames:
                    return False
                action = untried[i - len(open_children)]
                self.untried[path].remove(action)
                self.children[path].append((*path, action))
                path = (*path, action)
                self.children[path], self.untried[path] = [], list(range(self.model.num_actions))
                at, self.rewards[path], _ = self.look(path)
                self.ended[path] = at.ended
            if self.ended[path] or not self.goes_on(path):
                self.solve(path)
                return True

    def goes_on(self, path):
        atoms = {(self.score_class(path), atom) for atom in self.look(path)[2]}
        depth = len(path)
        shallow = depth * self.model.spec.protocol.frame_skip < self.horizon
        if self.still(path):
            self.met.add(path)
            return self.still(path) <= self.still_frames and shallow
        if path in self.met:
            return any(self.depths[atom] == depth for atom in atoms)
        self.met.add(path)
        novel = {atom for atom in atoms if self.depths.get(atom, 10**9) > depth}
        self.depths.update(dict.fromkeys(novel, depth))
        return bool(novel) and shallow

    def solve(self, path):
        self.solved.add(path)
        while path:
            path = path[:-1]
            solved = all(child in self.solved for child in self.children[path])
            if not self.still(path) and (self.untried[path] or not solved):
                return
            self.solved.add(path)


@settings(max_examples=80)
@given(
    seed=st.integers(0, 10**6),
    frames=st.integers(3, 150),
    num_values=st.integers(1, 6),
    ends=st.integers(0, 4),
    cap=st.sampled_from([2, 4, 10**9]),
    frame_skip=st.sampled_from([1, 3]),
    horizon=st.integers(1, 12),
    subscores=st.booleans(),
    still=st.sampled_from([0, 3, 7]),
)
def test_it_searches_as_its_reference_implementation(
    seed, frames, num_values, ends, cap, frame_skip, horizon, subscores, still
):
    model = seeing_model(seed, num_values=num_values, ends=ends, cap=cap * frame_skip, frame_skip=frame_skip)
    planner = make(model, frames, horizon_frames=horizon, subscores=subscores)
    planner.still_frames = still  # memories stand for screens
    root, met, solved = searched(planner, model, np.random.default_rng(seed))
    nodes = paths(root)
    reference = ReferenceSearch(model, frames, horizon, subscores, still, np.random.default_rng(seed))
    assert {path: (node.reward, node.ended) for path, node in nodes.items() if path} == reference.search()
    assert {path for path, node in nodes.items() if node in solved} == reference.solved
    assert {path for path, node in nodes.items() if node in met} == reference.met
