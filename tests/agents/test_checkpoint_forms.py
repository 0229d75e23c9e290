"""Checkpoints in the forms in which people save them: wrapped, nested, as trees of Flax and Orbax."""

import argparse
import json
import pickle
from collections import defaultdict, deque
from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: make test-all")

from saved_networks import (  # noqa: E402
    ACTIONS,
    PONG,
    QNetwork,
    answers,
    arrays,
    assert_same,
    flax_tree,
    layers,
    momenta,
    named,
    nested,
    packed,
    padded,
    refused,
    renamed,
    saved,
    seeded,
    values,
)
from torch import nn  # noqa: E402

from arcademark.agents.checkpoints import contents, pytorch_files  # noqa: E402
from arcademark.agents.checkpoints.networks import ACTIVATIONS, Residual  # noqa: E402
from arcademark.agents.checkpoints.policy import CheckpointPlayer  # noqa: E402
from arcademark.agents.loading import agent_specs, with_checkpoints  # noqa: E402
from arcademark.errors import ArcadeMarkError  # noqa: E402

pytestmark = pytest.mark.needs("torch")


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
    for settings in ({"atoms": 5}, {"actions_last": True}):
        with refused(f"--set {next(iter(settings))}=.* changes nothing: its head gives each action one number"):
            values(saved(tmp_path, tensors), **settings)
    with refused(r"unknown layers: 'extra_layer\.0\.bias'"):
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


def test_several_networks_are_offered_by_name(tmp_path):
    first, second = seeded(QNetwork()), seeded(QNetwork(), 2)
    path = saved(tmp_path, {"agent": first.state_dict(), "ema": {"model": second.state_dict()}, "epoch": 3})
    assert_same(values(path)[0], answers(first))  # the other lies deeper
    path = saved(tmp_path, {"agent": first.state_dict(), "ema": second.state_dict()})
    with pytest.raises(ArcadeMarkError, match=r"contains 2 networks, agent, ema; choose one: --set key=agent"):
        values(path)
    for key, network in (("agent", first), ("ema", second)):
        assert_same(values(path, key=key)[0], answers(network))
    with pytest.raises(ArcadeMarkError, match=r"unknown part of .* 'agnet'; did you mean 'agent'"):
        values(path, key="agnet")


def test_what_is_assumed_of_a_network_is_said_of_it_alone(tmp_path):
    saved(tmp_path, named()[1], "0.pt")
    saved(tmp_path, {"model_weights": QNetwork().state_dict(), "args": {"exp_name": "dqn_atari"}}, "1.pt")
    (spec,) = agent_specs(str(tmp_path / "{seed}.pt"))
    agents = with_checkpoints(spec, [replace(PONG, seed=seed) for seed in (0, 1)])
    assert agents["pong", 0].assumed.startswith("its network follows from its tensors' shapes alone")
    assert not agents["pong", 1].assumed


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


def orbax(folder, tree, *, step=3, ocdbt=True, zarr3=False):
    """Write a tree as Orbax 0.12 does."""
    import tensorstore

    root, entries = folder / str(step) / "default", {}
    root.mkdir(parents=True)
    for layer, of_layer in tree["params"].items():
        for name, value in of_layer.items():
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
    for module in (contents, pytorch_files):
        monkeypatch.setattr(module, "MAX_ENTRIES", 10)
    with refused(": 11 tensors; at most 10 are read"):
        values(saved(tmp_path, [torch.zeros(2, 2)] * 1000))
