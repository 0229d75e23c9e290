"""Named protocols and published scores say their settings in the same words."""

from __future__ import annotations

import pytest

from arcademark.catalogue import collections
from arcademark.reports import settings
from arcademark.suite.protocols import protocol


def test_protocols_speak_as_the_catalogue_does() -> None:
    said = settings.of_protocol(protocol("dqn-2015"))
    published = {key for entry in collections.entries() for key in entry.settings}
    assert {"max episode length", "action repeats", "frame stack", "colour", "actions", "image size"} <= (
        said.keys() & published
    )
    assert said["action repeats"] == 4
    assert said["image size"] == "84x84"
    assert "frame_stack" not in said


@pytest.mark.parametrize(
    ("written", "frames", "told"),
    [
        ("30 min", 108_000, "30 min"),
        ("108,000 frames", 108_000, "30 min"),
        ("400,000 frames", 400_000, "400,000 frames"),
    ],
)
def test_lengths_are_told_alike(written: str, frames: int, told: str) -> None:
    assert settings.length(written) == frames
    assert settings.in_frames({"max episode length": written}) == {"max episode length": frames}
    assert settings.of_entry({"max episode length": written}) == {"max episode length": told}


def test_what_is_no_length_is_left_alone() -> None:
    assert settings.length("as long as it takes") is None
    assert settings.of_entry({"input": "noise"}) == {"input": "noise"}
