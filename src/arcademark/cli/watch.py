"""``arcademark watch``: an episode, or two side by side, as a moving picture, on a sheet or in a window."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Unpack, cast

import click

from arcademark.cli import messages, options
from arcademark.cli.counting import counting
from arcademark.errors import ArcadeMarkError

if TYPE_CHECKING:
    from arcademark.runs.plan import Trial
    from arcademark.runs.replay import Choice

NUMBERS = ("seed", "episode")
CHOICES = ("trial", "agent", "game", *NUMBERS)
OF_AGENTS = ("protocol", "override", "settings")


@click.command("watch")
@click.argument("places", metavar="RUN [RUN]", nargs=-1, required=True)
@options.combine(options.one_episode, options.one_game, options.one_agent, options.one_seed, options.one_trial)
@click.option(
    "--beside",
    multiple=True,
    metavar="NAME=VALUE",
    help=f"A second episode next to it, and how it differs: {', '.join(CHOICES)}. May be repeated.",
)
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE", help="Where to write: .gif, .mp4 or .png.")
@click.option("--overwrite", is_flag=True, help="Replace any file; without this, only one that this command wrote.")
@click.option("--scale", type=click.IntRange(1, 8), default=2, show_default=True, help="Size, in times the console's.")
@click.option("--actions", is_flag=True, help="Show the action that is played, too.")
@click.option("--pictures", type=click.IntRange(1, 400), default=12, show_default=True, help="How many, of a .png.")
@options.trusted_suite
@click.option("--live", is_flag=True, help="Show it in a window; RUN may be an agent, which plays --game meanwhile.")
@click.option("--speed", type=click.FloatRange(0.1, 16), default=1, show_default=True, help="Of the window.")
@options.combine(options.protocol, options.override, options.settings)
def command(
    places: tuple[str, ...],
    beside: tuple[str, ...],
    out: Path | None,
    overwrite: bool,
    scale: int,
    actions: bool,
    pictures: int,
    live: bool,
    speed: float,
    protocol: str,
    override: tuple[str, ...],
    settings: tuple[str, ...],
    **choice: Unpack[Choice],
) -> int:
    """Replay an episode of RUN and write it as a moving picture with its running score.

    Without --episode it is the trial's first, episode 0. A second RUN, or --beside, has another next to it. A .png is a
    sheet of pictures. MP4 needs the extra 'video'.

    With --live a window shows the episode, or what an agent that is named as for 'run' plays meanwhile (--game, a task
    of --suite if that is given), with the values that it gives actions where it tells them (extra 'window'; space
    pauses, Esc ends). Nothing of that is recorded; a learner is trained before.
    """
    from arcademark.runs import watch

    if len(places) > 2:
        raise ArcadeMarkError(f"{len(places)} runs are named; expected one, or two to be shown side by side")
    plays = live and not (Path(places[0]) / "manifest.json").exists()
    if not plays and any(map(options.given, OF_AGENTS)):
        raise ArcadeMarkError("--protocol, --override and --set are of an agent that plays: leave them out, or --live")
    second = (places[-1], _differing(choice, beside)) if beside or len(places) > 1 else None
    if not live:
        with counting("drawing", "frames") as follow:
            path = watch.watch(
                places[0],
                out=out,
                beside=second,
                scale=scale,
                actions=actions,
                pictures=pictures,
                overwrite=overwrite,
                on_frames=follow,
                **choice,
            )
        messages.tell(f"watch: {path}")
        return 0
    if out is not None:
        raise ArcadeMarkError("--live shows a window and --out writes a file; leave one of them out")
    from arcademark.runs import manifest
    from arcademark.runs.window import Window

    if not plays:
        unit = manifest.protocol_of(Path(places[0]), manifest.read(Path(places[0]))).unit
        with Window(f"ArcadeMark: {places[0]}", watch.PER_SECOND[unit] * speed) as window:
            for picture in watch.shown(places[0], beside=second, scale=scale, **choice):
                if not window.show(picture):
                    break
        return 0
    if second is not None:
        raise ArcadeMarkError("an agent that plays is shown alone; record runs to show two side by side")
    trial = _trial(places[0], choice, protocol, override, settings)
    with Window(f"ArcadeMark: {trial.agent.label}", watch.PER_SECOND[trial.protocol.unit] * speed) as window:
        score = watch.play(trial, window.show, episode=choice.get("episode"), scale=scale)
    messages.tell("watch: ended before the episode" if score is None else f"watch: score {score:,.15g}")
    return 0


def _differing(choice: Choice, beside: tuple[str, ...]) -> Choice:
    """Return the choice of the second episode."""
    changed: dict[str, str | int] = {}
    for name, value in options.pairs("beside", beside).items():
        if name not in CHOICES or (name in NUMBERS and not value.isdecimal()):
            raise ArcadeMarkError(f"--beside {name}={value}: expected one of {', '.join(CHOICES)}, as in seed=1")
        changed[name] = int(value) if name in NUMBERS else value
    return cast("Choice", {**choice, **changed})


def _trial(agent: str, choice: Choice, protocol: str, override: tuple[str, ...], settings: tuple[str, ...]) -> Trial:
    """Return the trial that an agent is to play."""
    from arcademark.agents.loading import agent_specs
    from arcademark.runs.plan import make_plan

    game, parameters = choice.get("game"), options.pairs("set", settings)
    if game is None:
        raise ArcadeMarkError(f"--live {agent}: no run's directory, so an agent; name the game that it plays by --game")
    rules = options.rules(protocol, choice.get("suite"), override)
    episodes = (choice.get("episode") or 0) + 1
    plan = make_plan(agent_specs(agent, parameters), game, rules, (choice.get("seed") or 0,), episodes)
    if len(plan.trials) > 1:
        raise ArcadeMarkError(f"{agent} on {game} is {len(plan.trials)} trials; name one agent and one game")
    return plan.trials[0]
