"""What the user of each SDK sees of each fault, run and written down: `python tests/e2e/agents/outcomes.py`.

Each cell of `docs/reference/sdks.md` is one `faultwire exec --mock --fault …` of an unmodified SDK with
its own default settings. Name SDKs to run only those; the others keep what stands in the file.
"""

from __future__ import annotations

import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent
DOC = HERE.parents[2] / "docs" / "reference" / "sdks.md"

FAULTS = {
    "503": "status: {code: 503}",
    "429": "rate_limit: {retry_after_s: 1}",
    "401": "auth_error: {}",
    "reset": "reset: {at: before_headers}",
    "cut stream": "cut_stream: {after_events: 3}",
    "early end": "early_end: {}",
    "error in stream": "stream_error: {after_events: 2}",
    "bad event": "malformed_event: {at: 2}",
    "cut short": "truncate_response: {max_tokens: 3}",
    "empty": "empty_response: {}",
}
"""What stands above a column, and the fault that was injected."""
AT_ONCE = 5
"""Runs at a time: most of each is an SDK that waits before it tries again."""
STREAMED = frozenset(("cut stream", "early end", "error in stream", "bad event"))
"""Faults that a whole answer cannot meet."""
TRANSIENT = frozenset(("503",))
"""Faults that google-api-core repeats for ten minutes: they are taken back after two attempts there."""


class Row(NamedTuple):
    """An SDK: its environment, and what runs it; `{way}` is put in place."""

    lock: str
    agent: str
    arguments: tuple[str, ...] = ()
    ways: tuple[str, str] = ("whole", "stream")
    patient: bool = False


