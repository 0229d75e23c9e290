"""Compute the numbers of the paper, draw its figures and write its text and bibliography.

::

    python paper/tables.py            # all; takes ten minutes
    python paper/tables.py --text     # the text again, from the numbers that are there

Numbers go to ``data/results.json``, and from there through ``paper.md.jinja`` into ``paper.md``, where none is typed.
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
from scipy.stats import binom

from arcademark.catalogue import collections
from arcademark.catalogue.errata import errata
from arcademark.catalogue.reading import read_bibtex
from arcademark.emulator.prove import proven
from arcademark.reports import published
from arcademark.reports.subsets import models, predictors
from arcademark.reports.subsets.covering import LEVELS, covered
from arcademark.reports.wording import listing, percent
from arcademark.subset.predict import calibration, choosing, spread
from arcademark.suite.subsets import LEVEL, resolve_tasks, subset
from arcademark.suite.tasks import game_name, suite

HERE = Path(__file__).parent
DATA, RESULTS, DOCS = HERE / "data", HERE / "data" / "results.json", HERE.parent / "docs"
sys.path += [str(HERE.parent / folder) for folder in ("bench", "results")]

GAMES = suite("atari-57").tasks
LEADING, MODEL, PUBLISHED = "atari-5-2026", "atari-5", "published model"
OF_2026 = {
    "atari-3-2026": "alien,beam_rider,time_pilot",
    "atari-5-2026": "alien,assault,enduro,name_this_game,time_pilot",
    "atari-10-2026": "alien,bank_heist,beam_rider,centipede,chopper_command,enduro,name_this_game,time_pilot,up_n_down,"
    "zaxxon",
}
"""The games that were chosen anew, by the names that the recorded looks have them under."""
SIZES = range(1, 11)
SETS = {**dict.fromkeys(("SLM-Lab 2019", "SLM-Lab 2026", "Cleanba", "DiscoRL"), "first"), "NEC": "second"}
PAPERS = {"review": "@fan2021review", "atari-5": "@aitchison2023atari5", "ale-2013": "@bellemare2013arcade"}


def printed(*command: str) -> Any:
    """Return what a command prints as JSON."""
    done = subprocess.run(
        [sys.executable, "-m", "arcademark", *command, "--to", "json"], capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def rounded(value: Any) -> Any:
    """Return the same with six digits of every number that is not whole."""
    if isinstance(value, Mapping):
        return {key: rounded(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [rounded(one) for one in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value


def tasks_of(name: str) -> tuple[str, ...]:
    """Return the games of a subset, or of those that were chosen anew."""
    return resolve_tasks(OF_2026.get(name, name))


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
    factor = float(np.log(10))
    return {
        "level": LEVEL,
        "share": choosing.SHARE,
        "bandwidth": calibration.BANDWIDTH,
        "least_share": calibration.LEAST_SHARE,
        "draws": calibration.DRAWS,
        "freedom": spread.FREEDOM,
        "games": {name: listing(map(game_name, tasks_of(name))) for name in (MODEL, LEADING)},
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
    import estimates

    rng = np.random.default_rng(estimates.SEED)
    drawn = {
        size: [",".join(rng.choice(GAMES, size, replace=False)) for _ in range(estimates.DRAWS)]
        for size in estimates.SIZES
    }
    every = covered([*estimates.NAMED, *OF_2026.values(), *(some for of in drawn.values() for some in of)], sizes=SIZES)
    names = {games: name for name, games in OF_2026.items()}
    found: dict[str, Any] = defaultdict(dict)
    for row in every.rows:
        found[names.get(row.subset, row.subset)][row.left_out] = msgspec.to_builtins(row)
    for size, some in drawn.items():
        found[f"{size} at random"] = {way: together([found[games][way] for games in some]) for way in found[some[0]]}
        for games in some:
            del found[games]
    (newest,) = (way for way in found[LEADING] if way.startswith("since"))
    return {"newest": newest, "ways": ["each paper", "each kind", newest], "rows": dict(found)}


def together(every: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the mean of several rows of one way: of errors, what was held, and scores; of widths the median."""
    levels = [[row["levels"][place] for row in every] for place in range(len(LEVELS))]
    return {
        "mean_error": fmean(row["mean_error"] for row in every),
        "levels": [
            {
                "held": fmean(one["held"] for one in some),
                "width": median(one["width"] for one in some),
                "score": fmean(one["score"] for one in some),
            }
            for some in levels
        ],
    }


