"""A person plays: what a script presses is recorded, replays, and is an agent's like any other's."""

import sys

import numpy as np
import pygame
import pytest

import arcademark
from arcademark.agents.loading import agent_specs
from arcademark.errors import ArcadeMarkError
from arcademark.records.reading import read_actions, read_run
from arcademark.runs.execution import execute
from arcademark.runs.person import human
from arcademark.runs.person.joystick import Stick
from arcademark.runs.person.window import Window
from arcademark.runs.plan import make_plan
from arcademark.runs.replay.verify import verify
from arcademark.suite.protocols import protocol
from arcademark.suite.tasks import JOYSTICK_ACTIONS, games

RULES = protocol("world-records").override({"max_frames_per_episode": 32})


class Scripted(Window):
    """A window where a script says which keys are pressed or, with "-", released after each picture; it never waits."""

    def __init__(self, script):
        super().__init__("test", 1e6)
        self.pictures = []
        self._script = script

    def show(self, picture):
        for key in self._script(len(self.pictures)):
            kind = pygame.KEYUP if key.startswith("-") else pygame.KEYDOWN
            pygame.event.post(pygame.event.Event(kind, key=pygame.key.key_code(key.lstrip("-"))))
        self.pictures.append(picture)
        assert len(self.pictures) < 1000
        return super().show(picture)


@pytest.fixture
def sit(driver, tmp_path):
    def sit(script, episodes=1, **asked):
        plan = human.planned(tmp_path / "run", "toy", RULES, episodes=episodes or 1, **asked)
        with Scripted(script) as window:
            if episodes is None:
                return human.practise(plan.trials[0], window, scale=1), window
            return human.record(plan, tmp_path / "run", window, scale=1), window

    return sit


def always(*keys):
    """Press Enter whenever it could be asked for, and these keys in turn."""
    return lambda count: ("return", "-return", *keys[count % len(keys) :][:1]) if keys else ("return", "-return")


def by_count(**keys):
    """Press keys after the picture of a number: ``_3="left -left"``."""
    return lambda count: keys.get(f"_{count}", "").split()


def test_what_a_person_plays_is_recorded_and_replays(sit, tmp_path):
    sitting, _ = sit(always("left", "-left", "right", "space", "-right", "-space"), 2)
    run = read_run(tmp_path / "run")
    assert list(run.evaluation(run.trials[0])) == sitting.episodes
    assert [(row.episode, row.frames, row.steps) for row in sitting.episodes] == [(0, 32, 8), (1, 32, 8)]
    assert not sitting.left
    assert run.trials[0].agent == "human"
    assert run.trials[0].status == "done"
    played = {JOYSTICK_ACTIONS[action] for action in read_actions(tmp_path / "run", run.trials[0].id, 0).tolist()}
    assert {"LEFTFIRE", "RIGHTFIRE"} <= played
    assert verify(tmp_path / "run", workers=1).confirmed == 2


def test_a_person_who_does_nothing_scores_as_the_agent_that_does_nothing(sit, tmp_path):
    sitting, _ = sit(always(), 3)
    nothing = make_plan(agent_specs("const", {"action": "NOOP"}), ["toy"], RULES, episodes=3, emulator="ale")
    execute(nothing, tmp_path / "nothing", workers=1)
    there = read_run(tmp_path / "nothing").episodes
    assert [row.score for row in there] == [row.score for row in sitting.episodes]
    assert read_actions(tmp_path / "run", read_run(tmp_path / "run").trials[0].id, 2).tolist() == [0] * 8


def test_playing_again_adds_and_what_is_ended_early_is_lost(sit, tmp_path):
    sit(always(), 1)
    ended, _ = sit(lambda count: ("return",) if count < 60 else ("escape",), 2)
    assert (len(ended.episodes), ended.left) == (1, True)
    (trial,) = read_run(tmp_path / "run").trials
    assert (trial.episodes, trial.status) == (3, "running")
    last, _ = sit(always(), 1)
    assert [row.episode for row in last.episodes] == [2]
    assert read_run(tmp_path / "run").trials[0].status == "done"
    waited, _ = sit(by_count(_3="escape"), 1)
    assert (waited.episodes, waited.left) == ([], False)


