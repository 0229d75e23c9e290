"""Data of the papers' figures, made from the catalogue; drawn elsewhere.

Conventions
-----------
* Values are in `Panel.unit`, such as percent. A missing value is None, not NaN or 0.
* Captions are our own. The available texts have no images; the content of a figure follows their description.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

PanelKind: TypeAlias = Literal["bars", "steps"]
Scale: TypeAlias = Literal["linear", "log"]


@dataclass(frozen=True)
class PanelSeries:
    """One series of a panel, of an algorithm or a measure.

    Parameters
    ----------
    name : str
        Name in the legend.
    values : tuple of float or None
        Bars: one per label of the panel, None where there is none. Steps: the height of each step, from left to right.
    ends : tuple of float
        Steps: the right end of each step, in the panel's x unit, ascending. The first step begins at the panel's left
        edge, and after the last the curve is at 0. Bars: empty.
    """

    name: str
    values: tuple[float | None, ...]
    ends: tuple[float, ...] = ()


@dataclass(frozen=True)
class Panel:
    """One chart of a figure.

    Parameters
    ----------
    title : str
        Its content in a few words: "Mean HNS".
    kind : {"bars", "steps"}
        Bars, grouped by label if there are several series; or curves that fall in steps.
    unit : str
        Unit of the values: "%", "years", "fraction of games", "" for a plain number.
    series : tuple of PanelSeries
        At least one.
    labels : tuple of str
        Bars: the label of each group, an algorithm or a game. Steps: empty.
    details : tuple of str
        Bars: a short addition to each label, "200M frames"; empty where there is none.
    x_unit : str
        Steps: the unit of `PanelSeries.ends`, "baseline score".
    scale : {"linear", "log"}
        Scale of the axis of values; log only if all are positive.
    x_limits : tuple of (float, float) or None
        Steps: the part of the x axis that is drawn; None for all.
    marks : tuple of float
        Reference values (steps: x values) that are marked: 100 % of the human average.
    decimals : int or None
        Decimals of plain numbers; None for a number by their size.
    """

    title: str
    kind: PanelKind
    unit: str
    series: tuple[PanelSeries, ...]
    labels: tuple[str, ...] = ()
    details: tuple[str, ...] = ()
    x_unit: str = ""
    scale: Scale = "linear"
    x_limits: tuple[float, float] | None = None
    marks: tuple[float, ...] = ()
    decimals: int | None = None


@dataclass(frozen=True)
class PaperFigure:
    """A figure of a paper.

    Parameters
    ----------
    paper : str
        The source's key in the catalogue, "fan-2021".
    number : int
        Number of the figure, as printed.
    title : str
        One line for people: "Figure 3: SABER".
    caption : str
        Content, origin of the scores, and data that could not be taken from the paper.
    panels : tuple of Panel
        In reading order.
    """

    paper: str
    number: int
    title: str
    caption: str
    panels: tuple[Panel, ...]
