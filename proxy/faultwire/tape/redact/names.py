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

_SHAPED = r"(?:[a-z0-9._-]*[._-])?(?:token|key|secret|password|passwd|auth|pwd)"
"""Names that end in a word for a secret, or are one."""

_HARMLESS = re.compile(
    r"(?:x-)?(?:idempotency|cache|surrogate|content|routing|partition|sort|primary|foreign|public)[_-]key"
    r"|sec-websocket-(?:key|accept)|.*rate-?limit.*"
)
"""Names that end so and hold none."""

QUERY_NAMES = (
    r"(?:api|access|auth|subscription)[_-]?key|code|state|sig|signature|x-amz-[a-z-]+|sas|appid"
    r"|x-goog-(?:signature|credential)|(?:[a-z0-9]+_)*secret_key|assertion|samlresponse|authorization"
    r"|(?:access|auth|id|refresh)token|credentials?|private_?key|session[a-z0-9_-]*|" + _SHAPED
)
"""Names of query parameters, without case, as a pattern for the whole name; a few that it covers are
harmless, so ask `query_class` in the end."""

_SECRET_HEADER = re.compile(f"{_HEADERS.pattern}|{_SHAPED}")
_QUERY = re.compile(QUERY_NAMES)

_SCHEME = re.compile(
    r"((?:basic|bearer|digest|negotiate|token|apikey|aws4-hmac-sha256) +)(.+)\Z", re.IGNORECASE | re.DOTALL
)

_KEY_OFFERED = re.compile(r"(.*?\b[a-z-]*api-?key\.)([^,\s]+)(.*)\Z", re.IGNORECASE | re.DOTALL)
"""A subprotocol that is a key: a browser can put one nowhere else (`openai-insecure-api-key.KEY`)."""

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
    return _class("header", _SECRET_HEADER, name)


@lru_cache(maxsize=4096)
def query_class(name: str) -> str | None:
    """`query` if a query parameter or form field of this (encoded) name is secret."""
    return _class("query", _QUERY, unquote_plus(name))


def _class(what: str, names: re.Pattern[str], name: str) -> str | None:
    bare = name.strip().lower()
    return what if names.fullmatch(bare) and not _HARMLESS.fullmatch(bare) else None


def key_offered(value: str) -> tuple[str, str, str]:
    """Split a list of WebSocket subprotocols around the key in it; no key, no parts after the first."""
    found = _KEY_OFFERED.match(value)
    return (found[1], found[2], found[3]) if found else (value, "", "")


def kept_scheme(value: str) -> tuple[str, str]:
    """Split an authorization value into the scheme, which says nothing secret, and the rest."""
    found = _SCHEME.match(value)
    return (found[1], found[2]) if found else ("", value)
