"""The interface of rliable 1.2 on our statistics: its names, shapes and values, and what it does otherwise.

Values of rliable 1.2.0 were returned by it for these scores once, and stand here.
"""

import inspect
import re
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest

from arcademark.errors import ArcadeMarkError, ArcadeMarkWarning
from arcademark.metrics.uncertainty import resampling
from arcademark.rliable import library, metrics, plot_utils

PAGE = Path(__file__).parents[2] / "docs" / "rliable.md"
NAN = np.nan


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def made_up(a, b, runs):
    task, run = np.arange(19), np.arange(runs)[:, np.newaxis]
    return ((a * task**2 + b * run**2 + 11 * task * run) % 211).astype(np.float64)


X, Y = made_up(37, 61, 5), made_up(41, 83, 4)
FRAMES = np.stack([X, 2 * X, X**2], axis=-1)


def four(scores):
    return np.array([
        metrics.aggregate_median(scores),
        metrics.aggregate_iqm(scores),
        metrics.aggregate_mean(scores),
        metrics.aggregate_optimality_gap(scores, 100),
    ])  # fmt: skip


def test_values_are_rliables():
    assert four(X) == pytest.approx([92.8, 93.89795918367346, 97.85263157894737, 29.315789473684205])
    assert metrics.probability_of_improvement(X, Y) == pytest.approx(0.4355263157894737)
    assert library.run_score_deviation(X, 54) == pytest.approx(0.6526315789473685)
    assert library.mean_score_deviation(X, 92.8) == np.mean(X.mean(axis=0) > 92.8)
    runs = [0.9894736842105263, 0.9263157894736842, 0.6526315789473685, 0.49473684210526314, 0.4842105263157895]
    thresholds = [0, 10, 54, 92.8, 100, 200]
    assert library.score_distributions(X, thresholds).tolist() == pytest.approx([*runs, 0.042105263157894736])


SIGNATURES = {
    library.get_interval_estimates: "score_dict func method task_bootstrap reps confidence_interval_size random_state",
    library.create_performance_profile: "score_dict tau_list use_score_distribution custom_profile_func method "
    "task_bootstrap reps confidence_interval_size",
    metrics.aggregate_optimality_gap: "scores gamma",
    metrics.probability_of_improvement: "scores_x scores_y",
    plot_utils.plot_performance_profiles: "performance_profiles tau_list performance_profile_cis "
    "use_non_linear_scaling ax colors color_palette alpha figsize xticks yticks xlabel ylabel linestyles",
    plot_utils.plot_interval_estimates: "point_estimates interval_estimates metric_names algorithms colors "
    "color_palette max_ticks subfigure_width row_height xlabel_y_coordinate xlabel",
    plot_utils.plot_sample_efficiency_curve: "frames point_estimates interval_estimates algorithms colors "
    "color_palette figsize xlabel ylabel ax labelsize ticklabelsize",
    plot_utils.plot_probability_of_improvement: "probability_estimates probability_interval_estimates pair_separator "
    "ax figsize colors color_palette alpha xticks xlabel left_ylabel right_ylabel",
}


@pytest.mark.parametrize("function", SIGNATURES)
def test_arguments_are_rliables_in_its_order(function):
    names = SIGNATURES[function].split()
    assert list(inspect.signature(function).parameters)[: len(names)] == names


def test_intervals_are_those_of_runs_drawn_for_each_task_apart():
    _, found = library.get_interval_estimates({"x": X}, four, reps=20_000, seed=0)
    runs = X[np.random.default_rng(1).integers(5, size=(20_000, *X.shape)), np.arange(19)]
    tasks, pooled = runs.mean(axis=1), np.sort(runs.reshape(20_000, -1))
    gap = 100 - np.minimum(runs, 100).mean(axis=(1, 2))
    draws = [np.median(tasks, axis=1), pooled[:, 23:-23].mean(axis=1), tasks.mean(axis=1), gap]
    np.testing.assert_allclose(found["x"], np.quantile(draws, [0.025, 0.975], axis=1), rtol=0.02)


