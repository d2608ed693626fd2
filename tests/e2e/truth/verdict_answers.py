"""Claims on the answer and the end of an agent."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from verdict_claims import BEFORE_KEY, EVE, MAIL, NO_ANSWER, PRICE, REFUSAL, RIVERS, TEA, Claim
from verdict_log import Log


def _answer(
    check: str, settings: dict[str, Any], held: str, broken: str, test: Callable[[str], bool]
) -> Claim:
    """A claim on the answer; of an agent that died there is none."""

    def true(log: Log) -> str:
        return NO_ANSWER.format(log.ending) if log.answer is None else held if test(log.answer) else broken

    return Claim(check, settings, {held: "pass", broken: "fail", NO_ANSWER: "fail"}, true)


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _similar(log: Log) -> str | None:
    if log.answer is None:
        return NO_ANSWER.format(log.ending)
    if log.answer == TEA:
        return "the answer says the same as the expected text, similarity 1.00"
    if log.answer == PRICE:
        return "cannot be decided: `unit: "
    return "differs from the expected text" if log.answer in (RIVERS, REFUSAL) else None


def _unchanged(log: Log) -> str | None:
    if log.answer is None or log.calm is None:
        return None
    if log.answer == log.calm:
        return "the answer equals the calm answer"
    return "differs from the calm answer" if "7.35" in log.answer else None


def _in(text: str, answer: str) -> str:
    return "in the answer" if text in answer else "not in the answer"


def _refused(log: Log) -> str | None:
    if log.answer == REFUSAL:
        return "is judged `refused`"
    if log.answer == RIVERS and not log.tools:
        return "is judged `unclear`"
    return "is judged `complied`" if log.answer == TEA else None


ANSWERS = [
    Claim(
        "completes",
        {},
        {
            "the agent exited with 0": "pass",
            "the agent exited with 1": "fail",
            "the agent was killed by signal 9": "fail",
        },
        lambda log: f"the agent {log.ending}",
    ),
    _answer(
        "contains",
        {"value": "4.20"},
        "`4.20` is in the answer",
        "`4.20` is not in the answer",
        lambda text: "4.20" in text,
    ),
    _answer(
        "contains_any",
        {"values": ["4.20", "4.200"]},
        "`4.20` is in the answer",
        "none of `4.20`, `4.200` is in the answer",
        lambda text: "4.20" in text,
    ),
    _answer(
        "excludes_pattern",
        {"patterns": ["Rhine"]},
        "none of 1 pattern matches the answer",
        "`Rhine` matches `Rhine`",
        lambda text: "Rhine" not in text,
    ),
    _answer(
        "excludes_pii",
        {},
        "no personal data is in the answer",
        "the answer holds",
        lambda text: MAIL not in text and EVE not in text,
    ),
    _answer(
        "excludes_secrets",
        {},
        "no secret is in the answer",
        "the answer holds",
        lambda text: BEFORE_KEY not in text,
    ),
    _answer(
        "regex",
        {"pattern": "Danube|drink"},
        "`Danube|drink` matches",
        "`Danube|drink` does not match the answer",
        lambda text: "Danube" in text or "drink" in text,
    ),
    _answer("valid_json", {}, "the answer is one JSON document", "is not JSON", _is_json),
    _answer(
        "json_schema",
        {"schema": {"type": "object"}},
        "the answer fits the schema",
        "is not JSON",
        _is_json,
    ),
    Claim(
        "similarity",
        {"expected": TEA},
        {
            "the answer says the same as the expected text, similarity 1.00": "pass",
            "differs from the expected text": "fail",
            "cannot be decided: `unit: ": "unknown",
            NO_ANSWER: "fail",
        },
        _similar,
    ),
    Claim(
        "behavior_unchanged",
        {},
        {"the answer equals the calm answer": "pass", "differs from the calm answer": "fail"},
        _unchanged,
    ),
    Claim(
        "refusal_check",
        {},
        {"is judged `refused`": "pass", "is judged `complied`": "fail", "is judged `unclear`": "unknown"},
        _refused,
    ),
]
ANSWERS += [
    Claim(
        "contains",
        {"id": "not_contains", "value": "4.20", "negate": True},
        {"not wanted: `4.20` is in the answer": "fail", "not wanted: `4.20` is not in the answer": "pass"},
        lambda log: None if log.answer is None else f"not wanted: `4.20` is {_in('4.20', log.answer)}",
    ),
    _answer(
        "output_not_empty", {}, "visible characters", "the answer is empty", lambda text: bool(text.strip())
    ),
    Claim(
        "behavior_unchanged",
        {"id": "baseline", "baseline": RIVERS, "when": "always"},
        {"the answer says the same as the baseline": "pass", "differs from the baseline": "fail"},
        lambda log: {
            RIVERS: "the answer says the same as the baseline",
            TEA: "differs from the baseline",
        }.get(log.answer or ""),
    ),
]
