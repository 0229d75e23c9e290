"""What docstrings say of parameters."""

import pytest

from arcademark import docstrings


class Documented:
    """Plays ``well``, and
    often.

    More of it.

    Parameters
    ----------
    env
    one : int
        The first.

        Its second paragraph: with a colon.
    two, *three : {"a", "b"}
        Both.
    four :
    five: list of int, optional
        As people write it too.

    Attributes
    ----------
    other : int
        No parameter.
    """

    def __init__(self, env, one, two, three, four, five, six):
        """Begin.

        Parameters
        ----------
        one : int
            Not this.
        six : int
            Told here.
        """


def plain(env, *, depth=1):
    pass


def test_each_parameter_has_what_stands_below_its_name():
    assert docstrings.summary(Documented) == "Plays well, and often."
    assert docstrings.parameter_notes(Documented) == {
        "one": "The first. Its second paragraph: with a colon.",
        "two": "Both.",
        "three": "Both.",
        "five": "As people write it too.",
        "six": "Told here.",
    }


@pytest.mark.parametrize("factory", [plain, type("Bare", (), {}), lambda: None, type("Sub", (Documented,), {})])
def test_where_nothing_is_told_nothing_is_made_up(factory):
    assert docstrings.summary(factory) == ""
    assert set(docstrings.parameter_notes(factory)) <= {"one", "six"}
