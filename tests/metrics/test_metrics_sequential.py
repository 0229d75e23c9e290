import itertools

import numpy as np
import pytest

from arcademark.errors import ArcadeMarkError
from arcademark.metrics.sequential import SequentialPlan, sequential_test


def found(scores, plan, seed=0):
    return sequential_test(dict(enumerate(scores)), np.random.default_rng(seed), plan)


def slow(scores, plan):
    """Decide by the definition: every permutation of every group, one after the other; boundaries are of means."""
    pairs = list(itertools.combinations(range(len(scores)), 2))
    size, steps, spent = plan.group, {pair: [] for pair in pairs}, 0.0
    deals = list(itertools.combinations(range(2 * size), size))
    past = []
    left = list(pairs)

    def apart(pair, permutation):
        total = 0.0
        for group, first in enumerate(permutation):
            both = [*scores[pair[0]][group * size :][:size], *scores[pair[1]][group * size :][:size]]
            total += sum(score if place in first else -score for place, score in enumerate(both))
        return abs(total)

    for group in range(plan.groups):
        permutations = list(itertools.product(deals, repeat=group + 1))
        kept = [
            one
            for one in permutations
            if all(
                max(apart(pair, one[: place + 1]) for pair in there) <= bound + 1e-9
                for place, (there, bound) in enumerate(past)
                if there
            )
        ]
        allowed = plan.alpha * (group + 1) / plan.groups - spent
        observed = {pair: apart(pair, permutations[0][:1] * (group + 1)) for pair in left}
        while left:
            values = [max(apart(pair, one) for pair in left) for one in kept]
            shares = {b: sum(v > b + 1e-9 for v in values) / len(permutations) for b in values}
            bound = min(b for b, share in shares.items() if share <= allowed + 1e-12)
            most = max(left, key=lambda pair: observed[pair])
            if observed[most] <= bound + 1e-9:
                break
            left.remove(most)
            steps[most].append((bound / size / (group + 1), "decided"))
        spent += shares[bound]
        past.append((list(left), bound))
        last = "equal" if group + 1 == plan.groups else "undecided"
        for pair in left:
            steps[pair].append((bound / size / (group + 1), last))
        if not left:
            break
    return steps


@pytest.mark.parametrize(
    ("plan", "algorithms"),
    [
        (SequentialPlan(2, 2, 0.4), 2),
        (SequentialPlan(2, 3, 0.3), 3),
        (SequentialPlan(3, 2, 0.2), 2),
        (SequentialPlan(3, 1, 0.3), 4),
        (SequentialPlan(3, 2, 0.3), 3),
    ],
)
@pytest.mark.parametrize("whole", [False, True], ids=["scores", "scores that tie"])
def test_decisions_and_boundaries_are_those_of_the_definition(plan, algorithms, whole):
    rng = np.random.default_rng(plan.group * 10 + algorithms)
    kinds = set()
    for _ in range(4):
        scores = list(rng.normal(rng.choice([0, 1.5, 4], (algorithms, 1)), 1.0, (algorithms, plan.group * plan.groups)))
        scores = [np.round(row) for row in scores] if whole else scores
        expected = slow(scores, plan)
        for pair in found(scores, plan)[0]:
            steps = expected[pair.first, pair.second]
            assert [step.boundary for step in pair.steps] == pytest.approx([bound for bound, _ in steps])
            decided = [step.decision if step.decision in ("equal", "undecided") else "decided" for step in pair.steps]
            assert decided == [decision for _, decision in steps]
            kinds.add(pair.decision)
    assert len(kinds) > 1


def test_five_runs_that_all_lie_above_five_others_decide():
    """Two of the 252 ways to deal ten scores are as far apart as those seen: less than 1 %."""
    pair = found([np.arange(5.0) + 10, np.arange(5.0)], SequentialPlan())[0][0]
    assert pair.decision == "larger"
    assert [(step.runs, step.difference) for step in pair.steps] == [(5, 10.0)]
    assert pair.steps[0].boundary == pytest.approx(10 - 2 * 6 / 5)  # 10 and 4 change sides
    mirrored = found([np.arange(5.0), np.arange(5.0) + 10], SequentialPlan())[0][0]
    assert mirrored.decision == "smaller"


def test_runs_that_are_wanted_are_those_of_open_pairs():
    near = np.array([0.0, 1.0, 2.0, 3.0, 4.0])
    pairs, wanted = found([near, near + 0.5, near + 100], SequentialPlan())
    assert [pair.decision for pair in pairs] == ["undecided", "smaller", "smaller"]
    assert wanted == [10, 10, 0]
    pairs, wanted = found([near[:3], near, near], SequentialPlan())
    assert wanted == [5, 5, 5]
    assert all(pair.decision == "undecided" and not pair.steps for pair in pairs)


def test_more_runs_change_nothing_that_was_said_of_fewer():
    scores = list(np.random.default_rng(2).normal(size=(3, 25)))
    for runs in (10, 17, 20):
        whole, part = found(scores, SequentialPlan()), found([row[:runs] for row in scores], SequentialPlan())
        for longer, shorter in zip(whole[0], part[0], strict=True):
            assert shorter.steps
            for one, other in zip(longer.steps, shorter.steps, strict=False):
                assert one == other


def test_drawn_permutations_find_about_the_boundaries_of_all():
    scores = list(np.random.default_rng(4).normal([[0.0], [0.8]], 1.0, (2, 8)))
    every, drawn = (found(scores, SequentialPlan(4, 2, 0.1, permutations))[0][0] for permutations in (4900, 4899))
    assert drawn.decision == every.decision
    assert drawn.steps[0] == every.steps[0]
    assert drawn.steps[1].boundary != every.steps[1].boundary
    assert drawn.steps[1].boundary == pytest.approx(every.steps[1].boundary, rel=0.1)


@pytest.mark.slow
def test_algorithms_that_do_not_differ_are_seldom_told_apart():
    rng, wrong, times = np.random.default_rng(1), 0, 1000
    for _ in range(times):
        wrong += found(list(rng.gamma(0.5, size=(2, 25))), SequentialPlan(permutations=1000))[0][0].decision != "equal"
    assert 0.02 < wrong / times < 0.05 + 3 * np.sqrt(0.05 * 0.95 / times)


def test_what_cannot_be_asked():
    for plan, said in (
        ({"group": 0}, "group 0"),
        ({"groups": 0}, "groups 0"),
        ({"alpha": 1.0}, "alpha 1"),
        ({"group": 2, "groups": 1}, "decide nothing"),
        ({"permutations": 30}, "decide nothing"),
        ({"group": 10**6}, "too many"),
    ):
        with pytest.raises(ArcadeMarkError, match=said):
            SequentialPlan(**plan)
    with pytest.raises(ArcadeMarkError, match="missing or infinite"):
        found([np.array([1.0, np.nan]), np.ones(2)], SequentialPlan())
    with pytest.raises(ArcadeMarkError, match="fewer algorithms"):
        found([np.ones(1)] * 101, SequentialPlan(permutations=10_000))
