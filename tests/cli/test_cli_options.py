import re

import click
import pytest

import own_games
from arcademark.catalogue.model import ALGORITHM_KINDS
from arcademark.cli import options
from arcademark.cli.commands import FULL
from arcademark.cli.main import cli
from arcademark.cli.play import playing
from arcademark.runs.request import default_directory
from arcademark.suite import protocols
from arcademark.suite.protocols import rules_of


@pytest.mark.parametrize(
    ("text", "seeds"), [("1", (0,)), ("3", (0, 1, 2)), ("3,7", (3, 7)), ("3,", (3,)), (" 5 , 0 ", (5, 0)), ("0,", (0,))]
)
def test_seeds_are_a_count_or_a_list(text, seeds):
    assert playing.seed_list(text) == seeds


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("1", 1),
        ("200_000_000", 200_000_000),
        ("2e6", 2_000_000),
        ("200k", 200_000),
        ("200M", 200_000_000),
        ("1.5m", 1_500_000),
        ("10B", 10**10),
        ("1.1M", 1_100_000),
    ],
)
def test_counts_may_be_written_short(text, count):
    assert options.COUNT.convert(text, None, None) == count


def test_episodes_are_a_count_or_all_starts():
    episodes = options.EpisodesType()
    assert [episodes.convert(text, None, None) for text in ("3", "2k", "all-starts")] == [3, 2_000, "all-starts"]
    with pytest.raises(click.UsageError, match="all-starts"):
        episodes.convert("all", None, None)


@pytest.mark.parametrize(
    ("agent", "protocol", "directory"),
    [
        ("random", "world-records", "runs/random"),
        ("random", "machado-2018", "runs/random-machado-2018"),
        ("a/my_agent.py:make", "world-records", "runs/my_agent-make"),
        ("pkg.mod:Agent", "saber", "runs/pkg.mod-Agent-saber"),
        ("models/pong.zip", "world-records", "runs/models-pong"),
        ("../0.pt", "dqn-2015", "runs/..-0-dqn-2015"),
        ("models/{game}/seed{seed}.zip", "dqn-2015", "runs/models-dqn-2015"),
    ],
)
def test_a_run_without_a_directory_is_named_after_its_agent_and_protocol(agent, protocol, directory):
    assert str(default_directory(agent, protocols.protocol(protocol))) == directory


def test_a_run_on_a_suite_is_named_after_it(tmp_path):
    assert str(default_directory("random", rules_of(None, "toy-text", {}))) == "runs/random-toy-text"
    own = str(own_games.describe(tmp_path))
    assert str(default_directory("random", rules_of(None, own, {}))) == "runs/random-catch"
    assert str(default_directory("random", rules_of("dqn-2015", own, {}))) == "runs/random-catch-dqn-2015"


@pytest.mark.parametrize(
    ("command", "former", "now"),
    [
        ("run random --games pong", "--shard=third", "--engine shard=third"),
        ("run random --games pong", "--dry-run", "--slurm dry_run=yes"),
        ("watch nowhere", "--scale 3", "--look scale=3"),
        ("watch nowhere", "--actions", "--look actions=yes"),
        ("subset search nowhere.csv", "--include a,b", "--tasks include=a,b"),
        ("subset search nowhere.csv", "--top 3", "--set top=3"),
        ("subset search", "--catalogue nobody-1999", "catalogue:nobody-1999"),
        ("subset coverage atari-5", "--transform none", "--set transform=none"),
        ("catalogue submit nowhere", "--cite authors=Doe", "--entry authors=Doe"),
        ("catalogue submit nowhere", "--paper doe-2026", "--entry paper=doe-2026"),
        ("leaderboard nowhere", "--no-films", "--no-animations"),
    ],
)
def test_a_former_option_is_read_as_what_it_is_now(invoke, command, former, now):
    refused = invoke(*command.split(), *former.split(), code=2)
    assert f"{former.split()[0].partition('=')[0]} is now {now}; " in refused.err
    assert "No such option" not in refused.err


