"""What the SDKs of OpenAI and Anthropic show of every fault, run and written down as `docs/fidelity.md`.

`python tests/e2e/agents/fidelity.py [SDK …]`. Each cell is one `faultwire exec --mock --fault …` of an
unmodified SDK with its own default settings. `REAL` says what the SDK raises for the provider's real
failure (measured against servers that fail so); cells that show something else are listed with the reason.
"""

from __future__ import annotations

import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

HERE = Path(__file__).parent
DOC = HERE.parents[2] / "docs" / "fidelity.md"
sys.path.insert(0, str(HERE))

SDKS = (
    "openai 3 (Python)", "openai 2 (Python)", "openai 6 (Node)",
    "anthropic 2 (Python)", "anthropic 0 (Python)", "@anthropic-ai/sdk 1 (Node)",
)  # fmt: skip

FAULTS = {
    "latency": "{ms: 20}",
    "hang": "{for_ms: 50}",
    "refuse": "{}",
    "reset": "{at: before_headers}",
    "close": "{at: before_headers}",
    "tls_failure": "{reason: untrusted}",
    "dns_failure": "{}",
    "bandwidth": "{bytes_per_s: 20000}",
    "slow_close": "{ms: 20}",
    "status": "{code: 503}",
    "rate_limit": "{retry_after_s: 0.1}",
    "overloaded": "{}",
    "auth_error": "{}",
    "quota_exceeded": "{}",
    "context_length": "{}",
    "content_filter": "{}",
    "empty_body": "{}",
    "truncate_body": "{fraction: 0.5, content_length: kept}",
    "malformed_body": "{}",
    "garbage_body": "{}",
    "wrong_content_type": "{}",
    "corrupt_encoding": "{}",
    "timeout_after_commit": "{}",
    "truncate_response": "{max_tokens: 2}",
    "empty_response": "{}",
    "refusal": "{}",
    "garbage": "{}",
    "wrong_finish_reason": "{}",
    "missing_usage": "{}",
    "drift": "{type: tone_shift}",
    "wrong_values": "{}",
    "unknown_tool_call": "{}",
    "slow_first_token": "{ms: 20}",
    "slow_tokens": "{ms: 5}",
    "stall": "{after_events: 1, for_ms: 20}",
    "cut_stream": "{after_events: 3}",
    "early_end": "{}",
    "stream_error": "{after_events: 2}",
    "malformed_event": "{at: 2}",
    "drop_event": "{at: 2}",
    "duplicate_event": "{at: 2}",
    "reorder_events": "{at: 2}",
    "split_events": "{piece_bytes: 3}",
}
"""Every fault that meets an answer to these SDKs; those of tools, MCP, agents and attacks change what the
model reads, and no SDK raises anything for them."""

PYTHON, NODE, OPENAI, ANTHROPIC = (0, 1, 3, 4), (2, 5), (0, 1, 2), (3, 4, 5)
ALL = (*OPENAI, *ANTHROPIC)
CONNECTION = dict.fromkeys(ALL, "APIConnectionError")
REAL: dict[str, tuple[dict[int, str], dict[int, str]]] = {
    # fault: by SDK, what a whole call and what a stream raises for the real failure
    **dict.fromkeys(("hang", "refuse", "reset", "close", "tls_failure", "dns_failure"), (CONNECTION,) * 2),
    "status": ({0: "InternalServerError", 1: "InternalServerError", 2: "InternalServerError",
                3: "ServiceUnavailableError", 4: "InternalServerError", 5: "ServiceUnavailableError"},) * 2,
    "rate_limit": (dict.fromkeys(ALL, "RateLimitError"),) * 2,
    "overloaded": ({0: "InternalServerError", 1: "InternalServerError", 2: "InternalServerError",
                    3: "OverloadedError", 5: "OverloadedError"},) * 2,
    "auth_error": (dict.fromkeys(ALL, "AuthenticationError"),) * 2,
    "context_length": (dict.fromkeys(ALL, "BadRequestError"),) * 2,
    "truncate_body": (dict.fromkeys(PYTHON, "APIConnectionError") | dict.fromkeys(NODE, "TypeError"), {}),
    "malformed_body": (dict.fromkeys(PYTHON, "JSONDecodeError") | dict.fromkeys(NODE, "SyntaxError"), {}),
    "garbage_body": (dict.fromkeys(PYTHON, "UnicodeDecodeError"), {}),
    "cut_stream": ({}, {0: "APIConnectionError", 1: "RemoteProtocolError", 2: "TypeError",
                        3: "RemoteProtocolError", 4: "RemoteProtocolError", 5: "TypeError"}),
    "early_end": ({}, dict.fromkeys(ALL, "an answer")),
    "stream_error": ({}, {0: "APIError", 1: "APIError", 2: "APIError",
                          3: "APIStatusError", 4: "APIStatusError", 5: "APIError"}),
    "malformed_event": ({}, dict.fromkeys(PYTHON, "JSONDecodeError") | dict.fromkeys(NODE, "SyntaxError")),
}  # fmt: skip

