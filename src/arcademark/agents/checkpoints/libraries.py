"""Reconstruction of networks from their tensors, library by library.

Names and shapes of a library's tensors identify the layers; strides and activations are those of the library's own
network. A tensor that no layer uses, except of a critic or a target network, is an error: a network is played as it was
trained or not at all.

Sources: Stable-Baselines3 2.9 (``common/torch_layers.py``, ``common/policies.py``), sb3-contrib 2.9, CleanRL
(``cleanrl/*_atari*.py``), Sample-Factory 2 (``model/``).
"""

from __future__ import annotations

import re
import reprlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import prod
from typing import Any

import torch
from torch import Tensor, nn

from arcademark.agents.checkpoints import shapes
from arcademark.agents.checkpoints.contents import Contents, is_copy, plain_names
from arcademark.agents.checkpoints.networks import (
    ACTIVATIONS,
    EPSILON,
    MAX_LISTED,
    STRIDES,
    Act,
    Assumptions,
    Gaussian,
    Layers,
    Network,
    NormalisedInputs,
    PlayedNetwork,
    Quantiles,
    UnknownNetworkError,
)
from arcademark.agents.checkpoints.pickled import StandIn
from arcademark.errors import ArcadeMarkError, one_line
from arcademark.importing import described, said

MAX_LEVELS = 8
"""Maximum depth of a network within a file."""
_PLAIN_LAYERS = frozenset(
    {"Sequential", "ModuleList", "ModuleDict", "Conv2d", "Linear", "LayerNorm", "ReLU", "Flatten"}
    | {"LSTM", "GRU", "LSTMCell", "GRUCell", "BatchNorm1d", "BatchNorm2d"}
)
"""PyTorch's layers in networks that are identified by their tensors."""


_UNSCALED = re.compile(r"(?:^|\.)(?:(?:model|preprocess)\.net\.0\.0|preprocess\.net\.0|model\.Q\.0)\.")
"""Names of Tianshou's Atari networks that may see unscaled screens; scaled ones of later versions have others."""
_ELU = {
    frozenset({"features", "advantage", "value"}): (
        "TorchRL's DuelingCnnDQNet, whose default activation is ELU, and of others"
    ),
    frozenset({"a2c_network"}): "rl_games' networks, whose configurations for Atari have ELU or ReLU",
    frozenset({"net_container"}): "skrl's networks, whose configurations often have ELU (if several, name the module)",
}
"""Names of networks with ELU or ReLU, by parts of tensors' names."""


_DETERMINED = (
    "its library determines its network (for one of your own with such names of tensors give --set "
    "network=file.py:Class)"
)


def build(
    contents: Contents, place: str, *, num_actions: int = 0, assumptions: Assumptions | None = None
) -> PlayedNetwork:
    """Make the network of a checkpoint's tensors.

    Parameters
    ----------
    contents : Contents
        The tensors, by name.
    place : str
        Begins every error.
    num_actions : int, optional
        Number of actions of the game to be played.
    assumptions : Assumptions, optional
        Settings of a network that shapes or CleanRL's names identify; screens are divided by 255 where none is given,
        or as in `shapes.build`.

    Raises
    ------
    ArcadeMarkError
        If its network is unknown, its tensors do not fit each other, or an assumption is given for a network that its
        library determines.
    """
    assumptions = assumptions or Assumptions()
    by_settings = {"stable-baselines3": _stable_baselines3, "sample-factory": _sample_factory, "dreamerv3": _dreamer}
    names = [str(contents.settings.get("algorithm")), contents.format]
    make = next((by_settings[name] for name in names if name in by_settings), None)
    if make is not None:
        assumptions.refuse(place, _DETERMINED)
        network = _made(make, Layers(contents, place))
        if make is _sample_factory and "nonlinearity" not in contents.settings:
            network.assumed = _NO_CONFIG
    else:
        network = _found(contents, place, num_actions, assumptions)
        if contents.settings.get("algorithm") == "dopamine":
            network.blank, network.stochastic = 0, False  # as its agents begin an episode; they are DQN's
        name = str(contents.settings.get("exp_name"))
        if network.stochastic is None and name.startswith(("ppo", "dqn", "c51")):
            network.stochastic = name.startswith("ppo")  # CleanRL's on JAX, whose layers' names do not show it
        network.assumed = "; ".join(filter(None, (network.assumed, _statistics_beside(contents, network.shape))))
    network.fire_reset = _fire_reset(contents.settings)
    return network


