"""A window shows pictures and hears of keys; where there is none that anybody could see, that is said."""

import sys

import numpy as np
import pytest

from arcademark.errors import ArcadeMarkError
from arcademark.runs.playing.window import Window

PICTURE = np.full((40, 60, 3), (10, 200, 30), np.uint8)


def test_without_its_extra_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pygame", None)
    with pytest.raises(ArcadeMarkError, match=r"needs pygame-ce: pip install '\.\[window\]'"), Window("none"):
        pass


@pytest.mark.usefixtures("driver")
def test_keys_pause_and_end():
    import pygame

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
    import pygame

    monkeypatch.setattr(pygame.display, "get_driver", lambda: "offscreen")
    with pytest.raises(ArcadeMarkError, match=r"no window can be opened here .*there is no display"), Window("none"):
        pass
