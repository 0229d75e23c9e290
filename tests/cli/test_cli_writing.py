"""Files that a command writes: what is replaced, and what never is."""

import os
import stat
from types import SimpleNamespace

import pytest

from arcademark.analysis.runs import learning
from arcademark.errors import ArcadeMarkError
from arcademark.files import write_document
from arcademark.pages.figures import files
from arcademark.pages.figures.model import CurveFigure, CurvePanel, Curves
from arcademark.pages.render import html
from arcademark.pages.render.blocks import Document
from arcademark.subset.predict import files as subset_files
from arcademark.subset.predict.model import SubsetModel

GENERATOR = '<meta name="generator" content="ArcadeMark 0.1.0">'
PAGE = f"<!doctype html>\n{GENERATOR}<p>new"


def figures():
    curve = CurveFigure((1.0, 2.0), (1.0, 2.0))
    model = Curves((CurvePanel("t", "x", (1.0, 2.0), (0.0, 2.0), ((1.0, "1"),), (), (curve,)),), legend=(("[/]", 0),))
    return {kind: files.file(model, kind, "a") for kind in files.KINDS}


def put(path, content=PAGE, **how):
    write_document(path, content, **how)


def test_every_kind_of_file_that_is_written_replaces_its_own_and_no_other(tmp_path):
    model = SubsetModel("m", ("a",), (1.0,), 0.0, 0.1, "median", None, "c")
    written = {
        **figures(),
        ".html": html.render(Document("A page", "report", "", ())),
        ".json": subset_files.dumps(model),
        ".csv": learning.as_csv(SimpleNamespace(runs=())),
    }
    for kind, content in written.items():
        path = tmp_path / f"a{kind}"
        put(path, content)
        put(path, content)
        before = path.read_bytes()
        for other in written:
            if other != kind:
                with pytest.raises(ArcadeMarkError, match="was not written by ArcadeMark as such a file"):
                    put(path, written[other])
        foreign = before.replace(b"ArcadeMark", b"SomebodyOf").replace(b"arcademark", b"somebodyof")
        path.write_bytes(foreign.replace(b"end_frame", b"frame_end"))
        with pytest.raises(ArcadeMarkError, match="was not written by ArcadeMark as such a file"):
            put(path, content)


def test_a_link_is_followed_and_what_it_leads_to_is_judged(tmp_path):
    link, page, notes = (tmp_path / name for name in ("link.html", "page.html", "notes.txt"))
    put(page)
    link.symlink_to(page)
    put(link, PAGE + "er")
    assert (link.is_symlink(), page.read_text()) == (True, PAGE + "er")
    notes.write_text("mine")
    for target in (notes, tmp_path / "nowhere", link):
        link.unlink()
        link.symlink_to(target)
        with pytest.raises(ArcadeMarkError, match=r"link\.html:"):
            put(link)
    assert (notes.read_text(), sorted(path.name for path in tmp_path.iterdir())) == (
        "mine",
        ["link.html", "notes.txt", "page.html"],
    )


def test_no_link_that_waits_in_the_folder_leads_a_draft_astray(tmp_path):
    notes = tmp_path / "notes.txt"
    notes.write_text("mine")
    (tmp_path / ".page.html.draft").symlink_to(notes)
    put(tmp_path / "page.html")
    assert (notes.read_text(), (tmp_path / "page.html").read_text()) == ("mine", PAGE)


def test_a_pipe_is_written_to_and_stays_one(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    put(pipe)
    assert os.read(reader, 100).decode() == PAGE
    os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
