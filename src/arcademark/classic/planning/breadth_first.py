"""Breadth-first (full tree) search (Bellemare et al. 2013, §3.2.1).

From the root, nodes are expanded in breadth-first order with all actions at once, until the decision's budget of frames
is used. Then values are backed up from the leaves to the root, and the branch with the greatest discounted sum of
rewards is taken::

    value(node) = max over its children of  reward(child) + γ · value(child),      value(leaf) = 0

Where the paper leaves details open:

* *The budget.* Appendix C limits the frames emulated per action. Sources disagree about the number: §3.2.1 calculates
  with 100,000; the number in Appendix C is 133,000 to our knowledge, but unconfirmed; Lipovetzky et al. 2015 cite
  150,000, which is also 500 simulations of 300 frames. The default is 133,000. A node is expanded only if the remaining
  budget suffices for all its children, so that no action is at a disadvantage; the root is expanded in any case.
* *Reuse.* The part of the tree below the chosen action is kept. The budget counts only newly emulated frames, by the
  term "frames emulated"; the authors' program counts reused frames again.
* *Duplicates.* The paper mentions the pruning of duplicate states only for UCT, and its estimate of the reached depth
  agrees with a tree without pruning; so it is off by default. The authors' program prunes in both searches:
  ``prune_duplicates=true``.
* *Ties* are broken at random; without rewards in the tree, all actions are tied.
* *Sticky actions*: a child keeps the first outcome that was drawn for its action. The paper's games are deterministic.
* *The discount* is that of §3.1, which the paper lists in a table that we could not confirm; later programs use 0.999.
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
        γ per action. Uncertain: 0.999.
    prune_duplicates : bool
        Whether only one of the actions that lead to the same state is considered.
    """

    citation = "Bellemare et al. 2013, §3.2.1 and Appendix B"

    frames_per_decision: Positive = 133_000
    discount: Share = 0.999
    prune_duplicates: bool = False

    name = "breadth-first"
    kept = ("emulated",)
    checkpoint_seconds = 60.0
    """A tree of 133,000 frames takes about 20 MB."""

    def begin(self, model: GenerativeModel, state: State, first: bool) -> None:
        """Begin at the kept root if it has the game's state."""
        if first:
            self.emulated = 0
        self.root_at(state, first)

    def search(self, model: GenerativeModel, rng: np.random.Generator) -> Iterator[None]:
        """Expand nodes in breadth-first order within the budget of frames, then back up values."""
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
