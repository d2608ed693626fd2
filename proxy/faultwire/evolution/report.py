"""What an evolution found: as a document, in words, as JSON lines and as golden prompts."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import yaml

from faultwire.report.text import redacted
from faultwire.text import counted, safe

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from faultwire.evolution.search import Failure, Result

FORMAT = "faultwire.evolution/1"
SHOWN = 160
"""Characters of a mutant that a terminal shows."""
ENDED = {
    "budget": "ended by --budget",
    "finds": "ended by --finds",
    "exhausted": "ended since no type brings a new mutant",
}


def document(
    result: Result,
    prompts: Sequence[str],
    answers: Mapping[str, str],
    sessions: Mapping[str, str],
    about: Mapping[str, Any],
) -> dict[str, Any]:
    """Everything; `answers` and `sessions` are by a mutant's id."""
    return {
        "format": FORMAT,
        **about,
        "prompts": list(prompts),
        "unfit": list(result.unfit),
        "runs": len(result.tried),
        "ended": result.ended,
        "behaviours": result.behaviours,
        "types": _types(result),
        "failures": [_failure(one, prompts, answers, sessions) for one in result.failures if one.confirmed],
        "unconfirmed": [
            _failure(one, prompts, answers, sessions) for one in result.failures if not one.confirmed
        ],
        "undecided": dict(
            Counter(one.seen.reason for one in result.tried if one.seen.failed is None).most_common(5)
        ),
    }


def clean(found: Mapping[str, Any], redact: Callable[[str], str]) -> dict[str, Any]:
    """The document without secrets, those in prompts and mutants among them. What had some can no longer be
    made again from its lineage, and says so (`redacted`)."""
    made: dict[str, Any] = redacted(dict(found), redact)
    for kind in ("failures", "unconfirmed"):
        for before, after in zip(found[kind], made[kind], strict=True):
            texts = ("original", "text")
            after["redacted"] = any(before[key] != after[key] for key in texts)
    return made


def _types(result: Result) -> list[dict[str, Any]]:
    """How often each type was the last step, and of how many failures it is part."""
    last = Counter(one.mutant.lineage[-1].type for one in result.tried if one.phase == "search")
    part = Counter(
        name
        for one in result.failures
        if one.confirmed
        for name in {step.type for step in one.mutant.lineage}
    )
    return [{"type": name, "tried": count, "failures": part[name]} for name, count in last.most_common()]


def _failure(
    one: Failure, prompts: Sequence[str], answers: Mapping[str, str], sessions: Mapping[str, str]
) -> dict[str, Any]:
    mutant = one.mutant
    return {
        "id": mutant.id,
        "prompt": mutant.prompt,
        "original": prompts[mutant.prompt],
        "text": mutant.text,
        "lineage": [step._asdict() for step in mutant.lineage],
        "reason": one.reason,
        "failed": one.failed,
        "runs": one.runs,
        "answer": answers.get(mutant.id, ""),
        "session": sessions.get(mutant.id),
    }


def as_jsonl(found: Mapping[str, Any], answers: Mapping[int, str]) -> str:
    """The confirmed failures as JSON lines. `answers` are those to the prompts as they are, which passed.
    They are what is wanted only where a mutation keeps the meaning, and stand apart as `reference`."""
    return "".join(
        json.dumps(
            {
                "messages": [{"role": "user", "content": one["text"]}],
                "rejected": one["answer"],
                "reason": one["reason"],
                "reference": {"prompt": one["original"], "answer": answers.get(one["prompt"], "")},
                "lineage": one["lineage"],
                "id": one["id"],
                "failed": [one["failed"], one["runs"]],
                "seed": found["seed"],
                **({"redacted": True} if one.get("redacted") else {}),
            },
            ensure_ascii=False,
        )
        + "\n"
        for one in found["failures"]
    )


def as_prompts(found: Mapping[str, Any]) -> str:
    """The confirmed failures as `golden_prompts` of a faultwire.yaml, but for those whose text was redacted:
    that is another prompt."""
    prompts = [
        {"id": f"evolved-{one['id']}", "prompt": one["text"]}
        for one in found["failures"]
        if not one.get("redacted")
    ]
    return yaml.safe_dump({"golden_prompts": prompts}, allow_unicode=True, sort_keys=False, width=1 << 30)


def lines(found: Mapping[str, Any]) -> Iterator[str]:
    """For a terminal."""
    made = f"{counted(found['runs'], 'run')} with {counted(found['behaviours'], 'behaviour')}"
    if found["failures"]:
        confirmed = counted(len(found["failures"]), "mutant")
        yield f"{confirmed} failed whenever asked again, in {made}; {ENDED[found['ended']]}"
    else:
        yield f"no failure was confirmed in {made}; {ENDED[found['ended']]}"
    for number in found["unfit"]:
        yield f"prompt {number + 1} was left out: it does not pass as it is"
    for one in found["failures"]:
        steps = " → ".join(step["type"] for step in one["lineage"])
        yield f"{one['id']}  {steps}: {safe(one['reason'])}"
        if one.get("redacted"):
            yield "  it holds a secret, which is left out here and in every file"
        yield f"  {safe(one['text'][:SHOWN])}{'…' if len(one['text']) > SHOWN else ''}"
    if found["unconfirmed"]:
        some = counted(len(found["unconfirmed"]), "failure")
        yield f"{some} not confirmed: the mutant passed when it was asked again"
