"""The numbers of a report for a terminal: statistics, comparison, trend, mutations, and recommended fixes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich import box
from rich.cells import cell_len
from rich.console import Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from faultwire.report.page import decided
from faultwire.report.text import line
from faultwire.text import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult

    Drawn = RenderableType | None

FLAKY = 6
"""Flaky cells that are named."""
WARNINGS = 8
BLOCKS = "▁▂▃▄▅▆▇█"
"""Scores from 0 to 100."""


def statistics(part: dict[str, Any]) -> Drawn:
    """Each scenario with its rate, interval, pass^k, and whether it differs from calm."""
    if not part["scenarios"]:
        return None
    valid = "" if part["method"] == "Jeffreys" else ", at any stop"
    head = ["scenario", "without a failure", f"{part['confidence']:.0%} interval{valid}"]
    head += [f"all {part['k']} pass"] if part["k"] > 1 else []
    head += [f"against {line(part['calm'], 30)}"] if part["calm"] else []
    rows = []
    for row in part["scenarios"]:
        cells = [line(row["scenario"], 40), _of(row), _span(row)]
        if part["k"] > 1:
            hat, least = row["pass_k"]["value"], row["pass_k"]["at_least"]
            cells.append(f"{_percent(hat)} (>= {_percent(least)})")
        if part["calm"]:
            cells.append(_against(row["against_calm"]))
        rows.append(cells)
    return _titled("statistics", grid(head, rows), *_flaky(part), *_broken(part), *_decided(part))


def comparison(part: dict[str, Any] | None) -> Drawn:
    """The difference from an earlier run, and whether it is significant."""
    if part is None:
        return None
    overall = part["overall"]
    text = Text(f"  compared with {line(part['before']['id'], 60)}: ", style="not bold")
    way = "better" if (overall["difference"] or 0) > 0 else "worse"
    if overall["verdict"] == "significant":
        text.append(f"significantly {way}", style="bold green" if way == "better" else "bold red")
    else:
        text.append("the difference is not significant", style="not bold")
    text.append(f" ({_difference(overall)})", style="not bold dim")
    if part["worse_count"] or part["better_count"]:
        turned = f"; cells that newly fail: {part['worse_count']}, that newly pass: {part['better_count']}"
        text.append(turned, style="not bold dim")
    rows = [
        (line(r["scenario"], 40), _of(r["now"]), _of(r["before"]), _difference(r), r["verdict"])
        for r in part["scenarios"]
    ]
    head = ("scenario", "now", "before", "difference", "")
    return _titled("comparison", text, *([grid(head, rows)] if rows else []))


def trend(part: dict[str, Any] | None, *, plain: bool = False) -> Drawn:
    """Scores of comparable runs, oldest first; as a picture too unless `plain`."""
    if part is None:
        return None
    scores = [run["score"] for run in part["runs"]][-40:]
    bars = "".join(" " if s is None else BLOCKS[min(7, int(s / 100 * 8))] for s in scores)
    caption = ", ".join("none" if s is None else f"{s:.2f}" for s in scores[-5:])
    bars_text = caption if plain else f"{bars}  {caption}"
    drawn = Text(f"  {bars_text} (newest last)\n", style="not bold")
    if part.get("left_out"):
        drawn.append(f"  {left_out(part['left_out'])}\n", style="not bold dim")
    return _titled("trend", drawn)


def left_out(counts: Mapping[str, int]) -> str:
    """Which earlier runs are no part of a trend, and why."""
    each = ", ".join(f"{count} with another {line(what, 40)}" for what, count in counts.items())
    return f"earlier runs that are not comparable: {each}"


def mutations(part: dict[str, Any] | None) -> Drawn:
    """Robustness, and each type of mutation."""
    if part is None:
        return None
    value = "none" if part["robustness"] is None else f"{part['robustness']:.1%}"
    rows = [(line(r["type"], 40), f"{r['weight']:g}", _of(r), _span(r)) for r in part["types"]]
    whole = Text(f"  robustness {value} ({_of(part)} mutants, {_span(part)})", style="not bold")
    return _titled("mutations", whole, grid(("type", "weight", "passed", "interval"), rows))


def fixes(suggestions: Sequence[dict[str, Any]]) -> Drawn:
    """What to do, and where that was seen."""
    if not suggestions:
        return None
    text = Text()
    for at, one in enumerate(suggestions, 1):
        seen = one["evidence"][0]
        text.append(f"  {at} {line(one['action'], 160)}\n", style="not bold")
        text.append(f"    {line(seen['invocation'], 60)}: {line(seen['words'], 160)}", style="not bold dim")
        more = one["invocations"] - 1
        text.append(f" (and {more} more)\n" if more else "\n", style="not bold dim")
    return _titled("recommended fixes", text)


def warnings(document: dict[str, Any]) -> Drawn:
    """What a reader should know before trusting the score, which stands below."""
    run = document["run"]
    texts = [line(text, 200) for text in run["warnings"]]
    if run["partial"]:
        texts.insert(
            0, f"partial: {len(document['invocations'])} of {counted(run['planned'], 'invocation')} were run"
        )
    if not texts:
        return None
    more = [f"… {len(texts) - WARNINGS} more in the report"] if len(texts) > WARNINGS else []
    shown_texts = "\n".join(f"  {text}" for text in [*texts[:WARNINGS], *more])
    return _titled("warnings", Text(f"{shown_texts}\n", style="not bold yellow"))


def _titled(title: str, *parts: RenderableType) -> Group:
    return Group(Text(title, style="bold"), *parts)


def grid(head: Iterable[str], rows: Iterable[Sequence[str]]) -> Fitted:
    """A small table; nothing in it is read as markup."""
    return Fitted(list(head), [[Text(cell) for cell in row] for row in rows])


class Fitted:
    """A table; where the terminal is too narrow for it without breaking words, each row as a few lines.

    `centred` columns are those from that one on.
    """

    def __init__(self, head: Sequence[str], rows: Sequence[Sequence[Text]], centred: int = 1000) -> None:
        self._head, self._rows, self._centred = head, rows, centred

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, expand=False)
        for at, name in enumerate(self._head):
            table.add_column(Text(name), overflow="fold", justify="center" if at >= self._centred else "left")
        for row in self._rows:
            table.add_row(*row)
        if self._least() <= options.max_width:
            yield table
        else:
            yield from (line for row in self._rows for line in self._stacked(row))

    def _least(self) -> int:
        """Columns that the longest words of all columns need, with two between each."""
        columns = zip(*([Text(name) for name in self._head], *self._rows), strict=True)
        longest = (
            max(cell_len(word) for one in column for word in one.plain.split() or [""]) for column in columns
        )
        return sum(longest) + 3 * (len(self._head) - 1)

    def _stacked(self, row: Sequence[Text]) -> Iterator[RenderableType]:
        first, *others = row
        yield Text("  ").append_text(first)
        for name, cell in zip(self._head[1:], others, strict=True):
            if cell.plain.strip():
                yield Padding(Text(f"{name}: " if name else "").append_text(cell), (0, 0, 0, 4))


def _flaky(part: dict[str, Any]) -> list[Text]:
    if not part["flaky_count"]:
        return []
    named = [
        f"  flaky: {line(f['invariant'], 40)} in {line(f['scenario'], 40)} on {line(f['prompt'], 40)}"
        f" ({f['passed']} passed, {f['failed']} failed)"
        for f in part["flaky"][:FLAKY]
    ]
    more = part["flaky_count"] - FLAKY
    return [
        Text("\n".join([*named, *([f"  … {more} more flaky"] if more > 0 else [])]) + "\n", style="yellow")
    ]


def _broken(part: dict[str, Any]) -> list[Text]:
    """Cells of which every repeat failed; reports of earlier releases do not tell of them."""
    count = part.get("broken_count", 0)
    named = [
        f"  broken: {line(f['invariant'], 40)} in {line(f['scenario'], 40)} on {line(f['prompt'], 40)}"
        f" ({f['failed']} of {f['failed']} failed)"
        for f in part.get("broken", [])[:FLAKY]
    ]
    more = [f"  … {count - FLAKY} more broken"] if count > FLAKY else []
    return [Text("\n".join([*named, *more]) + "\n", style="red")] if named else []


def _decided(part: dict[str, Any]) -> list[Text]:
    found = decided(part)
    if not found["counts"]:
        return []
    counts = ", ".join(f"{count} {word}" for word, count in found["counts"].items())
    named = [
        f"  {one['decision']}: {line(one['prompt'], 40)} in {line(one['scenario'], 40)}"
        for one in found["other"][:FLAKY]
    ]
    more = len(found["other"]) - FLAKY
    left = [f"  … {more} more"] if more > 0 else []
    return [Text("\n".join([f"  repeated until decided: {counts}", *named, *left]) + "\n")]


def _against(found: dict[str, Any] | None) -> str:
    return "-" if found is None else f"{found['verdict']}: {_difference(found)}"


def _difference(one: dict[str, Any]) -> str:
    if one["difference"] is None:
        return "nothing to compare"
    several = one.get("family", 1) > 1
    p = "" if one["p_value"] is None else f", {'adjusted ' if several else ''}p {one['p_value']:.2g}"
    low, high = one["low"] * 100, one["high"] * 100
    span = f"{low:+.0f} to {high:+.0f}{' simultaneously' if several else ''}"
    return f"{one['difference'] * 100:+.0f} points ({span}{p})"


def _of(row: dict[str, Any]) -> str:
    return f"{row['passed']} of {row['total']}"


def _span(row: dict[str, Any]) -> str:
    return f"{row['low'] * 100:.0f} to {row['high'] * 100:.0f} %"


def _percent(value: float | None) -> str:
    return "unknown" if value is None else f"{value * 100:.0f} %"
