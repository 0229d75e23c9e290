"""``arcademark report --tensorboard``: what is written is read again."""

from pathlib import Path

from arcademark.runs.store.reading import read_run
from arcademark.scores.readers.base import Options
from arcademark.scores.readers.logs.tensorboard import read_events


def test_scores_are_written_for_tensorboard_and_refused_where_something_is(invoke, played):
    written = invoke("report", "run", "--quiet", "--tensorboard", "events")
    assert (written.code, written.err) == (0, "")
    files = sorted(Path("events").rglob("events.out.tfevents.*"))
    record = read_run("run")
    assert [path.parent for path in files] == [Path("events", trial.id) for trial in record.trials]
    for path, trial in zip(files, record.trials, strict=True):
        (log,) = read_events(path, Options(tag="evaluation/score"))
        assert log.values.tolist() == record.evaluation(trial).score.tolist()
    refused = invoke("report", "run", "--tensorboard", "events")
    assert (refused.code, refused.out) == (2, "")
    assert "is there already" in refused.err
