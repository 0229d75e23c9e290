"""Checkpoints damaged at random: played, or refused in one line; never a traceback.

`ARCADEMARK_FUZZ` says how many inputs are tried; the same number gives the same inputs.
"""

import io
import json
import os
import zipfile

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: make test-all")
safetensors = pytest.importorskip("safetensors.torch", reason="safetensors is not installed: make test-all")

import msgspec  # noqa: E402
from torch import nn  # noqa: E402

from arcademark.agents.checkpoints.policy import check  # noqa: E402
from arcademark.environments.registry import environment_spec  # noqa: E402
from arcademark.errors import ArcadeMarkError  # noqa: E402
from arcademark.suite import protocols  # noqa: E402

pytestmark = pytest.mark.needs("torch")

INPUTS = int(os.environ.get("ARCADEMARK_FUZZ", "300"))
SEED = int(os.environ.get("ARCADEMARK_FUZZ_SEED", "0"))
PONG = environment_spec("pong", protocols.protocol("dqn-2015").override({"action_set": "minimal"}))
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)


def network(*names):
    """Return the tensors of a small network on screens, under the names of its layers."""
    generator = torch.Generator().manual_seed(1)
    layers = [nn.Conv2d(4, 2, 8, 4), nn.Conv2d(2, 2, 4, 2), nn.Conv2d(2, 2, 3, 1), nn.Linear(98, 8), nn.Linear(8, 6)]
    return {
        f"{name}.{part}": torch.randn(value.shape, generator=generator)
        for name, layer in zip(names, layers, strict=True)
        for part, value in layer.state_dict().items()
    }


def saved(thing, **how):
    content = io.BytesIO()
    torch.save(thing, content, **how)
    return content.getvalue()


def zipped(members, method=zipfile.ZIP_STORED):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", method) as archive:
        for name, member in members.items():
            archive.writestr(name, member)
    return content.getvalue()


def flax(tensors):
    def array(value):
        raw = msgspec.msgpack.encode((value.shape, "float32", value.numpy().tobytes()))
        return msgspec.msgpack.Ext(1, raw)

    params = {}
    for place, (name, value) in enumerate(tensors.items()):
        kind = "Conv" if value.dim() == 4 or place < 6 else "Dense"
        layer = f"{kind}_{place // 2 if kind == 'Conv' else place // 2 - 3}"
        turned = value.permute(2, 3, 1, 0) if value.dim() == 4 else value.t()
        part = "kernel" if name.endswith("weight") else "bias"
        params.setdefault(layer, {})[part] = array((turned if part == "kernel" else value).contiguous())
    return msgspec.msgpack.encode({"params": params})


CLEANRL = network("network.0", "network.2", "network.4", "network.7", "network.9")
EXTRACTOR = "q_net.features_extractor"
SB3 = network(*(f"{EXTRACTOR}.{name}" for name in ("cnn.0", "cnn.2", "cnn.4", "linear.0")), "q_net.q_net.0")
FACTORY = network(
    *(f"encoder.enc.{name}" for name in ("conv_head.0", "conv_head.2", "conv_head.4", "mlp_layers.0")),
    "action_parameterization.distribution_linear",
)
SPACES = {"observation_space": {"_shape": [84, 84, 4], "dtype": "uint8"}, "action_space": {"n": 6}, "policy_kwargs": {}}
HONEST = {
    "stable-baselines3": zipped({"data": json.dumps(SPACES), "policy.pth": saved(SB3), "version": "2.9.0"}),
    "CleanRL": saved(CLEANRL),
    "before PyTorch 1.6": saved(CLEANRL, _use_new_zipfile_serialization=False),
    "Sample-Factory": saved({"model": FACTORY, "env_steps": 4, "train_step": 1}),
    "safetensors": safetensors.save(CLEANRL),
    "Flax": flax(CLEANRL),
}


def damaged(content, rng):
    """Flip bits, a few of them in what a zip archive says of its members, cut, leave out, repeat, or pack otherwise."""
    kind = int(rng.integers(6))
    if kind == 0 and content.startswith(b"PK"):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        chosen = list(members)[int(rng.integers(len(members)))]
        if rng.random() < 0.5:
            members[chosen] = damaged(members[chosen], rng)
        content = zipped(members, METHODS[int(rng.integers(4))])
    if kind == 1:
        return content[: int(rng.integers(len(content)))]
    if kind == 2:
        at, length = int(rng.integers(len(content))), int(rng.integers(1, 200))
        return content[:at] + content[at + length :] if rng.random() < 0.5 else content[: at + length] + content[at:]
    marks = (content.find(mark, int(rng.integers(len(content)))) for mark in (b"PK\x01\x02", b"PK\x03\x04"))
    near = [*(at for at in marks if at >= 0), max(0, len(content) - 22), 0]
    changed = bytearray(content)
    for _ in range(int(rng.integers(1, 4))):
        start = near[int(rng.integers(len(near)))] if kind > 3 else 0
        span = 46 if kind > 3 else len(changed)
        at = min(len(changed) - 1, start + int(rng.integers(span)))
        if rng.random() < 0.7:
            changed[at] ^= 1 << int(rng.integers(8))
        else:
            changed[at : at + 4] = rng.bytes(len(changed[at : at + 4]))
    return bytes(changed)


@pytest.mark.parametrize("kind", HONEST)
def test_honest_checkpoint_is_played(kind, tmp_path):
    (tmp_path / "model.zip").write_bytes(HONEST[kind])
    check("model.zip", [(tmp_path / "model.zip", PONG)], {})


@pytest.mark.slow
@pytest.mark.parametrize("kind", HONEST)
def test_damaged_checkpoint_is_played_or_refused_in_one_line(kind, tmp_path):
    path, refused = tmp_path / "model.zip", []
    for number in range(-(-INPUTS // len(HONEST))):
        path.write_bytes(damaged(HONEST[kind], np.random.default_rng((SEED, number))))
        try:
            check("model.zip", [(path, PONG)], {})
        except ArcadeMarkError as error:
            refused.append(str(error))
        except BaseException as error:
            error.add_note(f"{kind}, input {number}")
            raise
    assert refused
    assert all(message.isprintable() and len(message) < 2000 for message in refused)


def test_error_of_every_decompressor_is_one_of_ours(tmp_path):
    path = tmp_path / "model.zip"
    members = {"data": json.dumps(SPACES) * 200, "policy.pth": saved(SB3)}
    for method in METHODS[1:]:
        content = bytearray(zipped(members, method))
        start = content.index(b"data") + 20
        content[start : start + 40] = bytes(40)
        path.write_bytes(bytes(content))
        with pytest.raises(
            ArcadeMarkError, match=r"model\.zip: not a whole zip archive \(.*\); copy the checkpoint again"
        ):
            check("model.zip", [(path, PONG)], {})
