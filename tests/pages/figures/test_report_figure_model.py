"""Figures of reproductions: right lengths, nothing over anything else, colours that everybody can tell apart."""

import itertools
import re
import xml.etree.ElementTree as ET
from functools import cache

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text

from arcademark.analysis.reproductions import papers
from arcademark.pages.figures import files, style
from arcademark.pages.figures import papers as reproduction_figures
from arcademark.pages.figures.model import CurveFigure, CurvePanel, Curves
from arcademark.pages.figures.style import DARK, NARROW, PALETTE, SERIES
from drawn import check_texts
from made_up_papers import BARS, FIGURES

REAL = {f"{name}-{number}": (name, number) for name, paper in papers.PAPERS.items() for number in paper.figures}

SEEN_BY = {
    "all": np.eye(3),
    "protanopes": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopes": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    "tritanopes": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
}
"""What becomes of linear RGB: Machado, Oliveira and Fernandes 2009, severity 1."""


@pytest.fixture(
    scope="module",
    params=[
        *(pytest.param(name, marks=pytest.mark.slow) for name in REAL),
        *(f"made up {figure.number}" for figure in FIGURES),
    ],
)
def figure(request):
    if request.param in REAL:
        name, number = REAL[request.param]
        return papers.PAPERS[name].figure(number)
    return next(figure for figure in FIGURES if f"made up {figure.number}" == request.param)


@cache
def svg_of(figure):
    return files.as_svg(files.draw(reproduction_figures.model(figure)), reproduction_figures.name(figure))


def drawn(figure):
    made = files.draw(reproduction_figures.model(figure))
    FigureCanvasAgg(made).draw()
    return made


@pytest.mark.slow
def test_no_text_is_over_another_or_cut_off(figure):
    assert len(check_texts(drawn(figure))) > 10


def test_a_figure_is_one_plain_svg_that_never_changes(figure):
    svg = svg_of(figure)
    assert svg == svg_of.__wrapped__(figure)
    assert svg.startswith("<svg ")
    assert svg.count("<svg") == 1
    assert "<metadata" not in svg
    ET.fromstring(svg)


def test_every_number_stands_in_the_figure_and_in_its_words(figure):
    svg, words = svg_of(figure), reproduction_figures.in_words(figure)
    for panel in figure.panels:
        assert panel.title.removeprefix("Mean ").removeprefix("Median ") in words
        for series in panel.series:
            if panel.kind == "steps":
                assert series.name in svg
                continue
            for label, value in zip(panel.labels, series.values, strict=True):
                assert label in svg
                assert reproduction_figures.number(value, panel) in svg
                assert f"{label} {reproduction_figures.number(value, panel)}" in words or len(panel.series) > 1


@pytest.mark.slow
def test_a_file_stands_on_paper(figure):
    root = ET.fromstring(files.file(reproduction_figures.model(figure), ".svg", "one"))
    width = float(root.attrib["viewBox"].split()[2])
    assert width == pytest.approx(style.WIDTH)
    paper = next(path for path in root.iter() if PALETTE["paper"] in path.attrib.get("style", ""))
    ends = [float(number) for number in re.findall(r"[-.\d]+", paper.attrib["d"])]
    assert max(ends) - min(ends) >= width - 1
    assert files.file(reproduction_figures.model(figure), ".png", "one").startswith(b"\x89PNG")


def test_the_page_can_replace_every_colour(figure):
    themed = files.themed(svg_of(figure))
    for name, colour in PALETTE.items():
        assert themed.count(colour) == themed.count(f"var(--{name}, {colour})")


def linear(colour):
    part = np.array([int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)])
    return np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)


def lab(rgb):
    """CIELAB of linear sRGB."""
    to_xyz = [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.072175], [0.0193339, 0.119192, 0.9503041]]
    xyz = np.array(to_xyz) @ np.clip(rgb, 0, 1) / [0.95047, 1, 1.08883]
    x, y, z = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("eyes", SEEN_BY)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_curves_can_be_told_apart_by_colour(eyes, theme):
    hues = {name: (DARK if theme == "dark" else PALETTE)[name] for name in SERIES}
    seen = [lab(np.array(SEEN_BY[eyes]) @ linear(colour)) for colour in hues.values()]
    assert len(seen) == 5
    assert min(float(np.linalg.norm(a - b)) for a, b in itertools.combinations(seen, 2)) > 19


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_curves_stand_out_from_their_paper(theme):
    hues = {name: (DARK if theme == "dark" else PALETTE)[name] for name in SERIES}
    paper = (DARK if theme == "dark" else PALETTE)["paper"]
    luminance = np.array([0.2126, 0.7152, 0.0722])
    for colour in hues.values():
        low, high = sorted(float(linear(one) @ luminance) for one in (colour, paper))
        assert (high + 0.05) / (low + 0.05) >= 3  # what the Web Content Accessibility Guidelines ask of graphics


def test_a_decade_is_as_long_everywhere_on_a_log_axis():
    model = reproduction_figures.model(BARS)
    assert [panel.title for panel in model.panels] == ["HNS", "Records", "Training frames"]
    assert model.groups == (("1M frames", ("Small",)), ("200M frames", ("Quick",)), ("10B frames", ("Large",)))
    at = [value for value, _ in model.panels[0].ticks]
    assert at == pytest.approx([0, 1, 2, 3, 4])
    axes = drawn(BARS).axes[1]
    x = [float(axes.transData.transform((value, 0))[0]) for value in at]
    assert np.diff(x) == pytest.approx(x[1] - x[0])


def test_a_legend_goes_on_below_where_names_do_not_fit():
    names = ["best", "best, on other papers", "best if all count, on papers nobody had read before, nor heard of"]
    panel = CurvePanel(
        "Error", "size", (1, 2), (0, 2), ((1, "1"), (2, "2")), (), (CurveFigure((1.0, 2.0), (2.0, 1.0)),)
    )
    made = files.draw(Curves((panel,), legend=tuple((name, index) for index, name in enumerate(names))))
    FigureCanvasAgg(made).draw()
    box, axes = made.legends[0].get_window_extent(), made.axes[0].get_tightbbox()
    assert box.x0 >= 0
    assert box.x1 <= made.bbox.width
    assert axes.y1 <= box.y0
    assert box.y1 <= made.bbox.height + 1


def test_a_figure_for_a_phone_is_whole_and_legible(figure):
    made = files.draw(reproduction_figures.model(figure), NARROW)
    FigureCanvasAgg(made).draw()
    texts = [found for found in made.findobj(Text) if found.get_visible() and found.get_text().strip()]
    boxes = [found.get_window_extent() for found in texts]
    assert min(box.x0 for box in boxes) >= -1
    assert max(box.x1 for box in boxes) <= made.bbox.width + 1
    assert min(found.get_fontsize() for found in texts) * 358 / NARROW >= 11  # on a phone of 390 pixels
