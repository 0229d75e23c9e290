"""SARSA(λ) with linear action values, as in Bellemare et al. 2013, §3.1.

The value of an action is a sum of weights, one for each active feature; replacing traces propagate updates back in time
 (Sutton and Barto 1998, §8.4). One step, in state s where action a was chosen, gave reward r and s'::

    choose a' ε-greedily by the values of s'
    δ = r + γ Q(s', a') - Q(s, a)          at an episode's end: δ = r - Q(s, a)
    traces decay by γλ and are dropped below the threshold; those of (features of s, a) become the features' values
    w ← w + α / (maximum number of active features so far) · δ · traces

Where sources leave details open, or differ:

* *Ties.* Actions of equal greatest value have equal probabilities.
* *Counts* make larger steps than bits: a value changes by the sum of their squares, which is used instead of the number
  of active features (it equals that number for bits). With the number, the weights diverge in Asterix.
* *Replacing traces* of an action do not clear those of other actions in the same features.
* *The frame cap* ends an episode like any other end, with a future value of 0: according to the paper, an episode
  "terminates" at the end of the game or after 18,000 frames, whichever comes first.
* *Rewards* are divided by the magnitude of the first nonzero reward of the whole training. With initial weights of 0,
  all values scale with the rewards, so this affects only the magnitude of weights and values, but no decision.
* *Other parameters*: see `arcademark.suite.learners`, which documents the source of each.

Weights are updated by `linear.binary` for binary features (a step costs only the changed ones), and by `linear.counted`
for counts.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcademark.agents.base import Actions, Flags, Generators, Observations, Transition
from arcademark.agents.parameters import Parameter, declared
from arcademark.classic.features.base import BinaryFeatures, Features
from arcademark.classic.features.registry import check_parameters, feature_set, make_features
from arcademark.classic.linear import saved
from arcademark.classic.linear.binary import BinaryValues
from arcademark.classic.linear.counted import CountedValues
from arcademark.classic.linear.settings import LearningSettings, read_settings
from arcademark.environments.base import AskedObservation, EnvironmentSpec
from arcademark.environments.registry import as_asked
from arcademark.errors import ArcadeMarkError
from arcademark.suite.learners import NAME


def _signature() -> inspect.Signature:
    """Return the parameters of learning and those of each feature set, with None for the set's default."""
    parameters = {parameter.name: parameter for parameter in declared(LearningSettings)[0]}
    for features in ("basic", "blob-prost", "lsh", "disco"):  # the others have no parameters of their own
        for parameter in declared(feature_set(features).factory)[0]:
            parameters.setdefault(parameter.name, Parameter(parameter.name, parameter.annotation | None, None))
    keywords = [
        inspect.Parameter(one.name, inspect.Parameter.KEYWORD_ONLY, default=one.default, annotation=one.annotation)
        for one in parameters.values()
    ]
    env = inspect.Parameter("env", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation="EnvironmentSpec")
    return inspect.Signature([env, *keywords])


