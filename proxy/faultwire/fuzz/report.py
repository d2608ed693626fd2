"""What a fuzzing found, as one document and in words."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from faultwire.report.redteam import table
from faultwire.report.text import line
from faultwire.text import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from faultwire.fuzz.grammar import Source
    from faultwire.fuzz.journal import Calm, Kept
    from faultwire.fuzz.search import Found, Result, Tried

FORMAT = "faultwire.fuzz/1"
ENDED = {
    "budget": "--budget is used up",
    "time": "--max-time is over",
    "finds": "as many crashes as --finds says were found",
    "exhausted": "no change brings a new case",
}
NO_PROOF = "That says nothing of what was not generated."
MEANING = {
    "signal": "The agent's process was ended by a signal that faultwire did not send.",
    "hang": "The agent was not over after the time limit, and was stopped.",
    "exception": "The agent printed an uncaught exception and did not exit 0.",
    "exit": "The agent did not exit 0, and printed no exception that is known.",
}
SHOWN = 2000
"""Characters of a generated text in a report."""


@dataclass(frozen=True, slots=True)
class About:
    """What a search was made with; `reported` are the languages that gave their coverage, `asked` what was
    wanted."""

    seed: int
    budget: int
    command: tuple[str, ...]
    guided: bool
    asked: str
    reported: tuple[str, ...]
    prompted: bool


def document(
    result: Result,
    calm: Calm,
    kept: Mapping[int, Kept],
    folders: Mapping[str, str],
    commands: Mapping[str, str],
    about: About,
) -> dict[str, Any]:
    """Everything; `kept` is by the number of a run, `folders` and `commands` by the key of a crash."""
    searched = [one for one in result.tried if one.phase == "search"]
    sources = all_sources(calm, searched)
    return {
        "format": FORMAT,
        "seed": about.seed,
        "command": list(about.command),
        "budget": about.budget,
        "runs": calm.runs + len(result.tried),
        "phases": {"calm": calm.runs, **Counter(one.phase for one in result.tried)},
        "ended": result.ended,
        "guided": about.guided,
        "coverage": {"asked": about.asked, "reported": list(about.reported)},
        "cases": reach(searched),
        "features": {
            "wire": _count(calm, searched, coverage=False, kept=kept),
            "coverage": _count(calm, searched, coverage=True, kept=kept),
        },
        "kept": sum(bool(one.news) for one in searched),
        "targets": [_target(one, searched) for one in sources],
        "changes": _changes(searched),
        "crashes": [_crash(at, one, kept, folders, commands) for at, one in enumerate(result.found, 1)],
        "not_generated": not_generated(sources, calm.unnamed, searched, about),
    }


def reach(searched: Sequence[Tried]) -> dict[str, int]:
    """How many cases were generated, and how far they came: the furthest part counts."""
    counts = Counter(_furthest(one) for one in searched)
    return {"generated": len(searched), **{name: counts[name] for name in ("agent", "model", "not", "void")}}


def _furthest(one: Tried) -> str:
    if one.seen.void:
        return "void"
    return next((name for name in ("agent", "model") if name in one.seen.reached), "not")


def _count(calm: Calm, searched: Sequence[Tried], *, coverage: bool, kept: Mapping[int, Kept]) -> list[int]:
    """How many features the runs without generated texts showed, and all of them."""

    def is_wanted(feature: str) -> bool:
        return feature.startswith(("py ", "v8 ")) == coverage

    before = set(filter(is_wanted, calm.features))
    new = {
        one for tried in searched if tried.news for one in filter(is_wanted, kept[tried.number].seen.features)
    }
    return [len(before), len(before | new)]


def _target(source: Source, searched: Sequence[Tried]) -> dict[str, Any]:
    mine = [
        (one, part, one.seen.reached[at])
        for one in searched
        for at, part in enumerate(one.case.parts)
        if part.target == source.target and not one.seen.void
    ]
    reached = Counter(far for _, _, far in mine)
    by_schema = Counter(source.validity(part.text) for _, part, _ in mine)
    return {
        "target": source.target.text,
        "kind": source.target.kind,
        "generated": len(mine),
        **{name: reached[name] for name in ("agent", "model", "not")},
        "by_schema": None if source.schema is None else {key: by_schema[key] for key in ("valid", "invalid")},
        "crashed": sum(one.seen.crash is not None for one, _, _ in mine),
    }


def _changes(searched: Sequence[Tried]) -> list[dict[str, Any]]:
    """What each change brought; a case counts for each that it has."""
    rows: dict[str, Counter[str]] = {}
    for one in searched:
        for name in {step.change for part in one.case.parts for step in part.steps}:
            row = rows.setdefault(name, Counter())
            row["cases"] += 1
            row["news"] += bool(one.news)
            row["crashed"] += one.seen.crash is not None
    return [
        {"change": name, **{key: row[key] for key in ("cases", "news", "crashed")}}
        for name, row in sorted(
            rows.items(), key=lambda pair: (-pair[1]["crashed"], -pair[1]["news"], pair[0])
        )
    ]


def _crash(
    at: int,
    one: Found,
    kept: Mapping[int, Kept],
    folders: Mapping[str, str],
    commands: Mapping[str, str],
) -> dict[str, Any]:
    run = kept[one.number]
    return {
        "id": at,
        "key": one.crash.key,
        "kind": one.crash.kind,
        "title": one.crash.title,
        "frames": list(one.crash.frames),
        "times": one.times,
        "confirmed": [one.again, one.repeats],
        "reached": list(run.seen.reached),
        "shrunk": [_size(one.case), _size(one.smallest), one.shrinking],
        "parts": [
            {
                "target": part.target.text,
                "base": part.base,
                "text": part.text[:SHOWN],
                "cut": max(0, len(part.text) - SHOWN),
                "steps": [step.how for step in part.steps],
            }
            for part in one.smallest.parts
        ],
        "output": run.output[-SHOWN:],
        "answer": run.answer,
        "prompt": one.smallest.prompt,
        "tape": run.tape,
        "session": run.session,
        "folder": folders[one.crash.key],
        "reproduce": commands[one.crash.key],
    }


def _size(case: Any) -> int:
    """Characters of all texts of a case."""
    return sum(len(part.text) for part in case.parts)


def all_sources(calm: Calm, searched: Sequence[Tried]) -> list[Source]:
    """The targets of the runs as they are, and those that came up on the way."""
    found = {one.target: one for one in calm.sources}
    for tried in searched:
        for one in tried.seen.sources:
            found.setdefault(one.target, one)
    return list(found.values())


def not_generated(
    sources: Sequence[Source], unnamed: Sequence[str], searched: Sequence[Tried], about: About
) -> list[str]:
    """What of the agent's input no case touched, in words."""
    used = {part.target for one in searched for part in one.case.parts}
    found = [f"{one.target.text}: no case" for one in sources if one.target not in used]
    found += [f"{one}: a call without the name of a tool (`tools` of --profile gives one)" for one in unnamed]
    if not about.prompted:
        found.append("prompts: none was given by --prompt")
    if not any(one.target.kind == "answer" for one in sources):
        found.append("answers of models: none came as a JSON document or a stream of events")
    return found


