"""Checkpoints in the forms in which people save them: wrapped, nested, pickled, and of libraries that name little."""

import argparse
import json
import pickle
import shutil
import sys
from collections import defaultdict, deque
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: make test-all")

import msgspec  # noqa: E402
from torch import nn  # noqa: E402

from arcademark.agents.checkpoints import contents, pickled  # noqa: E402
from arcademark.agents.checkpoints.networks import ACTIVATIONS, Residual  # noqa: E402
from arcademark.agents.checkpoints.policy import CheckpointPlayer  # noqa: E402
from arcademark.agents.loading import agent_specs, with_checkpoints  # noqa: E402
from arcademark.environments.registry import environment_spec  # noqa: E402
from arcademark.errors import ArcadeMarkError  # noqa: E402
from arcademark.suite import protocols  # noqa: E402

pytestmark = pytest.mark.needs("torch")

PONG = environment_spec("pong", protocols.protocol("dqn-2015").override({"action_set": "minimal"}))
SMALL = environment_spec("pong", PONG.protocol.override({"screen_size": "64x64"}))
ACTIONS = PONG.num_actions


def layers(*hidden, outputs=ACTIONS, features=392, activation=nn.ReLU, channels=4):
    """Return the layers of DQN's network, narrow ones, up to its head."""
    sizes = (features, *hidden)
    dense = [part for pair in pairwise(sizes) for part in (nn.Linear(*pair), activation())]
    eyes = [nn.Conv2d(channels, 8, 8, 4), activation(), nn.Conv2d(8, 8, 4, 2), activation(), nn.Conv2d(8, 8, 3, 1)]
    return [*eyes, activation(), nn.Flatten(), *dense, *([nn.Linear(sizes[-1], outputs)] if outputs else [])]


def seeded(module, seed=1):
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator) * (2 / parameter[0].numel()) ** 0.5)
    return module.eval()


class QNetwork(nn.Module):
    def __init__(self, *parts):
        super().__init__()
        self.network = nn.Sequential(*(parts or layers(16)))

    def forward(self, x):
        return self.network(x)


def observations(rows=5, size=84):
    squares = np.random.default_rng(0).integers(0, 2, (rows, 4, 8, 8), dtype=np.uint8) * 255
    return np.ascontiguousarray(np.kron(squares, np.ones((1, 1, 11, 11), np.uint8))[:, :, :size, :size])


def saved(folder, thing, name="network.pt", **how):
    torch.save(thing, folder / name, **how)
    return folder / name


def values(path, env=PONG, **settings):
    """Return what a checkpoint gives actions, and what was taken for granted of its network."""
    player = CheckpointPlayer(env, path, "", **settings)
    assert player.action_space.n == ACTIONS
    seen = observations(size=env.observation_shape[-1])
    return player._values(seen, np.ones(len(seen), np.bool_)), player.assumed


def assert_same(given, expected):
    assert expected.std(0).min() > 1e-3  # it tells screens apart
    np.testing.assert_allclose(given, expected.numpy(), rtol=1e-4, atol=1e-5)


def answers(network, size=84, scale=255.0):
    with torch.inference_mode():
        return network(torch.from_numpy(observations(size=size)) / scale)


def renamed(network, prefix):
    return {prefix.format(name=name): value for name, value in network.state_dict().items()}


WRAPPED = {
    "DDP": "module.{name}",
    "compiled": "_orig_mod.{name}",
    "compiled, then DDP": "module._orig_mod.{name}",
    "DDP, then compiled": "_orig_mod.module.{name}",
    "within an agent": "q_network._orig_mod.{name}",
}


@pytest.mark.parametrize("kind", WRAPPED)
def test_prefixes_of_wrappers_are_left_out(kind, tmp_path):
    network = seeded(QNetwork())
    tensors = renamed(network, WRAPPED[kind])
    if kind == "within an agent":
        tensors |= renamed(seeded(QNetwork(), 2), "target_network._orig_mod.{name}")
    given, said = values(saved(tmp_path, tensors, "network.cleanrl_model"))
    assert_same(given, answers(network))
    assert not said


@pytest.mark.parametrize("name", ["relu", "tanh", "gelu", "silu", "leakyrelu", "elu"])
def test_what_names_do_not_tell_is_said_and_can_be_set(name, tmp_path):
    """Anyone may call a network 'network': CleanRL's activation and scale are then an assumption."""
    network = seeded(QNetwork(*layers(16, activation=ACTIVATIONS[name])))
    path = saved(tmp_path, network.state_dict())
    given, said = values(path, activation=name, scale=64.0)
    assert_same(given, answers(network, scale=64.0))
    assert f"only {name} between its layers and screens divided by 64; if it was trained otherwise" in said
    assert "no padding, only relu between its layers and screens divided by 255" in values(path)[1]
    signed = saved(tmp_path, {"model_weights": network.state_dict(), "args": {"exp_name": "dqn_atari"}})
    assert not values(signed)[1]


def test_activations_of_an_actor_and_of_residual_blocks_are_set_too(tmp_path):
    body, actor = nn.Sequential(*layers(16, outputs=0, activation=nn.Tanh)), [nn.Linear(16, 8), nn.Linear(8, ACTIONS)]
    parts = {"network": body, "actor": nn.Sequential(actor[0], nn.Tanh(), actor[1]), "critic": nn.Linear(16, 1)}
    whole = seeded(nn.ModuleDict(parts))
    assert_same(
        values(saved(tmp_path, whole.state_dict()), activation="tanh")[0],
        answers(nn.Sequential(whole["network"], whole["actor"])),
    )
    residual = Residual(nn.Conv2d(4, 8, 3), [(nn.Conv2d(8, 8, 3), nn.Conv2d(8, 8, 3))], nn.Tanh)
    assert not any(isinstance(part, nn.ReLU) for part in residual.modules())


def test_a_layer_before_the_actor_is_not_taken_for_the_critics(tmp_path):
    """CleanRL's agent with RND has a layer of this name beside its two critics."""
    parts = {"network": nn.Sequential(*layers(16, outputs=0)), "actor": nn.Linear(16, ACTIONS)}
    parts |= {"extra_layer": nn.Sequential(nn.Linear(16, 16), nn.ReLU()), "critic_ext": nn.Linear(16, 1)}
    whole = seeded(nn.ModuleDict(parts))
    tensors = whole.state_dict()
    assert_same(values(saved(tmp_path, tensors))[0], answers(nn.Sequential(whole["network"], whole["actor"])))
    with refused(r"layers that are not known: 'extra_layer\.0\.bias'"):
        values(saved(tmp_path, {name: value for name, value in tensors.items() if "critic" not in name}))


def test_wrapped_modules_of_pytorch_itself_are_played(tmp_path):
    network = seeded(QNetwork())
    compiled = torch.compile(network, backend="eager")
    wrapped = nn.DataParallel(compiled)
    assert next(iter(wrapped.state_dict())).startswith("module._orig_mod.")
    assert_same(values(saved(tmp_path, wrapped.state_dict()))[0], answers(network))


