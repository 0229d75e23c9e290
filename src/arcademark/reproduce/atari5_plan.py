"""The Atari-5 paper's searches (§4.3), made anew over all subsets: which come out best, and what that proves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

from arcademark.reproduce import atari5_data as data
from arcademark.reproduce.claims import decided
from arcademark.reproduce.comparison import Comparison
from arcademark.subset.plan import ATARI_5, follow
from arcademark.subset.search import SearchResult
from arcademark.suite.subsets import subset

FOUND = {
    "5": "of all games but Surround",
    "3": "of Atari-5",
    "1": "of Atari-3",
    "3-val": "without Atari-5",
    "5-val": "Atari-3-Val extended, without Atari-5",
    "10": "Atari-5 extended, without Atari-5-Val",
}


@cache
def results() -> Mapping[str, SearchResult]:
    """Follow the paper's plan on its training table."""
    return follow(data.problem(), ATARI_5)


def winners() -> Iterator[Comparison]:
    """Check that each published subset is the best of all that it was chosen from."""
    for name, result in results().items():
        chosen = subset(f"atari-{name}")
        count = result.certificate.subsets
        printed = ", ".join(data.name_of(game) for game in sorted(chosen.tasks))
        best = ", ".join(data.name_of(game) for game in sorted(result.best.tasks))
        yield decided(
            f"§4.3 and Table 2: the best {_number(name)}, {FOUND[name]}",
            printed,
            f"{best}: proven best of {count:,}" if result.certificate.holds else f"{best}: not proven",
            holds=set(result.best.tasks) == set(chosen.tasks) and result.certificate.holds,
        )
    five = results()["5"]
    second = five.runners_up[0]
    others = ", ".join(map(data.name_of, second.tasks))
    yield data.slip(
        "§4.3: how subsets are ranked",
        f"by cross-validated error of all {five.certificate.subsets:,} the same five; next best: {others}, whose "
        f"squared error is {100 * (second.cv_mse / five.best.cv_mse - 1):.1f} % larger",
    )


def _number(name: str) -> str:
    words = {
        "1": "game",
        "3": "three",
        "5": "five",
        "10": "ten",
        "3-val": "three for tuning",
        "5-val": "five for tuning",
    }
    return words[name]
