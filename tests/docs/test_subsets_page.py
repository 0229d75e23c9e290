"""What the pages on subsets show is executed, and so is the example of another benchmark."""

import re
import shlex
from pathlib import Path

import numpy as np
import pytest

from arcademark.subset.predict import files
from arcademark.subset.predict.spread import conformal_half_width
from arcademark.suite.subsets import subset
from command_line import execute

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "subsets.md").read_text(encoding="utf-8")


def blocks(language, page=PAGE):
    return re.findall(rf"^```{language}\n(.*?)^```", page, flags=re.MULTILINE | re.DOTALL)


def test_the_model_file_on_the_page_is_one():
    (text,) = blocks("json", (ROOT / "docs" / "json.md").read_text(encoding="utf-8"))
    model = files.loads(text)
    assert files.loads(files.dumps(model)) == model


@pytest.mark.slow
def test_the_example_of_the_api(tmp_path):
    (text,) = blocks("python", (ROOT / "docs" / "research" / "subsets.md").read_text(encoding="utf-8"))
    (tmp_path / "example.py").write_text(text, encoding="utf-8")
    out = execute(tmp_path, ["python", "example.py"])
    assert "('battle_zone', 'double_dunk', 'name_this_game', 'phoenix', 'qbert') 0.104" in out
    assert "True" in out


def test_errors_of_published_models_on_other_papers_are_those_of_the_models():
    text = (ROOT / "docs" / "research" / "subsets.md").read_text(encoding="utf-8")
    for name in ("atari-1", "atari-3", "atari-5", "atari-10", "atari-3-val", "atari-5-val"):
        own, others = (known := subset(name).nested).errors, known.other_papers
        sizes = np.array([size for sizes in others for size in sizes])
        widths = [conformal_half_width(errors, 0.9) for errors in (own, (*own, *others))]
        rest = [conformal_half_width((*own, *others[:i], *others[i + 1 :]), 0.9) for i in range(len(others))]
        covered = [sum(sizes <= widths[0])]
        covered.append(sum(size <= width for sizes, width in zip(others, rest, strict=True) for size in sizes))
        errors = 100 * np.log(10) * np.array([sizes.mean(), np.median(sizes)])
        cells = [f"{len(sizes)} ({len(others)})", "{:.1f} ({:.1f})".format(*errors)]
        for width, count in zip(widths, covered, strict=True):
            cells += [f"×/÷ {10**width:.2f}", f"{count} of {len(sizes)}"]
        assert f"| {name.title()} | {' | '.join(cells)} |" in text


@pytest.mark.slow
def test_another_benchmark(tmp_path):
    out = execute(tmp_path, ["python", str(ROOT / "examples" / "another_benchmark.py")])
    assert "10 subsets, proven: True" in out
    assert 70 < float(re.search(r"skill 90 %: (\d+) %", out)[1]) < 110
    value, low, high = map(float, re.search(r"climb: (\d+) % on average, 90 % from (\d+) to (\d+)", out).groups())
    assert 70 < low < value < high < 140
    assert re.search("play next: (coin run|star pilot|cave)", out)
    text = (ROOT / "examples" / "another_benchmark.py").read_text(encoding="utf-8")
    for line in re.findall(r"^    arcademark (.*)$", text, flags=re.MULTILINE):
        assert execute(tmp_path, ["arcademark", *shlex.split(line)])


def test_every_command_and_option_on_the_page_exists():
    from arcademark.cli.play import run
    from arcademark.cli.predict import subset

    commands = [*subset.command.commands.values(), run.command]
    known = {option for one in commands for param in one.params for option in param.opts}
    named = set(re.findall(r"`?(--[a-z][a-z-]*)", PAGE))
    assert named - known <= {"--help", "--write"}
    for line in "".join(blocks("sh")).splitlines():
        words = shlex.split(line, comments=True)
        assert words[1] in ("run", "subset", "reproduce")
        if words[1] == "subset":
            assert words[2] in subset.command.commands
