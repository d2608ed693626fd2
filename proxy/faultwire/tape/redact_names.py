"""Which header fields, query parameters and body keys are secret by their name."""

from __future__ import annotations

import re
from functools import lru_cache
from urllib.parse import unquote_plus

_HEADERS = re.compile(
    r"(?:proxy-)?authorization|authentication|(?:set-)?cookie2?|(?:x-)?api-?key|x-goog-api-key"
    r"|x-amz-(?:security-token|credential|signature)|(?:x-)?(?:auth|access|session|refresh|id)-?token"
    r"|x-(?:csrf|xsrf).*|csrf-token|x-forwarded-for|openai-(?:organization|project)"
    r"|x-(?:vault|gitlab|github|hub|shopify|amzn|plex|figma)-.*(?:token|signature)(?:-\d+)?"
    r"|ocp-apim-subscription-key|private-token|.*-(?:secret|password|api-key|apikey)"
)

_QUERY = re.compile(
    r"key|api[_-]?key|token|[a-z0-9_-]*[_-]token|code|state|sig|signature|x-amz-[a-z-]+|sas|password|passwd"
    r"|(?:[a-z0-9]+_)*secret(?:_key)?|assertion|samlresponse|auth|authorization|credentials?|private_?key"
    r"|session[a-z0-9_-]*"
)

_SCHEME = re.compile(
    r"((?:basic|bearer|digest|negotiate|token|apikey|aws4-hmac-sha256) +)(.+)\Z", re.IGNORECASE | re.DOTALL
)

BODY_NAMES = (
    r"pass(?:word|wd|phrase)|pwd|(?:[a-z0-9_-]*[_-])?secret(?:[_-]?(?:key|access[_-]?key))?"
    r"|[a-z0-9_-]+[_-]token|(?:access|refresh|id|auth|session|bearer|csrf|api)token|clientsecret"
    r"|assertion|samlresponse|private[_-]?key|credentials?|session[a-z0-9_-]*|(?:x-)?api[_-]?key"
    r"|authorization"
)
"""Names of body keys, without case, as a pattern for the whole name. `session*` and `*_token` are
wide on purpose; `max_tokens` and the bare `token` of log probabilities are not among them."""


@lru_cache(maxsize=4096)
def header_class(name: str) -> str | None:
    """`header` if a field of this name is secret."""
    return "header" if _HEADERS.fullmatch(name.strip().lower()) else None


@lru_cache(maxsize=4096)
def query_class(name: str) -> str | None:
    """`query` if a query parameter or form field of this (encoded) name is secret."""
    return "query" if _QUERY.fullmatch(unquote_plus(name).strip().lower()) else None


def kept_scheme(value: str) -> tuple[str, str]:
    """Split an authorization value into the scheme, which says nothing secret, and the rest."""
    found = _SCHEME.match(value)
    return (found[1], found[2]) if found else ("", value)
