"""The best subsets of a table's tasks, one size or every size: winners, proofs, and errors on papers left out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from math import isfinite, log

import numpy as np

from arcademark.reports import wording
from arcademark.reports.blocks import Block, Cell, Column, Document, Figure, Notices, Prose, Section, section, table
from arcademark.reports.document import Notice
from arcademark.reports.subsets import sizes_figure
from arcademark.reports.subsets.searching import Found, Searched, Setup, gap
from arcademark.reports.subsets.sizes import EverySize, Series, Sized
from arcademark.reports.subsets.validating import LOG, Validation
from arcademark.subset.predict.model import SubsetModel
from arcademark.subset.search.search import Certificate
from arcademark.subset.studies.validate import Interval
from arcademark.suite.subsets import LEVEL, conformal_half_width

STEPS: Mapping[str, str] = {
    "5": "The best five",
    "3": "The best three of these",
    "1": "The best one of these",
    "3-val": "The best three for tuning, none of the five among them",
    "5-val": "These and two more for tuning",
    "10": "The five and the best five more, none for tuning among them",
}
"""Titles of a plan's steps."""
SERIES = {"leave out": "The best subset of every size", "charge": "The best where whoever is left out counts"}
MOST_WINNERS = 5


def search(shown: Searched) -> Document:
    """Show one search, or a plan's."""
    return _document(shown, "Which few {} best predict", *(_found(found, shown) for found in shown.results))


def sizes(shown: EverySize) -> Document:
    """Show the best subset of every size, and the curve of error against size."""
    curve = Figure("subset-sizes", partial(sizes_figure.figure, shown))
    sections = [section(SERIES[series.incomplete], *_series(series, shown)) for series in shown.series]
    return _document(shown, "How well few {} predict", *sections, section("The curve", curve))


def _document(shown: Setup, title: str, *sections: Section) -> Document:
    space = "in log space" if shown.transform == LOG else "scores as they are"
    told = [*shown.remarks]
    if shown.left_out:
        left = [f"{shown.titles.get(name, name)} ({reason})" for name, reason in shown.left_out.items()]
        told.append(f"Left out: {wording.shortened(left, most=4)}.")
    return Document(
        f"{title.format(shown.noun + 's')} the {shown.target} over all",
        "subsets",
        f"{'; '.join(shown.sources)}. {wording.plural(shown.algorithms, 'algorithm')}, "
        f"{wording.plural(shown.tasks, shown.noun)}, {space}, {shown.folds} folds shuffled with seed "
        f"{shown.fold_seed}.",
        (section("", Notices(tuple(Notice("scores", "note", text) for text in told))), *sections),
    )


def _found(found: Found, shown: Searched) -> Section:
    """Show a step: the subsets, the proof, and what speaks for the best or against it."""
    best = found.best
    log = shown.transform == LOG
    unit = f", {shown.unit}" if shown.unit else ""
    columns = ("", Column(f"{shown.noun}s", "name"), "R²", "rel. error" if log else f"mean error{unit}", "error +", "n")
    rows = []
    for place, item in enumerate((best, *found.runners_up), start=1):
        more = "" if place == 1 else f"{100 * gap(best, item):+.1f}\N{NO-BREAK SPACE}%"
        rows.append(
            (
                str(place),
                Cell(_names(item.tasks, shown), "strong" if place == 1 else ""),
                f"{item.r2:.3f}",
                _error(item.relative_error if log else item.cv_mae, shown),
                more if best.cv_mse else wording.MISSING,  # nothing is a percentage of 0
                str(item.n),
            )
        )
    weights = [
        (shown.titles[task], f"{weight:.4f}") for task, weight in zip(best.tasks, best.coefficients, strict=True)
    ]
    parts: list[Block] = [
        table(columns, rows),
        Prose(proof(found.certificate)),
        section("Coefficients of the best", table((shown.noun, "coefficient"), weights)),
    ]
    if found.nested is not None:
        error = best.relative_error if log else best.cv_mae
        others = _others(found.model)
        parts.append(section("On other papers", *_nested(found.nested, error, best.tasks, shown), others))
    return section(STEPS.get(found.name, "The best subsets"), *parts)


def proof(certificate: Certificate) -> str:
    """Say what was done about every subset."""
    parts = [f"{wording.count(certificate.evaluated)} cross-validated"]
    if certificate.pruned:
        parts.append(f"{wording.count(certificate.pruned)} proven to be worse by a bound")
    if certificate.inadmissible:
        parts.append(f"{wording.count(certificate.inadmissible)} with too few algorithms")
    subsets = f"{wording.plural(certificate.subsets, 'subset')}: {wording.listing(parts)}"
    return f"{subsets}; {'the best is proven' if certificate.holds else 'NOT proven'}."