NESTED = {
    "agent": lambda tensors: {"agent": tensors},
    "model and optimizer": lambda tensors: {"model": tensors, "optimizer": momenta(tensors), "step": 7},
    "deep": lambda tensors: {"state": {"learner": {"policy": tensors}}, "rng": torch.get_rng_state()},
    "beside pickled arguments": lambda tensors: {"model": tensors, "args": argparse.Namespace(total_timesteps=10)},
    "a list": lambda tensors: [tensors, {"mean": torch.zeros(1), "count": 3}],
}


def momenta(tensors):
    state = {i: {"step": torch.tensor(1.0), "exp_avg": value} for i, value in enumerate(tensors.values())}
    return {"state": state, "param_groups": [{"lr": 1e-3, "params": [*state]}]}


@pytest.mark.parametrize("kind", NESTED)
def test_a_nested_state_dict_is_found(kind, tmp_path):
    network = seeded(QNetwork())
    path = saved(tmp_path, NESTED[kind](network.state_dict()))
    assert_same(values(path)[0], answers(network))
    if kind == "beside pickled arguments":
        assert CheckpointPlayer(PONG, path, "").trained_frames == 40


class Settings(dict):
    """A dictionary of one's own, with attributes."""


class Returns(list):
    """A list of one's own."""


BESIDE = {
    "a deque": deque([1.0, 2.0], maxlen=9),
    "a dictionary with defaults": defaultdict(deque, {"returns": deque([1.0])}),
    "a dictionary of one's own": Settings(a=1),
    "a list of one's own": Returns([1]),
    "NumPy's objects": np.array([None, "x"], object),
    "NumPy's texts": np.array(["x"]),
    "NumPy's dates": np.array("2020-01-01", "M8[D]"),
    "NumPy's records": np.zeros(3, [("a", "f4")]),
    "NumPy's numbers": {"mean": np.zeros((2, 3), ">f8"), "count": np.float32(3), "mask": np.ma.zeros(3)},
}
BESIDE["a dictionary of one's own"].__dict__["frozen"] = True


@pytest.mark.parametrize("write", [torch.save, lambda thing, path: path.write_bytes(pickle.dumps(arrays(thing)))])
@pytest.mark.parametrize("kind", BESIDE)
def test_a_network_is_read_whatever_containers_and_arrays_lie_beside_it(kind, write, tmp_path):
    network = seeded(QNetwork())
    write({"model": network.state_dict(), "beside": BESIDE[kind]}, tmp_path / "network.pt")
    assert_same(values(tmp_path / "network.pt")[0], answers(network))
    write(Settings(model=network.state_dict()), tmp_path / "network.pt")
    assert_same(values(tmp_path / "network.pt")[0], answers(network))


def arrays(thing):
    """Return tensors in dictionaries as NumPy's arrays."""
    if isinstance(thing, dict):
        return {key: arrays(value) for key, value in thing.items()}
    return thing.numpy() if isinstance(thing, torch.Tensor) else thing


ARRAYS = {
    "plain": np.asarray,
    "by columns": np.asfortranarray,
    "of the other order of bytes": lambda array: array.astype(">f4"),
    "both, in double precision": lambda array: np.asfortranarray(array.astype(">f8")),
    "with gaps": lambda array: np.repeat(array, 2, axis=0)[::2],
}


@pytest.mark.parametrize("kind", ARRAYS)
@pytest.mark.parametrize("protocol", ["torch", "torch before 1.6", 2, 3, 4, 5])
def test_arrays_of_numpy_are_tensors(kind, protocol, tmp_path):
    network, path = seeded(QNetwork()), tmp_path / "network.pt"
    weights = {name: ARRAYS[kind](array) for name, array in arrays(network.state_dict()).items()}
    if isinstance(protocol, int):
        path.write_bytes(pickle.dumps(weights, protocol))
    else:
        torch.save(weights, path, _use_new_zipfile_serialization=protocol == "torch")
    assert_same(values(path)[0], answers(network))
    assert np.dtype("f4").isnative


def test_text_of_a_pickle_is_not_turned_into_bytes_again_and_again():
    text = b"(c_codecs\nencode\n(X\x00\x10\x00\x00" + b"x" * 4096 + b"q\x01X\x06\x00\x00\x00latin1q\x02tR"
    again = b"c_codecs\nencode\n(h\x01h\x02tR" * 200
    with pytest.raises(ValueError, match="more text"):
        pickled.load(b"\x80\x02" + text + again + b"t.")


@pytest.mark.parametrize(
    ("layer", "why"),
    [
        *(
            (layer, "may be an RMSNorm, a PReLU")
            for layer in (nn.RMSNorm(16), nn.PReLU(16), nn.LayerNorm(16, bias=False))
        ),
        (nn.BatchNorm1d(16), "not known: 'network.8.num_batches_tracked'"),
    ],
)
def test_a_layer_that_is_not_told_from_another_is_refused(layer, why, tmp_path):
    parts = [*layers(outputs=0), nn.Linear(392, 16), layer, nn.ReLU(), nn.Linear(16, ACTIONS)]
    with pytest.raises(ArcadeMarkError, match=f"{why}.*--set network=file.py:Class"):
        values(saved(tmp_path, QNetwork(*parts).state_dict()))
    assert_same(
        values(saved(tmp_path, (network := seeded(QNetwork(*parts[:8], nn.LayerNorm(16), *parts[9:]))).state_dict()))[
            0
        ],
        answers(network),
    )


NORMS = {
    "GroupNorm": lambda channels: nn.GroupNorm(4, channels),
    "BatchNorm": nn.BatchNorm2d,
    "BatchNorm without statistics": lambda channels: nn.BatchNorm2d(channels, track_running_stats=False),
    "InstanceNorm": lambda channels: nn.InstanceNorm2d(channels, affine=True),
}


@pytest.mark.parametrize("kind", NORMS)
def test_a_normalisation_of_channels_is_refused_by_name(kind, tmp_path):
    parts = layers(16)
    parts.insert(1, NORMS[kind](8))
    with refused(r"'network\.1', after a convolution, may be a BatchNorm, a GroupNorm or an InstanceNorm"):
        values(saved(tmp_path, QNetwork(*parts).state_dict()))


@pytest.mark.parametrize("norm", [nn.LayerNorm(16), nn.GroupNorm(4, 16), nn.BatchNorm1d(16, track_running_stats=False)])
def test_what_is_taken_for_a_layer_norm_is_said(norm, tmp_path):
    network = seeded(QNetwork(*layers(outputs=0), nn.Linear(392, 16), norm, nn.ReLU(), nn.Linear(16, ACTIONS)))
    assert "'network.8' as LayerNorm" in values(saved(tmp_path, network.state_dict()))[1]


