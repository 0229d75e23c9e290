"""RLlib's algorithms as trainers: they learn, are saved without pickle, resume, and play like RLlib's modules."""

import io
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from trained import MEMORY, check_trainer, environment, fitted, games, trainer

from arcademark.agents.checkpoints import reading
from arcademark.agents.checkpoints.paths import checksum
from arcademark.agents.checkpoints.policy import ROWS, CheckpointPlayer
from arcademark.errors import ArcadeMarkError

torch = pytest.importorskip("torch", reason="PyTorch is not installed: make test-deep")
pytest.importorskip("ray.rllib", reason="RLlib is not installed: make test-deep")

pytestmark = [pytest.mark.deep, pytest.mark.filterwarnings("ignore")]

FRAMES = {"impala": 1000, "appo": 1000, "rainbow": 1000, "dreamerv3": 240}
SCREENS = {"observation": "rgb", "screen_size": "64x64", "frame_stack": 1}


@pytest.fixture
def env():
    return environment("toy", **MEMORY)


def tensors(kept, file="module"):
    with zipfile.ZipFile(io.BytesIO(kept)) as archive:
        return torch.load(io.BytesIO(archive.read(f"{file}.pth")), weights_only=True)


def module(made, change=lambda name, value: value):
    """Return RLlib's module with the learnt weights, changed by `change`."""
    algorithm = made.policy._model
    weights = algorithm.get_state(components="learner_group")["learner_group"]["learner"]["rl_module"]["default_policy"]
    weights = {name: change(name, value) for name, value in weights.items()}
    algorithm.set_state({"learner_group": {"learner": {"rl_module": {"default_policy": weights}}}})
    found = algorithm.get_module()
    found.set_state(weights)
    return found.eval() if hasattr(found, "eval") else found


@pytest.mark.parametrize("name", FRAMES)
def test_each_conforms_and_is_kept_without_pickle_and_goes_on(name, env):
    check_trainer(name, env, FRAMES[name])
    made = fitted(name, env, FRAMES[name])
    kept = made.checkpoint()
    with zipfile.ZipFile(io.BytesIO(kept)) as archive:
        assert set(archive.namelist()) == {"data", "module.pth", "learner.pth"}
    assert reading.read(kept, Path("file"), False).trained_frames(4) >= FRAMES[name]
    again = trainer(name, env)
    again.restore(kept)
    assert again.checkpoint() == kept
    budget = FRAMES[name] * 2
    for _ in again.fit(more := games(env, again.num_envs, FRAMES[name], name != "dreamerv3"), budget):
        pass
    assert more.frames >= budget
    before, after = tensors(kept), tensors(again.checkpoint())
    changed = [key for key in before if not torch.equal(before[key], after[key])]
    assert len(changed) >= len(before) - sum("support" in key for key in before), changed
    steps = [
        [state["step"] for one in learner["optimizer"].values() for state in one["state"]["state"].values()]
        for learner in (tensors(kept, "learner"), tensors(again.checkpoint(), "learner"))
    ]
    assert min(steps[1]) > max(steps[0]) > 0, "the optimizer's steps go on"


@pytest.mark.parametrize("screens", [False, True])
@pytest.mark.parametrize("name", ["impala", "appo", "rainbow"])
def test_it_plays_what_the_module_infers(name, screens, env):
    env = environment("pong", screen_size="44x44") if screens else env
    made = fitted(name, env, 400)
    made.evaluate()
    seen = np.random.default_rng(0).integers(0, 256, (2 * ROWS, *env.observation_shape), dtype=np.uint8)
    with torch.no_grad():
        inferred = module(made).forward_inference({"obs": torch.from_numpy(seen)})
    expected = inferred["actions"] if name == "rainbow" else inferred["action_dist_inputs"].argmax(1)
    rngs = [np.random.default_rng(i) for i in range(ROWS)]
    acted = [made.act(seen[i : i + ROWS], np.ones(ROWS, bool), rngs) for i in range(0, len(seen), ROWS)]
    assert np.concatenate(acted).tolist() == expected.tolist()
    assert made.policy._player._network.stochastic == (name != "rainbow")


