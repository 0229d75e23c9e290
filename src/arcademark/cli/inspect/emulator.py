"""``arcademark info emulator``: availability of our own emulator, and its comparison with ale-py, bit for bit."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from arcademark.cli import commands, messages, options
from arcademark.cli.output import Output, with_whole_output
from arcademark.errors import ArcadeMarkError
from arcademark.files import check_replaceable, write_document

if TYPE_CHECKING:
    from collections.abc import Collection

    from arcademark.emulator.comparison import ProofSection


@commands.command("emulator", short_help="Show whether our emulator is available, and for which games it is proven.")
@with_whole_output
def show(output: Output) -> int:
    """Show whether our emulator is available here, and for which games it is proven."""
    from arcademark.emulator import build
    from arcademark.emulator.prove import Here, proven

    try:
        build.core()
        reason, untranslated = None, None if build.compiler() else build.NO_COMPILER
    except build.NoCore as error:
        reason, untranslated = str(error), None
    output.show(Here(build.version(), reason, untranslated, tuple(proven())))
    return 0


@commands.command("emulator prove", short_help="Compare our emulator with ale-py, frame by frame.")
@click.argument("names", metavar="[GAMES]", default="all")
@click.option("--frames", type=options.COUNT, default=10_000, help="Frames to compare per game.")
@click.option("--workers", type=options.COUNT, default=1, help="Processes.")
@click.option("--translated", is_flag=True, help="Compare the games' translations, too.")
@click.option(
    "--run", type=click.Path(path_type=Path, file_okay=False), help="Replay this run's episodes instead of random play."
)
@click.option(
    "--list",
    "listed",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the list of proven games to this file.",
)
def prove(names: str, frames: int, workers: int, translated: bool, run: Path | None, listed: Path | None) -> int:
    """Compare our emulator with ale-py in random play of GAMES, frame by frame, up to the first difference.

    Memory, reward, lives, end and screen are compared.

    GAMES is a suite, a subset or games, separated by commas; "all" is every game that one player can play. With --run,
    a run's recorded episodes of these games are replayed instead: first on our emulator, which must reproduce the
    recorded scores, frames and ends, then frame by frame beside ale-py. Exits with 1 if something differs.
    """
    from arcademark.emulator import games
    from arcademark.emulator import prove as proof
    from arcademark.emulator.build import NoCore
    from arcademark.environments.emulation.atari import rom_path
    from arcademark.suite.subsets import resolve_tasks

    chosen = games.names() if names == "all" else resolve_tasks(names)
    if run is not None:
        if translated or listed is not None:
            raise click.UsageError("--translated and --list cannot be combined with --run")
        return _prove_run(run, chosen, workers)
    if listed is not None:
        check_replaceable(listed, proof.list_text(()).encode())
    sections: dict[str, list[ProofSection]] = {game: [] for game in chosen}
    roms = {game: rom_path(game) for game in chosen}
    try:
        for section in proof.sections(roms, frames, workers=workers, translated=translated):
            sections[section.game].append(section)
            compared = sum(part.frames for part in sections[section.game])
            if section.difference or compared == frames:
                messages.tell(f"{section.game}: {compared:,} frames, {section.difference or 'no difference'}")
    except NoCore as error:
        raise ArcadeMarkError(f"our emulator is not available: {error}; see docs/emulator.md") from None
    played = [part for parts in sections.values() for part in parts]
    if listed is not None:
        write_document(listed, proof.list_text(played))
    return 1 if any(part.difference for part in played) else 0


def _prove_run(directory: Path, chosen: Collection[str], workers: int) -> int:
    from collections import Counter

    from arcademark.emulator.prove import in_processes
    from arcademark.records.reading import read_run
    from arcademark.runs.replay.episodes import select
    from arcademark.runs.replay.proving import prove_episode
    from arcademark.runs.replay.verify import EpisodeCheck

    run = read_run(directory, whole=False)
    tasks = [EpisodeCheck(run.directory, run.protocol, each) for each in select(run) if each.trial.game in chosen]
    outcomes: Counter[str] = Counter()
    for finding in in_processes(prove_episode, ((task,) for task in tasks), workers):
        outcomes[finding.outcome] += 1
        if finding.outcome != "confirmed":
            messages.tell(f"{finding.game}: {finding}")
    frames = sum(task.recorded.episode.frames for task in tasks)
    messages.tell(f"{outcomes['confirmed']:,} of {len(tasks):,} episodes confirmed, {frames:,} frames")
    return 0 if outcomes["confirmed"] == len(tasks) else 1
