"""A count that is printed with its noun goes through `text.counted`, so that one of a thing is one.

What is looked for is a formatted value with a noun in the plural behind it, in rooms that print about runs
and tapes. A value that is compared with 1 beside it has both forms, and one that is never 1 is named here.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import faultwire

SOURCES = Path(faultwire.__file__).parent
ROOMS = ("checks", "cli", "contract", "exchange", "report", "runner", "tape", "mitm/engine", "mitm/sessions")
NOUNS = frozenset(
    {
        "addresses", "answers", "attempts", "bodies", "calls", "cells", "chunks", "connections",
        "conversations", "decisions", "deeds", "entries", "errors", "events", "exchanges", "failures",
        "faults", "findings", "hosts", "injections", "invariants", "invocations", "messages", "models",
        "mutants", "parts", "patterns", "prompts", "reasons", "requests", "responses", "runs", "scenarios",
        "sessions", "signatures", "tapes", "times", "tokens", "tools",
    }
)  # fmt: skip
BEHIND = re.compile(r" (?:[a-z]+ )?([a-z]+)\b")
NEVER_ONE = {
    "checks/backs_off.py": {"len(call.tries)"},
    "checks/no_duplicate_side_effect.py": {"done", "len(times)"},
    "checks/no_retry_storm.py": {"count", "len(busiest)", "most"},
    "checks/max_llm_calls.py": {"high"},
    "cli/_blamed.py": {"usual", "fewest"},
    "cli/_shrunk.py": {"fewest"},
    "cli/exec.py": {"runs"},
    "report/advice.py": {"len(call.tries)"},
    "report/blame.py": {"len(found['parts'])"},
    "tape/import_/_tracefork_store.py": {"_MOST_RUNS"},
    "tape/import_/agentops.py": {"_MAX_SESSIONS"},
    "tape/redact/rules.py": {"len(found)"},
    "contract/statistics.py": {"self.most"},
    "tape/evidence/inclusion_proof.py": {"len(leaves)"},
}
"""At least 2 where the text is reached: limits, and what is said only beyond one."""
NO_COUNT = {
    "cli/_shrunk.py": {"'' if len(found.pins) == 1 else 's'"},
    "cli/_verifying.py": {"name"},
    "report/blame.py": {"after"},
    "report/terminal_numbers.py": {"_of(part)"},
    "tape/evidence/signed_note.py": {"len(lines)"},
    "tape/evidence/verify.py": {"side"},
    "tape/format/sqlite_schema.py": {"__version__"},
    "mitm/sessions/shared_process.py": {"_calls(self.late)"},
    "tape/import_/_agentops_chain.py": {"str(count)[:30]"},
}
"""No counts of that noun, or quoted from somebody else's file; of signatures, a note has too many or none."""


def bare_plurals(source: str) -> list[tuple[int, str, str]]:
    """Line, value and noun of each count that has only its plural."""
    tree = ast.parse(source)
    guarded = {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.IfExp) and "1" in ast.unparse(node.test)
        for part in ast.walk(node)
    }
    found = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.JoinedStr) or id(node) in guarded:
            continue
        for value, text in zip(node.values, node.values[1:], strict=False):
            if not (isinstance(value, ast.FormattedValue) and isinstance(text, ast.Constant)):
                continue
            noun = BEHIND.match(str(text.value))
            words = re.match(r" ([a-z]+)\b", str(text.value))
            plural = next((one[1] for one in (words, noun) if one is not None and one[1] in NOUNS), None)
            inner = value.value
            counted = isinstance(inner, ast.Call) and ast.unparse(inner.func) == "counted"
            if plural is not None and not counted:
                found.append((node.lineno, ast.unparse(inner), plural))
    return found


def test_no_count_has_only_the_plural_of_its_noun() -> None:
    bare = []
    for room in ROOMS:
        for path in sorted((SOURCES / room).rglob("*.py")):
            name = path.relative_to(SOURCES).as_posix()
            for line, value, noun in bare_plurals(path.read_text()):
                if value not in NEVER_ONE.get(name, set()) | NO_COUNT.get(name, set()):
                    bare.append(f"{name}:{line}: {{{value}}} {noun}")
    assert bare == [], "write `{counted(…, 'noun')}`"


def test_every_exemption_is_used() -> None:
    for name, values in (*NEVER_ONE.items(), *NO_COUNT.items()):
        used = {value for _, value, _ in bare_plurals((SOURCES / name).read_text())}
        assert values - used == set(), name


def test_a_bare_plural_is_found_and_a_counted_noun_is_none() -> None:
    assert bare_plurals('f"{len(x)} exchanges"') == [(1, "len(x)", "exchanges")]
    assert bare_plurals('f"{n} more findings"') == [(1, "n", "findings")]
    assert bare_plurals('''f"{counted(n, 'exchange')} of it"''') == []
    assert bare_plurals('"1 call" if n == 1 else f"{n} calls"') == []
    assert bare_plurals('f"{name} of exchanges"') == [(1, "name", "exchanges")]
    assert bare_plurals('f"exchange {n} is"') == []
