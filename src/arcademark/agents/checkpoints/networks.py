"""Parts of networks: layers, identified by the names and shapes of their tensors, and heads."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import prod

import torch
from torch import Tensor, nn
from torch.nn.utils.fusion import fuse_conv_bn_weights

from arcademark.agents.checkpoints.contents import Contents, is_copy
from arcademark.errors import ArcadeMarkError, one_line

State = tuple[Tensor, ...]
Act = Callable[[], nn.Module]

STRIDES = {8: 4, 4: 2, 3: 1}
"""Strides of DQN's convolutions, by kernel size (Mnih et al. 2015, Methods; Mnih et al. 2013, §5)."""
SIZES = ((84, 84), (64, 64), (96, 96), (80, 80), (42, 42), (210, 160))
"""Heights and widths of screens, tried in this order if the file does not state them."""
LOG_STD = (-20.0, 2.0)
"""Limits to which Stable-Baselines3 clips the logarithm of a standard deviation that a layer computes."""
EPSILON = 1e-5
"""PyTorch's default of the number that normalisations add to a variance."""
MAX_LISTED = 12
"""Maximum number of tensors that an error lists."""
MAX_NUMBERS = 2**24
"""Maximum number of values in an observation."""

_MEANS = {"weight_mu": "weight", "mu_W": "weight", "mu_weight": "weight", "bias_mu": "bias", "mu_bias": "bias"}
"""Names of the means to which noisy layers add noise, in CleanRL, TorchRL, Rainbow's ports and Tianshou."""
_NOISE = re.compile(r"(?:^|_)(?:sigma|std|eps|epsilon|noise|sample)(?:_|$)")
_SIGMAS = ("sigma_weight", "weight_sigma")
"""Names of the noise's scale beside the weights of noisy layers whose means are named as a linear layer's."""
_LAST_NUMBER = re.compile(r"\d+$")
_OF_NORMS = ("running_mean", "running_var", "weight", "bias")
_OF_CELLS = frozenset({"weight_ih", "weight_hh", "bias_ih", "bias_hh"})
"""Names of the tensors of ``LSTMCell`` and ``GRUCell``, which LSTM and GRU give the number of a layer, too."""

ACTIVATIONS: Mapping[str, Act] = {
    "relu": nn.ReLU,
    "tanh": nn.Tanh,
    "elu": nn.ELU,
    "leakyrelu": nn.LeakyReLU,
    "silu": nn.SiLU,
    "gelu": nn.GELU,
}


@dataclass(frozen=True)
class Assumptions:
    """Settings of a network that tensors may leave open; None for those that were not given.

    Parameters
    ----------
    scale : float or None
        Divisor of screens.
    activation : str or None
        Function after each layer; None is "relu".
    atoms, quantiles : int or None
        Numbers that a head gives each action: logits of atoms of equal distance (C51), or quantiles (QR-DQN).
    actions_last : bool or None
        Whether such a head gives one number of every action, then the next ones, rather than all of an action.
    """

    scale: float | None = None
    activation: str | None = None
    atoms: int | None = None
    quantiles: int | None = None
    actions_last: bool | None = None

    @property
    def act(self) -> Act:
        """The constructor of the activation after each layer."""
        return ACTIVATIONS[self.activation or "relu"]

    def refuse(self, place: str, why: str) -> None:
        """Refuse the first given one, as it has no effect; `why` is the reason."""
        refuse_unused(place, why, **vars(self))


def refuse_unused(place: str, why: str, **settings: object) -> None:
    """Refuse the first given one of these settings, as it has no effect; `why` is the reason."""
    for name, value in settings.items():
        if value not in (None, ""):
            value = f"{value:g}" if isinstance(value, float) else "true" if value is True else value
            raise ArcadeMarkError(f"{place}: --set {name}={value} changes nothing: {why}; leave it out")


