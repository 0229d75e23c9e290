"""Episode rows that are valid SQLite and wrong: refused in one line that names place and remedy."""

import pytest

import altering
from altering import alter
from arcademark.errors import ArcadeMarkError
from arcademark.records.database import RESTORE, TABLES
from arcademark.records.reading import read_run
from arcademark.runs.execution import execute

pytestmark = pytest.mark.usefixtures("in_this_process")

WHERE = "WHERE trial LIKE 'random-toy-s4%' AND episode = 1"


@pytest.fixture(scope="module")
def finished(tmp_path_factory, toy_plan, paced):
    """Two seeds of an agent and of a learner."""
    directory = tmp_path_factory.mktemp("rows") / "run"
    execute(toy_plan("random", paced("Learner"), seeds=(0, 4), training_episodes=6), directory, workers=1)
    return directory


def refused(run):
    with pytest.raises(ArcadeMarkError) as error:
        read_run(run)
    message = str(error.value)
    assert message.startswith(f"{run}: run.sqlite is damaged: ")
    assert message.endswith(f"; {RESTORE}")
    assert message.isprintable()
    assert len(message) < 500
    return message


@pytest.mark.parametrize("change", ["score = 9e999", "frames = printf('%s%.9999c', char(27), 'x')", "episode = 3"])
def test_a_value_that_no_episode_has_is_named_by_row_and_column(run, change):
    alter(run, f"UPDATE episode SET {change} {WHERE}")
    with altering.database(run) as database:
        column = change.partition(" ")[0]
        query = f"SELECT rowid FROM episode WHERE phase != 'training' AND {change.replace('= 9e999', '> 1e300')}"
        (row,) = database.execute(query).fetchone()
    assert f"row {row} of table episode has a {column} of the wrong type or range" in refused(run)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (
            "DELETE FROM episode WHERE trial LIKE 'random-toy-s4%' AND episode = 1",
            "has 2 evaluation episodes, but 3 by",
        ),
        ("DELETE FROM episode WHERE trial LIKE 'random-toy-s4%'", "has 0 evaluation episodes, but 3 by"),
        ("DELETE FROM episode WHERE phase = 'training' AND episode = 5", "has 5 training episodes, but 6 by"),
        ("DELETE FROM episode WHERE phase = 'training' AND episode = 2", "training episode 3 of trial"),
        ("DELETE FROM episode WHERE phase = 'training'", "has 0 training episodes, but 6 by its checkpoint"),
        ("DELETE FROM checkpoint", "has 6 training episodes, but 0 by its checkpoint"),
        ("UPDATE checkpoint SET episodes = 'six'", "checkpoint"),
        ("UPDATE evaluation SET episodes = 4", "has 3 evaluation episodes, but 4 by its commands' notes"),
        ("UPDATE evaluation SET episodes = 2", "has 3 evaluation episodes, but 2 by its commands' notes"),
        ("UPDATE evaluation SET episodes = 9e999", "evaluation"),
        ("UPDATE evaluation SET trial = 'someone' WHERE trial LIKE 'random-toy-s4%'", "trial"),
        (
            "CREATE TABLE copy AS SELECT * FROM episode; DROP TABLE episode; ALTER TABLE copy RENAME TO episode;"
            f"INSERT INTO episode SELECT * FROM episode {WHERE}",
            "is recorded twice",
        ),
        (";".join(f"DELETE FROM {table}" for table in TABLES), "it contains no trial"),
    ],
)
def test_episodes_that_are_lost_or_too_many_are_refused(run, change, told):
    alter(run, *change.split(";"))
    assert told in refused(run)


def test_a_table_that_its_index_does_not_know_is_refused(run):
    """The bytes of an index and of its table may disagree, and `quick_check` does not compare them."""
    database = run / "run.sqlite"
    with altering.database(run) as opened:
        (name,) = opened.execute("SELECT id FROM trial WHERE id LIKE 'random-toy-s4%'").fetchone()
        (root,) = opened.execute(
            "SELECT rootpage FROM sqlite_master WHERE name LIKE 'sqlite_autoindex_episode%'"
        ).fetchone()
        (size,) = opened.execute("PRAGMA page_size").fetchone()
    content = bytearray(database.read_bytes())
    page = slice((root - 1) * size, root * size)
    assert name.encode() in content[page]
    content[page] = content[page].replace(name.encode(), name.replace("s4", "s0").encode(), 1)
    database.write_bytes(content)
    with altering.database(run) as opened:
        assert opened.execute("PRAGMA quick_check").fetchone() == ("ok",)
    assert "by its index" in refused(run)
