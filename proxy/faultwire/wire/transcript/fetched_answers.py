"""Answers that several exchanges of a session hold: whose usage counts.

A provider that keeps an answer (OpenAI Responses) gives it again to whoever fetches it by its id, with its
usage. A request for a background answer brings only its id. The tokens were used once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from faultwire.events import Recorded
    from faultwire.wire.transcript.exchange import Transcript


def is_fetch(recorded: Recorded) -> bool:
    """Does it fetch an answer that an earlier request asked for?"""
    return recorded.request.method == "GET" and recorded.kind == "llm"


def counted_elsewhere(exchanges: Iterable[tuple[Recorded, Transcript]]) -> frozenset[int]:
    """The numbers of the exchanges of one session whose usage another one of it holds.

    An answer's usage counts where it was first counted. Where nobody counted it, it is unknown once: at the
    request that asked for it, or else at the first one that fetched it.
    """
    by_answer: dict[str, list[tuple[Recorded, Transcript]]] = {}
    for recorded, transcript in exchanges:
        if transcript.answer_id is not None:
            by_answer.setdefault(transcript.answer_id, []).append((recorded, transcript))
    found: set[int] = set()
    for same in by_answer.values():
        first = next((one for one, transcript in same if transcript.charged is not None), same[0][0])
        found |= {
            one.number
            for one, transcript in same
            if one.number != first.number and (is_fetch(one) or transcript.charged is None)
        }
    return frozenset(found)
