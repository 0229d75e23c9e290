"""Trained networks played from their files: the libraries' formats, and files that try to run something."""

import io
import json
import pickle
import struct
import zipfile
from contextlib import nullcontext, suppress
from itertools import pairwise

import numpy as np
import pytest
from played import Evil

with suppress(ImportError):  # what needs it is skipped
    import onnx

torch = pytest.importorskip("torch", reason="PyTorch is not installed: make test-all")

from torch import nn  # noqa: E402

from arcademark.agents.checkpoints import foreign, networks, paths, pytorch_files, reading  # noqa: E402
from arcademark.agents.checkpoints.foreign import Onnx  # noqa: E402
from arcademark.agents.checkpoints.policy import CheckpointPlayer, check  # noqa: E402
from arcademark.environments.registry import environment_spec  # noqa: E402
from arcademark.errors import ArcadeMarkError  # noqa: E402
from arcademark.suite import protocols  # noqa: E402

pytestmark = pytest.mark.needs("torch")

PONG = environment_spec("pong", protocols.protocol("dqn-2015").override({"action_set": "minimal"}))
ACTIONS = PONG.num_actions


def observations(rows, seed=0):
    """Return screens of large squares, which tell networks with random weights apart."""
    squares = np.random.default_rng(seed).integers(0, 2, (rows, 4, 7, 7), dtype=np.uint8) * 255
    return np.kron(squares, np.ones((1, 1, 12, 12), np.uint8))


def rngs(rows):
    return [np.random.default_rng(i) for i in range(rows)]


def load(path, env=PONG, **settings):
    return CheckpointPlayer(env, path, paths.checksum(path), **settings)


def nature(channels=4, features=16):
    return [
        *(nn.Conv2d(channels, 8, 8, 4), nn.ReLU(), nn.Conv2d(8, 8, 4, 2), nn.ReLU(), nn.Conv2d(8, 8, 3, 1), nn.ReLU()),
        *(nn.Flatten(), nn.Linear(8 * 7 * 7, features), nn.ReLU()),
    ]


def seeded(module):
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator) * 0.2)
    return module.eval()


def dqn():
    return seeded(nn.ModuleDict({"network": nn.Sequential(*nature(), nn.Linear(16, ACTIONS))}))


def ppo():
    parts = {"network": nn.Sequential(*nature()), "actor": nn.Linear(16, ACTIONS), "critic": nn.Linear(16, 1)}
    return seeded(nn.ModuleDict(parts))


def saved(path, thing):
    torch.save(thing, path)
    return path


@pytest.fixture
def dqn_file(tmp_path):
    return saved(tmp_path / "dqn.cleanrl_model", dqn().state_dict())


OWN = """
from torch import nn
class Network(nn.Module):
    def __init__(self, env):
        super().__init__()
        self.only = nn.Linear(4 * 84 * 84, env.num_actions)
    def forward(self, x):
        return self.only(x.flatten(1))
"""


def written(kind, folder):
    """Write a network; return its file, the settings that it needs, and what gives actions their values."""
    path, linear = folder / "network", seeded(nn.Linear(4 * 84 * 84, ACTIONS))
    flat = nn.Sequential(nn.Flatten(), linear)
    match kind:
        case "C51":
            network, atoms = seeded(nn.Sequential(*nature(), nn.Linear(16, ACTIONS * 5))), torch.linspace(-1, 1, 5)
            tensors = {f"network.{key}": value for key, value in network.state_dict().items()}
            saved(path, {"model_weights": {**tensors, "atoms": atoms}, "args": {"n_atoms": 5}})
            return path, {}, lambda x: (network(x).view(-1, ACTIONS, 5).softmax(2) * atoms).sum(2)
        case "Sample-Factory":
            network, encoder = seeded(nn.Sequential(*nature(), nn.Linear(16, ACTIONS))), "encoder.encoders.obs.enc"
            names = {7: f"{encoder}.mlp_layers.0", 9: "action_parameterization.distribution_linear"}
            tensors = {
                f"{names.get(i, f'{encoder}.conv_head.{i}')}.{name}": value
                for i, layer in enumerate(network)
                for name, value in layer.state_dict().items()
            }
            return saved(path, {"model": tensors, "train_step": 8, "env_steps": 4096}), {}, network
        case "own network":
            (folder / "own.py").write_text(OWN)
            saved(path, {"only.weight": linear.weight.data, "only.bias": linear.bias.data})
            return path, {"network": f"{folder}/own.py:Network", "scale": 255.0}, flat
        case "TorchScript":
            torch.jit.script(flat).save(path)
            return path, {"trust": True, "scale": 255.0}, flat
        case "ONNX":
            weight = linear.weight.data.numpy().T.copy()
            return onnx_file(path, weight=weight), {"scale": 255.0}, lambda x: x.flatten(1) @ torch.from_numpy(weight)
    if kind == "safetensors":
        import safetensors.torch as safetensors

        safetensors.save_file(dqn().state_dict(), path)
    else:
        torch.save(dqn().state_dict(), path, _use_new_zipfile_serialization=kind != "PyTorch before 1.6")
    if kind == "packed":
        with zipfile.ZipFile(path) as archive, zipfile.ZipFile(folder / "packed", "w", zipfile.ZIP_DEFLATED) as packed:
            for entry in archive.infolist():
                packed.writestr(entry.filename, archive.read(entry))
        path = folder / "packed"
    return path, {}, dqn()["network"]


