"""The pages of the leaderboard: the browser draws them all from one file of data, and asks nobody for anything.

What is in the data is never a page's text: it is shown as text alone, and written so that no part of it can end the
script that it stands in.
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
"""Written last: where it is, all is."""

VENDOR = "vendor"
VENDORED: Mapping[str, str] = {
    "d3.min.js": "d3",
    "plot.umd.min.js": "@observablehq/plot",
    "table-core.min.js": "@tanstack/table-core",
}
"""The files of others that the pages use; `vendor/VENDORED.md` says of which version, and under which licence."""

PLOT_STYLE = "sha256-+TfQir1nvDucAdvE6XUQBt4ayUjpAWkbw2kCdSfekHM="
"""Hash of the one style that Plot writes into its figures; the page admits no other that is not in its folder."""

SCRIPTS = ("metrics.js", "files.js", "predict.js", "site.js")


def render(shown: Any) -> dict[str, bytes]:
    """Return the pages of `arcademark.analysis.site.document.Site`: files by path, the page last."""
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
    """Write JSON values as a script that assigns them; in ASCII, without anything that could end its element."""
    text = text_of.dumps(value, separators=(",", ":"), allow_nan=False)
    return f"window.ARCADEMARK={text.replace('<', chr(92) + 'u003c')};\n"