def _made(make: Callable[[Layers], Any], layers: Layers) -> Any:
    try:
        network = make(layers)
        network.requires_grad_(False)
    except ArcadeMarkError:
        raise
    except Exception as error:
        raise layers.error(f"its tensors do not fit each other ({described(error)})") from None
    layers.check_all_used()
    return network


def _found(contents: Contents, place: str, num_actions: int, assumptions: Assumptions) -> PlayedNetwork:
    """Make the only network of a file that its tensors' names identify, else the one that their shapes identify.

    It may be the whole file or a part, such as its "agent"; the outermost parts are tried first.
    """
    if contents.pickled is not None and (odd := _odd_layer(contents.pickled)):
        raise Layers(contents, place).error(f"its module has {odd}, which its tensors do not determine")
    signed = place.endswith(".cleanrl_model") or any(name in contents.settings for name in ("exp_name", "algorithm"))
    wrong: list[UnknownNetworkError] = []
    by_shapes = partial(_by_shapes, contents=contents, num_actions=num_actions)
    for maker in (_by_names, lambda _: by_shapes):
        for level, together in _levels(contents):
            made, of_each = {}, {}
            for name, tensors in level.items():
                layers = Layers(replace(contents, tensors=tensors), place, assumptions)
                if (make := maker(layers)) is not None:
                    try:
                        made[name] = _made(make, layers)
                        of_each[name] = layers
                        if not signed and maker is _by_names:
                            made[name].assumed = _assumed_by_names(make, layers)
                    except UnknownNetworkError as error:
                        wrong.append(error)
            made = {
                name: network
                for name, network in made.items()
                if all(made.keys() >= parts for parts in together if name in parts)
            }
            if made:
                network = made[chosen := _only(made, place)]
                if maker is _by_names and _by_names(of_each[chosen]) is not _cleanrl:
                    assumptions.refuse(place, _DETERMINED)
                if maker is not _by_names and not (signed and _is_named_by_flax(contents)):
                    network.assumed = _assumed(_BY_SHAPES, of_each[chosen], assumptions.scale)
                return network
    raise wrong[0]


def _by_shapes(layers: Layers, contents: Contents, num_actions: int) -> Network:
    """Make the network that shapes identify; an error if the names are of libraries with several such networks."""
    network = shapes.build(layers, num_actions)
    place, assumptions = layers.place, layers.assumptions
    if assumptions.scale is None and any(map(_UNSCALED.search, contents.tensors)):
        raise ArcadeMarkError(
            f"{place}: its tensors have the names of Tianshou's networks, which do not show whether its screens "
            "were divided by 255; add --set scale=255 if it was trained with scale_obs, else --set scale=1"
        )
    names = {part for name in layers.tensors for part in name.split(".")[:-1]}
    for parts, whose in _ELU.items():
        if assumptions.activation is None and names >= parts:
            raise ArcadeMarkError(
                f"{place}: its tensors have the names of {whose}; add --set activation=elu or --set activation=relu"
            )
    if {"conv1", "fc_h_v"} <= names:
        raise layers.error("its first convolution is padded in early versions of Kaixhin's Rainbow, in others not")
    return network


def _is_named_by_flax(contents: Contents) -> bool:
    """Return True if layers have the names that Flax gives those of CleanRL's and Dopamine's networks."""
    names = (name.split(".")[-2] for name in contents.tensors if name.endswith(".kernel"))
    return contents.settings.get("library") == "flax" and all(re.fullmatch(r"(Conv|Dense)_\d", name) for name in names)


def _by_names(layers: Layers) -> Callable[[Layers], Network] | None:
    """Return the function that makes a network with such names of tensors, if they are known."""
    if any(layers.has(name) for name in ("action_net.", "q_net.q_net.", "quantile_net.quantile_net.", "actor.mu.")):
        return _stable_baselines3
    if layers.has("action_parameterization."):
        return _sample_factory
    return _cleanrl if layers.has("network.") or layers.has("fc_logits.") else None


