"""Made-up files of each real form, with the table that is right beside each: ``NAME`` and ``NAME.expected.json``."""

import json
from pathlib import Path

import numpy as np
import pytest
from score_files import read

from arcademark.errors import ArcadeMarkError

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
    for note in expected.get("notes", []):
        assert any(note in said for said in reading.notes), reading.notes
