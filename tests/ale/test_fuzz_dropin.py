"""A few of the calls under odd arguments that `make fuzz-dropin` tries."""

import fuzz_dropin
import pytest

from arcademark.ale import envpool
from arcademark.emulator import build


@pytest.fixture(scope="module", autouse=True)
def _compiled():
    if build.compiler() is None:
        pytest.skip("no C compiler: the emulator cannot be compiled")
    envpool.make("Pong-v5").reset()


@pytest.mark.filterwarnings("ignore:.*fork.*")  # of Python, and of JAX where another test imported it
@pytest.mark.parametrize("subject", [*dict.fromkeys(fuzz_dropin.SUBJECTS)])
def test_calls_end_as_ale_pys_or_with_our_errors(subject):
    block = fuzz_dropin.SUBJECTS.index(subject)
    faults, counts = fuzz_dropin.run(fuzz_dropin.BLOCK * block + 3, 5, str)
    assert not faults
    assert sum(counts.values()) >= 3


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*fork.*")  # of Python, and of JAX where another test imported it
def test_many_calls_end_as_ale_pys_or_with_our_errors():
    faults, _ = fuzz_dropin.run(0, 15 * len(fuzz_dropin.SUBJECTS), str)
    assert not faults
