"""From tensors to the network that they are of, library by library.

Libraries name their tensors, and names and shapes say what the layers are; strides and activations are those of the
library's own network. A tensor that no layer takes, and that is not of a critic or a target network, is an error: a
network is played as it was trained or not at all.

Sources: Stable-Baselines3 2.9 (``common/torch_layers.py``, ``common/policies.py``), sb3-contrib 2.9, CleanRL
(``cleanrl/*_atari*.py``), Sample-Factory 2 (``model/``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from arcademark.agents.checkpoints.contents import Contents
from arcademark.agents.checkpoints.networks import (
    ACTIVATIONS,
    Act,
    Dueling,
    Expectation,
    Gaussian,
    Layers,
    Network,
    NormalisedInputs,
    Reduce,
)
from arcademark.errors import ArcadeMarkError
from arcademark.importing import said


def build(contents: Contents, place: str) -> Network:
    """Make the network that a checkpoint's tensors are of.

    Parameters
    ----------
    contents : Contents
        Of tensors.
    place : str
        Begins every error.

    Raises
    ------
    ArcadeMarkError
        If its network is none that is known here, or its tensors do not fit each other.
    """
    layers = Layers(contents, place)
    makers = {"stable-baselines3": _stable_baselines3, "sample-factory": _sample_factory, "state-dict": _cleanrl}
    by_settings = {"flax": _flax, "dreamerv3": _dreamer}
    names = [str(contents.settings.get(name)) for name in ("library", "algorithm")]
    try:
        make = next((by_settings[name] for name in names if name in by_settings), makers[contents.format])
        network = make(layers)
        network.requires_grad_(False)
    except ArcadeMarkError:
        raise
    except Exception as error:
        raise layers.error(f"its tensors do not fit each other ({type(error).__name__}: {said(str, error)})") from None
    layers.check_all_used()
    network.fire_reset = _fire_reset(contents.settings)
    return network


def _fire_reset(settings: Mapping[str, Any]) -> bool:
    """Whether FIRE was pressed for it where it learnt: as the file says, else as the libraries' own wrappers do."""
    space = settings.get("observation_space")
    pressed = space.get("fire_reset") if isinstance(space, Mapping) else None
    return pressed if isinstance(pressed, bool) else "algorithm" not in settings  # trainers here once did not say


def _dreamer(layers: Layers) -> Any:
    """Our own DreamerV3's, trained by RLlib, which makes its network."""
    from arcademark.agents.checkpoints.foreign import Dreamer

    return Dreamer({name: layers.take(name) for name in layers.tensors}, layers.settings, layers.place)


def _scaled(x: Tensor) -> Tensor:
    return x / 255.0


def _unscaled(x: Tensor) -> Tensor:
    return x


def _cleanrl(layers: Layers) -> Network:
    """CleanRL's agents on PyTorch: DQN, C51, Rainbow, QDagger's, PQN, PPO, PPO with an LSTM, PPO with RND, SAC.

    Our own networks that RLlib trains have the same names.
    """
    layers.unused = ("critic", "extra_layer")
    if layers.has("conv."):  # SAC's actor
        body = [*layers.sequence("conv"), nn.Flatten(), layers.layer("fc1"), nn.ReLU()]
        return Network(_scaled, nn.Sequential(*body), layers.layer("fc_logits"), layers.shape(body), stochastic=True)
    if not layers.has("network."):
        raise layers.error("its network is none that is known by the names of its tensors")
    if layers.has("value_head."):
        layers.unused = tuple(n for n in layers.tensors if n.endswith(("_sigma", "_epsilon")))
        body = [*layers.sequence("network"), nn.Flatten()]
        head = Dueling(layers.sequence("value_head", last=False), layers.sequence("advantage_head", last=False),
                        layers.take("support"))  # fmt: skip
        return Network(_scaled, nn.Sequential(*body), head, layers.shape(body))
    if layers.has("actor."):
        body = layers.sequence("network")
        head = (
            layers.layer("actor")
            if "actor.weight" in layers.tensors
            else nn.Sequential(*layers.sequence("actor", last=False))
        )
        core = layers.recurrent("lstm") if layers.has("lstm.") else None
        return Network(_scaled, nn.Sequential(*body), head, layers.shape(body), core, stochastic=True)
    body = layers.sequence("network", last=False)
    head = Expectation([body.pop()], layers.take("atoms")) if "atoms" in layers.tensors else body.pop()
    return Network(_scaled, nn.Sequential(*body), head, layers.shape(body))


_FLAX = (
    ("1/0/params/", "network"),
    ("1/1/params/Dense_0", "actor"),
    ("model_weights/params/", "network"),
    ("params/", "network"),
)
"""Where parameters lie, and of what: of PPO, whose critic is left out, of C51, and of DQN."""