class PlayedNetwork(nn.Module):
    """Base of all networks that are played.

    Attributes
    ----------
    shape : tuple of int or None
        Shape of an observation, channels first; None for any.
    num_actions : int or None
        Number of outputs; None until it answers.
    stochastic : bool or None
        Whether the outputs are of a distribution to sample from, rather than values; None if unknown.
    blank : int or None
        Fill value of screens before the start of an episode in its stack; None for copies of the first screen.
    fire_reset : bool
        Whether FIRE was pressed in its training.
    uses_gpu : bool
        Whether it can be computed on a GPU.
    continuous : bool or None
        Whether the outputs are of real-valued actions, as in `choosing.Chooser`; None if unknown.
    squashed : bool
        Whether these actions are hyperbolic tangents of the outputs.
    draws : bool or None
        Whether the outputs themselves are random; None if unknown.
    assumed : str
        Assumptions about the network that its file does not state; "" if there are none.
    """

    shape: tuple[int, ...] | None = None
    num_actions: int | None = None
    stochastic: bool | None = True
    blank: int | None = None
    fire_reset = False
    uses_gpu = True
    continuous: bool | None = None
    squashed = False
    draws: bool | None = False
    assumed = ""

    def start(self, rows: int) -> State:
        """Return the memory with which episodes begin, tensors of shape (layers, rows, units); none by default."""
        return ()


class Network(PlayedNetwork):
    """A network from observations to a number per action.

    Parameters
    ----------
    prepare : callable
        From float observations, 0 to 255, to the inputs of the first layer.
    body : torch.nn.Module
        Up to the recurrent core, or the head.
    head : torch.nn.Module
        From features to the number for each action.
    shape : tuple of int
        Shape of an observation, channels first.
    core : torch.nn.LSTM, torch.nn.GRU or None
        Recurrent part, if there is one.
    stochastic : bool or None
        As in `PlayedNetwork`.
    """

    continuous = False

    def __init__(
        self,
        prepare: Callable[[Tensor], Tensor],
        body: nn.Module,
        head: nn.Module,
        shape: tuple[int, ...],
        core: nn.LSTM | nn.GRU | None = None,
        stochastic: bool | None = False,
    ) -> None:
        super().__init__()
        self.prepare, self.body, self.head, self.shape, self.core = prepare, body, head, shape, core
        self.stochastic = stochastic
        self.eval()
        with torch.inference_mode():
            self.num_actions: int = self(torch.zeros(1, *shape), self.start(1))[0].shape[1]

    def start(self, rows: int) -> State:
        """Return the memory with which episodes begin, tensors of shape (layers, rows, units); none without a core."""
        if self.core is None:
            return ()
        zeros = torch.zeros(self.core.num_layers, rows, self.core.hidden_size)
        return (zeros, zeros) if isinstance(self.core, nn.LSTM) else (zeros,)

    def forward(self, observations: Tensor, state: State) -> tuple[Tensor, State]:
        """Return the outputs per action, shape (rows, actions), and the new memory."""
        features = self.body(self.prepare(observations))
        if self.core is not None:
            out, after = self.core(features.unsqueeze(0), state if isinstance(self.core, nn.LSTM) else state[0])
            features, state = out.squeeze(0), after if isinstance(self.core, nn.LSTM) else (after,)
        return self.head(features), state


class UnknownNetworkError(ArcadeMarkError):
    """Error of tensors that belong to no known network."""


def _is_grid(name: str, value: Tensor) -> bool:
    """Return True if a tensor beside the layers is a row of equidistant numbers."""
    if value.numel() < 3 or max(value.shape) != value.numel() or not value.is_floating_point():
        return False
    steps = value.flatten().float().diff()
    return not name.endswith((".weight", ".bias")) and bool(steps[0] > 0) and torch.allclose(steps, steps[:1], 1e-3)


