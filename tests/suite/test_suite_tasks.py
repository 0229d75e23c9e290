import pytest
from ale_py import roms

from arcademark.errors import ArcadeMarkError, UnknownNameError
from arcademark.suite import tasks
from arcademark.suite.tables import read_rows
from arcademark.suite.tasks import canonical_game, games, suite, suites

NO_SINGLE_PLAYER_ROM = {"combat", "joust", "maze_craze", "warlords"}

SPELLINGS = {
    "qbert": ["Q*Bert", "qberty", "ALE/Qbert-v5", "QbertNoFrameskip-v4", "Qbert-ramDeterministic-v4"],
    "montezuma_revenge": ["Montezuma's Revenge", "Montezuma’s Revenge", "MontezumaRevenge-v0"],
    "jamesbond": ["James Bond", "James Bond 007"],
    "up_n_down": ["Up 'n Down", "Up and Down", "UpNDown-ram-v0"],
    "double_dunk": ["DoubleDdunk", "DoubleDunk"],
    "riverraid": ["River Raid", "Atari 2600 River Raid"],
    "hero": ["H.E.R.O.", "Atari 2600 HERO"],
    "ms_pacman": ["Ms. Pac-Man", "MsPacman-v4"],
    "kung_fu_master": ["Kung-Fu Master", "KungFuMaster"],
    "pitfall": ["Pitfall!", "PitfallDeterministic-v0"],
    "pitfall2": ["Pitfall II", "Pitfall II: Lost Caverns", "ALE/Pitfall2-v5"],
    "yars_revenge": ["Yars' Revenge", "Yar’s Revenge"],
    "space_invaders": ["S. Invaders", "SPACE INVADERS"],
    "tic_tac_toe_3d": ["ALE/TicTacToe3D-v5", "3-D Tic-Tac-Toe"],
    "pong": [
        *("  pong  ", "pong.bin", "Pong-v5", "Video Olympics", "ale_py:ALE/Pong-v5", "gym:Pong-v0", "ALE:Pong-v5"),
        *("ALE_Pong-v5", "ALE-Pong-v5", "Pong_v5", "atari_pong", "atari-pong-v5", "atari/pong", "atari100k_pong"),
    ],
    "trondead": ["TRON : Deadly Discs"],
}


def test_games_are_the_emulators_single_player_roms():
    assert len(games()) == 104
    assert list(games()) == sorted(set(roms.get_all_rom_ids()) - NO_SINGLE_PLAYER_ROM)


def test_every_game_has_a_name_a_genre_and_a_category_that_contains_it():
    categories = {}
    for game in games().values():
        assert game.genre
        categories.setdefault(game.category, set()).add(game.id)
    assert len({game.name for game in games().values()}) == 104
    assert set(categories) == {"action", "adventure", "maze", "platform", "puzzle", "racing", "shooter", "sports"}
    in_suites = {task for entry in suites().values() if entry.name != "ale-47" for task in entry.tasks}
    assert in_suites.isdisjoint(categories["puzzle"])


@pytest.mark.parametrize("game", SPELLINGS)
def test_known_spellings(game):
    assert {spelling: canonical_game(spelling) for spelling in SPELLINGS[game]} == dict.fromkeys(SPELLINGS[game], game)


@pytest.mark.parametrize("row", read_rows("aliases.csv"), ids=lambda row: row["alias"])
def test_every_alias_names_its_game_and_is_needed(row):
    assert canonical_game(row["alias"]) == row["task"]
    assert row["where"]
    game = games()[row["task"]]
    assert tasks.normalised(row["alias"]) not in {tasks.normalised(game.id), tasks.normalised(game.name)}


@pytest.mark.parametrize("separator", ["", " ", "_", "-", "'", "."])
def test_case_spaces_and_punctuation_do_not_matter(separator):
    for game in games().values():
        scattered = separator.join(game.name)
        assert canonical_game(scattered.upper()) == canonical_game(scattered.lower()) == game.id


def test_two_games_never_share_a_name():
    owners = {}
    for game in games().values():
        for spelling in (game.id, game.name):
            owners.setdefault(tasks.normalised(spelling), set()).add(game.id)
    for row in read_rows("aliases.csv"):
        owners.setdefault(tasks.normalised(row["alias"]), set()).add(row["task"])
    assert {key: ids for key, ids in owners.items() if len(ids) > 1} == {}


@pytest.mark.parametrize(("wrong", "close"), [("montezumma", "montezuma_revenge"), ("spaceinvader", "space_invaders")])
def test_an_unknown_game_gets_the_closest_suggestion(wrong, close):
    with pytest.raises(UnknownNameError, match=f"did you mean '{close}'"):
        canonical_game(wrong)


@pytest.mark.parametrize("nonsense", ["", "   ", "-v5", "ALE/", "combat", "pong\0", "po\x1bng", "\x7fpong"])
def test_names_of_no_single_player_game_are_refused(nonsense):
    with pytest.raises(UnknownNameError, match="unknown game"):
        canonical_game(nonsense)


def test_suites_hold_known_games_and_say_where_they_come_from():
    assert {name: len(set(entry.tasks)) for name, entry in suites().items()} == {
        "atari-57": 57,
        "ale-55": 55,
        "atari-100k": 26,
        "ale-47": 47,
    }
    for entry in suites().values():
        assert entry.citation
        assert set(entry.tasks) <= set(games())
    modern, original = suite("atari-57").tasks, suite("ale-55").tasks
    assert modern == tuple(sorted(modern))
    assert original[:5] == suite("ale-55").training_tasks
    assert set(original) - set(modern) == {"carnival", "elevator_action", "journey_escape", "pooyan"}
    assert {*suite("ale-47").tasks, *modern} == games().keys()


def test_an_unknown_suite_is_refused():
    assert suite("ATARI-57") is suite("atari-57")
    with pytest.raises(UnknownNameError, match="atari-57"):
        suite("atari57")


@pytest.mark.parametrize("text", ["", " ", ",", " , ,"])
def test_a_list_that_names_nothing_is_refused(text):
    with pytest.raises(ArcadeMarkError, match=r"--games .*names nothing; name one"):
        tasks.listed(text, "--games")
    assert tasks.listed(" pong,,qbert ,", "--games") == ("pong", "qbert")
