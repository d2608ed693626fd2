"""What the SDKs of OpenAI and Anthropic show of every fault, written to `docs/reference/fidelity.md`.

`python tests/e2e/agents/fidelity.py [SDK …]`. Each fault is one `faultwire exec --mock --fault …` of
unmodified SDKs with their own default settings, side by side. Cells that show something else than the
provider's real failure are listed with the reason. Name SDKs to run only those; the others keep their cells.
"""

from __future__ import annotations

import json
import shlex
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from fidelity_table import FAULTS, IN_A_LOOP, OWN, REAL, SAYS, SDKS, WHY  # noqa: E402 - a sibling

from faultwire.events import header  # noqa: E402 - behind what puts siblings in reach

if TYPE_CHECKING:
    from collections.abc import Iterable

DOC = HERE.parents[2] / "docs" / "reference" / "fidelity.md"
AT_ONCE = 6
"""Runs at a time: most of each is an SDK that waits before it tries again."""
STARTS = 3
LIMIT_S = 400
LOOP = "## In a tool loop"
SAME = "<br>"
"""Stands between what shares a row or column."""
Cells = dict[str, dict[str, str]]
"""By fault and SDK: what a whole call and a stream showed, ` / ` between them; or what the loop did."""


def run(sdk: str, fault: str) -> str:
    """One run: what was seen."""
    return together((sdk,), fault)[0]


def together(sdks: tuple[str, ...], fault: str) -> tuple[str, ...]:
    """One run of several SDKs, side by side in the same session: what each saw."""
    from outcomes import ROWS, command, shown, tries

    loops = fault in IN_A_LOOP
    rows = [ROWS[sdk]._replace(ways=("tools",)) if loops else ROWS[sdk] for sdk in sdks]
    settings = IN_A_LOOP[fault] if loops else FAULTS[fault]
    done = _executed([command(row) for row in rows], f"{fault}: {settings}")
    met = [e for e in done.exchanges if any(f.outcome == "fired" for f in e.faults)]
    # A tunnel that never opened says nothing of what was to be asked in it.
    tunnels = any(exchange.request.method == "CONNECT" for exchange in met)
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    cells = []
    for sdk, row, seen in zip(sdks, rows, lines, strict=True):
        own = [e for e in met if (header(e.request.headers, "user-agent") or "").startswith(SAYS[sdk])]
        if loops:
            cells.append(looped(seen["tools"]) if own else "–")
        else:
            counts = {way: tries(own, way) or int(tunnels) for way in row.ways}
            cells.append(" / ".join(shown(seen[way], counts[way]) for way in row.ways))
    return tuple(cells)


def _executed(commands: list[list[str]], fault: str) -> Any:
    """One run. A program of ours that did not start in time, as on a busy machine, is started again."""
    from harness import execute

    began = [f"{shlex.join(command)} > {at}.json &" for at, command in enumerate(commands)]
    command = ["sh", "-c", "\n".join((*began, "wait", *(f"cat {at}.json" for at in range(len(commands)))))]
    for _ in range(STARTS):
        with tempfile.TemporaryDirectory() as folder:
            done = execute(Path(folder), command, "--mock", "--fault", fault, limit_s=LIMIT_S)
        if done.code != 3:
            break
    if done.code != 0 or not done.met:
        raise SystemExit(f"{commands} under `{fault}`: exit code {done.code}\n{done.stderr}")
    return done


def looped(seen: dict[str, Any]) -> str:
    """What came of a tool loop."""
    if "error" in seen:
        return f"`{seen['error']}`"
    calls = len(seen.get("results") or ())
    told = "an answer" if seen.get("text") else "no text"
    return f"{told}, finish `{seen.get('finish')}`, {calls} {'call' if calls == 1 else 'calls'} of the tool"


class Difference(NamedTuple):
    """A cell that shows something else than the real failure."""

    fault: str
    sdk: str
    way: str
    shown: str
    real: str


def differences(cells: Cells) -> list[Difference]:
    """All of them, in the order of the page."""
    found = []
    for fault, sides in REAL.items():
        for sdk in SDKS:
            shown = cells.get(fault, {}).get(sdk, " / ").split(" / ")
            for way, cell, real in zip(("whole", "stream"), shown, sides, strict=True):
                if cell and sdk in real and real[sdk] not in cell:
                    found.append(Difference(fault, sdk, way, cell, real[sdk]))
    return found


def ran(cells: Cells) -> list[str]:
    """The SDKs of which every cell is known."""
    return [sdk for sdk in SDKS if all(cells.get(fault, {}).get(sdk) for fault in (*FAULTS, *IN_A_LOOP))]


