"""Install packages of ours, each into environments of its own with and without a C compiler, and play and report there.

    python tests/docs/clean_install.py dist/*

This needs the Python that runs it alone. pip's settings hold (PIP_NO_INDEX, PIP_FIND_LINKS, …).
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

CHOSEN = "from arcademark.environments.registry import choose_emulator; print(choose_emulator('pong'))"


def environment(folder, compiler):
    """Variables that hide everything but the environment, and the compiler unless it is wanted."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("ARCADEMARK_", "PYTHON"))}
    kept.pop("CC", None)
    path = f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}" if compiler else str(folder / "bin")
    return kept | {"PATH": path, "HOME": str(folder), "ARCADEMARK_CACHE": str(folder / "cache")}


def execute(folder, compiler, *words):
    done = subprocess.run(
        [folder / "bin" / words[0], *words[1:]],
        cwd=folder,
        env=environment(folder, compiler),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, words))}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def install(packages, folder, compiler, *, python=sys.executable):
    """Make an environment and install packages there, by uv where there is one beside this Python."""
    uv = Path(sys.executable).with_name("uv")
    if python == sys.executable:
        venv.create(folder, with_pip=not uv.exists(), symlinks=True)
    else:
        subprocess.run([python, "-m", "venv", *(["--without-pip"] if uv.exists() else []), folder], check=True)
    if uv.exists():
        shutil.copy(uv, folder / "bin")
        where = subprocess.run([uv, "cache", "dir"], capture_output=True, text=True, check=True).stdout.strip()
        cache = ("--cache-dir", where)
        words = ("uv", "pip", "install", *cache, "--python", folder / "bin" / "python")
        return execute(folder, compiler, *words, *packages)
    return execute(folder, compiler, "python", "-m", "pip", "install", *packages)


def replace(package, folder, compiler):
    """Put another package of ours in place of the one that an environment has."""
    if (folder / "bin" / "uv").exists():
        words = ("uv", "pip", "install", "--no-deps", "--reinstall", "--python", folder / "bin" / "python")
    else:
        words = ("python", "-m", "pip", "install", "--no-deps", "--force-reinstall")
    return execute(folder, compiler, *words, package)


def use(folder, compiler):
    """Play, verify, score a table and write a page; return the emulator that played."""
    shutil.rmtree(folder / "run", ignore_errors=True)
    (folder / "scores.csv").write_text("game,mine,theirs\nPong,18.9,20.7\nQ*bert,10596,14293.3\n", encoding="utf-8")
    short = ("--override", "max_frames_per_episode=1200", "--out", "run")
    played = execute(folder, compiler, "arcademark", "run", "random", "--games", "pong", "--episodes", "2", *short)
    chosen = execute(folder, compiler, "python", "-c", CHOSEN).strip()
    assert ("played on the ArcadeMark emulator (core" if chosen == "console" else "played on ale-py") in " ".join(
        played.split()
    ), played
    verified = json.loads(execute(folder, compiler, "arcademark", "verify", "run", "--format", "json"))
    assert (verified["ok"], verified["confirmed"]) == (True, 2), verified
    table = execute(folder, compiler, "arcademark", "report", "scores.csv", "--format", "json")
    assert [one["name"] for one in json.loads(table)["algorithms"]] == ["mine", "theirs"], table
    execute(folder, compiler, "arcademark", "report", "run", "--save", "page.html")
    assert "<svg" in (folder / "page.html").read_text(encoding="utf-8")
    compiled = [*(folder / "cache").rglob("*.so")] if (folder / "cache").exists() else []
    assert compiler or not compiled
    return chosen


def main(packages):
    version = ".".join(map(str, sys.version_info[:3]))
    for package in packages:
        for compiler in (True, False):
            with tempfile.TemporaryDirectory() as scratch:
                folder = Path(scratch).resolve()
                install([Path(package).resolve()], folder, compiler)
                chosen = use(folder, compiler)
            how = "with" if compiler else "without"
            print(f"{Path(package).name}, Python {version}, {how} a compiler: plays on {chosen}", flush=True)
            assert chosen == ("console" if compiler or "linux" in package else "ale")


if __name__ == "__main__":
    main(sys.argv[1:])
