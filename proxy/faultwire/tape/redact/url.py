"""Secrets in the queries of URLs and in forms, wherever they stand."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import unquote_plus

from faultwire import _core
from faultwire.tape.redact.edit import MARK, Edit
from faultwire.tape.redact.known_keys import known_edits
from faultwire.tape.redact.names import QUERY_NAMES, query_class

if TYPE_CHECKING:
    from collections.abc import Iterator

_VALUE = r"[^&#\s\"'<>\\]"

SUSPECT_URL = rf"[?&#](?:amp;)?(?i:{QUERY_NAMES})={_VALUE}"
"""A pair of a query (or of the fragment, as OAuth's answers) whose name may be secret."""

_PAIRS = _core.Regex(SUSPECT_URL)
_PAIR = re.compile(rf"[?&#](?:amp;)?([^=&#?]+)=({_VALUE}+)")

_COMMON = frozenset({"code", "state", "key"})
_SHORTEST = 8
"""Under a common name (`?state=open`, `?code=404`) a text must be so long to be taken for a secret."""


def url_edits(text: str) -> Iterator[Edit]:
    """Values of secret query parameters in a text that holds URLs."""
    for place in _PAIRS.starts(text):
        pair = _PAIR.match(text, place)
        if pair is None or pair[2].startswith(MARK) or not query_class(pair[1]):
            continue
        if len(pair[2]) >= _SHORTEST or pair[1].lower() not in _COMMON:
            yield Edit(*pair.span(2), "query", pair[2], lead=place)


def pair_class(name: str, value: str) -> str | None:
    """The class of a pair's value if it is secret: by its name, or by what it says when decoded."""
    if not value:
        return None
    what = query_class(name)
    if what is None and ("%" in value or "+" in value) and not value.startswith(MARK):
        ahead = len(unquote_plus(name)) + 1
        edits = known_edits(f"{unquote_plus(name)}={unquote_plus(value)}")
        what = next((edit.what for edit in edits if edit.end > ahead), None)
    return what


def form_edits(text: str) -> list[Edit]:
    """Values of secret fields in a form body."""
    found: list[Edit] = []
    at = 0
    for pair in text.split("&"):
        name, _, value = pair.partition("=")
        if what := pair_class(name, value):
            found.append(Edit(at + len(name) + 1, at + len(pair), what, value))
        at += len(pair) + 1
    return found
