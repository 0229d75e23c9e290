"""IW(1): breadth-first search that prunes what shows nothing new (Lipovetzky, Ramirez and Geffner 2015).

"Classical Planning with Simulators: Results on the Atari Video Games", IJCAI 2015. A node is expanded only
if it makes an atom true that was true in no node before it in the search; with atoms of the memory, at most 128 × 256
nodes are ever expanded, however many there are::

    root ─→ children in random order ─→ novel? ─yes→ queue        first in, first out
                                          └─no─→ a leaf: its reward counts, nothing follows

The search ends when its frames are spent or the queue is empty, and the first action of the path with the greatest
discounted sum of rewards is played. The tree below it is kept: see `width`.

From the paper: atoms of the memory, 150,000 frames per decision, reused nodes that do not count as emulated. From the
defaults of its authors' program: γ = 0.995, paths of up to 300 nodes of 5 frames. Where the paper is silent, or the
program does otherwise:

* Novelty is judged anew at each decision in all of the tree that is kept, in breadth-first order. The program leaves
  the atoms of kept nodes that were not pruned out of the table.
* The root's atoms are known if the tree was kept. At the start of an episode, and where sticky actions led elsewhere,
  they are not: there the first child counts as novel in any case.
* Ties are broken at random, as by the program's random order of children.
* Where the episode ends, nothing is expanded and no atom is entered.
* Screen features are not part of this paper: those of Bandres, Bonet and Geffner 2018.
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
    """Plans: IW(1), breadth-first search that prunes what shows nothing new.

    Parameters
    ----------
    features : {"ram", "tiles", "b-prost"}
        What novelty is about: the bytes of the memory, the colours of the screen's tiles, or these in pairs too.
    frames_per_decision : int
        Frames to emulate before each action, at most. 150,000 in the paper.
    horizon_frames : int
        How far a path looks ahead. 1,500: 300 nodes of 5 frames, from the program's defaults.
    discount : float
        γ an action. 0.995, from the program's defaults.
    still_frames : int
        How long a screen may stay as it is on a path; see `width`. 30, as in rollouts; of no account for the memory.
    frames_per_action : int or None
        Emulated frames an action; None for the protocol's. 5 in the paper, as under ``ale-2013``.
    """

    citation = "Lipovetzky, Ramirez and Geffner 2015"

    risk_aversion: float = field(default=1.0, init=False)
    subscores: bool = field(default=False, init=False)

    name = "iw"

    def search(self, model: GenerativeModel, rng: np.random.Generator) -> Iterator[None]:
        """Expand novel nodes in breadth-first order; yield after each.

        Going on after a checkpoint, it passes once more through what is there, for no frames, to the same end.
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
                    if self._goes_on(table, child, node, depth, child_still):
                        queue.append((child, depth, child_still))
            if self.emulated + model.spec.frames_per_action > self.frames_per_decision:
                return
            yield

    def _goes_on(self, table: NoveltyTable, node: Node, parent: Node, depth: int, still: int) -> bool:
        """Say whether a node is to be expanded, and enter its atoms unless it shows the same as its parent."""
        if still:
            return still <= self.still_frames and depth < self.max_depth
        return table.enter(self.atoms[node], self.atoms.get(parent), depth) and depth < self.max_depth

    def _children(
        self, model: GenerativeModel, node: Node, same_action: bool, rng: np.random.Generator
    ) -> Iterator[Node]:
        """Yield the children that are there, then the others as they are made, as far as the frames reach.

        With `same_action`, only that by the action that led to the node.
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
