"""Secrets in the queries of URLs and in forms, wherever they stand."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from faultwire import _core
from faultwire.tape.redact_edit import MARK, Edit
from faultwire.tape.redact_names import QUERY_NAMES, query_class

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


def form_edits(text: str) -> list[Edit]:
    """Values of secret fields in a form body."""
    found: list[Edit] = []
    at = 0
    for pair in text.split("&"):
        name, mark, value = pair.partition("=")
        if mark and value and query_class(name):
            found.append(Edit(at + len(name) + 1, at + len(pair), "query", value))
        at += len(pair) + 1
    return found