FUNCTIONS = [
    four,
    metrics.aggregate_iqm,
    lambda x: [100 * metrics.aggregate_iqm(x) - 1, 1 / metrics.aggregate_mean(x)],
    lambda x: np.sqrt(np.array([metrics.aggregate_mean(x[:2]), metrics.aggregate_mean(x[:, ::2])])),
    lambda x: library.score_distributions(x, [0, 50, 100]),
    lambda x: library.average_score_distributions(x, np.array([100, 50])),
    # what cannot be computed at once, or only seems so
    lambda x: np.sort(four(x)),
    lambda x: four(x) - np.mean(metrics.aggregate_mean(x)),
    lambda x: max(metrics.aggregate_mean(x), metrics.aggregate_median(x)),
    lambda x: np.mean(x > 100),
    lambda x: metrics.aggregate_mean(np.asarray(x)),
    lambda x: sorted(x.flatten())[0],
    lambda x: metrics.aggregate_mean(x[[0, 1, 2]]),
]


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("task_bootstrap", [False, True])
def test_all_resamples_at_once_give_what_each_gives(function, task_bootstrap):
    def of_arrays(scores):
        assert isinstance(scores, np.ndarray)
        return function(scores)

    at_once, each = (
        library.StratifiedBootstrap(X, seed=3, task_bootstrap=task_bootstrap).apply(one, 50)
        for one in (function, of_arrays)
    )
    np.testing.assert_allclose(at_once, each, rtol=1e-12)


def test_pairs_and_frames_at_once_give_what_each_gives():
    def only_arrays(*scores):
        return metrics.probability_of_improvement(*map(np.asarray, scores))

    found = [
        library.StratifiedIndependentBootstrap(X, Y, seed=1).apply(one, 40)
        for one in (metrics.probability_of_improvement, only_arrays)
    ]
    np.testing.assert_array_equal(*found)
    for one in (metrics.aggregate_median, lambda x: [metrics.aggregate_iqm(x[..., k]) for k in range(x.shape[-1])]):
        found = library.StratifiedBootstrap(FRAMES, seed=1).apply(one, 40)
        assert found.shape == (40, 3)
        np.testing.assert_allclose(found[:, 1], 2 * found[:, 0])  # a run is drawn with all its frames


def test_further_axes_are_kept_by_every_aggregate():
    for one in (metrics.aggregate_mean, metrics.aggregate_median, metrics.aggregate_iqm):
        assert one(FRAMES).tolist() == pytest.approx([one(FRAMES[..., k]) for k in range(3)])
    assert metrics.aggregate_optimality_gap(FRAMES, 100).shape == (3,)
    assert metrics.probability_of_improvement(FRAMES, FRAMES).tolist() == [0.5] * 3
    assert library.run_score_deviation(FRAMES, 100) == pytest.approx(np.mean(FRAMES > 100))


def test_resamples_one_by_one():
    z = np.stack([X, X], axis=-1)
    drawn = library.StratifiedBootstrap(X, y=X + 1, z=z, random_state=np.random.RandomState(1))
    for placed, named in drawn.bootstrap(3):
        np.testing.assert_array_equal(X[drawn.index], placed[0])
        np.testing.assert_array_equal(named["y"], placed[0] + 1)
        np.testing.assert_array_equal(z[drawn.index], drawn.z)
        assert all(np.isin(placed[0][:, task], X[:, task]).all() for task in range(19))
    apart = library.StratifiedIndependentBootstrap(X, y=Y, seed=1)
    for placed, named in apart.bootstrap(2):
        np.testing.assert_array_equal(X[apart.index[0][0]], placed[0])
        np.testing.assert_array_equal(Y[apart.index[1]["y"]], named["y"])


def limits(**how):
    return library.get_interval_estimates({"x": X, "y": Y}, four, reps=100, **how)[1]["y"]


def test_seeds_hold():
    for seeded in (
        lambda: {"seed": 1},
        lambda: {"random_state": np.random.default_rng(1)},
        lambda: {"random_state": np.random.RandomState(1)},
    ):
        np.testing.assert_array_equal(limits(**seeded()), limits(**seeded()))
    assert (limits(seed=1) != limits(seed=2)).any()
    state = np.random.RandomState(1)
    assert (limits(random_state=state) != limits(random_state=state)).any()
    found = []
    for _ in range(2):
        np.random.seed(1)  # noqa: NPY002
        found += [limits(), library.create_performance_profile({"x": X}, [100], reps=50)[1]["x"]]
    np.testing.assert_array_equal(found[0], found[2])
    np.testing.assert_array_equal(found[1], found[3])
    assert (limits() != limits()).any()