@pytest.mark.filterwarnings("ignore:.*torch.jit.*:DeprecationWarning")
@pytest.mark.parametrize(
    "kind",
    [
        *("CleanRL", "C51", "Sample-Factory", "packed", "PyTorch before 1.6", "own network", "TorchScript"),
        pytest.param("safetensors", marks=pytest.mark.needs("safetensors")),
        pytest.param("ONNX", marks=pytest.mark.needs("onnx", "onnxruntime")),
    ],
)
def test_a_network_is_played_from_its_file(kind, tmp_path):
    path, settings, network = written(kind, tmp_path)
    seen = observations(5)
    with torch.inference_mode():
        expected = network(torch.from_numpy(seen) / 255.0).argmax(1).numpy()
    assert len(set(expected)) > 1
    played = load(path, **settings)
    np.testing.assert_array_equal(played.act(seen, np.ones(5, bool), rngs(5)), expected)
    assert kind in ("own network", "TorchScript") or played.action_space.n == ACTIONS


@pytest.mark.parametrize(
    "part",
    [
        networks.Expectation([nn.Linear(4, 6)], torch.linspace(-1, 1, 3)),
        networks.Dueling([nn.Linear(4, 3)], [nn.Linear(4, 6)], torch.linspace(-1, 1, 3)),
        networks.Gaussian([nn.Linear(4, 4)], nn.Linear(4, 2), torch.zeros(2)),
        networks.Gaussian([nn.Linear(4, 4)], nn.Linear(4, 2), nn.Linear(4, 2)),
        networks.NormalisedInputs(0.0, 255.0, torch.zeros(4), torch.ones(4)),
    ],
    ids=["C51", "Rainbow", "given spread", "learnt spread", "Sample-Factory"],
)
def test_whole_network_goes_to_another_device(part):
    network = networks.Network(part, nn.Identity(), nn.Identity(), (4,)).to("meta")
    assert len(network(torch.zeros(3, 4, device="meta"), ())[0]) == 3


def test_recurrent_network_remembers_within_an_episode_and_forgets_between(tmp_path):
    model = nn.ModuleDict(
        {
            "network": nn.Sequential(*nature()),
            "lstm": nn.LSTM(16, 7),
            "actor": nn.Linear(7, ACTIONS),
            "critic": nn.Linear(7, 1),
        }
    )
    played = load(saved(tmp_path / "lstm.pt", seeded(model).state_dict()))
    state = (torch.zeros(1, 2, 7), torch.zeros(1, 2, 7))
    for step, first in enumerate([(True, True), (False, False), (True, False), (False, False)]):
        seen = observations(2, seed=step)
        state = tuple(part * (1.0 - torch.tensor(first).float()).view(1, -1, 1) for part in state)
        hidden, state = model["lstm"](model["network"](torch.from_numpy(seen) / 255.0).unsqueeze(0), state)
        expected = model["actor"](hidden[0])
        values = played._values(seen, np.array(first))
        np.testing.assert_allclose(values, expected.detach().numpy(), rtol=1e-4, atol=1e-5)


def test_answers_depend_on_neither_batch_nor_neighbours(dqn_file):
    seen, first = observations(40), np.ones(40, bool)
    alone = load(dqn_file, batch=1)
    of_each = np.concatenate([alone._values(row[None], first[:1]) for row in seen])
    np.testing.assert_array_equal(load(dqn_file, batch=40)._values(seen, first), of_each)


