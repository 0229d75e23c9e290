"""What documents say of their intervals, taken at its word: each is computed again from its sentence alone."""

import dataclasses
import itertools
import math
import re
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from arcademark.analysis.measures import atari
from arcademark.analysis.scoring.analysis import analyse
from arcademark.analysis.scoring.compare import compare_tables
from arcademark.operations import robustness as module
from arcademark.scores.runs import collect, score_run
from arcademark.suite import references
from arcademark.suite.tasks import game_name
from made_up import ATARI_5, OWN_AGENT, collected, made_up_run, trained

OVERS = ("runs of ", "the episodes of the only run of ", "the episodes of all seeds of ")
CLAUSE = re.compile(
    rf"({'|'.join(OVERS)})(.+?)(?= \(without the variation between runs\)|, which w|; (?:{'|'.join(OVERS)})|$)"
)


def sentences(document):
    """By number that has an interval, the words on its method, and the clauses on what it is over."""
    texts = [*getattr(document, "methods", ()), *(item.text for item in document.notices if item.kind == "intervals")]
    found = [match for text in texts for match in re.findall(r"Intervals are 95\N{NO-BREAK SPACE}%: (.*)", text)]
    assert found
    said = [method_of(text) for text in found]
    assert all(one == said[0] for one in said)  # the method for a paper is the note's
    return said[0]


def method_of(text):
    body, _, shared = text.partition(". They are over ")
    said = {}
    for part in re.split(r"; (?=stratified|Student)", body.partition(". ")[0]):
        how, _, over = part.partition(", over ")
        method, _, numbers = re.sub(r"\(seed \d+\) ", "", how).partition(" for ")
        for number in ("score", "summaries", "differences", "improvement", "profiles", "estimate"):
            if number in numbers:
                said[number] = method, CLAUSE.findall((over or shared).partition(". ")[0].rstrip("."))
    return said


def said_over(clauses, name, game):
    """What an algorithm's interval is over: "runs", "episodes" of the only run, or "all" episodes."""
    (found,) = {
        over
        for over, whose in clauses
        if name in re.split(", | and ", whose.partition(" on ")[0])
        and (" on " not in whose or game_name(game) in whose.partition(" on ")[2])
    }
    return found


def values(record, name, game, over):
    """The values that a clause names, from the run itself."""
    trials = [trial for trial in record.trials if (trial.agent, trial.game) == (name, game)]
    seeds = [scores for trial in trials if (scores := record.scored_episodes(trial).score).size]
    if over == "runs of ":
        return np.array([scores.mean() for scores in seeds])
    return np.concatenate(seeds)


def students(sample):
    """A mean and half the width of its 95 % interval."""
    return sample.mean(), stats.t.ppf(0.975, sample.size - 1) * sample.std(ddof=1) / math.sqrt(sample.size)


def of_mean(samples, games):
    """The mean HNS and half the width of its interval, as the variance of a sum of independent means has it."""
    low, high = references.scores("random"), references.scores("human")
    scaled = [100 * sample / (high[game] - low[game]) / len(games) for sample, game in zip(samples, games, strict=True)]
    variances = [sample.var(ddof=1) / sample.size for sample in scaled]
    degrees = sum(variances) ** 2 / sum(v**2 / (s.size - 1) for v, s in zip(variances, scaled, strict=True))
    return stats.t.ppf(0.975, degrees) * math.sqrt(sum(variances))


def network(record):
    record.manifest["agents"][0]["files"] = {"path": "ab" * 32}
    return record


def unfinished(record):
    """Seeds but the first lack one game."""
    lost = [place for place, trial in enumerate(record.trials) if trial.game == "qbert" and trial.seed]
    return dataclasses.replace(record, episodes=record.episodes[~np.isin(record.episodes.trial, lost)])


def learner(directory="runs/learner", seeds=(0, 1, 2), **how):
    return trained(made_up_run(directory, (OWN_AGENT,), seeds=seeds, **how), (30,))


PATHS = {
    "untrained, one seed": lambda: [made_up_run(seeds=(0,))],
    "untrained, two seeds": lambda: [made_up_run()],
    "two untrained": lambda: [made_up_run(agents=("random", OWN_AGENT))],
    "trained, one seed": lambda: [learner(seeds=(0,))],
    "trained, three seeds": lambda: [learner()],
    "trained, on one game once": lambda: [unfinished(learner())],
    "one network, two seeds": lambda: [network(made_up_run(agents=(OWN_AGENT,), seeds=(0, 1)))],
    "trained and untrained": lambda: [learner(), made_up_run()],
    "trained once and untrained": lambda: [learner(seeds=(0,)), made_up_run()],
    "one game": lambda: [made_up_run(games=("qbert",), seeds=(0, 1, 2))],
}


