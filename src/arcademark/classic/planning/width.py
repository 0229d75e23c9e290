"""Base of IW(1) and Rollout-IW(1): nodes that remember their atoms, a frame budget, the best path.

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

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from msgspec import Meta

from arcademark.agents.parameters import Positive, Share
from arcademark.classic.planning.features import Features, make_features
from arcademark.classic.planning.planner import check_frames
from arcademark.classic.planning.tree import Node, TreePlanner, back_up, flatten, returns, unflatten

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from arcademark.environments.generative import GenerativeModel, State

FeatureName = Literal["ram", "tiles", "b-prost"]
MAX_DEPTH = 65_534
"""Greatest depth that a novelty table can hold."""
LIFE_COST = -10.0
"""A lost life, to be multiplied by the risk aversion; in the program of Bandres, Bonet and Geffner 2018."""


@dataclass(eq=False, repr=False, kw_only=True)
class WidthPlanner(TreePlanner):
    """A planner that prunes by novelty; a base for `agents.base.Planner`.

    Those that derive from it say what its parameters mean.
    """

    features: FeatureName = "ram"
    frames_per_decision: Positive = 150_000
    horizon_frames: Positive = 1_500
    discount: Share = 0.995
    still_frames: Annotated[int, Meta(ge=0)] = 30
    risk_aversion: Annotated[float, Meta(ge=1)] = 1.0
    subscores: bool = False
    frames_per_action: Positive | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_frames(self.name, "frames_per_decision", self.frames_per_decision, self.env, self.frames_per_action)
        if self.features == "ram":
            self.still_frames = 0
        self.reader: Features | None = None
        self.atoms: dict[Node, NDArray[Any]] = {}
        """What is true at each node; not known of a root that no search of ours made."""
        self.max_depth = 0

    def begin(self, model: GenerativeModel, state: State, first: bool) -> None:
        """Begin at the kept root if the game stands there, with what is known of it."""
        if self.reader is None:
            self.reader = make_features(self.features, self.env.game, self.env.atari.suite)
        kept = self.root
        if self.root_at(state, first) is not kept:
            self.atoms, self.emulated = {}, 0
            self.forget_search()
        self.max_depth = min(-(-self.horizon_frames // model.spec.frames_per_action), MAX_DEPTH)

    def decide(self, model: GenerativeModel, rng: np.random.Generator) -> int:
        """Return the first action of the best path, any if no action was tried."""
        self.forget_search()
        action = super().decide(model, rng)
        self.atoms = {node: self.atoms[node] for node in self.kept_nodes() if node in self.atoms}
        return action

    def forget_search(self) -> None:
        """Forget what belongs to one decision's search only."""

    def expand(self, model: GenerativeModel, node: Node, action: int) -> Node | None:
        """Return a new child of a node, or None if there are no frames left for it."""
        if self.emulated + model.spec.frames_per_action > self.frames_per_decision:
            return None
        assert node.state is not None
        assert self.reader is not None
        reward, ended = self.step(model, node, action)
        if self.risk_aversion > 1 and node.state.lives > model.save().lives:
            reward = LIFE_COST * self.risk_aversion
        elif reward < 0:
            reward *= self.risk_aversion
        child = Node(None if ended else model.save(), action, reward, ended)
        self.atoms[child] = self.reader.read(model)
        node.children = (*node.children, child)
        return child

    def still(self, model: GenerativeModel, node: Node, parent: Node, parent_still: int) -> int:
        """Return for how many frames a node has shown the same as those before it, 0 if it shows something else."""
        if not self.still_frames or parent not in self.atoms:
            return 0
        same = np.array_equal(self.atoms[node], self.atoms[parent])
        return parent_still + model.spec.frames_per_action if same else 0

    def preferences(self, root: Node) -> Sequence[float]:
        """Back up values; return the return of each child."""
        back_up(list(root.walk())[::-1], self.discount)
        return returns(root, self.discount)

    def kept_nodes(self) -> list[Node]:
        """Return the nodes of the kept tree in the order in which it is written."""
        return list(self.root.walk()) if self.root is not None else []

    def memory(self) -> Any:
        """Return the tree, its nodes' atoms in the order in which it is written, and the decision's frames so far."""
        return flatten(self.root), [self.atoms.get(node) for node in self.kept_nodes()], self.emulated

    def remember(self, memory: Any) -> None:
        """Keep what `memory` returned."""
        tree, atoms, self.emulated = memory
        self.root = unflatten(tree)
        self.forget_search()
        pairs = zip(self.kept_nodes(), atoms, strict=True)
        self.atoms = {node: read for node, read in pairs if read is not None}
