"""What predictions of Atari's games are learnt from: read as it was fitted, or fitted to the catalogue.

``data/<suite>.json`` holds the fits to the catalogue as it is shipped, and a checksum of what they were made from. With
other data they are made anew. ``python bench/fits.py`` writes the files.
"""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from collections.abc import Mapping
from importlib.resources import files
from types import MappingProxyType

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from arcademark.catalogue import collections, reading
from arcademark.metrics import normalise
from arcademark.reports import published
from arcademark.subset.predict.any_tasks import Trained, train
from arcademark.subset.predict.joint import Joint
from arcademark.subset.problem import Floats
from arcademark.suite import references, tables
from arcademark.suite.tasks import suite

SUITES = ("atari-57", "atari-100k")
"""Whose fits are shipped."""
USED = {"catalogue": ("sources.toml", "checkpoints.csv"), "suite": ("suites.toml", "references.csv", "aliases.csv")}
"""What is learnt from, besides the catalogue's entries and scores."""


class Fits(msgspec.Struct, forbid_unknown_fields=True):
    """A `Trained` as a file holds it.

    made_from: The `checksum` of the data.
    tasks, left_out, algorithms, groups, fitted: As in `Trained`.
    named: Groups by names in lower case that algorithms go by, in the catalogue or elsewhere.
    percent: As in `Trained`; like other arrays deflated, in base 64.
    without: The groups that a distribution each is without, in the order of arrays after that of all.
    counts: How many algorithms each distribution was fitted to.
    means: By distribution and task.
    precisions: By distribution, the lower triangle of the inverse covariance, to 32 bits.
    """

    made_from: str
    tasks: tuple[str, ...]
    left_out: tuple[str, ...]
    algorithms: tuple[str, ...]
    groups: tuple[str, ...]
    fitted: tuple[bool, ...]
    named: dict[str, str]
    without: tuple[str, ...]
    counts: tuple[int, ...]
    percent: str
    means: str
    precisions: str


def checksum() -> str:
    """Return a checksum of the shipped data that fits are made from, by the files' own checksums."""
    catalogue, own = reading.data_directory(), tables.data_directory()
    parts = {catalogue: USED["catalogue"], catalogue / "entries": None, catalogue / "scores": None, own: USED["suite"]}
    lines = (
        line
        for folder, names in parts.items()
        for line in (folder / tables.CHECKSUMS).read_text(encoding="utf-8").splitlines()
        if names is None or line.split()[1] in names
    )
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def load(name: str) -> tuple[Trained, Mapping[str, str]]:
    """Return what is learnt of a suite, and groups by the names of algorithms: as shipped, else fitted."""
    folder = files("arcademark.reports.subsets") / "data"
    if name in SUITES:
        fits = msgspec.json.decode(tables.read_text(f"{name}.json", folder), type=Fits)
        if fits.made_from == checksum():
            return _unpacked(fits)
    return fit(name)


def fit(name: str) -> tuple[Trained, Mapping[str, str]]:
    """Fit the distributions of a suite to the catalogue's algorithms: to all, and without each paper.

    `arcademark.reports.published.training` says to which; errors are learnt from `arcademark.reports.published.weak` as
    well.
    """
    low, high = references.scores("random"), references.scores("human")
    entries, (weak, scores) = published.training(name), published.weak(name)
    table = collections.table(entries).select(tasks=suite(name).tasks)
    percent = normalise.hns(np.vstack([table.mean_over_runs(), scores]), low, high, table.tasks)
    papers = [entry.origin.key for entry in (*entries.values(), *weak)]
    known = {(entry.collection, entry.algorithm): name for name, entry in collections.select().items()}
    names = (*table.algorithms, *(known[entry.collection, entry.algorithm] for entry in weak))
    trained = train(percent, names, table.tasks, papers, fitted=np.arange(len(names)) < len(entries))
    everyone = sorted((*entries.values(), *weak), key=lambda entry: (entry.year, bool(entry.same_as)), reverse=True)
    bare = {name.lower(): one.origin.key for one in everyone for name in (one.identity, one.algorithm)}
    return trained, MappingProxyType(bare)


def dumps(trained: Trained, named: Mapping[str, str]) -> str:
    """Return the text of a file."""
    joints = (trained.joint, *trained.without.values())
    triangle = np.tril_indices(len(trained.joint.tasks))
    fits = Fits(
        made_from=checksum(),
        tasks=trained.joint.tasks,
        left_out=trained.left_out,
        algorithms=trained.algorithms,
        groups=trained.groups,
        fitted=tuple(trained.fitted.tolist()),
        named=dict(named),
        without=tuple(trained.without),
        counts=tuple(joint.n for joint in joints),
        percent=_packed(trained.percent, "<f8"),
        means=_packed([joint.mean for joint in joints], "<f8"),
        precisions=_packed([joint.precision[triangle] for joint in joints], "<f4"),
    )
    return json.dumps(msgspec.to_builtins(fits), ensure_ascii=False, indent=0) + "\n"


def _packed(values: ArrayLike, kind: str) -> str:
    return base64.b64encode(zlib.compress(np.asarray(values, dtype=kind).tobytes(), 9)).decode("ascii")


def _read(text: str, kind: str, rows: int) -> Floats:
    return np.frombuffer(zlib.decompress(base64.b64decode(text)), kind).astype(np.float64).reshape(rows, -1)


def _unpacked(fits: Fits) -> tuple[Trained, Mapping[str, str]]:
    size, triangle, many = len(fits.tasks), np.tril_indices(len(fits.tasks)), len(fits.counts)
    means, precisions = _read(fits.means, "<f8", many), _read(fits.precisions, "<f4", many)
    joints = []
    for mean, lower, count in zip(means, precisions, fits.counts, strict=True):
        precision = np.empty((size, size))
        precision[triangle] = precision.T[triangle] = lower
        joints.append(Joint(fits.tasks, mean, np.asarray(np.linalg.inv(precision)), precision, count))
    without = MappingProxyType(dict(zip(fits.without, joints[1:], strict=True)))
    percent = _read(fits.percent, "<f8", len(fits.groups))
    trained = Trained(
        *(joints[0], percent, fits.algorithms, fits.groups, without, "log10", fits.left_out),
        np.array(fits.fitted, dtype=bool),
    )
    return trained, MappingProxyType(fits.named)
