"""Figures by rliable's names, on Matplotlib's axes and without seaborn.

Estimates are mappings from names to arrays; intervals have shape (2, …): lower and upper limits. `colors` maps names to
colours. Without it, colours come from `color_palette`: colours, or the name of a colormap of Matplotlib ("viridis") or
of a palette of seaborn ("colorblind", "deep", …). Without `ax`, a figure of `figsize` is opened; axes are returned.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import cycle
from typing import Any, TypeAlias

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from arcademark.errors import ArcadeMarkError, UnknownNameError

Arrays: TypeAlias = Mapping[str, Any]
COLORS = "#0173b2", "#de8f05", "#029e73", "#d55e00", "#cc78bc", "#ca9161", "#fbafe4", "#949494", "#ece133", "#56b4e9"
"""The palette "colorblind" of Waskom 2021, "seaborn: statistical data visualization"."""


def plot_performance_profiles(
    performance_profiles: Arrays, tau_list: Any, performance_profile_cis: Arrays | None = None,
    use_non_linear_scaling: bool = False, ax: Any = None, colors: Any = None, color_palette: Any = "colorblind",
    alpha: float = 0.15, figsize: Any = (10, 5), xticks: Any = None, yticks: Any = (0, 0.25, 0.5, 0.75, 1),
    xlabel: str = r"Normalized Score ($\tau$)", ylabel: str = r"Fraction of runs with score $> \tau$",
    linestyles: Any = None, linewidth: float = 2, **kwargs: Any,
) -> Axes:  # fmt: skip
    """Draw profiles, shape (thresholds,), with bands of their intervals.

    With `use_non_linear_scaling`, thresholds are spaced by the share of runs between them; `xticks` are some of them.
    """
    axes, marks, labels = ax or plt.subplots(figsize=figsize)[1], np.asarray(tau_list, np.float64), xticks
    if use_non_linear_scaling:
        labels = marks[np.geomspace(1, marks.size - 1, 5).astype(int)] if xticks is None else np.asarray(xticks)
        places = [int(np.argmin(abs(marks - label))) for label in labels]
        marks = 1 - np.mean([np.asarray(one) for one in performance_profiles.values()], axis=0)
        xticks = marks[places]
    for name, color in _colors(performance_profiles, colors, color_palette).items():
        style = linestyles[name] if linestyles else "solid"
        axes.plot(marks, performance_profiles[name], color=color, linestyle=style, linewidth=linewidth, label=name)
        if performance_profile_cis and name in performance_profile_cis:
            axes.fill_between(marks, *np.asarray(performance_profile_cis[name]), color=color, alpha=alpha)
    ticks = {"xticks": xticks, "xticklabels": labels, "yticks": yticks}
    return _annotate_and_decorate_axis(axes, xlabel=xlabel, ylabel=ylabel, **ticks, **kwargs)


def plot_interval_estimates(
    point_estimates: Arrays, interval_estimates: Arrays, metric_names: Sequence[str],
    algorithms: Sequence[str] | None = None, colors: Any = None, color_palette: Any = "colorblind",
    max_ticks: int = 4, subfigure_width: float = 3.4, row_height: float = 0.37, xlabel_y_coordinate: float = -0.1,
    xlabel: str = "Normalized Score", interval_height: float = 0.6, wspace: float = 0.11,
) -> tuple[Any, Any]:  # fmt: skip
    """Draw estimates, shape (metrics,), with intervals, on axes for each metric; return the figure and the axes."""
    shades = _colors(algorithms or point_estimates, colors, color_palette)
    count = np.size(point_estimates[next(iter(shades))])
    figure, axes = plt.subplots(ncols=count, figsize=(subfigure_width * count, row_height * len(shades)))
    for place, (each, title) in enumerate(zip(np.ravel(axes), metric_names, strict=False)):
        for row, (name, color) in enumerate(shades.items()):
            value, limits = np.ravel(point_estimates[name])[place], np.asarray(interval_estimates[name])[:, place]
            _interval(each, row, value, limits, interval_height, color=color, alpha=0.75, label=name)
        rows = list(shades) if place == 0 else []
        each.set_yticks(range(len(rows)), rows, fontsize="x-large")
        each.xaxis.set_major_locator(MaxNLocator(max_ticks))
        each.set_title(title, fontsize="xx-large")
        _decorate_axis(each, ticklabelsize="xx-large", wrect=5).spines["left"].set_visible(False)
        each.grid(True, axis="x", alpha=0.25)
    figure.text(0.4, xlabel_y_coordinate, xlabel, ha="center", fontsize="xx-large")
    figure.subplots_adjust(wspace=wspace, left=0.0)
    return figure, axes


def plot_sample_efficiency_curve(
    frames: Any, point_estimates: Arrays, interval_estimates: Arrays, algorithms: Sequence[str] | None = None,
    colors: Any = None, color_palette: Any = "colorblind", figsize: Any = (7, 5),
    xlabel: str = "Number of Frames (in millions)", ylabel: str = "Aggregate Human Normalized Score", ax: Any = None,
    labelsize: Any = "xx-large", ticklabelsize: Any = "xx-large", marker: str = "o", linewidth: Any = 2, **kwargs: Any,
) -> Axes:  # fmt: skip
    """Draw estimates, shape (frames,), with bands of their intervals."""
    axes, sizes = ax or plt.subplots(figsize=figsize)[1], {"labelsize": labelsize, "ticklabelsize": ticklabelsize}
    for name, color in _colors(algorithms or point_estimates, colors, color_palette).items():
        axes.plot(frames, point_estimates[name], color=color, marker=marker, linewidth=linewidth, label=name)
        axes.fill_between(frames, *np.asarray(interval_estimates[name]), color=color, alpha=0.2)
    return _annotate_and_decorate_axis(axes, xlabel=xlabel, ylabel=ylabel, **sizes, **kwargs)


def plot_probability_of_improvement(
    probability_estimates: Arrays, probability_interval_estimates: Arrays, pair_separator: str = ",", ax: Any = None,
    figsize: Any = (4, 3), colors: Any = None, color_palette: Any = "colorblind", alpha: float = 0.75,
    xticks: Any = None, xlabel: str = "P(X > Y)", left_ylabel: str = "Algorithm X", right_ylabel: str = "Algorithm Y",
    interval_height: float = 0.6, wrect: float = 5, ticklabelsize: Any = "x-large", labelsize: Any = "x-large",
    ylabel_x_coordinate: float = 0.2, **kwargs: Any,
) -> Axes:  # fmt: skip
    """Draw P(X > Y) and its interval for pairs named "X,Y": X to the left, Y to the right; `colors` may be a list."""
    pairs = [pair.split(pair_separator) for pair in probability_estimates]
    if not pairs or any(len(pair) != 2 for pair in pairs):
        raise ArcadeMarkError(
            f"expected names of pairs such as 'X{pair_separator}Y', not {list(probability_estimates)}"
        )
    axes = ax or plt.subplots(figsize=figsize)[1]
    for row, (pair, color) in enumerate(_colors(probability_estimates, colors, color_palette).items()):
        value, limits = probability_estimates[pair], probability_interval_estimates[pair]
        _interval(axes, row, value, limits, interval_height, color=color, alpha=alpha, label=pair)
    other = axes.twinx()
    other.set_ylim(axes.get_ylim())
    how = {"xticks": xticks, "xlabel": xlabel, "wrect": wrect, "labelsize": labelsize, "ticklabelsize": ticklabelsize}
    ends = (axes, left_ylabel, -ylabel_x_coordinate), (other, right_ylabel, 1 + 0.7 * ylabel_x_coordinate)
    for names, (side, label, at) in zip(zip(*pairs, strict=True), ends, strict=True):
        _annotate_and_decorate_axis(side, **how, **kwargs).spines["left"].set_visible(False)
        side.set_yticks(range(len(names)), names)
        side.set_ylabel(label, fontweight="bold", rotation="horizontal", va="bottom", fontsize=labelsize)
        side.yaxis.set_label_coords(at, 1.0)
    other.grid(False)
    return axes


def _interval(axes: Axes, row: int, value: Any, limits: Any, height: float, **how: Any) -> None:
    low, high = np.ravel(limits)
    axes.barh(y=row, width=high - low, height=height, left=low, **how)
    axes.vlines(value, row - height / 2, row + height / 2, color="k", alpha=0.6)


def _colors(names: Iterable[str], colors: Any, palette: Any) -> dict[str, Any]:
    """Return each name's colour, from a mapping, from a sequence in their order, or from a palette."""
    known, style = list(names), plt.style.library.get(f"seaborn-v0_8-{palette}")
    if isinstance(colors, Mapping):
        return {name: colors[name] for name in known}
    if colors is None and isinstance(palette, str):
        if palette in plt.colormaps():
            colors = plt.colormaps[palette](np.linspace(0, 1, len(known)))
        elif style is None:
            raise UnknownNameError("color palette", palette, plt.colormaps())
        else:
            colors = COLORS if palette == "colorblind" else style["axes.prop_cycle"].by_key()["color"]
    return dict(zip(known, cycle(palette if colors is None else colors), strict=False))


