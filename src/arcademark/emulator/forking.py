"""Forks of a process whose threads play: play pauses meanwhile and continues in both processes."""

from __future__ import annotations

import os
import threading
from weakref import WeakSet


class InTurn:
    """Object that threads use in turn, each with the lock `_turns`; a thread that forks the process takes it, too."""

    def __init__(self) -> None:
        self._turns = threading.RLock()
        _all.add(self)

    def _before_fork(self) -> None:
        """Pause activity that the lock does not guard."""

    def _begin_in_child(self) -> None:
        """Continue in a forked process, which has only the thread that forked it."""


_all = WeakSet[InTurn]()
_held: list[InTurn] = []
_forking = threading.RLock()
"""Lock of the thread that forks, the only one that changes `_held`."""


def _before() -> None:
    _forking.acquire()
    for one in [*_all]:
        one._turns.acquire()
        _held.append(one)
        one._before_fork()


def _after() -> None:
    while _held:
        _held.pop()._turns.release()
    _forking.release()


def _after_in_child() -> None:
    for one in _held:
        one._begin_in_child()
    _after()


os.register_at_fork(before=_before, after_in_parent=_after, after_in_child=_after_in_child)
