"""Run a Python program with our emulator in place of ale-py: ``python -m arcademark.ale train.py --args``.

`_USAGE` describes the options. The rest is passed to Python unchanged: a script, a folder, ``-m module`` or
``-c code``, with arguments.
"""

from __future__ import annotations

import os
import sys
from itertools import dropwhile, takewhile

from arcademark.ale import installation

_USAGE = """usage: python -m arcademark.ale [--envpool] [--strict] SCRIPT | -m MODULE | -c CODE [ARGUMENTS]

Runs a program as python does, with our emulator in place of ale-py, also in the processes that it starts.
At the end, one line reports how many frames each emulator played.

--envpool  also replace EnvPool by arcademark.ale.envpool, whether it is installed or not
--strict   raise an error where ale-py would play
Python's own options come first: python -u -m arcademark.ale train.py
"""


def main() -> None:
    """Replace this process by the program."""
    arguments = sys.argv[1:]
    flags = {*takewhile(("--envpool", "--strict").__contains__, arguments)}
    program = [*dropwhile(flags.__contains__, arguments)]
    if not program or (program[0].startswith("-") and program[0][:2] not in ("-m", "-c")):
        helped = program[:1] in (["-h"], ["--help"])
        print(_USAGE, end="", file=sys.stdout if helped else sys.stderr)
        sys.exit(0 if helped else 2)
    if sys.flags.ignore_environment or sys.flags.no_site:
        sys.exit("error: with -E, -I or -S Python does not start arcademark.ale; leave these options out")
    installation.share("--strict" in flags, "--envpool" in flags)
    options = sys.orig_argv[1 : len(sys.orig_argv) - len(arguments)]
    joined = options.pop().removesuffix("arcademark.ale") or options.pop()
    kept = joined.removesuffix("m")  # of "-m" or "-um"
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, *options, *([kept] if kept != "-" else []), *program])


if __name__ == "__main__":
    main()
