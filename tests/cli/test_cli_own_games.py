"""Commands on games of one's own: what is shown of a file, what they refuse, and where a suite has to be named.

The tutorial's test has the rest: watching memory, a run and its verification.
"""

import json

import gymnasium
import pytest

import own_games
from arcademark.environments.emulation.atari import rom_path
from arcademark.records import manifest


def test_a_file_of_games_is_shown(tmp_path, invoke):
    path = own_games.describe(tmp_path)
    (game,) = json.loads(invoke("info", "games", path, "--format", "json").out)["games"]
    assert (game["name"], game["emulators"], game["problem"], game["known_as"]) == ("catch", ["console"], "", "")
    assert (game["score"], game["end"], game["rom"]) == ("bcd(ram[0x80])", "lives == 0", str(tmp_path / "catch.bin"))
    (tmp_path / "pong.bin").write_bytes(rom_path("pong").read_bytes())
    more = own_games.describe(
        tmp_path, (tmp_path / "pong.bin").read_bytes(), "mine", keep=False, score='"0"', end='"ram[0x8e] == 21"'
    )
    path.write_text(path.read_text() + "\n" + more.read_text())
    shown = invoke("info", "games", path).out
    assert "ale, console" in shown
    (tmp_path / "catch.bin").write_bytes(b"")
    catch, mine = json.loads(invoke("info", "games", path, "--format", "json").out)["games"]
    assert (catch["emulators"], mine["known_as"]) == ([], "pong")
    assert "has the SHA-256 e3b0c4" in catch["problem"]
    odd = own_games.describe(tmp_path, bytes(100), "odd", keep=False, score='"0"', end='"0"')
    (game,) = json.loads(invoke("info", "games", odd, "--format", "json").out)["games"]
    assert game["problem"].startswith(
        "game 'odd': its ROM has 100 bytes; expected one of 2,048"
    )  # and nothing of ale-py
    (suite,) = json.loads(invoke("info", "suites", path, "--format", "json").out)["suites"]
    assert suite["tasks"] == ["catch", "mine"]


def test_a_file_of_games_may_have_any_name(tmp_path, invoke):
    path = own_games.describe(tmp_path)
    for name in ("GAMES.TOML", "games.txt"):
        file = tmp_path / name
        file.write_text(path.read_text())
        assert "bcd(ram[0x80])" in invoke("info", "games", file).out
        assert "A game of my own" in invoke("info", "suites", file).out


@pytest.mark.slow
def test_one_of_several_games_of_a_run_is_chosen_and_games_that_it_did_not_play_are_not_needed(tmp_path, invoke):
    path, run = own_games.describe(tmp_path), tmp_path / "run"
    text = path.read_text()
    names = ("catch", "second", "unplayed")
    path.write_text(
        "\n".join(
            text.replace("tasks.catch", f"tasks.{name}").removeprefix('title = "A game of my own"') for name in names
        )
    )
    asked = ("--episodes", "1", "--workers", "1", "--out", run)
    assert invoke("run", "random", "--suite", path, "--games", "catch,second", *asked).code == 0
    path.write_text(path.read_text().replace("tasks.unplayed", "tasks.renamed"))
    result = invoke("watch", run, "--suite", path, "--out", tmp_path / "a.gif", code=2)
    assert "2 trials match; choose one, as in --only game=catch" in result.err
    watched = ("watch", run, "--suite", path, "--only", "game=second", "--out", tmp_path / "a.gif")
    assert invoke(*watched).code == 0
    assert "all 2 recorded" in invoke("verify", run, "--suite", path, "--workers", "1").words
    assert "its one" in invoke("verify", run, "--suite", path, "--workers", "1", "--only", "game=Catch").words
    path.write_text(path.read_text().replace("tasks.second", "tasks.third"))
    result = invoke("verify", run, "--suite", path, code=2)
    assert "game 'second': the suite catch has none of that name" in result.err
    path.write_text(path.read_text().replace("tasks.catch", "tasks.fourth"))
    result = invoke("verify", run, "--suite", path, code=2)  # of several, the run's first game is named
    assert "game 'catch': the suite catch has none of that name" in result.err


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"end": '"1"'}, "game 'catch': it is over at its start"),
        ({"television": '"PAL"'}, "game 'catch': its ROM has a screen with television NTSC"),
        ({"kind": '"F8"'}, "game 'catch': its ROM has 2,048 bytes"),
    ],
)
def test_a_wrong_description_ends_a_run_before_it_begins_so_that_the_right_one_can_be_played(
    change, what, tmp_path, invoke
):
    run = ("run", "random", "--episodes", "1", "--workers", "1", "--out", tmp_path / "run", "--suite")
    assert what in " ".join(invoke(*run, own_games.describe(tmp_path, **change), code=2).err.split())
    assert not (tmp_path / "run").exists()
    assert invoke(*run, own_games.describe(tmp_path)).code == 0


