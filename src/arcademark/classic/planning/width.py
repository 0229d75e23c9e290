"""Base of IW(1) and Rollout-IW(1): the atoms of nodes, a budget of frames, and the best path.

The tree is that of `tree`; the atoms of its nodes are stored separately. Nodes of the last decision below its action
are reused without emulation, but their novelty is evaluated anew, from the new root. A decision therefore has the same
result as a search from scratch, with fewer frames.

Screens often remain unchanged for several frames. The novelty of a state that shows the same as its parent is not
evaluated; only the action that led to it continues, for up to `still_frames`, after which the state is pruned (as in
the program of Bandres, Bonet and Geffner 2018; 30 frames). Memory contains counters that change with every frame, so
this applies only to screens.

The value of a path is the discounted sum of its rewards; every path in the tree counts, pruned or not. The first action
of the best path is played::

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
"""Maximum depth in a novelty table."""
LIFE_COST = -10.0
"""Reward of a lost life, multiplied by the risk aversion, as in the program of Bandres, Bonet and Geffner 2018."""


@dataclass(eq=False, repr=False, kw_only=True)
class WidthPlanner(TreePlanner):
    """Planner with pruning by novelty; a base for `agents.base.Planner`.

    Subclasses document the parameters.
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
        """Atoms of each node; unknown for a root that is not from a search."""
        self.max_depth = 0

    def begin(self, model: GenerativeModel, state: State, first: bool) -> None:
        """Begin at the kept root, with its atoms, if it has the game's state."""
        if self.reader is None:
            self.reader = make_features(self.features, self.env.game, self.env.atari.suite)
        kept = self.root
        if self.root_at(state, first) is not kept:
            self.atoms, self.emulated = {}, 0
            self.forget_search()
        self.max_depth = min(-(-self.horizon_frames // model.spec.frames_per_action), MAX_DEPTH)

    def decide(self, model: GenerativeModel, rng: np.random.Generator) -> int:
        """Return the first action of the best path, or any if none was tried."""
        self.forget_search()
        action = super().decide(model, rng)
        self.atoms = {node: self.atoms[node] for node in self.kept_nodes() if node in self.atoms}
        return action

    def forget_search(self) -> None:
        """Reset the state of one decision's search."""

    def expand(self, model: GenerativeModel, node: Node, action: int) -> Node | None:
        """Return a new child of a node, or None if the budget does not suffice."""
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
        """Return the number of frames for which the screen has not changed up to a node."""
        if not self.still_frames or parent not in self.atoms:
            return 0
        same = np.array_equal(self.atoms[node], self.atoms[parent])
        return parent_still + model.spec.frames_per_action if same else 0

    def preferences(self, root: Node) -> Sequence[float]:
        """Back up values; return the return of each child."""
        back_up(list(root.walk())[::-1], self.discount)
        return returns(root, self.discount)

    def kept_nodes(self) -> list[Node]:
        """Return the nodes of the kept tree in the order of the saved tree."""
        return list(self.root.walk()) if self.root is not None else []

    def memory(self) -> Any:
        """Return the tree, its nodes' atoms in the same order, and the decision's frames so far."""
        return flatten(self.root), [self.atoms.get(node) for node in self.kept_nodes()], self.emulated

    def remember(self, memory: Any) -> None:
        """Restore the state that `memory` returned."""
        tree, atoms, self.emulated = memory
        self.root = unflatten(tree)
        self.forget_search()
        pairs = zip(self.kept_nodes(), atoms, strict=True)
        self.atoms = {node: read for node, read in pairs if read is not None}
