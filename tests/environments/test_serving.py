import os
import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import msgspec
import numpy as np
import pytest

import arcademark
from arcademark.environments.base import ArrayActions, EnvironmentSpec
from arcademark.environments.interfaces.serving import Server
from arcademark.environments.interfaces.wire import (
    Message,
    NoMessageError,
    Wire,
    action_space,
    observation_space,
    sent,
)
from arcademark.errors import ArcadeMarkError
from arcademark.suite.protocols import step_protocol
from arcademark.suite.task_suites import load_suite

EXAMPLES = Path(__file__).parents[2] / "examples"
SHORT = {"max_frames_per_episode": 40}


class Program:
    """A training program, in this process; `served` has the error that the server ended with, if any."""

    def __init__(self, as_json, envs=None):
        (theirs, self.out), (self.incoming, out) = os.pipe(), os.pipe()
        envs = envs or short("toy", copy=False)
        self.served, self.as_json = [], as_json
        self.thread = threading.Thread(
            target=self.serve, args=(Server(envs, 7, theirs, out), (theirs, out)), daemon=True
        )
        self.thread.start()
        self.stream = os.fdopen(self.incoming, "rb")

    def serve(self, server, ends):
        try:
            server.serve()
        except ArcadeMarkError as error:
            self.served.append(str(error))
        for end in ends:
            os.close(end)

    def send(self, message):
        content = msgspec.json.encode(message) + b"\n" if self.as_json else msgspec.msgpack.encode(message)
        os.write(self.out, content if self.as_json else len(content).to_bytes(4, "big") + content)

    def ask(self, **message):
        self.send(message)
        if self.as_json:
            return msgspec.json.decode(self.stream.readline())
        return msgspec.msgpack.decode(self.stream.read(int.from_bytes(self.stream.read(4), "big")))

    def close(self):
        os.close(self.out)
        self.thread.join(10)
        rest = self.stream.read()
        self.stream.close()
        return rest


def short(task, **how):
    """A vector of two, of a short game or of a short task."""
    if task == "toy":
        return arcademark.make_vec("toy", 2, "dqn-2015", training=True, **SHORT, **how)
    rules = arcademark.suite_protocol("gymnasium:Pendulum-v1,Blackjack-v1", max_steps_per_episode=4)
    return arcademark.make_vec(task, 2, rules, **how)


@pytest.mark.parametrize(
    ("as_json", "how"), [(True, "lists"), (True, None), (False, "lists"), (False, "bytes"), (False, "memory")]
)
@pytest.mark.parametrize("task", ["toy", "pendulum_v1", "blackjack_v1"])
def test_what_is_served_is_what_make_vec_plays(task, as_json, how):
    envs = short(task)
    program = Program(as_json, short(task, copy=False, render_mode="rgb_array"))
    hello = program.ask(type="client", version=1, **({"observations": how} if how else {}))
    assert (hello["games"], hello["unit"]) == ([task, task], "frame" if task == "toy" else "step")
    memory = os.open(hello["memory"], os.O_RDONLY)
    envs.action_space.seed(0)
    ended = 0

    def check(answer, infos):
        seen = os.pread(memory, 2**20, 0) if how == "memory" else answer["observations"]
        expected = (
            envs.observed.tobytes() if how == "memory" else sent(envs.observed, how or "lists", None)["observations"]
        )
        assert seen == expected
        for name in ("lives", "frame_number", "episode_frame_number"):
            assert answer[name] == infos[name].tolist()

    for seed in (None, 3, None):
        _, infos = envs.reset(seed=7 if seed is None and not ended else seed)
        check(program.ask(type="reset", **({} if seed is None else {"seed": seed})), infos)
        for _ in range(15):
            actions = envs.action_space.sample()
            _, rewards, terminated, truncated, infos = envs.step(actions)
            answer = program.ask(type="step", actions=actions.tolist())
            check(answer, infos)
            assert answer["rewards"] == rewards.tolist()
            assert (answer["terminated"], answer["truncated"]) == (terminated.tolist(), truncated.tolist())
            over = np.flatnonzero(infos.get("_episode", [])).tolist()
            assert [each["row"] for each in answer["episodes"]] == over
            assert [each["steps"] for each in answer["episodes"]] == [int(infos["episode"]["l"][i]) for i in over]
            ended += len(over)
    assert ended >= 4
    if task == "toy":
        screen = program.ask(type="render", row=1)
        assert np.prod(screen["shape"]) == len(msgspec.convert(screen["pixels"], bytes, strict=False))
    os.close(memory)
    assert not os.path.exists(hello["memory"])
    assert program.close() == b""
    assert program.served == []


HELLO, RESET = {"type": "client", "version": 1}, {"type": "reset"}


