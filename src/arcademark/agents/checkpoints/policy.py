"""A network from a file as a policy on a batch of episodes, of a game or another task."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from arcademark.agents.checkpoints import paths
from arcademark.agents.checkpoints.choosing import Chooser
from arcademark.agents.checkpoints.contents import MAX_BYTES, Contents
from arcademark.agents.checkpoints.onnx_files import whole
from arcademark.agents.checkpoints.orbax_folders import orbax_root, read_folder
from arcademark.agents.checkpoints.paths import MAX_LISTED, file_of
from arcademark.agents.checkpoints.pytorch_files import TRUST
from arcademark.agents.checkpoints.reading import read
from arcademark.agents.parameters import AboveZero, Positive, Share
from arcademark.agents.spaces import check_spaces
from arcademark.environments.base import EnvironmentSpec
from arcademark.environments.observations.spaces import ObservationView
from arcademark.environments.tasks import random_action
from arcademark.errors import ArcadeMarkError
from arcademark.files import read_bytes
from arcademark.importing import canonical_reference, importable, load_factory, needing, where_raised
from arcademark.suite.protocols import AtariProtocol

if TYPE_CHECKING:
    from arcademark.agents.checkpoints.networks import PlayedNetwork

ROWS = 16
"""Observations of a forward pass, padded if there are fewer. The number changes the last bits of the outputs, so it is
fixed, and scores do not depend on the number of episodes played at once."""


VALUES_ALONE = (
    "--set deterministic=false changes nothing: its network gives each action a value, no distribution; leave it out, "
    "or add random actions with --set epsilon=0.05"
)
_TAKEN_FOR_LOGITS = (
    "its network's outputs are taken as the logits of a distribution, as --set deterministic=false requires; if they "
    "are values, leave that out"
)


class NetworkPolicy:
    """A network, which values, weighs or outputs actions, as a policy; parameters as in `CheckpointPlayer`."""

    def __init__(
        self,
        network: Any,
        env: EnvironmentSpec,
        *,
        batch: int = ROWS,
        deterministic: bool = True,
        epsilon: float = 0.0,
        device: Literal["cpu", "cuda"] = "cpu",
    ) -> None:
        import torch

        torch.set_num_threads(1)  # workers share the cores
        self._network = network.to(device)
        self._device, self._epsilon = device, epsilon
        self._samples = not deterministic and network.stochastic is not False
        self.draws = self._samples or epsilon > 0 or network.draws
        self.batch_size = batch
        self._state = tuple(part.to(device).clone() for part in network.start(-(-batch // ROWS) * ROWS))
        self._axes: tuple[int, int] | None = None  # to move for the network, which has channels elsewhere
        game = env.protocol if isinstance(env.protocol, AtariProtocol) else None
        self._screens = game.frame_stack if game else 1
        self._steps = np.full(batch, self._screens)  # since each episode began; full for those that began elsewhere
        as_they_are = game is not None or network.shape == env.observation_shape
        self._env, self._view = env, None if as_they_are else ObservationView(env, channels_first=True)
        self._chooser = Chooser(env, network.squashed)
        count, shape = self._network.num_actions, self._network.shape
        if count is not None and self._chooser.fits(count, network.continuous) and env.array_actions is not None:
            self.action_space = SimpleNamespace(shape=env.array_actions.shape)
        elif count is not None:
            self.action_space = SimpleNamespace(
                **{"shape": (count,)} if network.continuous else {"n": count, "shape": ()}
            )
        if shape is not None:
            given = env.observation_shape
            if game is not None and len(given) == 3 and shape != given:
                moved = {(given[2], *given[:2]): (-1, 1), (*given[1:], given[0]): (1, -1)}
                self._axes = moved.get(shape)
            seen = given if self._view is None else self._view.observation_space.shape
            squeezed = tuple(n for n in shape if n != 1)
            shape = given if self._axes or seen in (squeezed, shape) else shape
            self.observation_space = SimpleNamespace(shape=shape, dtype=np.dtype(env.observation_dtype))

    def remember(self, state: Sequence[Any]) -> None:
        """Continue with a memory, tensors of shape (layers, rows, units), of episodes that began elsewhere."""
        for kept, given in zip(self._state, state, strict=True):
            kept[:, : given.shape[1]] = given

    def act(
        self,
        observations: NDArray[Any],
        first: NDArray[np.bool_],
        rngs: Sequence[np.random.Generator],
    ) -> NDArray[Any]:
        """Choose an action for each episode in play."""
        import torch

        if self._screens > 1 and self._network.blank is not None:
            observations = self._blanked(observations, first)
        if self._view is not None:
            observations = self._view.rows(observations)
        values = self._values(observations, first)
        if np.isnan(values).any() or (values == np.inf).any() or np.isneginf(values).all(axis=1).any():
            raise ArcadeMarkError("its network's outputs are not finite (NaN, infinity); its training has diverged")
        arrays = self._env.array_actions
        if not self._chooser.fits(values.shape[1], self._network.continuous):
            has = f"the game has {self._env.num_actions}" if arrays is None else f"they have shape {arrays.shape}"
            raise ArcadeMarkError(f"its network gives {values.shape[1]} actions a value; {has}")
        self.action_values = values if arrays is None else None
        actions = self._chooser.choose(values, rngs if self._samples else None)
        if self._epsilon:
            for row, rng in enumerate(rngs):
                if rng.random() < self._epsilon:
                    actions[row] = random_action(self._env, rng)
        if take := getattr(self._network, "take", None):
            take(torch.from_numpy(actions), self._state)
        return actions

    def _blanked(self, observations: NDArray[Any], first: NDArray[np.bool_]) -> NDArray[Any]:
        """Blank the screens of a stack that are from before the episode began."""
        self._steps = np.where(first, 0, self._steps[: len(first)] + 1)
        if (begun := np.flatnonzero(self._steps < self._screens - 1)).size:
            observations = observations.copy()
            for row in begun.tolist():
                observations[row, : self._screens - 1 - self._steps[row]] = self._network.blank
        return observations

    def _values(self, observations: NDArray[Any], first: NDArray[np.bool_]) -> NDArray[np.float32]:
        """Return the outputs per action, shape (rows, actions)."""
        import torch

        rows = len(first)
        given = torch.from_numpy(np.moveaxis(observations, *self._axes) if self._axes else observations)
        shape = self._network.shape or given.shape[1:]
        filled, begun = torch.zeros(-(-rows // ROWS) * ROWS, *shape), torch.tensor(first)
        filled[:rows] = given.reshape(rows, *shape)
        answers = []
        cudnn = torch.backends.cudnn.flags(
            enabled=True, deterministic=True, allow_tf32=False
        )  # not less exact on a GPU
        with torch.inference_mode(), cudnn:
            for part in self._state:
                part[:, :rows][:, begun.to(part.device)] = 0
            for start in range(0, rows, ROWS):
                block = slice(start, start + ROWS)
                state = tuple(part[:, block].contiguous() for part in self._state)
                values, after = self._network(filled[block].to(self._device), state)
                for kept, new in zip(self._state, after, strict=True):
                    kept[:, block] = new
                answers.append(values.float().cpu())
        return torch.cat(answers)[:rows].numpy()  # type: ignore[no-any-return]


class CheckpointPlayer(NetworkPolicy):
    """A trained network, played from its file.

    Parameters
    ----------
    env : EnvironmentSpec
    path : pathlib.Path
    sha256 : str
        Checksum of the file when the run was planned; "" while it is planned.
    batch : int
        Episodes played at once. It changes no score.
    deterministic : bool
        Whether the best action is taken, rather than one drawn from the policy's distribution. If it is unknown
        whether the outputs are those of a distribution, they are taken as such, and `assumed` notes it.
    epsilon : float
        Probability of a uniformly random action instead (0.05 in Mnih et al. 2015).
    device : {"cpu", "cuda"}
    network : str
        The class of a state dict's network, "file.py:Network"; "" for those that are known.
    key : str
        One of several networks in a file, by the first parts of its tensors' names: "agent"; "" for the only one.
    scale : float or None
        Divisor of observations for a user's network, TorchScript, ONNX, one of RLlib's whose space does not imply it,
        and one that its tensors' shapes or CleanRL's names identify; None: 1, for these as in `libraries.build`.
    activation : {"relu", "tanh", "elu", "leakyrelu", "silu", "gelu"} or None
        Function after each layer of a network that its tensors' shapes or CleanRL's names identify; None: "relu".
    atoms, quantiles : int or None
        Numbers that the head of such a network gives each action: C51's atoms or QR-DQN's quantiles.
    actions_last : bool
        Whether that head gives one number of every action, then the next ones, rather than all of an action.
    trust : bool
        Whether code in the file may run.
    fire_pressed : bool
        Whether FIRE may have been pressed in its training, if its file does not state it and its library's wrappers do
        so.

    Attributes
    ----------
    batch_size : int
    sha256 : str
        Checksum of the file when it was read.
    trained_frames : int or None
        As `contents.Contents.trained_frames`.
    action_space, observation_space
        Spaces of the network, if known: a game with others is refused.
    fire_reset : bool
        Whether FIRE was pressed in its training, as far as known.
    assumed : str
        Assumptions about the network that its file does not state; "" if there are none.

    Raises
    ------
    ArcadeMarkError
        If the file has changed, cannot be read, or holds an unknown network; or if a setting does not change how its
        network is played.
    """

    def __init__(
        self,
        env: EnvironmentSpec,
        path: Path,
        sha256: str,
        *,
        batch: Positive = ROWS,
        deterministic: bool = True,
        epsilon: Share = 0.0,
        device: Literal["cpu", "cuda"] = "cpu",
        network: str = "",
        key: str = "",
        scale: AboveZero | None = None,
        activation: Literal["relu", "tanh", "elu", "leakyrelu", "silu", "gelu"] | None = None,
        atoms: Positive | None = None,
        quantiles: Positive | None = None,
        actions_last: bool = False,
        trust: bool = False,
        fire_pressed: bool = True,
    ) -> None:
        place = f"checkpoint {path}"
        check_device(place, device)
        contents, self.sha256 = _read(path, sha256, trust, bool(network), place)
        self.trained_frames = contents.trained_frames(env.frames_per_action)
        assumed = {"scale": scale, "activation": activation, "atoms": atoms, "quantiles": quantiles}
        assumed["actions_last"] = actions_last or None
        played = _network(contents.part(key, place), env, network, assumed, place)
        self.fire_reset, self.assumed = fire_pressed and played.fire_reset, played.assumed
        if not deterministic:
            if played.stochastic is False:
                raise ArcadeMarkError(f"{place}: {VALUES_ALONE}")
            if played.stochastic is None:
                self.assumed = "; ".join(filter(None, (self.assumed, _TAKEN_FOR_LOGITS)))
        super().__init__(played, env, batch=batch, deterministic=deterministic, epsilon=epsilon, device=device)


def player(pattern: str, sha256: str) -> Callable[..., CheckpointPlayer]:
    """Return the factory that plays a pattern's checkpoints; the trial's file has this SHA-256."""

    def checkpoint(env: EnvironmentSpec, **settings: Any) -> CheckpointPlayer:
        return CheckpointPlayer(env, file_of(pattern, env.game, env.seed or 0), sha256, **settings)

    signature = inspect.signature(CheckpointPlayer)
    kept = [one for name, one in signature.parameters.items() if name not in ("path", "sha256")]
    checkpoint.__signature__ = signature.replace(parameters=kept)  # type: ignore[attr-defined]
    return checkpoint


def check(
    label: str,
    requested: Sequence[tuple[Path, EnvironmentSpec]],
    settings: Mapping[str, Any],
) -> list[tuple[str, bool, str]]:
    """Make the network of each file for its game as in a trial, one at a time.

    Returns its SHA-256, whether FIRE was pressed in its training, and the assumptions about it.

    Parameters
    ----------
    label : str
        The agent's, for messages.
    requested : sequence of (Path, EnvironmentSpec)
        Files and the games that they play.
    settings : mapping of str to object
        Parameters of `CheckpointPlayer`.

    Raises
    ------
    ArcadeMarkError
        If one cannot be played. If there are several, the error's notes (``__notes__``) have a line for each.
    """
    check_device(f"agent {label}", "cpu")  # a GPU is checked where it plays, which may be another machine
    import torch

    threads = torch.get_num_threads()
    results, wrong = [], []
    with torch.random.fork_rng(devices=[]):  # the caller's draws are unaffected
        for path, env in requested:
            try:
                network = _tried(path, env, settings)
                results.append((network.sha256, network.fire_reset, network.assumed))
            except ArcadeMarkError as error:
                wrong.append(error)
    torch.set_num_threads(threads)
    if len(wrong) == 1:
        raise wrong[0]
    if wrong:
        of_all = ArcadeMarkError(f"agent {label}: {len(wrong):,} of {len(requested):,} checkpoints cannot be played")
        for one in wrong[:MAX_LISTED]:
            of_all.add_note(str(one))
        if len(wrong) > MAX_LISTED:
            of_all.add_note(f"{len(wrong) - MAX_LISTED:,} more")
        raise of_all
    return results


def _tried(path: Path, env: EnvironmentSpec, settings: Mapping[str, Any]) -> CheckpointPlayer:
    """Make a network, and let it choose an action."""
    place = f"checkpoint {path}"
    network = CheckpointPlayer(env, path, "", **{**settings, "device": "cpu"})
    if settings.get("device", "cpu") != "cpu" and not network._network.uses_gpu:
        raise ArcadeMarkError(f"{place}: ONNX models are computed on the CPU; leave --set device out")
    try:
        check_spaces(network, f"{place} on {env.game}", env)
    except ArcadeMarkError as error:  # what was assumed may be wrong, rather than the protocol
        raise ArcadeMarkError("; ".join(filter(None, (str(error), network.assumed)))) from None
    seen = np.zeros((1, *env.observation_shape), env.observation_dtype)
    try:
        network.act(seen, np.ones(1, np.bool_), [np.random.default_rng(0)])
    except ArcadeMarkError as error:
        raise ArcadeMarkError(f"{place}: {error}") from None
    except (Exception, SystemExit) as error:
        raise ArcadeMarkError(f"{place}: choosing an action in {env.game} raised {where_raised(error)}") from None
    return network


def check_device(place: str, device: str) -> None:
    """Refuse a missing device, in an error that begins with `place`."""
    with needing(f"{place}: needs PyTorch", "deep"):
        import torch
    if device == "cuda" and not torch.cuda.is_available():
        raise ArcadeMarkError(f"{place}: PyTorch finds no CUDA device; leave --set device out")


def _read(path: Path, sha256: str, trust: bool, tensors_only: bool, place: str) -> tuple[Contents, str]:
    """Read a file or folder as `contents.read`, and return its SHA-256, too."""
    if path.is_dir():
        kind = paths.folder_kind(path)
        if not kind:
            raise ArcadeMarkError(
                f"{place}: is a folder; name a file, or a pattern of files such as {path / '{game}-{seed}.zip'}"
            )
        if kind == "rllib" and not trust:
            raise ArcadeMarkError(f"{place}: is a checkpoint of RLlib, which contains pickled objects; {TRUST}")
        _check(digest := paths.checksum(orbax_root(path) or path), sha256, place)
        return Contents("rllib", module=path) if kind == "rllib" else read_folder(path, place), digest
    data = read_bytes(path, MAX_BYTES)
    _check(digest := paths.digest_of(data, path), sha256, place)
    contents = read(data, path, trust, tensors_only)
    return (
        replace(contents, module=whole(data, path, MAX_BYTES // 2)) if contents.format == "onnx" else contents
    ), digest


def _network(
    contents: Contents, env: EnvironmentSpec, network: str, assumed: Mapping[str, Any], place: str
) -> PlayedNetwork:
    """Make the network of a file's contents; `assumed` are arguments of `networks.Assumptions`."""
    from arcademark.agents.checkpoints import foreign, libraries
    from arcademark.agents.checkpoints.networks import Assumptions, refuse_unused

    assumptions, scale = Assumptions(**assumed), assumed["scale"]
    if contents.module is not None:
        refuse_unused(place, "the file brings its own network", network=network, **{**assumed, "scale": None})
        if contents.format == "rllib":
            return foreign.Rllib(contents.module, scale, place)
        scale = scale if scale or isinstance(env.protocol, AtariProtocol) else 1.0
        return (foreign.Onnx if contents.format == "onnx" else foreign.Module)(contents.module, scale, place)
    if not network:
        count = env.num_actions if env.array_actions is None else 0
        return libraries.build(contents, place, num_actions=count, assumptions=assumptions)
    replace(assumptions, scale=None).refuse(place, f"{network} has its own")
    reference = canonical_reference(network)
    try:
        with importable(reference):
            module = load_factory(reference)(env)
        module.load_state_dict(libraries.fitting(contents, [*module.state_dict()], place))
    except ArcadeMarkError:
        raise
    except (Exception, SystemExit) as error:
        raise ArcadeMarkError(f"{place}: its network {network} raised {where_raised(error)}") from error
    return foreign.Module(module, scale or 1.0, place)


def _check(digest: str, expected: str, place: str) -> None:
    if expected and digest != expected:
        raise ArcadeMarkError(
            f"{place}: has changed since the run was planned (sha256 {expected[:12]} then, {digest[:12]} now); put the "
            "file back, or play the new one into another directory"
        )
