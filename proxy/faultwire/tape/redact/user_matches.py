"""Where a user's rules reach in a body, as edits that leave JSON, events and forms valid.

A text is looked through as it stands; strings that hold escapes and words that hold percent-encoding
are looked through decoded. Inside JSON a hit is cut down to the strings and numbers that it touches.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib import parse

from faultwire import _core
from faultwire.tape.redact.edit import MARK, Edit, merged
from faultwire.tape.redact.packed import Unwrapped, compressed_edits, packed_edits, unmarked
from faultwire.tape.redact.text import unescape, unquote

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from faultwire.profile.jsonpath import Step
    from faultwire.tape.redact.rules import Hit, Rules

WINDOW = 512
"""Characters at the end of a stream that wait for more, where rules look for something in texts. What is
longer may be missed when it comes in pieces."""

_DEPTH = 4
_STRING = re.compile(r"\"([^\"\\\n]*(?:\\.[^\"\\\n]*)*)\"?")
# With what encoders leave as it is, as in the core.
_PERCENT_RUN = re.compile(r"(?:%[0-9A-Fa-f]{2}|[A-Za-z0-9_.~+/:@!*'()$,;-])+")
_OF_NUMBERS = "0123456789.-+eE"
_ESCAPED_END = re.compile(r"%[0-9A-Fa-f]{2}\Z")
_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_STRUCTURE = re.compile(r"(?:[\s,:\[\]{}]|true|false|null|-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)*\Z")
_EDGE = " \t\r\n,:[]{}"
_LINE = re.compile(r"[^\r\n]*")
_BOM = "\xef\xbb\xbf"
"""A byte order mark in UTF-8, which a text may begin with, as Latin-1."""
_DOCUMENT = re.compile(rf"^(?:{_BOM})?(?:data: ?)?(?=[{{\[])(?!\[DONE\])", re.MULTILINE)


def rule_edits(text: str, rules: Rules) -> list[Edit]:
    """What the rules cover in bytes, given as Latin-1."""
    found = _in_documents(text, rules.paths) if rules.paths else []
    if rules.looks:
        found += list(_looked(text, rules, 0))
        found += compressed_edits(text, lambda one: bool(rules.in_text(one)))
    return merged(found)


def text_edits(text: str, rules: Rules) -> list[Edit]:
    """What they cover in a stream's text, its pieces joined."""
    found = [Edit(hit.start, hit.end, hit.what, text[hit.start : hit.end]) for hit in rules.in_text(text)]
    return merged([one for one in found if not one.value.startswith(MARK)] + list(_unwrapped(text, rules, 0)))


# ---------------------------------------------------------------- texts


def _looked(text: str, rules: Rules, depth: int) -> Iterator[Edit]:
    escaped = [found for found in _STRING.finditer(text) if "\\" in found[1]] if "\\" in text else []
    # Those are looked through decoded, so here they must not be seen half.
    plain = _blanked(text, [found.span(1) for found in escaped])
    for hit in rules.in_bytes(plain) if depth == 0 else rules.in_text(plain):
        yield from _clipped(text, hit)
    if depth < _DEPTH:
        for found in escaped:
            yield from _inner(unescape(text, *found.span(1)), rules, depth, _in_string)
        yield from _unwrapped(plain, rules, depth)


def _unwrapped(text: str, rules: Rules, depth: int) -> Iterator[Edit]:
    """In what is encoded in a text other than in JSON."""
    if "%" in text or "+" in text:
        for run in _PERCENT_RUN.finditer(text):
            if "%" in run[0]:
                yield from _inner(unquote(text, *run.span()), rules, depth, _in_word)
            if "+" in run[0].strip("+"):
                yield from _inner(unquote(text, *run.span(), blanks=True), rules, depth, _in_word)
    yield from packed_edits(text, lambda one: bool(rules.in_text(one)))
    for inner in unmarked(text):
        yield from _inner(inner, rules, depth, _in_markup)


def _blanked(text: str, spans: Iterable[tuple[int, int]]) -> str:
    out, at = [], 0
    for start, end in spans:
        out += [text[at:start], " " * (end - start)]
        at = end
    return "".join(out) + text[at:]


def _inner(inner: Unwrapped, rules: Rules, depth: int, encode: Callable[[str], str]) -> Iterator[Edit]:
    for edit in _looked(inner.text, rules, depth + 1):
        start, end = inner.starts[edit.start], inner.starts[edit.end]
        yield edit._replace(start=start, end=end, quote=encode(edit.quote))


def _in_string(quote: str) -> str:
    """A quote as it stands in a JSON string."""
    return quote.replace("\\", "\\\\").replace('"', '\\"')


def _in_word(quote: str) -> str:
    """The same in a word with percent-encoding."""
    return parse.quote(quote)


def _in_markup(quote: str) -> str:
    """The same in HTML. It is whole there, too, where the HTML stands in a JSON string."""
    return quote.replace("&", "&amp;").replace("\\", "&#92;").replace('"', "&quot;")


