"""Objects with `plan` become checked planners, whose mistakes are told in one line."""

import numpy as np
import pytest

from arcademark.agents.adapters import adapt
from arcademark.errors import ArcadeMarkError


class Answers:
    """A planner that answers with what it was given."""

    def __init__(self, answer, **attributes):
        self.answer = answer
        vars(self).update(attributes)

    def plan(self, model, state, first, rng):
        return self.answer


class Yields(Answers):
    def plan(self, model, state, first, rng):
        yield from self.answer[:-1]
        return self.answer[-1]


class Keeping(Yields):
    def checkpoint(self):
        return bytearray(b"abc")

    def restore(self, checkpoint):
        self.answer = [len(checkpoint)]


def ask(planner, env):
    """Return what it yields and what it chooses."""
    yielded = []
    planning = adapt(planner, "mine", env).plan(None, None, True, None)
    while True:
        try:
            yielded.append(next(planning))
        except StopIteration as end:
            return yielded, end.value


@pytest.mark.parametrize("answer", [0, 17, np.int64(4), np.array(4), np.uint8(9)])
def test_a_plain_answer_and_a_generator_are_both_fine(env, answer):
    assert ask(Answers(answer), env) == ([], int(answer))
    assert ask(Yields([None, None, answer]), env) == ([False, False], int(answer))
    assert type(ask(Answers(answer), env)[1]) is int


def test_a_decision_can_be_kept_only_by_who_keeps(env):
    assert ask(Keeping([None, True, 3]), env) == ([False, True], 3)
    assert ask(Yields([None, True, 3]), env) == ([False, False], 3)


@pytest.mark.parametrize(
    ("planner", "message"),
    [
        (Answers(18), "plan chose action 18; expected 0 to 17"),
        (Answers(-1), "plan chose action -1; expected 0 to 17"),
        (Answers(2.0), "plan returned float; expected an integer, the action"),
        (Answers(True), "plan returned bool; expected an integer, the action"),
        (Answers(np.array([1, 2])), "plan returned ndarray; expected an integer, the action"),
        (Yields([None]), "plan returned NoneType; expected an integer, the action"),
        (Yields([7, 7]), "plan yielded 7; expected None or True, and the action to be returned"),
    ],
)
def test_an_answer_that_is_no_action(env, planner, message):
    with pytest.raises(ArcadeMarkError, match=f"^agent mine on pong: {message}$"):
        ask(planner, env)


def test_what_it_keeps_is_bytes(env):
    planner = adapt(Keeping([3]), "mine", env)
    assert planner.checkpoint() == b"abc"
    assert type(planner.checkpoint()) is bytes
    planner.restore(b"12345")
    assert planner.planner.answer == [5]


@pytest.mark.parametrize(
    ("planner", "message"),
    [
        (Answers(0, plan=lambda *_: 1 / 0), r"agent mine on pong: plan raised ZeroDivisionError: .* \(.*line"),
        (Keeping([3], checkpoint=lambda: "text"), "checkpoint returned str; expected bytes"),
        (Keeping([3], restore=lambda data: data["x"]), "restore raised TypeError"),
        (Answers(1, checkpoint=bytes), r"it has checkpoint\(\) alone; a planner needs both"),
        (Answers(1, restore=bytes), r"it has restore\(\) alone; a planner needs both"),
    ],
)
def test_its_mistakes_are_told_in_one_line(env, planner, message):
    def use():
        ask(planner, env)
        kept = adapt(planner, "mine", env)
        kept.checkpoint()
        kept.restore(b"")

    with pytest.raises(ArcadeMarkError, match=message):
        use()
