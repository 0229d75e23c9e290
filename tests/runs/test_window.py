"""A window shows pictures and hears of keys; where there is none that anybody could see, that is said."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from arcademark.errors import ArcadeMarkError
from arcademark.runs.window import Window

PICTURE = np.full((40, 60, 3), (10, 200, 30), np.uint8)


def test_without_its_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pygame", None)
    with pytest.raises(ArcadeMarkError, match=r"needs pygame-ce: pip install '\.\[window\]'"), Window("none"):
        pass


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> None:
    """SDL's own display without a screen."""
    pytest.importorskip("pygame", reason="a window needs the extra 'window'")
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")


@pytest.mark.usefixtures("driver")
def test_keys_pause_and_end() -> None:
    import pygame

    def press(key: int) -> None:
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
def test_a_display_that_nobody_sees_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    import pygame

    monkeypatch.setattr(pygame.display, "get_driver", lambda: "offscreen")
    with pytest.raises(ArcadeMarkError, match=r"no window can be opened here .*there is no display"), Window("none"):
        pass


@pytest.fixture
def screen(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """A display of its own, and the file that has what it shows."""
    pytest.importorskip("pygame", reason="a window needs the extra 'window'")
    if shutil.which("Xvfb") is None:
        pytest.skip("Xvfb is not installed (Debian: apt-get install xvfb)")
    told, tells = os.pipe()
    with subprocess.Popen(
        ["Xvfb", "-displayfd", str(tells), "-screen", "0", "200x150x24", "-fbdir", str(tmp_path), "-nolisten", "tcp"],
        pass_fds=(tells,), stderr=subprocess.DEVNULL,
    ) as server:  # fmt: skip
        os.close(tells)
        with os.fdopen(told) as file:
            number = file.readline().strip()
        yield f":{number}", tmp_path / "Xvfb_screen0"
        server.terminate()


def pixels(dump: Path) -> np.ndarray:
    """Read an X window dump: a header, a table of colours, and 32 bits a pixel."""
    data = dump.read_bytes()
    header = struct.unpack(">25I", data[:100])
    size, width, height, colours = header[0], header[4], header[5], header[19]
    shown = np.frombuffer(data, np.uint8, width * height * 4, size + 12 * colours).reshape(height, width, 4)
    return shown[:, :, 2::-1]


@pytest.mark.slow
def test_it_is_seen_on_a_screen(screen: tuple[str, Path]) -> None:
    display, dump = screen
    play = (
        "import numpy as np; from arcademark.runs.window import Window\n"
        "with Window('test') as window:\n"
        "    while window.show(np.full((40, 60, 3), (10, 200, 30), np.uint8)): pass\n"
    )
    environment = {**os.environ, "DISPLAY": display, "SDL_VIDEODRIVER": "x11"}
    with subprocess.Popen([sys.executable, "-c", play], env=environment, stdout=subprocess.DEVNULL) as player:
        end = time.monotonic() + 60
        while (seen := int((pixels(dump) == (10, 200, 30)).all(axis=2).sum())) != 40 * 60 and time.monotonic() < end:
            assert player.poll() is None
            time.sleep(0.1)
        player.terminate()
    assert seen == 40 * 60
