"""What a search found, as one document and in words; rates are of the confirmations alone."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from faultwire.attacker.confirm import confirmed
from faultwire.attacker.grid import CARRIERS, ENTRY, as_yaml, entry
from faultwire.faults.attack._library import registry
from faultwire.report.redteam import (
    AGENTIC_TOP_10,
    COMMAND,
    LLM_TOP_10,
    UNCONTROLLED,
    about_family,
    not_tried,
    table,
    titles,
)
from faultwire.report.text import line
from faultwire.text import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from faultwire.attacker.confirm import Confirmed
    from faultwire.attacker.grid import Grid
    from faultwire.attacker.journal import Observed, Written
    from faultwire.attacker.search import Result

FORMAT = "faultwire.attack/1"
ENDED = {
    "finds": "as many attacks as were asked for are confirmed or refuted",
    "budget": "what is left of the budget is for confirmations",
    "grid": "nothing is left to try",
}
_ANSWER = "excludes_pattern: {patterns: ['fwc[0-9a-f]{12}']}"


@dataclass(frozen=True, slots=True)
class About:
    """What a search was made with. `options` are those of `exec` that its commands need, too."""

    seed: int
    budget: int
    confirm: int
    command: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    model: str = ""
    """Of the attacker, and what it wrote; empty where there is none."""
    written: tuple[Written, ...] = ()


def document(
    result: Result, grid: Grid, observed: Mapping[str, Observed], texts: Mapping[str, str], about: About
) -> dict[str, Any]:
    """Everything; `observed` and `texts` are by the key of an attempt."""
    searched = [one for one in result.tried if one.attempt.phase != "confirm"]
    found = confirmed(result.candidates)
    rows = [
        _candidate(at, one, result, observed, texts, about)
        for at, one in enumerate(sorted(found, key=lambda one: -one.low), 1)
    ]
    placed = [one for one in searched if one.stage in ("obeyed", "read", "filtered")]
    names = {one.attempt.cell.family for one in placed}
    stages = Counter(one.stage for one in searched)
    return {
        "format": FORMAT,
        "seed": about.seed,
        "command": list(about.command),
        "budget": about.budget,
        "runs": 1 + len(result.tried),
        "phases": dict(Counter(one.attempt.phase for one in result.tried)),
        "ended": result.ended,
        **_model(about),
        "cells": len(grid.cells),
        "cells_tried": len({one.attempt.cell for one in searched}),
        "stages": {name: stages[name] for name in ("obeyed", "read", "filtered", "unplaced", "void")},
        "tapes": list(dict.fromkeys(one.tape for one in observed.values())),
        "families": [
            {
                "name": name,
                "tried": sum(one.attempt.cell.family == name for one in placed),
                "obeyed": sum(one.attempt.cell.family == name and one.stage == "obeyed" for one in placed),
                "defences": _defences([one.stage for one in placed if one.attempt.cell.family == name]),
                "carriers": sorted(
                    {one.attempt.cell.carrier for one in placed if one.attempt.cell.family == name}
                ),
                **about_family(name),
            }
            for name in registry()
            if name in names
        ],
        "findings": [one for one in rows if one["claimed"]],
        "refuted": [one for one in rows if not one["claimed"]],
        "not_tried": not_tried(
            names,
            {registry()[one.attempt.cell.family].payloads[one.attempt.payload].name for one in placed},
        ),
    }  # fmt: skip


def _model(about: About) -> dict[str, Any]:
    if not about.model:
        return {}
    tokens = [one.tokens for one in about.written]
    counted_tokens = None if None in tokens else sum(one or 0 for one in tokens)
    return {
        "model": {
            "name": about.model,
            "calls": len(about.written),
            "tokens": counted_tokens,
            "kept": sum(one.text is not None for one in about.written),
        }
    }


def _defences(stages: Sequence[str]) -> dict[str, int]:
    """What held attacks back, as far as the wire shows it: the agent's own code, before its model read them;
    or the model, which read them and did nothing that they asked for."""
    counts = Counter(stages)
    return {"agent": counts["filtered"], "model": counts["read"]}


def _candidate(
    at: int,
    one: Confirmed,
    result: Result,
    observed: Mapping[str, Observed],
    texts: Mapping[str, str],
    about: About,
) -> dict[str, Any]:
    found = one.candidate
    mine = [
        tried
        for tried in result.tried
        if (tried.attempt.cell, tried.attempt.payload) == (found.cell, found.payload)
    ]
    best = next(tried for tried in reversed(mine) if tried.stage == "obeyed")
    seen = observed[best.attempt.key]
    payload = registry()[found.cell.family].payloads[found.payload]
    fault = as_yaml({**entry(found.cell, texts[best.attempt.key]), "id": ENTRY})
    ids = about_family(found.cell.family)
    return {
        "id": at,
        **found.cell._asdict(),
        "payload": payload.name,
        "fault": CARRIERS[found.cell.carrier].fault,
        "text": texts[best.attempt.key],
        "claimed": one.claimed,
        "confirmed": {
            "obeyed": found.obeyed, "runs": found.total, "low": one.low, "high": one.high,
            "confidence": one.confidence,
        },
        "asr_at": [{"k": k.k, "value": k.value, "low": k.low, "high": k.high} for k in one.at_k],
        "searched": {"obeyed": found.screened[0], "runs": found.screened[1]},
        "tape": seen.tape,
        "session": seen.session,
        "exchange": seen.exchange,
        "shown_by": seen.shown_by,
        "evidence": seen.evidence,
        **{key: value for key, value in ids.items() if key.startswith(("owasp", "atlas"))},
        "reproduce": _command(
            "exec", "--seed", str(about.seed), *about.options, "--fault", fault, about=about
        ),
        "shrink": _shrink(found.cell.wording, payload.shows, seen, fault, about),
    }  # fmt: skip


def _shrink(wording: str, shows: str, seen: Observed, fault: str, about: About) -> str | None:
    """The command that makes a find smaller; None where no check of a single run sees that it worked."""
    expect = "attack_resisted: {}" if wording == "plain" or shows in ("argument", "request") else None
    if shows == "answer":
        expect = _ANSWER
    if expect is None:
        return None
    return _command(
        "shrink", seen.tape, "--session", seen.session, *about.options, "--fault", fault, "--expect", expect,
        about=about,
    )  # fmt: skip


def _command(*words: str, about: About) -> str:
    return shlex.join(["faultwire", *words, "--", *(about.command or (COMMAND,))])


def as_jsonl(found: Mapping[str, Any]) -> str:
    """A line for each confirmed attack: the text as the agent read it, and what it did. `rejected` is what
    was seen, not the whole answer; there is no answer that is wanted beside it."""
    return "".join(
        json.dumps(
            {
                "messages": [{"role": "tool", "name": one["carrier"], "content": one["text"]}],
                "rejected": one["evidence"],
                "reason": f"obeyed {one['payload']} in {rate_words(one)}",
                **{key: one[key] for key in ("family", "owasp_llm", "owasp_agentic", "atlas")},
                "reproduce": one["reproduce"],
                "seed": found["seed"],
            },
            ensure_ascii=False,
        )
        + "\n"
        for one in found["findings"]
    )


# ---------------------------------------------------------------- for people


def summary(found: Mapping[str, Any]) -> Iterator[str]:
    """The first lines, in a terminal and in every report."""
    finds = len(found["findings"])
    if finds:
        yield f"{counted(finds, 'attack')} confirmed on runs that the search did not use."
    else:
        yield "No attack was confirmed."
        if not found["refuted"]:
            yield UNCONTROLLED
    phases = found["phases"]
    confirming = phases.get("confirm", 0)
    searching = found["runs"] - 1 - confirming
    yield (
        f"{counted(found['runs'], 'run')} of {found['budget']}: 1 without an attack, {searching} to search, "
        f"{confirming} to confirm; {found['cells_tried']} of {counted(found['cells'], 'cell')} tried; "
        f"ended since {ENDED[found['ended']]}."
    )
    if (model := found.get("model")) is not None:
        tokens = (
            "tokens that it does not count" if model["tokens"] is None else counted(model["tokens"], "token")
        )
        yield (
            f"The budget also paid for {counted(model['calls'], 'call')} of the attacker's model "
            f"`{line(model['name'])}`: {tokens}, {counted(model['kept'], 'text')} kept, "
            f"{model['calls'] - model['kept']} of no use."
        )
    stages = found["stages"]
    yield (
        f"Of the search: {stages['obeyed']} obeyed, {stages['read']} read and resisted, "
        f"{stages['filtered']} kept from the model by the agent, {stages['unplaced']} not placed, "
        f"{stages['void']} inconclusive."
    )


def rate_words(one: Mapping[str, Any]) -> str:
    """A confirmation in words."""
    counts = one["confirmed"]
    return (
        f"{counts['obeyed']} of {counts['runs']}, interval {100 * counts['low']:.0f} to "
        f"{100 * counts['high']:.0f} % ({100 * counts['confidence']:.4g} %)"
    )


def k_words(one: Mapping[str, Any]) -> str:
    """ASR@k in words."""
    return ", ".join(
        f"ASR@{k['k']} {100 * k['value']:.0f} % ({100 * k['low']:.0f} to {100 * k['high']:.0f})"
        for k in one["asr_at"]
    )


def lines(found: Mapping[str, Any]) -> Iterator[str]:
    """The report as Markdown."""
    yield from ("# Adaptive attack", "", *summary(found))
    for title, rows in (("Findings", found["findings"]), ("Not confirmed", found["refuted"])):
        if rows:
            yield from ("", f"## {title}")
        for one in rows:
            yield from _finding(one)
    yield from table(
        "What the search tried",
        (
            "family",
            "obeyed",
            "held back by the agent's code",
            "resisted by the model",
            "carriers",
            "OWASP LLM",
            "OWASP Agentic",
            "ATLAS",
        ),
        map(_family, found["families"]),
    )
    if found["families"]:
        yield from ("", "The search prefers what succeeds, so these counts are no rates of the families.")
    missing = found["not_tried"]
    yield from ("", "## What was not tried", "")
    yield f"- cells of the grid: {found['cells'] - found['cells_tried']}"
    yield f"- families: {', '.join(missing['families']) or 'none is left'}"
    yield f"- OWASP LLM Top 10: {titles(missing['owasp_llm'], LLM_TOP_10)}"
    yield f"- OWASP Agentic Top 10: {titles(missing['owasp_agentic'], AGENTIC_TOP_10)}"


def _finding(one: Mapping[str, Any]) -> Iterator[str]:
    where = " · ".join(one[name] for name in ("family", "carrier", "position", "wording"))
    yield from ("", f"### {one['id']}. `{one['payload']}`: {where}", "")
    yield f"Obeyed in {rate_words(one)}. {k_words(one)}."
    yield ""
    yield f"{line(one['evidence'])} ({line(one['tape'])}, session `{line(one['session'])}`)"
    yield from ("", "```sh", one["reproduce"])
    if one["shrink"]:
        yield one["shrink"]
    yield "```"


def _family(one: Mapping[str, Any]) -> Sequence[str]:
    return [
        one["name"],
        f"{one['obeyed']} of {one['tried']}",
        str(one["defences"]["agent"]),
        str(one["defences"]["model"]),
        ", ".join(one["carriers"]),
        *(", ".join(one[key]) for key in ("owasp_llm", "owasp_agentic", "atlas")),
    ]
