"""The sentences that the workbench's page makes itself: texts of several words in its scripts, and the tests
in which a browser shows them.

    FAULTWIRE_SHOWN=shown.jsonl python -m pytest tests/e2e/workbench -m 'nightly or not nightly'
    python tests/meta/page_sentences.py shown.jsonl    writes their rows of `tests/vectors/sentences.json`

A row names a test in which the sentence is shown, and one in which the same script shows another and not it.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import faultwire

ASSETS = Path(faultwire.__file__).parent / "workbench" / "assets"
WORDS = 3
"""Fewer are a label."""
TABLE = Path(__file__).parents[1] / "vectors" / "sentences.json"
LABELS = frozenset(
    {
        "Answer from here", "Failed once, and not again", "Fork from {} no. {}", "From earlier answers",
        "Have it retried", "Into later requests", "Lineage from prompt {}", "Mutants of a run",
        "Open in the list", "Runs that could not be judged", "The invariant that fails",
        "The mutant, {} characters",
        "The report of this run", "To see it, where the agent starts", "Types of mutation", "What is claimed",
        "What was exchanged", "a run is a failure where", "answer from here", "body as it is (JSON)",
        "card banner worse", "faultwire fork {} --at {} {} -- YOUR AGENT", "for one run",
        "header fields, one a line", "how it is meant", "input, select, textarea", "model and answer",
        "mutants that passed", "part of confirmed failures", "show what it found", "status and header fields",
        "status of the answer", "text that the model says", "the body, raw", "the event, raw",
        "the response's head", "tried as the last step", "types of mutation", "what the event says",
        "This tape beside {}", "95 % interval of its pass rate, {} to {}", " · the last run {}",
    }
)  # fmt: skip
"""Names of parts, of fields and of acts, which state nothing."""


def page_sentences() -> list[str]:
    """Their keys: the file, and the text with `{}` in place of what is filled in."""
    return [
        f"workbench/assets/{path.name}: {text}"
        for path in sorted(ASSETS.glob("*.js"))
        for text in dict.fromkeys(texts(path.read_text()))
        if _is_sentence(text)
    ]


def texts(source: str) -> Iterator[str]:
    """Every string and template of a script, those inside of templates too."""
    at = 0
    while at < len(source):
        at = yield from _next(source, at)


def _next(source: str, at: int) -> Iterator[str]:
    """Go over what begins at a place; where it ends."""
    two, one = source[at : at + 2], source[at]
    if two == "//":
        return _after(source, "\n", at)
    if two == "/*":
        return _after(source, "*/", at)
    if one in "\"'":
        end = at + 1
        while source[end] != one:
            end += 2 if source[end] == "\\" else 1
        yield source[at + 1 : end]
        return end + 1
    if one == "`":
        return (yield from _template(source, at + 1))
    return at + 1


def _template(source: str, at: int) -> Iterator[str]:
    text = ""
    while source[at] != "`":
        if source.startswith("${", at):
            text, at, depth = f"{text}{{}}", at + 2, 1
            while depth:
                depth += {"{": 1, "}": -1}.get(source[at], 0)
                at = (yield from _next(source, at)) if depth else at + 1
        else:
            step = 2 if source[at] == "\\" else 1
            text, at = text + source[at : at + step], at + step
    yield text
    return at + 1


def _after(source: str, end: str, at: int) -> int:
    found = source.find(end, at)
    return len(source) if found < 0 else found + len(end)


def _is_sentence(text: str) -> bool:
    words = [word for word in text.replace("{}", "").split() if sum(map(str.isalpha, word)) > 1]
    code = any(mark in text for mark in ("#", "=", "[", "/api", "use strict"))
    return len(words) >= WORDS and not code and text not in LABELS


def rows(shown: Iterable[dict[str, Any]]) -> dict[str, list[str | None]]:
    """The rows of the sentences, by what each test's page has shown."""
    keys = page_sentences()
    patterns = {key: re.compile(_pattern(key.partition(": ")[2]), re.DOTALL) for key in keys}
    seen: dict[str, set[str]] = {}
    for one in shown:
        found = {key for key, pattern in patterns.items() if any(map(pattern.search, one["texts"]))}
        seen.setdefault(one["test"], set()).update(found)
    table: dict[str, list[str | None]] = {}
    for key in keys:
        file = key.partition(": ")[0]
        first = next((test for test, found in seen.items() if key in found), None)
        others = (
            test
            for test, found in seen.items()
            if key not in found and any(other.startswith(file) for other in found)
        )
        table[key] = [first, next(others, None)]
    return table


def _pattern(text: str) -> str:
    return ".*?".join(map(re.escape, text.strip().split("{}")))


def main() -> int:
    """Write the rows, and name the sentences that lack half of theirs."""
    with open(sys.argv[1]) as file:
        made = rows(json.loads(line) for line in file)
    table = {key: pair for key, pair in json.loads(TABLE.read_text()).items() if ".js: " not in key}
    TABLE.write_text(json.dumps({**table, **made}, indent=1, ensure_ascii=False, sort_keys=True) + "\n")
    for key, pair in made.items():
        if None in pair:
            print(key, pair)  # a tool for the terminal
    return 0


if __name__ == "__main__":
    sys.exit(main())