def _levels(contents: Contents, free: bool = False) -> Iterator[tuple[dict[str, dict[str, Tensor]], list[set[str]]]]:
    """Yield the whole and then, level by level, the parts by tensors' names, without copies of networks.

    Each level comes with sets of parts of one module: a part is played only if all others are networks that can be
    chosen, too. This does not hold for parts in a folder of the file, nor with `free`.
    """
    level = {"": plain_names(contents.tensors)}
    together: list[set[str]] = []
    for _ in range(MAX_LEVELS):
        yield level, together
        bound = set().union(*together)
        below: dict[str, dict[str, Tensor]] = {}
        together = []
        for prefix, tensors in level.items():
            parts: dict[str, dict[str, Tensor]] = {}
            deep = {name.partition(".")[0] for name in tensors if name.count(".") > 1}  # parts that have layers
            loose = False
            for name, value in tensors.items():
                first, dot, rest = name.partition(".")
                if is_copy(first):
                    continue
                if dot and first in deep:
                    parts.setdefault(f"{prefix}{'.' if prefix else ''}{first}", {})[rest] = value
                loose |= "." not in rest and (bool(dot) or value.numel() > 1)
            if not free and prefix not in contents.folders:
                parts = {name: part for name, part in parts.items() if shapes.role(name) != "critic"} or parts
                if loose or prefix in bound:
                    continue
                together += [{*parts}] * (len(parts) > 1)
            below |= parts
        level = below


def _only(parts: Iterable[str], place: str) -> str:
    """Return the only part of a file that may be played, a critic only if there is no other."""
    names = [*parts]
    names = [name for name in names if shapes.role(name) != "critic"] or names
    if len(names) > 1:
        keys = ", ".join(one_line(name) for name in names[:MAX_LISTED])
        raise ArcadeMarkError(
            f"{place}: contains {len(names)} networks, {keys}; choose one: --set key={one_line(names[0])}"
        )
    return names[0]


_BY_SHAPES = "its network follows from its tensors' shapes alone, and is played with DQN's strides,"
_NO_CONFIG = (
    "Sample-Factory's config.json is missing, so it is played as its Atari examples are trained, with only relu "
    "between layers and screens divided by 255; if it was trained otherwise, put its config.json beside it"
)
_NO_SETTINGS = (
    "its tensors have Stable-Baselines3's names, but its settings are missing, so it is played as that library's "
    "default network with screens divided by 255; if it was trained otherwise, save it with model.save(…), or name the "
    "module: --set network=file.py:Class"
)


def _statistics_beside(contents: Contents, shape: tuple[int, ...] | None) -> str:
    """Return a note on statistics of screens in the file, of its training or of an exploration bonus; or "".

    `shape`: of the network's observations.
    """
    for name, tensor in contents.tensors.items():
        if name.endswith("mean") and shape and tensor.numel() in {prod(shape), prod(shape[1:])} - {1}:
            return (
                f"screens are not normalised by the statistics in the file, {one_line(name)!r}; if its network "
                "was trained on such screens, name a module that does so: --set network=file.py:Class"
            )
    return ""


def _assumed(why: str, layers: Layers, scale: float | None) -> str:
    of_layers = "".join(f" {what}," for what in layers.assumed[:MAX_LISTED])
    between = layers.assumptions.activation or "relu"
    screens = "as its library scales them, else divided by 255" if scale is None else f"divided by {scale:g}"
    return (
        f"{why}{of_layers} only {between} between its layers and screens {screens}; if it was trained otherwise, add "
        "--set activation=tanh or --set scale=1, or name the module: --set network=file.py:Class"
    )


def _assumed_by_names(make: object, layers: Layers) -> str:
    if make is not _cleanrl:
        return _NO_SETTINGS if make is _stable_baselines3 else _NO_CONFIG
    why = "its tensors have CleanRL's names, so it is played as CleanRL's networks: no padding,"
    return _assumed(why, layers, layers.assumptions.scale or 255.0)