def test_a_gap_between_numbers_is_a_layer_without_tensors(tmp_path):
    pooled = [nn.Conv2d(4, 8, 8, 4), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 8, 4, 2), nn.ReLU(), nn.Flatten()]
    tensors = QNetwork(*pooled, nn.Linear(8 * 16, 16), nn.ReLU(), nn.Linear(16, ACTIONS)).state_dict()
    with refused(r"between 'network\.0' and 'network\.3' is a layer without tensors, such as a pooling"):
        values(saved(tmp_path, tensors))
    normed = layers(16)
    normed.insert(1, nn.InstanceNorm2d(8))
    assert "only relu between its layers" in values(saved(tmp_path, QNetwork(*normed).state_dict()))[1]
    network = QNetwork()
    torch.nn.utils.parametrizations.spectral_norm(network.network[7])
    with refused(r"it has no tensor 'network\.7\.weight'; the tensors are"):
        values(saved(tmp_path, network.state_dict()))


CORES = [nn.RNN(16, 12), nn.LSTM(16, 6, bidirectional=True), nn.LSTM(16, 24, proj_size=12)]


@pytest.mark.parametrize("core", CORES, ids=["RNN", "both ways", "projected"])
def test_a_recurrent_core_of_another_kind_is_named(core, tmp_path):
    parts = {"network": nn.Sequential(*layers(16, outputs=0)), "lstm": core, "actor": nn.Linear(12, ACTIONS)}
    with refused("'lstm' is no LSTM and no GRU that goes one way, without projections"):
        values(saved(tmp_path, nn.ModuleDict(parts).state_dict()))


@pytest.mark.parametrize("kind", [torch.int8, torch.bool, torch.int64])
def test_weights_that_are_whole_numbers_are_refused(kind, tmp_path):
    weights = {name: (30 * value).to(kind) for name, value in seeded(QNetwork()).state_dict().items()}
    with pytest.raises(ArcadeMarkError, match=r"'network.0.weight' holds whole numbers \("):
        values(saved(tmp_path, weights))


@pytest.mark.parametrize("names", [("b", "d", "c"), ("conv3", "conv2", "conv1")])
def test_convolutions_whose_names_and_places_give_two_orders_are_refused(names, tmp_path):
    parts = layers()
    tensors = {
        f"{name}.{key}": value
        for name, i in zip((*names, "fc"), (0, 2, 4, 7), strict=True)
        for key, value in parts[i].state_dict().items()
    }
    with pytest.raises(ArcadeMarkError, match=r"the order of its convolutions is another by their names \("):
        values(saved(tmp_path, tensors))


def test_several_networks_are_offered_by_name(tmp_path):
    first, second = seeded(QNetwork()), seeded(QNetwork(), 2)
    path = saved(tmp_path, {"agent": first.state_dict(), "ema": {"model": second.state_dict()}, "epoch": 3})
    assert_same(values(path)[0], answers(first))  # the other lies deeper
    path = saved(tmp_path, {"agent": first.state_dict(), "ema": second.state_dict()})
    with pytest.raises(ArcadeMarkError, match=r"holds 2 networks, agent, ema; choose one: --set key=agent"):
        values(path)
    for key, network in (("agent", first), ("ema", second)):
        assert_same(values(path, key=key)[0], answers(network))
    with pytest.raises(ArcadeMarkError, match=r"unknown part of .* 'agnet'; did you mean 'agent'"):
        values(path, key="agnet")


class Pieces(nn.Module):
    """A network with a name for each part, as a library gives them; `path` says how they follow each other."""

    def __init__(self, path, **parts):
        super().__init__()
        self.path = path
        for name, part in parts.items():
            self.add_module(name, part)

    def forward(self, x):
        for name in self.path:
            x = self.get_submodule(name)(x)
        return x


def tianshou():
    """``policy.state_dict()`` of tianshou 2.0 with its Atari network; the algorithm's holds a copy of the model."""
    eyes, dense = layers(16)[:6], layers(16)[6:]
    network = seeded(nn.Sequential(nn.Sequential(*eyes, nn.Flatten()), *dense[1:]))
    tensors = renamed(network, "policy.model.module.net.{name}")
    return network, tensors | renamed(seeded(network, 1), "model_old.module.module.net.{name}") | {"_optimizers": []}


def torchrl_value():
    """``DQNLoss.state_dict()`` of TorchRL 0.14: a ConvNet and an MLP, with a target network."""
    network = seeded(nn.Sequential(nn.Sequential(*layers(outputs=0)[:7]), nn.Sequential(*layers(16)[7:])))
    names = "{}value_network_params.module.0.module.{{name}}"
    tensors = renamed(network, names.format("")) | renamed(network, names.format("target_"))
    return network, {"loss": tensors}


def torchrl_actor():
    """``ActorValueOperator.state_dict()`` of TorchRL 0.14."""
    eyes = nn.Sequential(nn.Sequential(*layers(outputs=0)[:7]), nn.Sequential(nn.Linear(392, 16), nn.ReLU()))
    head, value = nn.Sequential(nn.Linear(16, ACTIONS)), nn.Sequential(nn.Linear(16, 1))
    network = seeded(nn.Sequential(eyes, head, value))
    tensors = renamed(eyes, "module.0.module.{name}") | renamed(head, "module.1.module.0.module.{name}")
    return network[:2], tensors | renamed(value, "module.2.module.{name}")


def torchrl_dueling():
    """``DuelingCnnDQNet.state_dict()`` of TorchRL 0.14, whose values are advantages but for a number of each row's."""
    eyes = nn.Sequential(*layers(outputs=0)[:7])
    advantage, value = (nn.Sequential(nn.Linear(392, 16), nn.ReLU(), nn.Linear(16, n)) for n in (ACTIONS, 1))
    whole = seeded(nn.ModuleDict({"features": eyes, "advantage": advantage, "value": value}))
    return nn.Sequential(eyes, advantage), whole.state_dict()


def named():
    """Layers of one's own, ``self.conv1`` and so on."""
    parts = layers(16)
    names = {"conv1": 0, "conv2": 2, "conv3": 4, "fc1": 7, "fc2": 9}
    path = ["conv1", "act", "conv2", "act", "conv3", "act", "flat", "fc1", "act", "fc2"]
    network = seeded(Pieces(path, act=nn.ReLU(), flat=nn.Flatten(), **{name: parts[i] for name, i in names.items()}))
    return network, network.state_dict()


def two_encoders():
    """An actor and two critics, each with its own eyes; as of discrete SAC the critics value each action, too."""
    parts = {name: nn.Sequential(*layers(16, 16)) for name in ("actor", "critic1", "critic2")}
    whole = seeded(nn.ModuleDict(parts))
    return whole["actor"], whole.state_dict() | {"log_alpha": torch.zeros(1)}


def recurrent():
    """A network that remembers, told at its first step."""
    eyes, core, head = nn.Sequential(*layers(16, outputs=0)), nn.LSTM(16, 12), nn.Linear(12, ACTIONS)
    whole = seeded(nn.ModuleDict({"eyes": eyes, "memory": core, "policy_head": head, "value_head": nn.Linear(12, 1)}))
    return lambda x: head(core(eyes(x).unsqueeze(0))[0][0]), whole.state_dict()