def _others(model: SubsetModel) -> Prose | None:
    """Say how far a model is off on papers of the catalogue that the scores do not have, and what its interval is."""
    papers = model.nested.other_papers if model.nested else ()
    if not papers or model.spread is None:
        return None
    every = np.concatenate(papers)
    mean, median = (wording.share(log(10) * float(of(every))) for of in (np.mean, np.median))
    half_width = conformal_half_width(model.spread.errors, LEVEL)
    width = f"{100 * LEVEL:g} % interval is ×/÷ {10**half_width:.2f} for usual scores"
    interval = f"; its {width}" if isfinite(half_width) else ""
    return Prose(
        f"On {wording.plural(len(every), 'algorithm')} of {len(papers)} papers of the catalogue that these scores do "
        f"not have, the model errs by {mean} on average (median {median}). It keeps these errors, too{interval}."
    )


def _nested(found: Validation, error: float, best: Sequence[str], shown: Setup) -> Iterator[Block]:
    """Yield nested errors beside the error that chose the subset, in the same units."""
    means = [_error(value, shown) for value in (found.mean, found.median, found.worst)]
    yield table(
        ("error", "mean", "median", "worst", "n"),
        (
            ("cross-validated, as it was chosen", _error(error, shown), "", "", ""),
            (Cell("nested: chosen without the paper", "strong"), *means, str(len(found.held_out))),
        ),
    )
    yield Prose(
        f"Nested: each of {found.papers} papers was left out, all was searched again from scratch, and its algorithms "
        f"were predicted. Each paper counted once, the mean is {_error(found.mean_of_papers, shown)}. Worst: "
        f"{found.worst_algorithm}."
    )
    if found.unpredicted:
        yield Prose(f"Not predicted, as scores are missing: {wording.shortened(found.unpredicted)}.", "weak")
    log = shown.transform == LOG
    yield table(
        ("interval", "×/÷" if log else "±", "held", "of papers'"),
        (
            (
                f"{100 * item.level:g}\N{NO-BREAK SPACE}%",
                _width(item, log),
                f"{item.inside} of {item.of}",
                wording.share(item.of_papers),
            )
            for item in found.intervals
        ),
        caption="Prediction intervals for algorithms of another paper, and how many true values they held: each "
        "paper's by the others' errors.",
    )
    usual = found.usual
    if usual.half_width is not None:
        yield Prose(
            f"Divided by how far each one's scores extrapolate, they give a {100 * usual.level:g}\N{NO-BREAK SPACE}% "
            f"interval of {'×/÷' if log else '±'} {_width(usual, log)} for usual scores, wider for others; so it held "
            f"{usual.inside} of {usual.of}."
        )
    same = sum(win.times for win in found.winners if win.tasks == tuple(best))
    others = f"; {wording.count(len(found.winners))} subsets win in all" if len(found.winners) > 1 else ""
    papers = wording.plural(found.papers, "time")
    yield Prose(f"Without {found.papers} papers, one at a time, it wins {same:,} of {papers}{others}.")
    if same < found.papers:
        rows = [(_names(win.tasks, shown), str(win.times)) for win in found.winners]
        yield table(("winner", "times"), rows, most=MOST_WINNERS)


def _series(series: Series, shown: EverySize) -> Iterator[Block]:
    nested = any(item.nested is not None for item in series.sizes)
    columns = ("size", "error", "±", "n", "R² of all", "nested" if nested else None, "proven")
    yield table(columns, (_row(item, shown) for item in series.sizes))
    rows, before = [], frozenset[str]()
    for item in series.sizes:
        names = [f"{'' if task in before else '+'}{shown.titles[task]}" for task in item.best.tasks]
        rows.append((str(item.size), ", ".join(names)))
        before = frozenset(item.best.tasks)
    told = f"+: new, not in the subset above. {_explained(series, shown)}"
    yield table(("size", Column(f"{shown.noun}s", "prose")), rows, caption=told)


def _row(item: Sized, shown: EverySize) -> tuple[str, ...]:
    return (
        str(item.size),
        _error(item.error, shown),
        _error(item.spread, shown),
        str(item.best.n),
        wording.fixed(item.r2_of_all, 4),
        wording.MISSING if item.nested is None else _error(item.nested.mean, shown),
        f"of {item.certificate.subsets:,}" if item.certificate.holds else "NO",
    )


def _explained(series: Series, shown: EverySize) -> str:
    if series.incomplete == "charge":
        return (
            f"Ranked over all {shown.algorithms} algorithms: one without scores on a subset's {shown.noun}s counts as "
            "predicted by the mean, so that leaving it out gains nothing; errors are of the n others."
        )
    told = (
        "Errors are cross-validated means over the n algorithms that have all scores, ± their standard error over "
        "folds; they chose the subset, too, and so are too low."
    )
    if len(shown.series) == 1:
        return told
    return (
        f"{told} Large subsets win partly by leaving out algorithms: see n, and R² of all, which takes who is left out "
        "as predicted by the mean."
    )


def _names(tasks: Sequence[str], shown: Setup) -> str:
    return ", ".join(shown.titles[task] for task in tasks)


def _error(value: float, shown: Setup) -> str:
    """Show an error: a share of what is predicted, or in its unit where there is no transform."""
    return wording.share(value) if shown.transform == LOG else f"{value:.3g}"


def _width(item: Interval, log: bool) -> str:
    size = item.factor if log else item.half_width
    return wording.MISSING if size is None else f"{size:.3g}"
