"""What IW(1) and Rollout-IW(1) share: nodes that remember their atoms, a frame budget, the best path.

The tree is that of `tree`; the atoms of its nodes are kept beside it. Nodes that the last decision left below its
action are used again: nothing is emulated for them, yet novelty is judged anew, from the new root. So a decision finds
what a search from scratch would find, for fewer frames.

On screens, much stays as it is for a while: nothing moves yet, or a bar creeps. A state that shows the same as the one
before it is not judged; it goes on with the action that led to it alone, for up to `still_frames`, after which it is
pruned (the program of Bandres, Bonet and Geffner 2018; 30 frames). Memories count, so this is for screens only.

The value of a path is the discounted sum of its rewards; every path in the tree counts, pruned or not. The action
played is the first of the best path::

    value(node) = max over its children of  reward(child) + γ · value(child),      value(leaf) = 0
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from arcademark.agents.planning.features import Features, make_features
from arcademark.agents.planning.planner import check, check_frames, choose
from arcademark.agents.planning.tree import Node, TreePlanner

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from arcademark.environments.base import EnvironmentSpec
    from arcademark.environments.generative import GenerativeModel, State

FeatureName = Literal["ram", "tiles", "b-prost"]
MAX_DEPTH = 65_534
"""Greatest depth that a novelty table can hold."""
LIFE_COST = -10.0
"""A lost life, to be multiplied by the risk aversion; in the program of Bandres, Bonet and Geffner 2018."""


class WidthPlanner(TreePlanner):
    """A planner that prunes by novelty; a base for `agents.base.Planner`.

    Parameters
    ----------
    name : str
        For messages.
    env : EnvironmentSpec
    features : {"ram", "tiles", "b-prost"}
        What novelty is about; see `features`.
    frames_per_decision : int
        Frames to emulate before each action, at most.
    horizon_frames : int
        How far a path looks ahead, in whole actions.
    discount : float
        γ an action.
    still_frames : int
        How long a screen may stay as it is on a path.
    prefer_long : bool
        Whether of equally good paths a longest is taken; else any.
    frames_per_action : int or None
        Emulated frames an action; None for the protocol's.
    """

    def __init__(
        self,
        name: str,
        env: EnvironmentSpec,
        *,
        features: FeatureName,
        frames_per_decision: int,
        horizon_frames: int,
        discount: float,
        still_frames: int,
        prefer_long: bool,
        frames_per_action: int | None,
    ) -> None:
        super().__init__()
        check(name, "frames_per_decision", frames_per_decision, 1)
        check(name, "horizon_frames", horizon_frames, 1)
        check(name, "discount", discount, 0, 1)
        check(name, "still_frames", still_frames, 0)
        check_frames(name, "frames_per_decision", frames_per_decision, env, frames_per_action)
        self.frames_per_decision = frames_per_decision
        self.frames_per_action = frames_per_action
        self.horizon_frames = horizon_frames
        self.discount = discount
        self.still_frames = 0 if features == "ram" else still_frames
        self.prefer_long = prefer_long
        self.env = env
        self.feature_name = features
        self.features: Features | None = None
        self.atoms: dict[Node, NDArray[Any]] = {}
        """What is true at each node; not known of a root that no search of ours made."""
        self.emulated = 0
        """Frames of the decision under way."""
        self.max_depth = 0
        self.risk_aversion = 1.0
        """What losses are multiplied by."""

    def plan(
        self, model: GenerativeModel, state: State, first: bool, rng: np.random.Generator
    ) -> Generator[bool, None, int]:
        """Search from `state` and return the action; yields every `yield_frames`.

        Parameters
        ----------
        model : GenerativeModel
        state : State
            Where the real game stands.
        first : bool
            Whether an episode begins: nothing is kept from the one before.
        rng : numpy.random.Generator
            Orders actions and breaks ties.
        """
        if self.features is None:
            self.features = make_features(self.feature_name, self.env.game)
        kept = self.root
        root = self.root_at(state, first)
        if root is not kept:
            self.atoms, self.emulated = {}, 0
            self.forget_search()
        self.max_depth = min(-(-self.horizon_frames // model.spec.protocol.frame_skip), MAX_DEPTH)
        told = self.emulated
        for _ in self.search(model, root, rng):
            if self.emulated >= told + self.yield_frames:
                told = self.emulated
                yield True
        self.forget_search()
        action = self.best_action(root, rng) if root.children else int(rng.integers(model.num_actions))
        self.descend(action)
        self.atoms = {node: self.atoms[node] for node in self.kept_nodes() if node in self.atoms}
        self.emulated = 0
        return action

    def search(self, model: GenerativeModel, root: Node, rng: np.random.Generator) -> Iterator[None]:
        """Grow the tree below `root`, yielding where a checkpoint holds all that was done; go on after one."""
        raise NotImplementedError

    def forget_search(self) -> None:
        """Forget what belongs to one decision's search only."""

    def expand(self, model: GenerativeModel, node: Node, action: int) -> Node | None:
        """Return a new child of a node, or None if there are no frames left for it."""
        if self.emulated + model.spec.protocol.frame_skip > self.frames_per_decision:
            return None
        assert node.state is not None
        assert self.features is not None
        frames_before = model.frames
        model.restore(node.state)
        reward, terminated, truncated = model.step(action)
        self.emulated += model.frames - frames_before
        ended = terminated or truncated
        if self.risk_aversion > 1:
            reward = self._averse(reward, node.state.lives - model.save().lives)
        child = Node(None if ended else model.save(), action, reward, ended)
        self.atoms[child] = self.features.read(model)
        node.children = (*node.children, child)
        return child

    def still(self, model: GenerativeModel, node: Node, parent: Node, parent_still: int) -> int:
        """Return for how many frames a node has shown the same as those before it, 0 if it shows something else."""
        if not self.still_frames or parent not in self.atoms:
            return 0
        same = np.array_equal(self.atoms[node], self.atoms[parent])
        return parent_still + model.spec.protocol.frame_skip if same else 0

    def _averse(self, reward: float, lives_lost: int) -> float:
        """Return what a reward is worth to one who fears losses, of lives above all."""
        if lives_lost > 0:
            return LIFE_COST * self.risk_aversion
        return reward * self.risk_aversion if reward < 0 else reward

    def best_action(self, root: Node, rng: np.random.Generator) -> int:
        """Back up values and return the first action of the best path."""
        lengths = self._back_up(root)
        values = [child.reward + self.discount * child.value for child in root.children]
        if self.prefer_long:
            greatest = max(values)
            values = [
                lengths[child] if value == greatest else -1 for child, value in zip(root.children, values, strict=True)
            ]
        return root.children[choose(values, rng)].action

    def _back_up(self, root: Node) -> dict[Node, int]:
        """Give each node its value; return the length of the longest of its best paths."""
        lengths: dict[Node, int] = {}
        for node in reversed(list(root.walk())):
            node.value, lengths[node] = 0.0, 0
            if node.children:
                pairs = [(c.reward + self.discount * c.value, lengths[c]) for c in node.children]
                node.value, length = max(pairs)
                lengths[node] = length + 1
        return lengths

    def kept_nodes(self) -> list[Node]:
        """Return the nodes of the kept tree in the order in which it is written."""
        return list(self.root.walk()) if self.root is not None else []

    def memory(self) -> Any:
        """Return the tree, its nodes' atoms in the order in which it is written, and the decision's frames so far."""
        return super().memory(), [self.atoms.get(node) for node in self.kept_nodes()], self.emulated

    def remember(self, memory: Any) -> None:
        """Keep what `memory` returned."""
        tree, atoms, self.emulated = memory
        super().remember(tree)
        self.forget_search()
        pairs = zip(self.kept_nodes(), atoms, strict=True)
        self.atoms = {node: found for node, found in pairs if found is not None}
