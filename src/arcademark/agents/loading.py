"""Loading of agents, from a name or a reference to an agent that is ready to play.

::

    "perturb" ─ agent_specs ─→ 18 × AgentSpec ─ applies? ─→ make_agent(spec, env) ─→ CheckedPolicy | CheckedLearner
    "my_agent.py:make" ──────→  1 × AgentSpec                                        | CheckedTrainer | CheckedPlanner

An `AgentSpec` is pure data, sufficient to make the agent again, in another process or next year.
"""

from __future__ import annotations

import importlib
import inspect
import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path, PurePath
from types import MappingProxyType
from typing import Any, ClassVar, Literal

from arcademark import docstrings, plugins
from arcademark.agents import human
from arcademark.agents.adapters import CheckedPlanner, CheckedPolicy, adapt
from arcademark.agents.base import Kind as Kind
from arcademark.agents.base import kind_by_methods
from arcademark.agents.checkpoints import hub, paths
from arcademark.agents.command import ANSWER_SECONDS, AgentCommand, factory_of_command, read_command
from arcademark.agents.parameters import Parameter, coerce, declared, read_parameters
from arcademark.environments.base import EnvironmentSpec
from arcademark.errors import ArcadeMarkError, UnknownNameError, escaped
from arcademark.importing import (
    canonical_reference,
    factory_of,
    importable,
    is_file,
    load_factory,
    said,
    where_raised,
)
from arcademark.records.manifest import HUMAN
from arcademark.suite.tasks import JOYSTICK_ACTIONS, joystick_action

PLUGINS = "arcademark.agents"
"""The group of entry points by which other packages declare agents."""

LONGEST_NAME = 100
"""Maximum number of characters of an agent's own name."""


@dataclass(frozen=True)
class AgentSpec:
    """An agent with its parameters: a built-in one, or one that is imported.

    Parameters
    ----------
    ref : str
        A built-in agent's name, ``package.module:factory`` or ``/absolute/path/file.py:factory``.
    parameters : mapping of str to JSON value
        Those that differ from the agent's own defaults.
    name : str
        "PPO (ours)"; "" for a label made of the others.
    """

    ref: str
    parameters: Mapping[str, Any] = field(default_factory=dict, hash=False)
    name: str = ""

    _unlabelled: ClassVar[tuple[str, ...]] = ()

    @cached_property
    def label(self) -> str:
        """Short name for people: "random", "const(action=FIRE)", "my_agent.py:make_agent(depth=2)"; or its own."""
        if self.name:
            return self.name
        settings = [(key, v) for key, v in self.parameters.items() if key not in self._unlabelled]
        values = [f"{key}={v if isinstance(v, str) else json.dumps(v)}" for key, v in settings]
        return f"{self._short}({', '.join(values)})" if values else self._short

    @property
    def _short(self) -> str:
        """The label without parameters."""
        source, colon, factory = self.ref.rpartition(":")
        return f"{Path(source).name}:{factory}" if colon and is_file(source) else self.ref

    @property
    def own(self) -> bool:
        """True if it is the user's own code."""
        return ":" in self.ref

    @property
    def code(self) -> str:
        """The reference of its code; that of a built-in agent names no file."""
        return self.ref

    def factory(self) -> Callable[..., Any]:
        """Return the agent's factory; errors as in `agent_specs`."""
        builtin = _BUILTIN.get(self.ref)
        if builtin is None:
            return load_factory(self.ref)
        if builtin.factory is None:
            raise ArcadeMarkError(f"agent {self.ref} is a set; expected one of its members")
        return builtin.factory


@dataclass(frozen=True)
class NetworkSpec(AgentSpec):
    """Trained networks; each trial plays its own file.

    Parameters
    ----------
    ref : str
        The pattern of their files, ``/absolute/path/{game}/{seed}.zip``.
    sha256 : str
        Checksum of the trial's file; "" before it is planned.
    fire_reset : bool
        Whether FIRE was pressed in the training of the trial's network, as far as known.
    assumed : str
        Assumptions about the network that its file does not state; "" if there are none.
    """

    sha256: str = ""
    fire_reset: bool = False
    assumed: str = field(default="", compare=False)

    _unlabelled = ("trust",)
    own = False

    @property
    def _short(self) -> str:
        return paths.short(self.ref)

    @property
    def code(self) -> str:
        """The reference of its network's class, "" for a known one."""
        return str(self.parameters.get("network", ""))

    def factory(self) -> Callable[..., Any]:
        """Return the factory that plays the file of a game and seed."""
        from arcademark.agents.checkpoints.policy import player

        return player(self.ref, self.sha256)


