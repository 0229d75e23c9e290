"""What ``arcademark leaderboard`` refuses, and what it says of scores that are not real."""

from pathlib import Path

import pytest

from altering import alter


@pytest.mark.slow
def test_scores_that_are_not_real_are_told(invoke, played):
    alter(played, "UPDATE episode SET score = score + 1 WHERE episode = 1")
    for _ in range(2):  # the second time over the first
        found = invoke("site", played, "--collection", "iris-2023", "--no-animations", "--workers", "1", code=1)
        assert "run: 2 of 4 episodes are not confirmed" in found.err
        assert "2 algorithms, 0 animations (0 left out)" in found.out
        assert not list(Path("site").glob("films/*"))
        Path("site/films").mkdir(exist_ok=True)
        Path("site/films/7.gif").write_bytes(b"of before")
    assert '"badges":["yours","differs"]' in Path("site/data.js").read_text()
    assert invoke("site", "--collection", "nobody-1999").code == 2
