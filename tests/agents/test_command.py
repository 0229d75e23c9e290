import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from arcademark.agents.loading import command_spec, make_agent
from arcademark.analysis.scoring.analysis import analyse
from arcademark.environments.interfaces.wire import Shared
from arcademark.errors import ArcadeMarkError
from arcademark.records.reading import read_run
from arcademark.runs.execution import execute
from arcademark.runs.plan import make_plan
from arcademark.runs.replay.verify import verify
from arcademark.suite.protocols import protocol, step_protocol
from arcademark.suite.task_suites import load_suite
from arcademark.testing import check_agent

EXAMPLES = Path(__file__).parents[2] / "examples"
PROGRAMS = Path(__file__).with_name("programs.py")
SHORT = protocol("world-records").override({"max_frames_per_episode": 200})


@pytest.fixture(scope="session")
def c_agent(tmp_path_factory):
    if (compiler := shutil.which("cc")) is None:
        pytest.skip("there is no C compiler")
    program = tmp_path_factory.mktemp("c") / "agent"
    options = ["-O3", "-Wall", "-Wextra", "-Werror"]
    subprocess.run([compiler, *options, "-o", program, EXAMPLES / "agent.c"], check=True)
    return program


@pytest.fixture
def node():
    if (program := shutil.which("node")) is None:
        pytest.skip("node is not installed")
    return program


def program(kind, *arguments, timeout=5.0):
    return command_spec(shlex.join([sys.executable, str(PROGRAMS), kind, *map(str, arguments)]), timeout=timeout)


def act(agent, env, steps=4):
    for step in range(steps):
        agent.act(np.zeros((1, *env.observation_shape), np.uint8), np.array([step == 0]), [np.random.default_rng(0)])


def gone(*processes):
    """Wait until processes have ended; one that nobody has waited for yet counts."""

    def states():
        for number in processes:
            found = subprocess.run(
                ["ps", "-o", "stat=", "-p", str(number)], capture_output=True, text=True, check=False
            )
            yield found.stdout.strip()[:1] in ("", "Z")

    for _ in range(100):
        if all(states()):
            return True
        time.sleep(0.05)
    return False


@pytest.mark.parametrize("shape", [(4, 84, 84), (128,)])
@pytest.mark.parametrize("option", ["", "--pipes"])
def test_the_c_agent_conforms(shape, option, c_agent, make_env):
    env = make_env(shape=shape)
    spec = command_spec(f"{c_agent} --batch 6 {option}")
    check_agent(lambda: make_agent(spec, env), env, np.random.default_rng(0))


def test_the_python_program_conforms(env):
    spec = command_spec(f"{sys.executable} {EXAMPLES / 'agent.py'}")
    agent = make_agent(spec, env)
    assert agent.batch_size == 4
    check_agent(lambda: make_agent(spec, env), env, np.random.default_rng(0))


@pytest.mark.slow
def test_a_program_plays_the_same_episodes_however_it_is_told(c_agent, tmp_path, rows):
    plan = make_plan(
        [command_spec(f"{c_agent} --batch 3"), command_spec(f"{c_agent} --pipes")], ["toy", "pong"], SHORT, episodes=4
    )
    assert execute(plan, tmp_path / "run", workers=2).complete
    assert verify(tmp_path / "run", workers=1).confirmed == 16
    of_trial = {trial.id: trial for trial in plan.trials}
    played = {spec.label: {} for spec in plan.agents}
    for trial_id, _, episode, *what in rows(tmp_path / "run")["episode"]:
        played[of_trial[trial_id].agent.label][of_trial[trial_id].game, episode] = what  # with the actions
    mapped, piped = played.values()
    assert mapped == piped
    assert len({str(what) for what in mapped.values()}) == 8


@pytest.mark.slow
def test_a_program_plays_other_tasks(tmp_path):
    suite = "gymnasium:CartPole-v1,Pendulum-v1,Blackjack-v1"
    rules = step_protocol(load_suite(suite)).override({"max_steps_per_episode": 30})
    plan = make_plan(program("plays"), list(rules.suite.tasks), rules, episodes=2)
    assert execute(plan, tmp_path / "run", workers=1).complete
    assert verify(tmp_path / "run", workers=1, suite=suite).confirmed == 6


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ("garbage", "its first message is 'Loading weights'; expected a message 'agent' and nothing else on its"),
        ("dead", r"it ended \(exit code 1\) before its first message; its standard error ends with: no GPU\\x1b\[31m"),
        ("newer", "it speaks version 2 of the protocol; expected 1"),
        ("typo", "its answer to 'hello' is ill-formed .*unknown field `batchsize`"),
        ("refuses", r"it reports: no such\\nparameter \\x1b$"),
        ("count", r"act returned an array of shape \(2,\); expected \(1,\)"),
        ("range", "act chose action 99; expected 0 to 17"),
        ("float", "act returned float64 actions; expected integers"),
        ("ragged", "its actions are lists of different lengths; expected one array per row"),
        ("huge", "act returned object actions; expected integers"),
        ("twice", "it sent more than its answer to 'act'"),
        ("other", "its answer to 'act' is a message 'done'; expected 'actions'"),
        ("flood", "its answer to 'act' is a line of more than 1,048,576 bytes"),
        ("crash", r"it ended \(SIGSEGV\) before its answer to 'act'"),
        ("orphan", r"it ended \(exit code 4\) before its answer to 'act'"),
    ],
)
def test_what_a_program_does_wrong_is_told_in_one_line(kind, error, env):
    with pytest.raises(ArcadeMarkError, match=f"^agent .*programs.py {kind} on pong: {error}") as raised:
        act(make_agent(program(kind), env), env)
    assert str(raised.value).isprintable()


