"""Finds the answer in an agent's output by a JSONPath, without guessing.

A path may leave its `$` away, and an index may stand behind a dot: `choices[0].message.content`,
`$.choices[0].message.content` and `choices.0.message.content` are one place.
"""

from __future__ import annotations

import json
from itertools import islice
from typing import TYPE_CHECKING, Any

from faultwire.profile.jsonpath import Step, compile_path, values

if TYPE_CHECKING:
    from collections.abc import Sequence

SHOWN = 8
"""Keys of a document that an error names."""


class Missed(Exception):
    """There is no answer where it is to be; says what is there in its place.

    `misplaced`: there is an answer, but this is not where it stands; an agent that reports a failure, or
    leaves its answer empty, is something else.
    """

    def __init__(self, message: str, *, misplaced: bool = False) -> None:
        super().__init__(message)
        self.misplaced = misplaced


class AnswerPath:
    """One place in a JSON document. Raises ValueError for a text that is no path."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._steps = tuple(compile_path(_rooted(text.strip())))

    def find(self, output: str) -> str:
        """The text at this place of a JSON document; another value than a text as JSON. Raises Missed."""
        try:
            document = json.loads(output)
        except ValueError as error:
            where = f"line {error.lineno}" if isinstance(error, json.JSONDecodeError) else "its numbers"
            text = f"found no JSON (`{_short(output)}`, {where}), expected `{self.text}` in it"
            raise Missed(text, misplaced=bool(output.strip())) from None
        except RecursionError:
            raise Missed(f"found JSON that is nested too deeply, expected `{self.text}` in it") from None
        return self.of(document)

    def of(self, document: Any) -> str:
        """The same for a document that is read already."""
        found = next(iter(values(document, _fitting(document, self._steps))), _NOTHING)
        if found is _NOTHING:
            text = f"found no `{self.text}` in {_outline(document)}"
            raise Missed(text, misplaced=not _reports_failure(document))
        if found is None:
            raise Missed(f"found null at `{self.text}`, expected an answer")
        return as_text(found)


def as_text(value: Any) -> str:
    """A JSON value as an answer."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


_NOTHING = object()


def _rooted(text: str) -> str:
    """The path with its `$`."""
    if not text:
        raise ValueError("found an empty path")
    if text.startswith("$"):
        return text
    return f"${text}" if text.startswith(("[", ".")) else f"$.{text}"


def _fitting(document: Any, steps: Sequence[Step]) -> tuple[Step, ...]:
    """The steps, with `.0` as an index where a list stands there."""
    fitted: list[Step] = []
    for deep, step in steps:
        if isinstance(step, str) and not deep and step.isdecimal() and len(step) < 10:
            before = next(iter(values(document, fitted)), None)
            fitted.append((deep, int(step) if isinstance(before, list) else step))
        else:
            fitted.append((deep, step))
    return tuple(fitted)


def _reports_failure(document: Any) -> bool:
    """Is it an agent's way to say that something went wrong, or nothing at all?"""
    if not isinstance(document, dict):
        return not document
    failed = any(document.get(name) for name in ("error", "Error", "errors", "detail", "exception"))
    return failed or document.get("success") is False or not document


def _outline(document: Any) -> str:
    """What a document is, in a few words: its keys, never its values."""
    if isinstance(document, dict):
        keys = ", ".join(f"`{_short(str(key))}`" for key in islice(document, SHOWN))
        return f"an object with {keys}{' …' if len(document) > SHOWN else ''}" if keys else "an empty object"
    if isinstance(document, list):
        return f"a list of {len(document)}"
    return f"a JSON {type(document).__name__}"


def _short(text: str, size: int = 40) -> str:
    line = " ".join(text.split())
    return line if len(line) <= size else f"{line[:size]}…"
