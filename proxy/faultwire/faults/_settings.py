"""Types that the settings of several faults share, with their bounds."""

from __future__ import annotations

import re  # noqa: TID251 - the patterns below are fixed
from typing import Annotated

from pydantic import AfterValidator, Field

Milliseconds = Annotated[float, Field(ge=0, le=3_600_000)]
Seconds = Annotated[float, Field(ge=0, le=86_400)]
ErrorText = Annotated[str, Field(min_length=1, max_length=10_000)]

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}")  # a token, RFC 9110 §5.6.2
_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]{0,8000}")  # RFC 9110 §5.5, without line ends and NUL
FRAMING = frozenset(
    ("connection", "content-encoding", "content-length", "trailer", "transfer-encoding", "upgrade")
)


def header_fields(fields: dict[str, str]) -> dict[str, str]:
    """Header fields that cannot break out of their line or lie about where the message ends."""
    for name, value in fields.items():
        if not _NAME.fullmatch(name):
            raise ValueError("found a header name with other characters than letters, digits and `-`")
        if name.lower() in FRAMING:
            raise ValueError(f"found header `{name.lower()}`, which is always set to fit the body")
        if not _VALUE.fullmatch(value):
            raise ValueError(f"found a line end or another control character in header `{name}`")
    return fields


HeaderFields = Annotated[dict[str, str], Field(max_length=64), AfterValidator(header_fields)]
