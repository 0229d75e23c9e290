"""Reports on made-up scores: plausible numbers for looks and layout, measured by nobody."""

from __future__ import annotations

import numpy as np
import pytest

from arcademark.report.document import (
    Algorithm,
    Breakthrough,
    Citation,
    Estimate,
    Game,
    GameScore,
    Interval,
    Notice,
    ProtocolView,
    Report,
    Run,
    Setting,
    Summary,
    Trouble,
)

GAMES = {  # name, random, human average, human world record
    "battle_zone": ("Battle Zone", 2360.0, 37187.5, 801000.0),
    "double_dunk": ("Double Dunk", -18.55, -16.4, 21.0),
    "name_this_game": ("Name This Game", 2292.35, 8049.0, 25220.0),
    "phoenix": ("Phoenix", 761.4, 7242.6, 4014440.0),
    "qbert": ("Q*bert", 163.88, 13455.0, 2400000.0),
    "montezuma_revenge": ("Montezuma's Revenge", 0.0, 4753.3, 1219200.0),
}
MADE_UP = {  # mean and spread of episodes, made up
    "random": {
        "battle_zone": (2600, 1500),
        "double_dunk": (-18.4, 1.2),
        "name_this_game": (2250, 600),
        "phoenix": (830, 450),
        "qbert": (170, 120),
        "montezuma_revenge": (0, 0),
    },
    "my_agent.py:make_agent(depth=2)": {
        "battle_zone": (31000, 6000),
        "double_dunk": (-2.0, 4.0),
        "name_this_game": (9100, 1300),
        "phoenix": (21000, 9000),
        "qbert": (14200, 2500),
        "montezuma_revenge": (400, 350),
    },
}


def normalised(value: float | None, low: float, high: float) -> float | None:
    return None if value is None else 100 * (value - low) / (high - low)


def made_up_score(agent: str, task: str, rng: np.random.Generator, episodes: int) -> GameScore:
    _, random, human, record = GAMES[task]
    mean, spread = MADE_UP[agent][task]
    values = np.round(mean + spread * rng.standard_normal(episodes), 0)
    low, high = values.mean() - 0.5 * values.std(), values.mean() + 0.5 * values.std()
    truncated = tuple(bool(flag) for flag in values > mean + 1.5 * spread)
    return GameScore(
        game=task,
        score=float(values.mean()),
        interval=Interval(
            float(low), float(high), 0.95, "episodes", normalised(low, random, human), normalised(high, random, human)
        ),
        hns=normalised(float(values.mean()), random, human),
        hwrns=normalised(float(values.mean()), random, record),
        episodes=episodes,
        planned_episodes=episodes,
        seeds=2,
        truncated=sum(truncated),
        episode_scores=tuple(float(value) for value in values),
        episode_truncated=truncated,
    )


def made_up_algorithm(name: str, episodes: int = 20) -> Algorithm:
    rng = np.random.default_rng(len(name))
    scores = tuple(made_up_score(name, task, rng, episodes) for task in GAMES)
    hns = [score.hns for score in scores if score.hns is not None]
    return Algorithm(
        name=name,
        run="random" if name == "random" else "mine",
        protocol="world-records",
        variants=1,
        frames_per_action=4,
        training_frames=None,
        scores=scores,
        summaries=tuple(
            Summary(metric, title, "made up", float(np.mean(hns)), float(np.median(hns)), float(np.mean(hns[1:4])), 6)
            for metric, title in (
                ("hns", "HNS"),
                ("capped_hns", "capped HNS"),
                ("hwrns", "HWRNS"),
                ("saber", "SABER"),
            )
        ),
        breakthroughs=(
            Breakthrough("human_level", "games at human level", ("Double Dunk",), 6),
            Breakthrough("hwrb", "human world records broken", (), 6),
        ),
        estimate=Estimate("atari-5", "Atari-5", "Atari-57", 0.43, 0.29, 0.59, 0.104, (), ()),
    )


def made_up_run(name: str, *, overridden: bool = False) -> Run:
    settings = (
        Setting("frame_skip", "frames a step", 4, "4 frames", False, 4, "4 frames", "cited", "Review, §Settings"),
        Setting(
            "repeat_action_probability",
            "sticky actions",
            0.0 if overridden else 0.25,
            "0" if overridden else "0.25",
            overridden,
            0.25,
            "0.25",
            "cited",
            "Machado et al. 2018, §5.2",
        ),
        Setting("evaluation_episodes", "episodes", 100, "100", False, 100, "100", "choice", "Enough for a <small> error"),
    )
    label = "world-records (repeat_action_probability=0.0)" if overridden else "world-records"
    return Run(
        name=name,
        directory=f"runs/{name}",
        protocol=ProtocolView("world-records", label, "The review's advice", "Fan et al. 2021", settings),
        agents=(name,),
        games=tuple(entry[0] for entry in GAMES.values()),
        seeds=(0, 1),
        episodes=(10,),
        frames=1_234_567,
        trials=12,
        finished_trials=11,
        troubles=(Trouble("random", "Q*bert", 1, "failed", 3, 10, "ValueError: <b>depth</b> must be positive"),),
        command=f"arcademark run {name} --games atari-5 --seeds 2 --episodes 10 --out runs/{name}",
        versions=(("arcademark", "0.1.0"), ("ale-py", "0.12.1"), ("python", "3.11.9")),
        machine=(("processor", "x86_64"), ("cores", "2")),
        roms=(("Battle Zone", "0123456789abcdef0123456789abcdef"),),
    )


def made_up_report(*names: str) -> Report:
    algorithms = tuple(made_up_algorithm(name) for name in names)
    return Report(
        title=" and ".join(names),
        generator="ArcadeMark 0.1.0",
        scope="these 6 games",
        algorithms=algorithms,
        games=tuple(
            Game(task, name, low, human, record, normalised(record, low, human), task == "montezuma_revenge")
            for task, (name, low, human, record) in GAMES.items()
        ),
        runs=(made_up_run("random"), *((made_up_run("mine", overridden=True),) if len(names) > 1 else ())),
        notices=(
            Notice("protocols_differ", "warning", "The runs' protocols differ in repeat_action_probability."),
            Notice("compare", "note", "Compare Atari-5 estimates with Atari-5 estimates only."),
        ),
        methods=("We played <script>alert(1)</script> & others.",),
        citations=(
            Citation("key", "Bellemare et al. 2013", "https://doi.org/x", "the platform", "@article{key,\n  title={T}\n}"),
        ),
    )


@pytest.fixture
def report_one() -> Report:
    return made_up_report("random")


@pytest.fixture
def report_two() -> Report:
    return made_up_report("random", "my_agent.py:make_agent(depth=2)")