@pytest.mark.parametrize(
    ("asked", "label"),
    [
        ({"stepped": True}, "human(stepped=true)"),
        ({"name": "Anna"}, "Anna [human]"),
        ({"name": "Anna", "stepped": True}, "Anna [human, stepped]"),
    ],
)
def test_a_label_says_that_it_is_a_person(asked, label, tmp_path):
    assert human.planned(tmp_path, "toy", RULES, **asked).agents[0].label == label


def test_a_pause_hides_the_game_and_plays_nothing(sit):
    sitting, window = sit(by_count(_1="return", _9="p", _30="p"))
    assert sitting.episodes[0].frames == 32
    paused = window.pictures[10]
    assert all((picture == paused).all() for picture in window.pictures[10:31])
    assert (window.pictures[31] != paused).any()
    assert len(window.pictures) == 1 + 1 + 1 + 32 + 21  # blank, waiting, start, frames, pause


def test_stepped_the_game_waits_for_a_key(sit):
    keys = {f"_{place}": "return -return" for place in range(20, 200, 10)}
    sitting, window = sit(by_count(_1="return -return", **keys), stepped=True)
    assert sitting.episodes[0].frames == 32
    assert (window.pictures[5] == window.pictures[20]).all()
    assert (window.pictures[20] != window.pictures[24]).any()


@pytest.mark.parametrize(
    ("stepped", "kind", "told"),
    [(False, "human", "who played in real time"), (True, "human_stepped", "who played step by step")],
)
def test_a_report_says_who_is_a_person(sit, tmp_path, stepped, kind, told):
    sitting, _ = sit(always(), 2, stepped=stepped)
    report = arcademark.report(tmp_path / "run")
    (notice,) = [notice for notice in report.notices if notice.kind.startswith("human")]
    assert (notice.kind, told in notice.text) == (kind, True)
    (person,) = report.runs[0].people
    assert (person.agent, person.stepped, person.episodes) == (report.algorithms[0].name, stepped, 2)
    assert person.seconds == pytest.approx(sum(row.wall_seconds for row in sitting.episodes))
    assert person.game_seconds == pytest.approx(64 / 60)
    assert f"{person.agent} is a person" in report.methods[0]


def test_practice_is_other_games_and_leaves_nothing(sit, tmp_path):
    script = lambda count: ("return", "escape") if count > 100 else ("return",)  # noqa: E731
    sitting, _ = sit(script, None)
    assert len(sitting.episodes) == 2
    assert sitting.left
    assert not (tmp_path / "run").exists()
    assert sitting.error(0.99) >= sitting.error(0.5) >= 0


def test_a_person_is_played_by_no_other_command():
    with pytest.raises(ArcadeMarkError, match="'arcademark play GAME' lets one play"):
        make_plan("human", "pong")


# Keys and a gamepad as the console's joystick, by pygame's events


class Held:
    """A joystick and the names of its actions."""

    def __init__(self, meanings=JOYSTICK_ACTIONS):
        self.stick, self.meanings = Stick(meanings), meanings

    def press(self, *keys, down=True):
        for key in keys:
            self.hear(pygame.KEYDOWN if down else pygame.KEYUP, key=pygame.key.key_code(key))
        return self

    def hear(self, kind, **said):
        self.stick.hear(pygame.event.Event(kind, **said))
        return self

    @property
    def action(self):
        return self.meanings[self.stick.action()]


@pytest.fixture(autouse=True)
def _pygame(driver):
    pygame.display.init()