def _flax(layers: Layers) -> Network:
    """CleanRL's agents on JAX, DQN, C51 and PPO: the same networks, their screens' channels last."""
    named = {}
    for prefix, name in _FLAX:
        for key in [key for key in layers.tensors if key.startswith(prefix)]:
            named[key] = name
    weights: dict[str, Tensor] = {}
    for key, name in named.items():
        layer, _, part = key.rpartition("/")
        kind, _, number = layer.rpartition("/")[2].partition("_")
        place = "actor" if name == "actor" else f"network.{2 * int(number) if kind == 'Conv' else 7 + 2 * int(number)}"
        value = layers.take(key)
        if part == "kernel":
            value = value.permute(3, 2, 0, 1) if value.dim() == 4 else value.t()
        weights[f"{place}.{'weight' if part == 'kernel' else part}"] = value.contiguous()
    if not weights:
        raise layers.error("its network is none that is known by the names of its tensors")
    last = weights["network.4.weight"]
    flat = weights["network.7.weight"]
    side = round((flat.shape[1] / last.shape[0]) ** 0.5)
    weights["network.7.weight"] = (
        flat.view(-1, side, side, last.shape[0]).permute(0, 3, 1, 2).reshape(flat.shape).contiguous()
    )
    settings = layers.settings
    if "n_atoms" in settings:
        weights["atoms"] = torch.linspace(float(settings["v_min"]), float(settings["v_max"]), int(settings["n_atoms"]))
    layers.unused = ("1/2/",)
    return _cleanrl(Layers(Contents("state-dict", weights), layers.place))


def _stable_baselines3(layers: Layers) -> Network:
    """Stable-Baselines3's policies: PPO, A2C, DQN, SAC, TD3, DDPG, QR-DQN, RecurrentPPO, TRPO and TQC."""
    arguments = layers.settings.get("policy_kwargs")
    arguments = arguments if isinstance(arguments, Mapping) else {}
    extractor = arguments.get("features_extractor_class", _NATURE)
    if extractor not in (_NATURE, _FLATTEN, _COMBINED):
        raise layers.error(f"its features extractor is {said(str, extractor)}, which the file does not hold")
    if layers.has("q_net.") or layers.has("quantile_net."):
        return _sb3_values(layers, arguments)
    if layers.has("actor.mu."):
        return _sb3_actor(layers, arguments)
    layers.unused = ("value_net.", "mlp_extractor.value_net.", "vf_", "lstm_critic.", "critic.")
    own = "pi_features_extractor" if layers.has("pi_features_extractor.") else "features_extractor"
    layers.unused += ("features_extractor.",) if own != "features_extractor" else ()
    if not layers.has("action_net."):
        raise layers.error("its policy is none that is known by the names of its tensors")
    activation = _activation(layers, arguments, nn.Tanh)
    body = _sb3_extractor(layers, own)
    core = layers.recurrent("lstm_actor") if layers.has("lstm_actor.") else None
    hidden = [
        *layers.sequence("mlp_extractor.shared_net", activation),
        *layers.sequence("mlp_extractor.policy_net", activation),
    ]
    last = layers.layer("action_net")
    if "log_std" not in layers.tensors:
        return _sb3_network(layers, arguments, body, nn.Sequential(*hidden, last), core, True)
    spread = layers.take("log_std")  # of states' own noise one for each feature: only the mean is played
    gaussian = Gaussian(hidden, last, spread) if spread.dim() == 1 else nn.Sequential(*hidden, last)
    network = _sb3_network(layers, arguments, body, gaussian, core, True)
    network.continuous, network.squashed = True, arguments.get("squash_output") is True
    return network


def _sb3_actor(layers: Layers, arguments: Mapping[str, Any]) -> Network:
    """The actor of SAC and TQC, with the spread of its actions, or of TD3 and DDPG, whose last layer is squashed."""
    layers.unused = ("critic", "actor_target.", "actor.log_std")
    activation = _activation(layers, arguments, nn.ReLU)
    hidden = layers.sequence("actor.latent_pi", activation)
    modules: list[nn.Module]
    if "actor.mu.weight" in layers.tensors:
        modules = [Gaussian(hidden, layers.layer("actor.mu"), layers.layer("actor.log_std"))]
    else:
        modules = [*hidden, *layers.sequence("actor.mu", activation, last=False)]
        if hidden and (most := float(arguments.get("clip_mean", _CLIPPED))) > 0:
            modules.append(nn.Hardtanh(-most, most))
    body = _sb3_extractor(layers, "actor.features_extractor")
    network = _sb3_network(layers, arguments, body, nn.Sequential(*modules), None, True)
    network.continuous = network.squashed = True
    return network


