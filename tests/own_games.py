"""The cartridge of examples/own_game and its description, with changes, for tests that need nobody's ROM."""

import hashlib
import runpy
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "examples" / "own_game"


@cache
def rom():
    """Assemble the cartridge."""
    made = runpy.run_path(str(FOLDER / "make_rom.py"))
    return made["assembled"](made["SOURCE"])


def describe(folder, content=None, name="catch", keep=True, **changes):
    """Write a ROM, by default the example's, and its description into a folder; return the description's path."""
    content = rom() if content is None else content
    lines = (FOLDER / "catch.toml").read_text().splitlines() if keep else [f"[tasks.{name}.cartridge]"]
    given = {"rom": f'"{name}.bin"', "sha256": f'"{hashlib.sha256(content).hexdigest()}"', **changes}
    kept = [line.replace("tasks.catch", f"tasks.{name}") for line in lines if line.split(" ")[0] not in given]
    lines = [*kept, *(f"{key} = {value}" for key, value in given.items() if value is not None)]
    (folder / f"{name}.bin").write_bytes(content)
    path = folder / f"{name}.toml"
    path.write_text("\n".join(lines))
    return path