def of_a_hidden_size():
    """``Policy.state_dict()`` of pytorch-a2c-ppo-acktr-gail, whose hidden layer could see screens of 64 x 64, too."""
    eyes, head = seeded(nn.Sequential(*layers(8 * 4 * 4, outputs=0))), seeded(nn.Linear(8 * 4 * 4, ACTIONS))
    tensors = renamed(eyes, "base.main.{name}") | renamed(head, "dist.linear.{name}")
    return nn.Sequential(eyes, head), tensors | renamed(nn.Linear(8 * 4 * 4, 1), "base.critic_linear.{name}")


def actor_with_a_layer_of_its_own():
    """A layer that follows the one that it feeds, in the order of names."""
    eyes, own, head = nn.Sequential(*layers(16, outputs=0)), nn.Linear(16, 16), nn.Linear(16, ACTIONS)
    parts = {"network": eyes, "actor_fc": own, "actor": head, "critic": nn.Linear(16, 1)}
    whole = seeded(nn.ModuleDict(parts))
    return nn.Sequential(eyes, own, nn.ReLU(), head), whole.state_dict()


LIBRARIES = (
    *(tianshou, torchrl_value, torchrl_actor, torchrl_dueling, named, two_encoders, recurrent, of_a_hidden_size),
    actor_with_a_layer_of_its_own,
)


@pytest.mark.parametrize("make", LIBRARIES, ids=[make.__name__ for make in LIBRARIES])
def test_shapes_tell_a_network_whose_names_say_nothing(make, tmp_path):
    network, tensors = make()
    given, said = values(saved(tmp_path, tensors))
    assert_same(given, answers(network))
    assert "follows from its tensors' shapes alone, and is played with only relu between its layers" in said
    assert "--set network=file.py:Class" in said


def test_what_is_assumed_of_a_network_is_said_of_it_alone(tmp_path):
    saved(tmp_path, named()[1], "0.pt")
    saved(tmp_path, {"model_weights": QNetwork().state_dict(), "args": {"exp_name": "dqn_atari"}}, "1.pt")
    (spec,) = agent_specs(str(tmp_path / "{seed}.pt"))
    agents = with_checkpoints(spec, [replace(PONG, seed=seed) for seed in (0, 1)])
    assert agents["pong", 0].assumed.startswith("its network follows from its tensors' shapes alone")
    assert not agents["pong", 1].assumed


@pytest.mark.parametrize("name", ["obs_rms", "normalizer"])
def test_statistics_of_screens_beside_a_network_are_not_passed_over(tmp_path, name):
    of_screens = {name: {"mean": np.zeros((4, 84, 84)), "var": np.ones((4, 84, 84)), "count": 1.0}}
    of_rewards = {name: {"mean": np.zeros(1), "var": np.ones(1)}}
    agent = {"agent": QNetwork().state_dict(), "args": {"exp_name": "dqn_atari"}}
    assert not values(saved(tmp_path, agent | of_rewards))[1]
    said = values(saved(tmp_path, agent | of_screens))[1]
    assert f"not normalised by the statistics that the file holds, '{name}.mean'" in said


def test_what_shapes_do_not_tell_can_be_set(tmp_path):
    parts = layers(16, activation=nn.Tanh)
    network = seeded(nn.Sequential(*parts))
    path = saved(tmp_path, renamed(network, "body.{name}"))
    given, _ = values(path, activation="tanh", scale=64.0)
    assert_same(given, answers(network, scale=64.0))


@pytest.mark.parametrize(
    ("head", "gives"),
    [("fc", None), ("policy_head", True), ("logits", True), ("q_head", False), ("qf", False), ("advantage", False)],
)
def test_actions_are_drawn_where_a_head_may_give_a_distribution(head, gives, tmp_path):
    names = {"eyes": nn.Sequential(*layers(16, outputs=0)), head: nn.Linear(16, ACTIONS)}
    tensors = seeded(nn.ModuleDict(names)).state_dict()
    tensors[f"{head}.weight"] *= 0.01
    path = saved(tmp_path, tensors)
    if gives is False:
        with pytest.raises(ArcadeMarkError, match=r"deterministic=false changes nothing.* --set epsilon=0.05"):
            CheckpointPlayer(PONG, path, "", deterministic=False)
        return
    player, rngs = CheckpointPlayer(PONG, path, "", deterministic=False), map(np.random.default_rng, range(64))
    drawn = player.act(np.repeat(observations(1), 64, axis=0), np.ones(64, np.bool_), [*rngs])
    assert len({*drawn.tolist()}) > 1
    assert ("logits of a distribution, as --set deterministic=false asks" in player.assumed) == (gives is None)
    assert "deterministic" not in CheckpointPlayer(PONG, path, "").assumed


@pytest.mark.parametrize(
    ("trained", "draws"), [("ppo_atari_envpool_xla_jax", True), ("dqn_atari_jax", False), ("mine", None)]
)
def test_cleanrl_on_jax_says_by_its_name_whether_actions_are_drawn(trained, draws, tmp_path):
    tree = flax_tree(padded(16, features=8 * 11 * 11))
    (tmp_path / "network.msgpack").write_bytes(packed({"0": {"exp_name": trained}, "1": tree}))
    if draws is False:
        with pytest.raises(ArcadeMarkError, match="deterministic=false changes nothing"):
            CheckpointPlayer(PONG, tmp_path / "network.msgpack", "", deterministic=False)
    else:
        player = CheckpointPlayer(PONG, tmp_path / "network.msgpack", "", deterministic=False)
        assert player.draws
        assert bool(player.assumed) == (draws is None)


