"""Made-up files of each real form, with the table that is right beside each: ``NAME`` and ``NAME.expected.json``."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from score_files import read

from arcademark.errors import ArcadeMarkError
from arcademark.scores.readers.words.column_names import role_of
from arcademark.suite.tasks import canonical_game

CORPUS = Path(__file__).parent / "corpus"
FILES = sorted(path for path in CORPUS.iterdir() if not path.name.endswith(".expected.json"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_each_form_is_read_as_it_should_be_or_refused_with_a_way_out(path):
    expected = json.loads(path.with_name(f"{path.name}.expected.json").read_text())
    if "error" in expected:
        with pytest.raises(ArcadeMarkError) as caught:
            read(path, **expected.get("options", {}))
        assert expected["error"] in str(caught.value)
        return
    reading = read(path, **expected.get("options", {}))
    table, scores = reading.table, expected["scores"]
    assert table.algorithms == tuple(scores)
    assert set(table.tasks) == {task for tasks in scores.values() for task in tasks}
    for algorithm, tasks in scores.items():
        for task, runs in tasks.items():
            row = table.scores[table.algorithms.index(algorithm), table.tasks.index(task)]
            np.testing.assert_array_equal(row, [np.nan if run is None else run for run in runs])
    assert expected.get("read_as", "") in reading.read_as
    for note in expected.get("notes", []):
        assert any(note in said for said in reading.notes), reading.notes


GAMES = ("Pong", "Q*bert", "ALE/Alien-v5", "BreakoutNoFrameskip-v4")
ALGORITHMS = ("DQN", "PPO (ours)", "Rainbow, tuned", "A2C-large", "Mean actor", "run-DQN", "R2")
MARKS = ("{}", "**{}**", "{}†", "`{}`", "<b>{}</b>", " {} ", "{} ± 1.5", "\\textbf{{{}}}")


def delimited(separator):
    def text(header, rows):
        quoted = [[f'"{cell}"' if re.search("[,;|]", cell) else cell for cell in row] for row in (header, *rows)]
        return "\n".join(separator.join(row) for row in quoted) + "\n"

    return text


def markdown(header, rows):
    lines = [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in (header, *rows)]
    return "\n".join(
        ["# Scores", "", "As measured.", "", lines[0], f"|{'---|' * len(header)}", *lines[1:], "", "That is all."]
    )


def widths(table):
    return [max(map(len, column)) for column in zip(*table, strict=True)]


def drawn(header, rows):
    size = widths((header, *rows))
    rule = {mark: "+" + "+".join(mark * (width + 2) for width in size) + "+" for mark in "-="}
    lines = ["| " + " | ".join(map(str.ljust, row, size)) + " |" for row in (header, *rows)]
    body = [part for line in lines[1:] for part in (line, rule["-"])]
    return "\n".join(["Scores", "======", "", rule["-"], lines[0], rule["="], *body, ""])


def simple(header, rows):
    size = widths((header, *rows))
    rule = "  ".join("=" * width for width in size)
    lines = ["  ".join(map(str.ljust, row, size)).rstrip() for row in (header, *rows)]
    return "\n".join(["Scores", "------", "", rule, lines[0], rule, *lines[1:], rule, ""])


def latex(header, rows):
    lines = [" & ".join(re.sub("[#%_]", r"\\\g<0>", cell) for cell in row) + r" \\" for row in (header, *rows)]
    head = [r"\begin{table}", r"\caption{Scores}", rf"\begin{{tabular}}{{{'l' * len(header)}}}", r"\toprule"]
    return "\n".join([*head, lines[0], r"\midrule", *lines[1:], r"\bottomrule", r"\end{tabular}", r"\end{table}"])


def html(header, rows):
    lines = ["".join(f"<td>{cell}</td>" for cell in row) for row in (header, *rows)]
    return f"<p>Scores</p><table>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"


def records(header, rows):
    return json.dumps([dict(zip(header, row, strict=True)) for row in rows])


def json_lines(header, rows):
    lines = [json.dumps(dict(zip(header, row, strict=True))) for row in rows]
    return "\n".join(lines) + "\n" if len(lines) > 1 else f"[{lines[0]}]"


def split(header, rows):
    return json.dumps({"columns": list(header), "index": list(range(len(rows))), "data": [list(row) for row in rows]})


FORMS = (
    *map(delimited, ",\t;|"), markdown, drawn, simple, latex, html, records, json_lines, split
)  # fmt: skip


PLAIN = st.sampled_from(ALGORITHMS)


@st.composite
def tables_as_written(draw, names=PLAIN):
    """Draw scores by (algorithm, game, run), and a text that says them in some layout and form, with noise."""
    algorithms = draw(st.lists(names, min_size=1, max_size=3, unique_by=str.lower))
    games = draw(st.lists(st.sampled_from(GAMES), min_size=1, max_size=4, unique=True))
    layout = draw(
        st.sampled_from(["by game", "by algorithm", "long", "seeds", "seeds of algorithms", "by game and run"])
    )
    runs = draw(st.integers(2, 3)) if layout in ("seeds", "seeds of algorithms", "by game and run") else 1
    algorithms = algorithms[:1] if layout == "seeds" else algorithms
    number = st.integers(-20, 9000)
    scores = {(a, g, r): draw(number) + 0.5 for a in algorithms for g in games for r in range(runs)}
    mark = st.sampled_from(MARKS) if draw(st.booleans()) else st.just("{}")
    cells = {where: draw(mark).format(score) for where, score in scores.items()}
    game, seed = (
        draw(st.sampled_from(["game", "Games", "env_id", "Atari Game"])),
        draw(st.sampled_from(["seed", "run", "s"])),
    )
    columns = {}
    if layout in ("by game", "by game and run"):
        keys = [(g, r) for g in games for r in range(runs)]
        columns[game] = [g for g, _ in keys]
        columns |= {"seed": [str(r) for _, r in keys]} if runs > 1 else {}
        columns |= {a: [cells[a, g, r] for g, r in keys] for a in algorithms}
    elif layout == "by algorithm":
        columns = {"method": algorithms} | {g: [cells[a, g, 0] for a in algorithms] for g in games}
    elif layout == "long":
        keys = [(a, g) for a in algorithms for g in games]
        columns = {"algo": [a for a, _ in keys], game: [g for _, g in keys]}
        columns[draw(st.sampled_from(["score", "mean_reward", "return"]))] = [cells[a, g, 0] for a, g in keys]
    elif layout == "seeds":
        columns = {game: games} | {f"{seed} {r}": [cells[algorithms[0], g, r] for g in games] for r in range(runs)}
    else:
        columns = {game: games}
        columns |= {f"{a} seed {r}": [cells[a, g, r] for g in games] for a in algorithms for r in range(runs)}
    size = len(next(iter(columns.values())))
    spreads = [f"{a} std" for a in algorithms] if layout == "by game" else ["std"]
    noise = st.sampled_from(["Unnamed: 0", "n", "rank", "source", "HNS", *spreads])
    for name in draw(st.lists(noise, max_size=3, unique=True)):
        columns[name] = [{"source": "a paper"}.get(name, str(row)) for row in range(size)]
    order = draw(st.permutations(list(columns)))
    rows = draw(st.permutations([[columns[name][row] for name in order] for row in range(size)]))
    options = {"algorithm": algorithms[0]} if layout == "seeds" else {}
    return scores, draw(st.sampled_from(FORMS))(order, rows), options


def found(reading):
    """Return scores by (algorithm, game, run)."""
    table = reading.table
    places = (place.tolist() for place in np.argwhere(~np.isnan(table.scores)))
    return {(table.algorithms[a], table.tasks[g], r): float(table.scores[a, g, r]) for a, g, r in places}


def right(scores):
    return {(algorithm, canonical_game(game), run): score for (algorithm, game, run), score in scores.items()}


@settings(max_examples=300)
@given(tables_as_written())
def test_any_layout_with_any_noise_is_read_as_the_table_that_it_is(tmp_path_factory, written):
    scores, text, options = written
    path = tmp_path_factory.mktemp("table") / "table.txt"
    path.write_text(text)
    assert found(read(path, **options)) == right(scores), text


WORDS = (
    "DQN",
    "max",
    "seed",
    "run",
    "1",
    "2",
    "v2",
    "10M",
    "human",
    "n",
    "R",
    "norm",
    "of",
    "é",
    "ours",
)
NAMES = st.builds(
    str.join, st.sampled_from([" ", "_", "-", ""]), st.lists(st.sampled_from(WORDS), min_size=1, max_size=3)
).filter(lambda name: role_of(name) is None and not re.search(r"(seed|run)[ _-]?\d", name))  # which name runs


@pytest.mark.slow
@pytest.mark.parametrize("part", range(8))  # of 10,000 tables
@settings(max_examples=1_250)
@given(written=tables_as_written(NAMES))
def test_a_table_with_any_names_is_read_as_it_is_or_refused_and_never_as_another(tmp_path_factory, part, written):
    scores, text, options = written
    path = tmp_path_factory.getbasetemp() / f"any{part}.txt"
    path.write_text(text)
    try:
        reading = read(path, **options)
    except ArcadeMarkError:
        return
    left_out = {name for name, _, _ in right(scores) if any(name in column for column in reading.ignored)}  # it says so
    left_out -= {*reading.table.algorithms}
    kept = {key: score for key, score in right(scores).items() if key[0] not in left_out}
    assert found(reading) == kept, (text, reading.read_as)
