"""Fits behind predictions of Atari games: read from shipped files, or fitted to the catalogue.

``data/<suite>.npz`` contains the fits to the shipped catalogue, and a checksum of the data they were made from. With
other data the fits are computed again. ``python bench/fits.py`` writes the files.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Mapping
from dataclasses import replace
from importlib.resources import files

import numpy as np

from arcademark.analysis import published
from arcademark.analysis.measures import hns
from arcademark.catalogue import collections, reading
from arcademark.subset.predict.any_tasks import Calibration, Trained, train
from arcademark.subset.predict.joint import Joint
from arcademark.suite import tables
from arcademark.suite.tasks import suite

SUITES = ("atari-57", "atari-100k")
"""Suites whose fits are shipped."""
CALIBRATION = Calibration(guaranteed=False, least_share=0.58)
"""Measured on held-out papers of the catalogue (``bench/estimates.py``): 90 % intervals that counted one more paper
as missed would cover 93 % of their medians. Errors are 1.11 times as large if five games are chosen again without each
paper, 1.04 times for ten; from such games intervals cover 89 % with this bound, 87 % without."""
CATALOGUE, SUITE = ("sources.toml", "checkpoints.csv"), ("suites.toml", "references.csv", "aliases.csv")
"""The files that fits depend on, besides the catalogue's entries and scores."""


def checksum() -> str:
    """Return a checksum of the shipped data that fits are made from, by the files' own checksums."""
    folder = reading.data_directory()
    parts = ((folder, CATALOGUE), (folder / "entries", ()), (folder / "scores", ()), (tables.data_directory(), SUITE))
    lines = (
        line
        for place, names in parts
        for line in (place / tables.CHECKSUMS).read_text(encoding="utf-8").splitlines()
        if not names or line.split()[1] in names
    )
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def load(name: str) -> tuple[Trained, Mapping[str, str]]:
    """Return the fits of a suite, and groups by the names of algorithms: as shipped, else computed again."""
    if name in SUITES:
        content = tables.read_bytes(f"{name}.npz", files("arcademark.analysis.subsets") / "data")
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            if arrays["made_from"] == checksum():
                return _unpacked({field: arrays[field] for field in arrays.files})
    return fit(name)


def fit(name: str) -> tuple[Trained, Mapping[str, str]]:
    """Fit the distributions of a suite to the catalogue's algorithms: to all, and without each paper.

    The algorithms are those of `published.training`; errors are also learnt from `published.weak`.
    """
    entries, (weak, scores) = published.training(name), published.weak(name)
    table = collections.table(entries).select(tasks=suite(name).tasks)
    percent = hns(np.vstack([table.mean_over_runs(), scores]), table.tasks)
    papers = [entry.origin.key for entry in (*entries.values(), *weak)]
    known = {(entry.collection, entry.algorithm): name for name, entry in collections.select().items()}
    names = (*table.algorithms, *(known[entry.collection, entry.algorithm] for entry in weak))
    trained = train(percent, names, table.tasks, papers, fitted=np.arange(len(names)) < len(entries))
    everyone = sorted((*entries.values(), *weak), key=lambda entry: (entry.year, bool(entry.same_as)), reverse=True)
    bare = {name.lower(): one.origin.key for one in everyone for name in (one.identity, one.algorithm)}
    return replace(trained, calibration=CALIBRATION), bare


def packed(trained: Trained, named: Mapping[str, str]) -> bytes:
    """Return the content of a file; inverse covariances are lower triangles in 32 bits, that of all papers first."""
    joints, content = (trained.joint, *trained.without.values()), io.BytesIO()
    triangle = np.tril_indices(len(trained.joint.tasks))
    np.savez_compressed(
        content,
        made_from=np.array(checksum()),
        tasks=np.array(trained.joint.tasks),
        left_out=np.array(trained.left_out, str),
        algorithms=np.array(trained.algorithms),
        groups=np.array(trained.groups),
        names=np.array([*named]),
        papers=np.array([*named.values()]),
        without=np.array([*trained.without]),
        percent=trained.percent,
        fitted=trained.fitted,
        counts=np.array([joint.n for joint in joints]),
        means=np.array([joint.mean for joint in joints]),
        precisions=np.array([joint.precision[triangle] for joint in joints], np.float32),
    )
    return content.getvalue()


def _unpacked(arrays: Mapping[str, np.ndarray]) -> tuple[Trained, Mapping[str, str]]:
    texts = {name: tuple(array.tolist()) for name, array in arrays.items() if array.dtype.kind == "U" and array.shape}
    triangle, joints = np.tril_indices(len(texts["tasks"])), []
    for mean, lower, count in zip(arrays["means"], arrays["precisions"], arrays["counts"].tolist(), strict=True):
        precision = np.empty((len(mean), len(mean)))
        precision[triangle] = precision.T[triangle] = lower
        joints.append(Joint(texts["tasks"], mean, np.asarray(np.linalg.inv(precision)), precision, count))
    without = dict(zip(texts["without"], joints[1:], strict=True))
    trained = Trained(
        joint=joints[0],
        percent=arrays["percent"],
        algorithms=texts["algorithms"],
        groups=texts["groups"],
        without=without,
        transform="log10",
        left_out=texts["left_out"],
        fitted=arrays["fitted"],
        calibration=CALIBRATION,
    )
    return trained, dict(zip(texts["names"], texts["papers"], strict=True))
