"""Compute the numbers of the paper, draw its figures and write its text and bibliography.

::

    python paper/tables.py            # all; takes ten minutes
    python paper/tables.py --text     # the text again, from the numbers that are there

Numbers go to ``data/results.json``, and from there through ``paper.md.jinja`` into ``paper.md``.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import fmean, median
from typing import Any

import jinja2
import msgspec
import numpy as np

from arcademark.analysis import published
from arcademark.analysis.subsets import fits
from arcademark.analysis.subsets.covering import covered
from arcademark.catalogue import collections
from arcademark.catalogue.errata import errata
from arcademark.catalogue.reading import read_bibtex
from arcademark.emulator.prove import proven
from arcademark.subset.predict import calibration, spread
from arcademark.subset.predict.choosing import SHARE
from arcademark.suite.subsets import LEVEL, resolve_tasks, subset
from arcademark.suite.tasks import game_name, suite
from arcademark.wording import listing, percent

HERE = Path(__file__).parent
DATA, RESULTS, DOCS = HERE / "data", HERE / "data" / "results.json", HERE.parent / "docs"
sys.path += [str(HERE.parent / folder) for folder in ("bench", "results")]

GAMES = suite("atari-57").tasks
MODEL, NEW = "atari-5", "five chosen in 2026"
SIZES = (5, 10)
PAPERS = {"review": "@fan2021review", "atari-5": "@aitchison2023atari5", "ale-2013": "@bellemare2013arcade"}


def printed(*command: str) -> Any:
    """Return what a command prints as JSON."""
    done = subprocess.run(
        [sys.executable, "-m", "arcademark", *command, "--format", "json"], capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def rounded(value: Any) -> Any:
    """Return the same with six digits of every number that is not whole."""
    if isinstance(value, Mapping):
        return {key: rounded(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [rounded(one) for one in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value


def rows(name: str) -> list[dict[str, str]]:
    """Read a file of recorded data."""
    with (DATA / f"{name}.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def cells(page: str, *first: str) -> list[str]:
    """Return the last row of a page's tables with these first cells."""
    for line in reversed((DOCS / page).read_text("utf-8").splitlines()):
        found = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and found[: len(first)] == [*first]:
            return found[len(first) :]
    raise LookupError(f"docs/{page} has no row {first}")


def catalogue() -> dict[str, Any]:
    """Return what the catalogue holds, and what is learnt from."""
    entries, training, (weak, _) = collections.entries(), published.training(), published.weak()
    caps = Counter(entry.settings.get("max episode length") for entry in entries)
    slips = errata()
    return {
        "collections": len(collections.collections()),
        "papers": len({entry.origin.key for entry in entries}),
        "algorithms": len({entry.algorithm for entry in entries}),
        "entries": len(entries),
        "scores": len(collections.results()),
        "kinds": dict(Counter(entry.kind for entry in training.values()).most_common()),
        "first_year": min(entry.year for entry in entries),
        "last_year": max(entry.year for entry in entries),
        "frames_known": sum(entry.training_frames is not None for entry in entries),
        "least_frames": min(entry.training_frames for entry in entries if entry.training_frames),
        "most_frames": max(entry.training_frames for entry in entries if entry.training_frames),
        "caps_known": sum(caps.values()) - caps[None],
        "caps": len(caps) - 1,
        "usual_cap": caps["108,000 frames"],
        "sticky_known": sum("sticky actions" in entry.settings for entry in entries),
        "human_starts": sum(entry.protocol == "human-starts" for entry in entries),
        "reported_known": sum(entry.reported != "unknown" for entry in entries),
        "second_hand": sum(entry.hand == "second" for entry in entries),
        "errata": len(slips),
        "errata_papers": len({item.paper for item in slips}),
        "errata_of": dict(Counter(item.paper for item in slips)),
        "errata_kinds": dict(Counter(item.category for item in slips)),
        "fewest": round(published.FEWEST * len(GAMES) + 0.5),
        "least_median": published.LEAST_MEDIAN,
        "learnt": len(training),
        "learnt_papers": len({entry.origin.key for entry in training.values()}),
        "checkpoints": len(collections.checkpoints()),
        "weak_entries": len(weak) - len(collections.checkpoints()),
    }


def method() -> dict[str, Any]:
    """Return the method's settings, the games of each subset, and errors of the published models by other papers."""
    import choosing as chosen

    factor = float(np.log(10))
    return {
        "level": LEVEL,
        "share": SHARE,
        "bandwidth": calibration.BANDWIDTH,
        "least_share": fits.CALIBRATION.least_share,
        "draws": calibration.DRAWS,
        "freedom": spread.FREEDOM,
        "games": {name: listing(map(game_name, resolve_tasks(games))) for name, games in chosen.CHOSEN.items()},
        "models": {
            name: {
                "printed": one.log_error,
                "nested": one.nested.mean,
                "nested_of": one.nested.n,
                "elsewhere": factor * fmean(size for sizes in one.nested.other_papers for size in sizes),
                "elsewhere_of": sum(map(len, one.nested.other_papers)),
            }
            for name in ("atari-1", "atari-3", "atari-5", "atari-10")
            if (one := subset(name)).nested is not None
        },
    }


