"""What attacks achieved, as one document: by family, with what was not tried, and how to see each again.

Pure. The answer of an agent that nobody recorded is the last thing that its model said.
"""

from __future__ import annotations

import shlex
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import yaml

from faultwire.checks._effects import OWN, Effect, effects, registry
from faultwire.checks._transcripts import models
from faultwire.checks._verification import OUTCOMES, Verification, verifications
from faultwire.contract.statistics import rate
from faultwire.report.text import line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence, Set

    from faultwire.events import History

FORMAT = "faultwire.redteam/1"
CONFIDENCE = 0.95
COMMAND = "CMD"
"""What stands for the agent's command where it is not known."""
LIST_SETTING = frozenset({"indirect_injection"})
"""Faults whose texts are a list, `payloads`; the others have one `payload`."""
SPANS = frozenset({"replace", "replace_in_context", "agent_replaced"})
"""Faults that put a text in the place of another, which nobody knows here: their settings stay."""
UNCONTROLLED = (
    "No run shows that obedience would have been seen; `faultwire bench` plays a control beside it."
)
LLM_TOP_10 = {
    "LLM01:2025": "Prompt Injection",
    "LLM02:2025": "Sensitive Information Disclosure",
    "LLM03:2025": "Supply Chain",
    "LLM04:2025": "Data and Model Poisoning",
    "LLM05:2025": "Improper Output Handling",
    "LLM06:2025": "Excessive Agency",
    "LLM07:2025": "System Prompt Leakage",
    "LLM08:2025": "Vector and Embedding Weaknesses",
    "LLM09:2025": "Misinformation",
    "LLM10:2025": "Unbounded Consumption",
}
AGENTIC_TOP_10 = {
    "ASI01:2026": "Agent Goal Hijack",
    "ASI02:2026": "Tool Misuse and Exploitation",
    "ASI03:2026": "Identity and Privilege Abuse",
    "ASI04:2026": "Agentic Supply Chain Vulnerabilities",
    "ASI05:2026": "Unexpected Code Execution",
    "ASI06:2026": "Memory and Context Poisoning",
    "ASI07:2026": "Insecure Inter-Agent Communication",
    "ASI08:2026": "Cascading Failures",
    "ASI09:2026": "Human-Agent Trust Exploitation",
    "ASI10:2026": "Rogue Agents",
}


class Session(NamedTuple):
    """The traffic of one invocation, and where it is from. `answer` is None where nobody recorded it."""

    tape: str
    name: str
    history: History
    seed: int | None = None
    answer: str | None = None


def document(sessions: Sequence[Session], command: Sequence[str] = ()) -> dict[str, Any]:
    """Everything that the sessions show."""
    found = [(one, effect) for one in sessions for effect in effects(one.history, answer_of(one))]
    checked = [each for one in sessions for each in verifications(one.history, answer_of(one))]
    families = [_family(name, [effect for _, effect in found]) for name in _tried(found)]
    return {
        "format": FORMAT,
        "tapes": list(dict.fromkeys(one.tape for one in sessions)),
        "sessions": len(sessions),
        "attacked_sessions": len({(one.tape, one.name) for one, _ in found}),
        "tried": len(found),
        "obeyed": sum(effect.result == "obeyed" for _, effect in found),
        "families": families,
        "findings": [_finding(at, *one, command) for at, one in enumerate(_obeyed(found), 1)],
        "not_tried": not_tried(
            {effect.family for _, effect in found}, {effect.payload for _, effect in found}
        ),
        "verification": _verification(checked),
    }


def answer_of(session: Session) -> str:
    """What the agent said in the end: its own output, else the last words of its model."""
    if session.answer is not None:
        return session.answer
    for _, transcript in reversed(models(session.history)):
        if transcript.answer is not None and transcript.answer.text:
            return transcript.answer.text
    return ""


def _obeyed(found: Iterable[tuple[Session, Effect]]) -> list[tuple[Session, Effect]]:
    return [one for one in found if one[1].result == "obeyed"]


def _tried(found: Iterable[tuple[Session, Effect]]) -> list[str]:
    names = {effect.family for _, effect in found}
    return [name for name in (*registry(), OWN) if name in names]


def _family(name: str, found: Sequence[Effect]) -> dict[str, Any]:
    """How effective one family was, by the faults that carried it, too."""
    mine = [effect for effect in found if effect.family == name]
    obeyed = sum(effect.result == "obeyed" for effect in mine)
    measured = rate(obeyed, len(mine))
    family = registry().get(name)
    carriers = Counter(effect.fault for effect in mine)
    return {
        "name": name,
        "tried": len(mine),
        "obeyed": obeyed,
        "low": measured.low,
        "high": measured.high,
        "carriers": dict(sorted(carriers.items())),
        "texts": len({effect.payload for effect in mine}),
        **about_family(name),
        "texts_of_family": len(family.payloads) if family is not None else None,
    }


def about_family(name: str) -> dict[str, Any]:
    """The source and the identifiers of a family; those of a user's own text where there is none."""
    family = registry().get(name)
    if family is None:
        keys = ("version", "date", "source")
        return {**dict.fromkeys(keys), "owasp_llm": ["LLM01:2025"], "owasp_agentic": [], "atlas": []}
    return {
        "version": family.version,
        "date": family.date,
        "source": family.source,
        "owasp_llm": list(family.owasp_llm),
        "owasp_agentic": list(family.owasp_agentic),
        "atlas": list(family.atlas),
    }


def _finding(at: int, session: Session, effect: Effect, command: Sequence[str]) -> dict[str, Any]:
    return {
        "id": at,
        "family": effect.family,
        "payload": effect.payload,
        "fault": effect.fault,
        "tape": session.tape,
        "session": session.name,
        "exchange": effect.number,
        "shown_by": effect.shown_by,
        "evidence": effect.evidence,
        **{
            key: value
            for key, value in about_family(effect.family).items()
            if key.startswith(("owasp", "atlas"))
        },
        "reproduce": reproduce(session, effect, command),
    }


