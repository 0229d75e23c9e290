"""Rollout-IW(1): rollouts from the root, pruned by novelty at each depth (Bandres, Bonet and Geffner 2018).

"Planning with Pixels in (Almost) Real Time", AAAI 2018. A rollout descends from the root, at each node to a random
child among those that are not solved, until it reaches a node that is pruned::

    new, novel                     enter its atoms, continue     novel: an atom is new at this or a smaller depth
    new, not novel                 solved, stop
    visited, an atom holds         continue                      holds: the atom's least depth is not smaller
    visited, none holds            solved, stop                  other nodes reach all its atoms at smaller depths
    the episode's end, or too deep solved, stop

A node is also solved when all its children are. The search ends when the root is solved or the budget of frames is
used. It prunes like IW(1), but with explicit depths instead of breadth-first order; unlike IW(1), it searches deep from
the first rollout on, so that it is useful with a small budget. The best path's first action is played and the tree
below it is kept: see `width`.

The budgets of the paper are times (0.5 s and 32 s per decision of 15 frames); ours is in frames. Half a second is 7,500
to 10,000 frames of emulation on a current core, without the time for features.

The paper has options that are off by default: *risk aversion* multiplies negative rewards by 50,000 and penalizes a
lost life with ten times this factor; *subscores* use a novelty table for each power of two of the score since the root.

Where the paper is silent, or the program of its authors differs:

* At each decision, labels and novelty are reset, and rollouts visit kept nodes again, without frames. The program omits
  the atoms of kept nodes from the table.
* A node that is pruned after its expansion keeps the nodes below it, which are valid paths; the program gives it a
  reward of minus infinity.
* One action of the best path is played before the next decision; the program can also play up to the first reward.
* No background is subtracted from screens: see `features`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from arcademark.agents.parameters import Positive, Share
from arcademark.classic.planning.width import WidthPlanner

if TYPE_CHECKING:
    import numpy as np

    from arcademark.classic.planning.features import NoveltyTable
    from arcademark.classic.planning.tree import Node
    from arcademark.environments.generative import GenerativeModel

ROOT_CLASS = 0


@dataclass(eq=False, repr=False, kw_only=True)
class RolloutIW(WidthPlanner):
    """Plans: Rollout-IW(1), rollouts to states that are novel at their depth; useful with few frames.

    Parameters
    ----------
    features : {"ram", "tiles", "b-prost"}
        Atoms for novelty. The paper uses ``b-prost``; ``ram`` is the fastest.
    frames_per_decision : int
        Maximum frames to emulate before each action. Our choice: about half a second of emulation.
    horizon_frames : int
        Maximum length of a path. 22,500: 1,500 nodes of 15 frames, from the program's defaults.
    discount : float
        γ per action. 1 in the settings of the authors' published results.
    risk_aversion : float
        Factor of negative rewards, and a tenth of the penalty for a lost life; 1 for no aversion and no penalty. 50,000
        in the authors' settings.
    subscores : bool
        Whether each power of two of the score since the root has a separate novelty table.
    still_frames : int
        Maximum frames without a change of the screen on a path; see `width`. 30, from the program's defaults.
    frames_per_action : int or None
        Emulated frames per action; None for the protocol's. 15 in the paper.
    """

    citation = "Bandres, Bonet and Geffner 2018"

    frames_per_decision: Positive = 7_500
    horizon_frames: Positive = 22_500
    discount: Share = 1.0

    name = "rollout-iw"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._tables: dict[int, NoveltyTable] = {}
        self._met: set[Node] = set()
        self._solved: set[Node] = set()
        self._still: dict[Node, int] = {}
        """Number of frames without a change of the screen, of nodes that show the same as their parents."""

    def search(self, model: GenerativeModel, rng: np.random.Generator) -> Iterator[None]:
        """Roll out from the root until it is solved or the budget is used; yield after each rollout."""
        assert self.root is not None
        self._enter_met(model, self.root)
        while self.root not in self._solved and self._roll_out(model, self.root, rng):
            yield

    def forget_search(self) -> None:
        """Reset labels and novelty."""
        self._tables, self._met, self._solved, self._still = {}, set(), set(), {}

    def _enter_met(self, model: GenerativeModel, root: Node) -> None:
        """Enter the atoms of the root, and those of nodes visited before a checkpoint, in any order."""
        if root in self.atoms:
            self._table(0.0).enter(self.atoms[root], None, 0)
        waiting = [(root, 1, 0.0)] if self._met else []
        while waiting:
            node, depth, score = waiting.pop()
            for child in node.children:
                total = score + child.reward
                if child in self._met and not self._is_still(model, child, node):
                    self._table(total).enter(self.atoms[child], self.atoms.get(node), depth)
                if child in self._met:
                    waiting.append((child, depth + 1, total))

    def _roll_out(self, model: GenerativeModel, root: Node, rng: np.random.Generator) -> bool:
        """Descend to a node that is then solved; return whether the budget sufficed."""
        path = [root]
        score = 0.0
        while True:
            child = self._pick(model, path[-1], rng)
            if child is None:
                return False
            score += child.reward
            path.append(child)
            if child.ended or not self._continues(model, path, score):
                self._solve(path)
                return True

    def _pick(self, model: GenerativeModel, node: Node, rng: np.random.Generator) -> Node | None:
        """Return a random child that is not solved; None if it is new and the budget does not suffice."""
        if node.untried is None:
            node.untried = list(range(model.num_actions))
        unsolved = [child for child in node.children if child not in self._solved]
        untried = node.untried
        if node in self._still:
            unsolved = [child for child in unsolved if child.action == node.action]
            untried = [node.action] if node.action in untried else []
        i = int(rng.integers(len(unsolved) + len(untried)))
        if i < len(unsolved):
            return unsolved[i]
        action = untried[i - len(unsolved)]
        child = self.expand(model, node, action)
        if child is not None:
            node.untried.remove(action)
        return child

    def _continues(self, model: GenerativeModel, path: list[Node], score: float) -> bool:
        """Return True to continue below the end of a path, and enter its atoms at the first visit."""
        node, parent, depth = path[-1], path[-2], len(path) - 1
        table, atoms, before = self._table(score), self.atoms[node], self.atoms.get(parent)
        met = node in self._met
        self._met.add(node)
        if self._is_still(model, node, parent):
            return self._still[node] <= self.still_frames and depth < self.max_depth
        if met:
            return table.holds(atoms, before, depth)
        return table.enter(atoms, before, depth) and depth < self.max_depth

    def _is_still(self, model: GenerativeModel, node: Node, parent: Node) -> bool:
        """Return True if a node shows the same as its parent, and store for how many frames."""
        still = self.still(model, node, parent, self._still.get(parent, 0))
        if still:
            self._still[node] = still
        return still > 0

    def _solve(self, path: list[Node]) -> None:
        """Label the last node of a path as solved, and each earlier node with only solved children."""
        solved = self._solved
        solved.add(path.pop())
        for node in reversed(path):
            if node not in self._still and (node.untried or any(child not in solved for child in node.children)):
                return
            solved.add(node)

    def _table(self, score: float) -> NoveltyTable:
        """Return the table of a score since the root: of all scores, or of those below the same power of two."""
        score_class = int(score).bit_length() if self.subscores and score > 0 else ROOT_CLASS
        if score_class not in self._tables:
            assert self.reader is not None
            self._tables[score_class] = self.reader.new_table()
        return self._tables[score_class]

    def memory(self) -> Any:
        """Return the state of width-based planners, and the labels of the kept nodes in the same order."""
        labels = [(node in self._met, node in self._solved) for node in self.kept_nodes()]
        return super().memory(), labels

    def remember(self, memory: Any) -> None:
        """Restore the state that `memory` returned."""
        kept, labels = memory
        super().remember(kept)
        for node, (met, solved) in zip(self.kept_nodes(), labels, strict=True):
            if met:
                self._met.add(node)
            if solved:
                self._solved.add(node)
