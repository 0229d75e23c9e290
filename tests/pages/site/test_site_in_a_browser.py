"""The leaderboard used as its reader uses it, in Chromium: all pages at three widths, light and dark; sorting, filters,
dropped files, hostile names and keys. No test may make a request or see an error."""

import csv
import dataclasses
import io
import itertools
import json
import re
import shutil

import numpy as np
import pytest
from hostile_names import HOSTILE
from scipy import stats

from arcademark import wording
from arcademark.analysis.scoring.analysis import analyse
from arcademark.analysis.scoring.compare import compare_tables
from arcademark.analysis.subsets import predictors
from arcademark.errors import ArcadeMarkError
from arcademark.metrics.aggregate import Aggregate
from arcademark.metrics.normalise import hns
from arcademark.scores.reading import read_tables
from arcademark.suite import references
from arcademark.suite.subsets import LEVEL, resolve_tasks
from arcademark.suite.tasks import canonical_game, game_name

api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed: make test-all")
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = [
    pytest.mark.needs("playwright"),
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here (Debian, Ubuntu: apt-get install chromium)"),
]

FOCUSED = "[document.activeElement].map((one) => one.id || one.dataset.column || one.textContent)[0]"

ROUTES = {
    "": "Atari algorithms",
    "algorithm/Agent57": "Agent57",
    "algorithm/sarsa(features%3Dram-bits)": "sarsa(features=ram-bits)",
    "algorithm/nobody": "Not found",
    "games": "Games",
    "game/breakout": "Breakout",
    "compare": "Compare",
    "compare/DIAMOND/IRIS": "DIAMOND against IRIS",
    "compare/GDI-H3/Muesli/LASER": "GDI-H3 against Muesli against LASER",
    "plots": "Plots",
    "predicted": "Predicted and true",
    "about": "About these numbers",
}


@pytest.fixture(scope="module")
def browser():
    with api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture
def page(browser, pages):
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    shown, troubles = context.new_page(), []
    shown.on("console", lambda message: troubles.append(message.text))
    shown.on("pageerror", lambda error: troubles.append(str(error)))
    shown.on("request", lambda request: request.url.startswith(pages.as_uri()) or troubles.append(request.url))
    shown.goto((pages / "index.html").as_uri())
    yield shown
    context.close()
    assert troubles == []


def until(page, expression, argument=None):
    """Wait until it holds. (`wait_for_function` evaluates text within the page, whose policy forbids that.)"""
    for _ in range(500):
        if page.evaluate(expression, argument):
            return
        page.wait_for_timeout(20)
    pytest.fail(f"after 10 s still not: {expression}")


def go(page, route):
    page.evaluate("route => { location.hash = '#/' + route; }", route)
    until(page, "title => document.querySelector('h1')?.textContent === title", ROUTES[route])


def cells(page, name):
    """The texts of a column, "–" where there is no number."""
    place = page.locator("#board thead th").all_inner_texts().index(name)
    return page.evaluate(
        """place => [...document.querySelector('#board tbody').rows]
          .map((row) => row.cells[place].firstChild.textContent)""",
        place,
    )


def column(page, name):
    """The numbers of a column."""
    return [float(text.replace(",", "")) for text in cells(page, name) if text != "–"]


def drop(page, name, content, *, wait=True):
    """Drop a file on the page, as a mouse does: of this content, or so many zeros."""
    data = [*content] if isinstance(content, bytes) else content
    page.evaluate(
        """([name, data]) => {
          const files = new DataTransfer();
          files.items.add(new File([typeof data === "string" ? data : new Uint8Array(data)], name));
          document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: files, bubbles: true, cancelable: true }));
        }""",
        [name, data],
    )
    if wait:
        page.locator("#own", has_text=re.compile(" of yours added|Nothing added")).wait_for()


def line_of(page, name):
    """The row of the table that has one's own scores under this name."""
    return page.locator("#board tr.yours", has=page.get_by_role("link", name=name, exact=True))


def test_every_page_fits(page):
    for (width, scheme), route in itertools.product(((390, "dark"), (1280, "light"), (1600, "dark")), ROUTES):
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme)
        go(page, route)
        page.evaluate("() => new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn)))")
        assert page.evaluate("document.documentElement.scrollWidth") == width, route
        assert page.title().endswith("· ArcadeMark")
        paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (sum(map(int, paper[4:-1].split(","))) < 384) == (scheme == "dark")


def test_sorting(page):
    heading = page.locator("#board thead th", has_text="Mean")
    heading.get_by_role("button").click()
    assert heading.get_attribute("aria-sort") == "descending"
    assert (found := column(page, "Mean")) == sorted(found, reverse=True)
    assert len(found) > 5
    page.locator("#board thead th", has_text="Mean").get_by_role("button").click()
    assert column(page, "Mean") == sorted(found)