@pytest.mark.slow
def test_features_are_shown_of_a_game_and_of_its_run(tmp_path, invoke):
    path, run, trajectory = own_games.describe(tmp_path), tmp_path / "run", tmp_path / "actions.txt"
    invoke("run", "random", "--suite", path, "--episodes", "1", "--workers", "1", "--out", run)
    for more in ((), ("--games", "catch"), ("--run", run)):
        (seen,) = json.loads(invoke("info", "features", "show", "ram", "--suite", path, *more, "--format", "json").out)[
            "seen"
        ]
        assert seen["game"] == "catch"
    assert seen["source"].startswith("evaluation episode 0 of random-catch")
    result = invoke("info", "features", "show", "ram", "--suite", "classic-control", code=2)
    assert "suite 'classic-control' has no Atari games; name a file that describes some" in result.err
    invoke("info", "features", "actions", run, "--protocol", "world-records", "--out", trajectory)
    assert trajectory.read_text().startswith("# catch: actions of random, seed 0, evaluation episode 0")


def test_a_suite_is_named_again_where_a_run_goes_on(tmp_path, invoke):
    path, run = own_games.describe(tmp_path), tmp_path / "run"
    asked = ("run", "random", "--episodes", "1", "--workers", "1", "--out", run)
    assert invoke(*asked, "--suite", path).code == 0
    assert json.loads((run / manifest.FILE).read_text())["protocol"]["suite"]["name"] == "catch"
    result = invoke(*asked, code=2)
    assert "was played on tasks of a suite; name it again: --suite" in result.err
    result = invoke("verify", run, code=2)
    assert "whose ROMs are not part of a run; give the file that describes them, with the ROMs" in result.err
    assert invoke("verify", run, "--suite", path).code == 0
    assert ", its score on the only task" in invoke("report", run, "--quiet", code=0).words


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (("run", "random", "--suite", "{}", "--until-error", "15%"), "leave --suite out"),
        (("run", "random", "--suite", "{}", "--protocol", "nature"), "unknown protocol 'nature'"),
        (("run", "random", "--suite", "{}", "--engine", "emulator=ale"), "ale-py does not know its ROM; play it on"),
        (("info", "suites", "check", "{}"), "of Atari games, which are played under one of Atari's protocols"),
        (("run", "random", "--games", "pong,{}"), "is a suite; name it by --suite"),
        (("info", "games", "gymnasium.toml"), "cannot read the file"),
        (("info", "games", "watch-ram", "{}"), "bytes; expected one of 2,048, 4,096"),
        (("info", "games", "watch-ram", "catch.bin", "--save", "x.csv"), "x.csv: this document has no table of rows"),
        (("run", "random", "--suite", "atari-57"), "consists of ALE's own games; name it with --games atari-57"),
    ],
)
def test_what_is_refused(words, what, tmp_path, invoke):
    path = own_games.describe(tmp_path)
    result = invoke(*(word.replace("{}", str(path)) for word in words), code=2)
    assert what in " ".join(result.err.split())
    assert "Traceback" not in result.err


def test_gymnasium_makes_it_by_its_file(tmp_path):
    made = {"game": "catch", "suite": str(own_games.describe(tmp_path)), "action_set": "minimal"}
    name = "arcademark.environments.interfaces.gymnasium:arcademark/own-v0"
    env = gymnasium.make(name, protocol="machado-2018", **made)
    assert env.action_space.n == 6
    assert env.reset(seed=0)[1]["lives"] == 3
    vector = gymnasium.make_vec(name, 2, **made)
    assert vector.reset(seed=0)[0].shape == (2, 4, 84, 84)
