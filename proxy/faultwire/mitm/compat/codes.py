"""Why a stream ends, in the codes of this version of mitmproxy."""

from __future__ import annotations

from typing import Any

from mitmproxy.proxy.layers.http import _events as http_events

KILL: Any
CANCEL: Any
BAD_GATEWAY: Any
_codes: Any = getattr(http_events, "ErrorCode", None)
if _codes is not None:  # mitmproxy 12
    KILL, CANCEL, BAD_GATEWAY = _codes.KILL, _codes.CANCEL, _codes.GENERIC_SERVER_ERROR
else:  # plain status codes; 444 means "close without a word", 499 becomes CANCEL on HTTP/2
    KILL, CANCEL, BAD_GATEWAY = 444, 499, 502