@pytest.mark.parametrize(
    ("task", "messages", "error"),
    [
        ("toy", [{"type": "client", "version": 2}], "the program speaks version 2; expected 1"),
        ("toy", [RESET], "expected the messages 'client', once, 'reset'"),
        ("toy", [HELLO, {"type": "step", "actions": [0, 0]}], "expected the messages 'client'"),
        ("toy", [HELLO, HELLO], "expected the messages 'client', once"),
        ("toy", [HELLO, {"type": "reset", "sede": 1}], "ill-formed .*unknown field `sede`"),
        ("toy", [HELLO, RESET, {"type": "render", "row": -1}], "no row -1"),
        *(
            (task, [HELLO, RESET, {"type": "step", "actions": actions}], error)
            for task, actions, error in (
                ("toy", [0], "1 actions for 2"),
                ("toy", [0, 99], "99"),
                ("toy", [0, 2**70], "action"),
                ("pendulum_v1", [[1.0], 0.5], "lists of different lengths"),
                ("pendulum_v1", [[1.0], [3.0]], "has 3 at place 0; expected -2 to 2"),
                ("pendulum_v1", [["a"], ["b"]], "type <U1"),
                ("pendulum_v1", [0.5, 0.5], "shape"),
                ("pendulum_v1", [[0.5]], "1 actions for 2"),
            )
        ),
    ],
)
def test_what_cannot_be_done_is_told(task, messages, error):
    program = Program(True, short(task, copy=False))
    for message in messages:
        answer = program.ask(**message)
    assert answer["type"] == "error"
    assert program.close() == b""
    assert program.served == [answer["message"]]
    assert re.search(error, answer["message"])


def test_spaces_and_observations_of_any_task_are_described():
    kind = np.dtype([("at", "i8"), ("said", "U4"), ("both", [("0", "f4", (2,)), ("1", "i1", (3,))])])
    arrays = ArrayActions((2,), "<f4", (-1.0, 0.0), (1.0, np.inf))
    rules = step_protocol(load_suite("gymnasium:CartPole-v1"))
    spec = EnvironmentSpec("odd", rules, (), (), kind, array_actions=arrays)
    parts = {
        "0": {"type": "box", "shape": (2,), "dtype": "float32"},
        "1": {"type": "box", "shape": (3,), "dtype": "int8"},
    }
    assert observation_space(spec) == {
        "type": "dict",
        "parts": {
            "at": {"type": "box", "shape": (), "dtype": "int64"},
            "said": {"type": "text", "length": 4},
            "both": {"type": "dict", "parts": parts},
        },
        "bytes": 35,
    }
    assert action_space(spec) == {
        "type": "box",
        "shape": (2,),
        "dtype": "float32",
        "low": [-1.0, 0.0],
        "high": [1.0, None],
    }
    rows = np.zeros(2, kind)
    rows[1] = (3, "go", ([0.5, 1], [1, 0, 1]))
    seen = {"at": 3, "said": "go", "both": {"0": [0.5, 1.0], "1": [1, 0, 1]}}
    assert sent(rows, "lists", None)["observations"][1] == seen
    assert sent(rows, "bytes", None)["observations"] == rows.tobytes()


class Said(Message):
    """Anything."""

    data: bytes


@pytest.mark.parametrize("as_json", [True, False])
def test_messages_come_in_pieces_of_any_size(as_json):
    sender, rng = Wire(Said | Message), np.random.default_rng(0)
    sender.as_json = as_json
    data = [rng.bytes(int(size)) for size in rng.integers(0, 3000, 20)]
    stream = b"".join(sender.encode({"type": "said", "data": one}) for one in data)
    receiver, found = Wire(Said), []
    while stream:
        size = int(rng.integers(1, 2000))
        receiver.add(stream[:size])
        stream = stream[size:]
        while (message := receiver.take(10_000)) is not None:
            found.append(message.data)
    assert found == data
    assert not receiver.pending


@pytest.mark.parametrize(
    ("came", "error"),
    [
        (b"\x7fELF", "'\x7fELF'"),
        (b"{" + b"x" * 200, "a line of more than 100 bytes"),
        (b"{}\n", "ill-formed .*missing required field `data`"),
        (b"{]\n", "'{]'"),
        (b'{"type": "said", "data": "!"}\n', "ill-formed"),
        (b"\x00\x00\x00\x03abc", "'abc'|ill-formed"),
        (b"\x00\xff\x00\x00", "a message of 16,711,680 bytes, or no message"),
    ],
)
def test_what_is_no_message(came, error):
    wire = Wire(Said)
    wire.add(came)
    with pytest.raises(NoMessageError, match=error.replace("\x7f", r"\\x7f").replace("]", r"\]")):
        wire.take(100)


@pytest.mark.slow
def test_a_program_in_javascript_plays(tmp_path):
    if (node := shutil.which("node")) is None:
        pytest.skip("node is not installed")
    command = tmp_path / "arcademark"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m arcademark "$@"\n')
    command.chmod(0o700)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    environment = os.environ | {"PATH": path, "ARCADEMARK_CONSOLE": "off"}  # to be compiled it takes long
    pole = "60", "cartpole_v1", "--suite", "gymnasium:CartPole-v1", "--envs", "3"
    for asked, told in ((("20",), " frames, "), (pole, "cartpole_v1: ")):
        program = [node, EXAMPLES / "train.js", *asked]
        done = subprocess.run(program, env=environment, capture_output=True, text=True, timeout=100, check=False)
        assert (done.returncode, done.stderr) == (0, "")
        assert told in done.stdout
