"""Formatting of numbers and lists, the same in every renderer.

`prose` makes sentences and paragraphs, such as notices, from templates.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from numbers import Real
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from arcademark.subset.predict.calibration import Covered

MISSING = "–"


def decimals(value: float) -> int:
    """Return the number of decimals with which a score of this size is shown."""
    size = abs(value)
    return 0 if size >= 1000 else 1 if size >= 10 else 2


def score(value: float | None, places: int | None = None) -> str:
    """Show a score in points, by default with decimals by its size, e.g. "2,360" or "−18.55"."""
    if value is None:
        return MISSING
    if value == 0:
        return "0"
    return _signed(value, decimals(value) if places is None else places)


def reference(value: float | None) -> str:
    """Show a reference score with the digits that its source prints, with at most two decimals."""
    if value is None:
        return MISSING
    text = _signed(value, 2)
    return text.rstrip("0").rstrip(".")


def percent(value: float | None) -> str:
    """Show a percentage with about three digits, e.g. "0.43 %", "12.3 %", "1,234 %"."""
    if value is None:
        return MISSING
    size = abs(value)
    if size == 0:
        return "0\N{NO-BREAK SPACE}%"
    return _signed(value, 0 if size >= 99.95 else 1 if size >= 9.995 else 2) + "\N{NO-BREAK SPACE}%"


def share(fraction: float | None) -> str:
    """Show a fraction as a percentage."""
    return percent(None if fraction is None else 100 * fraction)


def rounded(fraction: float) -> str:
    """Show a fraction in whole percent: "12 %"."""
    return f"{100 * fraction:.0f}\N{NO-BREAK SPACE}%"


def covered(item: Covered) -> str:
    """Show the coverage of intervals: "101 of 112 (90 % by paper)"."""
    by_paper = f" ({rounded(item.by_group)} by paper)" if item.by_group != item.share else ""
    return f"{item.count:,} of {item.total:,}{by_paper}"


def percentage(level: float) -> str:
    """Show a level of intervals: "90 %"."""
    return f"{100 * level:g}\N{NO-BREAK SPACE}%"


def change(fraction: float) -> str:
    """Return a relative difference as text: "+12.3 %"."""
    return ("+" if fraction > 0 else "") + share(fraction)


def fixed(value: float | None, places: int = 2) -> str:
    """Show a number with ``places`` decimals."""
    return MISSING if value is None else f"{value:.{places}f}".replace("-", "−")


def number(value: float | None) -> str:
    """Show a percentage as `percent` does, without the percent sign."""
    return percent(value).removesuffix("%").strip()


def quantity(value: float | None, unit: str) -> str:
    """Show a number with its unit: a percentage as `percent` does, else e.g. "35.7 games", or a plain number."""
    if value is None or unit == "%":
        return percent(value)
    return f"{score(value)}{f'{chr(0xA0)}{unit}' if unit else ''}"


def count(value: int) -> str:
    """Show a whole number with thousands separated."""
    return f"{value:,}"


def done(number: int, planned: int) -> str:
    """Return a count of finished items, with the total if it is greater: "20", "12 of 20"."""
    return count(number) if number >= planned else f"{count(number)} of {count(planned)}"


def span(low: float, high: float, places: int) -> str:
    """Show an interval, e.g. "1,200 … 1,450"."""
    return f"{score(low, places)} … {score(high, places)}"


def between(low: float | None, high: float | None) -> str:
    """Show an interval of percentages, e.g. "812 … 930 %"."""
    return MISSING if low is None or high is None else f"{number(low)} … {percent(high)}"


def days(value: float) -> str:
    """Return a duration given in days as text: "38.6 days", "52.8 years"."""
    if value >= 365.25:
        return f"{value / 365.25:,.1f} years"
    return f"{value:,.1f} days" if value >= 1 else f"{24 * value:,.1f} hours"


def a_million(fraction: float) -> str:
    """Return a gain per frame, a fraction, in percent per million frames, "4.37 %", with at least two digits."""
    value = 1e8 * fraction
    return percent(value) if abs(value) >= 0.995 or not value else f"{value:.2g}\N{NO-BREAK SPACE}%".replace("-", "−")


def times(ratio: float) -> str:
    """Return a ratio of counts as text: "250 times as many"."""
    return f"{max(ratio, 1 / ratio):,.3g} times as {'many' if ratio > 1 else 'few'}"


def listing(items: Iterable[str], last: str = "and") -> str:
    """Join names as in a sentence: "a", "a and b", "a, b and c"."""
    names = list(items)
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} {last} {names[-1]}"


def shortened(items: Iterable[str], most: int = 6) -> str:
    """Join names as in a sentence, with at most ``most`` parts: "a, b and 55 others"."""
    names = list(items)
    if len(names) <= most:
        return listing(names)
    return listing([*names[: most - 1], f"{len(names) - most + 1} others"])


def first_few(items: Sequence[str], most: int, noun: str = "") -> str:
    """Join at most ``most`` phrases, followed by the number of others: "a; b; and 3 settings more"."""
    more = len(items) - most
    count_of_others = [f"and {plural(more, noun) if noun else count(more)} more"] if more > 0 else []
    return "; ".join([*items[:most], *count_of_others])


def plural(number: int, noun: str) -> str:
    """Show a number with its noun: "1 game", "5 games", "2,000 episodes"."""
    return f"{count(number)} {noun}{'' if number == 1 else 's'}"


def noun(unit: str) -> str:
    """Return the noun for a task by the unit of its lengths: "game" for frames, "task" for steps."""
    return "task" if unit == "step" else "game"


def rate(value: float, unit: str) -> str:
    """Return the speed of play as text: "1,200 frames/s"."""
    return f"{value:,.0f} {unit}s/s"


def small(value: float) -> str:
    """Show a quantity without decimals from 100 on, with one below."""
    return score(value, 1 if value < 100 else 0)


def hours(value: float) -> str:
    """Show hours as a score, but less than one hour with two digits."""
    return f"{value:.2g}" if value and value < 1 else score(value)


def about(value: float) -> str:
    """Show an estimate with three digits."""
    return f"{float(f'{value:.3g}'):,.0f}" if value >= 100 else f"{value:.3g}"


def frames(number: float) -> str:
    """Show a number of frames as papers do: "500k", "2.5M", "10B"."""
    for size, unit in ((1_000_000_000, "B"), (1_000_000, "M"), (1000, "k")):
        if number >= size:
            return f"{number / size:g}{unit}"
    return f"{number:g}"


def every(frames: int) -> str:
    """Return a frequency as text: "every frame", "every 4 frames"."""
    return "every frame" if frames == 1 else f"every {count(frames)} frames"


def time_span(seconds: float) -> str:
    """Show a time span: ``42 s``, ``3 min 05 s``, ``2 h 10 min``."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600:,} h {whole % 3600 // 60:02d} min"


def plain(value: object) -> str:
    """Show a value: integers with thousands separated, other numbers as scores, lists as in a sentence."""
    if value is None or value == "":
        return MISSING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return count(value)
    if isinstance(value, Real):
        return score(float(value))
    if isinstance(value, tuple | list):
        return listing(map(str, value)) or MISSING
    return str(value)


def _signed(value: float, places: int) -> str:
    text = f"{value:,.{places}f}"
    if text.startswith("-") and float(text.replace(",", "")) == 0:
        return text[1:]
    return text.replace("-", "−")