def test_missing_runs_are_left_out_and_said():
    holed = X.copy()
    holed[3:, 0] = holed[0, 5] = NAN
    with pytest.warns(ArcadeMarkWarning, match="3 of 95 scores are missing"):
        values = four(holed)
    assert values[2] == pytest.approx(np.nanmean(np.nanmean(holed, axis=0)))
    with pytest.warns(ArcadeMarkWarning, match="3 of 95") as said:
        points, found = library.get_interval_estimates({"x": holed}, four, reps=2000, seed=0)
    assert len({str(one.message) for one in said}) == 1
    np.testing.assert_array_equal(points["x"], values)
    assert (found["x"][0] < values).all()
    assert (values < found["x"][1]).all()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ArcadeMarkWarning)
        for placed, _ in library.StratifiedBootstrap(holed, seed=0).bootstrap(20):
            np.testing.assert_array_equal(np.isnan(placed[0]).sum(axis=0), np.isnan(holed).sum(axis=0))
            assert np.isin(placed[0][:3, 0], holed[:3, 0]).all()
        with pytest.raises(ArcadeMarkError, match="returned NaN; 3 scores are missing"):
            library.get_interval_estimates({"x": holed}, lambda x: x.mean(), reps=10)
        pair = metrics.probability_of_improvement(holed[:, :2], Y[:, :2])
    assert pair == pytest.approx(metrics.probability_of_improvement(X[:3, :1], Y[:, :1]) / 2 + np.mean(
        [(x > y) + (x == y) / 2 for x in X[:, 1] for y in Y[:, 1]]) / 2)  # fmt: skip


def test_methods():
    found = {
        method: library.get_interval_estimates({"x": X}, metrics.aggregate_mean, method, reps=4000, seed=1)[1]["x"]
        for method in ("percentile", "basic", "bc", "debiased", "bca")
    }
    value = metrics.aggregate_mean(X)
    np.testing.assert_allclose(found["basic"], 2 * value - found["percentile"][::-1])
    np.testing.assert_array_equal(found["bc"], found["debiased"])
    for interval in found.values():
        assert interval[0, 0] < value < interval[1, 0]


def test_bca_is_scipys_where_there_is_one_task():
    from scipy.stats import bootstrap

    runs = np.random.default_rng(0).lognormal(0, 1, (15, 1))
    found = library.get_interval_estimates({"x": runs}, metrics.aggregate_mean, "bca", reps=9_999, seed=1)[1]["x"]
    scipys = bootstrap((runs[:, 0],), np.mean, method="BCa", vectorized=True, rng=np.random.default_rng(2))
    np.testing.assert_allclose(found[:, 0], scipys.confidence_interval, rtol=0.03)


def test_bca_leaves_out_a_run_of_one_of_two_arrays_that_are_drawn_apart():
    """As many runs of both make no pairs: the order of the second one's says nothing."""
    x, y = (np.random.default_rng(seed).lognormal(0, 1, (12, 1)) for seed in (0, 1))

    def difference(one, other):
        return np.atleast_1d(one.mean() - other.mean())

    def accelerated(kind, *arrays):
        bootstrap = kind(*arrays)
        return resampling._acceleration(bootstrap._caller(difference), bootstrap._arrays, bootstrap._paired)

    independent = library.StratifiedIndependentBootstrap
    both = [accelerated(independent, x, order) for order in (y, y[::-1])]
    assert both[0] == pytest.approx(both[1])
    parts = [one - one.mean() for one in (x[:, 0], -y[:, 0])]  # Efron and Tibshirani 1993, (14.15), of two samples
    cubes, squares = (sum(np.sum(part**power) for part in parts) for power in (3, 2))
    assert both[0] == pytest.approx(cubes / (6 * squares**1.5))
    pairs = [accelerated(library.StratifiedBootstrap, x, order) for order in (y, y[::-1])]
    assert pairs[0] != pytest.approx(pairs[1])