def left_out() -> dict[str, Any]:
    """Return how estimates hold on what is left out of the fit: by subset and way, the row of `covered`."""
    import choosing as chosen
    import estimates

    names = {games: name for name, games in chosen.CHOSEN.items()}
    found: dict[str, Any] = defaultdict(dict)
    for row in covered(list(dict.fromkeys([*estimates.NAMED, *names])), sizes=SIZES).rows:
        found[names.get(row.subset, row.subset).strip("`")][row.left_out] = msgspec.to_builtins(row)
    (newest,) = (way for way in found[MODEL] if way.startswith("since"))
    return {"newest": newest, "ways": ["each paper", "each kind", newest], "rows": dict(found)}


def choosing() -> list[dict[str, Any]]:
    """Return how chosen and random sets of games did on papers left out, and on sources that nobody had seen."""
    import choosing as bench

    return bench.compared()


def unseen() -> dict[str, list[dict[str, Any]]]:
    """Return by set of games what is estimated of the algorithms that nothing was learnt from, beside the truth."""
    import choosing as chosen
    import unseen as bench

    every = [one for one in bench.read() if not one.reason]
    found = {name: bench.by_ours(resolve_tasks(games), every) for name, games in chosen.CHOSEN.items()}
    found |= {f"{name}, published": bench.by_published(name, every) for name in ("atari-5", "atari-10")}
    return {name.strip("`"): _rows(every, told) for name, told in found.items()}


def _rows(every: Sequence[Any], told: Sequence[Any]) -> list[dict[str, Any]]:
    return [
        {"algorithm": who.name, "source": one.source, "true": one.truth}
        | {"value": one.value, "low": one.low, "high": one.high}
        for who, one in zip(every, told, strict=True)
    ]


def predicted() -> list[dict[str, Any]]:
    """Return what five games would have said of every algorithm of the catalogue with a truth, without its paper."""
    import unseen as bench

    every = [one for one in bench.catalogue() if not one.reason]
    return _rows(every, bench.by_ours(subset(MODEL).tasks, every))


def use() -> dict[str, Any]:
    """Return one use from end to end: the true medians, estimates beside them, and what it cost."""
    from pages import Used

    used = Used()
    tuning, five, _, whole = (cost[1:] for cost in used.costs())
    return {
        "truth": used.truth,
        "truths": used.truths,
        "table": [row[:5] for row in (used.HEADING, *used.estimates())],
        "tuning": tuning,
        "five": five,
        "whole": whole,
    }


def console() -> dict[str, Any]:
    """Return for which games the emulator is proven, and how fast the documentation has it."""
    games = proven()
    return {
        "games": len(games),
        "frames": sum(int(row["frames"]) for row in games.values()),
        "screens": sum(int(row["screens"]) for row in games.values()),
        "drawn": cells("emulator.md", "two of four frames drawn and read, one call per frame"),
        "undrawn": cells("emulator.md", "no frame drawn, one call per frame"),
    }


PARTS: Mapping[str, Callable[[], Any]] = {
    "catalogue": catalogue,
    "method": method,
    "left_out": left_out,
    "choosing": choosing,
    "unseen": unseen,
    "predicted": predicted,
    "use": use,
    "console": console,
    "reproductions": lambda: {paper: printed("reproduce", paper)["counts"] for paper in PAPERS},
}