@pytest.mark.parametrize("kind", ["silent", "late", "deaf", "errors"])
def test_a_program_that_does_not_answer_is_given_up(kind, env):
    with pytest.raises(ArcadeMarkError, match=r"did not come within 0.5 s; more: --engine answer_seconds=N"):
        act(make_agent(program(kind, timeout=0.5), env), env)


def test_a_program_that_was_ended_is_not_asked_again(env):
    agent = make_agent(program("other"), env)
    for error in ("expected 'actions'", "it was ended earlier"):
        with pytest.raises(ArcadeMarkError, match=error):
            act(agent, env)


@pytest.mark.parametrize(
    ("command", "error"),
    [
        ("", "expected a program"),
        ("./agent 'x", "No closing quotation; close its quotes"),
        ("no-such-program --fast", "no-such-program: no such program; check its path"),
        (f"{PROGRAMS}", "not executable; make it executable, or name what runs it"),
        ("true \x1b[31m", "expected a program"),
    ],
)
def test_commands_that_cannot_be_started(command, error):
    with pytest.raises(ArcadeMarkError, match=error):
        command_spec(command)


@pytest.mark.slow
def test_an_agent_that_is_dropped_ends_with_what_it_started(tmp_path, env):
    agent = make_agent(program("family", tmp_path / "told", timeout=1.0), env)
    running = agent.policy._program._process.pid
    with pytest.raises(ArcadeMarkError, match="did not come within 1 s"):
        act(agent, env)
    told = list(map(int, (tmp_path / "told").read_text().split()))
    assert told[0] == running
    assert gone(*told)
    assert agent.policy._program._process.returncode == -signal.SIGKILL
    quiet = make_agent(program("fine"), env)
    process = quiet.policy._program._process
    process.terminate()  # as batch systems do to all processes
    act(quiet, env, 1)
    del quiet
    assert process.returncode == 0  # it ended as its standard input did


@pytest.mark.slow
def test_a_program_ends_with_the_process_that_plays_it(tmp_path, env):
    code = (
        "import sys; sys.path[:0] = sys.argv[1:3]; import test_command, conftest; env = conftest.make_spec(); "
        "test_command.act(test_command.make_agent(test_command.program('family', sys.argv[3], timeout=100), env), env)"
    )
    here, told = Path(__file__).parent, tmp_path / "told"
    arguments = [sys.executable, "-c", code, str(here), str(here), str(told)]
    with subprocess.Popen(arguments, stderr=subprocess.DEVNULL) as player:
        for _ in range(600):
            if told.exists() and told.read_text().endswith("\n"):
                break
            time.sleep(0.05)
        player.send_signal(signal.SIGKILL)
    assert gone(*map(int, told.read_text().split()))


def test_shared_memory_has_a_name_until_it_is_taken_away():
    (made := Shared()).rows(2, (3, 4), "uint8")
    assert os.path.exists(made.path)
    made.unlink()
    made.unlink()
    assert not os.path.exists(made.path)
    with pytest.raises(ArcadeMarkError, match=r"no room for .* bytes of observations; take them as bytes"):
        (made := Shared()).rows(2**50, (84, 84), "uint8")
    made.unlink()


@pytest.mark.slow
def test_a_recorded_command_is_never_started(tmp_path):
    marker = tmp_path / "marker"
    (copy := tmp_path / "agent.py").write_text(PROGRAMS.read_text())
    spec = command_spec(f"{sys.executable} {copy} marker {marker}")
    plan = make_plan(spec, ["toy"], SHORT, episodes=1)
    assert execute(plan, tmp_path / "run", workers=1).complete
    marker.unlink()
    assert verify(tmp_path / "run", workers=1).confirmed == 1
    analyse(tmp_path / "run")
    with pytest.raises(ArcadeMarkError, match=r"another run: agents: python.* agent.py marker .* there, random now"):
        execute(make_plan("random", ["toy"], SHORT, episodes=2), tmp_path / "run", workers=1)
    assert not marker.exists()
    copy.write_text(PROGRAMS.read_text() + "\n")
    with pytest.raises(ArcadeMarkError, match=r"file of .*agent.py.* there, .* now"):
        execute(make_plan(spec, ["toy"], SHORT, episodes=2), tmp_path / "run", workers=1)
    copy.write_text(PROGRAMS.read_text())
    assert execute(make_plan(spec, ["toy"], SHORT, episodes=2), tmp_path / "run", workers=1).complete
    assert marker.read_text() == "started\n"


def test_a_learner_in_javascript_trains(node, tmp_path):
    spec = command_spec(f"{node} {EXAMPLES / 'agent.js'}", {"exploration": 0.5})
    rules = protocol("ale-2013").override({"max_frames_per_episode": 200})
    plan = make_plan(spec, ["toy"], rules, episodes=1, training_episodes=2)
    assert execute(plan, tmp_path / "run", workers=1).complete
    assert [row.phase for row in read_run(tmp_path / "run").episodes].count("training") == 2
    assert verify(tmp_path / "run", workers=1).confirmed == 3
