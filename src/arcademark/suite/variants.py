"""Variants of a game: changes of a protocol in one way at a time, for measuring an agent's robustness.

Machado et al. (2018) call each mode of a game with each difficulty a flavour.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain, product, zip_longest
from typing import Any, Literal, get_args

from arcademark.suite.modifications import modifications
from arcademark.suite.protocols import AtariProtocol, Protocol, differences
from arcademark.suite.settings import Colours
from arcademark.suite.tasks import games

Kind = Literal["switches", "sticky_actions", "frame_skip", "colours", "modification"]
KINDS: tuple[Kind, ...] = get_args(Kind)

_SETTINGS: Mapping[str, Kind] = {
    "mode": "switches",
    "difficulty": "switches",
    "repeat_action_probability": "sticky_actions",
    "frame_skip": "frame_skip",
    "colours": "colours",
    "modification": "modification",
}
_VALUES: Mapping[str, tuple[Any, ...]] = {
    "repeat_action_probability": (0.5, 0.0, 0.1, 0.75, 0.25),
    "frame_skip": (8, 2, 6, 3, 4),
    "colours": get_args(Colours)[1:],
}
"""Values, tried in this order, without the protocol's own."""


def variants(kind: Kind, game: str, rules: AtariProtocol) -> tuple[dict[str, Any], ...]:
    """Return all changes of a protocol of one kind for a game, in the order of play.

    For switches these are all flavours: difficulties and modes in turn, then both at once.
    """
    if kind == "switches":
        facts = games().get(game)
        if facts is None:
            return ()
        difficulties = _others("difficulty", facts.difficulties, rules, facts.difficulties[0])
        modes = _others("mode", facts.modes, rules, facts.modes[0])
        alone = (change for change in chain(*zip_longest(difficulties, modes)) if change)
        return (*alone, *(one | other for one, other in product(difficulties, modes)))
    if kind == "modification":
        return _others(kind, tuple(modifications().get(game, {})), rules)
    (name,) = (setting for setting, of in _SETTINGS.items() if of == kind)
    return _others(name, _VALUES[name], rules)


def _others(name: str, values: Sequence[Any], rules: AtariProtocol, default: Any = None) -> tuple[dict[str, Any], ...]:
    """Return changes to all values but the protocol's own; its None means ``default``."""
    now = getattr(rules, name)
    return tuple({name: value} for value in values if value != (default if now is None else now))


def kind_of(base: Protocol, varied: Protocol) -> Kind | None:
    """Return the kind in which a protocol was changed; None if there are several, none or another one."""
    kinds = {_SETTINGS.get(difference.setting) for difference in differences(base, varied)}
    return kinds.pop() if len(kinds) == 1 else None