class Sarsa:
    """Learns: SARSA(λ) with linear values of features of the screen or the memory.

    Parameters
    ----------
    env : EnvironmentSpec
        The game to be played. The agent requests the observations of its features, regardless of the protocol.
    features : str
        Name of the feature set; ``arcademark info features`` lists them.
    alpha : float or None
        Step size, before the division by the maximum number of active features. None for 0.5,
        for basic 0.1, for lsh 0.2, for bass, disco and ram 1.0: the paper's is not known.
    alpha_schedule : {"constant", "linear"} or None
        Keep alpha, or multiply it before each training episode by the remaining share of the training budget. None for
        constant, for the paper's five sets linear.
    lambda_ : float or None
        Decay of traces. None for 0.9, for ram-bits 0.5: the paper's are not known.
    gamma : float or None
        Discount per step. None for 0.999, for the B-PROS family 0.99.
    epsilon : float or None
        Probability of a random action in training. None for 0.05, for the B-PROS family 0.01.
    evaluation_epsilon : float or None
        The same in evaluation. None for the value of `epsilon`: the paper does not specify it.
    trace_threshold : float
        Traces below it are dropped.
    rows, columns, colours, background, background_screens, trajectory
        Parameters of several feature sets, see ``arcademark info features basic``; None for the set's default.
    proximity
        Parameter of the feature set blob-prost, see ``arcademark info features blob-prost``; None for its default.
    vectors, nonzero, table_size, hash_seed, encoding
        Parameters of the feature set lsh, see ``arcademark info features lsh``; None for its defaults.
    class_screens, max_classes, min_frequency, min_extent, max_velocity, max_instances, tilings, grid
        Parameters of the feature set disco, see ``arcademark info features disco``; None for its defaults.

    Raises
    ------
    ArcadeMarkError
        If the feature set is unknown, or a parameter is out of range or not one of the set's.
    """

    citation = "Bellemare et al. 2013, §3.1 and Appendix A"

    batch_size = 1
    checkpoint_frames = 1_000_000

    __signature__ = _signature()

    def __init__(self, env: EnvironmentSpec, **parameters: Any) -> None:
        self.settings, self._feature_parameters = read_settings(**parameters)
        self.observation: AskedObservation = feature_set(self.settings.features).observed
        self._env = as_asked(env, self.observation)
        self._num_actions = env.num_actions
        self._features = self._make_features()
        kind: Any = BinaryValues if isinstance(self._features, BinaryFeatures) else CountedValues
        decay = self.settings.gamma * self.settings.lambda_
        self._values = kind(self._features.num_features, env.num_actions, decay, self.settings.trace_threshold)
        self._readers: list[_Reader] = []
        self._training = False
        self._playing = False
        self._action: int | None = None
        self._most_active = 0
        self._scale: float | None = None
        self._alpha = self.settings.alpha
        self._episodes = self._steps = 0

    @classmethod
    def supports(cls, env: EnvironmentSpec, **parameters: Any) -> None:
        """Support every game; ArcadeMarkError if a parameter is out of range, or not one of the feature set's."""
        settings, of_features = read_settings(**parameters)
        check_parameters(settings.features, as_asked(env, feature_set(settings.features).observed), of_features)

    def act(self, observations: Observations, first: Flags, rngs: Generators) -> Actions:
        """Choose an action for each episode: in training the choice of `learn`, except for an episode's first."""
        if self._training:
            return np.array([self._act_in_training(observations[0], bool(first[0]), rngs[0])])
        while len(self._readers) < len(first):
            self._readers.append(_Reader(self._make_features(), np.zeros(self._num_actions)))
        chosen = []
        for reader, observation, begins, rng in zip(self._readers, observations, first, rngs, strict=False):
            self._values.read(reader.see(observation, bool(begins)), reader.values)
            chosen.append(choose(reader.values.tolist(), self.settings.evaluation_epsilon, rng))
        self.action_values = [reader.values for reader in self._readers[: len(first)]]
        return np.array(chosen)

    def _act_in_training(self, observation: Observations, first: bool, rng: np.random.Generator) -> int:
        if first or self._action is None:
            self._end()
            self._values.see(_seen(self._features, observation, True))
            self._playing = True
            self._action = choose(self._values.values.tolist(), self.settings.epsilon, rng)
        return self._action

    def train(self) -> None:
        """Explore and learn from now on."""
        self._training = True

    def set_progress(self, share: float) -> None:
        """Set the step size of the schedule after this share of training."""
        if self.settings.alpha_schedule == "linear":
            self._alpha = self.settings.alpha * (1 - share)

    def evaluate(self) -> None:
        """Stop learning from now on."""
        self._end()
        self._training = False

    def learn(self, transition: Transition, rng: np.random.Generator) -> None:
        """Learn from one step, and choose the next action; ArcadeMarkError if the weights diverge."""
        values, settings = self._values, self.settings
        self._most_active = max(self._most_active, values.num_active)
        expected = float(values.values[transition.action])
        values.take(transition.action)
        error = self._scaled(transition.reward) - expected
        ended = transition.terminated or transition.truncated
        if not ended:
            values.see(_seen(self._features, transition.next_observation, False))
            ahead: list[float] = values.values.tolist()
            self._action = choose(ahead, settings.epsilon, rng)
            error += settings.gamma * ahead[self._action]
        if not math.isfinite(error):
            raise ArcadeMarkError(
                f"agent {NAME} on {self._env.game}: its weights grew beyond all bounds; lower alpha, {settings.alpha:g}"
            )
        values.update(self._alpha / max(self._most_active, 1) * error)
        self._steps += 1
        if ended:
            self._episodes += 1
            self._end()

    def _scaled(self, reward: float) -> float:
        if self._scale is None and reward != 0.0:
            self._scale = abs(reward)
        return reward if self._scale is None else reward / self._scale

    def _end(self) -> None:
        if self._playing:
            self._values.end()
        self._playing = False
        self._action = None

    def checkpoint(self) -> bytes:
        """Return the weights and the other state of learning; there are no traces between episodes."""
        return saved.pack(self._header(), self._values.weights, self._values.features)

    def restore(self, checkpoint: bytes) -> None:
        """Restore a checkpoint; ArcadeMarkError if it is damaged, or of other features or actions."""
        self._end()
        try:
            header, features, weights = saved.unpack(checkpoint, self._header(), self._values.weights)
            self._values.restore(features, weights)
        except ValueError as error:
            raise ArcadeMarkError(
                f"agent {NAME} on {self._env.game}: the checkpoint cannot be used ({error}); train again"
            ) from None
        self._most_active, self._episodes, self._steps = header.most_active, header.episodes, header.steps
        self._scale = header.reward_scale

    def _header(self) -> saved.Header:
        """Return the state without the weights, and without the path of a trajectory, which may have been moved."""
        return saved.Header(
            features=self.settings.features,
            feature_parameters={name: v for name, v in self._feature_parameters.items() if name != "trajectory"},
            num_features=self._features.num_features,
            num_actions=self._num_actions,
            most_active=self._most_active,
            reward_scale=self._scale,
            episodes=self._episodes,
            steps=self._steps,
        )

    def _make_features(self) -> Features:
        return make_features(self.settings.features, self._env, self._feature_parameters)


class _Reader(NamedTuple):
    """Features of an evaluation episode, and the values of its last observation."""

    features: Features
    values: NDArray[np.float64]

    def see(self, observation: Observations, first: bool) -> Any:
        """Return the features' values, or their changes; `first` if an episode begins."""
        if first:
            self.values[:] = 0
        return _seen(self.features, observation, first)


def _seen(features: Any, observation: Observations, first: bool) -> Any:
    """Return features' values, or their changes, for an observation; `first` if an episode begins with it."""
    if first:
        features.begin()
    return (features.update if hasattr(features, "update") else features.count)(observation)


def choose(values: Sequence[float], epsilon: float, rng: np.random.Generator) -> int:
    """Choose ε-greedily; equal greatest values have equal probabilities.

    One number is drawn from `rng`, and another one to explore or to break a tie.
    """
    if rng.random() < epsilon:
        return int(rng.integers(len(values)))
    greatest = max(values)
    if values.count(greatest) < 2:
        return values.index(greatest)
    best = [action for action, value in enumerate(values) if value == greatest]
    return best[int(rng.integers(len(best)))]
