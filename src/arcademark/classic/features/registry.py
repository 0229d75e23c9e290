"""Feature sets by name.

::

    make_features("basic", env, {"colours": 8}) ─→ BinaryFeatures | CountedFeatures
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from arcademark import plugins
from arcademark.classic.features.base import Features, Observed
from arcademark.classic.features.disco.features import make_disco
from arcademark.classic.features.samples import read_trajectory
from arcademark.classic.features.sets.basic import Basic
from arcademark.classic.features.sets.bass import Bass
from arcademark.classic.features.sets.lsh import Lsh
from arcademark.classic.features.sets.prost import BlobProst, BPros, BProst
from arcademark.classic.features.sets.ram import Ram, RamBits
from arcademark.environments.base import EnvironmentSpec
from arcademark.errors import ArcadeMarkError, UnknownNameError

PLUGINS = "arcademark.features"
"""Group of entry points for feature sets of other packages."""


@dataclass(frozen=True)
class FeatureSet:
    """A kind of features.

    ``factory(env, **parameters)`` makes it for one game; its keyword parameters are the parameters of the feature set.
    `features` is the length of the vector on an Atari 2600 with default parameters, None if it depends on the game.
    """

    name: str
    summary: str
    citation: str
    observed: Observed
    factory: Callable[..., Features]
    features: int | None = None


BELLEMARE_2013 = "Bellemare et al. 2013, The Arcade Learning Environment, Section 3.1.1 and Appendix A"
LIANG_2016 = "Liang et al. 2016, State of the Art Control of Atari Games Using Shallow Reinforcement Learning"

_ALL: tuple[FeatureSet, ...] = (
    FeatureSet(
        "basic", "which of 128 colours occur in which of 16 x 14 tiles", BELLEMARE_2013, "palette", Basic, 28_672
    ),
    FeatureSet(
        "bass", "which of 8 colours occur in which tiles, and all pairs", BELLEMARE_2013, "palette", Bass, 1_606_528
    ),
    FeatureSet("lsh", "random projections of the screen, hashed", BELLEMARE_2013, "palette", Lsh, 100_000),
    FeatureSet("ram-bits", "the bits of the Atari 2600's memory", BELLEMARE_2013, "ram", RamBits, 1_024),
    FeatureSet("ram", "the bits of the Atari 2600's memory, and all pairs", BELLEMARE_2013, "ram", Ram, 524_800),
    FeatureSet(
        "disco",
        "objects of discovered classes: positions, and relative motion of pairs",
        BELLEMARE_2013,
        "palette",
        make_disco,
    ),
    FeatureSet("b-pros", "colours of tiles, and the offsets between them", LIANG_2016, "palette", BPros, 6_885_440),
    FeatureSet("b-prost", "b-pros, and offsets to the previous screen", LIANG_2016, "palette", BProst, 20_598_848),
    FeatureSet(
        "blob-prost",
        "b-prost of blobs instead of pixels, in smaller tiles",
        LIANG_2016,
        "palette",
        BlobProst,
        114_702_400,
    ),
)
_SETS = {item.name: item for item in _ALL}


def feature_sets() -> Mapping[str, FeatureSet]:
    """Return the built-in feature sets by name."""
    return MappingProxyType(_SETS)


def feature_set(name: str) -> FeatureSet:
    """Return a feature set, built-in or of another package.

    ArcadeMarkError if the name is unknown, or the object that the package declares is not a `FeatureSet`.
    """
    if name in _SETS:
        return _SETS[name]
    declared = plugins.named(PLUGINS, name)
    if declared is None:
        raise UnknownNameError("feature set", name, [*_SETS, *plugins.names(PLUGINS)])
    if not isinstance(declared, FeatureSet):
        raise ArcadeMarkError(
            f"feature set {name}: {plugins.place(PLUGINS, name)} is a {type(declared).__name__}; expected an "
            "arcademark.classic.features.registry.FeatureSet"
        )
    return declared


def make_features(name: str, env: EnvironmentSpec, parameters: Mapping[str, Any] | None = None) -> Features:
    """Make a feature set for one game; parameters that are not given have their defaults.

    ArcadeMarkError if the name is unknown, a parameter is out of range, or the game is not supported.
    """
    return feature_set(name).factory(env, **dict(parameters or {}))


def check_parameters(name: str, env: EnvironmentSpec, parameters: Mapping[str, Any]) -> None:
    """Refuse incompatible parameters, or an unreadable trajectory, without sampling screens."""
    given, factory = dict(parameters), feature_set(name).factory
    if (trajectory := given.get("trajectory")) is not None:
        read_trajectory(trajectory, env)
    has = inspect.signature(factory).parameters
    if "background" in has and given.get("background", has["background"].default):
        given |= {"background": False, "trajectory": None}
    if given and "class_screens" not in has:
        factory(env, **given)
