"""Which steps made a run fail: for a terminal, and as a page. Both show the document of `blame.json`."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING, Any

from faultwire.report.html import environment
from faultwire.report.text import clip, line

if TYPE_CHECKING:
    from collections.abc import Iterator

BAR = 28
"""Columns of a bar; lines stay within 60."""
WIDTH = 60
SHOWN = 12
"""Parts without a part in the failure that a terminal shows."""
NAMED = ("cause", "needed", "enough")


def render(found: dict[str, Any]) -> str:
    """The page: one file without a script."""
    parts = found["parts"]
    return (
        environment()
        .get_template("blame.html.j2")
        .render(
            doc=found,
            blamed=[parts[at] for at in found["blamed"]],
            top=parts[found["blamed"][0]] if found["blamed"] else None,
            curve=picture(found["curve"]) if found["curve"] else None,
        )
    )


def lines(found: dict[str, Any]) -> Iterator[str]:
    """The result in lines of at most 60 columns, but for what cannot be broken."""
    parts, blamed = found["parts"], found["blamed"]
    yield headline(found)
    for at in blamed:
        yield from _part(parts[at])
    others = [part for at, part in enumerate(parts) if at not in blamed]
    for part in others[:SHOWN]:
        yield from _part(part)
    if len(others) > SHOWN:
        yield f"and {len(others) - SHOWN} more, in blame.json"
    for pair in found["pairs"]:
        first, second = (_name(parts[pair[end]]) for end in ("first", "second"))
        word = "are needed together" if pair["interaction"]["value"] > 0 else "can stand for each other"
        yield f"{first} and {second} {word}: {_span(pair['interaction'])}"
    if (change := (found["curve"] or {}).get("change")) is not None:
        between = f" (#{change['low']} to #{change['high']})" if change["low"] != change["high"] else ""
        before, after = rates_around(found["curve"])
        yield f"forked from #{change['exchange']} on{between}, {after:.0%} of runs fail,"
        if _shares_its_exchange(found["curve"]):
            yield f"  without the last of its changes {before:.0%}"
        else:
            yield f"  forked before it {before:.0%}"
    simple = found["baselines"]
    rules = [
        f"{name} #{simple[key]}"
        for key, name in (
            ("first_step", "first step"),
            ("last_step", "last step"),
            ("first_fault", "first fault"),
        )
        if simple[key] is not None
    ]
    yield "simple rules:"
    yield f"  {', '.join(rules)}; at random {simple['random']:.0%}"


def headline(found: dict[str, Any]) -> str:
    """The result in one sentence."""
    names = [_name(found["parts"][at]) for at in found["blamed"]]
    open_ones = sum(part["verdict"] in ("open", "untestable") for part in found["parts"])
    if names:
        many = "makes" if len(names) == 1 else "make"
        return f"{', '.join(names[:5])}{' …' if len(names) > 5 else ''} {many} the failure"
    if open_ones:
        return f"no part is blamed so far; {open_ones} of {len(found['parts'])} are not decided"
    if len(found["parts"]) == 1:
        return "the only part neither makes the failure nor is needed for it"
    return f"none of the {len(found['parts'])} parts makes the failure on its own or is needed for it"


def rates_around(curve: dict[str, Any]) -> tuple[float, float]:
    """The failure rates of runs that are forked before the change point, and from it on."""
    step = curve["change"]["step"]
    rates = []
    for points in (curve["points"][:step], curve["points"][step:]):
        rates.append(sum(one["failed"] for one in points) / max(1, sum(one["runs"] for one in points)))
    return rates[0], rates[1]


def _shares_its_exchange(curve: dict[str, Any]) -> bool:
    """Does the rate change between two parts of one exchange, such as two faults that acted on it?"""
    points, step = curve["points"], curve["change"]["step"]
    before, after = points[step - 1 : step + 1]
    return bool(before["exchange"] == after["exchange"])


def picture(curve: dict[str, Any]) -> dict[str, Any]:
    """The curve as points of a drawing: x by position, y by rate, 0 to 100 from top to bottom."""
    points = [{**one, "step": step} for step, one in enumerate(curve["points"]) if one["runs"]]
    across = max(1, len(points) - 1)
    drawn = [
        {
            **one,
            "x": round(20 + 660 * at / across, 1),
            "y": _y(one["failed"] / one["runs"]),
            "top": _y(one["high"]),
            "bottom": _y(one["low"]),
        }
        for at, one in enumerate(points)
    ]
    change = curve["change"]
    at_change = next((one["x"] for one in drawn if change and one["step"] == change["step"]), None)
    return {"points": drawn, "change": change, "x": at_change, "width": 700, "height": 130}


def _y(rate: float) -> float:
    return round(115 - 100 * rate, 1)


def _name(part: dict[str, Any]) -> str:
    return f"#{part['exchange']}"


def _part(part: dict[str, Any]) -> Iterator[str]:
    yield clip(f"{_name(part)} {line(part['label'], 48)}", WIDTH)
    yield f"  {bar(part['blame'])} {_span(part['blame'])}"
    if part["verdict"] in NAMED:
        yield f"  {part['verdict']}: fails {_rate(part['without'])} without it, {_rate(part['alone'])} alone"
    elif part["verdict"] != "none":
        yield from wrap(part["words"], WIDTH, initial_indent="  ", subsequent_indent="  ")
    if part.get("inside"):
        yield from _inside(part["inside"])


def _inside(inside: dict[str, Any]) -> Iterator[str]:
    """What is to blame in an answer: its pieces, and why there is no more."""
    for piece in inside["pieces"]:
        more = f" and {len(piece['names']) - 1} more" if len(piece["names"]) > 1 else ""
        yield f"  in it {line(piece['names'][0], 44)}{more}"
        yield f"    failed: {line(piece['failed'], 46)}"
        yield f"    calm:   {line(piece['calm'], 46)}"
        yield (
            f"    {piece['verdict']}: fails {_rate(piece['without'])} without it, "
            f"{_rate(piece['alone'])} alone"
        )
    if inside["note"]:
        yield from wrap(f"not taken apart further: {line(inside['note'], 200)}", WIDTH,
                        initial_indent="  ", subsequent_indent="    ")  # fmt: skip


def bar(interval: dict[str, float]) -> str:
    """A bar from 0 to 1: full up to the value, thin over the rest of the interval."""
    full, low, high = (round(max(0.0, min(1.0, interval[key])) * BAR) for key in ("value", "low", "high"))
    cells = ["█" if at < full else "─" if low <= at < high else "·" for at in range(BAR)]
    return "".join(cells)


def _span(interval: dict[str, float]) -> str:
    return f"{interval['value']:.2f} [{interval['low']:.2f}, {interval['high']:.2f}]"


def _rate(runs: dict[str, int]) -> str:
    return f"{runs['failed']} of {runs['failed'] + runs['passed']}"
