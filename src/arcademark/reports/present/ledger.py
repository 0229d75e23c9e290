"""The ledger: what was evaluated on test games, and what of it should not have been."""

from __future__ import annotations

from collections.abc import Iterator

from arcademark.reports import wording
from arcademark.reports.blocks import Block, Cell, Document, Facts, Notices, Prose, Section, Table, section, table
from arcademark.reports.document import Notice
from arcademark.reports.runs import tuning
from arcademark.reports.runs.ledger import Evaluation, LedgerView, told


def document(shown: LedgerView) -> Document:
    """Show a ledger."""
    return Document(f"Ledger of {wording.plural(len(shown.runs), 'run')}", "ledger", "", tuple(_blocks(shown)))


def _blocks(shown: LedgerView) -> Iterator[Block]:
    warnings = [Notice("test_games", "warning", told(account)) for account in shown.accounts if account.repeated]
    warnings += [Notice("unread", "warning", f"left out: {run.reason}") for run in shown.unread]
    if warnings:
        yield Notices(tuple(warnings))
    if shown.accounts:
        yield section(f"Evaluated on test {shown.noun}s", _accounts(shown))
    else:
        yield Prose(f"No test {shown.noun} was evaluated.")
    if shown.accounts and shown.kept:
        yield Prose(f"No algorithm met a test {shown.noun} with more than one setting.", "good")
    yield section("Every evaluation", *map(_evaluation, shown.evaluations), detail=True, folded=True)
    others = dict.fromkeys(tuning.titled(item.game, item.suite) for item in shown.evaluations if not item.test)
    unsplit = f"; {tuning.unsplit(shown.unsplit)}" if shown.unsplit else ""
    known = (
        f"On other {shown.noun}s, where settings may be tried: {wording.shortened(others)}{unsplit}. " if others else ""
    )
    yield Prose(f"{known}What was deleted is not known here.", "weak")


def _accounts(shown: LedgerView) -> Table:
    rows: list[tuple[Cell | str, ...]] = []
    for account in shown.accounts:
        below = ", ".join(filter(None, ("a baseline" if account.baseline else "", account.suite)))
        name = Cell(account.algorithm, "strong", below)
        for use in account.uses:
            games = tuning.titled(use.games[0], account.suite) if len(use.games) == 1 else wording.count(len(use.games))
            counts = (wording.count(number) for number in (len(use.runs), use.trials, use.episodes))
            when = " … ".join(dict.fromkeys((use.first[:10], use.last[:10])))
            rows.append((name, use.setting, games, *counts, when))
    columns = ("algorithm", "setting", f"{shown.noun}s", "runs", "trials", "episodes", "when")
    return table(columns, rows, names=2, grouped=True)


def _evaluation(item: Evaluation) -> Section:
    seeds = wording.shortened(map(str, item.seeds), most=10)
    facts = (
        ("setting", item.setting),
        ("protocol", item.protocol),
        ("played", f"{wording.plural(item.episodes, 'episode')}, seed{'' if len(item.seeds) == 1 else 's'} {seeds}"),
        ("begun", f"{item.begun}, {item.directory}"),
        *(("command", command) for command in item.commands),
    )
    kind = "test" if item.test else "not for testing"
    return section(f"{item.algorithm} on {tuning.titled(item.game, item.suite)} ({kind})", Facts(facts))
