import pytest


@pytest.fixture(autouse=True, scope="session")
def _cache_of_its_own(tmp_path_factory):
    """Keep what is cached away from the user's folder, and from one session to the next nothing."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ARCADEMARK_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield
