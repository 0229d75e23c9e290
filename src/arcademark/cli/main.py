"""The ``arcademark`` command: gathers the commands and turns errors into one line.

Exit codes: 0 success; 1 the command ran and found a problem (a trial failed, a score is not confirmed); 2 an error that
the user can correct; 130 stopped with Ctrl-C; 141 the output was closed.
"""

from __future__ import annotations

import errno
import importlib
import io
import os
import sys
import warnings
from typing import Any

import click

from arcademark.cli import messages
from arcademark.cli.commands import CommandGroup
from arcademark.errors import ArcadeMarkError, ArcadeMarkWarning, one_line

_show_warning = warnings.showwarning

COMMANDS = {
    "Play": {
        "run": "Play an agent and show its score, here or as jobs of a SLURM cluster.",
        "plan": "Estimate frames, time and memory of a run.",
        "tune": "Try an agent's parameters on training games.",
        "robustness": "Measure how much an agent loses when the game changes.",
        "play": "Play a game yourself, for practice or for a score.",
        "serve": "Provide games to a training program in any language, over pipes.",
    },
    "Score": {
        "report": "Show scores of runs and tables: verdict, rank, estimate, games, warnings.",
        "compare": "Compare algorithms: tests, intervals, sensitivity, power.",
        "reproduce": "Recompute a paper's tables and figures, and compare them.",
    },
    "Predict": {"subset": "Find the most informative few tasks, predict from them, measure the error."},
    "Publish": {
        "catalogue": "List, export and check published scores; list errata; submit a run.",
        "leaderboard": "Write the leaderboard as pages that work offline.",
    },
    "Inspect": {
        "verify": "Replay a run's recorded actions and confirm its scores.",
        "watch": "Show episodes: GIF, MP4, a sheet of pictures, or a window.",
        "status": "Show the progress of runs, finished or active.",
        "runs": "List, merge, check, cancel, import and export runs; show the ledger of test games.",
        "info": "List games, suites, protocols, agents, features, schemas; check our emulator.",
    },
}
"""Commands by the headings of the help; each is in the module of its name, in the folder of its heading."""

FORMER = {
    **{name: f"runs {name}" for name in ("check", "export", "import", "ledger", "list", "merge")},
    **dict.fromkeys(("submit", "submit-check"), "catalogue submit"),
    **{name: f"info {name}" for name in ("features", "features actions", "features show")},
    **{f"console{rest}": f"info emulator{rest}" for rest in ("", " prove")},
    "cost": "plan",
    "suite": "info suites check",
}
"""Former names of commands, and the current commands."""

ALIASES = {"score": "report", "site": "leaderboard"}
"""Second names of commands."""

SIMILAR = {"--subset": ("--estimator", "--games")}
"""Options to suggest for an unknown one, if the command has them."""

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # matrices are small: threads would wait longer than they compute

FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""Errors of a full disk."""

CLOSED = frozenset({errno.ENAMETOOLONG, errno.EACCES, errno.EPERM, errno.ELOOP, errno.ENOTDIR, errno.EROFS})
"""Errors of a place that cannot be read or written."""


class Top(CommandGroup):
    """All commands, each loaded when it is used."""

    former, aliases = FORMER, ALIASES

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the commands in their order."""
        return [name for group in COMMANDS.values() for name in group]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load the command's own file."""
        for heading, group in COMMANDS.items():
            if cmd_name in group:
                module = importlib.import_module(f"arcademark.cli.{heading.lower()}.{cmd_name}")
                command: click.Command = module.command
                return command
        return None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without loading them."""
        width = max(map(len, self.list_commands(ctx)))
        for heading, group in COMMANDS.items():
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(width), what) for name, what in group.items()])


@click.command(
    cls=Top,
    context_settings={"help_option_names": ["-h", "--help"], "show_default": True},
    epilog="Start with: arcademark run random --episodes 3",
)
@click.version_option(package_name="arcademark", message="%(prog)s %(version)s")
def cli() -> None:
    """Measure how good a game-playing agent really is on the Arcade Learning Environment."""


def main() -> None:
    """Run the command line and exit with its code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    warnings.showwarning = _warn
    try:
        code = cli.main(standalone_mode=False)
        if sys.stdout is not None:
            sys.stdout.flush()
    except ArcadeMarkError as error:
        _fail(str(error), *getattr(error, "__notes__", ()))
    except click.exceptions.NoArgsIsHelpError as error:
        messages.write(f"{error.format_message()}\n")
        code = 0
    except click.UsageError as error:
        where = error.ctx.command_path if error.ctx else "arcademark"
        known = {name for option in error.ctx.command.params for name in option.opts} if error.ctx else set()
        similar = [name for name in SIMILAR.get(getattr(error, "option_name", ""), ()) if name in known]
        hint = f"; did you mean {' or '.join(similar)}" if similar else ""
        _fail(f"{(error.message if similar else error.format_message()).rstrip('.')}{hint}; see '{where} --help'")
    except click.ClickException as error:
        _fail(error.format_message())
    except (click.Abort, KeyboardInterrupt):
        code = 130
    except (BrokenPipeError, SystemExit):  # click and rich exit when the output is closed
        _leave_output()
        code = 141
    except OSError as error:
        if error.errno in CLOSED and error.filename:
            _fail(f"{one_line(str(error.filename), 100)}: {error.strerror}; name another, or change its permissions")
        if error.errno not in FULL:
            raise
        _leave_output()
        _fail(f"cannot write ({error.strerror}); make room, or write elsewhere")
    except ImportError as error:
        kept = "recorded results are kept, and the same command continues"
        _fail(f"{error}; if packages were installed or removed while this command ran, {kept}")
    sys.exit(code if isinstance(code, int) else 0)


def _warn(message: Warning | str, category: type[Warning], *where: Any, **file: Any) -> None:
    if issubclass(category, ArcadeMarkWarning):
        messages.say(f"warning: {message}")
    else:
        _show_warning(message, category, *where, **file)


def _leave_output() -> None:
    """Discard the rest of the output, so that the interpreter does not fail at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(message: str, *notes: str) -> None:
    messages.say(f"arcademark: {message}")
    for note in notes:
        messages.say(f"  {note}")
    sys.exit(2)