def test_the_first_view_has_a_row_an_algorithm_the_best_first(page, data):
    names = page.locator("#board th.who > a").all_inner_texts()
    assert len(names) == len(set(names)) == len({item["identity"] for item in data["algorithms"]})
    assert (found := column(page, "Median")) == sorted(found, reverse=True)
    badges = page.locator("#board .badge.protocol")
    assert badges.count() == len(names)
    assert {"sticky actions", "no sticky actions, no-op starts", "protocol unclear"} <= set(badges.all_inner_texts())
    top, rows = (page.locator(where).first.bounding_box() for where in (".fronts svg", "#board tbody tr"))
    assert top["y"] < rows["y"] < 760  # below what the runs given come to
    boxes = page.evaluate(
        """() => [...document.querySelectorAll('.fronts svg')].map((svg) =>
          [svg, ...svg.querySelectorAll('[font-size="11.5"]')].map((one) => one.getBoundingClientRect())
            .map(({ x, y, right, bottom }) => [x, y, right, bottom]))"""
    )
    assert len(boxes) == 2
    texts = page.locator(".fronts svg").first.locator("text").all_text_contents()
    years = [text for text in texts if re.fullmatch(r"20\d\d", text)]
    assert len(set(years)) == len(years) > 2
    for edge, *labels in boxes:
        assert len(labels) > 3
        assert all(edge[0] <= left and edge[1] <= up and right <= edge[2] for left, up, right, _ in labels)
        for one, other in itertools.combinations(labels, 2):
            assert one[2] <= other[0] + 1 or other[2] <= one[0] + 1 or one[3] <= other[1] + 3 or other[3] <= one[1] + 3


@pytest.mark.parametrize("place", [0, 1])
def test_what_a_line_of_the_best_leaves_out_is_said(page, data, place):
    """All that the table shows is on the line, below it, or counted by the caption."""
    row = {item["identity"]: item for item in data["algorithms"]}
    caption = page.locator(".fronts figcaption").nth(place).inner_text()
    kinds = ("planner", "human starts", "fewer than 90 %", "without a median", "unknown", "without training")
    said = dict.fromkeys(kinds, 0)
    for kind in said:
        if found := re.search(rf"(\d+) (?:results? (?:from|with) |of )?{kind}", caption):
            said[kind] = int(found[1])
    names = page.locator("#board th.who > a").all_inner_texts()
    games = len(data["views"][0]["games"])
    field = ("year", "training_frames")[place]
    counted = dict.fromkeys(said, 0)
    for name, median in zip(names, cells(page, "Median"), strict=True):
        item = row[name]
        if "yours" in item["badges"]:
            continue
        start = data["groups"][item["group"]]["settings"].get("start")
        if median == "–":
            counted["without a median"] += 1
        elif item[field] is None:
            counted["unknown"] += 1
        elif item[field] == 0:
            counted["without training"] += 1
        elif item["kind"] == "planning":
            counted["planner"] += 1
        elif start == "human":
            counted["human starts"] += 1
        elif item["standings"]["atari-57"]["games"] < 0.9 * games:
            counted["fewer than 90 %"] += 1
    assert said == counted
    assert sum(counted.values())


def test_an_address_shows_the_same_table_again(page, pages):
    page.get_by_text("Filters, measures and columns").click()
    page.locator("#runnable").check()
    page.locator("#column-iqm").check()
    page.locator("#statistic").select_option(label="Mean")
    page.locator("#board thead button", has_text="Year").click()
    for tick in page.locator("#board .tick input").all()[:2]:
        tick.check()
    page.locator("#ranks").click()
    page.locator("#search").fill("rainbow")

    def state():
        return [
            page.locator("#board").inner_text(),
            page.locator("#count").inner_text(),
            page.evaluate("location.hash"),
        ]

    before = state()
    page.goto("about:blank")
    page.goto((pages / "index.html").as_uri() + before[-1])
    assert state() == before
    page.locator("#best").click()
    assert (after := state()) != before
    page.go_back()
    until(page, "document.querySelector('#ranks').ariaPressed === 'true'")
    assert state() == before
    page.go_forward()
    until(page, "document.querySelector('#best').ariaPressed === 'true'")
    assert state() == after
    page.evaluate(
        "location.hash = '#/?view=none&metric=x&statistic=toString&sort=-y&columns=&kind=a&with=nobody&ranks=1'"
    )
    until(page, "document.querySelector('#search').value === ''")
    assert page.locator("#board tbody tr").count() > 20