@dataclass(frozen=True)
class CommandSpec(AgentSpec):
    """A program in any language that plays; `ref` is its words, and `command_spec` reads one."""

    command: AgentCommand = field(kw_only=True)
    own = True

    @property
    def _short(self) -> str:
        return self.command.label

    def factory(self) -> Callable[..., Any]:
        """Return the factory that starts the program."""
        return factory_of_command(self.command, self.label, tuple(self.parameters))


@dataclass(frozen=True)
class MadeSpec(AgentSpec):
    """An agent that was made in this process, or a factory; `ref` is the name of its class or function."""

    made: object = field(kw_only=True, hash=False, repr=False)
    own = True

    def factory(self) -> Callable[..., Any]:
        """Return the factory, or one that copies the agent."""
        return factory_of(self.made)


GENERAL = frozenset({"random", "breadth-first", "uct", "ppo", "a2c", "dqn", "qr-dqn", "recurrent-ppo", "sac"})
"""Built-in agents that also play other tasks than Atari games."""


@dataclass(frozen=True)
class BuiltinAgent:
    """A built-in agent, or the set of the agents `members`, which has no factory.

    `place` is its "module:name", for the set "module". It is imported at first use, as compiled features take long to
    import.
    """

    name: str
    place: str

    @cached_property
    def _described(self) -> Any:
        module, _, name = self.place.partition(":")
        loaded = importlib.import_module(f"arcademark.{module}")
        return getattr(loaded, name) if name else loaded

    @property
    def factory(self) -> Callable[..., Any] | None:
        """The agent's factory; for a learner or planner its class."""
        return None if self.members else self._described

    @property
    def members(self) -> tuple[str, ...]:
        """The agents of a set."""
        return () if ":" in self.place else ("random", "const", "perturb")

    @property
    def summary(self) -> str:
        """Summary of its behaviour, in a sentence."""
        return docstrings.summary(self._described)

    @property
    def citation(self) -> str:
        """Its publication."""
        return str(self._described.citation)

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """Parameters that ``--set`` accepts."""
        return declared(self.factory)[0] if self.factory is not None else ()

    @property
    def kind(self) -> Kind | Literal["set"]:
        """Its kind: learners and trainers improve by playing; planners first try actions in a model of the game."""
        return "set" if self.factory is None else kind_of(self.factory, self.name)


_PLACES = {
    "random": "classic.baselines:Random",
    "const": "classic.baselines:Const",
    "perturb": "classic.baselines:Perturb",
    "baselines": "classic.baselines",
    "human": "agents.human:Human",
    "sarsa": "classic.sarsa:Sarsa",
    "breadth-first": "classic.planning.breadth_first:BreadthFirst",
    "uct": "classic.planning.uct:UCT",
    "iw": "classic.planning.iterated_width:IteratedWidth",
    "rollout-iw": "classic.planning.rollout_iw:RolloutIW",
    "go-explore": "classic.planning.go_explore:GoExplore",
    "best-path": "classic.planning.best_path:BestPath",
    "ppo": "agents.trainers.stable_baselines:PPO",
    "a2c": "agents.trainers.stable_baselines:A2C",
    "dqn": "agents.trainers.stable_baselines:DQN",
    "qr-dqn": "agents.trainers.stable_baselines:QRDQN",
    "recurrent-ppo": "agents.trainers.stable_baselines:RecurrentPPO",
    "sac": "agents.trainers.stable_baselines:SAC",
}
_BUILTIN = {name: BuiltinAgent(name, place) for name, place in _PLACES.items()}


def builtin_agents() -> Mapping[str, BuiltinAgent]:
    """Return the agents that come with the package, by name."""
    return MappingProxyType(_BUILTIN)


