import re

import numpy as np
import pytest

from arcademark.reports.figures.files import as_svg, draw
from arcademark.reports.figures.style import PALETTE
from arcademark.reports.runs import figures


def drawn(made, report):
    ((model, _),) = made(report)
    return as_svg(draw(model), made.__name__)


def test_a_longer_bar_is_a_better_score(report_one):
    svg = drawn(figures.standing, report_one)
    shade = PALETTE["series-1"]
    widths = []
    for path in re.findall(rf'<path d="([^"]*)"[^>]*style="fill: {shade}"', svg):
        xs = [float(x) for x in re.findall(r"[ML] ([-\d.]+)", path)]
        widths.append(max(xs) - min(xs))
    scores = [
        abs(float(figures.scale(score.normalised["hns"].value or 0.0))) for score in report_one.algorithms[0].scores
    ]
    assert len(widths) == len(scores) == 5
    assert np.corrcoef(widths, scores)[0, 1] == pytest.approx(1, abs=1e-3)


def test_drawing_leaves_matplotlibs_settings_alone(report_one):
    import matplotlib as mpl

    names = [name for name in mpl.rcParams if name.startswith(("svg.", "font.", "axes."))]
    before = {name: mpl.rcParams[name] for name in names}
    drawn(figures.standing, report_one)
    assert {name: mpl.rcParams[name] for name in names} == before


def test_cut_episodes_are_hollow(report_one):
    svg = drawn(figures.distribution, report_one)
    paper, shade = PALETTE["paper"], PALETTE["series-1"]
    assert len(re.findall(rf"<use [^>]*fill: {paper}", svg)) == 4
    assert len(re.findall(rf"<use [^>]*fill: {shade}", svg)) == 96


def test_too_many_episodes_show_as_boxes(monkeypatch, report_one):
    monkeypatch.setattr(figures, "MOST_DOTS", 99)
    assert "<use" not in drawn(figures.distribution, report_one)