def test_gpu_computes_in_whole_single_precision_and_only_then(dqn_file):
    played, seen = load(dqn_file), []
    played._network.register_forward_pre_hook(lambda *_: seen.append(torch.backends.cudnn.allow_tf32))
    before = torch.backends.cudnn.allow_tf32
    with torch.backends.cudnn.flags(enabled=True, allow_tf32=True):
        played.act(observations(1), np.ones(1, bool), rngs(1))
        assert torch.backends.cudnn.allow_tf32
    assert seen == [False]
    assert torch.backends.cudnn.allow_tf32 == before


def test_gpu_is_looked_for_where_it_plays(dqn_file, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    ((sha256, *_),) = check("dqn", [(dqn_file, PONG)], {"device": "cuda"})
    assert sha256 == paths.checksum(dqn_file)
    with pytest.raises(ArcadeMarkError, match="PyTorch finds no CUDA device; leave --set device out"):
        load(dqn_file, device="cuda")


def test_sampled_actions_follow_each_episodes_own_generator(tmp_path):
    tensors = ppo().state_dict()
    tensors["actor.weight"] *= 0.01
    played = load(saved(tmp_path / "ppo.pt", tensors), deterministic=False, batch=64)
    seen = np.repeat(observations(1), 64, axis=0)
    drawn = played.act(seen, np.ones(64, bool), rngs(64))
    assert len(set(drawn.tolist())) > 1
    np.testing.assert_array_equal(played.act(seen, np.ones(64, bool), rngs(64)[::-1]), drawn[::-1])


def test_epsilon_is_how_often_any_action_is_drawn_instead(dqn_file):
    seen, first = observations(64), np.ones(64, bool)
    played = load(dqn_file, epsilon=1.0, batch=64)
    drawn = played.act(seen, first, rngs(64))
    assert set(drawn.tolist()) == set(range(ACTIONS))
    np.testing.assert_array_equal(played.act(seen, first, rngs(64)[::-1]), drawn[::-1])
    best = load(dqn_file, batch=64).act(seen, first, rngs(64))
    sometimes = load(dqn_file, epsilon=0.25, batch=64).act(seen, first, rngs(64))
    asked = np.array([rng.random() < 0.25 for rng in rngs(64)])
    assert (sometimes[~asked] == best[~asked]).all()
    assert (sometimes[asked] != best[asked]).any()


def test_it_is_known_which_networks_draw(dqn_file, tmp_path):
    weighs = saved(tmp_path / "ppo.pt", ppo().state_dict())
    assert not load(dqn_file).draws
    assert [load(weighs, deterministic=given).draws for given in (True, False)] == [False, True]
    assert load(dqn_file, epsilon=0.05).draws is True
    assert load(saved(tmp_path / "whole.pt", dqn()["network"]), trust=True).draws is None  # it may, unseen


@pytest.mark.filterwarnings("ignore:.*torch.jit.*:DeprecationWarning")
@pytest.mark.parametrize(
    ("kind", "settings", "why"),
    [
        ("C51", {"deterministic": False}, "gives each action a value, no distribution"),
        ("Sample-Factory", {"scale": 255.0}, "its library determines its network"),
        ("Sample-Factory", {"activation": "relu"}, "its library determines its network"),
        ("C51", {"atoms": 5}, "its file has them in 'atoms'"),
        ("Sample-Factory", {"quantiles": 2}, "its library determines its network"),
        ("own network", {"activation": "tanh"}, "has its own"),
        ("own network", {"atoms": 51}, "has its own"),
        ("TorchScript", {"activation": "tanh"}, "brings its own network"),
        ("TorchScript", {"network": "own.py:Network"}, "brings its own network"),
        ("ONNX", {"network": "own.py:Network"}, "brings its own network"),
        ("ONNX", {"device": "cuda"}, "computed on the CPU"),
    ],
)
def test_settings_that_change_nothing_are_refused(kind, settings, why, tmp_path):
    path, needed, _ = written(kind, tmp_path)
    check("mine", [(path, PONG)], needed)
    with pytest.raises(ArcadeMarkError, match=rf"{'|'.join(settings)}.*{why}.*leave it out|{why}; leave --set device"):
        check("mine", [(path, PONG)], needed | settings)


def test_settings_that_a_file_does_not_hold_are_said(tmp_path):
    path, _, _ = written("Sample-Factory", tmp_path)
    assert "config.json is missing" in load(path).assumed
    (tmp_path / "config.json").write_text(json.dumps({"nonlinearity": "elu"}))
    assert not load(path).assumed
    parts = {
        "features_extractor": nn.ModuleDict({"cnn": nn.Sequential(*nature()[:6]), "linear": nn.Sequential(nature()[7])})
    }
    parts |= {"action_net": nn.Linear(16, ACTIONS), "value_net": nn.Linear(16, 1)}
    path = saved(tmp_path / "policy.pth", nn.ModuleDict(parts).state_dict())
    assert "have Stable-Baselines3's names, but its settings are missing" in load(path).assumed
    parts = {"quantile_net": nn.ModuleDict({"quantile_net": nn.Sequential(nn.Linear(16, ACTIONS))})}
    with pytest.raises(ArcadeMarkError, match=r"distinguish actions from quantiles, are missing \(use model\.save\("):
        load(saved(tmp_path / "policy.pth", nn.ModuleDict(parts).state_dict()))


@pytest.mark.filterwarnings("ignore:.*torch.jit.*:DeprecationWarning")
@pytest.mark.parametrize("kind", ["TorchScript", pytest.param("ONNX", marks=pytest.mark.needs("onnx", "onnxruntime"))])
def test_a_scale_that_a_file_leaves_open_is_noted(kind, tmp_path):
    path, needed, _ = written(kind, tmp_path)
    ((*_, assumed),) = check("mine", [(path, PONG)], needed | {"scale": None})
    assert "takes observations as they are, with values from 0 to 255; if it was trained on scaled ones, add" in assumed
    assert not check("mine", [(path, PONG)], needed)[0][2]


@pytest.mark.needs("onnx", "onnxruntime")
@pytest.mark.parametrize("shape", [(4, 84, 84), (84, 84, 4)])
def test_an_onnx_model_of_whole_numbers_scales_them_itself(shape, tmp_path):
    """With channels first or last, as exporters of PyTorch and of Flax write them."""
    weight = np.random.default_rng(0).normal(size=(4 * 84 * 84, ACTIONS)).astype(np.float32)
    path = onnx_file(tmp_path / "agent.onnx", weight=weight, kind=onnx.TensorProto.UINT8, shape=shape)
    with pytest.raises(ArcadeMarkError, match="--set scale=255 changes nothing: its input is of whole numbers"):
        load(path, scale=255.0)
    ((*_, assumed),) = check("mine", [(path, PONG)], {})
    assert not assumed
    seen = observations(5)
    rows = seen if shape[0] == 4 else np.moveaxis(seen, 1, -1)
    given = load(path)._values(seen, np.ones(5, np.bool_))
    np.testing.assert_allclose(given, rows.reshape(5, -1).astype(np.float32) @ weight, rtol=1e-4)


def test_what_is_taken_for_a_distribution_is_said(tmp_path):
    path, needed, _ = written("ONNX", tmp_path)
    ((*_, assumed),) = check("mine", [(path, PONG)], needed | {"deterministic": False})
    assert "logits of a distribution, as --set deterministic=false requires" in assumed


def test_a_network_of_another_game_or_a_changed_file_is_refused(tmp_path, dqn_file):
    path = saved(tmp_path / "whole.pt", nn.Sequential(nn.Flatten(), seeded(nn.Linear(4 * 84 * 84, ACTIONS + 1))))
    with pytest.raises(ArcadeMarkError, match=f"gives {ACTIONS + 1} actions a value; the game has {ACTIONS}"):
        load(path, trust=True).act(observations(1), np.ones(1, bool), rngs(1))
    with pytest.raises(ArcadeMarkError, match="has changed since the run was planned"):
        CheckpointPlayer(PONG, dqn_file, "0" * 64)


def stable_baselines3(path, policy, data):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("data", data)
        archive.writestr("policy.pth", policy)
    return path


def torch_bytes(thing, **how):
    buffer = io.BytesIO()
    torch.save(thing, buffer, **how)
    return buffer.getvalue()


def torchscript(path, _):
    torch.jit.script(nn.Linear(2, 2)).save(path)


def rllib(path, evil):
    path.mkdir()
    (path / "class_and_ctor_args.pkl").write_bytes(pickle.dumps(evil))


def nested(path, _):
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(5):
            archive.writestr(f"policy/data/{number}", bytes(2**24))
    stable_baselines3(path, inner.getvalue(), b"{}")


LAYERS = dqn().state_dict()
TRUST = "--set trust=true"
HOSTILE = {
    "unknown names": ({"only.weight": torch.zeros(3)}, r"is unknown by the names.*--set network=file.py:Class"),
    "an unknown layer": ({**LAYERS, "attention.weight": torch.zeros(3, 3)}, r"unknown layers: 'attention\.weight'"),
    "other shapes": (LAYERS | {"network.9.weight": torch.zeros(ACTIONS, 17)}, "do not fit each other"),
    "NaN": (LAYERS | {"network.0.bias": torch.full((8,), torch.nan)}, r"bias' contains NaN or infinity"),
    "complex": (LAYERS | {"network.0.bias": torch.ones(8, dtype=torch.complex64)}, "not a plain tensor of real"),
    "too large": ({"network.0.weight": torch.zeros(1).expand(10**12)}, "more numbers than the file contains"),
    "pt": (lambda path, evil: saved(path, {"network.0.weight": evil}), TRUST),
    "legacy pt": (
        lambda path, evil: path.write_bytes(torch_bytes({"a": evil}, _use_new_zipfile_serialization=False)),
        TRUST,
    ),
    "whole module": (lambda path, evil: saved(path, evil), TRUST),
    "pickle": (lambda path, evil: path.write_bytes(pickle.dumps(evil)), "a pickle that PyTorch did not write"),
    "sb3 policy": (lambda path, evil: stable_baselines3(path, torch_bytes({"a": evil}), b"{}"), TRUST),
    "sample-factory": (lambda path, evil: saved(path, {"model": LAYERS, "env_steps": evil}), TRUST),
    "torchscript": (torchscript, TRUST),
    "rllib": (rllib, TRUST),
    "archive within an archive": (nested, r"its policy\.pth: inflates to 83,886,080 bytes"),
    "damaged zip": (b"PK\x03\x04" + bytes(50), r"a\.pt"),
    "damaged pickle": (b"\x80\x02garbage", r"a\.pt"),
    "damaged safetensors": (struct.pack("<Q", 20) + b'{"a": {"dtype": "F3"' + bytes(8), r"a\.pt"),
    "damaged onnx": (b"\x08\x07garbage", r"a\.pt"),
    "damaged msgpack": (b"\x81\xa1a\xc7\x03\x01\x93\x90\xa6", r"a\.pt"),
    "text": (b"hello", r"a\.pt"),
    "nothing": (b"", r"a\.pt"),
}


@pytest.mark.filterwarnings("ignore:.*torch.jit.*:DeprecationWarning")
@pytest.mark.parametrize("kind", HOSTILE)
def test_what_cannot_be_played_is_one_clear_error_and_nothing_in_it_is_run(kind, tmp_path):
    content, message = HOSTILE[kind]
    path, touched = tmp_path / "a.pt", tmp_path / "touched"
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif isinstance(content, dict):
        saved(path, content)
    else:
        content(path, Evil(touched))
    with pytest.raises(ArcadeMarkError, match=message) as caught:
        load(path)
    assert not touched.exists()
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def exported(path):
    torch.export.save(torch.export.export(nn.Linear(4, 2), (torch.zeros(1, 4),)), path)


def zipped(*names):
    def write(path):
        with zipfile.ZipFile(path, "w") as archive:
            for name in names:
                archive.writestr(name, b"healthy")

    return write


ZIPS = {
    "pt2": (exported, r"is a program of torch\.export, .*ONNX"),
    "pt2 of old": (zipped("serialized_exported_program.json", "version"), r"a program of torch\.export"),
    "package": (zipped("a/.data/extern_modules", "a/m/m.pkl"), r"a package of torch\.package"),
    "npz": (lambda path: path.write_bytes(path.with_suffix(".npz").read_bytes()), r"NumPy's \(\.npz\).*safetensors"),
    "docx": (zipped("[Content_Types].xml", "word/document.xml"), "a Word document"),
    "xlsx": (zipped("[Content_Types].xml", "xl/workbook.xml"), "an Excel workbook"),
    "ods": (zipped("mimetype", "content.xml"), "an OpenDocument file"),
    "keras": (zipped("metadata.json", "config.json", "model.weights.h5"), "a model of Keras"),
    "tensorflow": (zipped("agent/saved_model.pb", "agent/variables/variables.index"), "a SavedModel of TensorFlow"),
    "sb2": (zipped("data", "parameters", "parameter_list"), "Stable Baselines 2"),
    "wheel": (zipped("a/__init__.py", "a-1.dist-info/WHEEL"), "a package of Python"),
    "jar": (zipped("META-INF/MANIFEST.MF", "A.class"), "a Java archive"),
    "zipped checkpoints": (
        zipped("runs/ppo.pt", "runs/dqn.pt"),
        r"zip archive of 2 files.*'runs/dqn\.pt'.*unpack",
    ),
    "zipped too deep": (zipped("runs/dqn/data.pkl"), r"zip archive of 1 file, such as 'runs/dqn/data\.pkl'.*unpack"),
    "empty": (zipped(), "an empty zip archive"),
    "network within": (
        lambda path: stable_baselines3(path, path.with_suffix(".npz").read_bytes(), b"{}"),
        r"its policy\.pth: is an archive of NumPy's",
    ),
}


@pytest.mark.parametrize("kind", ZIPS)
def test_healthy_archive_that_pytorch_did_not_write_is_named_and_not_called_damaged(kind, tmp_path):
    write, message = ZIPS[kind]
    np.savez(tmp_path / "a.npz", weight=np.zeros(3))
    write(path := tmp_path / "a.pt")
    with pytest.raises(ArcadeMarkError, match=message) as caught:
        load(path)
    assert "damaged" not in str(caught.value)


def test_damage_and_pickled_objects_are_told_apart(tmp_path):
    whole = torch_bytes({"layer": Evil(tmp_path / "touched")})
    (path := tmp_path / "a.pt").write_bytes(whole)
    with pytest.raises(ArcadeMarkError, match=r"a\.pt: contains pickled objects beside tensors"):
        load(path)
    at = whole.index(b"layer")
    path.write_bytes(whole[:at] + b"l\0yer" + whole[at + 5 :])
    with pytest.raises(ArcadeMarkError, match=r"a\.pt: is damaged \(copy it again\), or"):
        load(path)


def test_serialised_settings_are_left_out(tmp_path):
    touched = tmp_path / "touched"
    setting = {":type:": "<class 'x'>", ":serialized:": pickle.dumps(Evil(touched)).hex()}
    data = json.dumps({"lr_schedule": setting, "observation_space": {"_shape": [4, 84, 84], ":serialized:": "x"}})
    tensors = {"features_extractor.cnn" + k[7:]: v for k, v in dqn().state_dict().items() if k[8] in "024"}
    tensors |= {
        "features_extractor.linear.0.weight": torch.zeros(16, 392),
        "features_extractor.linear.0.bias": torch.zeros(16),
    }
    tensors |= {"action_net.weight": torch.zeros(ACTIONS, 16), "action_net.bias": torch.arange(float(ACTIONS))}
    made = load(stable_baselines3(tmp_path / "a.zip", torch_bytes(tensors), data.encode()))
    assert made.act(observations(2), np.ones(2, bool), rngs(2)).tolist() == [ACTIONS - 1] * 2
    assert not touched.exists()


COUNTED = [
    ("sb3", 250_000, {}, 1_000_000),
    ("sb3", True, {}, None),
    ("sb3", "250000", {}, None),
    ("sample-factory", 1_000_000, {}, 1_000_000),
    ("sample-factory", 250_000, {"summaries_use_frameskip": False}, 1_000_000),
    ("cleanrl", 250_000, {}, 1_000_000),
    ("cleanrl", torch.tensor(5), {}, None),
    ("sb3", 2**62, {}, None),
]


@pytest.mark.parametrize(("kind", "count", "config", "frames"), COUNTED)
def test_training_frames_are_as_the_file_says(tmp_path, kind, count, config, frames):
    """Stable-Baselines3 and CleanRL count steps, of four frames here; Sample-Factory frames unless told otherwise."""
    if kind == "sb3":
        data = json.dumps({"num_timesteps": count}).encode()
        path = stable_baselines3(tmp_path / "a.zip", torch_bytes(dqn().state_dict()), data)
    elif kind == "cleanrl":
        path = saved(tmp_path / "a.pt", {"model_weights": dqn().state_dict(), "args": {"total_timesteps": count}})
    else:
        path = saved(tmp_path / "a.pth", {"model": dqn().state_dict(), "env_steps": count})
        (tmp_path / "config.json").write_text(json.dumps(config))
    assert reading.read(path.read_bytes(), path, False).trained_frames(PONG.protocol.frame_skip) == frames
    if kind == "cleanrl":
        assert load(path).trained_frames == frames


def onnx_file(path, *, nodes=(), tensors=(), weight=None, kind=None, shape=(4, 84, 84)):
    """Write a linear network, with what `nodes` make of its values, "v"; `kind`: the type of its input, else float."""
    if weight is None:
        weight = np.random.default_rng(0).normal(size=(4 * 84 * 84, ACTIONS)).astype(np.float32)
    tensor = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph(
        [
            onnx.helper.make_node("Cast", ["screens"], ["numbers"], to=onnx.TensorProto.FLOAT),
            onnx.helper.make_node("Flatten", ["numbers"], ["flat"]),
            onnx.helper.make_node("MatMul", ["flat", "weight"], ["v" if nodes else "values"]),
            *nodes,
        ],
        "network",
        [tensor("screens", kind or onnx.TensorProto.FLOAT, ["rows", *shape])],
        [tensor("values", onnx.TensorProto.FLOAT, ["rows", ACTIONS])],
        [onnx.numpy_helper.from_array(weight, "weight"), *tensors],
    )
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(
        onnx.helper.make_model(
            graph, ir_version=8, opset_imports=[onnx.helper.make_opsetid("", 17)]
        ).SerializeToString()
    )
    return path


def apart(path, name="agent.onnx.data"):
    """Put the weights of an ONNX model into a file beside it."""
    onnx.save_model(onnx.load(path), path, save_as_external_data=True, location=name, size_threshold=0)
    return path.parent / name


@pytest.mark.needs("onnx", "onnxruntime")
def test_weights_beside_an_onnx_model_are_those_of_its_folder_and_part_of_it(tmp_path, monkeypatch):
    seen = observations(5)
    path = onnx_file(tmp_path / "mine" / "agent.onnx")
    expected = load(path).act(seen, np.ones(5, bool), rngs(5))
    beside = apart(path)
    other = apart(onnx_file(tmp_path / "other" / "agent.onnx", weight=np.ones((4 * 84 * 84, ACTIONS), np.float32)))
    monkeypatch.chdir(other.parent)
    made = load(path)
    np.testing.assert_array_equal(made.act(seen, np.ones(5, bool), rngs(5)), expected)
    assert len(set(expected)) > 1
    assert made.sha256 == paths.checksum(path)
    assert reading.files_beside(path.read_bytes(), path) == [beside]
    beside.write_bytes(other.read_bytes())
    with pytest.raises(ArcadeMarkError, match="has changed since the run was planned"):
        CheckpointPlayer(PONG, path, made.sha256)


ELSEWHERE = ("../secret", "missing", "", "link", "/etc/passwd")


@pytest.mark.needs("onnx", "onnxruntime")
@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        *(("location", name, "is not a file in its folder") for name in ELSEWHERE),
        ("offset", "1000000000", "export it again"),
        ("length", "x", "export it again"),
    ],
)
def test_weights_that_are_not_in_its_folder_or_their_file_are_refused(key, value, message, tmp_path):
    path = onnx_file(tmp_path / "mine" / "agent.onnx")
    beside = apart(path)
    if key == "location":
        beside.rename(tmp_path / "secret")
        (tmp_path / "mine" / "link").symlink_to(tmp_path / "secret")
    model = onnx.load(path, load_external_data=False)
    next(entry for entry in model.graph.initializer[0].external_data if entry.key == key).value = value
    path.write_bytes(model.SerializeToString())
    with pytest.raises(ArcadeMarkError, match=message):
        load(path)