class Same(nn.Module):
    """Padding as TensorFlow's, written out: the larger part at the end."""

    def __init__(self, kernel, stride):
        super().__init__()
        self.kernel, self.stride = kernel, stride

    def forward(self, x):
        pads = []
        for size in (x.shape[3], x.shape[2]):
            missing = max(0, self.kernel - (self.stride if size % self.stride == 0 else size % self.stride))
            pads += [missing // 2, missing - missing // 2]
        return nn.functional.pad(x, pads)


def padded(*hidden, features, kernels=((8, 4), (4, 2), (3, 1))):
    """Return a network with padded convolutions, whose outputs are read channels last, as JAX and RLlib do."""
    parts, channels = [], 4
    for kernel, stride in kernels:
        parts += [Same(kernel, stride), nn.Conv2d(channels, 8, kernel, stride), nn.ReLU()]
        channels = 8
    turn = Pieces(["turn"], turn=nn.Flatten())
    turn.forward = lambda x: x.permute(0, 2, 3, 1).flatten(1)
    return seeded(nn.Sequential(*parts, turn, *layers(*hidden, features=features)[7:]))


def test_modules_of_rllib_see_screens_as_its_wrappers_scale_them(tmp_path):
    """``DefaultPPOTorchRLModule.state_dict()`` of Ray 2.5x, with an encoder for each of its heads."""
    actor, critic = (padded(16, features=8 * 16, kernels=[(4, 2)] * 4) for _ in range(2))
    tensors = {"pi.log_std_clip_param_const": torch.zeros(1)}
    for network, encoder, head in ((actor, "actor", "pi"), (critic, "critic", "vf")):
        for i in range(4):
            of_layer = network[3 * i + 1]
            tensors |= renamed(of_layer, f"encoder.{encoder}_encoder.net.0.cnn.{3 * i + 1}.{{name}}")
        tensors |= renamed(network[13], f"{head}.net.mlp.0.{{name}}")
        tensors |= renamed(network[15] if head == "pi" else nn.Linear(16, 1), f"{head}.net.mlp.2.{{name}}")
    given, _ = values(saved(tmp_path, tensors), SMALL)
    with torch.inference_mode():
        assert_same(given, actor(torch.from_numpy(observations(size=64)) / 128 - 1))


def flax_tree(network):
    """Return a network's arrays as Flax has them, by their names there."""
    kinds, tree = {"Conv": 0, "Dense": 0}, {}
    for layer in network:
        if isinstance(layer, nn.Conv2d | nn.Linear):
            kind = "Conv" if isinstance(layer, nn.Conv2d) else "Dense"
            turned = layer.weight.permute(2, 3, 1, 0) if kind == "Conv" else layer.weight.t()
            arrays = {"kernel": turned, "bias": layer.bias}
            tree[f"{kind}_{kinds[kind]}"] = {k: v.detach().contiguous().numpy() for k, v in arrays.items()}
            kinds[kind] += 1
    return {"params": dict(sorted(tree.items()))}


def packed(tree):
    """Write a tree as ``flax.serialization.to_bytes`` does."""

    def array(value):
        raw = msgspec.msgpack.encode((value.shape, value.dtype.name, value.tobytes()))
        return msgspec.msgpack.Ext(1, raw)

    return msgspec.msgpack.encode(tree, enc_hook=array)


@pytest.mark.parametrize("form", ["parameters", "train state", "bundle of Dopamine"])
def test_flax_trees_are_played_whatever_their_padding(form, tmp_path):
    network = padded(16, features=8 * 11 * 11)
    tree = flax_tree(network)
    other = flax_tree(seeded(padded(16, features=8 * 11 * 11), 2))
    content = {
        "parameters": tree,
        "train state": {"step": 3, "params": tree, "opt_state": {"0": {"mu": other, "nu": other}}},
        "bundle of Dopamine": {"online_params": tree, "target_params": other, "training_steps": 3},
    }[form]
    for name in ("network.msgpack", "network.cleanrl_model"):
        (tmp_path / name).write_bytes(packed(content))
        given, said = values(tmp_path / name)
        assert_same(given, answers(network))
        assert ("follows from its tensors' shapes alone" in said) == (
            name == "network.msgpack"
        )  # Flax named the layers


def test_cleanrls_ppo_on_jax_gives_a_distribution(tmp_path):
    """``ppo_atari_envpool_xla_jax_scan.py``: its arguments, and the parameters of body, actor and critic."""
    network = padded(16, features=8 * 11 * 11)
    body = flax_tree(network)["params"]
    actor, critic = ({"params": {"Dense_0": body["Dense_1"]}}, {"params": {"Dense_0": body.pop("Dense_1")}})
    critic["params"]["Dense_0"] = {name: array[..., :1].copy() for name, array in critic["params"]["Dense_0"].items()}
    parts = {str(i): tree for i, tree in enumerate(({"params": body}, actor, critic))}
    content = {"0": {"exp_name": "ppo_atari_envpool_xla_jax_scan", "seed": 1}, "1": parts}
    (tmp_path / "ppo.cleanrl_model").write_bytes(packed(content))
    assert_same(values(tmp_path / "ppo.cleanrl_model")[0], answers(network))
    player = CheckpointPlayer(PONG, tmp_path / "ppo.cleanrl_model", "", deterministic=False)
    assert player.draws
    assert player._network.stochastic


@pytest.mark.parametrize("settings", [{"encoder_conv_architecture": "convnet_simple"}, None])
def test_sample_factorys_default_convolutions_have_strides_of_their_own(settings, tmp_path):
    """``convnet_simple``, whose last convolution has 128 channels and the stride 2."""
    parts = [nn.Conv2d(4, 8, 8, 4), nn.ReLU(), nn.Conv2d(8, 8, 4, 2), nn.ReLU(), nn.Conv2d(8, 128, 3, 2), nn.ReLU()]
    parts += [nn.Flatten(), nn.Linear(128 * 4 * 4, 16), nn.ReLU(), nn.Linear(16, ACTIONS)]
    network = seeded(nn.Sequential(*parts))
    names = {7: "encoder.encoders.obs.enc.mlp_layers.0", 9: "action_parameterization.distribution_linear"}
    tensors = {
        f"{names.get(int(number), f'encoder.encoders.obs.enc.conv_head.{number}')}.{name}": value
        for key, value in network.state_dict().items()
        for number, name in [key.split(".")]
    }
    if settings:
        (tmp_path / "config.json").write_text(json.dumps(settings))
    assert_same(values(saved(tmp_path, {"model": tensors, "train_step": 8, "env_steps": 4096}))[0], answers(network))


class Foreign:
    """Is pickled as an object of a library that is not installed: by a function, and what it is called with."""

    def __init__(self, function, *arguments):
        self.function, self.arguments = function, arguments

    def __reduce__(self):
        return self.function, self.arguments


@pytest.fixture
def foreign(monkeypatch):
    """Return what makes a function of a library that is not installed."""

    def make(module, name):
        def function(*_):
            raise AssertionError("code that a pickle names was run")

        parts = module.split(".")
        for end in range(1, len(parts) + 1):
            part = ".".join(parts[:end])
            monkeypatch.setitem(sys.modules, part, sys.modules.get(part) or ModuleType(part))
        function.__module__, function.__qualname__ = module, name
        setattr(sys.modules[module], name, function)
        return function

    return make


def with_arrays(tree, make):
    return {k: with_arrays(v, make) if isinstance(v, dict) else make(v) for k, v in tree.items()}


@pytest.mark.parametrize("form", ["JAX", "JAX before 0.4", "NumPy", "NumPy, protocol 5", "by columns", "FrozenDict"])
def test_pickles_of_dopamine_are_read_without_running_what_they_name(form, foreign, tmp_path):
    """``Checkpointer.save_checkpoint`` of Dopamine 4.1 on what its agents' ``bundle_and_checkpoint`` returns."""
    network = padded(16, features=8 * 11 * 11)
    old = form == "JAX before 0.4"
    of_jax = foreign(
        "jax._src.device_array" if old else "jax._src.array",
        "reconstruct_device_array" if old else "_reconstruct_array",
    )

    def array(value):
        if form == "by columns":
            return np.asfortranarray(value)
        return Foreign(of_jax, *value.__reduce__(), {"weak_type": False}) if form.startswith("JAX") else value

    tree, other = (with_arrays(flax_tree(one), array) for one in (network, seeded(padded(16, features=968), 2)))
    if form == "FrozenDict":
        tree = Foreign(foreign("flax.core.frozen_dict", "FrozenDict"), tree)
    bundle = {
        "state": np.ones((1, 84, 84, 4)),
        "training_steps": 2_000_000,
        "online_params": tree,
        "optimizer_state": (Foreign(foreign("optax._src.transform", "ScaleByAdamState"), other), ()),
        "target_params": other,
        "current_iteration": 3,
        "logs": {"iteration_0": {"train_average_return": [np.float64(1.5)]}},
    }
    path = tmp_path / "ckpt.3"
    path.write_bytes(pickle.dumps(bundle, protocol=5 if form == "NumPy, protocol 5" else 4))
    given, said = values(path)
    assert_same(given, answers(network))
    assert not said
    player = CheckpointPlayer(PONG, path, "")
    assert (player.fire_reset, player.trained_frames, player._network.blank) == (False, 8_000_000, 0)


def test_pickles_of_others_are_bounded_and_named(foreign, tmp_path):
    nested, tree = (), flax_tree(padded(16, features=8 * 11 * 11))
    path = tmp_path / "network.pkl"
    path.write_bytes(pickle.dumps(tree))  # parameters alone
    assert values(path)[0].shape == (5, ACTIONS)
    for content, said in (
        (b"\x80\x04)" + b"\x85" * 20_000 + b".", "has more than 2,000,000 operations or 10,000 tuples"),
        (pickle.dumps({"a": [1, "b", nested]}), "a pickle, but none of PyTorch's, and holds no arrays"),
        (pickle.dumps(Foreign(foreign("lab.agents", "Agent"), 1)), "holds no arrays"),
        (pickle.dumps({"online_params": {"kernel": Foreign(foreign("lab", "half"))}}), "holds no arrays of a network"),
        (pickle.dumps(tree)[:-100], "is a pickle that cannot be read"),
        (pickle.dumps({"kernel": np.array(["a", None])}), "holds no arrays"),
        (b"\x80\x04\x96" + (2**62).to_bytes(8, "little") + b".", "is a pickle that cannot be read"),
    ):
        path.write_bytes(content)
        with pytest.raises(ArcadeMarkError, match=said):
            values(path)


NUMPY = b"\x80\x04cnumpy._core.numeric\n_frombuffer\n"
FLOATS = b"cnumpy\ndtype\n\x8c\x02f4\x85R"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (
            NUMPY + b"q\0(C\xa0" + bytes(160) + FLOATS + b"K\5K\x08\x86\x8c\1Ctq\1](" + 4 * b"h\0h\1R" + b"e.",
            "more bytes than it",
        ),
        (b"\x80\x04}K\1\x85q\0h\0\x86Ns.", "keys, arguments or states"),
        (b"\x80\x04K\1\x85q\0h\0\x86q\0](h\0\x91e.", "keys, arguments or states"),
        (b"\x80\x04(" + b"K\1\x85\x85" + b"N" + b"d.", "keys, arguments or states"),
        (b"\x80\x04}(\x8a\x10" + b"\1" * 16 + b"Nu.", "keys, arguments or states"),
        (b"\x80\x04}(X\x11\x27\0\0" + b"k" * 10_001 + b"Nu.", "keys, arguments or states"),
        (b"\x80\x04clab\nAgent\n(" + b"N" * 1001 + b"tR.", "keys, arguments or states"),
        (b"\x80\x04clab\nAgent\n(" + b"N" * 1001 + b"t\x81.", "keys, arguments or states"),
        (b"\x80\x04clab\nAgent\n](" + b"N" * 1001 + b"eR.", "keys, arguments or states"),
        (NUMPY + b"}\x8c\4nameNsb.", "keys, arguments or states"),
        (b"\x80\x04c" + b"m" * 10_000 + b"\nAgent\n.", "class by more than 10,000 characters"),
        (b"\x80\x04\x82\1.", "class by the number 1"),
    ],
)
def test_pickles_take_no_more_time_and_memory_than_their_size(content, said, tmp_path):
    """What a few bytes name again is neither copied, hashed, compared nor unpacked, unless it is small."""
    (tmp_path / "network.pkl").write_bytes(content)
    with pytest.raises(ArcadeMarkError, match=f"is a pickle that cannot be read .*{said}"):
        values(tmp_path / "network.pkl")