# ---------------------------------------------------------------- for people


def summary(found: Mapping[str, Any]) -> Iterator[str]:
    """The first lines, in a terminal and in every report."""
    crashes = found["crashes"]
    sure = sum(one["confirmed"][0] == one["confirmed"][1] > 0 for one in crashes)
    if crashes:
        different = counted(len(crashes), "different crash", "different crashes")
        yield f"{different}, {sure} of them confirmed by a repeat."
    else:
        yield f"No crash was found. {NO_PROOF}"
    phases = ", ".join(
        f"{found['phases'][name]} {word}" for name, word in _PHASES.items() if found["phases"].get(name)
    )
    runs = f"{counted(found['runs'], 'run')} of {found['budget']}"
    yield f"{runs} ({phases}); ended since {ENDED[found['ended']]}."
    cases = found["cases"]
    yield (
        f"{counted(cases['generated'], 'case')} generated: {cases['agent']} reached the agent, "
        f"{cases['model']} only its model, {cases['not']} neither, {cases['void']} inconclusive."
    )
    wire, code = found["features"]["wire"], found["features"]["coverage"]
    reported = _coverage(found["coverage"], code)
    yield f"Call shapes: {wire[0]} without a generated text, {wire[1]} with all. {reported}"


_PHASES = {
    "calm": "without a generated text",
    "search": "to search",
    "confirm": "to confirm",
    "shrink": "to make smaller",
}


def _coverage(coverage: Mapping[str, Any], counts: Sequence[int]) -> str:
    if coverage["reported"]:
        return f"Places in the code ({', '.join(coverage['reported'])}): {counts[0]}, then {counts[1]}."
    if coverage["asked"] == "none":
        return "The agent's coverage was not asked for (--coverage)."
    return f"The agent told no coverage, although --coverage {coverage['asked']} asked for it."


def crash_lines(one: Mapping[str, Any]) -> Iterator[str]:
    """A crash in a terminal."""
    again, repeats = one["confirmed"]
    seen = "came again" if again == repeats > 0 else f"came again in {again} of {counted(repeats, 'repeat')}"
    yield f"{one['id']}. {one['kind']}: {line(one['title'])} ({counted(one['times'], 'case')}, {seen})"
    if "agent" not in one["reached"]:
        yield "   nothing that was generated had reached the agent's own code"
    for part in one["parts"]:
        yield f"   {part['target']}: {line('; '.join(part['steps']) or part['base'])}"
    yield f"   {one['reproduce']}"


def lines(found: Mapping[str, Any]) -> Iterator[str]:
    """The report as Markdown."""
    yield from ("# Fuzzing of the agent", "", *summary(found))
    if found["crashes"]:
        yield from ("", "## Crashes")
    for one in found["crashes"]:
        yield from ("", f"### {one['id']}. {one['kind']}: {line(one['title'])}", "", MEANING[one["kind"]], "")
        yield from (f"- {line(frame)}" for frame in one["frames"])
        yield from ("", "```sh", one["reproduce"], "```")
        for part in one["parts"]:
            yield from ("", f"{line(part['target'])}: {line('; '.join(part['steps']) or part['base'])}")
            yield from ("", "```text", part["text"].replace("```", "` ` `"), "```")
    yield from table(
        "What was generated",
        (
            "target",
            "generated",
            "reached the agent",
            "only its model",
            "neither",
            "valid by schema",
            "crashed",
        ),
        map(_row, found["targets"]),
    )
    yield from table(
        "Changes", ("change", "cases", "with something new", "crashed"),
        ([str(value) for value in one.values()] for one in found["changes"]),
    )  # fmt: skip
    yield from ("", "## What was not generated", "", *(f"- {line(one)}" for one in found["not_generated"]))


def _row(one: Mapping[str, Any]) -> list[str]:
    schema = one["by_schema"]
    by_schema = (
        "no schema" if schema is None else f"{schema['valid']} of {schema['valid'] + schema['invalid']}"
    )
    return [
        one["target"],
        *(str(one[key]) for key in ("generated", "agent", "model", "not")),
        by_schema,
        str(one["crashed"]),
    ]
