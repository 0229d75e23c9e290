"""What the 2013 paper states, checked against the recovered scores.

Bellemare, Naddaf, Veness and Bowling, "The Arcade Learning Environment: An Evaluation Platform for General Agents",
2013. The text that was read has lost its tables; scores were recovered from public copies (collection "ale-2013"). Each
statement that they decide is recomputed, and for each that they cannot decide it is said what is gone.

Each group of statements lives in a module of its own: `ale2013_counts`, `ale2013_results` and `ale2013_metrics`.
"""

from __future__ import annotations

from arcademark.reproduce import ale2013_counts, ale2013_metrics, ale2013_results
from arcademark.reproduce.comparison import Comparison, Reproduction


def statements() -> tuple[Reproduction, ...]:
    """Check the paper's statements, group by group in the paper's order.

    Returns
    -------
    tuple of Reproduction
        Groups of statements; none has a number.
    """
    return (
        _group("§2 and §3: what can be counted", ale2013_counts.counts()),
        _group("§3.1.3: reinforcement learning", ale2013_results.learning()),
        _group("§3.2.3: planning", ale2013_results.planning()),
        _group("§4.1 and Figure 2: normalised scores", ale2013_metrics.normalised()),
        _group("§4.2, Figures 3 and 4: aggregate scores", ale2013_metrics.aggregated()),
        _group("§4.3, Tables 1 to 5 and Appendix C: what is gone", ale2013_metrics.lost()),
    )


def _group(title: str, comparisons: tuple[Comparison, ...]) -> Reproduction:
    from arcademark.reproduce.ale2013_scores import PAPER

    return Reproduction(PAPER, title, None, comparisons)