def few() -> dict[str, float]:
    """Return by how much ten games are off by less than five."""
    import few_games

    return few_games.compared(5, 10)


def unseen() -> list[dict[str, Any]]:
    """Return what named subsets say of the algorithms that were kept apart, beside the truth."""
    predictor = predictors.atari()
    names = tuple(dict.fromkeys(row["games"] for row in rows("looks") if row["games"].startswith("atari")))
    model, found, every = models.model(MODEL), [], []
    import unseen as data

    for row in data.read():
        if row.source not in SETS:
            continue
        scores, human = row.scores, row.percent
        algorithm = row.name.removesuffix(f" ({row.source})")
        of = {"set": SETS[row.source], "source": row.source, "algorithm": algorithm, "true": median(human.values())}
        one = model.estimate(human, max_frames_per_episode=model.max_frames_per_episode, level=LEVEL)
        found.append({**of, "from": PUBLISHED, "value": one.value, "low": one.low, "high": one.high})
        every.append((of, scores))
    for name in names:
        chosen = tasks_of(name)
        for of, scores in every:
            if set(chosen) <= scores.keys():
                told, _ = predictor.median({game: scores[game] for game in chosen}, LEVEL)
                found.append({**of, "from": name, "value": told.value, "low": told.low, "high": told.high})
    return found


def predicted() -> list[dict[str, Any]]:
    """Return what the five games would have said of every algorithm with all games, learnt without its paper."""
    predictor, chosen = predictors.atari(), tasks_of(LEADING)
    entries = collections.benchmarked(GAMES, len(GAMES))
    table = collections.table(entries).select(tasks=GAMES)
    found = []
    for name, row in zip(table.algorithms, table.mean_over_runs(), strict=True):
        scores = dict(zip(table.tasks, row.tolist(), strict=True))
        truth = predictor.truths(scores).get("median")
        if truth is None or entries[name].kind in published.NO_ALGORITHM:
            continue
        paper = entries[name].origin.key
        told, _ = predictor.median({game: scores[game] for game in chosen}, LEVEL, predictor.group(name, paper))
        found.append(
            {"algorithm": name, "paper": paper, "true": truth, "value": told.value, "low": told.low, "high": told.high}
        )
    return found


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
        "drawn": cells("emulator.md", "two of four frames drawn and read, a call a frame"),
        "undrawn": cells("emulator.md", "no frame drawn, a call a frame"),
    }


PARTS: Mapping[str, Callable[[], Any]] = {
    "catalogue": catalogue,
    "method": method,
    "left_out": left_out,
    "few": few,
    "unseen": unseen,
    "predicted": predicted,
    "use": use,
    "console": console,
    "reproductions": lambda: {paper: printed("reproduce", paper)["counts"] for paper in PAPERS},
}


