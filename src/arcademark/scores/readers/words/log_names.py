"""Names that tools give their logs and series: the data of ``data/logs.json``, which every reader of logs uses.

Suffixes and names of files; series of scores, in their order of preference, each with the unit of its values; columns
of steps; columns of the files that TensorBoard downloads and of PFRL's ``scores.txt``; places of averages and steps in
RLlib's results; and folders whose names say nothing about the algorithm.
"""

import json
from importlib.resources import files
from typing import Any

LOGS: dict[str, Any] = json.loads(
    files("arcademark.scores.readers").joinpath("data/logs.json").read_text(encoding="utf-8")
)
