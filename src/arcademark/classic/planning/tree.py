"""The search tree that breadth-first search and UCT share.

A node is a place reached by taking one action after another from the root, where the real game stands::

    root ──a──→ child ──b──→ grandchild          path: actions taken; reward: of the step into a node
      │           │              │
    state       state          state             places of the model, kept only where they may be restored or compared

After acting, the chosen child becomes the root and brings its part of the tree along; all else is dropped. It is kept
only if the real game then stands exactly where the child does: under sticky actions it need not.

Nodes know their children, not their parents: a dropped part is freed at once. Apart from its state a node takes some
150 bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from arcademark.classic.planning.planner import KeptPlanner, as_state, choose

if TYPE_CHECKING:
    import numpy as np

    from arcademark.environments.generative import GenerativeModel, State


class Node:
    """A place in the tree.

    `state` is where the model can be restored to, None where nothing follows; `action` led here, -1 for a root that
    none led to, and gave `reward`; `ended` says whether the episode ends here, by its own end or at the frame cap.
    `children` has one for each action that was tried and is no duplicate of another, in the order of trying; `untried`
    are the other actions, the next one last, None as long as nothing was tried. `visits` counts the simulations that
    passed through; `value` is the best discounted sum of the rewards that follow (breadth-first), or the total of all
    returns, from the reward of this node on (UCT).
    """

    __slots__ = ("action", "children", "ended", "reward", "state", "untried", "value", "visits")

    def __init__(self, state: State | None, action: int = -1, reward: float = 0.0, ended: bool = False) -> None:
        self.state = state
        self.action = action
        self.reward = reward
        self.ended = ended
        self.children: tuple[Node, ...] = ()
        self.untried: list[int] | None = None
        self.visits = 0
        self.value = 0.0

    def walk(self) -> Iterator[Node]:
        """Yield this node and all below it, each before its children and these in their order."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(reversed(node.children))


@dataclass(eq=False, repr=False)
class TreePlanner(KeptPlanner):
    """A planner that keeps the part of its tree that it walks into.

    `root` is where the last decision led, with all that is known from there on; None if nothing is. `kept` names the
    attributes that are kept beside the tree.
    """

    kept: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        self.root: Node | None = None

    def root_at(self, state: State, first: bool) -> Node:
        """Return the root of the search from `state`: the kept one if the game stands there, else a new one."""
        if first or self.root is None or self.root.state != state:
            self.root = Node(state)
        return self.root

    def step(self, model: GenerativeModel, node: Node, action: int) -> tuple[float, bool]:
        """Take an action in a node, and count its frames; return the reward, and whether the episode ended."""
        assert node.state is not None
        before = model.frames
        model.restore(node.state)
        reward, terminated, truncated = model.step(action)
        self.emulated += model.frames - before
        return reward, terminated or truncated

    def decide(self, model: GenerativeModel, rng: np.random.Generator) -> int:
        """Return the most preferred action of the root, any if none was tried, and keep the tree below it."""
        assert self.root is not None
        children = self.root.children
        self.action_values = np.full(model.num_actions, np.nan)
        if children:
            preferences = self.preferences(self.root)
            self.action_values[[child.action for child in children]] = preferences
            action = children[choose(preferences, rng)].action
        else:
            action = int(rng.integers(model.num_actions))
        self.descend(action)
        if not model.keeps:
            self.root = None  # the real task stands at none of its places
        return action

    def descend(self, action: int) -> None:
        """Make the child that `action` leads to the root."""
        children = self.root.children if self.root is not None else ()
        self.root = next((child for child in children if child.action == action), None)

    def preferences(self, root: Node) -> Sequence[float]:
        """Return how good each child of the root is."""
        raise NotImplementedError

    def memory(self) -> Any:
        """Return the tree, flat, and what else is kept."""
        return flatten(self.root), *[getattr(self, name) for name in self.kept]

    def remember(self, memory: Any) -> None:
        """Keep what `memory` returned."""
        tree, *others = memory
        self.root = unflatten(tree)
        for name, value in zip(self.kept, others, strict=True):
            setattr(self, name, value)


def returns(node: Node, discount: float) -> list[float]:
    """Return the discounted sum of rewards of the best path through each child."""
    return [child.reward + discount * child.value for child in node.children]


def back_up(nodes: Iterable[Node], discount: float) -> None:
    """Give each node the value of its best path; children come before their parents."""
    for node in nodes:
        if node.children:
            node.value = max(returns(node, discount))


def flatten(root: Node | None) -> list[tuple[Any, ...]]:
    """Write a tree as a flat list, however deep it is; `unflatten` reads it."""
    nodes = root.walk() if root is not None else ()
    return [
        (len(n.children), n.untried, n.visits, n.value, n.state, n.action, n.reward, n.ended) for n in nodes
    ]  # fmt: skip


def unflatten(flat: Sequence[Sequence[Any]]) -> Node | None:
    """Return the tree that `flatten` wrote."""
    root: Node | None = None
    open_nodes: list[tuple[Node, list[Node], int]] = []
    for num_children, untried, visits, value, state, *place in flat:
        node = Node(None if state is None else as_state(state), *place)
        node.untried, node.visits, node.value = untried, visits, value
        if root is None:
            root = node
        else:
            open_nodes[-1][1].append(node)
        if num_children:
            open_nodes.append((node, [], num_children))
        while open_nodes and len(open_nodes[-1][1]) == open_nodes[-1][2]:
            parent, children, _ = open_nodes.pop()
            parent.children = tuple(children)
    if open_nodes:
        raise ValueError("a part of the tree is missing")
    return root