def _sb3_values(layers: Layers, arguments: Mapping[str, Any]) -> Network:
    name = "quantile_net" if layers.has("quantile_net.") else "q_net"
    layers.unused = (f"{name}_target.",)
    hidden = layers.sequence(f"{name}.{name}", _activation(layers, arguments, nn.ReLU), last=False)
    body = _sb3_extractor(layers, f"{name}.features_extractor")
    if name == "q_net":
        return _sb3_network(layers, arguments, body, nn.Sequential(*hidden), None, False)
    actions = int(layers.settings["action_space"]["n"])

    def mean(x: Tensor) -> Tensor:
        return x.view(len(x), -1, actions).mean(dim=1)

    return _sb3_network(layers, arguments, body, Reduce(hidden, mean), None, False)


def _sb3_extractor(layers: Layers, name: str) -> list[nn.Module]:
    if not layers.has(f"{name}."):
        return [nn.Flatten()]
    return [*layers.sequence(f"{name}.cnn"), nn.Flatten(), layers.layer(f"{name}.linear.0"), nn.ReLU()]


def _sb3_network(
    layers: Layers,
    arguments: Mapping[str, Any],
    body: list[nn.Module],
    head: nn.Module,
    core: nn.LSTM | nn.GRU | None,
    stochastic: bool,
) -> Network:
    shape = layers.shape(body if core is None else [*body, nn.Linear(core.input_size, 1)], head)
    seen = next((m.in_channels for m in body if isinstance(m, nn.Conv2d)), None)
    if seen is not None and shape[0] != seen:
        shape = (shape[-1], *shape[:-1])  # the space is of screens before they were transposed
    images = len(shape) == 3 and arguments.get("normalize_images", True) is True
    images = images and layers.settings["observation_space"].get("dtype", "uint8") == "uint8"
    network = Network(_scaled if images else _unscaled, nn.Sequential(*body), head, shape, core, stochastic)
    network.blank = 0  # as its VecFrameStack does
    return network


def _activation(layers: Layers, arguments: Mapping[str, Any], default: Act) -> Act:
    given = arguments.get("activation_fn")
    if given is None:
        return default
    known = {f"<class 'torch.nn.modules.activation.{kind.__name__}'>": kind for kind in ACTIVATIONS.values()}  # type: ignore[attr-defined]
    if given not in known:
        raise layers.error(f"its activation is {said(str, given)}")
    return known[given]


def _sample_factory(layers: Layers) -> Network:
    """Sample-Factory's actor-critic: convolutions or IMPALA's deep network, with an LSTM or a GRU or without."""
    settings = layers.settings
    if layers.has("actor_encoder."):
        layers.tensors = {name.removeprefix("actor_"): value for name, value in layers.tensors.items()}
    layers.unused = ("critic_", "returns_normalizer.", "obs_normalizer.")
    act = ACTIVATIONS.get(str(settings.get("nonlinearity", "relu")))
    if act is None:
        raise layers.error(f"its nonlinearity is {said(str, settings['nonlinearity'])}")
    name = next(
        (
            n
            for n in ("encoder.encoders.obs.enc", "encoder.encoders.obs", "encoder.enc", "encoder")
            if layers.has(f"{n}.conv_head.")
        ),
        "",
    )
    if not name:
        raise layers.error("its encoder is none that is known by the names of its tensors")
    head_name = f"{name}.conv_head"
    if layers.has(f"{head_name}.2.res_block_core."):
        sections = [
            (
                f"{head_name}.{i}",
                [(f"{head_name}.{j}.res_block_core.1", f"{head_name}.{j}.res_block_core.3") for j in (i + 2, i + 3)],
            )
            for i in (0, 4, 8)
        ]
        eyes = [*(layers.residual(*section) for section in sections), act()]
    else:
        eyes = layers.sequence(head_name, act)
    body = [*eyes, nn.Flatten(), *layers.sequence(f"{name}.mlp_layers", act)]
    core = layers.recurrent("core.core") if layers.has("core.core.") else None
    head = nn.Sequential(
        *layers.sequence("decoder.mlp", act), layers.layer("action_parameterization.distribution_linear")
    )
    mean, scale = float(settings.get("obs_subtract_mean", 0.0)), float(settings.get("obs_scale", 255.0))
    statistics = "obs_normalizer.running_mean_std.running_mean_std.obs.running_"
    shift = deviation = None
    if layers.has(statistics):
        shift = layers.take(f"{statistics}mean")
        deviation = torch.sqrt(layers.take(f"{statistics}var") + 1e-5)
    prepare = NormalisedInputs(mean, scale, shift, deviation)
    shape = tuple(shift.shape) if shift is not None else layers.shape(body)
    return Network(prepare, nn.Sequential(*body), head, shape, core, stochastic=True)


_NATURE = "<class 'stable_baselines3.common.torch_layers.NatureCNN'>"
_FLATTEN = "<class 'stable_baselines3.common.torch_layers.FlattenExtractor'>"
_COMBINED = "<class 'stable_baselines3.common.torch_layers.CombinedExtractor'>"
_CLIPPED = 2.0
"""Where Stable-Baselines3's SAC cuts off means under noise that depends on the state (``clip_mean``)."""