@pytest.mark.needs("onnx", "onnxruntime")
@pytest.mark.parametrize("name", ["link/secret", "large"])
def test_a_second_place_of_weights_is_checked_like_the_first(name, tmp_path):
    path = onnx_file(tmp_path / "mine" / "agent.onnx")
    beside = apart(path)
    (tmp_path / "secret").write_bytes(beside.read_bytes())
    (tmp_path / "mine" / "link").symlink_to(tmp_path)
    with (tmp_path / "mine" / "large").open("wb") as file:
        file.truncate(2**40)  # sparse
    model = onnx.load(path, load_external_data=False)
    entry = model.graph.initializer[0].external_data.add()
    entry.key, entry.value = "location", name
    path.write_bytes(model.SerializeToString())
    with pytest.raises(ArcadeMarkError, match=r"is not a file in its folder|the most that is read"):
        load(path)


@pytest.mark.needs("onnx", "onnxruntime")
def test_onnx_model_that_need_not_end_is_refused(tmp_path):
    helper, kinds, array = onnx.helper, onnx.TensorProto, onnx.numpy_helper.from_array
    value = helper.make_tensor_value_info
    body = helper.make_graph(
        [helper.make_node("Identity", ["go"], ["on"]), helper.make_node("Add", ["x", "x"], ["y"])],
        "body",
        [value("i", kinds.INT64, []), value("go", kinds.BOOL, []), value("x", kinds.FLOAT, [])],
        [value("on", kinds.BOOL, []), value("y", kinds.FLOAT, [])],
    )
    nodes = [
        helper.make_node("Loop", ["times", "yes", "zero"], ["sum"], body=body),
        helper.make_node("Add", ["v", "sum"], ["values"]),
    ]
    tensors = [array(np.array(2**62), "times"), array(np.array(True), "yes"), array(np.float32(0), "zero")]
    with pytest.raises(ArcadeMarkError, match="Loop repeats others"):
        load(onnx_file(tmp_path / "loop.onnx", nodes=nodes, tensors=tensors))


