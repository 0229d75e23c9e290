import numpy as np
import pytest

from arcademark.classic.features import samples
from arcademark.classic.features.samples import read_trajectory, sample_screens, sampling_key
from arcademark.environments.registry import open_environment
from arcademark.errors import ArcadeMarkError


def screens_of(env, count, trajectory=None, seed=0):
    return np.array([screen.copy() for screen in sample_screens(env, count, trajectory, np.random.default_rng(seed))])


def write(path, actions):
    path.write_text("".join(f"{action}\n" for action in actions))
    return str(path)


def test_a_screen_a_frame_through_the_ends_of_episodes(make_env):
    """The toy game by hand: every action is held for 5 frames, and a game that is over begins again."""
    env = make_env("toy")
    spec = make_env("toy", observation="palette", frame_skip=1)
    game, expected = open_environment(spec), []
    rng = np.random.default_rng(7)
    ends = 0
    while len(expected) < 400:
        game_rng, action_rng = rng.spawn(2)
        game.reset(game_rng)
        action_rng.integers(1)  # the length of no trajectory
        ended = False
        while not ended:
            action = action_rng.integers(18)
            for _ in range(5):
                ended = game.step(int(action)).terminated
                screen = np.empty((8, 8), np.uint8)
                game.observe(screen)
                expected.append(screen)
                if ended:
                    ends += 1
                    break
    assert ends > 3
    np.testing.assert_array_equal(screens_of(env, 400, seed=7), expected[:400])


def test_a_trajectory_is_followed_for_a_uniformly_random_number_of_steps():
    """The trajectory's action is none that random play chooses."""
    rng = np.random.default_rng(0)
    lengths = []
    for _ in range(400):
        actions = samples._actions((99,) * 9, 18, rng)
        lengths.append(next(n for n, action in enumerate(actions) if action != 99))
    counts = np.bincount(lengths, minlength=10)
    assert counts.size == 10
    assert counts.min() > 15
    assert counts.max() < 70


def test_the_screens_are_those_of_the_trajectory(make_env, tmp_path):
    env = make_env("freeway")
    trajectory = write(tmp_path / "up", [2] * 400)
    game = open_environment(make_env("freeway", observation="palette", frame_skip=1))
    game.reset(np.random.default_rng(0))
    expected = np.empty((60, 210, 160), np.uint8)
    for screen in expected:
        game.step(2)
        game.observe(screen)
    seed = next(s for s in range(99) if np.random.default_rng(s).spawn(2)[1].integers(401) >= 12)
    np.testing.assert_array_equal(screens_of(env, 60, trajectory, seed), expected)
    assert (screens_of(env, 60, None, seed) != expected).any()


def test_comments_and_empty_lines(make_env, tmp_path):
    path = tmp_path / "actions.txt"
    path.write_text("# a title\n\n 3 \n0# nothing\n\t17\r\n#\n")
    assert read_trajectory(str(path), make_env("pong")) == (3, 0, 17)


WRONG = ("18", "-1", "1.0", "1 2", "FIRE", "²", "+1")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        *(
            (f"0\n# comment\n{line} # bad\n1\n".encode(), f"line 3: '{line}' is not an action of 'pong'")
            for line in WRONG
        ),
        (b"0\n" + b"9" * 5000, f"line 2: '{'9' * 100}"),
        (b"# nothing\n", "has no action"),
        (b"\xff\xfe\x00", "not UTF-8 text"),
    ],
)
def test_files_that_are_no_trajectory(make_env, tmp_path, content, message):
    path = tmp_path / "actions.txt"
    path.write_bytes(content)
    with pytest.raises(ArcadeMarkError) as error:
        sample_screens(make_env("pong"), 5, str(path), np.random.default_rng(0))
    assert str(path) in str(error.value)
    assert message in str(error.value)


def test_the_key_says_all_that_matters_and_nothing_else(make_env, tmp_path):
    one, same = write(tmp_path / "one", [1, 2]), write(tmp_path / "same", ["# the same", "1 # up", 2])
    other = write(tmp_path / "other", [12])
    base = sampling_key(make_env("pong"), 10, one, 0)
    assert base == sampling_key(make_env("pong", observation="ram"), 10, same, 0)
    others = [
        sampling_key(make_env("pong"), 11, one, 0),
        sampling_key(make_env("pong"), 10, one, 1),
        sampling_key(make_env("pong"), 10, other, 0),
        sampling_key(make_env("pong"), 10, None, 0),
        sampling_key(make_env("breakout"), 10, one, 0),
        sampling_key(make_env("pong", action_set="minimal"), 10, one, 0),
        sampling_key(make_env("pong", frame_skip=4), 10, one, 0),
        sampling_key(make_env("pong", colours="inverted"), 10, one, 0),
        sampling_key(make_env("pong", modification="opponent_still"), 10, one, 0),
        sampling_key(make_env("pong", repeat_action_probability=0.25), 10, one, 0),
        sampling_key(make_env("pong", mode=1), 10, one, 0),
    ]
    texts = {repr(sorted(key.items())) for key in (base, *others)}
    assert len(texts) == 12