def test_what_a_pickle_names_again_is_not_copied(monkeypatch):
    frozen, state = pickled.load(
        b"\x80\x04}q\0\x8c\1aK\1s0cflax.core.frozen_dict\nFrozenDict\nh\0\x85Rclab\nAgent\n)\x81h\0b\x86."
    )
    assert state.state is frozen
    monkeypatch.setattr(contents, "MAX_ITEMS", 100)
    shared = [0] * 90
    assert len([*contents._leaves([shared] * 9, "")]) == 90
    with pytest.raises(ArcadeMarkError, match="more than 100 items"):
        [*contents._leaves([shared, [*shared]], "")]


def test_a_layer_beside_the_one_that_takes_the_screens_is_no_guess(tmp_path):
    """An implicit quantile network of Dopamine's, whose first layer takes quantiles, not screens."""
    tree = flax_tree(padded(8 * 11 * 11, 16, features=8))  # 8 features are those of screens of 42 x 42, not padded
    (tmp_path / "network.msgpack").write_bytes(packed(tree))
    with pytest.raises(ArcadeMarkError, match=r"nothing gives what 'params.Dense_0' takes"):
        values(tmp_path / "network.msgpack")


def orbax(folder, tree, *, step=3, ocdbt=True, zarr3=False):
    """Write a tree as Orbax 0.12 does."""
    import tensorstore

    root, entries = folder / str(step) / "default", {}
    root.mkdir(parents=True)
    for layer, arrays in tree["params"].items():
        for name, value in arrays.items():
            keys = ("params", layer, name)
            place, base = ".".join(keys), {"driver": "file", "path": f"{root}/"}
            inner = {"driver": "ocdbt", "base": base, "path": f"{place}/"}
            spec = {
                "driver": "zarr3" if zarr3 else "zarr",
                "kvstore": inner if ocdbt else {"driver": "file", "path": f"{root}/{place}/"},
            }
            store = tensorstore.open(spec, create=True, dtype="float32", shape=value.shape).result()
            store.write(value).result()
            metadata = {"value_type": "jax.Array", "skip_deserialize": False, "write_shape": value.shape}
            entries[str(keys)] = {
                "key_metadata": [{"key": key, "key_type": 2} for key in keys],
                "value_metadata": metadata,
            }
    described = {"tree_metadata": entries, "use_ocdbt": ocdbt, "use_zarr3": zarr3}
    (root / "_METADATA").write_text(json.dumps(described))
    return root


