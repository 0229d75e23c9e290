"""Progress of long work on standard error: a bar on a terminal, else a line now and then; nothing for short work.

The bar appears after `SHORT_SECONDS` even if nothing was counted yet, as while a large file is read.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TimeRemainingColumn
from rich.table import Column

from arcademark.cli import messages
from arcademark.pages.render.layout import Console, Text

SHORT_SECONDS = 1.0
"""Shorter work is not shown."""

LINE_SECONDS = 30.0


class Words(ProgressColumn):
    """Description of a bar, as plain text."""

    def __init__(self) -> None:
        super().__init__(Column(no_wrap=True))

    def render(self, task: Task) -> Text:
        """Show the words of a task."""
        return Text(task.description)


@contextmanager
def counting(
    doing: str, things: str, console: Console | None = None, clock: Callable[[], float] = time.monotonic
) -> Iterator[Callable[[int, int], None]]:
    """Show progress, as in "comparing" "pairs"; yield a function to call with the numbers done and in total."""
    screen = console or messages.open_console()
    columns = Words(), BarColumn(bar_width=24), MofNCompleteColumn(), TimeRemainingColumn()
    bar = Progress(*columns, console=screen, transient=True)
    task = bar.add_task(f"{doing} {things}", total=None)
    begun = clock()
    begin = threading.Timer(SHORT_SECONDS, bar.start)
    begin.daemon = True
    if screen.is_terminal:
        begin.start()
    last = begun + SHORT_SECONDS - LINE_SECONDS

    def follow(done: int, total: int) -> None:
        nonlocal last
        now = clock()
        if now - begun < SHORT_SECONDS:
            return
        if screen.is_terminal:
            bar.start()
            bar.update(task, completed=done, total=total)
        elif done < total and now - last >= LINE_SECONDS:
            last = now
            screen.print(f"{doing} {things}: {done:,} of {total:,}")

    try:
        yield follow
    finally:
        begin.cancel()
        if bar.live.is_started:
            bar.stop()


@contextmanager
def replaying() -> Iterator[Callable[[object, int], None]]:
    """Count the findings of `arcademark.runs.replay.verify.verify`; yield a function of a finding and their number."""
    done = itertools.count(1)
    with counting("replaying", "episodes") as follow:
        yield lambda _, total: follow(next(done), total)