def agent_specs(ref: str, settings: Mapping[str, object] | None = None) -> tuple[AgentSpec, ...]:
    """Return the agents of a reference: 18 for "const" or "perturb" without an action, 37 for "baselines".

    Parameters
    ----------
    ref : str
        A built-in agent, ``package.module:factory``, ``path/to/file.py:factory``, a checkpoint or pattern of them,
        ``models/{game}/seed{seed}.zip``, a model of the Hugging Face Hub, ``hf:OWNER/NAME``, or the name of an agent
        that another package declares.
    settings : mapping of str to object
        The agent's own parameters, as text (``--set depth=2``) or as values.

    Raises
    ------
    ArcadeMarkError
        If there is no such agent or parameter, an own agent cannot be loaded, its class has only some of a learner's
        methods, or a parameter is wrong or missing.
    """
    settings = dict(settings or {})
    if ref == HUMAN:
        raise ArcadeMarkError(human.PLAYS)
    if ref in _BUILTIN:
        return _builtin_specs(_BUILTIN[ref], settings)
    if ref.startswith(hub.PREFIX):
        ref = hub.file_of(ref)
    if paths.is_checkpoint(ref):
        return (_with(NetworkSpec(paths.canonical_pattern(ref)), settings),)
    return (_with(AgentSpec(own_reference(ref)), settings),)


def _with(
    spec: AgentSpec, settings: Mapping[str, object] | None, factory: Callable[..., Any] | None = None
) -> AgentSpec:
    factory = factory or spec.factory()
    kind_of(factory, spec.label)
    return replace(spec, parameters=read_parameters(f"agent {spec.label}", declared(factory)[0], settings or {}))


def own_reference(ref: str) -> str:
    """Return the canonical reference of a user's agent, or of a name that an installed package declares.

    ArcadeMarkError: there is no such name, or its object cannot be imported.
    """
    if ":" in ref or ref.endswith(".py"):
        return canonical_reference(ref)
    if plugins.named(PLUGINS, ref) is None:
        ours = [*_BUILTIN, *plugins.names(PLUGINS)]
        raise UnknownNameError("agent", ref, [*ours, "path/to/file.py:factory", "package.module:factory"])
    return str(plugins.place(PLUGINS, ref))


def command_spec(
    command: str, settings: Mapping[str, object] | None = None, timeout: float = ANSWER_SECONDS
) -> AgentSpec:
    """Return the agent that a command starts, a program in any language that speaks the protocol of docs/messages.md.

    Parameters
    ----------
    command : str
        ``"./my_agent --fast"``; split into words as a shell does, and run without one.
    settings : mapping of str to object
        The agent's own parameters, which are sent to it.
    timeout : float
        Seconds that an answer of the program may take.

    Raises
    ------
    ArcadeMarkError
        As in `read_command`, or if a parameter's name is not an identifier.
    """
    read = read_command(command, timeout)
    if wrong := next((name for name in settings or {} if not name.isidentifier()), None):
        raise ArcadeMarkError(f"agent {read.label}: parameter {wrong!r}: expected a name of letters, digits and _")
    spec = CommandSpec(shlex.join(read.words), command=read)
    return _with(spec, settings, factory_of_command(read, read.label, tuple(settings or {})))


def made_spec(made: object, settings: Mapping[str, object] | None = None) -> AgentSpec:
    """Return the spec of an agent that was made in this process, or of a factory with its settings; errors as above."""
    factory_of(made)  # raises if it is not an agent
    return _with(MadeSpec(getattr(made, "__name__", None) or type(made).__name__, made=made), settings)


def named(specs: Sequence[AgentSpec], name: str) -> tuple[AgentSpec, ...]:
    """Give the only agent a name of visible characters; ArcadeMarkError if there are several."""
    if len(specs) > 1:
        raise ArcadeMarkError(f"--name {escaped(name)}: names one agent, and these are {len(specs)}; leave it out")
    if not name.strip() or len(name) > LONGEST_NAME or escaped(name) != name:
        raise ArcadeMarkError(
            f"--name {escaped(name)[:LONGEST_NAME]!r}: expected up to {LONGEST_NAME} visible characters"
        )
    return tuple(replace(spec, name=name.strip()) for spec in specs)


def applies(spec: AgentSpec, env: EnvironmentSpec) -> str | None:
    """Return why an agent does not play a game, None if it does; a plan leaves such trials out, with the reason.

    A factory may carry a function ``supports(env, **parameters)`` that returns the reason or None.
    """
    if env.protocol.unit == "step" and spec.ref in builtin_agents() and spec.ref not in GENERAL:
        return f"it plays Atari games only; of ours {', '.join(sorted(GENERAL))} play other tasks"
    factory = spec.factory()
    supports = getattr(factory, "supports", None)
    if supports is None:
        return None
    try:
        reason = supports(env, **_arguments(spec, factory))
    except ArcadeMarkError:
        raise
    except (Exception, SystemExit) as error:
        raise ArcadeMarkError(f"agent {spec.label}: supports raised {where_raised(error)}") from error
    return None if reason is None else said(str, reason)