def test_filters_and_ranks(page, data):
    page.locator("#ranks").click()
    page.get_by_text("Filters, measures and columns").click()
    page.locator("#sticky").select_option(label="0.0")
    names = page.locator("#board th.who > a").all_inner_texts()
    sticky = {group["title"] for group in data["groups"] if group["settings"]["sticky actions"] == "0.0"}
    assert set(names) == {
        item["name"] for item in data["algorithms"] if data["groups"][item["group"]]["title"] in sticky
    }
    page.locator("#start").select_option(label="no-ops")
    page.locator("#cap").select_option(label="30 min")
    ranks = [int(text) for text in page.locator("#board td.rank").all_inner_texts() if text]
    assert ranks == sorted(ranks)
    assert ranks[0] == 1
    rank = page.locator("#board tbody tr", has_text="Rainbow").first.locator("td.rank").inner_text()
    page.locator("#search").fill("rainbow")
    assert page.locator("#board tbody tr", has_text="Rainbow").first.locator("td.rank").inner_text() == rank
    assert {name.split()[0] for name in page.locator("#board th.who > a").all_inner_texts()} == {"Rainbow"}


def test_filters_that_nothing_fits_say_so(page):
    page.locator("#search").fill("no such algorithm")
    page.locator(".nothing").wait_for()
    assert page.locator(".nothing").inner_text() == "No result fits this search and these filters. Show all"
    page.locator(".nothing a").click()
    page.locator(".nothing").wait_for(state="detached")
    assert "null" not in page.locator("main").inner_text()
    assert page.locator("#board tbody tr").count() > 10


def test_scores_from_another_paper_s_table_name_it(page, data):
    page.locator("#ranks").click()
    shown = dict(
        page.evaluate(
            """() => [...document.querySelectorAll('#board th.who')]
              .map((cell) => [cell.querySelector('a').textContent, cell.querySelector('.by')?.textContent ?? ''])"""
        )
    )
    apart = 0
    for item in data["algorithms"]:
        source = data["papers"].get(item["source_paper"])
        expected = f"table of {source['short']}" if source and item["source_paper"] != item["paper"] else ""
        assert shown[item["name"]] == expected
        apart += bool(expected)
    assert 0 < apart < len(shown)


def test_nothing_unknown_is_ranked(page, data):
    unknown = {index for index, group in enumerate(data["groups"]) if not group["known"]}
    page.locator("#ranks").click()
    whole = len(data["views"][0]["games"])
    may = {
        item["name"]
        for item in data["algorithms"]
        if item["group"] not in unknown and item["standings"]["atari-57"]["games"] == whole
    }
    ranked = page.evaluate(
        """() => [...document.querySelectorAll('#board tbody tr')]
          .filter((row) => row.querySelector('.rank')?.textContent)
          .map((row) => row.querySelector('.who > a').textContent)"""
    )
    assert set(ranked) == may


@pytest.fixture(scope="module")
def own():
    """Scores of somebody: two algorithms on 57 and 20 games, ragged runs."""
    rng = np.random.default_rng(7)
    table = analyse("catalogue:review-2021", algorithms="Rainbow")
    games = [score.game for score in table.algorithms[0].scores]
    out = io.StringIO()
    rows = csv.writer(out)
    rows.writerow(("agent", "env_id", "seed", "score"))
    for name, some in (("Ours", games), ("Muesli", games[:20])):
        for game in some:
            spelling = "".join(part.title() for part in game.split("_"))
            runs = rng.integers(1, 6)
            rows.writerows((name, f"ALE/{spelling}-v5", run, repr(float(rng.gamma(2, 900)))) for run in range(runs))
    return out.getvalue()


def test_a_statistic_of_ones_own_is_worked_out_from_the_registry_alone(browser, pages, own, tmp_path):
    """The page's data name one more: its value is Python's, and it has an interval."""
    added = Aggregate("trimmed", "trimmed mean", "without a tenth at each end", "tasks", trim=0.1)
    context = browser.new_context()
    context.add_init_script(
        f"const added = {json.dumps(dataclasses.asdict(added))};"
        """let data; Object.defineProperty(window, "ARCADEMARK", { get: () => data,
          set: (value) => { value.aggregates.push(added); data = value; } });"""
    )
    shown = context.new_page()
    shown.goto((pages / "index.html").as_uri())
    (tmp_path / "own.csv").write_text(own)
    found = shown.evaluate(
        """text => Object.fromEntries([...arcademark.readTable(new TextEncoder().encode(text).buffer, ARCADEMARK)]
          .map(([name, runs]) => [name, arcademark.reaches(ARCADEMARK.views[0].measures[0], runs).trimmed]))""",
        own,
    )
    low, high = references.scores("random"), references.scores("human")
    for name in ("Ours", "Muesli"):
        report = analyse(str(tmp_path / "own.csv"), algorithms=[name])
        scores = {score.game: score.score.value for score in report.algorithms[0].scores}
        percent = hns([*scores.values()], low, high, [*scores])
        value, least, most = found[name]
        assert value == pytest.approx(stats.trim_mean(percent, 0.1), rel=1e-9)
        assert least < value < most
    context.close()


