"""Names of tools' logs and of what stands in them: data, in ``data/logs.json``, from which every reader of logs tells.

Suffixes and names of files; series of scores, in the order in which they are taken without asking, each with what one
value of it is; columns of steps; columns of the files that TensorBoard downloads and of PFRL's ``scores.txt``; where
RLlib's results have averages and steps; and folders whose names say nothing about the algorithm.
"""

import json
from importlib.resources import files
from typing import Any

LOGS: dict[str, Any] = json.loads(
    files("arcademark.scores.readers").joinpath("data/logs.json").read_text(encoding="utf-8")
)
