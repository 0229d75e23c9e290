"""Every command and every example of docs/guide.md is executed, those of a block in their order in one empty folder.

The README and docs/start.md show some of these commands, and no others.

Where playing as written takes minutes, less is played: `SHORTER`.
"""

import itertools
import re
import shlex
import shutil
from pathlib import Path

import pytest
from samples import missing

from arcademark.cli.main import COMMANDS
from arcademark.suite.subsets import resolve_tasks
from arcademark.suite.tasks import games as known_games
from command_line import execute

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
GUIDE = (ROOT / "docs" / "guide.md").read_text(encoding="utf-8")


def blocks(language, page=GUIDE):
    return re.findall(rf"^```{language}\n(.*?)^```", page, flags=re.MULTILINE | re.DOTALL)


def commands_of(page):
    return [
        [shlex.split(line, comments=True) for line in block.splitlines() if line.startswith("arcademark ")]
        for block in blocks("sh", page)
    ]


COMMANDS_OF = commands_of(GUIDE)
"""By block."""

WRITTEN = {
    "verify": ("page.html", "qbert.gif", "site/data.js"),
    "tune": ("curves.png", "basic.png"),
    "tasks": ("tasks/run.sqlite",),
    "reproduce": ("report.html", "compare.html", "figures/bellemare-2013-figure-3.png"),
}
"""By a word of each block's commands: files that these write."""

SHORTER = {
    "--until-error 50%": "--until-error 250%",
    "play qbert --episodes 3": "play --help",
    "serve pong --protocol dqn-2015 --envs 8 --training --seed 7": "serve --help",
    "leaderboard runs/mine": "leaderboard runs/mine --collection iris-2023",
    "submit runs/all": "submit runs/mine",
}
"""What is asked for less or of fewer episodes; nobody is there to play. Those of every run end after 20 seconds."""


@pytest.fixture
def folder(tmp_path):
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    (tmp_path / "paper" / "data").mkdir(parents=True)
    shutil.copy(ROOT / "paper" / "data" / "unseen.csv", tmp_path / "paper" / "data")
    (tmp_path / "scores.csv").write_text(blocks("csv", README)[0])
    return tmp_path


def shorter(command):
    line = shlex.join(command)
    for written, enough in SHORTER.items():
        line = line.replace(written, enough)
    short = ["--override", "max_frames_per_episode=1200"]
    return shlex.split(line) + (short if command[1] == "run" and "--override" not in command else [])


def test_every_command_is_shown():
    assert {command[1] for block in COMMANDS_OF for command in block} == {
        name for group in COMMANDS.values() for name in group
    }


@pytest.mark.parametrize("name", ["README.md", "docs/start.md", "docs/protocols.md", "docs/messages.md"])
def test_other_pages_show_commands_that_are_executed(name):
    executed = [command for block in COMMANDS_OF for command in block]
    shown = [command for block in commands_of((ROOT / name).read_text(encoding="utf-8")) for command in block]
    assert shown
    assert [command for command in shown if command not in executed] == []


@pytest.mark.parametrize("name", ["README.md", "docs/start.md", "docs/guide.md"])
def test_what_commands_read_was_made_before_on_the_page(name):
    made, lacking = set(), []
    for command in (command for block in commands_of((ROOT / name).read_text(encoding="utf-8")) for command in block):
        out = {word for option, word in itertools.pairwise(command) if option in ("--out", "--save")}
        out |= {command[3]} if command[1:3] == ["runs", "merge"] else set()
        read = {word for word in command[1:] if re.match(r"(runs|models|demo|site)/", word) and "{seed}" not in word}
        lacking += sorted(read - out - made)
        made |= out
    assert lacking == []


@pytest.mark.slow
@pytest.mark.parametrize("named", WRITTEN)
def test_every_command(folder, named):
    (block,) = [block for block in COMMANDS_OF if named in [word for command in block for word in command]]
    for command in block:
        assert execute(folder, shorter(command))
    for name in WRITTEN[named]:
        assert (folder / name).stat().st_size > 10_000
    if (folder / "figures").exists():
        assert {path.suffix for path in (folder / "figures").iterdir()} == {".svg", ".png"}


@pytest.mark.slow
def test_the_readme_shows_what_its_commands_print(folder):
    shown = blocks("text", README)
    commands = [block[0] for block in commands_of(README) if block and block[0][1] in ("run", "report")]
    assert len(shown) == len(commands)
    for sample, command in zip(shown, commands, strict=True):
        assert missing(sample, execute(folder, command)) == []


def test_the_readme_is_short_and_its_python_runs(folder, monkeypatch):
    assert len(README.split()) <= 900
    assert len(README.partition("```sh")[0].split()) <= 120  # captions of pictures included
    monkeypatch.chdir(folder)
    (program,) = blocks("python", README)
    exec(program, {})
    assert (folder / "report.html").stat().st_size > 10_000


@pytest.mark.needs("torch")
@pytest.mark.slow
def test_trained_networks_are_played(folder):
    import torch

    (command,) = [line for block in COMMANDS_OF for line in block if "{seed}" in str(line)]
    games = resolve_tasks("atari-5")
    for game, seed in itertools.product(games, range(3)):
        network = torch.nn.Sequential(
            *(torch.nn.Conv2d(4, 2, 8, 4), torch.nn.ReLU(), torch.nn.Flatten()),
            *(torch.nn.Linear(800, 8), torch.nn.ReLU(), torch.nn.Linear(8, len(known_games()[game].minimal_actions))),
        )
        path = folder / command[2].format(game=game, seed=seed)
        path.parent.mkdir(parents=True, exist_ok=True)
        torch.save(torch.nn.ModuleDict({"network": network}).state_dict(), path)
    shown = execute(folder, [*shorter(command), "--episodes", "1"])
    assert "PPO (ours)" in shown


def test_a_script_for_slurm_is_printed(folder):
    (command,) = [line for block in COMMANDS_OF for line in block if "--slurm" in line]
    assert execute(folder, command).startswith("#!/bin/bash")
    assert not (folder / "runs").exists()


@pytest.mark.slow
def test_every_example(folder):
    measure, agent, train, published = blocks("python")
    (folder / "measure.py").write_text(measure)
    shown = execute(folder, ["python", "measure.py"])
    assert "qbert" in shown
    (folder / "firing.py").write_text(agent)
    command = "run firing.py:Firing --set rate=0.25 --games pong --episodes 1 --override max_frames_per_episode=600"
    assert "rate=0.25" in execute(folder, ["arcademark", *command.split()])
    (folder / "train.py").write_text(
        train + "env.reset(seed=0); envs.reset(seed=0); print(envs.step([0] * 8)[1].shape)"
    )
    assert "(8,)" in execute(folder, ["python", "train.py"])
    (folder / "published.py").write_text(published)
    assert "GDI-H3   mean HNS  9623.9 %" in execute(folder, ["python", "published.py"])