def test_own_scores_beside_all_others(page, own, tmp_path):
    (tmp_path / "own.csv").write_text(own)
    expected = {item.name: item for item in analyse(str(tmp_path / "own.csv")).algorithms}
    found = page.evaluate(
        """text => Object.fromEntries([...arcademark.readTable(new TextEncoder().encode(text).buffer, ARCADEMARK)]
          .map(([name, runs]) => [name, Object.fromEntries(ARCADEMARK.views[0].measures
            .map((measure) => [measure.metric, arcademark.summaries(measure, runs)]))]))""",
        own,
    )
    for name, item in expected.items():
        for summary in item.summaries:
            for statistic, value in found[name][summary.metric].items():
                assert value == pytest.approx(getattr(summary, statistic).value, rel=1e-9, abs=1e-9)
    drop(page, "own.csv", own)
    assert "2 algorithms of yours added" in page.locator("#own").inner_text()
    mine = [line_of(page, name) for name in ("Ours", "Muesli (yours)")]
    assert wording.number(expected["Ours"].summaries[0].median.value) in mine[0].inner_text()
    page.locator("#ranks").click()
    assert [line.locator(".rank").inner_text() for line in mine] == ["", ""]
    page.locator("#played-as").select_option(index=0)
    assert sum(bool(line.locator(".rank").inner_text()) for line in mine) == 1
    page.get_by_role("button", name="Remove yours").click()
    assert [line.count() for line in mine] == [0, 0]


def test_what_the_command_was_given_is_marked_as_dropped_files_are(page):
    given = {"random", "sarsa(features=ram-bits)"}
    drop(page, "own.csv", "game,Ours\npong,12\nbreakout,30\n")
    marked = page.locator("#board tr.yours", has=page.locator(".badge.yours")).locator("th.who > a").all_inner_texts()
    assert given | {"Ours"} <= set(marked)
    assert page.locator("#played-as").count() == 1
    page.locator("#search").fill("random")
    assert page.locator(".fronts svg", has_text="random").count() == 0  # only known to be below something
    page.get_by_role("button", name="Remove yours").click()
    told = f"{len(marked) - 1} algorithms given on the command line"
    assert page.locator("#own").inner_text().startswith(told)
    assert page.locator("#played-as").count() == page.get_by_role("button", name="Remove yours").count() == 0
    marked = page.locator("#board tr.yours th.who > a").all_inner_texts()
    assert "Ours" not in marked
    assert set(marked) >= {"random"}
    assert page.get_by_role("button", name="Show in the table").count() == 1


SIZES = [(1280, ""), (400, ""), (1280, "plots"), (1280, "predicted"), (1280, "game/breakout")]


@pytest.mark.parametrize(("width", "route"), SIZES)
def test_names_in_figures_cover_no_dot_and_no_name(page, width, route):
    """One's own names, too, which stand along the lines that show where their scores are."""
    page.set_viewport_size({"width": width, "height": 900})
    low, high = references.scores("random"), references.scores("human")
    scores = {game: low[game] + 0.98 * (high[game] - low[game]) for game in high}
    drop(page, "own.csv", "\n".join(["game,Mediocre", *(f"{game},{score}" for game, score in scores.items())]))
    go(page, route)
    page.locator("figure svg text").first.wait_for()
    figures = page.evaluate(
        """() => [...document.querySelectorAll('figure svg')].map((svg) =>
          [[...svg.querySelectorAll('[font-size="11.5"] text')], [...svg.querySelectorAll('circle')]].map((all) => all
            .map((one) => [one.textContent, one.getBoundingClientRect()])
            .map(([text, { x, y, right, bottom }]) => [text, x, y + 3, right, bottom - 3])))"""
    )
    assert sum(len(names) for names, _ in figures) > 1
    if route in ("", "plots"):
        assert all("Mediocre" in {name for name, *_ in names} for names, _ in figures if names)
    for names, dots in figures:
        for name, left, up, right, down in names:
            covered = [
                (name, other)
                for other, *box in [*dots, *names]
                if other != name and box[0] < right - 1 and left + 1 < box[2] and box[1] < down and up < box[3]
            ]
            assert not covered


def test_a_protocol_that_is_not_known_is_plain_text(page):
    """A frame around nearly every row would mark what is missing, and not what is known."""
    unknown = page.locator("#board .badge.protocol.unknown")
    assert unknown.count() > 5
    assert unknown.first.evaluate("one => getComputedStyle(one).borderStyle") == "none"
    known = page.locator("#board .badge.protocol.runnable").first
    assert known.evaluate("one => getComputedStyle(one).borderStyle") == "solid"