def _odd_layer(module: StandIn) -> str:
    """Return a layer of a pickled module that tensors do not identify; "" if there is none."""
    for layer in module.within():
        if layer.kind.startswith("torch.nn.modules.") and (kind := layer.kind.rpartition(".")[2]) not in _PLAIN_LAYERS:
            return kind
        if (added := layer.state.get("eps", EPSILON)) != EPSILON:
            return f"a normalisation that adds {reprlib.repr(added)} to variances"
        if layer.kind == "torch.nn.modules.conv.Conv2d":
            kept = [layer.state.get(name) for name in ("kernel_size", "stride", "padding", "groups", "dilation")]
            try:
                plain = kept in [[(size, size), (step, step), (0, 0), 1, (1, 1)] for size, step in STRIDES.items()]
            except Exception:  # of tensors in place of numbers
                plain = False
            if not plain:
                kernel, stride, padding = map(reprlib.repr, kept[:3])
                return f"a convolution of kernel {kernel}, stride {stride} and padding {padding}"
    return ""


def fitting(contents: Contents, names: Sequence[str], place: str) -> dict[str, Tensor]:
    """Return the tensors of a module that has these names: all, or the one part of the file that has them."""
    plain = dict(zip(plain_names(dict.fromkeys(names)), names, strict=True))
    for level, _ in _levels(contents, free=True):
        if found := {prefix: part for prefix, part in level.items() if part.keys() == plain.keys()}:
            return {plain[name]: value for name, value in found[_only(found, place)].items()}
    return dict(contents.tensors)


def _fire_reset(settings: Mapping[str, Any]) -> bool:
    """Return True if FIRE was pressed in training: by the file, otherwise by the libraries' own wrappers."""
    space = settings.get("observation_space")
    pressed = space.get("fire_reset") if isinstance(space, Mapping) else None
    return pressed if isinstance(pressed, bool) else "algorithm" not in settings  # our older trainers


def _dreamer(layers: Layers) -> Any:
    """Make the network of our own DreamerV3, trained by RLlib."""
    from arcademark.agents.checkpoints.foreign import Dreamer

    return Dreamer({name: layers.take(name) for name in layers.tensors}, layers.settings, layers.place)


def _divided(by: float) -> Callable[[Tensor], Tensor]:
    return lambda x: x / by


def _cleanrl(layers: Layers) -> Network:
    """Make a network of CleanRL's on PyTorch: DQN, C51, Rainbow, QDagger's, PQN, PPO, with an LSTM or RND, SAC.

    Tensors of our own networks that RLlib trains have the same names.
    """
    layers.unused = ("critic", "extra_layer") if layers.has("critic_ext.") else ("critic",)
    scaled = _divided(layers.assumptions.scale or 255.0)
    if layers.has("conv.") or layers.has("actor."):
        one = replace(layers.assumptions, scale=None, activation=None)
        one.refuse(layers.place, "its head gives each action one number")
    if layers.has("conv."):  # SAC's actor
        body = [*layers.sequence("conv"), nn.Flatten(), layers.layer("fc1"), layers.activation()]
        return Network(scaled, nn.Sequential(*body), layers.layer("fc_logits"), layers.shape(body), stochastic=True)
    if not layers.has("network."):
        raise layers.error("its network is unknown by the names of its tensors")
    if layers.has("value_head."):
        layers.unused = ()
        body = [*layers.sequence("network"), nn.Flatten()]
        streams = (layers.sequence(f"{name}_head", last=False) for name in ("advantage", "value"))
        return Network(scaled, nn.Sequential(*body), layers.head(*streams), layers.shape(body))
    if layers.has("actor."):
        body = layers.sequence("network")
        head = (
            layers.layer("actor")
            if "actor.weight" in layers.tensors
            else nn.Sequential(*layers.sequence("actor", last=False))
        )
        core = layers.recurrent("lstm") if layers.has("lstm.") else None
        return Network(scaled, nn.Sequential(*body), head, layers.shape(body), core, stochastic=True)
    body = layers.sequence("network", last=False)
    head = layers.head([body.pop()])
    return Network(scaled, nn.Sequential(*body), head, layers.shape(body))


