"""What a reader must be told before believing a number: kinds of notices, most important first."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType

from arcademark.reports.document import Level, Notice

KINDS: MappingProxyType[str, Level] = MappingProxyType(
    {
        "imported": "warning",
        "training_log": "warning",
        "partial_suite": "warning",
        "protocols_differ": "warning",
        "emulators_differ": "warning",
        "modified_protocol": "warning",
        "training_differs": "warning",
        "protocol_unknown": "warning",
        "games_differ": "warning",
        "few_runs": "warning",
        "episodes_as_runs": "warning",
        "estimate_doubtful": "warning",
        "estimate_refused": "warning",
        "no_reference": "warning",
        "comparison": "warning",
        "impossible": "warning",
        "scale": "warning",
        "implausible": "warning",
        "counter": "warning",
        "names_alike": "warning",
        "reference_named": "warning",
        "differs": "warning",
        "trials_failed": "warning",
        "trials_incomplete": "warning",
        "training_short": "warning",
        "training_budget": "warning",
        "few_starts": "warning",
        "trained_elsewhere": "warning",
        "test_games": "warning",
        "human_stepped": "warning",
        "human": "note",
        "estimate_reading": "note",
        "estimate_tuning": "note",
        "suite_complete": "note",
        "episodes_truncated": "note",
        "fewer_episodes": "note",
        "fewer_trials": "note",
        "starts": "note",
        "parameters": "note",
        "device": "note",
        "action_interval": "note",
        "planning": "note",
        "best_of": "note",
        "left_out": "note",
        "played_apart": "note",
        "records": "note",
        "measures": "note",
        "units": "note",
        "efficiency": "note",
        "runs": "note",
        "intervals": "note",
        "tests": "note",
        "untested": "note",
        "settings": "note",
        "power": "note",
        "read": "note",
        "hard_exploration": "note",
    }
)


def notice(kind: str, text: str, hint: str = "") -> Notice:
    """Make a notice; its level is that of its kind."""
    return Notice(kind, KINDS[kind], text, hint)


def sort(found: Sequence[Notice]) -> tuple[Notice, ...]:
    """Put notices in order, warnings first, each text once."""
    order = {kind: place for place, kind in enumerate(KINDS)}
    return tuple(sorted(dict.fromkeys(found), key=lambda item: order[item.kind]))