@pytest.mark.needs("onnx", "onnxruntime")
def test_onnx_model_gets_no_more_memory_than_the_bound(tmp_path):
    nodes = [
        onnx.helper.make_node("ConstantOfShape", ["shape"], ["zeros"]),
        onnx.helper.make_node("ReduceMax", ["zeros"], ["zero"], keepdims=0),
        onnx.helper.make_node("Add", ["v", "zero"], ["values"]),
    ]
    shape = onnx.numpy_helper.from_array(np.array([2**30]), "shape")
    path = onnx_file(tmp_path / "large.onnx", nodes=nodes, tensors=[shape])
    with pytest.raises(ArcadeMarkError, match="onnxruntime cannot run its network"):
        check("large", [(path, PONG)], {})


@pytest.mark.needs("onnx", "onnxruntime")
def test_onnx_model_gets_no_more_time_than_the_bound(tmp_path, monkeypatch):
    monkeypatch.setattr(foreign, "MAX_SECONDS", 0.0)
    names = ["v", *(f"v{number}" for number in range(5000))]
    nodes = [onnx.helper.make_node("MatMul", [name, "turn"], [after]) for name, after in pairwise(names)]
    nodes.append(onnx.helper.make_node("Identity", [names[-1]], ["values"]))
    turn = onnx.numpy_helper.from_array(np.zeros((ACTIONS, ACTIONS), np.float32), "turn")
    path = onnx_file(tmp_path / "long.onnx", nodes=nodes, tensors=[turn])
    with pytest.raises(ArcadeMarkError, match=r"an answer takes at most 0 s"):
        Onnx(path.read_bytes(), 1.0, "a place").module(torch.zeros(16, 4, 84, 84))