@pytest.mark.parametrize(
    ("command", "former", "now"),
    [
        ("report nowhere", "--metric", "--normalize VALUE"),
        ("report nowhere", "--metric=", "--normalize VALUE"),
        ("report nowhere", "--metric --all", "--normalize VALUE"),
        ("report nowhere", "--to", "--save VALUE"),
        ("watch nowhere", "--scale", "--look scale=VALUE"),
        ("subset search", "--catalogue", "catalogue:VALUE"),
    ],
)
def test_a_former_option_without_its_value_is_refused_by_its_name_of_today(invoke, command, former, now):
    refused = invoke(*command.split(), *former.split(), code=2)
    assert f"{former.split()[0].rstrip('=')} is now {now}; give a value" in refused.err


@pytest.mark.parametrize(
    ("command", "dropped", "why"),
    [
        ("watch nowhere", "--overwrite", "ignored: an existing file"),
        ("info features actions nowhere --out FILE", "--overwrite", "ignored: an existing file"),
        ("runs export nowhere --out sets", "--minari", "not needed: --out NAME-v0 writes"),
    ],
)
def test_a_dropped_option_is_left_out_and_the_notice_says_what_to_do(invoke, command, dropped, why):
    refused = invoke(*command.split(), dropped, code=2)
    assert f"{dropped} is {why}" in refused.err
    assert "No such option" not in refused.err


def test_a_file_stays_where_a_script_still_says_overwrite(invoke, tmp_path):
    (tmp_path / "out.csv").write_text("mine")
    refused = invoke("catalogue", "export", "--out", tmp_path / "out.csv", "--overwrite", code=2)
    assert "has to be removed first" in refused.err
    assert (tmp_path / "out.csv").read_text() == "mine"


def test_a_former_option_of_another_command_is_unknown(invoke):
    assert "No such option '--overwrite'" in invoke("report", "nowhere", "--overwrite", code=2).err
    assert "No such option '--minari'" in invoke("run", "random", "--minari", code=2).err
    assert "No such option '--top'" in invoke("run", "random", "--top", "3", code=2).err
    assert "No such option '--shard'" in invoke("play", "pong", "--shard", "1/2", code=2).err
    assert "No such option '--shard'" in invoke("play", "pong", "--shard", code=2).err


def test_help_shows_the_usual_options_and_all_where_asked(invoke):
    assert " more." in invoke("subset", "search", "--help", code=0).out
    for words in (("--help", "all"), ("--help=all",), ("--help-all",)):
        assert "--nested" in invoke("subset", "search", *words, code=0).out
        assert " more." not in invoke("subset", "search", *words, code=0).out
    assert "--out" in invoke("run", "-h", code=0).out


@pytest.mark.parametrize(
    ("group", "below", "option"),
    [
        ((), "arcademark subset search [OPTIONS]", "--nested"),
        (("runs",), "arcademark runs export [OPTIONS]", "--actions"),
        (("info",), "arcademark info suites check [OPTIONS]", "--episodes"),
    ],
)
def test_the_full_help_of_a_group_has_that_of_each_command(invoke, group, below, option):
    usual, full = (invoke(*group, "--help", *words, code=0).out for words in ((), ("all",)))
    assert full.startswith(usual.rstrip())
    assert below in full
    assert option in full
    assert below not in usual
    assert " more." not in full


def test_the_help_of_a_submission_names_the_kinds_of_algorithms(invoke):
    shown = "".join(invoke("catalogue", "submit", "--help", code=0).out.split())
    assert f"({','.join(ALGORITHM_KINDS)})" in shown


def every_command(context):
    """The contexts of a command and of those below it."""
    yield context
    if isinstance(context.command, click.Group):
        for name in context.command.list_commands(context):
            yield from every_command(click.Context(context.command.get_command(context, name), context, name))


def test_no_word_of_the_help_is_broken_in_a_terminal_of_80_columns():
    top = click.Context(cli, info_name="arcademark")
    top.meta[FULL] = True
    for context in every_command(top):
        narrow, wide = set(), set()
        for width, words in ((80, narrow), (2_000, wide)):
            context.terminal_width = context.max_content_width = width
            words |= set(re.sub(r"-\s+", "-", context.get_help()).split())
        assert narrow <= wide, context.command_path
