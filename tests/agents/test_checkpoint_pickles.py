"""Pickles of modules, arrays and other libraries, of which nothing is run."""

import pickle
import shutil
import sys
from types import ModuleType, SimpleNamespace

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
    doubled,
    flax_tree,
    layers,
    momenta,
    observations,
    padded,
    refused,
    renamed,
    saved,
    seeded,
    values,
)
from torch import nn  # noqa: E402

from arcademark.agents.checkpoints import contents, pickled  # noqa: E402
from arcademark.agents.checkpoints.policy import CheckpointPlayer  # noqa: E402
from arcademark.errors import ArcadeMarkError  # noqa: E402

pytestmark = pytest.mark.needs("torch")


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
        (pickle.dumps({"a": [1, "b", nested]}), "a pickle that PyTorch did not write, without known arrays"),
        (pickle.dumps(Foreign(foreign("lab.agents", "Agent"), 1)), "without known arrays"),
        (
            pickle.dumps({"online_params": {"kernel": Foreign(foreign("lab", "half"))}}),
            "without known arrays of",
        ),
        (pickle.dumps(tree)[:-100], "is a pickle that cannot be read"),
        (pickle.dumps({"kernel": np.array(["a", None])}), "without known arrays"),
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
    assert len([*contents.leaves_of([shared] * 9, "")]) == 90
    with pytest.raises(ArcadeMarkError, match="more than 100 items"):
        [*contents.leaves_of([shared, [*shared]], "")]


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
    for odd, of_it in ((2, 0), (4, 1)):  # a padding that changes no shape
        wide = QNetwork(nn.Conv2d(4, 8, 8, odd, of_it), *layers(16)[1:])
        with refused(rf"a convolution of kernel \(8, 8\), stride \({odd}, {odd}\) and padding \({of_it}, {of_it}\)"):
            values(saved(tmp_path, wide))


def test_a_pickled_module_of_old_is_named(tmp_path):
    path = saved(tmp_path, seeded(QNetwork()), _use_new_zipfile_serialization=False)
    with refused(rf"contains pickled objects beside tensors \({QNetwork.__module__}\.QNetwork\)"):
        values(path)


def test_a_class_that_is_missing_where_code_may_run_is_not_needed(tmp_path, monkeypatch):
    """Its module was a script's, which is not here: with trust, too, its tensors are enough."""
    network = seeded(QNetwork())
    with monkeypatch.context() as patch:
        patch.setattr(QNetwork, "__module__", "gone")
        patch.setitem(sys.modules, "gone", SimpleNamespace(QNetwork=QNetwork))
        path = saved(tmp_path, network)
    assert_same(values(path, trust=True)[0], answers(network))


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
    with refused("cannot be read, as it has keys"):
        values(tmp_path / "n.pt")


def test_a_bomb_of_references_ends_at_once(tmp_path):
    bomb = [torch.zeros(1)]
    for _ in range(60):
        bomb = [bomb, bomb]
    with refused("the tensors are"):
        values(saved(tmp_path, bomb))
