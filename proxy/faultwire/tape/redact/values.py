"""Values that are secret by their shape: keys of well-known providers, JWTs, private keys, bearers.

A fast pattern of the core says where a text is suspect; only there the precise one is tried. Both
were written for faultwire from the providers' own descriptions of their keys.
"""

from __future__ import annotations

import re
import string
from typing import TYPE_CHECKING, NamedTuple

from faultwire import _core

if TYPE_CHECKING:
    from collections.abc import Iterator

LONGEST = 16384
"""No shape is longer; of a longer secret the first part is found."""

_EDGE = r"(?:(?<![A-Za-z0-9_])|(?<=\\[bfnrt])|(?<=\\u00[0-9A-Fa-f]{2})|(?<=%[0-9A-Fa-f]{2}))"
"""Where a word may begin, also right after an escape in JSON text or a URL."""


class Shape(NamedTuple):
    """A class of secret: its pattern, and the shortest beginning that makes a text suspect.

    A suspect's matches are short, so that a search for all of them is one pass; a JWT, whose first part
    may be long, is given away by the dot after it.

    The secret is group 1 where there is one, else the whole match. `word` shapes begin with letters
    that common words may end in, so they need an edge before them.
    """

    what: str
    pattern: str
    suspect: str
    word: bool = False


class Value(NamedTuple):
    """A secret's place and class; what tells it begins at `lead`, perhaps further left."""

    start: int
    end: int
    what: str
    lead: int


SHAPES = (
    Shape(
        "private_key",
        r"-----BEGIN [A-Z ]{0,32}PRIVATE KEY(?: BLOCK)?-----[^-]{0,16200}(?:-----END [A-Z ]{0,32}-----)?",
        r"-----BEGIN [A-Z ]{0,32}PRIVATE KEY",
    ),
    Shape(
        "jwt",
        r"eyJ[A-Za-z0-9_-]{8,4096}\.eyJ[A-Za-z0-9_-]{8,8192}(?:\.[A-Za-z0-9_-]{0,4096})?",
        r"\.eyJ[A-Za-z0-9_-]{8}",
    ),
    Shape("anthropic_key", r"sk-ant-[A-Za-z0-9_-]{12,256}", r"sk-ant-"),
    Shape("api_key", r"sk-(?:[a-z0-9]{1,8}-)?[A-Za-z0-9_-]{16,256}", r"sk-[A-Za-z0-9_-]{16}", word=True),
    Shape("aws_key", r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}", r"A(?:KI|SI|BI|CC)A[A-Z0-9]{16}"),
    Shape("github_token", r"gh[pousr]_[A-Za-z0-9]{20,255}", r"gh[pousr]_[A-Za-z0-9]{20}"),
    Shape("github_token", r"github_pat_[A-Za-z0-9_]{20,255}", r"github_pat_"),
    Shape("gitlab_token", r"glpat-[A-Za-z0-9_-]{16,64}", r"glpat-"),
    Shape("slack_token", r"xox[abeoprs]-[A-Za-z0-9-]{10,255}", r"xox[abeoprs]-"),
    Shape("google_key", r"AIza[A-Za-z0-9_-]{35}", r"AIza[A-Za-z0-9_-]{35}"),
    Shape("huggingface_token", r"hf_[A-Za-z0-9]{20,64}", r"hf_[A-Za-z0-9]{20}", word=True),
    Shape("stripe_key", r"[srp]k_(?:live|test)_[A-Za-z0-9]{16,255}", r"[srp]k_(?:live|test)_[A-Za-z0-9]{16}"),
    Shape("npm_token", r"npm_[A-Za-z0-9]{30,64}", r"npm_[A-Za-z0-9]{30}", word=True),
    Shape("groq_key", r"gsk_[A-Za-z0-9]{20,128}", r"gsk_[A-Za-z0-9]{20}", word=True),
    Shape("langsmith_key", r"lsv2_[a-z]{2}_[A-Za-z0-9_]{16,128}", r"lsv2_[a-z]{2}_"),
    Shape(
        "bearer",
        r"(?:Bearer|bearer|BEARER)(?: +|%20|\+)([A-Za-z0-9._~+/=-]{16,8192})",
        r"(?:Bearer|bearer|BEARER)(?: +|%20|\+)[A-Za-z0-9._~+/=-]{16}",
    ),
    Shape(
        "userinfo",
        r"://([^\s/?#@:\"'<>\\]{0,256}:[^\s/?#@\"'<>\\]{1,256})@",
        r"://[^\s/?#@:\"'<>\\]{0,256}:[^\s/?#@\"'<>\\]{1,256}@",
    ),
)
"""In order: the first that matches at a place wins."""

_PATTERNS = tuple((shape.what, re.compile((_EDGE if shape.word else "") + shape.pattern)) for shape in SHAPES)
SUSPECT = "|".join(f"(?:{shape.suspect})" for shape in SHAPES)
_SUSPECT = _core.Regex(SUSPECT)
_URL64 = string.ascii_letters + string.digits + "_-"
_JWT_HEAD = 3 + 4096


def values(text: str) -> Iterator[Value]:
    """Each secret value in a text, in order; a JWT may come after one that begins in it."""
    at = 0
    for place in _SUSPECT.starts(text):
        start = _begin(text, at, place) if place >= at else -1
        if start < 0:
            continue
        at, hit = _at(text, start)
        if hit is not None and not text.startswith("redacted:v1:", hit[0]):
            yield hit


def _begin(text: str, at: int, place: int) -> int:
    """Where the secret begins that a suspect place gives away; -1 if there is none after `at`."""
    if text[place] != ".":
        return place
    head = text[max(at, place - _JWT_HEAD) : place]
    return text.find("eyJ", place - len(head) + len(head.rstrip(_URL64)), place)


def _at(text: str, start: int) -> tuple[int, Value | None]:
    """Where to go on from a suspect place, and the value that begins there."""
    for what, pattern in _PATTERNS:
        found = pattern.match(text, start)
        if found is not None:
            span = found.span(1) if pattern.groups else found.span()
            return max(found.end(), start + 1), Value(*span, what, found.start())
    return start + 1, None
