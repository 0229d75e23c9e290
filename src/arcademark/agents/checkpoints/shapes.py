"""Networks identified by the shapes of their tensors, if names do not: convolutions, then layers, then one head.

Shapes leave open, and we assume: an activation after every layer except the head, screens divided by 255, the strides
of DQN's network, no padding. The padding of Flax's and RLlib's networks, and the order of convolutions' outputs, follow
from the first layer after them. Ambiguous networks are errors.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product

import torch
from torch import Tensor, nn

from arcademark.agents.checkpoints.contents import is_copy
from arcademark.agents.checkpoints.networks import MAX_NUMBERS, SIZES, STRIDES, Layers, Network, UnknownNetworkError

MAX_ACTIONS = 18
"""Actions of an Atari game; a head with more outputs is not one of actions, unless the task has as many."""
MAX_LAYERS = 200
"""Maximum number of layers of a network, as each is compared with all others."""
_ROLES = {
    "actor": re.compile(r"(?:^|[._])(?:actor|policy|pi|logits?|dist)(?:[._\d]|$)"),
    "critic": re.compile(r"(?:^|[._])(?:critic|value|vf|v|baseline)(?:[._\d]|$)"),
    "advantage": re.compile(r"(?:^|[._])(?:(?:adv|advantages?)(?:[._\d]|$)|a$)"),
}
_VALUES = re.compile(r"(?:^|[._])(?:q|qf|q_?values?|q_?net(?:work)?|q_?head)(?:[._\d]|$)")
"""Parts of the names of heads whose outputs are values of actions."""


@dataclass(eq=False)
class _Layer:
    """A layer, or a stack of convolutions, with its inputs and outputs; None if they depend on the screens' size."""

    names: tuple[str, ...]
    inputs: int | None
    outputs: int | None
    recurrent: bool = False
    source: _Layer | None = None

    @property
    def name(self) -> str:
        return self.names[-1]

    @property
    def container(self) -> str:
        return self.name.rpartition(".")[0]


_Seen = tuple[list[nn.Module], tuple[int, ...]] | None
_Eyes = Callable[[_Layer, int], _Seen]


def role(name: str) -> str:
    """Return the role of a network or head by its name: "actor", "critic", "advantage", or "" for none or several."""
    found = [of_name for of_name, pattern in _ROLES.items() if pattern.search(name.lower())]
    return found[0] if len(found) == 1 else ""


def build(layers: Layers, num_actions: int) -> Network:
    """Make the network of tensors with these shapes.

    Parameters
    ----------
    layers : Layers
        Where no scale is assumed, screens are divided by 255, for RLlib's modules scaled as in its wrappers.
    num_actions : int
        Number of actions of the game; 0 if unknown.

    Raises
    ------
    UnknownNetworkError
        If no network, or several, have these shapes.
    """
    flax = layers.settings.get("library") == "flax"
    if flax:
        layers.tensors = dict(_turned(name, value) for name, value in layers.tensors.items())
    layers.used = {name for name, value in layers.tensors.items() if is_copy(name) or _is_scalar(name, value)}
    rllib = any("encoder" in name and ".net.0.cnn." in name for name in layers.tensors)
    stacks, others = _layers_of(layers)
    paddings = (True,) if rllib else (False, True) if flax else (False,)
    eyes = _of_one_size(partial(_eyes, layers, paddings=paddings, channels_last=flax or rllib), stacks, others)
    for layer in others:
        layer.source = _source(layers, layer, stacks, others, eyes)
    if flax and isinstance(layers.settings.get("n_atoms"), int):
        ends = (float(layers.settings[name]) for name in ("v_min", "v_max"))
        layers.tensors["atoms"] = torch.linspace(*ends, min(layers.settings["n_atoms"], MAX_NUMBERS))
    count, support = layers.distribution()
    head, value = _heads(layers, others, num_actions, count)
    way, beyond = _way(layers, head), [] if value is None else _way(layers, value)
    _check_ways(layers, others, way, beyond, num_actions)
    stack, *hidden, _ = way
    shared = hidden if value is None else [one for one in hidden if one in beyond]
    found = eyes(stack, way[1].inputs or 0)
    assert found is not None
    body, shape = found
    layers.assumed.insert(0, "padding as in TensorFlow" if isinstance(body[0], _Same) else "no padding")

    def activated(row: Sequence[_Layer]) -> list[nn.Module]:
        return [part for layer in row for part in (layers.layer(layer.name), layers.activation())]

    def stream(row: Sequence[_Layer]) -> list[nn.Module]:
        return [*activated([one for one in row[:-1] if one not in shared]), layers.layer(row[-1].name)]

    core = next((layer for layer in shared if layer.recurrent), None)
    before = shared[: shared.index(core)] if core else shared
    after = activated(shared[len(before) + 1 :])
    last = layers.head(stream([*hidden, head]), stream(beyond[1:]) if beyond else ())
    if count > 1:
        kind = "quantiles" if support is None else "atoms"
        order = f"{count} {kind} of an action, then those of the next (else add --set actions_last=true)"
        if layers.assumptions.actions_last:
            order = f"one of all actions' {count} {kind}, then the next"
        layers.assumed.append(f"the outputs of '{head.name}' as {order}")
    scale = layers.assumptions.scale
    shift, scale = (1.0, 128.0) if rllib and scale is None else (0.0, scale or 255.0)
    network = Network(
        _Scaled(scale, shift),
        nn.Sequential(*body, *activated(before)),
        nn.Sequential(*after, last),
        shape,
        layers.recurrent(core.name) if core else None,
        stochastic=_stochastic(head.name, count > 1),
    )
    beside = {name for layer in (*stacks, *others) if layer not in (*way, *beyond) for name in layer.names}
    layers.used |= {name for name in layers.tensors if name.rpartition(".")[0] in beside}
    layers.check_all_used()
    return network


