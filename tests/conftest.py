import os
from pathlib import Path

import pytest

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
"""Before numpy is imported: in workers beside each other, threads that wait for small products take half the time."""

os.environ.pop("ARCADEMARK_CONSOLE", None)
"""Tests switch the console off themselves, where that is what they test."""


@pytest.fixture(autouse=True, scope="session")
def _cache_of_its_own(tmp_path_factory):
    """Keep what is cached away from the user's folder: one folder for all workers of a session, none for the next."""
    base = tmp_path_factory.getbasetemp()
    shared: Path = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ARCADEMARK_CACHE", str(shared / "cache"))
        yield