def _stable_baselines3(layers: Layers) -> Network:
    """Make a policy of Stable-Baselines3: PPO, A2C, DQN, SAC, TD3, DDPG, QR-DQN, RecurrentPPO, TRPO or TQC."""
    arguments = layers.settings.get("policy_kwargs")
    arguments = arguments if isinstance(arguments, Mapping) else {}
    extractor = arguments.get("features_extractor_class", _NATURE)
    if extractor not in (_NATURE, _FLATTEN, _COMBINED):
        raise layers.error(f"its features extractor is {said(str, extractor)}, which the file does not contain")
    if layers.has("q_net.") or layers.has("quantile_net."):
        return _sb3_values(layers, arguments)
    if layers.has("actor.mu."):
        return _sb3_actor(layers, arguments)
    layers.unused = ("value_net.", "mlp_extractor.value_net.", "vf_", "lstm_critic.", "critic.")
    own = "pi_features_extractor" if layers.has("pi_features_extractor.") else "features_extractor"
    layers.unused += ("features_extractor.",) if own != "features_extractor" else ()
    if not layers.has("action_net."):
        raise layers.error("its policy is unknown by the names of its tensors")
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
    spread = layers.take("log_std")  # with state-dependent noise one per feature: only the mean is played
    gaussian = Gaussian(hidden, last, spread) if spread.dim() == 1 else nn.Sequential(*hidden, last)
    network = _sb3_network(layers, arguments, body, gaussian, core, True)
    network.continuous, network.squashed = True, arguments.get("squash_output") is True
    return network


def _sb3_actor(layers: Layers, arguments: Mapping[str, Any]) -> Network:
    """Make the actor of SAC and TQC, with the spread of its actions, or of TD3 and DDPG, with a squashed last layer."""
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
    if "action_space" not in layers.settings:
        raise layers.error("its settings, which distinguish actions from quantiles, are missing (use model.save(…))")
    actions = int(layers.settings["action_space"]["n"])
    return _sb3_network(layers, arguments, body, Quantiles(hidden, (-1, actions), 1), None, False)


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
    images = images and layers.settings.get("observation_space", {}).get("dtype", "uint8") == "uint8"
    prepare = _divided(255.0) if images else nn.Identity()
    network = Network(prepare, nn.Sequential(*body), head, shape, core, stochastic)
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
    """Make Sample-Factory's actor-critic: convolutions or IMPALA's deep network, with an LSTM or a GRU or without."""
    settings = layers.settings
    if layers.has("actor_encoder."):
        layers.tensors = {name.removeprefix("actor_"): value for name, value in layers.tensors.items()}
    layers.unused = ("critic_", "returns_normalizer.", "obs_normalizer.")
    act = ACTIVATIONS.get(str(settings.get("nonlinearity", "relu")))
    if act is None:
        raise layers.error(f"its nonlinearity is {said(str, settings['nonlinearity'])}")
    places = ("encoder.encoders.obs.enc", "encoder.encoders.obs", "encoder.enc", "encoder")
    name = next((place for place in places if layers.has(f"{place}.conv_head.")), None)
    if name is None:
        raise layers.error("its encoder is unknown by the names of its tensors")
    eyes = _sample_factory_eyes(layers, f"{name}.conv_head", act)
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


def _sample_factory_eyes(layers: Layers, name: str, act: Act) -> list[nn.Module]:
    if layers.has(f"{name}.2.res_block_core."):
        blocks = [(f"{name}.{i}.res_block_core.1", f"{name}.{i}.res_block_core.3") for i in range(12)]
        return [*(layers.residual(f"{name}.{i}", blocks[i + 2 : i + 4]) for i in (0, 4, 8)), act()]
    eyes = layers.sequence(name, act)
    third = next((layer for layer in eyes[4:] if isinstance(layer, nn.Conv2d)), None)
    if third is not None:
        kind = "convnet_simple" if third.out_channels == 128 else ""  # if the file does not state it
        if layers.settings.get("encoder_conv_architecture", kind) == "convnet_simple":
            third.stride = (2, 2)
    return eyes


_NATURE = "<class 'stable_baselines3.common.torch_layers.NatureCNN'>"
_FLATTEN = "<class 'stable_baselines3.common.torch_layers.FlattenExtractor'>"
_COMBINED = "<class 'stable_baselines3.common.torch_layers.CombinedExtractor'>"
_CLIPPED = 2.0
"""Limit to which Stable-Baselines3's SAC clips means if noise depends on the state (``clip_mean``)."""