def test_the_plots_say_that_nothing_fits(page):
    page.locator("#search").fill("no such algorithm")
    page.get_by_role("navigation").get_by_role("link", name="Plots").click()
    page.locator("h1", has_text="Plots").wait_for()
    assert page.locator("main .nothing").inner_text() == "No result fits this search and these filters. Show all"
    page.locator(".nothing a").click()
    page.locator("figure svg").first.wait_for()


def test_a_comparison_finds_algorithms_by_the_names_in_the_table(page):
    page.evaluate("location.hash = '#/compare/QR-DQN/Muesli/nobody'")
    page.locator("h1", has_text="against").wait_for()
    assert page.locator("h1").inner_text() == "QR-DQN (Dopamine) against Muesli"
    assert "There is no algorithm nobody on these pages." in page.locator("main").inner_text()


FEW = (
    ("alien,beam_rider,time_pilot", "Weak", 0.003),
    ("atari-14", "Mine", 1),
    ("atari-5", "Mine", 1),
    ("pong", "Mine", 1),
    ("alien,freeway,krull", "rainbow", 1),
    ("atari-100k", "Mine", 1),
)
"""Games, whose they are, and how good these are beside the average human."""


def test_estimates_from_few_games_are_those_of_predict(page):
    """From several sets of games, of one name with its paper left out; and they stand in the place of medians."""
    low, high, predictor = references.scores("random"), references.scores("human"), predictors.atari()
    rng = np.random.default_rng(7)
    for names, name, share in FEW:
        gains = {game: share * float(rng.gamma(2)) for game in resolve_tasks(names)}
        scores = {game: low[game] + gain * (high[game] - low[game]) for game, gain in gains.items()}
        told, _ = predictor.median(scores, LEVEL, predictor.group(name))
        found = page.evaluate(
            "([name, scores]) => arcademark.predictor(ARCADEMARK.model)(name, scores)", [name, scores]
        )
        ends = {"value": told.value, "low": told.low, "high": told.high, "level": LEVEL}
        assert found == {end: None if at is None else pytest.approx(at, rel=1e-9) for end, at in ends.items()}, names
        assert (told.low == 0) == (told.value is None) == (name == "Weak")  # below all known: an upper end alone
    weak = predictor.median({"pong": low["pong"]}, LEVEL)[0]
    assert weak.value is None
    drop(page, "weak.csv", f"game,Weak\npong,{low['pong']}")
    assert line_of(page, "Weak").locator("td").all_inner_texts()[2].startswith(f"below {wording.number(weak.high)}")
    page.get_by_role("button", name="Remove yours").click()
    drop(page, "few.csv", "\n".join(["game,Few", *(f"{game},{score}" for game, score in scores.items())]))
    cells = line_of(page, "Few").locator("td").all_inner_texts()
    assert cells[2].startswith(f"{wording.number(told.value)} ?")
    assert f"est. {wording.number(told.low)} to {wording.number(told.high)}" in cells[2]
    assert cells[7] == "–"
    page.locator("#played-as").select_option(index=0)
    assert "?" not in line_of(page, "Few").locator("td").all_inner_texts()[2]


REFUSED = {
    "binary.csv": b"\x89PNG\r\n\x1a\n\0\0\xff\xfe",
    "zero.csv": b"algorithm,game,score\nA,pong,\0001\n",
    "empty.csv": b"",
    "header.csv": b"algorithm,game,score\n",
    "words.csv": b"algorithm,game,score\nA,pong,many\n",
    "twice.csv": b"algorithm,game,score\nA,pong,1\nA,Pong,2\n",
    "columns.csv": b"game,Mine,mine\npong,1,2\n",
    "ragged.csv": b"algorithm,game,score\nA,pong\n",
    "run.csv": b"algorithm,game,score,run\nA,pong,1,x\n",
    "nameless.csv": b"algorithm,game,score\n,pong,1\n",
    "other.csv": b"x,y\n1,2\n",
    "infinite.csv": b"algorithm,game,score\nA,pong,1e999\n",
    "missing.csv": b"algorithm,game,score\nA,pong,-\n",
    "numbered.csv": b"game,DQN_1,DQN_2\npong,1,2\n",
    "runs.csv": b"game,seed 0,seed 1\npong,1,2\n",
    "lengths.csv": b"game,10M,200M\npong,1,2\n",
    "halves.csv": b"game,DQN,name,PPO\npong,1,alien,2\n",
    "scores.csv": b"algorithm,game,best_score,final_score\nA,pong,1,2\n",
    "headless.csv": b"pong,1.5,2.5\nalien,2.5,3.5\n",
    "it's.csv": b"algorithm,game,score\nA,pong,it's\n",
}
"""Files that the command refuses, in its words."""

