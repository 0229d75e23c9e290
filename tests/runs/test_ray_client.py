"""What runs on a cluster's nodes, here without a cluster; `tests/cluster` has one."""

from __future__ import annotations

import pytest

from arcademark.errors import ArcadeMarkError
from arcademark.runs.engines import processes, ray_engine, worker
from arcademark.runs.engines.base import Failed, Opened
from arcademark.runs.engines.ray_client import Host
from arcademark.runs.execution import execute
from arcademark.runs.store import provenance


def test_a_host_passes_on_what_a_worker_is_told_and_says(toy_plan):
    host, incoming = Host(), processes.Incoming(worker.MESSAGES)
    assert host.begin(None) is None

    def heard(last):
        found = []
        while not any(isinstance(message, last) for message in found):
            incoming.add(host.hear())
            found += incoming.whole()
        return found

    try:
        assert heard(worker.Ready) == [worker.Ready(provenance.versions())]
        trial = toy_plan("random").trials[0]
        host.tell(b"".join(processes.framed(worker.Open(trial, "ale"))))
        assert [type(message) for message in heard(Opened)] == [Opened]
        host.tell(b"".join(processes.framed(worker.Play([0, 1], None))))
        assert not any(isinstance(message, Failed) for message in heard(worker.Idle))
    finally:
        assert host.end() == "SIGKILL"
    assert host.hear() == b""
    host.tell(b"nobody hears it")


def test_without_ray_the_engine_says_what_to_install(tmp_path, toy_plan, monkeypatch):
    monkeypatch.setattr(ray_engine, "find_spec", lambda _: None)
    with pytest.raises(ArcadeMarkError, match=r"Ray is not installed; pip install '\.\[ray\]'"):
        execute(toy_plan(), tmp_path / "run", engine="ray")


@pytest.mark.parametrize(
    ("address", "said"),
    [("ray://head:10001", "expected HOST:PORT or auto"), ("head:6379", r"RAY_AUTH_MODE=token here as on the cluster")],
)
def test_addresses_that_are_refused_before_anything_is_written(tmp_path, toy_plan, monkeypatch, address, said):
    monkeypatch.setattr(ray_engine, "find_spec", lambda _: True)
    monkeypatch.delenv("RAY_AUTH_MODE", raising=False)
    with pytest.raises(ArcadeMarkError, match=said):
        execute(toy_plan(), tmp_path / "run", engine="ray", address=address)
    assert not (tmp_path / "run").exists()