def _decorate_axis(ax: Axes, wrect: float = 10, hrect: float = 10, ticklabelsize: Any = "large") -> Axes:
    """Keep only the left and the lower spine, moved outwards by some points, and labels of ticks without marks."""
    ax.spines[["right", "top"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_linewidth(2)
    ax.spines["left"].set_position(("outward", hrect))
    ax.spines["bottom"].set_position(("outward", wrect))
    ax.tick_params(length=0.1, width=0.1, labelsize=ticklabelsize)
    return ax


def _annotate_and_decorate_axis(
    ax: Axes, labelsize: Any = "x-large", ticklabelsize: Any = "x-large", xticks: Any = None, xticklabels: Any = None,
    yticks: Any = None, legend: bool = False, grid_alpha: float = 0.2, legendsize: Any = "x-large", xlabel: str = "",
    ylabel: str = "", wrect: float = 10, hrect: float = 10,
) -> Axes:  # fmt: skip
    """Label the axes, set their ticks, and draw a grid and, if ``legend``, a legend."""
    ax.set_xlabel(xlabel, fontsize=labelsize)
    ax.set_ylabel(ylabel, fontsize=labelsize)
    for set_ticks, ticks, labels in ((ax.set_xticks, xticks, xticklabels), (ax.set_yticks, yticks, None)):
        if ticks is not None:
            set_ticks(ticks, labels)
    ax.grid(True, alpha=grid_alpha)
    if legend:
        ax.legend(fontsize=legendsize)
    return _decorate_axis(ax, wrect, hrect, ticklabelsize)