@pytest.mark.needs("tensorstore")
@pytest.mark.parametrize(("ocdbt", "zarr3"), [(True, False), (True, True), (False, False)])
def test_orbax_folders_are_played_and_bounded(ocdbt, zarr3, tmp_path, monkeypatch):
    from arcademark.agents.checkpoints import orbax_folders

    network = padded(16, features=8 * 11 * 11)
    root = orbax(tmp_path / "run", flax_tree(network), ocdbt=ocdbt, zarr3=zarr3)
    for folder in (tmp_path / "run", root):
        assert_same(values(folder)[0], answers(network))
    monkeypatch.setattr(orbax_folders, "MAX_BYTES", 1000)
    with pytest.raises(ArcadeMarkError, match="its arrays have more than 1,000 bytes"):
        values(root)
    written = (root / "_METADATA").read_text()
    for old, new in (('"key": "params"', '"key": "../params"'), ('"tree_metadata"', '"tree"')):
        (root / "_METADATA").write_text(written.replace(old, new))
        with pytest.raises(ArcadeMarkError, match="cannot be read"):
            values(root)


@pytest.mark.needs("tensorstore")
def test_an_orbax_managers_digest_is_of_the_step_that_is_played(tmp_path):
    network = padded(16, features=8 * 11 * 11)
    root = orbax(tmp_path / "run", flax_tree(network), step=20)
    digest = CheckpointPlayer(PONG, tmp_path / "run", "").sha256
    assert CheckpointPlayer(PONG, root, digest).sha256 == digest
    orbax(tmp_path / "run", flax_tree(network), step=3)  # an older step, which a manager may keep
    (tmp_path / "run" / "20" / "metrics").mkdir()
    (tmp_path / "run" / "20" / "metrics" / "metrics").write_text("{}")
    assert CheckpointPlayer(PONG, tmp_path / "run", digest).sha256 == digest
    orbax(tmp_path / "run", flax_tree(network), step=100)
    with pytest.raises(ArcadeMarkError, match="has changed since the run was planned"):
        CheckpointPlayer(PONG, tmp_path / "run", digest)


@contextmanager
def refused(match):
    with pytest.raises(ArcadeMarkError, match=match) as caught:
        yield
    assert "damaged" not in str(caught.value)
    assert "\n" not in str(caught.value)


class Copies:
    """Its pickle copies a file."""

    def __init__(self, *names):
        self.names = names

    def __reduce__(self):
        return shutil.copyfile, self.names


def test_a_pickled_module_is_played_from_its_tensors_and_nothing_in_it_is_run(tmp_path):
    network = seeded(QNetwork())
    network.secret = Copies(__file__, tmp_path / "copied")
    assert_same(values(saved(tmp_path, network))[0], answers(network))
    assert not (tmp_path / "copied").exists()


OWN = """
from torch import nn
class QNetwork(nn.Module):
    def __init__(self, env):
        super().__init__()
        self.network = nn.Sequential(
            nn.Conv2d(4, 8, 8, 4), nn.Tanh(), nn.Conv2d(8, 8, 4, 2), nn.Tanh(), nn.Conv2d(8, 8, 3, 1), nn.Tanh(),
            nn.Flatten(), nn.Linear(392, 16), nn.Tanh(), nn.Linear(16, env.num_actions))
    def forward(self, x):
        return self.network(x)
"""


def test_a_pickled_module_that_tensors_do_not_tell_names_its_class_whose_file_can_be_given(tmp_path):
    network = seeded(QNetwork(*layers(16, activation=nn.Tanh)))
    path = saved(tmp_path, network)
    name = f"{QNetwork.__module__}.QNetwork"
    with refused(rf"its module has Tanh, .*name its class {name}: --set network=file\.py:QNetwork"):
        values(path)
    (tmp_path / "own.py").write_text(OWN)
    expected = answers(network)
    own = {"network": f"{tmp_path}/own.py:QNetwork", "scale": 255.0}
    forms = {
        "pickled": network,
        "wrapped": renamed(network, "module._orig_mod.{name}"),
        "nested": {"agent": {"q": network.state_dict()}, "optimizer": momenta(network.state_dict())},
        "two": renamed(network, "q_network.{name}") | renamed(seeded(QNetwork()), "target_network.{name}"),
    }
    for thing in forms.values():
        player = CheckpointPlayer(PONG, saved(tmp_path, thing), "", **own)
        assert_same(player._values(observations(), np.ones(5, np.bool_)), expected)
    wide = QNetwork(nn.Conv2d(4, 8, 8, 2), *layers(16)[1:])
    with refused(r"its module has a convolution of kernel \(8, 8\) and stride \(2, 2\)"):
        values(saved(tmp_path, wide))


def test_a_pickled_module_of_old_is_named(tmp_path):
    path = saved(tmp_path, seeded(QNetwork()), _use_new_zipfile_serialization=False)
    with refused(rf"holds pickled objects beside tensors \({QNetwork.__module__}\.QNetwork\)"):
        values(path)


def test_a_class_that_is_missing_where_code_may_run_is_not_needed(tmp_path, monkeypatch):
    """Its module was a script's, which is not here: with trust, too, its tensors are enough."""
    network = seeded(QNetwork())
    with monkeypatch.context() as patch:
        patch.setattr(QNetwork, "__module__", "gone")
        patch.setitem(sys.modules, "gone", SimpleNamespace(QNetwork=QNetwork))
        path = saved(tmp_path, network)
    assert_same(values(path, trust=True)[0], answers(network))


def test_a_part_is_played_alone_only_where_all_beside_it_is_known(tmp_path):
    """Names before a dot may be of modules: what stands beside the layers may belong to the network."""
    tensors = QNetwork().state_dict()
    for name in ("attention.weight", "gate", "after.0.weight"):
        with refused("layers that are not known"):
            values(saved(tmp_path, tensors | {name: torch.zeros(3, 3)}))
        assert values(saved(tmp_path, {"agent": tensors, "beside": {name: torch.zeros(3, 3)}}))
    with refused("the tensors are"):
        values(saved(tmp_path, renamed(QNetwork(), "q.{name}") | {"embedding.weight": torch.zeros(3, 3)}))


AMBIGUOUS = {
    "an unknown layer": lambda tensors: tensors | {"attention.weight": torch.zeros(3, 3)},
    "a normalisation": lambda tensors: tensors | {"norm.weight": torch.ones(16), "norm.bias": torch.zeros(16)},
    "two heads of actions": lambda tensors: tensors | {"fc3.weight": torch.zeros(4, 16), "fc3.bias": torch.zeros(4)},
    "a distribution": lambda tensors: tensors | {"fc2.weight": torch.zeros(51 * 6, 16), "fc2.bias": torch.zeros(306)},
    "no convolution": lambda tensors: {"fc1.weight": torch.zeros(6, 4), "fc1.bias": torch.zeros(6)},
    "another kernel": lambda tensors: tensors | {"conv1.weight": torch.zeros(8, 4, 5, 5)},
    "a loose end": lambda tensors: tensors | {"fc1.weight": torch.zeros(16, 390)},
}


@pytest.mark.parametrize("kind", AMBIGUOUS)
def test_what_shapes_do_not_tell_is_refused_with_the_tensors_and_the_remedy(kind, tmp_path):
    tensors = AMBIGUOUS[kind](named()[1])
    with refused(
        rf"the tensors are {next(iter(tensors)).replace('.', '[.]')} \(.*name the module: --set network=file\.py:Class"
    ):
        values(saved(tmp_path, tensors))


