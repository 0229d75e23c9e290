"""A feature set: the values of the bytes of the console's memory."""

import numpy as np
from numpy.typing import NDArray

from arcademark.classic.features.base import Change, Observed, check_feature
from arcademark.classic.features.registry import FeatureSet
from arcademark.environments.base import EnvironmentSpec
from arcademark.environments.emulation.facts import ram_size


class Bytes:
    """Feature 256 b + v is active while byte b has value v."""

    observed: Observed = "ram"

    def __init__(self, env: EnvironmentSpec) -> None:
        self.num_features = 256 * ram_size(env.game)
        self.active = np.zeros(0, np.int32)

    def begin(self) -> None:
        self.active = np.zeros(0, np.int32)

    def update(self, observation: NDArray[np.uint8]) -> Change:
        before, self.active = self.active, np.arange(len(observation), dtype=np.int32) * 256 + observation
        return Change(np.setdiff1d(self.active, before), np.setdiff1d(before, self.active))

    def describe(self, feature: int) -> str:
        check_feature(feature, self.num_features)
        return f"byte {feature // 256} is {feature % 256}"

    def picture(self, observation: NDArray[np.uint8]) -> NDArray[np.uint8]:
        return np.repeat(observation.reshape(-1, 8, 1), 3, axis=2)


BYTES = FeatureSet("bytes", "value of each byte of the memory", "our own", "ram", Bytes, 32_768)
