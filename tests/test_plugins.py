import math
import sys

import pytest

from arcademark import plugins
from arcademark.errors import ArcadeMarkError
from plugin_packages import install

GROUP = "arcademark.tests"


@pytest.fixture
def site(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def test_what_a_package_declares_is_listed_unimported_and_imported_by_name(site):
    install(site, "plug_a", f"[{GROUP}]\nroot = math:sqrt\nother = plug_a:there\n")
    assert plugins.names(GROUP) == ["other", "root"]
    assert plugins.named(GROUP, "root") is math.sqrt
    assert plugins.place(GROUP, "other") == "plug_a:there"
    assert "plug_a" not in sys.modules
    assert plugins.named(GROUP, "none") is plugins.place(GROUP, "none") is None
    assert plugins.names("arcademark.nothing") == []


@pytest.mark.parametrize(
    ("place", "module", "said"),
    [
        ("plug_b_gone:thing", "", "ModuleNotFoundError"),
        ("plug_b:gone", "", "AttributeError"),
        ("plug_b:gone", "1 / 0", "ZeroDivisionError: division by zero"),
    ],
)
def test_one_that_cannot_be_imported_names_the_package_and_the_remedy(site, place, module, said):
    install(site, "plug_b", f"[{GROUP}]\nthing = {place}\n", module)
    with pytest.raises(ArcadeMarkError, match="package plug_b is") as error:
        plugins.named(GROUP, "thing")
    assert said in str(error.value)
    assert "update or uninstall plug_b" in str(error.value)
    sys.modules.pop("plug_b", None)


def test_two_packages_of_one_name_are_refused(site):
    install(site, "plug_c", f"[{GROUP}]\nthing = math:pi\n")
    install(site, "plug_d", f"[{GROUP}]\nthing = math:e\n")
    with pytest.raises(ArcadeMarkError, match="plug_c and plug_d both declare 'thing'"):
        plugins.named(GROUP, "thing")