@pytest.mark.parametrize("path", PATHS)
def test_intervals_are_what_the_method_says_they_are(path):
    records = PATHS[path]()
    report = analyse(collected(*records), model="atari-5" if path == "untrained, two seeds" else "any")
    said = sentences(report)
    assert "A run is a seed" in " ".join(report.methods)
    intervals = 0
    for record, item in itertools.product(records, report.algorithms):
        if item.name not in [agent["label"] for agent in record.manifest["agents"]]:
            continue
        overs = {}
        for score in item.scores:
            if score.score.low is None:
                continue
            intervals += 1
            method, clauses = said["score"]
            assert method == "Student's t"
            sample = values(record, item.name, score.game, said_over(clauses, item.name, score.game))
            overs[score.game] = sample
            mean, half = students(sample)
            assert score.score.value == pytest.approx(mean)
            assert score.score.high == pytest.approx(mean + half)
            assert score.score.low == pytest.approx(mean - half) or mean - half < score.score.low <= mean
            assert score.runs == (sample.size if said_over(clauses, item.name, score.game) == "runs of " else 1)
        hns = next(one for one in item.summaries if one.metric == "hns")
        if hns.mean.low is not None and len(overs) == len(item.scores):
            clauses = said["summaries"][1]
            samples = [values(record, item.name, game, said_over(clauses, item.name, game)) for game in overs]
            varying = [sample if sample.size > 1 else np.repeat(sample, 2) for sample in samples]  # one run is held
            assert (hns.mean.high - hns.mean.low) / 2 == pytest.approx(of_mean(varying, [*overs]), rel=0.12)
        assert (hns.mean.low is not None) == any(item.name in whose for _, whose in said.get("summaries", ("", ()))[1])
        if item.estimate and item.estimate.subset == "atari-5":
            assert item.estimate.sampling_low is not None
            check_estimate(record, item, said["estimate"][1])
    assert intervals


def check_estimate(record, item, clauses):
    """The regression of Atari-5 on resampled scores; a mean of many values hardly needs widening."""
    from arcademark.suite.subsets import subset

    low, high = references.scores("random"), references.scores("human")
    rng, total, middle = np.random.default_rng(7), 0.0, 0.0
    for game, coefficient in zip(subset("atari-5").tasks, subset("atari-5").coefficients, strict=True):
        sample = values(record, item.name, game, said_over(clauses, item.name, game))
        drawn = rng.choice(sample, (20_000, sample.size)).mean(axis=1)
        logs = [
            np.log10(1 + np.maximum(0, 100 * (x - low[game]) / (high[game] - low[game])))
            for x in (drawn, sample.mean())
        ]
        total, middle = total + coefficient * logs[0], middle + coefficient * logs[1]
    half = np.quantile(np.abs(10**total - 10**middle), 0.95)
    assert item.estimate.value == pytest.approx(10**middle - 1)
    assert item.estimate.sampling_high - item.estimate.value == pytest.approx(half, rel=0.15)


def test_a_run_is_what_the_method_says_it_is():
    """Seeds with other numbers of episodes: a mean over all of them is not the mean over seeds."""
    record = made_up_run(seeds=(0, 1), games=("qbert",))
    record = dataclasses.replace(record, episodes=record.episodes[np.arange(len(record.episodes)) < 13])
    by_seed = [record.scored_episodes(trial).score for trial in record.trials]
    report = analyse(collected(record), resamples=20)
    assert "all seeds of random are one run, as it was never trained." in report.methods[1]
    assert report.algorithms[0].scores[0].score.value == pytest.approx(np.concatenate(by_seed).mean())
    report = analyse(collected(network(record)), resamples=20)
    assert "all seeds of random are one run, as one network played them." in report.methods[1]
    assert report.algorithms[0].scores[0].score.value == pytest.approx(np.concatenate(by_seed).mean())
    report = analyse(collected(learner := trained(record, (30,))), resamples=20)
    by_seed = [learner.scored_episodes(trial).score for trial in learner.trials]
    assert "one run," not in report.methods[1]
    assert report.algorithms[0].scores[0].score.value == pytest.approx(np.mean([seed.mean() for seed in by_seed]))


@pytest.mark.parametrize("possible", [None, 30])
def test_repeated_episodes_count_as_the_method_says(possible, monkeypatch):
    from arcademark.analysis import cells

    record = made_up_run(
        games=("qbert",), seeds=(0,), scores=lambda *_: [100.0, 300, 100, 250, 125, 300, 300, 75, 50, 0]
    )
    kinds = np.array([0, 1, 0, 2, 3, 1, 1, 4, 5, 6])
    monkeypatch.setattr(cells, "_possible", lambda *_: possible)
    scored = dataclasses.replace(score_run(record), kinds={("random", "qbert"): kinds})
    report = analyse(collect([scored]), resamples=20)
    (text,) = re.findall(r"Of the 10 episodes of random on Q\*bert, (.*?degrees of freedom\.)", report.methods[1])
    assert ("without replacement from the 30" in text) == bool(possible)
    different, shares = np.array([100.0, 300, 250, 125, 75, 50, 0]), np.array([2, 3, 1, 1, 1, 1, 1]) / 10
    factor = np.sum(shares**2) - (1 / possible if possible else 0)
    half = stats.t.ppf(0.975, int(re.findall(r"(\d+) degrees", text)[0])) * different.std(ddof=1) * math.sqrt(factor)
    score = report.algorithms[0].scores[0].score
    assert (score.value, score.high) == pytest.approx((different @ shares, different @ shares + half))


