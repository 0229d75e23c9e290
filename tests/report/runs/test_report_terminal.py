import pytest
from made_up import ATARI_5, analysed, made_up_run
from shown import printed


@pytest.mark.parametrize("width", [80, 120])
def test_golden_terminal(report_one, report_two, width, golden):
    text = printed(report_one, width) + "\n" + printed(report_two, width, everything=True)
    assert max(map(len, text.splitlines())) <= width
    golden(f"terminal_{width}.txt", text)


def test_piped_output_has_no_escape_codes(report_two):
    assert "\x1b" not in printed(report_two, 80)
    assert "\x1b[" in printed(report_two, 80, colour=True)


def test_agents_of_one_name_keep_their_runs_beside_them():
    text = printed(analysed(made_up_run("runs/a"), made_up_run("runs/b")), 120)
    assert sum("random [b]" in line for line in text.splitlines()) >= len(ATARI_5)
