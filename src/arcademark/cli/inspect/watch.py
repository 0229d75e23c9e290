"""``arcademark watch``: an episode, or two side by side, as a moving picture, on a sheet or in a window."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from arcademark.cli import commands, messages, options
from arcademark.cli.counting import counting
from arcademark.errors import ArcadeMarkError

if TYPE_CHECKING:
    from arcademark.runs.plan import Trial
    from arcademark.runs.replay.episodes import EpisodeFilter
    from arcademark.runs.request import RunOptions


@commands.command("watch", "choice beside out look suite live")
@click.argument("places", metavar="RUN [RUN]", nargs=-1, required=True)
@options.only()
@options.fields("beside", "Also show a second episode, given by its differences", options.EPISODE)
@click.option(
    "--out",
    type=options.PATH,
    metavar="FILE",
    help="Output file: .gif, .mp4 or .png. Replaces only a file of this command.",
)
@options.fields(
    "look",
    "Scale, 2 by default; actions=yes also shows the action; pictures on a .png, 12 by default; speed of the window",
    {
        "scale": click.IntRange(1, 8),
        "actions": click.BOOL,
        "pictures": click.IntRange(1, 400),
        "speed": click.FloatRange(0.1, 16),
    },
)
@options.trusted_suite
@click.option(
    "--live", is_flag=True, help="Show it in a window; RUN may be an agent, which plays --only game=NAME live."
)
@options.combine(options.protocol, options.overrides, options.settings)
def command(
    places: tuple[str, ...],
    choice: EpisodeFilter,
    beside: EpisodeFilter,
    suite: str | None,
    out: Path | None,
    live: bool,
    look: Mapping[str, Any],
    protocol: str | None,
    overrides: Mapping[str, str],
    settings: Mapping[str, str],
    **how: Any,
) -> int:
    """Replay an episode of RUN and write it as an animation with its running score.

    The default is episode 0; --only episode=N selects another. A second RUN, or --beside, shows another episode beside
    it. A .png is a sheet of pictures. MP4 needs the extra 'video'.

    With --live a window shows the episode. RUN may then also be an agent, named as for 'run', which plays --only
    game=NAME (or a task of --suite) live; its action values are shown if it has any. Nothing is recorded, and a learner
    is trained first. Needs the extra 'window'; space pauses, Esc ends.
    """
    from arcademark.runs.replay import watch

    choice = {**choice, "suite": suite}
    speed, scale = look.get("speed", 1), look.get("scale", 2)
    how |= {"actions": look.get("actions", False), "pictures": look.get("pictures", 12)}
    if len(places) > 2:
        raise ArcadeMarkError(f"{len(places)} runs are named; expected one, or two to be shown side by side")
    plays = live and not (Path(places[0]) / "manifest.json").exists()
    if not plays and (protocol or overrides or settings):
        raise ArcadeMarkError("--protocol, --override and --set are for agents that play with --live; leave them out")
    second = (places[-1], cast("EpisodeFilter", {**choice, **beside})) if beside or len(places) > 1 else None
    if not live:
        with counting("drawing", "frames") as follow:
            path = watch.watch(places[0], out=out, beside=second, scale=scale, on_frames=follow, **how, **choice)
        messages.tell(f"watch: {path}")
        return 0
    if out is not None:
        raise ArcadeMarkError("--live shows a window and --out writes a file; leave one of them out")
    from arcademark.records import manifest
    from arcademark.runs.person.window import Window

    if not plays:
        unit = manifest.protocol_of(Path(places[0]), manifest.read(Path(places[0]))).unit
        with Window(f"ArcadeMark: {places[0]}", watch.PER_SECOND[unit] * speed) as window:
            for picture in watch.shown(places[0], beside=second, scale=scale, **choice):
                if not window.show(picture):
                    break
        return 0
    if second is not None:
        raise ArcadeMarkError("an agent that plays is shown alone; record runs to show two side by side")
    trial = _trial(places[0], choice, protocol, {"suite": suite, "overrides": overrides, "settings": settings})
    with Window(f"ArcadeMark: {trial.agent.label}", watch.PER_SECOND[trial.protocol.unit] * speed) as window:
        score = watch.play(trial, window.show, episode=choice.get("episode"), scale=scale)
    messages.tell("watch: ended before the episode" if score is None else f"watch: score {score:,.15g}")
    return 0


def _trial(agent: str, choice: EpisodeFilter, protocol: str | None, how: RunOptions) -> Trial:
    """Return the trial for an agent to play."""
    from arcademark.runs.request import request

    game, episodes = choice.get("game"), (choice.get("episode") or 0) + 1
    if game is None:
        raise ArcadeMarkError(
            f"--live {agent}: not a run's directory, so it is read as an agent; name its game, as in --only game=pong"
        )
    plan = request(agent, protocol, {**how, "seeds": (choice.get("seed") or 0,), "episodes": episodes}).plan(game)
    if len(plan.trials) > 1:
        raise ArcadeMarkError(f"{agent} on {game} is {len(plan.trials)} trials; name one agent and one game")
    return plan.trials[0]