SYNC = ("sync/whole", "sync/stream")
ROWS = {
    "openai 3 (Python)": Row("openai-3", "openai_agent.py", (), SYNC),
    "openai 2 (Python)": Row("openai-2", "openai_agent.py", (), SYNC),
    "openai 3, Responses": Row("openai-3", "provider_agent.py", ("openai-responses",)),
    "openai 6 (Node)": Row("node", "agent.mjs", ("openai",)),
    "anthropic 2 (Python)": Row("anthropic-2", "anthropic_agent.py", (), SYNC),
    "anthropic 0 (Python)": Row("anthropic-0", "anthropic_agent.py", (), SYNC),
    "@anthropic-ai/sdk 1 (Node)": Row("node", "agent.mjs", ("anthropic",)),
    "ai 6 (Node), chat": Row("node_ai", "agent.mjs", ("chat",)),
    "ai 6 (Node), Responses": Row("node_ai", "agent.mjs", ("responses",)),
    "google-genai 3": Row("google-genai-3", "provider_agent.py", ("google-genai",)),
    "google-genai 3, Interactions": Row("google-genai-3", "provider_agent.py", ("google-interactions",)),
    "@google/genai 2 (Node)": Row("node_genai", "agent.mjs"),
    "google-generativeai 0.8, gRPC": Row(
        "google-generativeai-0", "generativeai_agent.py", ("grpc",), patient=True
    ),
    "google-generativeai 0.8, REST": Row(
        "google-generativeai-0", "generativeai_agent.py", ("rest",), patient=True
    ),
    "groq 1": Row("groq-1", "provider_agent.py", ("groq",)),
    "mistralai 3": Row("mistralai-3", "provider_agent.py", ("mistralai",)),
    "cohere 7": Row("cohere-7", "provider_agent.py", ("cohere",)),
    "ollama 0.6": Row("ollama-0", "provider_agent.py", ("ollama",)),
    "boto3, Converse": Row("boto3-1", "provider_agent.py", ("bedrock",)),
    "boto3, InvokeModel": Row("boto3-1", "provider_agent.py", ("bedrock-invoke",)),
    "litellm 1, OpenAI": Row("litellm-1", "framework_agent.py", ("litellm",)),
    "litellm 1, Anthropic": Row("litellm-1", "framework_agent.py", ("litellm-anthropic",)),
    "langchain-openai 1": Row("langchain-1", "framework_agent.py", ("langchain-openai",)),
    "langchain-anthropic 1": Row("langchain-1", "framework_agent.py", ("langchain-anthropic",)),
    "langgraph 1 on langchain-openai": Row("langchain-1", "framework_agent.py", ("langgraph",)),
    "pydantic-ai 2, OpenAI": Row("pydantic-ai-2", "framework_agent.py", ("pydantic-ai",)),
    "openai-agents 0.24": Row("openai-agents-0", "framework_agent.py", ("openai-agents",)),
}
DIFFERENCES = {
    "boto3, reset": "`ProxyConnectionError` in place of `ConnectionClosedError`: urllib3 blames every break "
    "before the headers on the proxy, where there is one. It tries three times all the same.",
    "google-generativeai over REST, reset": "`ProxyError` in place of `ConnectionError`, its parent, for the "
    "same reason.",
    "google-generativeai over gRPC, reset and cut stream": "`InternalServerError` (RST_STREAM) in place of a "
    "lost connection's `ServiceUnavailable`, which it would repeat for ten minutes: on HTTP/2 the one call "
    "is reset, and other calls on the same connection go on.",
    "Google's SDKs, 401": "Google refuses a wrong API key with 400 (`API_KEY_INVALID`); `auth_error` gives "
    "the 401 of an expired token, and google-generativeai over REST then asks for a new one twice.",
    "boto3, 401": "AWS refuses unknown keys with 403; both are `ClientError`. `auth_error: {code: 403}` is "
    "the other one.",
    "boto3, bad event": "`ChecksumMismatch`: the frame itself is broken. Bad JSON in a whole frame would be "
    "read as `{}`, and nobody would notice.",
    "mistralai, error in stream": "`ResponseValidationError`: it is told in OpenAI's shape, and what "
    "Mistral's servers send there is not known.",
    "google-generativeai, 503": "google-api-core repeats it for ten minutes; these runs take the fault back "
    "after two attempts.",
}
"""Where a cell is not what the provider's real failure gives, and why."""
OWN = {
    "boto3 and cohere, empty": "`IndexError` is the program's own, which reads the first block of none.",
    "google-generativeai, empty": "`ValueError` comes from its `.text`.",
    "openai-agents, cut short": "The framework takes an `incomplete` response for a failure of the model.",
    "pydantic-ai, empty": "The framework asks once more by itself before it gives up.",
    "litellm": "On OpenAI's models the SDK below tries three times, on Anthropic's nobody does. A stream "
    "that ended early, and one of Anthropic's with a bad event, end with `stop`, as if they were whole.",
    "google-genai's Interactions, error in stream and bad event": "Nothing is raised: an error is one more "
    "event, and what is no JSON comes as a string, on which the program's own `AttributeError` is raised.",
    "AI SDK, error in stream": "Of Responses no text had come, and the call was tried again; in chat, after "
    "a first word, the error is a part of the stream, and the finish is `error`.",
}
"""What looks odd and is so without us as well."""
OTHERS = "## By variables and in a namespace"
"""The heading from which on the page is another command's."""
SAME = "<br>"
"""Stands between SDKs that share a row."""
Cells = dict[str, dict[str, tuple[str, str]]]
"""By SDK and column: what a whole call and a stream showed."""


def command(row: Row) -> list[str]:
    """The program, with the ways in which it asks."""
    import environments

    if row.lock.startswith("node"):
        return ["node", str(environments.node(row.lock) / row.agent), *row.arguments, *row.ways]
    return [str(environments.python(row.lock)), str(HERE / row.agent), *row.arguments, *row.ways]


def run(row: Row, column: str) -> tuple[str, str]:
    """One run: what was seen, whole and streamed, with the number of attempts where there were several."""
    from harness import execute

    fault = FAULTS[column]
    if row.patient and column in TRANSIENT:
        fault = f"{{{fault}, trigger: {{attempts: 2}}}}"
    with tempfile.TemporaryDirectory() as folder:
        done = execute(Path(folder), command(row), "--mock", "--fault", fault)
    if done.code != 0 or not done.met:
        raise SystemExit(f"{row.agent} under {column}: exit code {done.code}\n{done.stderr}")
    met = [e for e in done.exchanges if any(f.outcome == "fired" for f in e.faults)]
    whole, stream = (shown(done.met[way], tries(met, way)) for way in row.ways)
    return whole, stream


def tries(met: list[Any], way: str) -> int:
    """How many requests of this way met the fault: each question ends with its way."""
    end = f"{way.rpartition('/')[2]}).".encode()
    return sum(1 for e in met if end in (e.request.body or b""))


