"""What a user's question says that a tool could be called with: an expression, a place, a number."""

from __future__ import annotations

import re  # noqa: TID251 - fixed patterns, on a bounded text
from functools import cached_property
from typing import Any

_READ = 2048
"""Characters of a question that are looked at."""
_SPOKEN = (
    (re.compile(r"\bdivided by\b", re.I), "/"),
    (re.compile(r"\b(?:times|multiplied by)\b", re.I), "*"),
    (re.compile(r"\bplus\b", re.I), "+"),
    (re.compile(r"\bminus\b", re.I), "-"),
    (re.compile(r"[×·]"), "*"),
    (re.compile(r"÷"), "/"),
    (re.compile(r"(?<=\d)\s*x\s*(?=\d)"), "*"),
    (re.compile(r"(?<=\d),(?=\d{3}\b)"), ""),
)
_DATE = re.compile(r"\b\d{4}-\d{2}-\d{2}\b")
_EXPRESSION = re.compile(r"[(\d][\d\s.+\-*/()^%]{0,200}[\d)]")
_OPERATION = re.compile(r"\d\s*\)*\s*[-+*/^%]{1,2}\s*\(*\s*\d")
_NUMBER = re.compile(r"(?<![\w.])-?\d{1,15}(?:\.\d{1,10})?(?![\w.]*\d)")
_PLACE = re.compile(
    r"\b(?:in|at|for|near|of|to|from)\s+((?:[A-Z][\w'\u2019.-]*)(?:\s+[A-Z][\w'\u2019.-]*){0,2})"
)
_QUOTED = re.compile(r"[\"“'`]([^\"”'`]{1,200})[\"”'`]")
_PLACES = ("city", "location", "place", "town", "country", "region", "destination", "address")
_FORMULAS = ("expression", "formula", "equation", "calculation", "expr", "math")


class Question:
    """A user's words."""

    def __init__(self, text: str) -> None:
        self.text = text.strip()
        self._head = _DATE.sub(" ", self.text[:_READ])

    @cached_property
    def expression(self) -> str | None:
        """The first arithmetic expression, in the operators that calculators read."""
        text = self._head
        for spoken, sign in _SPOKEN:
            text = spoken.sub(sign, text)
        for found in _EXPRESSION.finditer(text):
            if _OPERATION.search(found[0]):
                return _balanced(" ".join(found[0].split()))
        return None

    @cached_property
    def place(self) -> str | None:
        """A name that follows a word like `in`."""
        found = _PLACE.search(self._head)
        return found[1].rstrip(".'\u2019-") if found else None

    @cached_property
    def quoted(self) -> str | None:
        """The first text in quotation marks."""
        found = _QUOTED.search(self._head)
        return found[1] if found else None

    def words(self) -> frozenset[str]:
        """Its words in lower case."""
        return words(self._head)

    def number(self) -> int | float | None:
        """The first number."""
        found = _NUMBER.search(self._head)
        if found is None:
            return None
        return float(found[0]) if "." in found[0] else int(found[0])

    def pick(self, options: list[Any]) -> Any:
        """The option that is mentioned, else the first."""
        spoken = self._head.lower()
        return next((o for o in options if isinstance(o, str) and o and o.lower() in spoken), options[0])

    def text_for(self, name: str, description: str) -> str:
        """The part of the question that belongs into an argument of this name."""
        about = f"{name} {description}".lower()
        if any(word in about for word in _FORMULAS):
            return self.expression or self.text[:_READ]
        if any(word in about for word in _PLACES):
            return self.place or self.quoted or self.text[:_READ]
        return self.text[:_READ] or name or "text"


def words(text: str) -> frozenset[str]:
    """The words of a text or of a `snake_case` or `camelCase` name, in lower case."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])|[^\w]|_", " ", text)
    return frozenset(word.lower() for word in spaced.split())


def _balanced(expression: str) -> str:
    """Without the brackets that the sentence around the expression brought in."""
    while expression.count("(") > expression.count(")") and expression.startswith("("):
        expression = expression[1:].lstrip()
    while expression.count(")") > expression.count("(") and expression.endswith(")"):
        expression = expression[:-1].rstrip()
    return expression