def judged(found: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Sum up estimates with true values: sizes of errors, |ln((estimate + 1) / (truth + 1))|, held, and width."""
    errors = [abs(np.log((row["value"] + 1) / (row["true"] + 1))) for row in found]
    return {
        "n": len(found),
        "error": fmean(errors),
        "median": median(errors),
        "held": sum(row["low"] <= row["true"] <= row["high"] for row in found),
        "width": median((row["high"] + 1) / (row["low"] + 1) for row in found),
    }


def table(heading: Sequence[object], *body: Sequence[object]) -> str:
    """Return a Markdown table, its first column to the left."""
    lines = [f"| {' | '.join(map(str, row))} |" for row in (heading, *body)]
    return "\n".join([lines[0], f"|---|{'---:|' * (len(heading) - 1)}", *lines[1:]])


def level(true: float) -> str:
    """Return the level of a true median."""
    return next(name for name, (low, high) in LEVELS.items() if low <= true < high)


def summed(found: Mapping[str, float]) -> str:
    """Show an error, how many were held, and the width."""
    return f"{100 * found['error']:.1f} % · {found['held']} · ×{found['width']:.1f}"


def apart(results: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """Show how estimates did on the outsiders' check and on both sets that were kept apart."""
    for row in rows("check"):
        name = PUBLISHED if row["by"] == PUBLISHED else row["games"]
        check = summed(
            {"error": float(row["mean_error"]) / 100, "held": int(row["held"]), "width": float(row["width"])}
        )
        yield (
            f"{row['games']}, {row['by']}",
            check,
            *(summed(kept(results, which, name)) for which in ("first", "second")),
        )


def kept(results: Mapping[str, Any], which: str = "", name: str = "", of_level: str = "") -> dict[str, float]:
    """Sum up what some games, or all named subsets, said of what was kept apart: all, a set, a level."""
    found = [row for row in results["unseen"] if which in ("", row["set"]) and of_level in ("", level(row["true"]))]
    return judged([row for row in found if row["from"] == name or (not name and row["from"] != PUBLISHED)])


def paired(results: Mapping[str, Any], one: str, other: str) -> tuple[float, float]:
    """Return by how much the mean error from some games is less than from others, and its standard error.

    Over both sets that were kept apart, in points; by the jackknife over their sources.
    """
    errors: dict[str, dict[tuple[str, str], float]] = {one: {}, other: {}}
    for row in results["unseen"]:
        if row["from"] in errors:
            errors[row["from"]][row["source"], row["algorithm"]] = 100 * judged([row])["error"]
    apart = {of: errors[other][of] - error for of, error in errors[one].items()}
    sources = {source for source, _ in apart}
    without = [fmean(size for (source, _), size in apart.items() if source != left) for left in sources]
    spread = sum((value - fmean(without)) ** 2 for value in without)
    return fmean(apart.values()), float(np.sqrt((len(sources) - 1) / len(sources) * spread))


def history() -> Iterator[tuple[str, ...]]:
    """Show how intervals did when the sets were judged, and those that they replaced; sets of random games together."""
    every: dict[tuple[str, str], dict[str, list[dict[str, str]]]] = defaultdict(lambda: defaultdict(list))
    for row in rows("looks"):
        every[row["set"], row["look"]][row["games"]].append(row)
    for (which, look), of in every.items():
        shown = [f"{which} set, {look}{'' if look == 'before' else ' look'}"]
        for name in (LEADING, "the eleven named", "at random"):
            (row,) = of[name]
            shown.append(f"{row['held']} of {row['of']} · ×{row['width']} · {row['interval_score']}")
        yield tuple(shown)


def linear(results: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """Show errors of the published linear models."""
    for name, of in results["method"]["models"].items():
        errors = [f"{100 * of[key]:.1f} %" for key in ("printed", "nested", "elsewhere")]
        yield name.capitalize(), errors[0], errors[1], str(of["nested_of"]), errors[2], str(of["elsewhere_of"])


def missed(results: Mapping[str, Any]) -> str:
    """Name the algorithms of both sets that the leading games' intervals did not hold."""
    found = [
        row for row in results["unseen"] if row["from"] == LEADING and not row["low"] <= row["true"] <= row["high"]
    ]
    ends = (f"{percent(row['true'])} by {percent(row['low'])} to {percent(row['high'])}" for row in found)
    return listing(f"{row['algorithm']} of {row['source']} ({by})" for row, by in zip(found, ends, strict=True))


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
        LEADING=LEADING,
        MODEL=MODEL,
        looks={(row["set"], row["look"], row["games"]): row for row in rows("looks")},
        check={(row["games"], row["by"]): row for row in rows("check")},
        judged=judged,
        kept=partial(kept, results),
        paired=partial(paired, results),
        chance=lambda found, of: float(binom.cdf(found, of, LEVEL)),
        ratio=lambda cell: cell.split()[0],
        table=table,
        linear=[*linear(results)],
        apart=[*apart(results)],
        history=[*history()],
        missed=missed(results),
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