def tabled(tmp_path, rows, header="algorithm,game,run,score"):
    path = tmp_path / "scores.csv"
    path.write_text("\n".join([header, *(",".join(map(str, row)) for row in rows)]))
    return path


def test_tables_say_what_their_intervals_are_over(tmp_path):
    rng = np.random.default_rng(1)
    runs = {(name, game): rng.normal(1000, 100, 4) for name in ("A", "B") for game in ("qbert", "asterix")}
    episodes = {game: rng.normal(1000, 100, 12) for game in ("qbert", "asterix")}
    rows = [(*cell, run, 0, score) for cell, scores in runs.items() for run, score in enumerate(scores)]
    rows += [("C", game, 0, place, score) for game, scores in episodes.items() for place, score in enumerate(scores)]
    report = analyse(tabled(tmp_path, rows, "algorithm,game,run,episode,score"))
    clauses = sentences(report)["score"][1]
    for item in report.algorithms:
        for score in item.scores:
            over = said_over(clauses, item.name, score.game)
            sample = episodes[score.game] if over == "the episodes of the only run of " else runs[item.name, score.game]
            mean, half = students(sample)
            assert (score.score.low, score.score.high) == pytest.approx((mean - half, mean + half))
    assert {over for over, _ in sentences(report)["summaries"][1]} == {"runs of "}


def test_a_table_of_means_has_no_word_of_intervals():
    report = analyse({"A": {"qbert": 1000.0, "asterix": 900.0}})
    assert report.intervals.methods == ()
    assert not [item for item in report.notices if "Student" in item.text or "bootstrap" in item.text]


def test_comparisons_say_what_their_intervals_are_over():
    records = [learner(), learner("runs/other", seeds=(3, 4, 5)), made_up_run()]
    records[1] = dataclasses.replace(
        records[1], trials=tuple(dataclasses.replace(trial, agent="other") for trial in records[1].trials)
    )
    records[1].manifest["agents"][0]["label"] = "other"
    comparison = compare_tables(collected(*records))
    said = sentences(comparison)
    assert "score" not in said
    by_name = dict(zip((OWN_AGENT, "other", "random"), records, strict=True))
    checked = 0
    for pair in comparison.pairs:
        difference = next(
            item.difference for item in pair.summaries if (item.metric, item.statistic) == ("hns", "mean")
        )
        samples = [
            values(by_name[name], name, game, said_over(said["differences"][1], name, game))
            for name in (pair.first, pair.second)
            for game in ATARI_5
        ]
        half = (difference.high - difference.low) / 2
        assert half == pytest.approx(of_mean(samples, [*ATARI_5, *ATARI_5]) * 2, rel=0.12)  # each of 5 games, not of 10
        checked += 1
        assert (pair.improvement.low is not None) == all(
            any(name in whose for _, whose in said["improvement"][1]) for name in (pair.first, pair.second)
        )
    assert checked == 3
    assert {over for over, _ in said["profiles"][1]} == {"runs of "}
    banded = {item.algorithm for item in comparison.profiles if item.low is not None}
    assert banded == {name for name in by_name if any(name in whose for _, whose in said["profiles"][1])}


@pytest.mark.parametrize(
    ("by_seed", "once", "said"),
    [
        (False, (), "the episodes of all seeds"),
        (True, (), "seeds"),
        (True, ("pong",), "seeds; on Pong, with one seed, over its episodes"),
        (True, ("pong", "qbert"), "the episodes of the only seed"),
    ],
)
def test_what_robustness_loses_has_the_interval_that_its_page_names(by_seed, once, said):
    games, rng = ("pong", "qbert"), np.random.default_rng(3)
    over = module.Robustness.over.fget(SimpleNamespace(by_seed=by_seed, one_seed_games=once, games=games))
    assert over == said
    span = {game: atari()["hns"].high[game] - atari()["hns"].low[game] for game in games}
    scores = {
        (game, name): {seed: rng.normal(size=8) * span[game] for seed in range(1 if game in once else 6)}
        for game in games
        for name in (module.BASE, "variant")
    }
    found = module._lost([[(game, "variant") for game in games]], scores, atari()["hns"], apart=by_seed)
    variances, degrees = [], []
    for game in games:
        base, other = ([*scores[game, name].values()] for name in (module.BASE, "variant"))
        by_episode = over.startswith("the episodes") or f"on {game_name(game)}," in over
        samples = [np.concatenate(base), np.concatenate(other)]
        if not by_episode:
            samples = [np.mean(base, axis=1) - np.mean(other, axis=1)]
        for sample in samples:
            variances.append((50 / span[game]) ** 2 * sample.var(ddof=1) / sample.size)
            degrees.append(sample.size - 1)
    freedom = sum(variances) ** 2 / sum(one**2 / many for one, many in zip(variances, degrees, strict=True))
    half = stats.t.ppf(0.975, freedom) * math.sqrt(sum(variances))
    assert (found.high - found.low) / 2 == pytest.approx(half, rel=0.12)
