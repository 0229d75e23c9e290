"""``arcademark subset cost``."""

from __future__ import annotations

import json

import pytest


def test_rainbow_on_five_games_beside_all(invoke):
    answer = invoke("subset", "cost", "--algorithm", "rainbow", "--games", "atari-5")
    assert (answer.code, answer.err) == (0, "")
    for told in ("1,200", "$3,137", "$35,760", "$10,670", "V100", "Appendix A"):
        assert told in answer.out


def test_all_assumptions_can_be_replaced(invoke):
    assumed = "frames_per_second=1e6,gpu_price=2,machine_price=1,gpu_watts=300,machine_watts=200,pounds_per_kwh=1"
    asked = f"--algorithm agent57 --games pong,qbert --runs 3 --assume {assumed} --to json"
    answer = invoke("subset", "cost", *asked.split())
    assert (answer.code, answer.err) == (0, "")
    document = json.loads(answer.out)
    hours = 90e9 / 1e6 / 3600 * 6
    assert document["schema"] == "arcademark.cost/2"
    assert document["cost"]["gpu_hours"] == pytest.approx(hours)
    assert document["cost"]["standard"] == pytest.approx(3 * hours)
    assert document["cost"]["kilowatt_hours"] == pytest.approx(0.5 * hours)
    assert document["cost"]["carbon_kilograms"] == pytest.approx(0.5 * hours * 0.45359237)
    assert {"gpu_price", "hours_per_task", "pounds_per_kwh"} <= set(document["changed"])


OF_HOURS = ("375 hours a game", "if a step is 4 frames")


@pytest.mark.parametrize(
    "options",
    [("--assume", "hours_per_task=10"), ("--assume", "training_frames=1e9"), ("--assume", "frames_per_second=1e6")],
)
def test_what_is_guessed_of_hours_is_not_said_of_others(invoke, options):
    def told(*more):
        return " ".join(invoke("subset", "cost", "--algorithm", "agent57", "--games", "pong", *more).out.split())

    assert all(words in told() for words in OF_HOURS)
    other = told(*options)
    assert not any(words in other for words in OF_HOURS)
    assert "The GPU is the Atari-5 paper's guess." in other
    assert ("Hours grow with the frames, from 375 for 90,000,000,000." in other) == ("training_frames=1e9" in options)


def test_what_is_replaced_is_named_in_words(invoke):
    options = {
        "gpu_price": "the GPU's price",
        "machine_price": "the machine's price",
        "gpu_price_preemptive": "the GPU's preemptive price",
        "machine_price_preemptive": "the machine's preemptive price",
        "gpu_watts": "the GPU's power",
        "machine_watts": "the machine's power",
        "pounds_per_kwh": "carbon dioxide of a kilowatt-hour",
        "hours_per_task": "hours a game",
        "training_frames": "training frames",
    }
    given = ["--assume", ",".join(f"{option}=3" for option in options)]
    out = invoke("subset", "cost", "--algorithm", "agent57", "--games", "pong", *given, "--to=markdown").out
    (replaced,) = [line for line in out.splitlines() if line.startswith("- replaced by you: ")]
    named = replaced.removeprefix("- replaced by you: ")
    assert sorted(named.replace(" and ", ", ").split(", ")) == sorted(options.values())
    assert "guess" not in out
    assert "Xeon Phi" not in out


def test_every_form_has_the_costs(invoke, tmp_path):
    page = tmp_path / "page.html"
    for form in ("latex", "markdown"):
        assert "13,680" in invoke("subset", "cost", "--algorithm", "rainbow", "--to", form, "--to", page).out
        assert "13,680" in page.read_text(encoding="utf-8")
    whole = invoke("subset", "cost", "--algorithm", "rainbow", "--games", "atari-57", "--to=markdown").out
    assert "57 games" in whole
    assert "share" not in whole


def test_hours_grow_with_frames(invoke):
    document = json.loads(
        invoke(
            *("subset", "cost", "--algorithm", "rainbow", "--games", "pong", "--assume", "training_frames=50e6"),
            *("--to=json",),
        ).out
    )
    assert document["cost"]["gpu_hours"] == 60


def test_an_algorithm_of_ones_own(invoke):
    answer = invoke("subset", "cost", "--assume", "hours_per_task=10,gpu_price=1.5", "--games", "atari-3")
    assert (answer.code, answer.err) == (0, "")
    assert "$45" in answer.out
    assert "your algorithm" in answer.out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--algorithm", "ranbow"), "did you mean 'rainbow'? For another"),
        ((), "no --algorithm (rainbow, agent57) and no --assume hours_per_task"),
        (("--assume", "hours_per_task=1"), "no price"),
        (("--algorithm", "rainbow", "--assume", "hours_per_task=1,frames_per_second=5"), "give one of them"),
        (("--assume", "frames_per_second=5,gpu_price=1"), "needs the training frames"),
        (("--algorithm", "rainbow", "--games", "pongg"), "did you mean 'pong'"),
        (("--algorithm", "rainbow", "--assume", "hours_per_task=0"), "expected a number above 0"),
    ],
)
def test_bad_input_is_told(invoke, arguments, told):
    answer = invoke("subset", "cost", *arguments)
    assert (answer.code, answer.out) == (2, "")
    assert told in answer.err