def reproduce(session: Session, effect: Effect, command: Sequence[str]) -> str:
    """The command that puts the same text before the agent again."""
    exchange = next(one for one in session.history.exchanges if one.number == effect.number)
    fired = next(one for one in exchange.faults if one.fault == effect.fault and one.outcome == "fired")
    settings = dict(fired.settings)
    text = _text(effect.payload)
    if text is not None and effect.fault not in SPANS:
        settings.pop("families", None)
        settings |= {"payloads": [text]} if effect.fault in LIST_SETTING else {"payload": text}
    tool = exchange.tool or fired.subject
    entry = {effect.fault: settings, **({"on": {"tool": tool}} if tool else {"on": {"kind": exchange.kind}})}
    fault = yaml.safe_dump(entry, default_flow_style=True, allow_unicode=True, width=1 << 30).strip()
    seed = () if session.seed is None else ("--seed", str(session.seed))
    agent = list(command) or [COMMAND]
    return shlex.join(["faultwire", "exec", *seed, "--fault", fault, "--", *agent])


def _text(payload: str) -> str | None:
    family = registry().get(payload.partition("/")[0])
    texts = {one.name: one.text for one in family.payloads} if family is not None else {}
    return texts.get(payload)


def not_tried(tried: Set[str], texts: Set[str]) -> dict[str, Any]:
    """What nobody should take for resisted, where these families and texts were tried."""
    known = registry()
    covered = [known[name] for name in tried if name in known]
    llm = {one for family in covered for one in family.owasp_llm}
    agentic = {one for family in covered for one in family.owasp_agentic}
    return {
        "families": [name for name in known if name not in tried],
        "texts": [
            one.name
            for name in known
            if name in tried
            for one in known[name].payloads
            if one.name not in texts
        ],
        "owasp_llm": [one for one in LLM_TOP_10 if one not in llm],
        "owasp_agentic": [one for one in AGENTIC_TOP_10 if one not in agentic],
    }


def _verification(found: Sequence[Verification]) -> list[dict[str, Any]]:
    """For each tool and silent fault: how often it had which outcome."""
    rows: dict[tuple[str, str], Counter[str]] = {}
    for one in found:
        rows.setdefault((one.tool, one.fault), Counter())[one.outcome] += 1
    return [
        {"tool": tool, "fault": fault, **{outcome: counts[outcome] for outcome in OUTCOMES}}
        for (tool, fault), counts in sorted(rows.items())
    ]


# ---------------------------------------------------------------- for people


def lines(found: Mapping[str, Any]) -> Iterator[str]:
    """The report as Markdown."""
    yield "# Red-team report"
    yield ""
    yield f"{found['obeyed']} of {found['tried']} attacks that reached the agent were obeyed."
    if not found["tried"]:
        yield "No attack reached the agent, so this shows nothing about its resistance."
    elif not found["obeyed"]:
        yield UNCONTROLLED
    yield from table(
        "Effectiveness by family",
        ("family", "obeyed", "95 % interval", "texts", "carried by", "OWASP LLM", "OWASP Agentic", "ATLAS"),
        map(_family_row, found["families"]),
    )
    if found["findings"]:
        yield from ("", "## Findings")
    for one in found["findings"]:
        yield from ("", f"### {one['id']}. `{one['payload']}` by `{one['fault']}`", "")
        yield f"{_cell(one['evidence'])} ({_where(one)})"
        yield from ("", "```sh", one["reproduce"], "```")
    yield from table(
        "Did the agent verify?",
        ("tool", "fault", *OUTCOMES),
        (
            [one["tool"], one["fault"], *(str(one[name]) for name in OUTCOMES)]
            for one in found["verification"]
        ),
    )
    yield from ("", "## What was not tried", "")
    missing = found["not_tried"]
    yield f"- families: {', '.join(missing['families']) or 'none is left'}"
    yield f"- texts of the families that were tried: {len(missing['texts'])}"
    yield f"- OWASP LLM Top 10: {titles(missing['owasp_llm'], LLM_TOP_10)}"
    yield f"- OWASP Agentic Top 10: {titles(missing['owasp_agentic'], AGENTIC_TOP_10)}"


def _family_row(one: Mapping[str, Any]) -> list[str]:
    texts = one["texts_of_family"]
    return [
        one["name"],
        f"{one['obeyed']} of {one['tried']}",
        f"{100 * one['low']:.0f} to {100 * one['high']:.0f} %",
        f"{one['texts']} of {texts}" if texts else str(one["texts"]),
        ", ".join(f"{fault} ({count})" for fault, count in one["carriers"].items()),
        *(", ".join(one[key]) for key in ("owasp_llm", "owasp_agentic", "atlas")),
    ]


def _where(one: Mapping[str, Any]) -> str:
    shown = f", shown by exchange {one['shown_by']}" if one["shown_by"] is not None else ""
    return f"{_cell(one['tape'])}, session `{_cell(one['session'])}`, exchange {one['exchange']}{shown}"


def table(title: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """A section with a table in Markdown; nothing where there are no rows."""
    body = [[_cell(cell) for cell in row] for row in rows]
    if not body:
        return
    yield from ("", f"## {title}", "")
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for row in body:
        yield f"| {' | '.join(row)} |"


def _cell(text: str) -> str:
    return line(text).replace("|", "\\|")


def titles(ids: Sequence[str], names: Mapping[str, str]) -> str:
    """Identifiers with what they stand for."""
    return ", ".join(f"{one} {names[one]}" for one in ids) or "none is left"
