"""Breadth-first (full tree) search (Bellemare et al. 2013, §3.2.1).

From the root, nodes are expanded in breadth-first order, all actions at once, until the frames of the decision are
spent. Then values are backed up from the leaves to the root, and the branch with the greatest discounted sum of rewards
is taken::

    value(node) = max over its children of  reward(child) + γ · value(child),      value(leaf) = 0

Where the paper leaves something open:

* *The budget.* Appendix C limits the frames emulated an action. Sources disagree about the number: §3.2.1 reckons with
  100,000; the cell of Appendix C is 133,000 as far as we know, but we have not seen it confirmed; Lipovetzky et al.
  2015 give 150,000, which is also 500 simulations of 300 frames, and ascribe it to the paper. The default is 133,000.
  A node is expanded only if all its children fit into what is left, so that no action is at a disadvantage; the root
  is expanded in any case.
* *Reuse.* The part of the tree below the chosen action is kept. The budget counts the frames that are newly emulated,
  as "frames emulated" says; the authors' program counts the reused ones again.
* *Duplicates.* The paper names the pruning of duplicate states for UCT alone, and its estimate of the depth reached
  fits a tree without; so it is off here. The authors' program prunes in both searches: ``prune_duplicates=true``.
* *Ties* are broken at random; with rewards out of sight all actions are tied.
* *Sticky actions*: a child keeps the first outcome that was drawn for its action. The paper's games have no randomness.
* *The discount* is that of §3.1, which the paper keeps in a table we have not seen confirmed; 0.999 is what programs
  after it use.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from arcademark.agents.planning.planner import choose, within
from arcademark.agents.planning.tree import Node, TreePlanner

if TYPE_CHECKING:
    import numpy as np

    from arcademark.environments.generative import GenerativeModel, State


@dataclass(eq=False, repr=False, kw_only=True)
class BreadthFirst(TreePlanner):
    """Searches the full tree as far as its frames reach; an `agents.base.Planner`.

    Parameters
    ----------
    frames_per_decision : int
        Frames to emulate before each action. Uncertain: 100,000, 133,000 or 150,000 (see above).
    discount : float
        γ an action. Uncertain: 0.999.
    prune_duplicates : bool
        Whether of the actions that lead to the same state only one is considered.
    """

    frames_per_decision: int = within(133_000, 1)
    discount: float = within(0.999, 0, 1)
    prune_duplicates: bool = False

    name = "breadth-first"
    checkpoint_seconds = 60.0
    """A tree of 133,000 frames takes some 20 MB to write."""

    def begin(self, model: GenerativeModel, state: State, first: bool) -> None:
        """Begin at the kept root if the game stands there."""
        if first:
            self.emulated = 0
        self.root_at(state, first)

    def search(self, model: GenerativeModel, rng: np.random.Generator) -> Iterator[None]:
        """Expand nodes in breadth-first order as far as the frames reach, then back up values."""
        assert self.root is not None
        nodes = [self.root]
        last = self.frames_per_decision - model.num_actions * model.spec.protocol.frame_skip
        spent = False
        for node in nodes:
            if not node.children and not node.ended:
                spent = spent or (self.emulated > last and node is not self.root)
                if spent:
                    continue
                self._expand(model, node)
                yield
            nodes.extend(node.children)
        self._back_up(nodes)

    def decide(self, model: GenerativeModel, rng: np.random.Generator) -> int:
        """Take the branch with the greatest return."""
        assert self.root is not None
        branches = [child.reward + self.discount * child.value for child in self.root.children]
        action = self.root.children[choose(branches, rng)].action
        self.descend(action)
        return action

    def memory(self) -> Any:
        """Return the tree, and the frames of the decision under way."""
        return super().memory(), self.emulated

    def remember(self, memory: Any) -> None:
        """Keep what `memory` returned."""
        tree, self.emulated = memory
        super().remember(tree)

    def _expand(self, model: GenerativeModel, node: Node) -> None:
        assert node.state is not None
        children: list[Node] = []
        found: set[State] = set()
        for action in range(model.num_actions):
            before = model.frames
            model.restore(node.state)
            reward, terminated, truncated = model.step(action)
            self.emulated += model.frames - before
            ended = terminated or truncated
            state = model.save() if self.prune_duplicates or not ended else None
            if self.prune_duplicates and state is not None:
                if state in found:
                    continue
                found.add(state)
            children.append(Node(state, action, reward, ended))
        node.children = tuple(children)

    def _back_up(self, nodes: list[Node]) -> None:
        """Give each node its value, the last of a breadth-first order first."""
        discount = self.discount
        for node in reversed(nodes):
            if node.children:
                node.value = max([child.reward + discount * child.value for child in node.children])
