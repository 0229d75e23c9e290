"""Episodes of a run as a Minari dataset, for offline learners (extra ``minari``; Younis et al. 2024).

Each episode is replayed, with the protocol's observations and raw rewards. Minari itself writes the files, in its HDF5
format without loss.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

import gymnasium
import numpy as np
from gymnasium.envs.registration import EnvSpec
from numpy.typing import NDArray

from arcademark.environments import tasks
from arcademark.environments.base import Environment, one_by_one
from arcademark.environments.interfaces.single import MAKE
from arcademark.environments.observations.spaces import ObservationView
from arcademark.environments.registry import environment_spec, open_environment, referee
from arcademark.errors import ArcadeMarkError, one_line
from arcademark.importing import needing
from arcademark.records.model import RunRecord
from arcademark.records.reading import read_actions
from arcademark.runs.replay.episodes import EpisodeFilter, Recorded, read_to_replay, replay, select
from arcademark.suite.protocols import StepProtocol
from arcademark.suite.settings import format_setting

_NAME = re.compile(r"[-\w]+(-v\d+)?", re.ASCII)


def export(
    directory: str | os.PathLike[str], target: str | os.PathLike[str], **choice: Unpack[EpisodeFilter]
) -> tuple[int, int]:
    """Write the evaluation episodes of one agent on one game or task as a dataset; return how many episodes and steps.

    `target` is a new folder, ``DATASETS/NAME-v0``: ``minari.load_dataset("NAME-v0")`` finds it where the environment
    variable ``MINARI_DATASETS_PATH`` is ``DATASETS``. Memory holds one episode at a time, with all its observations.

    Raises
    ------
    ArcadeMarkError
        If Minari is missing, the folder exists or cannot be written, the run cannot be read, several agents or games
        match, an episode does not replay to its score, or Minari does not support the observations.
    """
    place, run = Path(target), read_to_replay(directory, choice.get("suite"))
    if os.path.lexists(place) or not _NAME.fullmatch(place.name):
        raise ArcadeMarkError(f"{place}: expected a new folder, named like pong-human-v0")
    wanted: EpisodeFilter = {**choice, "phase": "evaluation"}
    chosen = select(run, **wanted)
    pairs = dict.fromkeys((trial.agent, trial.game) for trial, _ in chosen)
    if len(pairs) > 1:
        first, second = (f"{agent} on {game}" for agent, game in list(pairs)[:2])
        raise ArcadeMarkError(f"{run.directory}: has {first} and {second}; choose one by --only agent=NAME,game=NAME")
    with needing(f"{place}: a Minari dataset needs Minari", "minari"):
        from minari import __version__
        from minari.data_collector import EpisodeBuffer
        from minari.dataset.minari_storage import MinariStorage
    ((agent, game),) = pairs
    spec = environment_spec(game, run.protocol, chosen[0].trial.frames_per_action)
    space = ObservationView(spec).observation_space
    draft = place.absolute().with_name(f".draft-{os.urandom(8).hex()}")
    try:
        (draft / "data").mkdir(parents=True)
        storage = MinariStorage.new(
            draft / "data", space, ObservationView(spec).action_space, _env_spec(run, game), "hdf5", jpeg_encoding=False
        )
        storage.update_metadata(
            {
                "dataset_id": place.name,
                "algorithm_name": agent,
                "minari_version": __version__,
                "description": f"{game} under {run.protocol.label}, played by {agent}, recorded by ArcadeMark.",
                "requirements": ["arcademark"],
            }
        )
        environment = open_environment(spec, emulator=referee(spec))
        storage.update_episodes(EpisodeBuffer(**_episode(run, one, environment)) for one in chosen)
        draft.rename(place)
    except NotImplementedError as error:
        raise ArcadeMarkError(f"{place}: Minari cannot store {game} ({one_line(str(error), 200)})") from None
    except OSError as error:
        raise ArcadeMarkError(f"{place}: cannot be written ({error.strerror or error}); choose another") from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return len(chosen), sum(episode.steps for _, episode in chosen)


def _env_spec(run: RunRecord, game: str) -> EnvSpec:
    """Return the specification that makes the game or task again, in JSON values."""
    rules = run.protocol
    if isinstance(rules, StepProtocol):
        task = rules.suite.tasks[game]
        own = gymnasium.spec(task.environment.rpartition(":")[2])
        steps = min(filter(None, (rules.cap(game), own.max_episode_steps)), default=None)
        return replace(own, kwargs={**own.kwargs, **task.kwargs}, max_episode_steps=steps)
    if rules.suite:
        raise ArcadeMarkError(
            f"{run.directory}: {game} is a game of your own, which a dataset cannot refer to; export others"
        )
    changes = {name: format_setting(getattr(rules, name)) for name in rules.overrides}
    return EnvSpec(f"arcademark/{game}", MAKE, kwargs={"game": game, "protocol": rules.name, **changes})


def _episode(run: RunRecord, recorded: Recorded, environment: Environment) -> dict[str, Any]:
    """Replay an episode and return its arrays, with one more observation than steps."""
    trial, row = recorded
    spec = environment.spec
    actions = read_actions(run.directory, trial.id, row.episode)
    if spec.array_actions is None:
        actions = actions.astype(np.int64)
    seen = np.zeros((len(actions) + 1, *spec.observation_shape), spec.observation_dtype)
    steps = list(_observed(environment, recorded, one_by_one(actions), seen))
    rewards, terminations, truncations = (np.array(values) for values in zip(*steps, strict=True))
    if (sum(rewards.tolist()), len(steps)) != (row.score, len(actions)):
        raise ArcadeMarkError(
            f"{run.directory}: episode {row.episode} of trial {trial.id} does not replay as recorded; "
            f"'arcademark verify {run.directory}' shows more"
        )
    return {
        "observations": tasks.unpacked(seen, ObservationView(spec).observation_space, list),
        "actions": actions,
        "rewards": rewards,
        "terminations": terminations,
        "truncations": truncations,
    }


def _observed(
    environment: Environment, recorded: Recorded, actions: Sequence[Any], seen: NDArray[Any]
) -> Iterator[tuple[float, bool, bool]]:
    def observed() -> Iterator[Any]:
        for place, action in enumerate(actions):
            environment.observe(seen[place, ...])
            yield action

    for step in replay(environment, recorded, observed()):
        yield step.reward, step.terminated, step.truncated
    environment.observe(seen[-1, ...])