def judged(found: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Sum up estimates with true values: errors, and intervals that cover; both over algorithms, and over sources."""
    import unseen as bench

    told = [bench.Estimate(*(row[name] for name in ("source", "true", "value", "low", "high"))) for row in found]

    def over_sources(measure: Callable[[Any], float]) -> tuple[float, float]:
        over = partial(bench.over_sources, measure=measure)
        return over(told), bench.jackknife(told, over)

    by_source, share = over_sources(bench.error), over_sources(bench.share)
    given = [one for one in told if one.value is not None]
    return {
        "n": len(told),
        "sources": len({one.source for one in told}),
        "given": len(given),
        "error": bench.error(told),
        "median": median(one.error for one in given),
        "by_source": by_source[0],
        "spread": by_source[1],
        "covered": sum(one.covered for one in told),
        "share": share[0],
        "share_spread": share[1],
        "factor": float(np.quantile([one.factor for one in given], 0.9)),
    }


def table(heading: Sequence[object], *body: Sequence[object]) -> str:
    """Return a Markdown table, its first column to the left."""
    lines = [f"| {' | '.join(map(str, row))} |" for row in (heading, *body)]
    return "\n".join([lines[0], f"|---|{'---:|' * (len(heading) - 1)}", *lines[1:]])


def estimated(results: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """Show errors and intervals of each set of games on sources that nobody had seen."""
    for name, found in results["unseen"].items():
        one = judged(found)
        yield (
            *(name, f"{share(one['error'])}", f"{100 * one['by_source']:.1f} ± {share(one['spread'])}"),
            *(f"×{one['factor']:.2f}", f"{one['covered']} of {one['n']}"),
            f"{100 * one['share']:.0f} ± {share(one['share_spread'], 0)}",
        )


def promised(results: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """Show errors and intervals of chosen and random sets, on papers left out and on sources that nobody had seen."""
    for row in results["choosing"]:
        ways = (row["left_out"], row["unseen"])
        cells = ((f"{100 * way['by_source']:.1f} ± {share(way['spread'])}", share(way["share"], 0)) for way in ways)
        yield row["games"].strip("`"), *(cell for pair in cells for cell in pair)


def linear(results: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """Show errors of the published linear models."""
    for name, of in results["method"]["models"].items():
        errors = [f"{100 * of[key]:.1f} %" for key in ("printed", "nested", "elsewhere")]
        yield name.capitalize(), errors[0], errors[1], str(of["nested_of"]), errors[2], str(of["elsewhere_of"])


def missed(found: Sequence[Mapping[str, Any]]) -> str:
    """Name the algorithms whose true medians intervals do not cover."""
    those = [row for row in found if not row["low"] <= row["true"] <= row["high"]]
    ends = (f"{percent(row['true'])} by {percent(row['low'])} to {percent(row['high'])}" for row in those)
    return listing(f"{row['algorithm']}, {by}" for row, by in zip(those, ends, strict=True))


def share(value: float, digits: int = 1) -> str:
    """Write a fraction in percent."""
    return f"{100 * value:.{digits}f} %"


def fixed(value: float, digits: int = 1) -> str:
    """Write a number with so many digits after the point."""
    return f"{value:.{digits}f}"


def text(results: Mapping[str, Any]) -> str:
    """Return the paper's text."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"pct": share, "percent": percent, "n": "{:,}".format, "x": fixed}
    counts = ("agree", "differ", "unsolved", "unexplained")
    written = environment.get_template("paper.md.jinja").render(
        **results,
        MODEL=MODEL,
        NEW=NEW,
        most_of_a_source=max(Counter(row["source"] for row in results["unseen"][MODEL]).values()),
        row_of=lambda name: next(row for row in results["choosing"] if row["games"] == name),
        outside={(row["games"], row["by"]): row for row in rows("outside")},
        judged=judged,
        unseen_by=lambda name: judged(results["unseen"][name]),
        missed=lambda name: missed(results["unseen"][name]),
        ratio=lambda cell: cell.split()[0],
        table=table,
        linear=[*linear(results)],
        estimated=[*estimated(results)],
        promised=[*promised(results)],
        reproduced=[
            (cited, *(f"{results['reproductions'][paper][kind]:,}" for kind in counts))
            for paper, cited in PAPERS.items()
        ],
    )
    return re.sub(r"(?<=\d) (?=%)", "\N{NO-BREAK SPACE}", written)


def bibliography(written: str) -> str:
    """Return what the text cites: of the catalogue's sources, and of ``others.bib``."""
    others = (HERE / "others.bib").read_text("utf-8").strip().split("\n\n")
    known = {
        one.partition("{")[2].partition(",")[0]: one for one in (*(of for _, of in read_bibtex().values()), *others)
    }
    cited = sorted(set(re.findall(r"@([a-z]+\d{4}[a-z0-9]*)", written)))
    return "\n\n".join(known[key] for key in cited) + "\n"


def main() -> None:
    """Compute what is wanted, and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--text", action="store_true", help="compute nothing")
    parser.add_argument("--only", choices=PARTS, nargs="+", help="compute these numbers alone")
    options = parser.parse_args()
    results = json.loads(RESULTS.read_text("utf-8")) if options.text or options.only else {}
    if not options.text:
        results |= {name: rounded(PARTS[name]()) for name in options.only or PARTS}
        RESULTS.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", "utf-8")
        import figures

        figures.draw(results, HERE)
    written = text(results)
    (HERE / "paper.md").write_text(written, "utf-8")
    (HERE / "paper.bib").write_text(bibliography(written), "utf-8")


if __name__ == "__main__":
    main()