def _stochastic(head: str, expects: bool) -> bool | None:
    """Return whether a head outputs a distribution of actions, by its name; None if that leaves it open."""
    if expects or role(head) in ("critic", "advantage") or (not role(head) and _VALUES.search(head.lower())):
        return False
    return True if role(head) == "actor" else None


class _Scaled(nn.Module):
    def __init__(self, scale: float, shift: float) -> None:
        super().__init__()
        self.scale, self.shift = scale, shift

    def forward(self, x: Tensor) -> Tensor:
        return x / self.scale - self.shift


def _turned(name: str, value: Tensor) -> tuple[str, Tensor]:
    """Return a Flax tensor in PyTorch's layout; Flax's kernels are (height, width, in, out) and (in, out)."""
    if not name.endswith(".kernel"):
        return name, value
    turned = value.permute(3, 2, 0, 1) if value.dim() == 4 else value.t() if value.dim() == 2 else value
    return f"{name.removesuffix('kernel')}weight", turned.contiguous()


def _is_scalar(name: str, value: Tensor) -> bool:
    """Return True if a tensor is a single number beside the layers, such as a counter or a temperature."""
    return value.numel() == 1 and not name.endswith((".weight", ".bias"))


def _natural(name: str) -> list[tuple[int, int, str]]:
    parts = re.findall(r"\d+|\D+", name)
    return [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in parts]


def _layers_of(layers: Layers) -> tuple[list[_Layer], list[_Layer]]:
    """Return the stacks of convolutions and the other layers, in the order of their names."""
    tensors = {name: value for name, value in layers.tensors.items() if name not in layers.used}
    stacks: list[_Layer] = []
    others: list[_Layer] = []
    for name in sorted(tensors, key=_natural):
        value, place = tensors[name], name.removesuffix(".weight")
        if name.endswith(".weight") and value.dim() == 4:
            if stacks and stacks[-1].outputs == value.shape[1]:
                stacks[-1].names, stacks[-1].outputs = (*stacks[-1].names, place), value.shape[0]
            else:
                stacks.append(_Layer((place,), None, value.shape[0]))
        elif name.endswith(".weight") and value.dim() == 2:
            others.append(_Layer((place,), value.shape[1], value.shape[0]))
        elif name.endswith(".weight_ih_l0") and value.dim() == 2:
            hidden = tensors.get(name.replace("_ih_", "_hh_"), value)
            others.append(_Layer((name.removesuffix(".weight_ih_l0"),), value.shape[1], hidden.shape[1], True))
    if len(others) + sum(len(stack.names) for stack in stacks) > MAX_LAYERS:
        raise layers.error(f"its network has more than {MAX_LAYERS} layers, the maximum")
    place_of = {name.removesuffix(".weight"): place for place, name in enumerate(tensors)}
    for stack in stacks:
        numbered = all(name.rpartition(".")[2].isdecimal() for name in stack.names)
        if not layers.ordered and len({re.sub(r"\d+", "", name) for name in stack.names}) > 1:
            raise _ambiguous(layers, f"its file leaves the order of its convolutions ({', '.join(stack.names)}) open")
        if layers.ordered and not numbered and [*stack.names] != sorted(stack.names, key=place_of.__getitem__):
            names = ", ".join(stack.names)
            raise _ambiguous(layers, f"the order of its convolutions by names ({names}) differs from that in the file")
    if not stacks or not others:
        raise layers.error("its network is unknown by the names and the shapes of its tensors")
    return stacks, others


