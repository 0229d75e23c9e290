"""The search tree of breadth-first search, UCT and width-based planners.

A node is a state reached by a sequence of actions from the root, the real game's state::

    root ──a──→ child ──b──→ grandchild          path: the actions; reward: of the step into a node
      │           │              │
    state       state          state             states of the model, stored only if they may be restored or compared

After an action, the chosen child becomes the root with its part of the tree, and the rest is dropped. The tree is kept
only if the real game has exactly the child's state, which it may not with sticky actions.

Nodes refer to their children, not to their parents, so a dropped part is freed at once. Without its state, a node takes
about 150 bytes.
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
    """A node of the tree.

    `state` is the model's state, None if no step follows; `action` is the action that led here, -1 for an initial root,
    and `reward` its reward; `ended` is whether the episode ends here, by its own end or at the frame cap. `children`
    are the results of tried actions without duplicates, in order; `untried` are the other actions, the next one last,
    None before the first. `visits` is the number of simulations through this node; `value` is the best discounted sum
    of subsequent rewards (breadth-first), or the sum of all returns, including the reward of this node (UCT).
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
        """Yield this node and all below it in preorder."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(reversed(node.children))


@dataclass(eq=False, repr=False)
class TreePlanner(KeptPlanner):
    """Planner that keeps the part of its tree below the chosen action.

    `root` is the node of the last decision's action, with its part of the tree, or None. `kept` are the names of
    further attributes to save.
    """

    kept: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        self.root: Node | None = None

    def root_at(self, state: State, first: bool) -> Node:
        """Return the root of the search from `state`: the kept one if it has this state, otherwise a new one."""
        if first or self.root is None or self.root.state != state:
            self.root = Node(state)
        return self.root

    def step(self, model: GenerativeModel, node: Node, action: int) -> tuple[float, bool]:
        """Take an action in a node and count its frames; return the reward, and whether the episode ended."""
        assert node.state is not None
        before = model.frames
        model.restore(node.state)
        reward, terminated, truncated = model.step(action)
        self.emulated += model.frames - before
        return reward, terminated or truncated

    def decide(self, model: GenerativeModel, rng: np.random.Generator) -> int:
        """Return the best action of the root, or any if none was tried, and keep the tree below it."""
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
            self.root = None  # the real task has none of its states
        return action

    def descend(self, action: int) -> None:
        """Make the child of `action` the root."""
        children = self.root.children if self.root is not None else ()
        self.root = next((child for child in children if child.action == action), None)

    def preferences(self, root: Node) -> Sequence[float]:
        """Return the preference for each child of the root."""
        raise NotImplementedError

    def memory(self) -> Any:
        """Return the tree, flat, and the further attributes to save."""
        return flatten(self.root), *[getattr(self, name) for name in self.kept]

    def remember(self, memory: Any) -> None:
        """Restore the state that `memory` returned."""
        tree, *others = memory
        self.root = unflatten(tree)
        for name, value in zip(self.kept, others, strict=True):
            setattr(self, name, value)


def returns(node: Node, discount: float) -> list[float]:
    """Return the discounted sum of rewards of the best path through each child."""
    return [child.reward + discount * child.value for child in node.children]


def back_up(nodes: Iterable[Node], discount: float) -> None:
    """Set the value of each node to that of its best path; children come before their parents."""
    for node in nodes:
        if node.children:
            node.value = max(returns(node, discount))


def flatten(root: Node | None) -> list[tuple[Any, ...]]:
    """Return a tree of any depth as a flat list; `unflatten` reads it."""
    nodes = root.walk() if root is not None else ()
    return [
        (len(n.children), n.untried, n.visits, n.value, n.state, n.action, n.reward, n.ended) for n in nodes
    ]  # fmt: skip


def unflatten(flat: Sequence[Sequence[Any]]) -> Node | None:
    """Return the tree of a flat list."""
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
