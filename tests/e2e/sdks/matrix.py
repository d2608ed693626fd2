"""SDKs and clients of five languages, calm and under eight faults, by proxy variables and in a namespace.

A run is one program that asks ten questions at once, each by a client of its own; the question names its
case, and the fault of a case acts on the question that names it. It is run in a network of its own in which
every provider's name leads to one address outside: what goes past the proxy arrives there, and is counted.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from tests.e2e.netns.conftest import Outside, command, network

import compiled  # isort: skip  # the folder of agents is on the path since the import above
import environments
import outcomes

from faultwire.events import Recorded
from faultwire.tape.read.reader import TapeReader

AGENTS = Path(__file__).parents[1] / "agents" / "sdks"
FAULTS = {name: outcomes.FAULTS[name] for name in outcomes.FAULTS if name not in ("cut short", "empty")}
"""Eight of the page's faults, by the names of their columns."""
NAMES = (
    "api.openai.com", "api.anthropic.com", "generativelanguage.googleapis.com", "api.mistral.ai",
    "api.cohere.com", "ollama.com", "api.together.xyz", "api.together.ai", "mcp.mock.test",
)  # fmt: skip
WAYS = {"variables": (), "netns": ("--capture", "netns")}
"""How the program is captured, and the options for it."""
LIMIT_S = 240


class Row(NamedTuple):
    """An SDK: the environment that it is built in, its name in its program, and what is so of it."""

    environment: str
    sdk: str
    streams: bool = True
    honours: bool = True
    """Does it ask the environment for a proxy (or is it made to)?"""
    pinned: bool = False
    """Are its roots compiled in?"""


ROWS = {
    "openai-go 3": Row("go", "openai-go"),
    "anthropic-sdk-go 1": Row("go", "anthropic-sdk-go"),
    "google.golang.org/genai 1": Row("go", "genai"),
    "go-openai 1": Row("go", "go-openai"),
    "openai-java 4": Row("java", "openai-java"),
    "anthropic-java 3": Row("java", "anthropic-java"),
    "langchain4j 1, OpenAI": Row("java", "langchain4j"),
    "async-openai 0.43": Row("rust", "async-openai"),
    "reqwest 0.12, native roots": Row("rust", "reqwest-native"),
    "reqwest 0.12, webpki-roots": Row("rust", "reqwest-webpki", pinned=True),
    "undici 6, `Pool`": Row("node", "pool", honours=False),
    "got 14, HTTP/2": Row("node", "got", honours=False),
    "axios 1": Row("node", "axios"),
    "ollama 0.6 (Node)": Row("node", "ollama"),
    "cohere-ai 7 (Node)": Row("node", "cohere"),
    "@mistralai/mistralai 1": Row("node", "mistral"),
    "@langchain/openai 1": Row("node", "langchain"),
    "@modelcontextprotocol/sdk 1": Row("node", "mcp", streams=False),
    "aiohttp 3, defaults": Row("aiohttp-3", "aiohttp", honours=False),
    "urllib3 2, defaults": Row("sdks", "urllib3", honours=False),
    "together 3": Row("sdks", "together"),
    "smolagents 1, `retry=False`": Row("sdks", "smolagents"),
    "dspy 3, OpenAI": Row("sdks", "dspy", streams=False),
    "instructor 1, OpenAI": Row("sdks", "instructor"),
    "llama-index 0.14, OpenAI": Row("sdks", "llama-index"),
}


@dataclass(frozen=True)
class Seen:
    """One run."""

    answers: dict[str, dict[str, Any]]
    """By case: what the program printed of it."""
    attempts: dict[str, int]
    """By case: its exchanges on the tape."""
    fired: dict[str, set[str]]
    """By case: the ids of the entries that fired on it."""
    strangers: int
    """Exchanges on the tape that are of no case."""
    past: int
    """Connections that came to the address outside."""
    stderr: str

    @property
    def taped(self) -> int:
        """Cases of which something is on the tape."""
        return sum(1 for count in self.attempts.values() if count)


def cases(row: Row) -> list[str]:
    """What is asked: calm ones, and each fault where it can act."""
    whole = [f"whole/{name}" for name in ("calm", *FAULTS) if name not in outcomes.STREAMED]
    streams = [f"stream/{name}" for name in ("calm", *FAULTS) if name == "calm" or name in outcomes.STREAMED]
    return [*whole, *(streams if row.streams else [])]


