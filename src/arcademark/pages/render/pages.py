"""The pages of the leaderboard: the browser draws all of them from one file of data, without network requests.

Data are shown only as text, never as HTML, and are written so that they cannot end the script that contains them.
"""

from __future__ import annotations

import json as text_of
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from arcademark.pages.figures.style import DARK, PALETTE
from arcademark.pages.render import json
from arcademark.wording import prose

PAGE = "index.html"
"""Written last, so that its presence means that all files are present."""

VENDOR = "vendor"
VENDORED: Mapping[str, str] = {
    "d3.min.js": "d3",
    "plot.umd.min.js": "@observablehq/plot",
    "table-core.min.js": "@tanstack/table-core",
}
"""Third-party files that the pages use; `vendor/VENDORED.md` lists their versions and licences."""

PLOT_STYLE = "sha256-+TfQir1nvDucAdvE6XUQBt4ayUjpAWkbw2kCdSfekHM="
"""Hash of the style that Plot writes into its figures; the page allows no other inline style."""

SCRIPTS = ("metrics.js", "files.js", "predict.js", "site.js")


def render(shown: Any) -> dict[str, bytes]:
    """Return the pages of an `arcademark.analysis.site.document.Site`: files by path, `PAGE` last."""
    folder = files("arcademark.pages") / "templates" / "site"
    environment = prose.environment("arcademark.pages")
    vendored = {f"{VENDOR}/{name}": (folder / VENDOR / name).read_bytes() for name in (*VENDORED, "VENDORED.md")}
    styles = environment.get_template("site/site.css").render(palette=PALETTE, dark=DARK)
    page = environment.get_template(f"site/{PAGE}.jinja").render(
        generator=shown.generator,
        games="Tasks" if shown.unit == "step" else "Games",
        predicted=shown.predicted_from,
        style=PLOT_STYLE,
        scripts=[*(f"{VENDOR}/{name}" for name in VENDORED), "data.js", *SCRIPTS],
    )
    return {
        **vendored,
        **{name: (folder / name).read_bytes() for name in SCRIPTS},
        "site.css": styles.encode(),
        "data.js": script(json.render(shown)).encode("ascii"),
        PAGE: page.encode(),
    }


def script(value: Any) -> str:
    """Return JSON values as a script that assigns them, in ASCII, without anything that could end its element."""
    text = text_of.dumps(value, separators=(",", ":"), allow_nan=False)
    return f"window.ARCADEMARK={text.replace('<', chr(92) + 'u003c')};\n"
