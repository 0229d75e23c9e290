"""Short runs of the toy game, and displays."""

import shutil
from pathlib import Path

import pytest

import altering
from arcademark.agents.loading import agent_specs
from arcademark.records import manifest
from arcademark.runs.engines.here import InProcessEngine
from arcademark.runs.execution import ENGINES, execute
from arcademark.runs.plan import make_plan
from arcademark.suite.protocols import from_json, protocol

PACED = Path(__file__).with_name("paced.py")
FAKES = Path(__file__).parents[1] / "fakes"


@pytest.fixture(scope="session")
def toy_plan():
    """Plan a run of the toy game with episodes of at most 120 frames, evaluated after training."""

    def plan(*references, seeds=(0,), episodes=3, **others):
        settings = {"max_frames_per_episode": 120, "reported_episodes": "evaluation"} | others.pop("override", {})
        specs = [spec for reference in references or ("random",) for spec in agent_specs(reference)]
        rules = protocol("world-records").override(settings)
        return make_plan(specs, ["toy"], rules, seeds=seeds, episodes=episodes, **others)

    return plan


@pytest.fixture(scope="module")
def in_this_process():
    """Play a module's runs in this process, where nothing is tested of other processes: each takes time to start."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(ENGINES, "local", lambda *_: InProcessEngine())
        yield


@pytest.fixture(scope="session")
def paced():
    """Refer to an agent of paced.py."""
    return lambda name: f"{PACED}:{name}"


@pytest.fixture(scope="session")
def fake():
    """Refer to an agent of the shared fakes."""
    return lambda name: f"{FAKES / name}.py:make_agent"


@pytest.fixture(scope="module")
def finished(tmp_path_factory, toy_plan, paced):
    """A run of a policy and of a learner, three episodes each, that no test may change."""
    directory = tmp_path_factory.mktemp("finished") / "run"
    execute(toy_plan("random", paced("Learner"), frames=300), directory, workers=1)
    return directory


@pytest.fixture
def run(finished, tmp_path):
    """A copy that a test may spoil."""
    return shutil.copytree(finished, tmp_path / "run", ignore=shutil.ignore_patterns("run.lock"))


@pytest.fixture(scope="session")
def rename():
    """Name a run's trials anew by what they and the manifest say, as who changed either would."""

    def name_anew(run):
        document = manifest.read(run)
        agents = {agent["label"]: agent for agent in document["agents"]}
        rules = from_json(document["protocol"])
        with altering.database(run) as database:
            for old, agent, game, seed in database.execute("SELECT id, agent, game, seed FROM trial").fetchall():
                new = manifest.trial_of(document, rules, agents[agent], game, seed)
                database.execute("UPDATE trial SET id = ? WHERE id = ?", (new, old))
                for table in ("unfinished", "evaluation", "episode", "checkpoint"):
                    database.execute(f"UPDATE {table} SET trial = ? WHERE trial = ?", (new, old))

    return name_anew


@pytest.fixture
def driver(monkeypatch):
    """SDL's own display without a screen."""
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
