import contextlib
import os
import pickle
import re
import socket
import zlib
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arcademark.runs.engines import processes, worker
from arcademark.runs.engines.base import Failed
from arcademark.runs.playing.slot import TrainingBlock
from arcademark.runs.store import provenance
from arcademark.runs.store.reading import Checkpoint, EpisodeRecord, EpisodeResult, Unfinished


def test_a_process_serves_until_this_end_closes() -> None:
    process = processes.Process(worker.main, worker.MESSAGES)
    try:
        assert process.receive() == worker.Ready(provenance.versions())
        assert os.getpgid(process.process.pid) == process.process.pid, "Ctrl-C must not reach it"
        process.close()
        assert process.process.wait(timeout=20) == 0
    finally:
        process.kill()


@pytest.fixture
def pair():
    """Return an end to write anything at, and the channel at the other."""
    end, other = socket.socketpair()
    channel = processes.Channel(other, receives=worker.MESSAGES)
    with end, other:
        yield end, channel


def framed(content: bytes, kind: int = 0, length: int | None = None, checksum: int | None = None) -> bytes:
    header = processes.MAGIC, kind, length or len(content), checksum or zlib.crc32(content)
    return processes.HEADER.pack(*header) + content


def sent_by_a_worker(message: object) -> bytes:
    return b"".join(processes.framed(message, worker.MESSAGES))


def test_messages_come_whole_and_in_order_however_they_are_cut(pair) -> None:
    end, channel = pair
    trained = TrainingBlock((EpisodeResult(RECORD, b"bytes"),), Checkpoint(1, 4, False, b""))
    sent = [worker.Ready(), Failed("x" * 300_000), trained]
    stream = b"".join(map(sent_by_a_worker, sent))
    came = []
    for first in range(0, len(stream), 70_001):
        end.sendall(stream[first : first + 70_001])
        came += channel.arrived()
    assert came == sent
    assert list(channel.arrived()) == []
    assert not channel.incoming.broken_off


@pytest.mark.parametrize(
    "noise",
    [
        b"noise",
        b"\x93",
        framed(b"", length=2**40),
        framed(b"\x80", checksum=1),
        framed(b"\x80", kind=len(worker.MESSAGES)),
        framed(b"\x81"),
        framed(b"\x81\x01\x02"),
        framed(b"\x91" * 100_000),
        framed(pickle.dumps(worker.Ready())),
        sent_by_a_worker(worker.Ready())[:-1],
    ],
)
def test_what_is_no_message_is_refused_without_waiting_for_more(pair, monkeypatch: pytest.MonkeyPatch, noise) -> None:
    end, channel = pair
    monkeypatch.setattr(processes, "STALLED_SECONDS", -1.0)
    end.sendall(sent_by_a_worker(worker.Ready()) + noise)
    arrived = channel.arrived()
    assert next(arrived) == worker.Ready()
    with pytest.raises(processes.GarbledError, match=r"what is no message|an ill-formed Ready"):
        next(arrived)


RECORD = EpisodeRecord("t", "evaluation", 0, 1.5, 4, 1, "terminated", 0.5)


@pytest.mark.parametrize(
    ("message", "said"),
    [
        (EpisodeResult(5, b""), "EpisodeResult (Expected `object`, got `int` - at `$.record`)"),
        (
            EpisodeResult(replace(RECORD, end="won"), b""),
            "EpisodeResult (Invalid enum value 'won' - at `$.record.end`)",
        ),
        (EpisodeResult(replace(RECORD, score=float("nan")), b""), "EpisodeResult (Expected `float` >="),
        (EpisodeResult(replace(RECORD, frames=-1), b""), "EpisodeResult (Expected `int` >= 0 - at `$.record.frames`)"),
        (EpisodeResult(replace(RECORD, steps=2**63), b""), "EpisodeResult (Expected `int` <="),
        (Unfinished(0, 4, 4, 0.5, "é", b"", b""), "Unfinished (Expected `str` matching"),
    ],
)
def test_fields_that_are_not_what_they_should_be_are_refused(pair, message, said) -> None:
    end, channel = pair
    end.sendall(sent_by_a_worker(EpisodeResult(RECORD, b"\1")) + sent_by_a_worker(message))
    arrived = channel.arrived()
    assert next(arrived) == EpisodeResult(RECORD, b"\1")
    with pytest.raises(processes.GarbledError, match=re.escape(said)):
        next(arrived)


@given(st.lists(st.binary(max_size=80) | st.binary(max_size=80).map(framed), max_size=6))
def test_any_bytes_are_messages_or_refused(parts) -> None:
    end, other = socket.socketpair()
    with end, other:
        end.sendall(b"".join(parts))
        with contextlib.suppress(processes.GarbledError):
            list(processes.Channel(other, receives=[worker.Ready, Failed]).arrived())
