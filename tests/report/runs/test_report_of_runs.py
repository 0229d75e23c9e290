import re

import pytest
from html_page import Page
from made_up import analysed, made_up_run
from shown import page as rendered

import arcademark

EVIL = '<script>alert("x")</script>&<b>'


@pytest.fixture(scope="module")
def page(report_two):
    return rendered(report_two)


def test_golden_page(page, golden):
    body = page[page.index("<body>") : page.index("<script>")]
    bare = re.sub(r"<svg.*?</svg>", "<svg></svg>", body, flags=re.DOTALL)
    golden("page.html", bare.replace(f"ArcadeMark {arcademark.__version__}", "ArcadeMark VERSION"))


def test_the_page_is_well_formed_and_requests_nothing(page):
    parsed = Page(page)
    assert parsed.having("src") == []
    assert {tag for tag, _ in parsed.having("href")} == {"a"}  # citations
    assert all(target.startswith("#") for _, target in parsed.having("xlink:href"))
    assert not [tag for tag, _ in parsed.elements if tag in {"link", "iframe", "img", "object", "embed"}]
    assert "@import" not in page
    assert all(target.startswith("#") for target in re.findall(r"url\(([^)]*)\)", page))
    policy = next(attrs["content"] for tag, attrs in parsed.elements if attrs.get("http-equiv"))
    assert policy.startswith("default-src 'none'")


def test_ids_are_unique_and_labels_point_at_them(page):
    parsed = Page(page)
    ids = [value for _, value in parsed.having("id")]
    assert len(ids) == len(set(ids))
    assert {value for _, value in parsed.having("aria-labelledby")} <= set(ids)
    assert {value[1:] for _, value in parsed.having("xlink:href")} <= set(ids)


def test_figures_are_said_in_words(page):
    figures = [attrs for tag, attrs in Page(page).elements if tag == "svg"]
    assert len(figures) == 2
    assert all(attrs["role"] == "img" for attrs in figures)
    assert "Battle Zone, random: −0.89" in str(figures[0]["aria-label"])


def test_everything_from_users_is_escaped():
    run = made_up_run(f"runs/{EVIL}", (EVIL,), failed=[(EVIL, "qbert", 0)])
    run.manifest["command"] = f"arcademark run {EVIL}"
    run.manifest["machine"] = {"processor": EVIL}
    other = made_up_run("runs/other", ("random",))
    page = rendered(analysed(run, other))
    parsed = Page(page)
    assert [tag for tag, _ in parsed.elements].count("script") == 1
    assert "alert(&#34;x&#34;)" in page
    assert 'alert("x")' not in page
    assert "b" not in {tag for tag, _ in parsed.elements}
