"""Incident sessions out of what was recorded: a tape, or the failures of a report with its tapes."""

from __future__ import annotations

import os
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from faultwire import wire
from faultwire.clock import iso
from faultwire.errors import ScenarioError, printable
from faultwire.replay.incident import DEFAULT
from faultwire.replay.incident_responses import taken
from faultwire.tape.read.reader import TapeReader

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from faultwire.profile.model import ToolSite

CLIPPED = 16_384
"""Characters of a prompt that a report repeats; of a longer one it holds the beginning only."""
JUDGED = ("fail",)


@dataclass(frozen=True, slots=True)
class Exported:
    """A session's document in the order of its keys, and what it cannot say."""

    name: str
    document: dict[str, Any]
    notes: tuple[str, ...] = ()
    contract: dict[str, Any] | None = None
    """The contract that judges it, where it brings its own; `document` names the file."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What is asked of an export besides its origin. `turns` is what the agent was asked, where whoever
    exports says so; `tools` says where tools are called; `folder` is where the sessions will stand."""

    folder: Path
    contract: str = DEFAULT
    turns: tuple[str, ...] = ()
    tools: Mapping[str, ToolSite] = field(default_factory=dict)
    source: str = "faultwire"
    with_tape: bool = True


def from_tape(path: Path, wish: Wish, session: str | None = None) -> Iterator[Exported]:
    """The sessions on a tape that asked a model something, or the one of that name.

    Raises TapeError where the tape cannot be read, ScenarioError where there is none to export.
    """
    with TapeReader.open(path) as tape:
        names = [info.name for info in tape.sessions()]
        if session is not None and session not in names:
            raise ScenarioError(
                f"found no session `{printable(session)}` on the tape `{printable(str(path))}`",
                code="scenario.none",
                hint=f"it has: {', '.join(names[:8])}" if names else None,
            )
        found = 0
        for info in tape.sessions():
            if session not in (None, info.name):
                continue
            turns, notes = (wish.turns, ()) if wish.turns else _asked(tape, info.name)
            if not turns:
                continue
            found += 1
            yield _made(
                tape,
                info.name,
                wish,
                {"name": f"recorded on {path.name}", "captured_at": iso(info.started_ms)},
                turns,
                notes,
            )
        if not found:
            raise ScenarioError(
                f"found no request to a model on the tape `{printable(str(path))}`, so nobody knows what the "
                "agent was asked",
                code="scenario.no_input",
                hint="give the input with --input",
            )


def from_report(document: Mapping[str, Any], base: Path, wish: Wish) -> Iterator[Exported]:
    """A session for every invocation of a report in which an invariant failed, with the input that failed.

    `base` is what the report's relative paths to tapes start from. Raises TapeError where a tape cannot be
    read, ScenarioError where nothing failed or a failing input is not whole.
    """
    return from_reports([document], base, wish)


def from_reports(documents: Sequence[Mapping[str, Any]], base: Path, wish: Wish) -> Iterator[Exported]:
    """The same for the reports of a run's phases: their contracts get names of their own."""
    failed = [_failed(document) for document in documents]
    if not any(failed):
        raise ScenarioError(
            "found no failed invariant in the report, expected at least one",
            code="scenario.none",
            hint="--from-tape exports sessions that nothing was judged in",
        )
    names: dict[str, str] = {}
    for document, cells in zip(documents, failed, strict=True):
        if cells:
            yield from _of_report(document, cells, _Contracts(document, names), base, wish)


def _failed(document: Mapping[str, Any]) -> dict[str, list[Mapping[str, Any]]]:
    """The failed cells of a report by their invocation."""
    failed: dict[str, list[Mapping[str, Any]]] = {}
    for cell in document["cells"]:
        if cell["verdict"] in JUDGED:
            failed.setdefault(str(cell["invocation"]), []).append(cell)
    return failed


def _of_report(
    document: Mapping[str, Any],
    failed: Mapping[str, list[Mapping[str, Any]]],
    contracts: _Contracts,
    base: Path,
    wish: Wish,
) -> Iterator[Exported]:
    prompts = {prompt["id"]: prompt for prompt in document["prompts"]}
    with ExitStack() as stack:
        tapes = [
            stack.enter_context(TapeReader.open(_place(text, base))) for text in document["run"]["tapes"]
        ]
        for invocation in document["invocations"]:
            if invocation["id"] not in failed:
                continue
            tape, name = _on(tapes, str(invocation["id"]))
            prompt = prompts[invocation["prompt"]]
            about = {
                "name": f"{invocation['scenario']}: {prompt['id']}",
                "captured_at": document["run"]["started_at"],
                "expected_failure": "; ".join(
                    f"{cell['invariant']}: {cell['explanation']}" for cell in failed[invocation["id"]]
                )[:2000],
            }
            contract = contracts.of(invocation) if wish.contract == DEFAULT else None
            yield _made(tape, name, wish, about, _turns(prompt), (), contract)


