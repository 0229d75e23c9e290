"""Small networks of DQN's kind that are saved and played here, and trees of Flax."""

from contextlib import contextmanager
from itertools import pairwise

import msgspec
import numpy as np
import pytest
import torch
from torch import nn

from arcademark.agents.checkpoints.policy import CheckpointPlayer
from arcademark.environments.registry import environment_spec
from arcademark.errors import ArcadeMarkError
from arcademark.suite import protocols

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


def momenta(tensors):
    state = {i: {"step": torch.tensor(1.0), "exp_avg": value} for i, value in enumerate(tensors.values())}
    return {"state": state, "param_groups": [{"lr": 1e-3, "params": [*state]}]}


def arrays(thing):
    """Return tensors in dictionaries as NumPy's arrays."""
    if isinstance(thing, dict):
        return {key: arrays(value) for key, value in thing.items()}
    return thing.numpy() if isinstance(thing, torch.Tensor) else thing


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


def named():
    """Layers of one's own, ``self.conv1`` and so on."""
    parts = layers(16)
    names = {"conv1": 0, "conv2": 2, "conv3": 4, "fc1": 7, "fc2": 9}
    path = ["conv1", "act", "conv2", "act", "conv3", "act", "flat", "fc1", "act", "fc2"]
    network = seeded(Pieces(path, act=nn.ReLU(), flat=nn.Flatten(), **{name: parts[i] for name, i in names.items()}))
    return network, network.state_dict()


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


@contextmanager
def refused(match):
    with pytest.raises(ArcadeMarkError, match=match) as caught:
        yield
    assert "damaged" not in str(caught.value)
    assert "\n" not in str(caught.value)


def nested(thing, key, times):
    for _ in range(times):
        thing = {key: thing}
    return thing


def doubled(thing, times):
    for _ in range(times):
        thing = (thing, thing)
    return thing
