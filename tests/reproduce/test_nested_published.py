"""The errors on papers left out that stand beside the published models are what the search measures."""

import numpy as np
import pytest

from arcademark.analysis.subsets import predictors
from arcademark.catalogue import collections
from arcademark.reproduce.atari5 import data as data
from arcademark.subset.predict.model import from_subset
from arcademark.subset.problem import log10_score
from arcademark.subset.search import plan
from arcademark.subset.studies.validate import nested
from arcademark.suite.subsets import LEVEL, subset


@pytest.fixture(scope="module")
def measured():
    """Of the plan's first steps, which Atari-5, Atari-3 and Atari-1 come from."""
    entries = collections.entries(data.COLLECTION)
    papers = {entry.algorithm: entry.paper.key if entry.paper else entry.algorithm for entry in entries}
    steps = plan.ATARI_5[:3]
    return nested(
        data.problem(),
        papers,
        lambda problem: {name: found.best for name, found in plan.follow(problem, steps, top=1).items()},
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", ["1", "3", "5"])
def test_published_models_have_the_errors_that_a_search_measures(measured, name):
    kept, found = subset(f"atari-{name}").nested, measured[name]
    assert (kept.mean, kept.median, kept.worst) == pytest.approx((found.mean, found.median, found.worst), abs=6e-4)
    assert kept.n == len(found.held_out)
    errors = sorted(found.errors())
    assert [len(sizes) for sizes in kept.errors] == [len(sizes) for sizes in errors]
    assert np.concatenate(kept.errors) == pytest.approx(np.concatenate(errors), abs=6e-5)
    assert subset(f"atari-{name}").log_error < kept.mean


@pytest.mark.slow
def test_what_is_said_of_atari_5_holds(measured):
    found = measured["5"]
    assert found.worst_algorithm == "CGP"
    assert sum(win.times for win in found.winners) == 33
    assert (set(found.winners[0].tasks), found.winners[0].times) == (set(data.ATARI_5), 21)
    (coverage,) = (one for one in found.intervals if one.level == LEVEL)
    assert (coverage.inside, coverage.of) == (41, 43)


@pytest.mark.parametrize("name", data.PUBLISHED)
def test_papers_that_its_table_does_not_have_are_predicted_as_is_said(name):
    known = {entry.paper for entry in collections.entries(data.COLLECTION)}
    trained, model = predictors.atari().trained, from_subset(subset(name))
    places = [trained.joint.tasks.index(task) for task in model.tasks]
    entries, found = collections.select(), {}
    rows = zip(trained.algorithms, trained.groups, trained.percent, trained.fitted, strict=True)
    for algorithm, group, row, fitted in rows:
        if (
            fitted
            and (entries[algorithm].paper or entries[algorithm].source) not in known
            and np.isfinite(row[places]).all()
            and np.isfinite(row).sum() >= 55
        ):
            values = log10_score([model.predict(row[places]), np.nanmedian(row)])
            found.setdefault(group, []).append(abs(values[0] - values[1]))
    expected = sorted(sorted(sizes) for sizes in found.values())
    assert [len(sizes) for sizes in subset(name).nested.other_papers] == [len(sizes) for sizes in expected]
    assert np.concatenate(subset(name).nested.other_papers) == pytest.approx(np.concatenate(expected), abs=6e-5)


def test_every_published_model_has_nested_errors():
    assert all(subset(name).nested is not None for name in data.PUBLISHED)
    assert subset("dqn-7").nested is None
