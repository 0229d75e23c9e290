import contextlib
import os
import pickle
import socket
import zlib
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arcademark.records.model import EpisodeRecord, EpisodeResult, Unfinished
from arcademark.runs.engines import processes, worker
from arcademark.runs.playing.events import Failed


@pytest.fixture
def pair():
    """Return an end to write anything at, and the channel at the other."""
    end, other = socket.socketpair()
    channel = processes.Channel(other, receives=worker.MESSAGES)
    with end, other:
        yield end, channel


def framed(content, kind=0, length=None, checksum=None):
    header = processes.MAGIC, kind, length or len(content), checksum or zlib.crc32(content)
    return processes.HEADER.pack(*header) + content


def sent_by_a_worker(message):
    return b"".join(processes.framed(message, worker.MESSAGES))


def test_processes_import_nothing_from_the_current_folder(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    for name in ("signal", "enum", "socket"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'planted')!r}, 'w')\n")
    process, ours = processes.spawn(os.close)
    with ours:
        assert process.wait() == 0
    assert not (tmp_path / "planted").exists()


RECORD = EpisodeRecord("t", "evaluation", 0, 1.5, 4, 1, "terminated", 0.5)


def result(**changes):
    return sent_by_a_worker(EpisodeResult(replace(RECORD, **changes), b""))


@pytest.mark.parametrize(
    ("noise", "said"),
    [
        *(
            (noise, "data that are not a message|an ill-formed WorkerReady")
            for noise in (
                *(b"noise", b"\x93", framed(b"", length=2**40), framed(b"\x80", checksum=1), framed(b"\x81")),
                *(framed(b"\x80", kind=len(worker.MESSAGES)), framed(b"\x81\x01\x02"), framed(b"\x91" * 100_000)),
                *(framed(pickle.dumps(worker.WorkerReady())), sent_by_a_worker(worker.WorkerReady())[:-1]),
            )
        ),
        (sent_by_a_worker(EpisodeResult(5, b"")), r"EpisodeResult \(Expected `object`, got `int` - at `\$\.record`\)"),
        (result(end="won"), r"EpisodeResult \(Invalid enum value 'won'"),
        (result(score=float("nan")), "Expected `float` >="),
        (result(frames=-1), r"Expected `int` >= 0 - at `\$\.record\.frames`"),
        (result(steps=2**63), "Expected `int` <="),
        (sent_by_a_worker(Unfinished(0, 4, 4, 0.5, "é", b"", b"")), r"Unfinished \(Expected `str` matching"),
    ],
)
def test_what_is_no_message_is_refused_without_waiting_for_more(pair, monkeypatch, noise, said):
    end, channel = pair
    monkeypatch.setattr(processes, "STALLED_SECONDS", -1.0)
    sent = [worker.WorkerReady(), EpisodeResult(RECORD, b"\1")]
    end.sendall(b"".join(map(sent_by_a_worker, sent)) + noise)
    arrived = channel.arrived()
    assert [next(arrived), next(arrived)] == sent
    with pytest.raises(processes.GarbledError, match=said):
        next(arrived)


@given(st.lists(st.binary(max_size=80) | st.binary(max_size=80).map(framed), max_size=6))
def test_any_bytes_are_messages_or_refused(parts):
    end, other = socket.socketpair()
    with end, other:
        end.sendall(b"".join(parts))
        with contextlib.suppress(processes.GarbledError):
            list(processes.Channel(other, receives=[worker.WorkerReady, Failed]).arrived())
