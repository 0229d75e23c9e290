"""The Atari-5 paper's Appendix A: hours, prices, energy and carbon, from the same assumptions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from arcademark.reproduce import atari5_data as data
from arcademark.reproduce.claims import decided
from arcademark.reproduce.comparison import Comparison
from arcademark.subset import costs
from arcademark.suite.costs import running

SUITE = 57


def appendix() -> tuple[Comparison, ...]:
    """Check what Appendix A states beside Table 6."""
    return tuple(_appendix())


def _appendix() -> Iterator[Comparison]:
    rainbow, agent57 = running("rainbow"), running("agent57")
    days = rainbow.hours_per_task / costs.HOURS_PER_DAY
    yield decided("Appendix A, Rainbow: days of one GPU a game", "10", f"{days:g}", holds=days == 10)
    hours = costs.hours(agent57.training_frames or 0, agent57.frames_per_second or 0)
    yield data.slip("Appendix A, Agent-57: hours", f"{hours:.1f}, rounded {hours:.0f}")
    found = [costs.cost(item, SUITE) for item in (rainbow, agent57)]
    shares = [(item.preemptive or 0.0) / item.standard for item in found]
    yield data.slip("Appendix A: preemptive against standard cost", " and ".join(f"{share:.2f}" for share in shares))
    precise = costs.cost(replace(agent57, hours_per_task=hours), SUITE)
    energy, carbon = (precise.kilowatt_hours or 0.0), (precise.carbon_kilograms or 0.0)
    yield data.slip("Appendix A, Power Usage: energy of an Agent57 run", f"{energy / 1000:.3f} MWh")
    tons = carbon / costs.KILOGRAMS_PER_POUND / costs.POUNDS_PER_SHORT_TON
    yield data.slip("Appendix A, Carbon Emissions", f"{tons:.2f} short tons, {carbon / 1000:.2f} tonnes")
    five = [costs.cost(item, len(data.ATARI_5)) for item in (rainbow, agent57)]
    yield decided(
        "§1 and §9: cost of Atari-5 instead of all games",
        "less than one-tenth",
        f"Rainbow ${five[0].standard:,.0f} of ${found[0].standard:,.0f}; "
        f"Agent57 ${five[1].standard:,.0f} of ${found[1].standard:,.0f}",
        holds=all(few.standard < 0.1 * whole.standard for few, whole in zip(five, found, strict=True)),
    )
