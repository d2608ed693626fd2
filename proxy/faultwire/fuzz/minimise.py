"""Smaller cases: which to try next, so that what is left is what the crash takes.

Pure. First whole parts are left out, then steps, then pieces of a text along its structure, halves before
single ones (delta debugging: Zeller and Hildebrandt 2002, over the pieces of `faultwire.shrink`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from faultwire.fuzz.answers import is_stream
from faultwire.fuzz.grammar import made_again
from faultwire.shrink.pieces import pieces

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from faultwire.fuzz.case import Case, Part, Target
    from faultwire.fuzz.grammar import Source


def _fewer_parts(case: Case, _sources: Mapping[Target, Source], _seed: int) -> Iterator[Case]:
    if len(case.parts) > 1:
        for part in case.parts:
            yield case.without(part.target)


def _smaller_steps(case: Case, sources: Mapping[Target, Source], seed: int) -> Iterator[Case]:
    for part in case.parts:
        for fewer in _fewer_steps(part, sources.get(part.target), seed):
            yield case.with_part(fewer)


def _smaller_texts(case: Case, _sources: Mapping[Target, Source], _seed: int) -> Iterator[Case]:
    for part in case.parts:
        for text in _fewer_pieces(part):
            if len(text) < len(part.text):
                yield case.with_part(replace(part, text=text))


STAGES = (_fewer_parts, _smaller_steps, _smaller_texts)
"""One after the other: steps that are left out later would undo what was left out of a text."""


def _fewer_steps(part: Part, source: Source | None, seed: int) -> Iterator[Part]:
    if source is None or len(part.steps) < 2:
        return
    for at in range(len(part.steps)):
        steps = (*part.steps[:at], *part.steps[at + 1 :])
        made = made_again(replace(part, steps=steps), source, seed)
        if made is not None:
            yield made


def _fewer_pieces(part: Part) -> Iterator[str]:
    if part.target.kind == "message" and "\n" in part.text:
        lines = part.text.split("\n")
        for at in range(len(lines)):
            yield "\n".join((*lines[:at], *lines[at + 1 :]))
        return
    if part.target.kind == "answer" and is_stream(part.text):
        blocks = part.text.split("\n\n")
        for at in range(len(blocks) - 1):
            yield "\n\n".join((*blocks[:at], *blocks[at + 1 :]))
        return
    found = pieces(part.text)
    if len(found) < 2:
        return
    everything = frozenset(range(len(found)))
    size = len(found) // 2
    while size:
        for start in range(0, len(found), size):
            kept = everything - frozenset(range(start, start + size))
            if kept:
                yield found.text(kept)
        size //= 2


def minimised(
    case: Case, sources: Mapping[Target, Source], seed: int, still: Callable[[Case], bool | None]
) -> Case:
    """The smallest case that `still` crashes alike; `still` says None when it may not be asked any more."""
    tried = {case.id}
    for stage in STAGES:
        shrinking = True
        while shrinking:
            shrinking = False
            for candidate in stage(case, sources, seed):
                if candidate.id in tried:
                    continue
                tried.add(candidate.id)
                crashes = still(candidate)
                if crashes is None:
                    return case
                if crashes:
                    case, shrinking = candidate, True
                    break
    return case