WHY: dict[str, str] = {}
"""Why a cell of a fault shows something else than the real failure."""


def run(sdk: str, fault: str) -> tuple[str, str]:
    """One run: what was seen, whole and streamed."""
    from harness import execute
    from outcomes import ROWS, command, shown, tries

    row = ROWS[sdk]
    with tempfile.TemporaryDirectory() as folder:
        done = execute(Path(folder), command(row), "--mock", "--fault", f"{fault}: {FAULTS[fault]}")
    if done.code != 0 or not done.met:
        raise SystemExit(f"{sdk} under {fault}: exit code {done.code}\n{done.stderr}")
    met = [e for e in done.exchanges if any(f.outcome == "fired" for f in e.faults)]
    tunnels = sum(1 for e in met if e.request.method == "CONNECT")
    whole, stream = (shown(done.met[way], tries(met, way) or bool(tunnels)) for way in row.ways)
    return whole, stream


Cells = dict[str, dict[str, tuple[str, str]]]


def differences(cells: Cells) -> list[str]:
    """Cells that show something else than the provider's real failure."""
    found = []
    for fault, sides in REAL.items():
        for at, sdk in enumerate(SDKS):
            for which, real in enumerate(sides):
                cell = cells.get(fault, {}).get(sdk, ("", ""))[which]
                if cell and at in real and cell != "–" and real[at] not in cell:
                    way = ("whole", "stream")[which]
                    why = WHY.get(fault, "not explained")
                    found.append(f"| `{fault}` | {sdk} | {way} | {cell} | `{real[at]}` | {why} |")
    return found


def document(cells: Cells) -> str:
    """The whole page."""
    head = "| fault | " + " | ".join(SDKS) + " |"
    lines = [
        "# Every fault, as six SDKs show it",
        "",
        "Generated by `python tests/e2e/agents/fidelity.py` from real runs of unmodified SDKs with default "
        "settings against the mock. Each cell: a whole call / a stream. “–” was not met (a stream fault on a "
        "whole answer, say). Faults of tools, MCP, agents and attacks are not here: they change what the "
        "model reads, and no SDK raises anything for them.",
        "",
        head,
        "|---" * (len(SDKS) + 1) + "|",
    ]
    for fault in FAULTS:
        row = [" / ".join(cells.get(fault, {}).get(sdk, ("", ""))) for sdk in SDKS]
        lines.append(f"| `{fault}` | " + " | ".join(row) + " |")
    lines += ["", "## Where an SDK shows something else than for the real failure", ""]
    found = differences(cells)
    if found:
        lines += [
            "| fault | SDK | way | shown | real failure | reason |",
            "|---|---|---|---|---|---|",
            *found,
        ]
    else:
        lines.append("Nowhere, among the faults whose real failure was measured: "
                     + ", ".join(f"`{fault}`" for fault in REAL) + ".")  # fmt: skip
    return "\n".join([*lines, ""])


def read(text: str) -> Cells:
    """The cells of a page."""
    cells: Cells = {}
    for line in text.partition("\n## ")[0].splitlines():
        if line.startswith("| `"):
            name, *row = (cell.strip() for cell in line.strip("|").split("|"))
            for sdk, cell in zip(SDKS, row, strict=True):
                whole, _, stream = cell.partition(" / ")
                cells.setdefault(name.strip("`"), {})[sdk] = (whole, stream)
    return cells


def main() -> None:
    """Run what was named, or all, and write the page after each SDK."""
    from outcomes import ROWS, command

    for sdk in sys.argv[1:] or SDKS:
        command(ROWS[sdk])  # builds its environment, once
        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(partial(run, sdk), FAULTS))
        cells = read(DOC.read_text()) if DOC.exists() else {}
        for fault, cell in zip(FAULTS, found, strict=True):
            cells.setdefault(fault, {})[sdk] = cell
        DOC.write_text(document(cells))
        print(sdk, flush=True)


if __name__ == "__main__":
    main()
