"""Progress of a run in words, and as a bar in a notebook's output."""

from __future__ import annotations

import html
import importlib
import sys
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from arcademark import wording
from arcademark.errors import escaped
from arcademark.runs.playing.events import Event, Learning, Progress, RunSummary

MAX_SCORES = 3


def line_of(event: Progress, unit: str = "frame") -> str:
    """Return a run's progress in one line, the most important part first, as narrow terminals cut it."""
    planning, learning, left = event.planning, event.learning, event.seconds_left
    parts = [] if left is None else [f"{'at most ' if event.at_most else ''}{wording.time_span(left)} left"]
    if learning is not None:
        parts += [_trained(learning, unit), _recent(learning)]
    parts.append(f"{event.episodes_done:,}/{event.episodes:,} episodes")
    parts.append(f"{planning.decisions:,} decisions" if planning else wording.rate(event.frames_per_second, unit))
    parts.append(f"{event.trials_done:,}/{event.trials:,} trials")
    if planning is not None:
        rate = f"{planning.simulated_frames_per_second:,.0f}/s"
        parts.append(f"{planning.simulated_frames:,} {unit}s simulated, {rate}")
    return " · ".join(filter(None, parts))


def ended(summary: RunSummary, unit: str = "frame") -> str:
    """Return the amounts that a command played, its speed and its directory, as text."""
    frames = wording.plural(summary.frames, unit)
    if summary.decisions:
        frames = f"{summary.decisions:,} decisions, {frames} played and {summary.simulated_frames:,} simulated"
    emulated = summary.frames + summary.simulated_frames
    rate = emulated / summary.wall_seconds if summary.wall_seconds else 0.0
    lasted = wording.time_span(summary.wall_seconds)
    episodes = wording.plural(summary.episodes, "episode")
    return f"{episodes}, {frames} in {lasted} ({wording.rate(rate, unit)}) → {summary.directory}"


def _trained(learning: Learning, unit: str) -> str:
    """Return the progress of training as text, in the unit of its budget."""
    if learning.wanted_frames is not None:
        return f"trained {learning.frames:,}/{learning.wanted_frames:,} {unit}s"
    return f"trained {learning.episodes:,}/{learning.wanted_episodes or 0:,} episodes"


def _recent(learning: Learning) -> str:
    """Return the recent scores as text, of at most `MAX_SCORES` games by name."""
    if len(learning.recent) == 1:
        return f"recent score {wording.score(learning.recent[0][1])}"
    games = [f"{game} {wording.score(mean)}" for game, mean in learning.recent[:MAX_SCORES]]
    more = [f"{len(learning.recent) - MAX_SCORES} more"] if len(learning.recent) > MAX_SCORES else []
    return f"recent scores {', '.join(games + more)}" if games else ""


@dataclass(frozen=True)
class _Drawn:
    """A bar as IPython displays it; without a fraction it shows activity only."""

    text: str
    fraction: float | None

    def __repr__(self) -> str:
        return self.text if self.fraction is None else f"{self.fraction:4.0%}  {self.text}"

    def _repr_html_(self) -> str:
        done = "" if self.fraction is None else f' value="{self.fraction:.4f}"'
        share = "" if self.fraction is None else f"{self.fraction:.0%} · "
        return (
            f'<progress aria-label="Progress of the run" max="1"{done} style="width: 12rem"></progress> '
            f'<span style="font-variant-numeric: tabular-nums">{share}{html.escape(escaped(self.text))}</span>'
        )


class NotebookBar:
    """A bar below a notebook's cell that shows the events of runs, a context manager; elsewhere nothing is shown.

    Parameters
    ----------
    unit : str, optional
        Unit of lengths.
    """

    def __init__(self, unit: str = "frame") -> None:
        self._unit = unit
        self._fraction: float | None = None
        self._drawn = _Drawn("starting", None)
        self._handle: Any = None
        ipython = sys.modules.get("IPython")
        shell = ipython and ipython.get_ipython()
        if hasattr(shell, "kernel"):  # a terminal's shell has none, and could not replace what it printed
            display = importlib.import_module("IPython.display").display
            self._handle = display(self._drawn, display_id=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is not None:
            self._show(f"stopped by {kind.__name__}")

    def hear(self, event: Event) -> None:
        """Show the progress of the run, if the event is one."""
        if isinstance(event, Progress):
            self._fraction = event.fraction
            self._show(line_of(event, self._unit))

    def close(self, summary: RunSummary) -> None:
        """Show the summary of a run that has ended."""
        if summary.complete:
            self._fraction = 1.0
        failed = f"; {len(summary.failed):,} of {wording.plural(summary.trials, 'trial')} failed" * bool(summary.failed)
        self._show(f"{'stopped after ' * summary.interrupted}{ended(summary, self._unit)}{failed}")

    def _show(self, text: str) -> None:
        drawn = _Drawn(text, self._fraction)
        if self._handle is not None and drawn != self._drawn:
            self._drawn = drawn
            self._handle.update(drawn)