def test_a_value_that_no_run_changes_has_an_interval_of_itself():
    for method in ("percentile", "basic", "bc", "bca"):
        found = library.create_performance_profile({"x": X}, [-1, 1000], method=method, reps=50)[1]["x"]
        assert found.tolist() == [[1, 0], [1, 0]]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: metrics.aggregate_mean([1.0, 2.0]), r"expected scores of shape \(runs, tasks, …\)"),
        (lambda: metrics.aggregate_mean([["a", "b"]]), "expected an array of numbers"),
        (lambda: metrics.aggregate_iqm(np.empty((0, 3))), "one or more"),
        (lambda: metrics.probability_of_improvement(X, Y[:, :3]), "of the same tasks"),
        (lambda: limits(method="bcs"), "did you mean 'bc' or 'bca'"),
        (lambda: limits(confidence_interval_size=95), "between 0 and 1"),
        (lambda: limits(seed=-1), "an int of 0 or more"),
        (lambda: limits(seed=1, random_state=1), "only one of them"),
        (lambda: library.get_interval_estimates({"x": X}, four, reps=0), "expected 1 or more"),
        (lambda: library.get_interval_estimates({"x": X}, lambda x: x), "returned shape"),
        (lambda: library.get_interval_estimates({"x": (X, Y)}, lambda x, y: 0, task_bootstrap=True), "of one array"),
        (lambda: library.StratifiedBootstrap(), "expected arrays of scores"),
        (lambda: library.StratifiedBootstrap(X, data=X), "named like an attribute"),
        (lambda: library.StratifiedBootstrap(X[:1]).conf_int(four, 5, "bca"), "2 runs or more"),
        (lambda: plot_utils.plot_probability_of_improvement({"x_y": 0.5}, {"x_y": [0, 1]}), "pairs such as 'X,Y'"),
        (lambda: plot_utils.plot_performance_profiles({"x": [1, 0]}, [0, 1], color_palette="colourblind"), "palette"),
    ],
)  # fmt: skip
def test_what_is_refused(call, message):
    with pytest.raises(ArcadeMarkError, match=message):
        call()


def texts(labels):
    return [label.get_text() for label in labels]


def test_figure_of_intervals():
    points, intervals = library.get_interval_estimates({"A": X, "B": Y}, four, reps=50, seed=1)
    figure, axes = plot_utils.plot_interval_estimates(points, intervals, ["Median", "IQM", "Mean", "Gap"], ["B", "A"])
    assert [one.get_title() for one in axes] == ["Median", "IQM", "Mean", "Gap"]
    assert texts(axes[0].get_yticklabels()) == ["B", "A"]
    assert texts(axes[1].get_yticklabels()) == []
    bar = axes[2].patches[0]
    assert [bar.get_x(), bar.get_x() + bar.get_width()] == pytest.approx(intervals["B"][:, 2])
    figure, alone = plot_utils.plot_interval_estimates({"A": [1]}, {"A": np.array([[0], [2]])}, ["IQM"])
    assert alone.get_title() == "IQM"
    assert figure.texts[0].get_text() == "Normalized Score"


def test_figure_of_profiles():
    taus = np.linspace(0, 200, 21)
    profiles, intervals = library.create_performance_profile({"A": X, "B": Y}, taus, reps=50, seed=1)
    axes = plot_utils.plot_performance_profiles(
        profiles, taus, intervals, linewidth=3, legend=True, color_palette="deep"
    )
    assert [line.get_linewidth() for line in axes.lines] == [3, 3]
    assert len(axes.collections) == 2
    bent = plot_utils.plot_performance_profiles(
        profiles, taus, performance_profile_cis=intervals, use_non_linear_scaling=True, xticks=[0.0, 100.0],
        colors={"A": "red", "B": "blue"}, ax=plt.subplots()[1],
    )  # fmt: skip
    assert texts(bent.get_xticklabels()) == ["0.0", "100.0"]
    assert bent.get_xticks().tolist() == pytest.approx(1 - (profiles["A"] + profiles["B"])[[0, 10]] / 2)
    assert bent.lines[0].get_color() == "red"


def test_figure_of_efficiency_and_of_improvement():
    points, intervals = library.get_interval_estimates({"A": FRAMES}, metrics.aggregate_iqm, reps=20, seed=1)
    axes = plot_utils.plot_sample_efficiency_curve([1, 2, 3], points, intervals, color_palette="viridis")
    assert axes.lines[0].get_ydata().tolist() == points["A"].tolist()
    pairs = {"A,B": (X, Y), "B,A": (Y, X)}
    found = library.get_interval_estimates(pairs, metrics.probability_of_improvement, reps=20, seed=1)
    axes = plot_utils.plot_probability_of_improvement(*found, colors=["red", "blue"], xticks=[0.4, 0.5])
    assert texts(axes.get_yticklabels()) == ["A", "B"]
    assert texts(axes.figure.axes[1].get_yticklabels()) == ["B", "A"]


def test_the_page(capsys):
    for block in re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), flags=re.DOTALL):
        exec(block, {})
    printed = capsys.readouterr().out.splitlines()
    assert printed
    said = re.findall(r"print\(.*\)  # (.*)", PAGE.read_text("utf-8"))
    assert printed == said