@pytest.mark.parametrize(
    ("game", "keys", "action"),
    [
        ("", (), "NOOP"),
        ("", ("up",), "UP"),
        ("", ("w", "d"), "UPRIGHT"),
        ("", ("left", "down", "space"), "DOWNLEFTFIRE"),
        ("", ("left", "right"), "RIGHT"),  # the later one
        ("", ("d", "a", "space"), "LEFTFIRE"),
        ("", ("return", "x"), "NOOP"),
        ("pong", ("up", "right", "space"), "RIGHTFIRE"),
        ("pong", ("up",), "NOOP"),
        ("qbert", ("up", "right"), "RIGHT"),  # has no UPRIGHT: the later one
        ("qbert", ("right", "up"), "UP"),
        ("journey_escape", ("up", "space"), "UP"),
    ],
)
def test_keys_are_an_action_and_of_what_a_game_lacks_the_largest_part(game, keys, action):
    held = Held(games()[game].minimal_actions if game else JOYSTICK_ACTIONS).press(*keys)
    assert [held.action, held.action] == [action, action]
    assert held.press(*keys, down=False).action == "NOOP"


def test_a_tapped_key_counts_once():
    held = Held().press("left").press("left", down=False).press("space")
    assert held.stick.touched()
    assert [held.action, held.action] == ["LEFTFIRE", "FIRE"]
    held.press("space", down=False)
    assert not held.stick.touched()


def test_what_is_released_is_forgotten():
    held = Held().press("space")
    assert held.stick.begun
    held.stick.release()
    assert (held.stick.begun, held.action) == (False, "NOOP")
    assert held.press("space", down=False).press("left").action == "LEFT"
    assert not held.stick.begun


def test_a_gamepad_is_a_joystick():
    held = Held()
    held.hear(pygame.JOYAXISMOTION, instance_id=1, axis=0, value=-0.9)
    held.hear(pygame.JOYAXISMOTION, instance_id=1, axis=1, value=0.3)
    held.hear(pygame.JOYBUTTONDOWN, instance_id=1, button=2)
    assert [held.action, held.action] == ["LEFTFIRE", "LEFTFIRE"]
    held.hear(pygame.JOYAXISMOTION, instance_id=1, axis=0, value=0.8)
    held.hear(pygame.JOYBUTTONUP, instance_id=1, button=2)
    assert held.action == "RIGHT"
    held.hear(pygame.JOYAXISMOTION, instance_id=1, axis=0, value=0.0)
    held.hear(pygame.JOYHATMOTION, instance_id=1, hat=0, value=(1, 1))
    assert held.action == "UPRIGHT"
    held.hear(pygame.JOYAXISMOTION, instance_id=1, axis=5, value=1.0)  # a trigger
    held.hear(pygame.JOYDEVICEREMOVED, instance_id=1)
    assert held.action == "NOOP"
    held.press("p")
    assert held.stick.paused
    assert not held.press("p").stick.paused


# A window shows pictures and hears of keys; where there is none that anybody could see, that is said


PICTURE = np.full((40, 60, 3), (10, 200, 30), np.uint8)


def test_without_its_extra_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pygame", None)
    with pytest.raises(ArcadeMarkError, match=r"needs pygame-ce; pip install '\.\[window\]'"), Window("none"):
        pass


@pytest.mark.usefixtures("driver")
def test_keys_pause_and_end():
    def press(key):
        pygame.event.post(pygame.event.Event(pygame.KEYDOWN, key=key))

    with Window("test", 1000) as window:
        assert window.show(PICTURE)
        assert pygame.display.get_caption()[0] == "test"
        seen = pygame.display.get_surface()
        assert (*seen.get_size(), *seen.get_at((5, 5))[:3]) == (60, 40, 10, 200, 30)
        press(pygame.K_SPACE)
        press(pygame.K_SPACE)
        assert window.show(PICTURE)
        assert not window.paused
        press(pygame.K_SPACE)
        press(pygame.K_ESCAPE)
        assert not window.show(PICTURE)
    with Window("test", 1000) as window:
        window.show(PICTURE)
        pygame.event.post(pygame.event.Event(pygame.QUIT))
        assert not window.show(PICTURE)


@pytest.mark.usefixtures("driver")
def test_a_display_that_nobody_sees_is_none(monkeypatch):
    monkeypatch.setattr(pygame.display, "get_driver", lambda: "offscreen")
    with pytest.raises(ArcadeMarkError, match=r"no window can be opened here .*there is no display"), Window("none"):
        pass
