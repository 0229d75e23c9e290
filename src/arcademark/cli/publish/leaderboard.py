"""``arcademark leaderboard``: the leaderboard as pages that need no network."""

from __future__ import annotations

from pathlib import Path

import click

from arcademark.cli import commands, messages, options, tables
from arcademark.cli.counting import counting, replaying
from arcademark.errors import ArcadeMarkError
from arcademark.files import check_folder, write_output


@commands.command("leaderboard")
@click.argument("sources", nargs=-1, metavar="[RUN…]", type=options.PATH)
@click.option(
    "--out",
    type=options.PATH,
    default=Path("site"),
    metavar="FOLDER",
    help="Folder for the pages; those of an earlier leaderboard are replaced.",
)
@click.option("--collection", metavar="NAMES", help="Only these collections of the catalogue.  [default: all]")
@click.option("--no-replay", is_flag=True, help="Do not replay the runs' episodes; the runs then have no badge.")
@click.option("--no-animations", is_flag=True, help="Leave out the animations of episodes.")
@options.trusted_suite
@options.workers
def command(
    sources: tuple[Path, ...],
    out: Path,
    collection: str | None,
    no_replay: bool,
    no_animations: bool,
    suite: str | None,
    workers: int | None,
) -> int:
    """Write the leaderboard: the catalogue's published scores and those of RUN…, as pages that need no network.

    RUN is a run's directory, a folder of runs, or any table that 'arcademark report' reads; runs on other tasks
    than Atari games get a leaderboard of their own. Runs are replayed first, and get a badge if every score is
    confirmed; otherwise the exit code is 1.
    """
    from arcademark.analysis.site import analysis
    from arcademark.analysis.tables.loading import EVERYTHING, ScoreSource
    from arcademark.catalogue import collections
    from arcademark.operations import videos
    from arcademark.pages.render import pages
    from arcademark.records import imported, manifest
    from arcademark.records.model import RunRecord
    from arcademark.records.replayed import Verification
    from arcademark.runs.replay.episodes import read_to_replay
    from arcademark.runs.replay.verify import verify
    from arcademark.scores.reading import runs_in

    check_folder(out, page=pages.PAGE)
    names = tables.names("collection", collection) or (EVERYTHING,)
    if names != (EVERYTHING,):
        collections.select(names)
    for source in sources:
        if source.is_dir() and not runs_in(source) and any(source.rglob(manifest.FILE)):
            raise ArcadeMarkError(f"{source}: contains runs and other tables; name each, so that the runs are replayed")
    places: list[ScoreSource] = []
    for source in sources:
        places += [read_to_replay(run, suite) for run in runs_in(source)] if runs_in(source) else [source]
    played = [place for place in places if isinstance(place, RunRecord) and imported.origin(place) is None]
    replays: dict[str, Verification] = {}
    for run in () if no_replay else played:
        with replaying() as follow:
            replays[str(run.directory)] = verify(run, workers=workers, on_finding=follow, suite=suite)
    sections, films, left_out = videos.make_films(
        [] if no_animations else [run for run in played if run.protocol.unit == "frame"]
    )
    with counting("summing up", "results") as follow:
        result = analysis.analyse(places, replays, sections, names, follow)
    written = {**films, **pages.render(result)}
    for name, content in written.items():  # the page that `check_folder` looks for is the last
        write_output(out / name, content)
    for old in (out / "films").glob("[0-9]*.*"):  # an earlier leaderboard's
        if f"films/{old.name}" not in written:
            old.unlink()
    for place, one in replays.items():
        if not one.ok:
            messages.say(f"{place}: {len(one.problems):,} of {len(one.findings):,} episodes are not confirmed")
    total = sum(map(len, written.values())) / 1e6
    messages.tell(
        f"{len(result.algorithms):,} algorithms, {len(films)} animations ({left_out} left out), {total:.1f} MB"
    )
    messages.tell(f"site: {(out / pages.PAGE).resolve().as_uri()}")
    return 0 if all(one.ok for one in replays.values()) else 1
