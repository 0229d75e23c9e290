"""Values on features that are numbered as they are met: to the last bit those on all features."""

import numpy as np
import pytest

from arcademark.agents.linear import saved
from arcademark.agents.linear.binary import BinaryValues
from arcademark.agents.linear.numbered import NumberedValues
from arcademark.features.base import Change

FEATURES, ACTIONS = 300, 4


def play(several, rng, steps) -> None:
    """Do the same random things to all of them."""
    x = np.zeros(FEATURES, bool)
    for step in range(steps):
        flips = rng.random(FEATURES) < (0.3 if step == 0 else 0.05)
        change = Change(*(np.flatnonzero(flips & part).astype(np.int32) for part in (~x, x)))
        x ^= flips
        action, amount = int(rng.integers(ACTIONS)), float(rng.normal())
        for values in several:
            if step == 0:
                values.begin(change)
                continue
            values.take(action)
            values.see(change)
            values.update(amount)
    for values in several:
        values.end()


def make(rows=1) -> NumberedValues:
    return NumberedValues(FEATURES, ACTIONS, 0.9, 0.01, rows=rows)


@pytest.mark.slow
def test_values_and_weights_are_those_on_all_features():
    numbered, every = make(), BinaryValues(FEATURES, ACTIONS, 0.9, 0.01)
    rng = np.random.default_rng(5)
    for steps in (1, 2, 40, 90):
        play([numbered, every], rng, steps)
        assert numbered.values.tolist() == every.values.tolist()
        weights = np.zeros_like(every.weights)
        weights[numbered.features] = numbered.weights[: len(numbered.features)]
        assert weights.tolist() == every.weights.tolist()
    assert 100 < len(numbered.features) <= FEATURES


def test_restored_weights_go_on_to_the_last_bit():
    numbered = make()
    play([numbered], np.random.default_rng(2), 60)
    other = make()
    play([other], np.random.default_rng(9), 30)
    order = np.argsort(numbered.features)
    other.restore(numbered.features[order], numbered.weights[: len(order)][order])
    play([numbered, other], np.random.default_rng(3), 80)
    assert numbered.values.tolist() == other.values.tolist()
    rows = {feature: row.tolist() for feature, row in zip(numbered.features.tolist(), numbered.weights, strict=False)}
    assert rows == {feature: row.tolist() for feature, row in zip(other.features.tolist(), other.weights, strict=False)}


def test_features_that_were_never_met_have_no_value():
    numbered = make()
    play([numbered], np.random.default_rng(2), 3)
    met = numbered.features[:2].copy()
    new = np.array([n for n in range(FEATURES) if n not in set(numbered.features.tolist())][:2], np.int32)
    reader, none = numbered.reader(), np.empty(0, np.int32)
    reader.begin(Change(np.append(met, new).astype(np.int32), none))
    expected = numbered.weights[:2, :ACTIONS].sum(axis=0, dtype=float)
    assert expected.any()
    np.testing.assert_allclose(reader.values, expected, atol=1e-6)
    reader.see(Change(none, np.append(new, met[:1]).astype(np.int32)))
    np.testing.assert_allclose(reader.values, numbered.weights[1, :ACTIONS], atol=1e-6)
    assert len(numbered.features) + 2 <= FEATURES
    assert not np.isin(new, numbered.features).any()


def test_what_is_saved_does_not_depend_on_the_numbering():
    numbered, every = make(), BinaryValues(FEATURES, ACTIONS, 0.9, 0.01)
    play([numbered, every], np.random.default_rng(4), 70)
    kept = saved.pack({"of": "all"}, every.weights)
    assert saved.pack({"of": "all"}, numbered.weights, numbered.features) == kept
    header, features, weights = saved.unpack(kept, {"of": "all"}, FEATURES, (18,), np.dtype(np.float32))
    for other in (make(), BinaryValues(FEATURES, ACTIONS, 0.9, 0.01)):
        other.restore(features, weights)
        assert saved.pack(header, other.weights, other.features) == kept


def test_bad_features_are_refused():
    numbered = make()
    play([numbered], np.random.default_rng(2), 3)
    before = numbered.features.tolist(), numbered.weights.tolist()
    with pytest.raises(ValueError, match="numbered"):
        numbered.restore(np.array([3, FEATURES], np.int32), np.zeros((2, 18), np.float32))
    assert (numbered.features.tolist(), numbered.weights.tolist()) == before
