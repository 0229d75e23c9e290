"""Display of a run while it is played, on standard error: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Self

from rich.progress import BarColumn, TextColumn
from rich.progress import Progress as Bar

from arcademark import wording
from arcademark.analysis import settings
from arcademark.cli import messages
from arcademark.cli.counting import Words
from arcademark.operations import progress
from arcademark.pages.render.layout import Console
from arcademark.records.model import TrialRecord
from arcademark.runs.playing.events import (
    Event,
    LearnerBegun,
    Lost,
    Note,
    OfTrial,
    Progress,
    RunBegun,
    RunSummary,
    Stopping,
)
from arcademark.suite import protocols

LINE_SECONDS = 30.0
MAX_LEFT_OUT = 3
BAR_WIDTH = 10
PERCENTAGE = len(" 100% ")


class Display:
    """Shows the events of a run, whose lengths are in `unit`; a context manager, as the bar owns the last line."""

    def __init__(self, console: Console | None = None, unit: str = "frame") -> None:
        self._unit = unit
        self._console = console or messages.open_console()
        columns = BarColumn(bar_width=BAR_WIDTH), TextColumn("{task.percentage:>3.0f}%"), Words()
        self._bar = Bar(*columns, console=self._console, transient=True)
        self._task = self._bar.add_task("starting", total=None)
        self._last = time.monotonic()

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._console.is_terminal:
            self._bar.stop()

    def hear(self, event: Event) -> None:
        """Show one event."""
        match event:
            case Note(text, warning):
                self._say(("warning", "yellow") if warning else "note", f": {text}")
            case RunBegun():
                self._begin(event)
            case LearnerBegun():
                self._say(budget(event))
            case TrialRecord():
                self._say(("failed", "red"), f"  {event.agent} on {event.game}, seed {event.seed}: {event.error}")
            case OfTrial(trial_id, Lost(reason)):
                self._say(("lost a worker", "yellow"), f"  {trial_id}: {reason}; playing it again")
            case Stopping():
                self._say(
                    ("stopping", "yellow"),
                    "  at the end of the training episode in play, to keep its progress; Ctrl-C again stops at once "
                    f"and loses the last {wording.plural(event.unkept, 'training episode')}",
                )
            case Progress():
                self._move(event)

    def close(self, summary: RunSummary) -> None:
        """Print how the run ended."""
        if summary.interrupted:
            kept = "everything finished is kept"
            if summary.kept:
                kept = "{:,} of {:,} {}s of training are kept".format(*summary.kept, self._unit)
            elif summary.unkept:
                kept += f" but the last {wording.plural(summary.unkept, 'training episode')}"
            self._say(("stopped", "yellow"), f"  {kept}; the same command continues")
            if summary.decisions:
                self._say("planners' unfinished episodes continue from their last checkpoints, some seconds ago")
        elif summary.episodes == 0 and summary.complete:
            self._say(f"{summary.directory} is complete already; nothing was left to play")
        if summary.episodes:
            self._say(progress.ended(summary, self._unit))
        if summary.failed:
            rest = "nothing is left to score" if len(summary.failed) == summary.trials else "the rest is scored"
            failed = f"{len(summary.failed)} of {wording.plural(summary.trials, 'trial')} failed"
            self._say((failed, "red"), f"; {rest}")

    def _begin(self, event: RunBegun) -> None:
        now = event.progress
        if (now.episodes_done or event.episodes_begun) and now.episodes_done < now.episodes:
            begun = f", {event.episodes_begun:,} more in part" if event.episodes_begun else ""
            done = f"{now.episodes_done:,} of {now.episodes:,} episodes were played before"
            self._say(f"continuing: {done}{begun}")
        if event.episodes_trained:
            self._say(f"training continues after {wording.plural(event.episodes_trained, 'episode')}")
        for left in event.left_out[:MAX_LEFT_OUT]:
            self._say(("left out", "yellow"), f"  {left.agent} on {left.game}: {left.reason}")
        if len(event.left_out) > MAX_LEFT_OUT:
            self._say(("left out", "yellow"), f"  {len(event.left_out) - MAX_LEFT_OUT} more, for similar reasons")

    def _move(self, event: Progress) -> None:
        text = progress.line_of(event, self._unit)
        if self._console.is_terminal:
            completed, total = (None, None) if event.fraction is None else (100 * event.fraction, 100.0)
            room = self._console.width - BAR_WIDTH - PERCENTAGE
            self._bar.update(self._task, description=text[:room], completed=completed, total=total)
        elif time.monotonic() - self._last >= LINE_SECONDS:
            self._last = time.monotonic()
            self._say(text)

    def _say(self, *parts: messages.Part) -> None:
        messages.say(*parts, console=self._console)


def budget(event: LearnerBegun) -> str:
    """Return a learner's budget in words, and the named protocol's where it differs."""
    rules, trial = event.protocol, event.trial
    trials = protocols.learner_trials(rules)
    given = [
        settings.budget(trial.training_frames, trial.training_episodes, rules.unit),
        wording.plural(trial.episodes, "episode"),
        wording.plural(event.seeds, "trial"),
    ]
    usual = [
        settings.named_budget(rules),
        wording.plural(rules.overrides.get("evaluation_episodes", rules.evaluation_episodes), "episode"),
        given[2] if trials is None else wording.plural(trials, "trial"),
    ]
    scored = "then" if rules.reported_episodes == "evaluation" else "scored on its last"
    text = f"{trial.agent} trains for {given[0]}, {scored} {given[1]}, {given[2]} per {wording.noun(rules.unit)}"
    return f"{text}, as in {rules.name}" if given == usual else f"{text}; {rules.name}: {wording.listing(usual)}"
