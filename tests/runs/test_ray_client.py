"""What runs on a cluster's nodes, here without a cluster; `tests/cluster` has one."""

import pytest

from arcademark.errors import ArcadeMarkError
from arcademark.runs.engines import ray_engine
from arcademark.runs.execution import execute


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