class Layers:
    """A state dict from which layers are taken by name."""

    def __init__(self, contents: Contents, place: str, assumptions: Assumptions | None = None) -> None:
        self.assumptions = assumptions or Assumptions()
        self.activation: Act = self.assumptions.act
        self.assumed: list[str] = []  # about single layers, as tensors leave them open
        self.tensors = self._plain(contents.tensors)
        self.folded: set[str] = set()  # batch normalisations
        for layer, norm in pairwise(dict.fromkeys(name.rpartition(".")[0] for name in self.tensors)):
            if f"{norm}.num_batches_tracked" in self.tensors:
                self._fold(layer, norm)
        self.settings, self.pickled, self.ordered = contents.settings, contents.pickled, contents.ordered
        self.place = place
        self.used: set[str] = set()
        self.unused: tuple[str, ...] = ()

    def _plain(self, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Return tensors of noisy layers as those of linear ones, without noise, and of cells as of LSTM and GRU."""
        parts = {name: name.rpartition(".") for name in tensors}
        linear = {place for place, _, leaf in parts.values() if leaf == "weight"}
        means = {place for place, _, leaf in parts.values() if _MEANS.get(leaf) == "weight"}
        noisy = (means - linear) | ({place for place, _, leaf in parts.values() if leaf in _SIGMAS} & linear - means)
        self.assumed += [f"'{place}' without its noise" for place in sorted(noisy) if not is_copy(place)]
        plain = {}
        for name, (place, dot, leaf) in parts.items():
            if place not in noisy:
                plain[f"{name}_l0" if leaf in _OF_CELLS and f"{name}_l0" not in tensors else name] = tensors[name]
            elif not _NOISE.search(leaf):
                plain[f"{place}{dot}{_MEANS.get(leaf, leaf)}"] = tensors[name]
        return plain

    def _fold(self, layer: str, norm: str) -> None:
        """Merge a batch normalisation, as in evaluation, into the layer before it, if that is known.

        In a numbered sequence that is the layer with the previous number; otherwise it is `layer`, the previous one in
        the file, if its name ends in the same number.
        """
        container, dot, leaf = norm.rpartition(".")
        if leaf.isdecimal():
            layer = f"{container}{dot}{int(leaf) - 1}"
        elif layer.rpartition(".")[0] != container or _LAST_NUMBER.findall(layer) != _LAST_NUMBER.findall(norm):
            return
        weight, bias = (self.tensors.get(f"{layer}.{name}") for name in ("weight", "bias"))
        if weight is None or weight.dim() not in (2, 4) or not weight.is_floating_point():
            return
        mean, var, by, plus = (self.tensors.get(f"{norm}.{name}") for name in _OF_NORMS)
        shapes = {tuple(one.shape) for one in (mean, var, by, plus, bias) if one is not None}
        if mean is None or var is None or shapes != {(len(weight),)}:
            return
        weight, bias = fuse_conv_bn_weights(weight.float(), bias, mean, var, EPSILON, by, plus)
        self.tensors |= {f"{layer}.weight": weight.detach(), f"{layer}.bias": bias.detach()}
        for name in (*_OF_NORMS, "num_batches_tracked"):
            self.tensors.pop(f"{norm}.{name}", None)
        self.folded.add(norm)
        self.assumed.append(f"'{norm}' as BatchNorm right after '{layer}'")

    def error(self, what: str) -> UnknownNetworkError:
        """Return the error of a network that cannot be made, with its tensors and the remedy."""
        shapes = [one_line(f"{name} {tuple(value.shape)}") for name, value in self.tensors.items()]
        more = f" and {len(shapes) - MAX_LISTED:,} more" if len(shapes) > MAX_LISTED else ""
        kind = self.pickled.kind if self.pickled is not None else "Class"
        module = f"its class {kind}" if self.pickled is not None else "the module"
        return UnknownNetworkError(
            f"{self.place}: {what}; the tensors are {', '.join(shapes[:MAX_LISTED])}{more}; "
            f"name {module}: --set network=file.py:{kind.rpartition('.')[2]}"
        )

    def has(self, prefix: str) -> bool:
        """Return True if a tensor's name begins with a prefix."""
        return any(name.startswith(prefix) for name in self.tensors)

    def take(self, name: str) -> Tensor:
        """Return a tensor of finite numbers, and mark it as used."""
        self.used.add(name)
        if name not in self.tensors:
            raise self.error(f"it has no tensor {name!r}")
        if not self.tensors[name].is_floating_point():
            kind = str(self.tensors[name].dtype).removeprefix("torch.")
            raise self.error(f"{name!r} has whole numbers ({kind}), which are not weights")
        taken = self.tensors[name].float()
        if not taken.isfinite().all():
            raise ArcadeMarkError(f"{self.place}: {name!r} contains NaN or infinity; its training has diverged")
        return taken

    def layer(self, name: str, padding: int = 0) -> nn.Module:
        """Return the convolution, linear layer or normalisation of a name."""
        weight = self.take(f"{name}.weight")
        bias = self.take(f"{name}.bias") if f"{name}.bias" in self.tensors else None
        module: nn.Module
        if weight.dim() == 4:
            out, channels, *kernel = weight.shape
            module = nn.Conv2d(
                channels, out, (kernel[0], kernel[1]), STRIDES[kernel[0]], padding, bias=bias is not None
            )
        elif weight.dim() == 2:
            module = nn.Linear(weight.shape[1], weight.shape[0], bias=bias is not None)
        else:
            if bias is None and self.pickled is None:
                raise self.error(f"'{name}' may be an RMSNorm, a PReLU or a LayerNorm without bias")
            if weight.dim() == 1 and self.pickled is None:
                self.assumed.append(f"'{name}' as LayerNorm")
            module = nn.LayerNorm(tuple(weight.shape), bias=bias is not None)
        module.load_state_dict({"weight": weight} | ({} if bias is None else {"bias": bias}))
        return module

    def sequence(self, prefix: str, activation: Act | None = None, last: bool = True) -> list[nn.Module]:
        """Return the layers of a ``torch.nn.Sequential``, each with its activation except before a normalisation.

        `last`: whether the last has an activation, too.
        """
        activation = activation or self.activation
        start = len(prefix) + 1
        numbers = {
            int(n) for name in self.tensors if name.startswith(f"{prefix}.") for n in [name[start:].split(".")[0]]
        }
        modules: list[nn.Module] = []
        before = min(numbers, default=0)
        for number in sorted(numbers):
            name = f"{prefix}.{number}"
            flat = any(isinstance(m, nn.Flatten) for m in modules)
            weight = self.tensors.get(f"{name}.weight")
            kind = 0 if weight is None else weight.dim()
            if number - before > 2 + (not flat and kind in (0, 2)):
                raise self.error(
                    f"between '{prefix}.{before}' and '{name}' is a layer without tensors, such as a pooling"
                )
            if modules and not flat and kind == 1:
                raise self.error(f"'{name}', after a convolution, may be a BatchNorm, a GroupNorm or an InstanceNorm")
            before = number + (f"{prefix}.{number + 1}" in self.folded)
            if f"{name}.conv.weight" in self.tensors:
                blocks = [(f"{name}.res_block{i}.conv0", f"{name}.res_block{i}.conv1") for i in range(2)]
                modules.append(self.residual(f"{name}.conv", blocks))
                continue
            layer = self.layer(name)
            if isinstance(layer, nn.Linear) and not flat:
                modules += [nn.Flatten()] + ([activation()] if modules and isinstance(modules[-1], Residual) else [])
            modules.append(layer)
            if number + 1 not in numbers and (last or number != max(numbers)):
                modules.append(activation())
        return modules

    def residual(self, first: str, blocks: Sequence[tuple[str, str]]) -> nn.Module:
        """Return a section of IMPALA's deep network (Espeholt et al. 2018, Figure 3), given its layers' names."""
        pairs = [(self.layer(a, padding=1), self.layer(b, padding=1)) for a, b in blocks]
        return Residual(self.layer(first, padding=1), pairs, self.activation)

    def distribution(self) -> tuple[int, Tensor | None]:
        """Return a head's number of outputs per action, and the values of the atoms if these are their logits.

        Both follow from a tensor of atoms, or of quantiles' fractions, in the file; otherwise from the assumptions,
        with values from -10 to 10, as all equidistant values order the actions equally.
        """
        grids = {name: value.flatten() for name, value in self.tensors.items() if _is_grid(name, value)}
        given = self.assumptions
        if not grids:
            if given.atoms and given.quantiles:
                raise ArcadeMarkError(f"{self.place}: --set atoms and --set quantiles exclude each other; give one")
            if not (given.atoms or given.quantiles):
                Assumptions(actions_last=given.actions_last).refuse(self.place, "its head gives each action one number")
            support = torch.linspace(-10, 10, min(given.atoms, MAX_NUMBERS)) if given.atoms else None
            return given.atoms or given.quantiles or 1, support
        name, grid = next(iter(grids.items()))
        if any(not torch.equal(grid, other) for other in grids.values()):
            raise self.error(f"{', '.join(map(repr, grids))} may be the atoms of several distributions")
        replace(given, scale=None, activation=None, actions_last=None).refuse(
            self.place, f"its file has them in {name!r}"
        )
        self.used |= grids.keys()
        middles = (torch.arange(len(grid)) + 0.5) / len(grid)
        return len(grid), None if torch.allclose(grid, middles, atol=1e-5) else grid

    def head(self, actions: Sequence[nn.Module], value: Sequence[nn.Module] = ()) -> nn.Module:
        """Return a head with a number per action; a dueling one adds the same value to all actions."""
        count, support = self.distribution()
        if self.assumptions.actions_last:
            actions = [*actions, _Transposed(count)]
        if support is not None:
            return Dueling(value, actions, support) if value else Expectation(actions, support)
        return Quantiles(actions, (-1, count), 2) if count > 1 else nn.Sequential(*actions)

    def recurrent(self, name: str) -> nn.LSTM | nn.GRU:
        """Return the LSTM or GRU of a name."""
        first, hidden = self.take(f"{name}.weight_ih_l0"), self.take(f"{name}.weight_hh_l0")
        kind = {4: nn.LSTM, 3: nn.GRU}.get(first.shape[0] / hidden.shape[1])
        if kind is None or any(key.startswith(f"{name}.") and key.endswith("_reverse") for key in self.tensors):
            raise self.error(f"'{name}' is not a unidirectional LSTM or GRU without projections")
        number = sum(key.startswith(f"{name}.weight_ih_l") for key in self.tensors)
        module = kind(first.shape[1], hidden.shape[1], number)
        module.load_state_dict({key: self.take(f"{name}.{key}") for key in module.state_dict()})
        return module

    def shape(self, body: Sequence[nn.Module], head: nn.Module | None = None) -> tuple[int, ...]:
        """Return the shape of a body's observations: by the settings, otherwise one that fits its layers.

        If the body has no weights, the shape fits the `head`.
        """
        space = self.settings.get("observation_space", {})
        known = () if "nvec" in space else space.get("_shape") or ()  # several whole numbers are one-hot
        if shape := tuple(int(n) for n in known):
            if prod(shape) > MAX_NUMBERS:
                raise self.error(f"its observations have shape {shape}")
            return shape
        modules = [m for layer in (*body, *([] if head is None else [head])) for m in layer.modules()]
        linear = next((m for m in modules if isinstance(m, nn.Linear)), None)
        convolutions = [m for m in modules if isinstance(m, nn.Conv2d)]
        if not convolutions:
            if linear is None:
                raise self.error("it has no layer that takes observations")
            return (linear.in_features,)
        until = next((i for i, m in enumerate(body) if isinstance(m, nn.Linear)), len(body))
        eyes = nn.Sequential(*body[:until])
        with torch.inference_mode():
            for size in SIZES:
                shape = (convolutions[0].in_channels, *size)
                try:
                    seen = eyes(torch.zeros(1, *shape))
                except RuntimeError:
                    continue
                if linear is None or seen.flatten(1).shape[1] == linear.in_features:
                    return shape
        raise self.error(f"its layers fit screens of none of the sizes {', '.join(f'{h} x {w}' for h, w in SIZES)}")

    def check_all_used(self) -> None:
        """Refuse tensors that no layer took."""
        left = [name for name in self.tensors if name not in self.used and not name.startswith(self.unused)]
        if left:
            raise self.error(f"its network has unknown layers: {', '.join(map(repr, sorted(left)[:3]))}")


class Residual(nn.Module):
    """A convolution, a pooling and two residual blocks."""

    def __init__(self, first: nn.Module, blocks: Sequence[tuple[nn.Module, nn.Module]], activation: Act) -> None:
        super().__init__()
        self.first, self.pool = first, nn.MaxPool2d(3, 2, 1)
        self.blocks = nn.ModuleList([nn.Sequential(activation(), a, activation(), b) for a, b in blocks])

    def forward(self, x: Tensor) -> Tensor:
        """Return the features."""
        x = self.pool(self.first(x))
        for block in self.blocks:
            x = block(x) + x
        return x


class _Transposed(nn.Module):
    """A head's outputs by action, from `rows` rows with a number for each action."""

    def __init__(self, rows: int) -> None:
        super().__init__()
        self.rows = rows

    def forward(self, x: Tensor) -> Tensor:
        return x.unflatten(1, (self.rows, -1)).mT.flatten(1)


class Quantiles(nn.Module):
    """QR-DQN's head: means of each action's quantiles (Dabney et al. 2018), the dimension `dim` of `shape`."""

    def __init__(self, layers: Sequence[nn.Module], shape: tuple[int, int], dim: int) -> None:
        super().__init__()
        self.layers, self.shape, self.dim = nn.Sequential(*layers), shape, dim

    def forward(self, x: Tensor) -> Tensor:
        """Return a number for each action."""
        return self.layers(x).unflatten(1, self.shape).mean(self.dim)


class Expectation(nn.Module):
    """C51's head: expectations over atoms (Bellemare et al. 2017)."""

    def __init__(self, layers: Sequence[nn.Module], support: Tensor) -> None:
        super().__init__()
        self.layers = nn.Sequential(*layers)
        self.register_buffer("support", support)
        self.support: Tensor

    def forward(self, x: Tensor) -> Tensor:
        """Return a number for each action."""
        return (self.layers(x).view(len(x), -1, len(self.support)).softmax(dim=2) * self.support).sum(2)


class NormalisedInputs(nn.Module):
    """Sample-Factory's inputs: scaled, and normalised by mean and deviation in training if the file has these."""

    def __init__(self, mean: float, scale: float, shift: Tensor | None, deviation: Tensor | None) -> None:
        super().__init__()
        self.mean, self.scale = mean, scale
        self.register_buffer("shift", shift)
        self.register_buffer("deviation", deviation)
        self.shift: Tensor | None
        self.deviation: Tensor | None

    def forward(self, x: Tensor) -> Tensor:
        """Return the inputs of the first layer."""
        x = (x - self.mean) * (1.0 / self.scale)
        if self.shift is None or self.deviation is None:
            return x
        return ((x - self.shift) * (1 / self.deviation)).clamp(-5.0, 5.0)


class Gaussian(nn.Module):
    """A head whose outputs are means and the logarithms of standard deviations: given ones, or by another layer."""

    def __init__(self, layers: Sequence[nn.Module], mean: nn.Module, spread: nn.Module | Tensor) -> None:
        super().__init__()
        self.layers, self.mean = nn.Sequential(*layers), mean
        self.register_buffer("given", spread if isinstance(spread, Tensor) else None)
        self.given: Tensor
        self.spread = None if isinstance(spread, Tensor) else spread

    def forward(self, x: Tensor) -> Tensor:
        """Return means, then logarithms of standard deviations."""
        x = self.layers(x)
        mean = self.mean(x)
        spread = self.given.expand_as(mean) if self.spread is None else self.spread(x).clamp(*LOG_STD)
        return torch.cat([mean, spread], dim=1)


class Dueling(nn.Module):
    """CleanRL's Rainbow: expectations of distributions from a value and advantages (Hessel et al. 2018)."""

    def __init__(self, value: Sequence[nn.Module], advantage: Sequence[nn.Module], support: Tensor) -> None:
        super().__init__()
        self.value, self.advantage = nn.Sequential(*value), nn.Sequential(*advantage)
        self.register_buffer("support", support)
        self.support: Tensor

    def forward(self, x: Tensor) -> Tensor:
        """Return a number for each action."""
        atoms = len(self.support)
        value, advantage = self.value(x).view(len(x), 1, atoms), self.advantage(x).view(len(x), -1, atoms)
        summed = value + advantage - advantage.mean(dim=1, keepdim=True)
        return (summed.softmax(dim=2) * self.support).sum(2)