def test_a_checkpoint_is_played_without_ray(env, monkeypatch):
    kept = fitted("rainbow", env, 400).checkpoint()
    monkeypatch.setitem(sys.modules, "ray", None)
    from arcademark.agents.checkpoints import libraries

    network = libraries.build(reading.read(kept, Path("file"), False), "file")
    assert (network.shape, network.num_actions) == (env.observation_shape, env.num_actions)
    with pytest.raises(ArcadeMarkError, match="needs RLlib"):
        trainer("rainbow", env)


@pytest.mark.parametrize("override", [MEMORY, SCREENS], ids=str)
def test_dreamer_plays_what_its_module_infers_from_its_file(override, tmp_path, monkeypatch):
    """The module draws the world model's state, ours is the most probable: they agree if probabilities are 0 or 1."""
    env = environment("toy" if override is MEMORY else "pong", **override)
    made = fitted("dreamerv3", env, 120)
    inside = module(made, lambda name, value: value * 1e4 if name.endswith("z_generating_layer.weight") else value)
    path = tmp_path / "dreamer.zip"
    path.write_bytes(made.checkpoint())
    played = CheckpointPlayer(env, path, checksum(path))
    monkeypatch.setattr(
        torch.distributions.OneHotCategorical,
        "sample",
        lambda self, *_: torch.nn.functional.one_hot(self.probs.argmax(-1), self.probs.shape[-1]).float(),
    )
    rows = 3
    state = {key: value[None].repeat(rows, *[1] * value.dim()) for key, value in inside.get_initial_state().items()}
    for step in range(6):
        seen = np.random.default_rng(step).integers(0, 256, (rows, *env.observation_shape), dtype=np.uint8)
        first = np.array([step in (0, 3), step == 0, step == 0])
        given = torch.from_numpy(seen).float()[:, None]
        given = given if override is MEMORY else given / 128 - 1
        found = inside.forward_inference({"obs": given, "state_in": state, "is_first": torch.from_numpy(first).float()})
        state = {key: value.float() for key, value in found["state_out"].items()}
        acted = played.act(seen, first, [np.random.default_rng(0)] * rows)
        assert acted.tolist() == found["actions"].flatten().tolist()


@pytest.mark.parametrize("floats", [False, True])
def test_rllib_sees_each_observation_once_and_the_last_of_an_episode_too(env, floats):
    from arcademark_rllib.parts import Games

    plain, adapted = games(env, 1), Games(games(env, 1), floats)
    seen, expected = [(adapted.reset()[0], 0.0)], [(plain.reset()[0], 0.0)]
    for _ in range(100):
        observations, rewards, terminated, truncated, infos = plain.step(np.array([1]))
        if terminated | truncated:
            expected.append((infos["final_obs"][0], rewards[0]))
        expected.append((observations, 0.0 if terminated | truncated else rewards[0]))
    for _ in expected[1:]:
        observations, rewards, *_ = adapted.step(np.array([1]))
        seen.append((observations, rewards[0]))
    assert len(expected) > 105
    assert [reward for _, reward in seen] == [reward for _, reward in expected]
    assert all(np.array_equal(np.squeeze(a), np.squeeze(b)) for (a, _), (b, _) in zip(seen, expected, strict=True))


def test_a_checkpoint_that_is_damaged_or_of_another_algorithm_or_size_is_refused_in_one_line(env):
    kept, small = fitted("impala", env, 300).checkpoint(), fitted("dreamerv3", env, 120).checkpoint()
    cases = [("impala", kept[: len(kept) // 2], {}), ("impala", b"nothing", {}), ("appo", kept, {})]
    for name, data, settings in [*cases, ("dreamerv3", small, {"model_size": "micro"})]:
        made = trainer(name, env, **settings)
        made.restore(data)
        with pytest.raises(ArcadeMarkError, match="checkpoint"):
            next(iter(made.fit(games(env, made.num_envs, first=name != "dreamerv3"), 300)))


def test_dreamer_refuses_observations_that_do_not_fit_with_what_fits():
    with pytest.raises(
        ArcadeMarkError, match=r"one screen of 64 × 64 in colour, not .*\(4, 84, 84\); add --override obs.*stack=1"
    ):
        trainer("dreamerv3", environment("pong"))
