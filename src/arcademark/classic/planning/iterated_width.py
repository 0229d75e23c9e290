"""IW(1): breadth-first search with pruning of states that are not novel (Lipovetzky, Ramirez and Geffner 2015).

"Classical Planning with Simulators: Results on the Atari Video Games", IJCAI 2015. A node is expanded only if one of
its atoms was true in no earlier node of the search; with atoms of the memory, at most 128 × 256 nodes are expanded in
any search::

    root ─→ children in random order ─→ novel? ─yes→ queue        first in, first out
                                          └─no─→ a leaf: its reward counts, it is not expanded

The search ends when its budget of frames is used or the queue is empty, and the first action of the path with the
greatest discounted sum of rewards is played. The tree below it is kept: see `width`.

The paper specifies atoms of the memory, 150,000 frames per decision, and that reused nodes do not count as emulated.
The defaults of its authors' program are γ = 0.995 and paths of up to 300 nodes of 5 frames. Where the paper is silent,
or the program differs:

* Novelty is evaluated anew at each decision in the whole kept tree, in breadth-first order. The program's table lacks
  the atoms of kept nodes that were not pruned.
* The root's atoms are known if the tree was kept. At the start of an episode, and after an unexpected state with sticky
  actions, they are unknown: the first child is then novel in any case.
* Ties are broken at random, as by the program's random order of children.
* Nodes at the end of the episode are not expanded, and their atoms are not entered.
* Screen features are those of Bandres, Bonet and Geffner 2018; this paper has none.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from arcademark.classic.planning.width import WidthPlanner

if TYPE_CHECKING:
    import numpy as np

    from arcademark.classic.planning.features import NoveltyTable
    from arcademark.classic.planning.tree import Node
    from arcademark.environments.generative import GenerativeModel


@dataclass(eq=False, repr=False, kw_only=True)
class IteratedWidth(WidthPlanner):
    """Plans: IW(1), breadth-first search that prunes states that are not novel.

    Parameters
    ----------
    features : {"ram", "tiles", "b-prost"}
        Atoms for novelty: the bytes of the memory, the colours of the screen's tiles, or these and their pairs.
    frames_per_decision : int
        Maximum frames to emulate before each action. 150,000 in the paper.
    horizon_frames : int
        Maximum length of a path. 1,500: 300 nodes of 5 frames, from the program's defaults.
    discount : float
        γ per action. 0.995, from the program's defaults.
    still_frames : int
        Maximum frames without a change of the screen on a path; see `width`. 30, as in rollouts; no effect with "ram".
    frames_per_action : int or None
        Emulated frames per action; None for the protocol's. 5 in the paper, as under ``ale-2013``.
    """

    citation = "Lipovetzky, Ramirez and Geffner 2015"

    risk_aversion: float = field(default=1.0, init=False)
    subscores: bool = field(default=False, init=False)

    name = "iw"

    def search(self, model: GenerativeModel, rng: np.random.Generator) -> Iterator[None]:
        """Expand novel nodes in breadth-first order; yield after each.

        After a checkpoint, it traverses the existing nodes again, without frames, with the same result.
        """
        assert self.reader is not None
        assert self.root is not None
        root, table = self.root, self.reader.new_table()
        if root in self.atoms:
            table.enter(self.atoms[root], None, 0)
        queue = deque([(root, 0, 0)])
        while queue:
            node, depth, still = queue.popleft()
            depth += 1
            for child in self._children(model, node, still > 0, rng):
                if not child.ended:
                    child_still = self.still(model, child, node, still)
                    if self._continues(table, child, node, depth, child_still):
                        queue.append((child, depth, child_still))
            if self.emulated + model.spec.frames_per_action > self.frames_per_decision:
                return
            yield

    def _continues(self, table: NoveltyTable, node: Node, parent: Node, depth: int, still: int) -> bool:
        """Return True to expand a node, and enter its atoms unless it shows the same as its parent."""
        if still:
            return still <= self.still_frames and depth < self.max_depth
        return table.enter(self.atoms[node], self.atoms.get(parent), depth) and depth < self.max_depth

    def _children(
        self, model: GenerativeModel, node: Node, same_action: bool, rng: np.random.Generator
    ) -> Iterator[Node]:
        """Yield the existing children, then new ones within the budget of frames.

        With `same_action`, yield only the child of the action that led to the node.
        """
        if node.untried is None:
            node.untried = rng.permutation(model.num_actions).tolist()
        wanted = (node.action,) if same_action else range(model.num_actions)
        yield from (child for child in node.children if child.action in wanted)
        for action in [action for action in reversed(node.untried) if action in wanted]:
            child = self.expand(model, node, action)
            if child is None:
                return
            node.untried.remove(action)
            yield child
