"""Make the fits for predictions from a few games of Atari, and write the files that `arcademark` reads.

::

    python bench/fits.py    # half a minute; run it after changes of the catalogue, the references or the fit

Files and their checksums go to ``src/arcademark/analysis/subsets/data``.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from arcademark.analysis.subsets import fits
from arcademark.suite.tables import CHECKSUMS

FOLDER = Path(fits.__file__).parent / "data"


def main() -> None:
    """Write the files of fits, one per suite, and their checksums."""
    FOLDER.mkdir(exist_ok=True)
    contents = {f"{name}.npz": fits.packed(*fits.fit(name)) for name in fits.SUITES}
    for name, content in contents.items():
        (FOLDER / name).write_bytes(content)
    sums = (f"{hashlib.sha256(content).hexdigest()}  {name}\n" for name, content in contents.items())
    (FOLDER / CHECKSUMS).write_text("".join(sums), encoding="utf-8")


if __name__ == "__main__":
    main()