def shown(seen: dict[str, Any], count: int) -> str:
    """One cell."""
    if count == 0:
        return "–"
    if "error" in seen:
        told = f"`{seen['error']}`"
    else:
        told = "an answer" if seen.get("text") else "no text"
        told += f", finish `{seen['finish']}`" if "finish" in seen else ""
    return told if count == 1 else f"{told}, {count} attempts"


def table(cells: Cells, which: int) -> list[str]:
    """One Markdown table; SDKs that show the same share a row."""
    columns = [name for name in FAULTS if which or name not in STREAMED]
    rows: dict[tuple[str, ...], list[str]] = {}
    for name in ROWS:
        if name in cells:
            found = tuple(cells[name].get(column, ("", ""))[which] for column in columns)
            rows.setdefault(found, []).append(name)
    lines = ["| SDK | " + " | ".join(columns) + " |", "|---" * (len(columns) + 1) + "|"]
    lines += [f"| {SAME.join(names)} | " + " | ".join(row) + " |" for row, names in rows.items()]
    return lines


def document(cells: Cells) -> str:
    """The whole page."""
    injected = "\n".join(f"| {name} | `{fault}` |" for name, fault in FAULTS.items())
    return "\n".join(
        [
            "# What each SDK shows of a fault",
            "",
            "Generated by `python tests/e2e/agents/outcomes.py` from real runs: unmodified SDKs in "
            "environments of their own (`tests/e2e/agents/locks`), default settings, "
            "`faultwire exec --mock --fault …`. A cell is the exception that reached the program, or the "
            "answer it took for whole; “attempts” counts the requests that met the fault, where the SDK made "
            "more than one by itself. “–” did not meet it.",
            "",
            "| column | injected |",
            "|---|---|",
            injected,
            "",
            "## Whole answers",
            "",
            *table(cells, 0),
            "",
            "## Streams",
            "",
            *table(cells, 1),
            "",
            "## Where it differs from the real failure",
            "",
            *(f"- *{where}*: {why}" for where, why in DIFFERENCES.items()),
            "",
            "No other cell is known to differ.",
            "",
            "## What is the SDK's own",
            "",
            *(f"- *{where}*: {why}" for where, why in OWN.items()),
            "",
            "Every fault under the SDKs of OpenAI and Anthropic: [Every fault](fidelity.md). Tool servers "
            "and other agents: [MCP](mcp.md), [Agent to agent](a2a.md).",
            "",
        ]
    )


def rest(text: str) -> str:
    """What stands on the page and is written by `tests.e2e.sdks.page`."""
    _, heading, behind = text.partition(OTHERS)
    return f"\n{heading}{behind}" if heading else ""


def read(text: str) -> Cells:
    """The cells of a page."""
    cells: Cells = {}
    for which, part in enumerate(text.partition(OTHERS)[0].partition("## Streams")[::2]):
        rows = [line.strip("|").split("|") for line in part.splitlines() if line.startswith("|")]
        head: list[str] = []
        for row in ([cell.strip() for cell in row] for row in rows):
            if row[0] == "SDK":
                head = row[1:]
            elif head and not row[0].startswith("---"):
                for name in row[0].split(SAME):
                    for column, cell in zip(head, row[1:], strict=True):
                        old = cells.setdefault(name, {}).get(column, ("", ""))
                        cells[name][column] = (cell, old[1]) if which == 0 else (old[0], cell)
    return {name: cells[name] for name in ROWS if name in cells}


def main() -> None:
    """Run what was named, or all, and write the page after each SDK."""
    wanted = sys.argv[1:] or list(ROWS)
    unknown = [name for name in wanted if name not in ROWS]
    if unknown:
        raise SystemExit(f"unknown: {unknown}\nknown: {list(ROWS)}")
    for name in wanted:
        cells = read(DOC.read_text()) if DOC.exists() else {}
        command(ROWS[name])  # builds its environment, once
        with ThreadPoolExecutor(AT_ONCE) as pool:
            found = pool.map(partial(run, ROWS[name]), FAULTS)
            cells[name] = dict(zip(FAULTS, found, strict=True))
        DOC.write_text(document(cells) + rest(DOC.read_text() if DOC.exists() else ""))
        print(name, flush=True)


if __name__ == "__main__":
    sys.path.insert(0, str(HERE))
    main()
