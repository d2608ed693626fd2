"""Members of an imported event that redaction by name would take for secrets, and that are evidence.

`session_id` and `session_digest` have names of secrets. In an event of somebody else's log, the first one is
the name of the log's own session, which the tape holds anyway, and the second a digest: both are needed to
check the log. Their names are replaced while the event is redacted, so that their values are still searched
for secrets, and put back. Members of the same name with another value are redacted as ever.
"""

from __future__ import annotations

import re

_INSTEAD = {b'"session_id"': b'"kept-identity"', b'"session_digest"': b'"kept-checksum"'}
"""Names that no rule of redaction knows."""
_DIGEST = re.compile(rb'"session_digest"(?=\s*:\s*"(?:sha256:)?[0-9a-f]{16,64}")')


def hidden(data: bytes, session: str) -> bytes | None:
    """The JSON text with the names replaced; None where none is, or where that could not be undone."""
    if any(name in data for name in _INSTEAD.values()):
        return None
    own = re.compile(rb'"session_id"(?=\s*:\s*"' + re.escape(session.encode()) + rb'")')
    changed = own.sub(_INSTEAD[b'"session_id"'], data)
    changed = _DIGEST.sub(_INSTEAD[b'"session_digest"'], changed)
    return None if changed == data else changed


def shown(data: bytes) -> bytes:
    """The text with the names put back."""
    for name, instead in _INSTEAD.items():
        data = data.replace(instead, name)
    return data
