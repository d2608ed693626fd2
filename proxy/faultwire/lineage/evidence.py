"""The edges found so far, and the values, phrases and runs of words that answers have brought."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from faultwire.lineage.model import Edge
from faultwire.lineage.near import overlap, words_of
from faultwire.lineage.phrases import Phrases, pairs_of, phrase_of
from faultwire.lineage.values import values

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from faultwire.lineage.model import EdgeKind, Part, Span
    from faultwire.lineage.near import Words
    from faultwire.lineage.parts import Text

SOURCES = 3
"""Answers that brought the same value; of more, only the first has an edge: it tells them apart no more."""


@dataclass(slots=True)
class Held:
    """All that a request holds, also what it repeats: an answer that gives it back brought none of it."""

    values: set[str] = field(default_factory=set)
    pairs: set[tuple[str, str]] = field(default_factory=set)
    marks: set[int] = field(default_factory=set)

    def add(self, texts: Iterable[Text]) -> None:
        """Read more parts."""
        for text in texts:
            self.values.update(values(text.leaves))
            for leaf in text.leaves:
                self.pairs.update(pairs_of(" ".join(leaf.split())))
                self.marks.update(words_of(leaf).marks)


@dataclass(slots=True)
class Evidence:
    """What answers brought, and where it was met again."""

    phrases: Phrases = field(default_factory=Phrases)
    _values: dict[str, list[Part]] = field(default_factory=dict)
    _own: set[str] = field(default_factory=set)
    _texts: list[tuple[Part, Words]] = field(default_factory=list)
    _marks: dict[int, list[int]] = field(default_factory=dict)
    _own_marks: set[int] = field(default_factory=set)
    _edges: dict[tuple[Part, Part, EdgeKind], Edge] = field(default_factory=dict)

    # ------------------------------------------------------------ edges

    def add(self, source: Part, target: Part, kind: EdgeKind, what: Span, span: str, others: int = 0) -> None:
        """One more piece of evidence for an edge."""
        if source.exchange == target.exchange and source.side == target.side:
            return
        found = self._edges.get((source, target, kind))
        if found is None:
            self._edges[source, target, kind] = Edge(source, target, kind, what, span, 1, others)
            return
        if len(span) > len(found.span):
            found = replace(found, what=what, span=span)
        more = replace(found, pieces=found.pieces + 1, others=min(found.others, others))
        self._edges[source, target, kind] = more

    def repeat(self, source: Part, target: Part, number: int) -> None:
        """A message is sent again: `target` is where that was first."""
        found = self._edges.get((source, target, "history"))
        if found is None:
            self._edges[source, target, "history"] = Edge(source, target, "history", "turn", "")
        elif number != target.exchange and number not in found.later:
            self._edges[source, target, "history"] = replace(found, later=(*found.later, number))

    def edges(self) -> list[Edge]:
        """All of them, by target and source."""
        order = {"exact": 0, "near": 1, "canary": 2, "history": 3}
        strong = {(source, target) for source, target, kind in self._edges if kind == "exact"}
        kept = (edge for (s, t, kind), edge in self._edges.items() if kind != "near" or (s, t) not in strong)
        return sorted(kept, key=lambda e: (e.target.exchange or 1 << 60, e.source, order[e.kind], e.target))

    # ------------------------------------------------------------ requests

    def match(self, text: Text, held: Held | None = None) -> bool:
        """Look for what answers brought in a part that is new; with `held`, an answer's part, only for what
        stands in its request. Is there any?"""
        found = (
            self._match_values(text, held) | self._match_phrases(text, held) | self._match_words(text, held)
        )
        return bool(found)

    def own(self, text: Text) -> None:
        """What nobody brought of a part is the agent's own from now on."""
        self._own.update(value for value in values(text.leaves) if value not in self._values)
        taken = {phrase for leaf in text.leaves for phrase, _ in self.phrases.found_in(leaf)}
        self.phrases.add_own(text.leaves, taken)
        for leaf in text.leaves:
            self._own_marks.update(mark for mark in words_of(leaf).marks if mark not in self._marks)

    def _match_values(self, text: Text, held: Held | None) -> set[str]:
        found = set()
        for value, what in values(text.leaves).items():
            sources = self._values.get(value)
            if sources is not None and (held is None or value in held.values):
                found.add(value)
                self._from(sources, text.part, what, value)
        return found

    def _match_phrases(self, text: Text, held: Held | None) -> set[str]:
        found = set()
        for leaf in text.leaves:
            for phrase, sources in self.phrases.found_in(leaf):
                if held is not None and not held.pairs.issuperset(pairs_of(phrase)):
                    continue
                if not self.phrases.is_own(phrase):
                    found.add(phrase)
                    self._from(sources, text.part, "quoted value", phrase)
        return found

    def _match_words(self, text: Text, held: Held | None) -> set[str]:
        found = set()
        for leaf in text.leaves:
            words = words_of(leaf)
            shared: dict[int, set[int]] = {}
            for mark in words.marks:
                if mark in self._own_marks or (held is not None and mark not in held.marks):
                    continue
                for at in self._marks.get(mark, ()):
                    shared.setdefault(at, set()).add(mark)
            for at, marks in shared.items():
                source, brought = self._texts[at]
                both = overlap(brought, words, marks)
                if both is not None:
                    found.add(both.run)
                    self.add(source, text.part, "exact" if both.verbatim else "near", "words", both.run)
        return found

    def _from(self, sources: Sequence[Part], target: Part, what: Span, span: str) -> None:
        others = len(sources) - 1
        for source in sources if len(sources) <= SOURCES else sources[:1]:
            self.add(source, target, "exact", what, span, others)

    # ------------------------------------------------------------ answers

    def brought(self, text: Text, held: Held) -> None:
        """A part of an answer: what it has that neither its request nor the agent had. A result in a request
        brings only what no answer has brought: else it is that answer's."""
        for value in values(text.leaves):
            if value not in held.values and value not in self._own:
                sources = self._values.setdefault(value, [])
                if text.part not in sources and not (sources and text.is_result):
                    sources.append(text.part)
        for leaf in text.leaves:
            phrase = phrase_of(leaf)
            if phrase is not None and not held.pairs.issuperset(pairs_of(phrase)):
                self.phrases.bring(phrase, text.part, only_new=text.is_result)
            words = words_of(leaf)
            new = [
                mark
                for mark in words.marks
                if not (
                    mark in held.marks or mark in self._own_marks or (text.is_result and mark in self._marks)
                )
            ]
            if new:
                self._texts.append((text.part, words))
                for mark in new:
                    self._marks.setdefault(mark, []).append(len(self._texts) - 1)
