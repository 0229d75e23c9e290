"""Breadth-first (full tree) search (Bellemare et al. 2013, §3.2.1).

From the root, nodes are expanded in breadth-first order, all actions at once, until the frames of the decision are
spent. Then values are backed up from the leaves to the root, and the branch with the greatest discounted sum of rewards
is taken::

    value(node) = max over its children of  reward(child) + γ · value(child),      value(leaf) = 0

Where the paper leaves something open:

* *The budget.* Appendix C limits the frames emulated an action. Sources disagree about the number: §3.2.1 reckons with
  100,000; the cell of Appendix C is 133,000 as far as we know, but we have not seen it confirmed; Lipovetzky et al.
  2015 give 150,000, which is also 500 simulations of 300 frames, and ascribe it to the paper. The default is 133,000. A
  node is expanded only if all its children fit into what is left, so that no action is at a disadvantage; the root is
  expanded in any case.
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

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from arcademark.agents.parameters import Positive, Share
from arcademark.classic.planning.tree import Node, TreePlanner, back_up, returns

if TYPE_CHECKING:
    import numpy as np

    from arcademark.environments.generative import GenerativeModel, State


@dataclass(eq=False, repr=False, kw_only=True)
class BreadthFirst(TreePlanner):
    """Plans: searches the full tree to a budget of frames, takes the branch with the greatest return.

    Parameters
    ----------
    frames_per_decision : int
        Frames to emulate before each action. Uncertain: 100,000, 133,000 or 150,000 (see above).
    discount : float
        γ an action. Uncertain: 0.999.
    prune_duplicates : bool
        Whether of the actions that lead to the same state only one is considered.
    """

    citation = "Bellemare et al. 2013, §3.2.1 and Appendix B"

    frames_per_decision: Positive = 133_000
    discount: Share = 0.999
    prune_duplicates: bool = False

    name = "breadth-first"
    kept = ("emulated",)
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
        last = self.frames_per_decision - model.num_actions * model.spec.frames_per_action
        spent = False
        for node in nodes:
            if not node.children and not node.ended:
                spent = spent or (self.emulated > last and node is not self.root)
                if spent:
                    continue
                self._expand(model, node)
                yield
            nodes.extend(node.children)
        back_up(reversed(nodes), self.discount)

    def preferences(self, root: Node) -> Sequence[float]:
        """Return the return of each branch."""
        return returns(root, self.discount)

    def _expand(self, model: GenerativeModel, node: Node) -> None:
        children: list[Node] = []
        states: set[State] = set()
        for action in range(model.num_actions):
            reward, ended = self.step(model, node, action)
            state = model.save() if self.prune_duplicates or not ended else None
            if self.prune_duplicates and state is not None:
                if state in states:
                    continue
                states.add(state)
            children.append(Node(state, action, reward, ended))
        node.children = tuple(children)