def all_parameters(spec: AgentSpec) -> dict[str, Any]:
    """Return an agent's parameters as JSON values, including defaults."""
    parameters, _ = declared(spec.factory())
    defaults = {p.name: str(p.default) if isinstance(p.default, PurePath) else p.default for p in parameters}
    return defaults | dict(spec.parameters)


def names_seed(spec: AgentSpec) -> bool:
    """Return True if a parameter, or a word of its command, names the trial's seed, as in "model-{seed}.pt".

    Each seed of such an agent is a separate training, whose file it opens.
    """
    words = spec.command.words if isinstance(spec, CommandSpec) else ()
    return any("{seed}" in word for word in (*map(str, all_parameters(spec).values()), *words))


def kind(spec: AgentSpec) -> Kind:
    """Return the kind of an agent before it is made; as `kind_of`."""
    return "policy" if isinstance(spec, NetworkSpec) else kind_of(spec.factory(), spec.label)


def kind_of(factory: Callable[..., Any], name: str) -> Kind:
    """Return the kind of a factory's agents if its class shows it, otherwise "function".

    `name` is the agent's, for messages. ArcadeMarkError: its class has only some of a learner's methods.
    """
    if not inspect.isclass(factory) or hasattr(factory, "__getattr__"):
        return "function"
    kind = kind_by_methods(factory, name)
    return "policy" if kind == "function" and inspect.isfunction(factory.__call__) else kind


def make_agent(spec: AgentSpec, env: EnvironmentSpec) -> CheckedPolicy | CheckedPlanner:
    """Make the agent for one game, adapted and checked.

    ArcadeMarkError: it cannot be loaded, does not play this game, or its factory raises or does not return an agent.
    """
    if reason := applies(spec, env):
        raise ArcadeMarkError(f"agent {spec.label} does not play this game: {reason}")
    factory = spec.factory()
    first = (env,) if declared(factory)[1] else ()
    try:
        with importable(spec.ref):
            agent = factory(*first, **_arguments(spec, factory))
    except ArcadeMarkError:
        raise
    except (Exception, SystemExit) as error:
        raise ArcadeMarkError(f"agent {spec.label} on {env.game}: its factory raised {where_raised(error)}") from error
    return adapt(agent, spec.label, env)


def with_checkpoints(spec: NetworkSpec, games: Sequence[EnvironmentSpec]) -> Mapping[tuple[str, int], NetworkSpec]:
    """Return the agent of each trial of a trained network, by game and seed, with the facts of its file.

    ArcadeMarkError: files are missing, or one of them cannot be played in its game.
    """
    from arcademark.agents.checkpoints import policy

    files = paths.files_of(spec.ref, [(env.game, env.seed or 0) for env in games])
    envs = {(files[env.game, env.seed or 0], env.game): env for env in games}
    wanted = [(path, env) for (path, _), env in envs.items()]
    tried = policy.check(spec.label, wanted, _arguments(spec, spec.factory()))
    agents = {
        place: replace(spec, sha256=sha256, fire_reset=fire_reset, assumed=assumed)
        for place, (sha256, fire_reset, assumed) in zip(envs, tried, strict=True)
    }
    return {(game, seed): agents[path, game] for (game, seed), path in files.items()}


def _builtin_specs(agent: BuiltinAgent, settings: dict[str, object]) -> tuple[AgentSpec, ...]:
    if agent.factory is None:
        if settings:
            wrong = ", ".join(settings)
            raise ArcadeMarkError(
                f"agent {agent.name} is a set and has no parameters; set {wrong} on one of its members"
            )
        return tuple(spec for name in agent.members for spec in _builtin_specs(_BUILTIN[name], {}))
    variants: list[dict[str, object]] = [settings]
    if "action" in [parameter.name for parameter in agent.parameters]:
        chosen = settings.get("action")
        actions = JOYSTICK_ACTIONS if chosen is None else (joystick_action(str(chosen)),)
        variants = [{**settings, "action": action} for action in actions]
    return tuple(
        AgentSpec(agent.name, read_parameters(f"agent {agent.name}", agent.parameters, one)) for one in variants
    )


def _arguments(spec: AgentSpec, factory: Callable[..., Any]) -> dict[str, Any]:
    parameters, _ = declared(factory)
    read = read_parameters(f"agent {spec.label}", parameters, spec.parameters)
    return {p.name: coerce(read[p.name], p.annotation) for p in parameters if p.name in read}
