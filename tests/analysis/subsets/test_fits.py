"""What predictions of Atari's games are learnt from is shipped as the catalogue gives it."""

import numpy as np
import pytest

from arcademark.analysis.subsets import fits


@pytest.mark.slow
@pytest.mark.parametrize("name", fits.SUITES)
def test_what_is_shipped_is_what_the_data_give(name):
    (shipped, named), (trained, known) = fits.load(name), fits.fit(name)
    for field in ("algorithms", "groups", "left_out", "transform"):
        assert getattr(shipped, field) == getattr(trained, field)
    assert (shipped.joint.tasks, dict(named)) == (trained.joint.tasks, dict(known))
    assert np.array_equal(shipped.fitted, trained.fitted)
    assert np.array_equal(shipped.percent, trained.percent, equal_nan=True)
    assert shipped.without.keys() == trained.without.keys()
    for one, other in zip(
        (shipped.joint, *shipped.without.values()), (trained.joint, *trained.without.values()), strict=True
    ):
        assert one.n == other.n
        assert one.mean == pytest.approx(other.mean, abs=1e-5)
        assert one.precision == pytest.approx(other.precision, rel=1e-3, abs=1e-3)
        assert one.covariance == pytest.approx(other.covariance, abs=1e-5)


@pytest.mark.parametrize("name", fits.SUITES)
def test_what_is_shipped_is_of_the_data_that_are_shipped(monkeypatch, name):
    """If this fails, run ``python bench/fits.py``."""
    monkeypatch.setattr(fits, "fit", lambda name: pytest.fail(f"{name} has to be fitted anew"))
    assert fits.load(name)[0].joint.n > 100


def test_with_other_data_than_they_were_made_from_fits_are_made_anew(monkeypatch):
    monkeypatch.setattr(fits, "checksum", lambda: "other")
    monkeypatch.setattr(fits, "fit", lambda name: f"fitted to {name}")
    assert fits.load("atari-57") == "fitted to atari-57"


def test_the_data_are_those_of_the_catalogue_and_its_references(monkeypatch, tmp_path):
    before = fits.checksum()
    assert before == fits.checksum()
    (tmp_path / "entries").mkdir()
    (tmp_path / "scores").mkdir()
    for folder in (tmp_path, tmp_path / "entries", tmp_path / "scores"):
        (folder / "SHA256SUMS").write_text("0  checkpoints.csv\n", encoding="utf-8")
    monkeypatch.setattr(fits.reading, "data_directory", lambda: tmp_path)
    assert fits.checksum() != before
