import pytest
from small_catalogue import ENTRY, LOST, SCORES, SOURCES

from arcademark.catalogue import reading
from arcademark.errors import ArcadeMarkError


def test_a_collection_is_two_files(write):
    place = write()
    assert reading.read_names(place) == ("small",)
    alpha, beta = reading.read_entries("small", place).values()
    assert alpha.paper is alpha.source is reading.read_sources(place)["doe-2020"]
    assert (alpha.kind, alpha.protocol, alpha.training_frames) == ("value-based", "dqn-2015", 1000)
    assert (alpha.settings, alpha.assumed) == ({"frame stack": 4}, ("frame stack",))
    assert (beta.paper, beta.training_frames, beta.unavailable, beta.read_in) == (None, None, "burnt", "a copy")
    pong, qbert = reading.read_results("small", place)
    assert (pong.entry, pong.task, pong.score, pong.uncertainty, pong.runs) == (alpha, "pong", -20.5, 0.5, 3)
    assert pong.uncertainty_kind == "standard deviation over 3 runs"
    assert (qbert.score, qbert.uncertainty, qbert.runs, qbert.note) == (1000.0, None, None, "doubtful")


def test_a_score_that_its_source_has_otherwise_keeps_both(write):
    header, first, second, *_ = SCORES.splitlines()
    place = write(scores=f"{header},as_published\n{first},-205\n{second},\n")
    pong, qbert = reading.read_results("small", place)
    assert (pong.score, pong.as_published) == (-20.5, -205.0)
    assert (pong.published.score, pong.published.as_published) == (-205.0, None)
    assert qbert.published is qbert


def test_scores_may_be_those_of_single_runs(write):
    header, first, second, *_ = SCORES.splitlines()
    per_run = second.replace("1000", "") + ",900 1000 1250"
    for wrong, told in ((f"{second},900 1000", "follow from the scores per run"), (per_run[:-4] + "x", "`float`")):
        with pytest.raises(ArcadeMarkError, match=f"line 3: .*{told}"):
            reading.read_results("small", write(scores=f"{header},per_run\n{first},\n{wrong}\n"))
    pong, qbert = reading.read_results("small", write(scores=f"{header},per_run\n{first},\n{per_run}\n"))
    assert (pong.score, pong.runs, pong.per_run) == (-20.5, 3, ())
    assert (qbert.score, qbert.runs, qbert.per_run) == (1050.0, 3, (900.0, 1000.0, 1250.0))


def test_an_entry_says_which_algorithm_it_is_where_its_source_calls_it_otherwise(write):
    alpha, beta = reading.read_entries("small", write(entries=ENTRY + 'same_as = "A"\n' + LOST)).values()
    assert (alpha.identity, beta.identity) == ("A", "Beta")
    assert alpha.qualified == "Alpha (Doe 2020)"


def test_a_letter_tells_two_papers_of_one_year_apart(write):
    two = SOURCES.replace("doe-2020", "doe-2020b")
    assert reading.read_sources(write(sources=SOURCES + two))["doe-2020b"].short == "Doe 2020b"


ENTRIES, TABLE, PAPERS = r"entries/small\.toml, \[Alpha\]", "small.csv", r"sources.toml, \[doe-2020\]"


@pytest.mark.parametrize(
    ("file", "old", "new", "told"),
    [
        (ENTRIES, 'source = "doe-2020"\n', "", "missing required field `source`"),
        (ENTRIES, 'source = "doe-2020"\n', 'source = "deo-2020"\n', "did you mean 'doe-2020'"),
        (ENTRIES, 'paper = "doe-2020"\n', 'paper = "roe-1999"\n', "unknown source 'roe-1999'"),
        (ENTRIES, 'kind = "value-based"', 'kind = "valuebased"', "'valuebased' - at `$.kind`"),
        (ENTRIES, 'reported = "evaluation"', 'reported = "final"', "$.reported"),
        (ENTRIES, 'protocol = "dqn-2015"', 'protocol = "dqn-2051"', "did you mean 'dqn-2015'"),
        (ENTRIES, 'table = "Table 1"', 'table = ""', "$.table"),
        (ENTRIES, "training_frames = 1_000", "training_frames = -1", "$.training_frames"),
        (ENTRIES, "training_frames", "training_frame", "unknown field `training_frame`"),
        (ENTRIES, 'hand = "first"', 'hand = "second"', "'read_in' is required"),
        (ENTRIES, 'hand = "first"', 'hand = "third"', "$.hand"),
        (ENTRIES, '"frame stack" = 4', '"frame stack" = [4]', "$.settings"),
        (ENTRIES, '"frame stack" = 4', '"frame stack" = nan', "not finite"),
        (ENTRIES, 'assumed = ["frame stack"]', 'assumed = ["colour"]', "unknown assumed setting 'colour'"),
        (TABLE, "Alpha,pong", "Alpa,pong", "did you mean 'Alpha'"),
        (TABLE, "Alpha,pong", "Alpha,ponk", "did you mean 'pong'"),
        (TABLE, "Alpha,pong", "Alpha,qbert", "line 3: a second score for 'Alpha' on 'qbert'"),
        (TABLE, "-20.5,0.5", "nan,0.5", "not finite"),
        (TABLE, "-20.5,0.5", ",0.5", "the score is empty"),
        (TABLE, "-20.5,0.5", "-20.5,few", "$.uncertainty"),
        (TABLE, "-20.5,0.5", "-20.5,", "an uncertainty and its kind belong together"),
        (TABLE, ",3,", ",0,", "$.runs"),
        (TABLE, "algorithm,task", "algorithm,game", "the columns are algorithm, game"),
        (TABLE, "1000,,,,doubtful", "1000,,,doubtful", "line 3"),
        (TABLE, "doubtful\n", "doubtful\nBeta,pong,1,,,,\n", "its entry has 'unavailable'"),
        (PAPERS, "year = 2020", 'year = "2020"', "$.year"),
        (PAPERS, 'title = "A Paper"', 'title = " "', "$.title"),
        (PAPERS, 'venue = "Somewhere"\n', "", "`venue`"),
    ],
)
def test_what_lacks_something_or_says_what_is_not_is_refused_with_its_place(write, file, old, new, told):
    name, text = {ENTRIES: ("entries", ENTRY), TABLE: ("scores", SCORES), PAPERS: ("sources", SOURCES)}[file]
    assert text.count(old) == 1
    with pytest.raises(ArcadeMarkError, match=file) as refused:
        reading.read_results("small", write(**{name: text.replace(old, new)}))
    assert told in str(refused.value)


def test_an_algorithm_without_scores_says_why(write):
    place = write(entries=ENTRY + LOST.replace('unavailable = "burnt"', ""))
    with pytest.raises(ArcadeMarkError, match="'Beta' has no scores; give the reason"):
        reading.read_results("small", place)


def test_a_changed_file_is_refused(write):
    place = write()
    (place / "scores/small.csv").write_text(SCORES.replace("1000", "1001"), encoding="utf-8")
    with pytest.raises(ArcadeMarkError, match="checksum"):
        reading.read_results("small", place)