def test_layers_that_could_follow_each_other_in_two_ways_are_refused(tmp_path):
    """The actor's first layer takes what the trunk gives and what the critic's gives: shapes cannot tell which."""
    sizes = {"fc1": (392, 16), "fc_v1": (16, 16), "fc_v2": (16, 1), "fc_pi1": (16, 16), "fc_pi2": (16, ACTIONS)}
    dense = nn.ModuleDict({name: nn.Linear(*size) for name, size in sizes.items()})
    tensors = {name: value for name, value in named()[1].items() if "conv" in name} | dense.state_dict()
    with refused("does not follow from its tensors' shapes"):
        values(saved(tmp_path, tensors))


@pytest.mark.parametrize("beside", [{}, {"fc_v1": (392, 16), "fc_v2": (16, 1)}])
def test_an_actors_layer_is_not_left_out_because_of_its_name(beside, tmp_path):
    """Of layers named by words the order of names is none: 'adv' begins 'adv_first', which feeds it."""
    sizes = {"trunk": (392, 16), "adv_first": (16, 16), "adv": (16, ACTIONS), "val": (16, 1)} | beside
    dense = nn.ModuleDict({name: nn.Linear(*size) for name, size in sizes.items()})
    tensors = {name: value for name, value in named()[1].items() if "conv" in name} | dense.state_dict()
    with refused("its network does not follow from its tensors' shapes: [2-9] layers give what"):
        values(saved(tmp_path, tensors))


def test_an_actors_layer_that_only_the_critic_could_take_is_refused(tmp_path):
    sizes = {"pi_fc1": (16, 16), "pi2": (16, ACTIONS), "v": (16, 1)}
    dense = nn.ModuleDict({name: nn.Linear(*size) for name, size in sizes.items()})
    eyes = nn.Sequential(*layers(16, outputs=0))
    with refused("its tensors' shapes: 'pi_fc1' is not on the way to 'pi2'"):
        values(saved(tmp_path, renamed(eyes, "eyes.{name}") | dense.state_dict()))


def nested(thing, key, times):
    for _ in range(times):
        thing = {key: thing}
    return thing


LONG = {
    "nested": nested(torch.zeros(2, 2), "k" * 100, 10),
    "beside the network": {"model": QNetwork().state_dict(), "log": nested({"step": 3}, "k" * 100, 10)},
    "empty": {"model": QNetwork().state_dict(), "log": nested({}, "k" * 100, 10)},
    "of a module": nn.ModuleDict({"k" * 1001: nn.Linear(2, 2)}),
}


@pytest.mark.parametrize("kind", LONG)
def test_names_are_bounded(kind, tmp_path):
    """Each level of a file repeats the names of those above it, of which the file holds one alone."""
    with refused(r"network\.pt: a name in it, kkk|network\.pt: a name in it, log\.kkk"):
        values(saved(tmp_path, LONG[kind]))


def test_names_of_flax_are_bounded(tmp_path):
    (tmp_path / "network.msgpack").write_bytes(packed(nested({"kernel": np.zeros((2, 2), "f4")}, "k" * 100, 10)))
    with refused("a name in it, kkk.* is longer than 1,000 characters"):
        values(tmp_path / "network.msgpack")


def test_a_tuple_that_holds_one_text_many_times_names_little(tmp_path):
    network = seeded(QNetwork())
    thing = {"model": network.state_dict(), "log": {("k" * 1000,) * 1000: 3}}
    assert_same(values(saved(tmp_path, thing))[0], answers(network))


def test_one_tensor_has_no_more_names_than_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr(contents, "MAX_ENTRIES", 10)
    with refused(": 11 tensors; at most 10 are read"):
        values(saved(tmp_path, [torch.zeros(2, 2)] * 1000))


def eyes_and(**sizes):
    """Tensors of `named`'s convolutions and of layers of these sizes, outputs before inputs."""
    eyes = {name: value for name, value in named()[1].items() if "conv" in name}
    return eyes | {f"{name.replace('__', '.')}.weight": torch.zeros(size) for name, size in sizes.items()}


def test_layers_in_a_ring_or_too_many_are_refused(tmp_path):
    with refused("its layers form a ring"):
        values(saved(tmp_path, eyes_and(actor_a__fc=(500, 500), trunk__fc=(500, 500), actor_h__out=(ACTIONS, 500))))
    row = {f"fc__{i}": (16, 16) for i in range(1, 196)}
    assert values(saved(tmp_path, eyes_and(fc__0=(16, 392), **row, fc__196=(ACTIONS, 16))))
    with refused("its network has more than 200 layers"):
        values(saved(tmp_path, eyes_and(fc__0=(16, 392), **row, fc__196=(16, 16), fc__197=(ACTIONS, 16))))


@pytest.mark.parametrize("name", ["h", "conv", "fc"])
def test_a_number_hides_no_layer_whose_name_begins_like_its_own(name, tmp_path):
    network, tensors = named()
    tensors = {key.replace("fc1", "hidden"): value for key, value in tensors.items()} | {name: torch.tensor(1.0)}
    assert_same(values(saved(tmp_path, tensors))[0], answers(network))


def test_what_lies_within_a_layer_that_is_left_out_is_not_left_out(tmp_path):
    value = {"fc_v.weight": torch.zeros(1, 16), "fc_v.bias": torch.zeros(1)}
    assert_same(values(saved(tmp_path, named()[1] | value))[0], answers(named()[0]))
    with refused(r"layers that are not known: 'fc_v\.mix\.gate'"):
        values(saved(tmp_path, named()[1] | value | {"fc_v.mix.gate": torch.ones(3)}))


def doubled(thing, times):
    for _ in range(times):
        thing = (thing, thing)
    return thing


@pytest.mark.parametrize(
    ("attribute", "given"),
    [("kernel_size", ()), ("kernel_size", ([],)), ("stride", (torch.ones(2), 4)), ("stride", doubled((4,), 60))],
)
def test_a_convolution_of_any_kernel_is_named(attribute, given, tmp_path):
    network = seeded(QNetwork())
    setattr(network.network[0], attribute, given)
    with refused("its module has a convolution of kernel "):
        values(saved(tmp_path, network))


@pytest.mark.parametrize("old", [False, True])
def test_a_key_whose_hash_takes_for_ever_ends_at_once(old, tmp_path):
    key = doubled((4,), 2)  # with 60 it would not end
    torch.save({"weight": torch.zeros(2, 2), key: 1}, tmp_path / "n.pt", _use_new_zipfile_serialization=not old)
    with refused("is not read, as it has keys"):
        values(tmp_path / "n.pt")


def test_a_bomb_of_references_ends_at_once(tmp_path):
    bomb = [torch.zeros(1)]
    for _ in range(60):
        bomb = [bomb, bomb]
    with refused("the tensors are"):
        values(saved(tmp_path, bomb))