HERE_ALONE = {
    "large.csv": (4 * 2**20 + 1, "give a smaller file"),
    "comma.csv": (b'algorithm,game,score\nA,pong,"1,234"\n', "row 2, column 'score': '1,234' is no plain number"),
    "game.csv": (b"algorithm,game,score\nA,brakeout,1\n", "unknown game 'brakeout'; did you mean 'breakout'"),
    "log.csv": (b"algorithm,game,score,frames\nA,pong,1,4\n", "a learning curve; read it with 'arcademark report'"),
    "<img src=x onerror=alert(1)>.csv": (b"x\n", "<img src=x onerror=alert(1)>.csv"),
}
"""Files that the command reads, or refuses with a remedy that there is not here."""


def test_files_that_hold_no_scores(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = page.locator("#board tbody tr").count()
    for name, content in REFUSED.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(ArcadeMarkError) as refused:
            read_tables(name, canonical_task=canonical_game)
        drop(page, name, content)
        page.locator("#own", has_text=str(refused.value)).wait_for()
    for name, (content, told) in HERE_ALONE.items():
        drop(page, name, content)
        page.locator("#own", has_text=told).wait_for()
    assert page.locator("#board tbody tr").count() == rows


def test_columns_that_may_be_no_algorithms_are_asked_about(page):
    text = b"game,episode_reward,frames,mine\npong,12,4000,3\nbreakout,30,5000,1\n"
    drop(page, "columns.csv", text, wait=False)
    page.get_by_role("dialog").wait_for()
    page.keyboard.press("Escape")
    page.locator("#own", has_text="Nothing added").wait_for()
    drop(page, "columns.csv", text, wait=False)
    page.get_by_label("Column episode_reward").fill("Ours")
    page.keyboard.press("Enter")
    page.locator("#own", has_text="2 algorithms of yours added. Ours: median HNS").wait_for()
    assert "estimated from 2 games (90 %: " in page.locator("#own").inner_text()
    report = analyse([{"Ours": {"pong": 12.0, "breakout": 30.0}}])
    (_, rank), *_ = [sentence.split("; about ") for sentence, _ in report.verdicts]
    assert f"; about {rank}" in page.locator("#own").inner_text()
    assert line_of(page, "Ours").count() == line_of(page, "mine").count() == 1


def test_a_subset_s_published_model_is_asked(page):
    scores = {"battle_zone": 24000, "double_dunk": 2, "name_this_game": 8200, "phoenix": 9000, "qbert": 14000}
    drop(page, "own.csv", "\n".join(["game,Ours", *(f"{game},{score}" for game, score in scores.items())]))
    page.evaluate("location.hash = '#/algorithm/Ours'")
    page.get_by_text("of Atari-5, from its 5 games, the median HNS over atari-57 would be 86.3 %").wait_for()


def test_wide_tables(page):
    for text in ("game,A,B\npong,1,2\nALE/Qbert-v5,,4\n", "algorithm;pong;Q*bert\nA;1;\nB;2;4\n"):
        found = page.evaluate(
            "text => [...arcademark.readTable(new TextEncoder().encode(text).buffer, ARCADEMARK)]", text
        )
        assert found == [["A", {"pong": [1]}], ["B", {"pong": [2], "qbert": [4]}]]


BESIDE = (
    "game,DQN,DQN std,PPO,PPO_95%CI,rank,Unnamed: 0\npong,1,0.5,2,0.1,2,0\nalien,3,0.5,4,0.1,1,1\n",
    "Name,mean_DQN,std_DQN,mean_PPO,std_PPO,note\npong,1,0.5,2,0.1,x\nalien,3,0.5,4,0.1,y\n",
    "game,DQN,PPO,DQN HNS,PPO (HNS)\npong,1,2,0.1,0.1\nalien,3,4,0.1,0.2\n",
    "method,Pong_mean,Pong_std,Alien_mean,Alien_std\nDQN,1,0.5,3,0.1\nPPO,2,0.1,4,0.1\n",
    "algo,pong,alien\nDQN,1,3\nDQN std,0.5,(1)\nPPO,2,4\nPPO (HNS),0.1,0.2\nMean,1.5,3.5\n",
    "algo,pong,alien\nDQN (mean),1,3\nDQN (std),0.5,1\nPPO (mean),2,4\nPPO (std),0.1,0.2\n",
    "game,DQN score,DQN std,DQN [%],PPO score,PPO std\npong,1,0.5,90,2,0.1\nalien,3,0.5,80,4,0.1\n",
    "game,DQN,PPO,DQN (k)\npong,1,2,9\nalien,3,4,9\n",
    "game,DQN,PPO,A2C_lo,A2C_hi,PPO - DQN\npong,1,2,0,9,1\nalien,3,4,0,9,1\n",
    "game,DQN|mean,DQN|std,PPO|mean,PPO|std\npong,1,0.5,2,0.1\nalien,3,0.5,4,0.1\n",
    "algo,config.env,score,score (k)\nDQN,pong,1,0\nDQN,alien,3,0\nPPO,pong,2,0\nPPO,alien,4,0\nPPO std,alien,4,0\n",
    "game,Raw score DQN,Raw score PPO,Human normalized DQN,Human normalized PPO\npong,1,2,.1,.2\nalien,3,4,.1,.2\n",
    "game,DQN,DQN frames,PPO,PPO frames\npong,1,200000000,2,9\nalien,3,9,4,9\n",
    "game,score mean DQN,score mean PPO,score std DQN,score std PPO,score count DQN\npong,1,2,9,9,9\nalien,3,4,9,9,9\n",
    "game,DQN,PPO,gain over DQN,ΔPPO,PPO (% of DQN),PPOstd,PPO s.d.\npong,1,2,.5,1,.2,.5,.5\nalien,3,4,1,.5,.3,1,1\n",
    "algo,env_id,eval_return,std,n\nDQN,pong,1,0.5,5\nDQN,alien,3,0.5,5\nPPO,pong,2,1,5\nPPO,alien,4,1,5\n",
)


def read_both(page, path, text):
    """Return what the page and the command read in a table."""
    path.write_text(text)
    table = read_tables(path, canonical_task=canonical_game).table
    found = page.evaluate("text => [...arcademark.readTable(new TextEncoder().encode(text).buffer, ARCADEMARK)]", text)
    own = {
        name: dict(zip(table.tasks, scores[:, :1].tolist(), strict=True))
        for name, scores in zip(table.algorithms, table.scores, strict=True)
    }
    return dict(found), own


def test_columns_have_the_roles_that_the_command_gives_them(page, tmp_path):
    for text in BESIDE:
        found, own = read_both(page, tmp_path / "table.csv", text)
        assert found == own == {"DQN": {"pong": [1], "alien": [3]}, "PPO": {"pong": [2], "alien": [4]}}, text


def test_names_of_statistics_alone_are_algorithms_in_both(page, tmp_path):
    found, own = read_both(page, tmp_path / "table.csv", "algo,pong\nweak,1\nbest,2\nUCB,3\nHuman,4\nHuman Ref,5\n")
    assert found == own
    assert list(own) == ["weak", "best", "UCB", "Human", "Human Ref"]


def test_hostile_names_are_text(page):
    rows = ["agent,game,score", *(f'"{name}",pong,1' for name in HOSTILE)]
    drop(page, "own.csv", "\n".join(rows))
    names = page.locator("#board th.who a").all_inner_texts()
    for name in HOSTILE:
        shown = name.replace("\u202e", "\\u{202e}")
        assert f"{shown} (yours)" in names or shown in names
    page.locator("#search").fill("<img")
    for tick in page.locator("#board .tick input").all()[:2]:
        tick.check()
    page.get_by_role("link", name="Compare 2").click()
    page.locator("h2", has_text="Performance profiles").wait_for()
    page.wait_for_timeout(50)
    page.evaluate("location.hash = '#/algorithm/' + encodeURIComponent('<img src=x onerror=alert(1)>')")
    page.locator("h1", has_text="Not found").wait_for()
    assert page.locator("main img, main script").count() == 0
    assert page.title() == "Not found · ArcadeMark"


def test_keys_reach_everything(page):
    reached = []
    for _ in range(60):
        page.keyboard.press("Tab")
        reached.append(page.evaluate(FOCUSED))
        if reached[-1].startswith("Filters"):
            page.keyboard.press("Enter")
        if reached[-1] == "mean":
            break
    assert reached[0] == "To the content"
    assert {"Games", "best", "ranks", "search", "view", "file", "metric", "statistic"} < set(reached)
    assert {"runnable", "complete", "column-iqm", "name", "median"} < set(reached)
    page.keyboard.press("Enter")
    assert page.locator("#board thead th[aria-sort]").inner_text().startswith("Mean")
    assert page.evaluate("document.activeElement.dataset.column") == "mean"
    nameless = page.evaluate(
        """() => [...document.querySelectorAll('input, select, button')]
          .filter((one) => !(one.labels?.length || one.ariaLabel || one.textContent)).length"""
    )
    assert nameless == 0


def test_films_play_when_asked(page):
    go(page, "algorithm/sarsa(features%3Dram-bits)")
    assert page.locator(".film img").count() == 0
    page.get_by_role("button", name="Play").first.click()
    film = page.locator(".film img")
    until(page, "document.querySelector('.film img').naturalWidth > 0")
    assert "Freeway" in film.get_attribute("alt")


def test_the_browser_computes_what_python_does(page, data):
    """Of every algorithm, view, measure and statistic."""
    found = page.evaluate(
        """() => ARCADEMARK.algorithms.map((row) => ARCADEMARK.views.map((view) => {
          const own = Object.fromEntries(ARCADEMARK.games.map((game, at) => [game.id, row.scores[at]])
            .filter(([id, runs]) => runs.length && view.games.includes(id)));
          return view.measures.map((measure) => arcademark.summaries(measure, own));
        }))"""
    )
    compared = 0
    for item, views in zip(data["algorithms"], found, strict=True):
        for view, measures in zip(data["views"], views, strict=True):
            for measure, figures in zip(view["measures"], measures, strict=True):
                standing = item["standings"].get(view["name"])
                told = standing["summaries"][measure["metric"]] if standing else {}
                assert (figures is None) == (not any(told.values()))
                for statistic, value in (figures or {}).items():
                    assert value == pytest.approx(told[statistic][0], rel=1e-9, abs=1e-9)
                    compared += 1
    assert compared > 1000


def test_numbers_are_rounded_as_in_reports(page):
    """What the first column has, of numbers halfway between two as well."""
    halves = [2438.5, 2439.5, 99.95, 99.5, 12.25, 12.35, 9.995, 0.125, -2438.5, -0.375, 1e6 + 0.5, 231.0]
    lows, highs = (references.scores(kind) for kind in ("random", "human"))
    games = [game for game in lows if game in highs][: len(halves)]
    rows = [f"A,{game},{score!r}" for game, score in zip(games, halves, strict=True)]
    drop(page, "own.csv", "\n".join(["algorithm,game,score", *rows]))
    line_of(page, "A").get_by_role("link").click()
    page.locator("h1", has_text=re.compile("^A$")).wait_for()
    cells = page.evaluate(
        """() => Object.fromEntries([...document.querySelectorAll('[aria-label="Scores of A"] tbody tr')]
          .map((row) => [row.cells[0].textContent, row.cells[1].textContent]))"""
    )
    told = {
        game_name(game): wording.score(score, 0 if score == int(score) else None)
        for game, score in zip(games, halves, strict=True)
    }
    assert cells == told


def test_comparisons_are_those_of_compare(page):
    expected = compare_tables("catalogue:all", algorithms=("DIAMOND", "IRIS"))
    profile = expected.profiles[0]
    better, above, apart, improvement = page.evaluate(
        """thresholds => {
          const [first, second] = ["DIAMOND", "IRIS"].map((name) => {
            const row = ARCADEMARK.algorithms.find((one) => one.name === name);
            return Object.fromEntries(ARCADEMARK.games.map((game, at) => [game.id, row.scores[at]])
              .filter(([, runs]) => runs.length));
          });
          const [hns] = ARCADEMARK.views[0].measures;
          const capped = ARCADEMARK.views[0].measures.find((one) => one.metric === "capped_hns");
          return [arcademark.improvementOver(first, second), arcademark.profile(hns, first, thresholds),
            Object.fromEntries([hns, capped].map((one) => [one.metric, arcademark.differences(one, first, second)])),
            arcademark.improvementReach(first, second)];
        }""",
        list(profile.thresholds),
    )
    assert better == pytest.approx(expected.pairs[0].improvement.value, rel=1e-9)
    assert above == pytest.approx(profile.shares, rel=1e-9)
    pairs = [
        (apart[item.metric][item.statistic], item.difference)
        for item in expected.pairs[0].summaries
        if item.metric in apart
    ]
    for (value, *ends), told in [*pairs, (improvement, expected.pairs[0].improvement)]:
        assert value == pytest.approx(told.value, rel=1e-9)
        assert ends == pytest.approx([told.low, told.high], abs=0.05 * (told.high - told.low))  # draws are others
    assert len(pairs) == 8


def test_single_runs_are_said_to_be_single(page):
    go(page, "compare/GDI-H3/Muesli/LASER")
    assert "A single run of each is known" in page.locator("main").inner_text()
    assert " of 57 games" in page.get_by_role("region", name="Who is ahead", exact=True).inner_text()
    assert page.get_by_text("Probability of improvement").count() == 0


def test_an_empty_comparison_proposes_pairs(page):
    drop(page, "own.csv", "game,Ours\npong,12\nbreakout,30\n")
    go(page, "compare")
    proposed = page.get_by_role("region", name="Pairs to begin with").get_by_role("link").all_inner_texts()
    assert any(text.startswith("Ours against ") for text in proposed)
    assert len(proposed) > 4
    page.get_by_role("link", name=proposed[-1]).click()
    page.locator("h1", has_text=proposed[-1]).wait_for()


def test_figures_name_their_records_and_links(page):
    go(page, "game/breakout")
    figure = page.get_by_role("region", name="The record over time")
    figure.get_by_text("MuZero¹", exact=True).wait_for()
    assert "¹\u00a0Table of Fan 2021" in figure.locator("figcaption").inner_text()
    assert "world record 864" in figure.inner_text()
    assert figure.get_by_role("link", name="MuZero", exact=True).count() == 1
    assert figure.locator("g[aria-label]").count() == 0
