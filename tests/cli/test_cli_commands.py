import importlib
import io
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

from altering import alter, manifest
from arcademark.cli.main import COMMANDS, FORMER, cli
from arcademark.environments.registry import choose_emulator
from arcademark.records.reading import read_run


def test_help_lists_every_command_and_loads_none():
    code = (
        "import sys; from arcademark.cli.main import cli; cli(['--help'], standalone_mode=False); print(*sys.modules)"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert all(f"\n{heading}:\n" in told for heading in COMMANDS)
    assert all(f"\n  {name} " in told for group in COMMANDS.values() for name in group)
    loaded = told.splitlines()[-1].split()
    assert not {"rich", "numpy", "matplotlib", *(f"arcademark.cli.{heading.lower()}" for heading in COMMANDS)} & {
        *loaded
    }


def every_command(group=cli, above=()):
    context = click.Context(cli)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from every_command(command, (*above, name))
        else:
            yield (*above, name), command


def test_there_are_few_commands_and_options_and_help_shows_the_usual_ones(invoke):
    commands = dict(every_command())
    assert sum(map(len, COMMANDS.values())) <= 20
    options = {
        names: {one.name for one in command.params if isinstance(one, click.Option)}
        for names, command in commands.items()
    }
    assert sum(map(len, options.values())) <= 300
    for names, command in commands.items():
        assert len(command.usual or options[names]) <= 10
        assert options[names].issuperset(command.usual)
    shown, everything = invoke("run", "--help").out, invoke("run", "--help", "all").out
    assert "--help all shows 13 more" in shown
    assert [("--games" in text, "--engine" in text) for text in (shown, everything)] == [(True, False), (True, True)]


def test_run_shows_the_score_and_the_same_command_continues(invoke, short):
    command = ("run", "random", "--games", "pong", "--episodes", 2, *short)
    first = invoke(*command, code=0)
    assert "Pong" in first.out
    assert "2 episodes" in first.err
    assert Path("runs/random/manifest.json").exists()
    again = invoke(*command, code=0)
    assert "complete already" in again.err
    assert again.out == first.out
    assert "continuing: 2 of 3 episodes" in invoke("run", "random", "--episodes", 3, *short).err  # its games, no others


@pytest.mark.slow
def test_run_says_what_played_and_why_not(invoke, short, monkeypatch):
    asked = ("run", "random", "--games", "pong", "--episodes", 1, *short)
    assert "played on ale-py" in invoke(*asked, "--engine", "emulator=ale", "--out", "ale").words
    if choose_emulator("pong") == "console":
        chosen = invoke(*asked, "--engine", "emulator=console", "--out", "console")
        assert "played on the ArcadeMark emulator (core " in chosen.words
        assert "compiling" not in invoke(*asked, "--out", "chosen").err
        assert "played on the ArcadeMark emulator (core " in invoke("report", "chosen").words
    monkeypatch.setenv("ARCADEMARK_CONSOLE", "off")
    without = invoke(*asked, "--out", "without")
    assert "played on ale-py" in without.words
    assert "console" not in without.err
    refused = invoke(*asked, "--engine", "emulator=console", "--out", "refused", code=2)
    assert "switched off by ARCADEMARK_CONSOLE; use --engine emulator=ale" in refused.err
    assert not Path("refused").exists()


@pytest.mark.slow
def test_a_quiet_run_prints_what_a_quiet_report_does(invoke, short):
    command = ("run", "random", "--games", "pong", *short, "--out", "quiet")
    quiet = invoke(*command, "--quiet", "--save", "page.html").out
    assert quiet == invoke("report", "quiet", "--quiet", "--save", "page.html").out
    assert len(quiet.splitlines()) == 2
    assert len(invoke(*command).out.splitlines()) > 10


@pytest.mark.slow
def test_a_quiet_report_gives_the_estimate_and_where_the_page_is(invoke, played, short):
    refused, page = invoke(
        "report", played, "--save", "page.html", "--quiet", "--estimator", "atari-5"
    ).out.splitlines()
    missing = "Battle Zone, Double Dunk, Name This Game and Phoenix"
    assert refused.startswith("random: no verdict: too few episodes")
    assert f"no estimate of the atari-57 median; Atari-5 also needs {missing}" in refused
    assert page == f"page: {Path('page.html').resolve().as_uri()}"
    assert invoke("run", "random", "--games", "atari-5", "--episodes", 1, *short, "--out", "five").code == 0
    (line,) = invoke("report", "five", "--quiet").out.replace("\N{NO-BREAK SPACE}", " ").splitlines()
    assert re.search(r"; below [\d.]+ %, the atari-57 median HNS, estimated from 5 games; doubtful", line)
    (line,) = invoke("report", "five", "--quiet", "--estimator", "atari-5").out.splitlines()
    assert "median HNS, estimated from Atari-5; doubtful" in line


@pytest.mark.slow
def test_verify_confirms_and_catches_a_forged_score(invoke, played):
    assert invoke("verify", played).code == 0
    alter(played, "UPDATE episode SET score = score + 1000 WHERE episode = 1 AND trial LIKE '%pong%'")
    caught = invoke("verify", played, code=1)
    assert "pong" in caught.out
    assert "3 of 4 episodes confirmed, 1 differs, 0 could not be replayed" in caught.words
    document = invoke("verify", played, "--format=json").json
    assert (document["ok"], document["confirmed"], document["differing"]) == (False, 3, 1)


@pytest.mark.parametrize(
    "topic", ["games", "suites", "subsets", "protocols", "agents", "algorithms", "features", "schemas"]
)
def test_info_lists_and_shows_each(invoke, topic):
    document = invoke("info", topic, "--format=json").json
    (listed,) = (value for key, value in document.items() if key != "schema")
    assert len(listed) >= 2
    for entry in listed:
        name = next(iter(entry.values()))
        assert invoke("info", topic, name).code == 0
        one = invoke("info", topic, name, "--format=json").json
        assert topic == "schemas" or one == document | {key: [entry] for key in document if key != "schema"}


def test_info_has_numbers_and_lists_in_its_json(invoke):
    (five,) = invoke("info", "subset", "atari-5", "--format=json").json["subsets"]
    assert (five["log_error"], five["nested"]["n"], len(five["tasks"])) == (0.104, 43, 5)
    (suite,) = invoke("info", "suite", "atari-57", "--format=json").json["suites"]
    assert (len(suite["tasks"]), suite["references"]) == (57, ["random", "human", "human_world_record"])
    assert suite["subsets"]["atari-5"] == five["tasks"]
    (game,) = invoke("info", "game", "battle zone", "--format=json").json["games"]
    random = next(one for one in game["references"] if (one["kind"], one["suite"]) == ("random", "atari-57"))
    assert (random["score"], random["alternatives"][0]["score"]) == (2360.0, 236.0)
    assert {one["kind"] for one in game["anomalies"]} == {"counter", "differs", "endless"}
    (rules,) = invoke("info", "protocol", "ale-2013", "--format=json").json["protocols"]
    assert rules["settings"]["max_frames_per_episode"]["value"] == 18_000


@pytest.mark.parametrize(("topic", "listed"), [("agents", "agents"), ("features", "sets")])
def test_info_says_what_every_parameter_means(invoke, topic, listed):
    for item in invoke("info", topic, "--format=json").json[listed]:
        assert all(len(one["meaning"]) > 10 for one in item["parameters"].values()), item["name"]


def test_info_reads_an_own_agent(invoke, tmp_path):
    (tmp_path / "own.py").write_text(
        'class Mine:\n    """Does what it must.\n\n    Parameters\n    ----------\n    env : EnvironmentSpec\n'
        '    depth, width : int\n        How far.\n    """\n\n'
        "    def __init__(self, env, *, depth: int = 3, width: int, other: float = float('inf')):\n        pass\n\n"
        "    def act(self, observations, first, rngs):\n        return [0]\n"
    )
    reference = f"{tmp_path / 'own.py'}:Mine"
    (found,) = invoke("info", "agent", reference, "--format=json").json["agents"]
    assert (found["name"], found["kind"], found["summary"]) == (reference, "policy", "Does what it must.")
    assert found["parameters"] == {
        "depth": {"default": 3, "required": False, "type": "int", "meaning": "How far."},
        "width": {"default": None, "required": True, "type": "int", "meaning": "How far."},
        "other": {"default": "inf", "required": False, "type": "float", "meaning": ""},
    }
    assert "int: How far." in invoke("info", "agent", reference).out
    assert invoke("info", "agent", f"{tmp_path / 'own.py'}:Nothing").code == 2


def test_a_terminal_without_the_letters_gets_others_in_their_place(invoke, monkeypatch):
    out = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", out)
    assert invoke("info", "subsets").code == 0
    out.flush()
    assert b"atari-5" in out.buffer.getvalue()


def test_an_agent_may_have_a_name_of_its_own(invoke, short):
    asked = ("run", "random", "--games", "pong", "--episodes", 1, *short, "--out", "run")
    assert invoke(*asked, "--name", "PPO (ours)").out.startswith("PPO (ours) on Pong under ")
    assert "PPO (ours)" in invoke("report", "run").out
    assert "another run" in invoke(*asked).err


def test_a_run_is_recorded_in_the_local_folder_that_a_variable_names(invoke, short, monkeypatch, tmp_path):
    (tmp_path / "disk").mkdir()
    monkeypatch.setenv("LOCAL", str(tmp_path / "disk"))
    asked = ("run", "random", "--games", "pong", "--episodes", 1, *short, "--out", "run", "--engine")
    missing = invoke(*asked, "scratch=$LOCAL/none", code=2)
    assert f"{tmp_path}/disk/none: cannot be read or written" in "".join(missing.err.split("\n"))
    assert invoke(*asked, "scratch=$LOCAL").code == 0
    assert len(read_run("run").episodes) == 1
    assert not any((tmp_path / "disk").iterdir())


def test_a_package_that_is_gone_meanwhile_is_told_of_in_a_line(invoke, monkeypatch):
    module = importlib.import_module("arcademark.cli.inspect.runs")

    def gone(*_, **__):
        raise ModuleNotFoundError("No module named 'arcademark.records.ledger'")

    monkeypatch.setattr(module.list_, "callback", gone)
    refused = invoke("runs", "list", ".", code=2)
    assert refused.err.startswith("arcademark: No module named 'arcademark.records.ledger'; if packages were installed")
    assert len(refused.err.splitlines()) == 1


def test_a_run_of_a_subset_that_is_no_more_is_read_and_goes_on(invoke, short):
    command = ("run", "random", "--games", "alien,assault", "--episodes", 1, *short)
    invoke(*command, code=0)
    with manifest(Path("runs/random")) as document:
        document["command"] = document["command"].replace("alien,assault", "atari-5-2026")
    assert "Assault" in invoke("report", "runs/random", code=0).out
    assert "atari-5-2026" in invoke("runs", "ledger", "--format=json").out
    again = invoke("run", "random", "--episodes", 2, *short, code=0)
    assert "continuing: 2 of 4 episodes" in again.err
    assert "all 4 recorded episodes replay" in invoke("verify", "runs/random", code=0).words
    refused = invoke(*("run", "random", "--games", "atari-5-2026", *short, "--out", "new"), code=2).err
    assert "unknown game 'atari-5-2026'; did you mean" in refused


@pytest.mark.parametrize("name", FORMER)
def test_a_former_command_is_told_its_new_name(invoke, name):
    refused = invoke(*name.split(), "runs/it", code=2)
    assert refused.err.strip() == f"arcademark: unknown command '{name}'; it is 'arcademark {FORMER[name]}' now"
    assert invoke(*FORMER[name].split(), "--help").code == 0
