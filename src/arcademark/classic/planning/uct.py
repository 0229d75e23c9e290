"""UCT (Kocsis and Szepesvári 2006), as in Bellemare et al. 2013 (§3.2.1, Appendix B, Algorithms 2 and 3).

A simulation descends from the root. At a node with untried actions, it takes a random one of these and reaches a new
leaf; if all were tried, it takes the action with the greatest::

    V(c) = average-return(c) + C · √( log visits(parent) / visits(c) )

From the leaf, uniformly random actions follow up to the horizon, counted in frames from the root; their discounted
sum of rewards is the leaf's first return. The return is backed up along the path::

    R ← R + immediate-return(n);   average-return(n) over visits(n) + 1;   parent: γ · R

The most frequent action at the root is played, and the part of the tree below it is kept. *k* simulations are *k*
visits of the root, including reused ones, as in Algorithm 2 ("until visits(root) = k"), so a decision costs k less the
reused visits.

Among the actions of a node with the same resulting state, only the first tried is considered (§3.2.1). A simulation
that finds a duplicate continues with another action of the same node; the frames count, but not as a visit.

Where the text is ambiguous or differs from the published program of its authors, this implementation follows the text,
except for the bound:

* The printed bound has ``log[visits(c)]``, of the child; UCB1, of which it is a variation according to the paper, has
  the parent's visits, as here.
* With sticky actions, a child keeps the first outcome that was drawn for its action, its state and its reward; the
  paper's games are deterministic.
* A leaf is a node that was never visited. The first simulation in an empty tree is thus a rollout from the root itself,
  and so is the first visit of any node; the program expands a leaf at once and starts from one of its children.
* Each step up the tree discounts once. The program discounts twice, and it truncates scaled rewards of nodes, but not
  of rollouts, to integers.
* The reward of a rollout's first step is discounted once relative to that of the step into the leaf.
* Ties, of the bound and at the root, are broken at random, as in the program.
* The horizon is rounded up to whole actions.

C assumes returns of about one, unlike game scores. The paper does not mention this; the program, and the learning
agents of the same paper according to later programs, divide rewards by the magnitude of the first nonzero reward.
``reward_scale="first"`` does so (with the first nonzero reward of an agent step in any simulation of the episode),
``"none"`` does not scale rewards.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from arcademark.agents.parameters import NotNegative, Positive, Share
from arcademark.classic.planning.planner import choose
from arcademark.classic.planning.tree import Node, TreePlanner

if TYPE_CHECKING:
    import numpy as np

    from arcademark.environments.generative import GenerativeModel, State

UNKNOWN = 0.0


@dataclass(eq=False, repr=False, kw_only=True)
class UCT(TreePlanner):
    """Plans: Monte Carlo tree search with upper confidence bounds, takes the action simulated most.

    Parameters
    ----------
    simulations : int
        Visits of the root before an action, including reused ones. 500; a later program quotes it from Appendix C.
    horizon_frames : int
        Length of a simulation. Uncertain: 300, from the defaults of the published program.
    exploration : float
        C, the factor of the bound. Uncertain: 0.1, from the defaults of the published program.
    discount : float
        γ per action. Uncertain: 0.999, from later programs.
    reward_scale : {"first", "none"}
        Divisor of rewards: the magnitude of the episode's first nonzero reward, or none.
    prune_duplicates : bool
        Whether only one of the actions that lead to the same state is considered, as in the paper.
    """

    citation = "Bellemare et al. 2013, §3.2.1 and Appendix B"

    simulations: Positive = 500
    horizon_frames: Positive = 300
    exploration: NotNegative = 0.1
    discount: Share = 0.999
    reward_scale: Literal["first", "none"] = "first"
    prune_duplicates: bool = True

    name = "uct"
    kept = ("magnitude",)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.magnitude = self._unscaled()

    def begin(self, model: GenerativeModel, state: State, first: bool) -> None:
        """Begin at the kept root if it has the game's state."""
        if first:
            self.magnitude = self._unscaled()
        self.root_at(state, first)

    def search(self, model: GenerativeModel, rng: np.random.Generator) -> Iterator[None]:
        """Run simulations."""
        assert self.root is not None
        while self.root.visits < self.simulations:
            self._sample(model, self.root, rng)
            yield

    def preferences(self, root: Node) -> Sequence[float]:
        """Return the visits of each action."""
        return [child.visits for child in root.children]

    def _sample(self, model: GenerativeModel, root: Node, rng: np.random.Generator) -> None:
        """Run one simulation (Algorithm 2, sample)."""
        horizon = -(-self.horizon_frames // model.spec.frames_per_action)
        path = [root]
        node = root
        while node.visits and not node.ended and len(path) <= horizon:
            if node.untried is None:
                node.untried = rng.permutation(model.num_actions).tolist()
            if node.untried:
                child = self._expand(model, node, node.untried.pop())
                if child is None:
                    continue
            else:
                child = self._select(node, rng)
            path.append(child)
            node = child
        result = self._roll_out(model, node, horizon + 1 - len(path), rng)
        for node in reversed(path):
            result += node.reward
            node.value += result
            node.visits += 1
            result *= self.discount

    def _expand(self, model: GenerativeModel, node: Node, action: int) -> Node | None:
        """Take an action for the first time; return its child, or None for a duplicate of another's."""
        reward, ended = self.step(model, node, action)
        state = model.save() if self.prune_duplicates or not ended else None
        if self.prune_duplicates and any(state == child.state for child in node.children):
            return None
        child = Node(state, action, self._scaled(reward), ended)
        node.children = (*node.children, child)
        return child

    def _select(self, node: Node, rng: np.random.Generator) -> Node:
        """Return the child with the greatest upper confidence bound (Algorithm 3, selectAction)."""
        log_visits = math.log(node.visits)
        sqrt, exploration = math.sqrt, self.exploration
        bounds = [c.value / c.visits + exploration * sqrt(log_visits / c.visits) for c in node.children]
        return node.children[choose(bounds, rng)]

    def _roll_out(self, model: GenerativeModel, node: Node, steps: int, rng: np.random.Generator) -> float:
        """Play random actions from a node and return the discounted sum of rewards (Algorithm 3, rollout)."""
        if node.ended or not steps:
            return 0.0
        assert node.state is not None
        model.restore(node.state)
        step = model.step
        result, factor = 0.0, self.discount
        for action in rng.integers(model.num_actions, size=steps).tolist():
            reward, terminated, truncated = step(action)
            if reward:
                result += factor * self._scaled(reward)
            if terminated or truncated:
                break
            factor *= self.discount
        return result

    def _unscaled(self) -> float:
        """Return the initial divisor of rewards."""
        return UNKNOWN if self.reward_scale == "first" else 1.0

    def _scaled(self, reward: float) -> float:
        if reward and self.magnitude == UNKNOWN:
            self.magnitude = abs(reward)
        return reward / self.magnitude if reward else 0.0