def _made(
    tape: TapeReader,
    session: str,
    wish: Wish,
    about: Mapping[str, Any],
    turns: Sequence[str],
    notes: Sequence[str],
    contract: tuple[str, dict[str, Any]] | None = None,
) -> Exported:
    got = taken(tape, session, wish.tools)
    slug = "".join(c if c.isascii() and (c.isalnum() or c in "._-") else "-" for c in session)
    name = slug.strip("-.") or "session"
    prompt: dict[str, Any] = {"input": turns[0]} if len(turns) == 1 else {"turns": list(turns)}
    document = {
        "id": name,
        "name": about.get("name"),
        "source": wish.source,
        "captured_at": about.get("captured_at"),
        **prompt,
        "tool_responses": got.responses,
        "expected_failure": about.get("expected_failure"),
        "contract": f"contracts/{contract[0]}.yaml" if contract is not None else wish.contract,
    }
    if wish.with_tape:
        document |= {"tape": relative(tape.path, wish.folder), "tape_session": session}
    return Exported(name, document, (*notes, *got.notes), contract[1] if contract else None)


def relative(path: Path, folder: Path) -> str:
    """The path as it is written in a file that stands in a folder."""
    return Path(os.path.relpath(path.resolve(), folder.resolve())).as_posix()


def _asked(tape: TapeReader, session: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What the agent was asked, as far as its first request to a model tells it."""
    for exchange in tape.exchanges(session):
        transcript = wire.transcript_of(exchange) if exchange.kind == "llm" else None
        texts = (
            [turn.text for turn in transcript.request.turns if turn.role == "user" and turn.text]
            if (transcript is not None and transcript.request is not None)
            else []
        )
        if texts:
            note = f"`input` is what the agent told its model first (exchange {exchange.number}); if it was "
            return (texts[-1],), (f"{note}given another input, use that instead",)
    return (), ()


def _turns(prompt: Mapping[str, Any]) -> tuple[str, ...]:
    turns = tuple(prompt.get("turns") or (prompt["text"],))
    name = printable(str(prompt["id"]))
    if any(len(turn) >= CLIPPED for turn in turns):
        raise ScenarioError(
            f"the prompt `{name}` is longer than the {CLIPPED} characters of a report",
            code="scenario.no_input",
            hint="export from the tape with an input: --from-tape TAPE --session NAME --input TEXT",
        )
    return turns


def _place(text: str, base: Path) -> Path:
    path = Path(text)
    if path.is_absolute() or path.is_file():
        return path
    beside = base / path.name
    return beside if beside.is_file() else path


def _on(tapes: Sequence[TapeReader], invocation: str) -> tuple[TapeReader, str]:
    """The tape and the session of an invocation: of one that was played again, the last."""
    for tape in tapes:
        names = [info.name for info in tape.sessions()]
        tries = [name for name in names if name == invocation or name.startswith(f"{invocation}~")]
        if tries:
            return tape, tries[-1]
    raise ScenarioError(
        f"found no session `{printable(invocation)}` on the tapes of the report", code="scenario.none"
    )


class _Contracts:
    """The contracts that a report's invocations were judged by, each as a file's content."""

    def __init__(self, document: Mapping[str, Any], made: dict[str, str]) -> None:
        self._document = document
        self._known = {check["id"]: check for check in document["invariants"]}
        self._made = made
        """The names of contracts that exist, by what they hold."""

    def of(self, invocation: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        """The name and the content of the contract of one invocation.

        What was judged in its scenario is judged `always`: the scenario is in the session itself.
        """
        cells = [cell for cell in self._document["cells"] if cell["invocation"] == invocation["id"]]
        labels = dict.fromkeys(cell["invariant"] for cell in cells)
        checks = [self._check(self._known[label], invocation) for label in labels if label in self._known]
        content = {"name": "exported", "invariants": checks}
        key = repr(checks)
        count = len(self._made) + 1
        name = self._made.setdefault(key, "exported" if count == 1 else f"exported-{count}")
        return name, content | {"name": name}

    def _check(self, check: Mapping[str, Any], invocation: Mapping[str, Any]) -> dict[str, Any]:
        settings = dict(check["settings"])
        if check["type"] == "behavior_unchanged" and settings.get("baseline", "auto") == "auto":
            calm = self._calm(invocation)
            settings |= {"baseline": calm} if calm else {}
        made = {"id": check["id"], "type": check["type"], "severity": check["severity"], **settings}
        if check["negate"]:
            made["negate"] = True
        if check["description"]:
            made["description"] = check["description"]
        return made

    def _calm(self, invocation: Mapping[str, Any]) -> str | None:
        """The calm answer to the same prompt in the same report."""
        broken = {one["name"] for one in self._document["scenarios"] if one["entries"]}
        return next(
            (
                one["answer"]
                for one in self._document["invocations"]
                if one["prompt"] == invocation["prompt"] and one["scenario"] not in broken and one["answer"]
            ),
            None,
        )