def _ambiguous(layers: Layers, why: str) -> UnknownNetworkError:
    return layers.error(f"its network does not follow from its tensors' shapes: {why}")


def _of_one_size(eyes: _Eyes, stacks: Sequence[_Layer], others: Sequence[_Layer]) -> _Eyes:
    """Return `eyes` that see screens of one size alone for each stack, even if other layers fit others."""
    sizes = {
        stack: min((SIZES.index(one[1][1:]) for layer in others if (one := eyes(stack, layer.inputs or 0))), default=0)
        for stack in stacks
    }

    def of_one_size(stack: _Layer, features: int) -> _Seen:
        found = eyes(stack, features)
        return found if found is not None and found[1][1:] == SIZES[sizes[stack]] else None

    return of_one_size


def _eyes(layers: Layers, stack: _Layer, features: int, paddings: Sequence[bool], channels_last: bool) -> _Seen:
    """Return a stack's convolutions with this number of output features, and the shape of screens; None if none.

    Features of one place are none, as a pooling over all places gives as many on screens of any size.
    """
    weights = [layers.tensors[f"{name}.weight"] for name in stack.names]
    if any(w.shape[2] != w.shape[3] or w.shape[2] not in STRIDES for w in weights) or features % weights[-1].shape[0]:
        return None
    for size, same in product(SIZES, paddings):
        height, width = size
        for weight in weights:
            kernel = weight.shape[2]
            stride = STRIDES[kernel]
            height, width = (-(-n // stride) if same else (n - kernel) // stride + 1 for n in (height, width))
        if min(height, width) > 1 and height * width * weights[-1].shape[0] == features:
            modules: list[nn.Module] = []
            for name in stack.names:
                convolution = layers.layer(name)
                modules += [_Same(convolution) if same else convolution, layers.activation()]
            return [*modules, *([_ChannelsLast()] if channels_last else []), nn.Flatten()], (weights[0].shape[1], *size)
    return None


class _Same(nn.Module):
    """A convolution padded as in TensorFlow, Flax and RLlib, with one output per stride."""

    def __init__(self, convolution: nn.Module) -> None:
        super().__init__()
        self.convolution = convolution

    def forward(self, x: Tensor) -> Tensor:
        pads = []
        for n, kernel, stride in zip(
            x.shape[:1:-1], self.convolution.kernel_size, self.convolution.stride, strict=True
        ):
            total = max(0, (-(-n // stride) - 1) * stride + kernel - n)
            pads += [total // 2, total - total // 2]
        return self.convolution(nn.functional.pad(x, pads))


class _ChannelsLast(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.permute(0, 2, 3, 1)


def _source(
    layers: Layers,
    layer: _Layer,
    stacks: Sequence[_Layer],
    others: Sequence[_Layer],
    eyes: _Eyes,
) -> _Layer | None:
    """Return the only possible source of a layer: one before it in its container, otherwise the end of another."""
    inputs = layer.inputs or 0
    fitting = [other for other in others if other.outputs == inputs and other is not layer]
    before = [
        other for other in others[: others.index(layer)] if other in fitting and other.container == layer.container
    ]
    numbered = layer.name.rpartition(".")[2].isdecimal()
    after: list[_Layer] = []
    if not layer.name[-1:].isdecimal():  # a name without a number does not show its place among the others
        later = [one for one in others[others.index(layer) + 1 :] if one.container == layer.container]
        later = [one for one in later if one in fitting and one.inputs != layer.outputs]
        after = [one for one in later if one.inputs == inputs][-1:] or later
    if before and not after and (numbered or len(before) == 1):
        return before[-1]
    inside = [one for one in others if one.container == layer.container]
    if (
        len(before) > 1
        and not after
        and sum(other.outputs == inputs for other in before) == len(before) == len(inside) - 1
    ):
        return before[-1]  # a plain row of layers
    before += after
    if not before:
        ends = [
            other
            for other in fitting
            if not any(
                later.container == other.container and later.inputs == other.outputs
                for later in others[others.index(other) + 1 :]
            )
        ]
        before = [*(stack for stack in stacks if eyes(stack, inputs)), *ends]
    if len(before) > 1 and (own := role(layer.name)):
        before = [one for one in before if role(one.name) == own] or before
    if (core := next((one for one in before if one.recurrent), None)) and layer is not core:
        before = [one for one in before if one is core or one.outputs != core.inputs or one.inputs is None]
    if len(before) != 1:
        what = "no layer gives" if not before else f"{len(before)} layers give"
        raise _ambiguous(layers, f"{what} the inputs of '{layer.name}'")
    return before[0]


def _way(layers: Layers, head: _Layer) -> list[_Layer]:
    """Return the stack of convolutions and the layers from there to a head."""
    way = [head]
    while (source := way[-1].source) is not None:
        if source in way:
            raise _ambiguous(layers, "its layers form a cycle")
        way.append(source)
    return way[::-1]


def _check_ways(
    layers: Layers, others: Sequence[_Layer], way: Sequence[_Layer], beyond: Sequence[_Layer], num_actions: int
) -> None:
    """Refuse a network that the ways to its head, and to a dueling head's value, do not determine."""
    stack, *hidden, head = way
    for layer in hidden:
        if layer.outputs == head.outputs == num_actions and not layer.recurrent:
            raise _ambiguous(
                layers,
                f"'{layer.name}', before '{head.name}', gives a number for each action, too, so that it may have no "
                "activation",
            )
    if beyond and beyond[0] is not stack:
        raise _ambiguous(layers, f"'{head.name}' and '{beyond[-1].name}' have convolutions of their own")
    sources = [layer.source for layer in others]
    for layer in others:
        if layer not in (*way, *beyond) and role(layer.name) in ("actor", "advantage") and layer in sources:
            raise _ambiguous(layers, f"'{layer.name}' is not on the way to '{head.name}'")


def _heads(layers: Layers, others: Sequence[_Layer], num_actions: int, count: int) -> tuple[_Layer, _Layer | None]:
    """Return the only layer with `count` outputs per action, and a dueling head's value, `count` in total, or None.

    Other last layers have one output, a value.
    """
    sources = [layer.source for layer in others]
    ends = [layer for layer in others if layer not in sources and not layer.recurrent]
    wide = [layer for layer in ends if layer.outputs != 1]
    values = [layer for layer in wide if layer.outputs == count]
    heads = [layer for layer in wide if layer not in values] if len(wide) == 2 else wide
    outputs = max((layer.outputs or 0 for layer in wide), default=0)
    actions, rest = divmod(outputs, count)
    remedy = ""
    if count == 1 and num_actions and outputs > num_actions and outputs % num_actions == 0:
        each = outputs // num_actions
        remedy = (
            f"; if these are {each} for each of {num_actions} actions, add --set atoms={each} (C51, Rainbow) or --set "
            f"quantiles={each} (QR-DQN)"
        )
    if len(heads) != 1:
        sizes = ", ".join(str(layer.outputs) for layer in wide)
        raise _ambiguous(layers, f"its heads give {sizes or 'one number'}{remedy}")
    if rest or (actions > MAX_ACTIONS and actions != num_actions):
        what = "one" if count == 1 else str(count)
        raise layers.error(f"its network's head gives {outputs} numbers, which are not {what} for each action{remedy}")
    return heads[0], values[0] if values and values != heads else None
