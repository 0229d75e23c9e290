"""Made-up files of each real form, with the table that is right beside each: ``NAME`` and ``NAME.expected.json``."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from score_files import read

from arcademark.errors import ArcadeMarkError
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


def text_of(header, rows, separator):
    quoted = [[f'"{cell}"' if "," in cell or ";" in cell else cell for cell in row] for row in (header, *rows)]
    return "\n".join(separator.join(row) for row in quoted) + "\n"


@st.composite
def tables_as_written(draw):
    """Draw scores by (algorithm, game, run), and a text that says them in some layout, with noise."""
    algorithms = draw(st.lists(st.sampled_from(ALGORITHMS), min_size=1, max_size=3, unique=True))
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
    return scores, text_of(order, rows, draw(st.sampled_from([",", "\t", ";"]))), options


@settings(deadline=None)
@given(tables_as_written())
def test_any_layout_with_any_noise_is_read_as_the_table_that_it_is(tmp_path_factory, written):
    scores, text, options = written
    path = tmp_path_factory.mktemp("table") / "table.csv"
    path.write_text(text)
    reading = read(path, **options)
    table, found = reading.table, {}
    for place in np.argwhere(~np.isnan(table.scores)):
        algorithm, task, run = place.tolist()
        found[table.algorithms[algorithm], table.tasks[task], run] = float(table.scores[algorithm, task, run])
    assert found == {(a, canonical_game(g), r): score for (a, g, r), score in scores.items()}, text