def _clipped(text: str, hit: Hit) -> Iterator[Edit]:
    """The parts of a hit that may be replaced: inside of strings, numbers, and text that is no JSON."""
    at = text.rfind("\n", 0, hit.start) + 1
    outside = hit.start
    for string in _STRING.finditer(text, at):
        if string.start() >= hit.end:
            break
        if string.end() <= hit.start:
            continue
        yield from _between(text, outside, string.start(), hit)
        outside = string.end()
        yield from _edit(text, max(string.start(1), hit.start), min(string.end(1), hit.end), hit)
    yield from _between(text, outside, hit.end, hit)


def _between(text: str, start: int, end: int, hit: Hit) -> Iterator[Edit]:
    """The same outside of strings."""
    while start < end and text[start] in _EDGE:
        start += 1
    while start < end and text[end - 1] in _EDGE:
        end -= 1
    if start >= end:
        return
    # A hit may begin or end inside a number; a number in JSON goes whole, and becomes a string.
    first = start
    while start and text[start - 1] in _OF_NUMBERS and text[start] in _OF_NUMBERS:
        if _ESCAPED_END.search(text, max(0, start - 3), start):
            break  # those digits are a character, percent-encoded
        start -= 1
    if start < first and text[start] == "+":
        start += 1  # a blank in a form: no number in JSON begins so
    tail = _NUMBER.match(text, start)
    end = max(end, tail.end()) if tail else end
    if _STRUCTURE.match(text[start:end]) and _is_value(text, start, end):
        for number in _NUMBER.finditer(text, start, end):
            yield from _edit(text, *number.span(), hit, '"')
    else:
        yield from _edit(text, start, end, hit)


def _is_value(text: str, start: int, end: int) -> bool:
    """May this be a value in JSON, by what stands around it?"""
    before, after = text[:start].rstrip()[-1:], text[end : end + 64].lstrip()[:1]
    return before in (":", ",", "[", "") and after in (",", "]", "}", "")


def _edit(text: str, start: int, end: int, hit: Hit, quote: str = "") -> Iterator[Edit]:
    if start < end and not text.startswith(MARK, start):
        yield Edit(start, end, hit.what, text[start:end], quote)


# ---------------------------------------------------------------- paths


def _in_documents(text: str, paths: Iterable[tuple[Step, ...]]) -> list[Edit]:
    """By path: in the body as one document, else in each line that holds one (after `data:` in event
    streams). What begins like a document and is none goes whole: nobody knows what its end would say."""
    whole = text.removeprefix(_BOM).strip(" \t\r\n")
    if whole[:1] in ("{", "["):
        start = text.index(whole[0])
        try:
            return _by_paths(text[start : start + len(whole)], start, paths)
        except ValueError:
            if "\n" not in whole:
                return [Edit(start, start + len(whole), "unreadable", whole)]
    found: list[Edit] = []
    for document in _DOCUMENT.finditer(text):
        line = _LINE.match(text, document.end())
        if line is not None:
            try:
                found += _by_paths(line[0], line.start(), paths)
            except ValueError:
                found.append(Edit(*line.span(), "unreadable", line[0]))
    return found


def _by_paths(document: str, at: int, paths: Iterable[tuple[Step, ...]]) -> list[Edit]:
    """Raises ValueError on what is no JSON."""
    data = document.encode("latin-1")
    _core.json_span(data, ())
    found: list[Edit] = []
    for steps in paths:
        found += [edit for span in _spans(data, steps) for edit in _value(data, span, at)]
    return found


def _value(data: bytes, span: tuple[int, int], at: int) -> Iterator[Edit]:
    start, end = span
    value = data[start:end].decode("latin-1")
    if value == "null" or value == '""' or value.startswith(f'"{MARK}'):
        return
    if value.startswith('"'):
        yield Edit(at + start + 1, at + end - 1, "rule.path", value[1:-1])
    else:
        yield Edit(at + start, at + end, "rule.path", value, '"')


def _spans(data: bytes, steps: tuple[Step, ...]) -> list[tuple[int, int]]:
    reached = [(0, len(data))]
    for deep, step in steps:
        if deep:
            reached = _below(data, reached)
        reached = [span for node in reached for span in _children(data, node, step)]
    return reached


def _below(data: bytes, nodes: list[tuple[int, int]]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        found.append(node)
        waiting += _children(data, node, None)
    return found


def _children(data: bytes, node: tuple[int, int], step: str | int | None) -> list[tuple[int, int]]:
    start, end = node
    children = _core.json_children(data[start:end], ())
    if isinstance(step, int) and step < 0:
        step += len(children)
    return [(start + a, start + b) for key, a, b in children if step is None or _is(key, step)]


def _is(key: str | int, step: str | int) -> bool:
    return type(key) is type(step) and key == step