def entry(column: str) -> str:
    """The id of the entry of a column."""
    return f"met_{column.replace(' ', '_')}"


def profile(row: Row) -> str:
    """A fault for each case, on the question that names it alone."""
    lines = ["name: sdks", "description: One fault a question.", "faults:"]
    for case in cases(row):
        column = case.partition("/")[2]
        if column == "calm":
            continue
        where = f'text: "({case})"'
        if row.sdk == "mcp":
            where = f'kind: tool, body: {{"$.params.arguments.query": "*({case})*"}}'
        lines += [f"  - {FAULTS[column]}", f"    id: {entry(column)}", f"    on: {{{where}}}"]
    return "\n".join([*lines, ""])


def program(row: Row) -> list[str]:
    """The command, whose environment is built where it is not yet."""
    match row.environment:
        case "node":
            return ["node", str(environments.node("sdks/node") / "agent.mjs"), row.sdk]
        case "go":
            return [*compiled.go("sdks/go", AGENTS / "go" / "agent.go"), row.sdk]
        case "rust":
            return [*compiled.rust("sdks/rust", AGENTS / "rust" / "agent.rs"), row.sdk]
        case "java":
            return [*compiled.java("sdks/java", AGENTS / "java" / "Agent.java"), row.sdk]
    return [str(environments.python(row.environment)), str(AGENTS / "agent.py"), row.sdk]


@contextmanager
def outside() -> Iterator[Outside]:
    """The network in which SDKs are run; `Unable` where it cannot be made."""
    with tempfile.TemporaryDirectory(prefix="sdks-") as made:
        folder = Path(made)
        folder.chmod(0o755)
        with network(folder, NAMES) as found:
            yield found.named()


def of(case: str, exchanges: list[Recorded]) -> list[Recorded]:
    """The exchanges whose question names the case."""
    mark = f"({case})".encode()
    return [one for one in exchanges if mark in (one.request.body or b"")]


def run(where: Outside, row: Row, way: str) -> Seen:
    """Run an SDK once, captured in one way."""
    asked = cases(row)
    (where.work / "profile.yaml").write_text(profile(row))
    tape = where.work / "t.tape"
    tape.unlink(missing_ok=True)
    before = where.seen()["syns"]
    done = where.run(
        *command(), "exec", *WAYS[way], "--mock", "--allow-no-traffic", "--profile", "profile.yaml",
        "--record", tape.name, "--", *program(row), *asked, limit_s=LIMIT_S,
    )  # fmt: skip
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if not lines:
        raise AssertionError(f"{row.sdk} by {way}: exit code {done.returncode}\n{done.stdout}\n{done.stderr}")
    with TapeReader.open(tape) as reader:
        exchanges = list(reader.exchanges())
    by_case = {case: of(case, exchanges) for case in asked}
    fired = {
        case: {f.id for one in found for f in one.faults if f.outcome == "fired"}
        for case, found in by_case.items()
    }
    attempts = {case: len(found) for case, found in by_case.items()}
    strangers = len(exchanges) - sum(attempts.values())
    past = where.seen()["syns"] - before
    return Seen(json.loads(lines[-1]), attempts, fired, strangers, past, done.stderr)


def cells(row: Row, seen: Seen) -> dict[str, str]:
    """By column what is printed of a run."""
    found = {"on the tape": kept(row, seen)}
    for column in ("calm", *FAULTS):
        shown = [
            outcomes.shown(seen.answers[case], seen.attempts[case])
            for case in cases(row)
            if case.partition("/")[2] == column
        ]
        found[column] = " / ".join(dict.fromkeys(shown)) or "–"
    return found


def kept(row: Row, seen: Seen) -> str:
    """How much of it is on the tape, and where the rest went."""
    asked = len(cases(row))
    if seen.taped == asked and not seen.past:
        return "all"
    told = f"{seen.taped} of {asked}"
    if seen.past:
        told += "; past the proxy" + ("" if "went past the proxy: " in seen.stderr else ", not told")
    if "refused faultwire's certificate" in seen.stderr:
        told += "; refused our certificate"
    return told
