"""The Atari-5 paper, both of its texts: every table, and every statement that its data or arithmetic decide.

If the arXiv and the ICML text differ, the arXiv text's tables are compared row by row, and differing values of the
other are listed as errata.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial

from arcademark.catalogue.errata import NOT_DECIDABLE
from arcademark.reproduce.atari5 import results as atari5_results
from arcademark.reproduce.atari5 import scope as atari5_scope
from arcademark.reproduce.atari5 import study as atari5_study
from arcademark.reproduce.atari5 import tables as atari5_tables
from arcademark.reproduce.atari5.data import PAPER
from arcademark.reproduce.comparison import PrintedComparison, Reproduction, slips

Part = Callable[[], Iterable[PrintedComparison]]

TABLES: Mapping[int, tuple[str, Part]] = {
    1: ("benchmarks by citations", atari5_tables.citations),
    2: ("the best subsets, R² and relative error", atari5_tables.best_subsets),
    3: ("well-known algorithms, median and Atari-5", atari5_tables.algorithms),
    4: ("case study", partial(atari5_study.relative_errors, 4)),
    5: ("case study, relative to Rainbow", atari5_study.relative),
    6: ("cost of a full evaluation", atari5_tables.expenses),
    7: ("subsets of other papers", atari5_tables.subsets_of_others),
    8: ("algorithms, their games and medians", atari5_tables.dataset),
    9: ("coefficients of the subset models", atari5_tables.coefficients),
    10: ("models of every game from Atari-5", partial(atari5_tables.game_models, 10)),
    11: ("models of every game from Atari-10", partial(atari5_tables.game_models, 11)),
    12: ("random and human scores", atari5_tables.normalisation),
}

GROUPS: Mapping[str, Part] = {
    "Abstract, §1, §8 and §9: claims": atari5_scope.claims,
    "§3.1: order preservation": atari5_scope.order_preservation,
    "§4.1 and Appendix D: the dataset": atari5_scope.dataset,
    "§4.3: the search": atari5_scope.search,
    "§5.1 and Figure 2: single games": atari5_results.single,
    "§5.2: the best subsets": atari5_results.subsets,
    "§5.3: robustness": atari5_study.robustness,
    "§5.4 and Figure 3: fairness": atari5_results.fairness_by_tertiles,
    "§5.5 and Figure 4: all games": atari5_results.all_games,
    "§6 and Figure 5: structure": atari5_results.structure,
    "§7: case study": atari5_study.case_study,
    "Appendix A: cost, energy and carbon": atari5_tables.appendix,
}


def about_figure(number: int) -> tuple[Reproduction, ...]:
    """Recompute the text's statements about a figure; empty if there are none."""
    return tuple(_group(title) for title in GROUPS if f"Figure {number}:" in title)


def parts(number: int | None = None) -> tuple[Reproduction, ...]:
    """Recompute one of Tables 1 to 12 or, for None, all tables and statements, with the two texts' other errata."""
    if number is not None:
        return (_table(number),)
    result = [*map(_table, TABLES), *map(_group, GROUPS)]
    covered = {item.where for part in result for item in part.comparisons}
    return (*result, Reproduction(PAPER, "Other errors in the two texts", None, tuple(_rest(covered))))


def _group(title: str) -> Reproduction:
    return Reproduction(PAPER, title, None, tuple(GROUPS[title]()))


def _table(number: int) -> Reproduction:
    title, part = TABLES[number]
    return Reproduction(PAPER, f"Table {number}: {title}", number, tuple(part()))


def _rest(covered: Collection[str]) -> Iterator[PrintedComparison]:
    """Yield the errata of places that are not covered: spellings, terms, formulas, disagreements of sources."""
    for where, slip in slips(PAPER).items():
        if where not in covered:
            lost = slip.holds == NOT_DECIDABLE
            result = PrintedComparison(
                where, slip.printed, "" if lost else slip.holds, "not available" if lost else "differs"
            )
            yield replace(result, why=slip.why, category=slip.category)