def _table(cells: Cells, faults: dict[str, str]) -> list[str]:
    """Faults that show the same everywhere share a row, and SDKs that do so in every row a column."""
    columns: dict[tuple[str, ...], list[str]] = {}
    for sdk in ran(cells):
        columns.setdefault(tuple(_short(cells[fault][sdk]) for fault in faults), []).append(sdk)
    rows: dict[tuple[str, ...], list[str]] = {}
    for at, (fault, settings) in enumerate(faults.items()):
        rows.setdefault(tuple(column[at] for column in columns), []).append(f"`{fault}: {settings}`")
    lines = ["| fault | " + " | ".join(SAME.join(sdks) for sdks in columns.values()) + " |"]
    lines.append("|---" * (len(columns) + 1) + "|")
    lines += [f"| {SAME.join(names)} | " + " | ".join(row) + " |" for row, names in rows.items()]
    return lines


def _short(cell: str) -> str:
    """A whole call and a stream that showed the same, once."""
    whole, _, stream = cell.partition(" / ")
    return whole if whole == stream else cell


def document(cells: Cells) -> str:
    """The whole page."""
    compared = ", ".join(f"`{fault}`" for fault in FAULTS if fault in REAL)
    found: dict[tuple[str, str, str], list[Difference]] = {}
    for one in differences(cells):
        found.setdefault((one.fault, one.shown, one.real), []).append(one)
    shown = [
        f"| `{fault}` | {_each(one.sdk for one in those)} | {_each(one.way for one in those)} | {cell} | "
        f"{_code(real)} | {WHY.get(fault, 'not explained')} |"
        for (fault, cell, real), those in found.items()
    ]
    head = ["| fault | SDK | way | shown | real failure | reason |", "|---|---|---|---|---|---|"]
    return "\n".join(
        [
            "# Every fault, as the SDKs of OpenAI and Anthropic show it",
            "",
            "Generated by `python tests/e2e/agents/fidelity.py` from real runs: unmodified SDKs in "
            "environments of their own, default settings, `faultwire exec --mock --fault …`. A cell is "
            "the exception that reached the program, or the answer that it took for whole: of a whole "
            "call, then of a stream, or once where both showed the same. “attempts” counts the requests that "
            "met the fault, where the SDK "
            "made more than one by itself. “–” did not meet it, as a stream fault does not on a whole "
            "answer. Faults of tools, MCP, agents, conversations and attacks are not here: they change "
            "what the model reads, and no SDK raises anything for them; nor is `model_answer`, whose answer "
            "is what you write. All other SDKs under ten faults are on [What each SDK shows](sdks.md).",
            "",
            *_table(cells, FAULTS),
            "",
            LOOP,
            "",
            "Faults of tool calls, of numbers and of earlier answers act in a loop of two calls: the "
            "model asks for a calculator, the program gives it the result. No SDK looks into any of it; "
            "what breaks is the program.",
            "",
            *_table(cells, IN_A_LOOP),
            "",
            "## Where it differs from the real failure",
            "",
            "Held against what the SDKs were seen to show of servers that fail so by themselves, what "
            "they raise for the status that the provider documents, and an answer where nothing fails: "
            f"{compared}. The other faults have no failure of a provider's to be held against.",
            "",
            *([*head, *shown] if shown else ["Nowhere."]),
            "",
            "## What is the SDK's own",
            "",
            *(f"- *{where}*: {why}" for where, why in OWN.items()),
            "",
        ]
    )


def _each(names: Iterable[str]) -> str:
    return SAME.join(dict.fromkeys(names))


def _code(real: str) -> str:
    return real if "`" in real or " " in real else f"`{real}`"


def read(text: str) -> Cells:
    """The cells of a page."""
    cells: Cells = {}
    for loops, part in enumerate(text.partition("\n## Where")[0].partition(LOOP)[::2]):
        columns: list[list[str]] = []
        for line in part.splitlines():
            names, *row = (cell.strip() for cell in line.strip("| ").split(" | "))
            if names == "fault":
                columns = [column.split(SAME) for column in row]
            elif names.startswith("`"):
                known = {
                    sdk: cell if loops or " / " in cell else f"{cell} / {cell}"
                    for column, cell in zip(columns, row, strict=True)
                    for sdk in column
                }
                for name in names.split(SAME):
                    cells[name.strip("`").partition(":")[0]] = {s: known[s] for s in SDKS if s in known}
    return {fault: cells[fault] for fault in (*FAULTS, *IN_A_LOOP) if fault in cells}


def main() -> None:
    """Run what was named, or all; what was not keeps its cells."""
    from outcomes import ROWS, command

    wanted = tuple(sys.argv[1:]) or SDKS
    for sdk in wanted:
        command(ROWS[sdk])  # builds its environment, once
    # A fault that remembers earlier answers would give one SDK another's.
    runs = [(wanted, fault) for fault in FAULTS] + [((sdk,), fault) for fault in IN_A_LOOP for sdk in wanted]
    cells = read(DOC.read_text()) if DOC.exists() else {}
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for (sdks, fault), found in zip(runs, pool.map(lambda one: together(*one), runs), strict=True):
            cells.setdefault(fault, {}).update(zip(sdks, found, strict=True))
            print(fault, *found, sep="  ", flush=True)
    DOC.write_text(document(cells))


if __name__ == "__main__":
    main()
