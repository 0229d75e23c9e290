"""Compile the emulator's core into the wheel, and make its description of the README; all else is in pyproject.toml."""

import re
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext

sys.path.insert(0, str(Path(__file__).parent / "src"))
from arcademark.emulator import build

FOLDER = Path("arcademark", "emulator", build.SHIPPED.name)


class Core(build_ext):
    """Compiles it; a source tree that is installed as it is has its own compiled on first use instead."""

    def run(self) -> None:
        """Compile it, or say why not."""
        if self.editable_mode:
            return
        try:
            build.ship(Path(self.build_lib) / FOLDER)
        except build.NoCore as error:
            print(f"the console is left out, so that ale-py plays, more slowly: {error}", file=sys.stderr)

    def get_outputs(self) -> list[str]:
        """Return no module of Python's."""
        return []

    def get_output_mapping(self) -> dict[str, str]:
        """Return no module of Python's."""
        return {}


class Wheel(bdist_wheel):
    """A wheel for any Python: its libraries, if there are any, know nothing of it."""

    def get_tag(self) -> tuple[str, str, str]:
        """Return the tag of the platform where there are libraries."""
        compiled = any((Path(self.bdist_dir) / FOLDER).glob("*.so"))
        return "py3", "none", super().get_tag()[2] if compiled else "any"


def description() -> str:
    """Return the README without its pictures and links into this repository, which a package index cannot show."""
    text = (Path(__file__).parent / "README.md").read_text(encoding="utf-8")
    text = re.sub(r"^(\|.*\n)*\|.*!\[.*\n(\|.*\n)*\n", "", text, flags=re.MULTILINE)
    return re.sub(r"(?<!!)\[([^\]]*)\]\((?![a-z]+:)[^)]*\)", r"\1", text)


setup(
    cmdclass={"build_ext": Core, "bdist_wheel": Wheel},
    ext_modules=[Extension("arcademark.emulator.core", [])],
    long_description=description(),
    long_description_content_type="text/markdown",
)