@pytest.mark.needs("onnx", "onnxruntime")
def test_network_that_answers_without_numbers_is_refused(tmp_path):
    path = onnx_file(tmp_path / "agent.onnx", weight=np.full((4 * 84 * 84, ACTIONS), 2e38, np.float32))
    with pytest.raises(ArcadeMarkError, match="its network's outputs are not finite"):
        load(path).act(np.full((1, 4, 84, 84), 255, np.uint8), np.ones(1, bool), rngs(1))


@pytest.mark.needs("onnx")
@pytest.mark.parametrize(
    ("number", "refused"), [([np.nan, 1], True), ([np.inf, 1], True), ([-np.inf] * 2, True), ([-np.inf, 1], False)]
)
def test_onnx_weights_that_are_no_numbers_are_refused_though_layers_hide_them(number, refused, tmp_path):
    bias = np.resize(np.array(number, np.float32), ACTIONS)
    make = onnx.helper.make_node
    nodes = [make("Add", ["v", "bias"], ["sum"]), make("Tanh", ["sum"], ["t"]), make("Relu", ["t"], ["values"])]
    path = onnx_file(tmp_path / "agent.onnx", nodes=nodes, tensors=[onnx.numpy_helper.from_array(bias, "bias")])
    with pytest.raises(ArcadeMarkError, match="'bias' contains NaN or inf") if refused else nullcontext():
        check("diverged", [(path, PONG)], {})


def test_archive_that_inflates_too_far_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(pytorch_files, "MAX_INFLATED", 10**6)
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("data", b"{}")
        archive.writestr("policy.pth", bytes(10**7))
    with pytest.raises(ArcadeMarkError, match="inflates to 10,000,002 bytes"):
        load(path)


def test_cut_and_flipped_files_raise_nothing_else(dqn_file, tmp_path):
    whole = dqn_file.read_bytes()
    rng = np.random.default_rng(0)
    path = tmp_path / "flipped.pt"
    for _ in range(60):
        damaged = bytearray(whole[: rng.integers(1, len(whole))] if rng.random() < 0.3 else whole)
        for at in rng.integers(0, min(len(damaged), 3000), 3):
            damaged[at] ^= 1 << int(rng.integers(8))
        path.write_bytes(bytes(damaged))
        with suppress(ArcadeMarkError):  # some damage leaves a network that can be played
            load(path)


def test_missing_library_is_said(dqn_file, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    with pytest.raises(ArcadeMarkError, match=r"needs PyTorch; pip install '\.\[deep\]'"):
        load(dqn_file)
