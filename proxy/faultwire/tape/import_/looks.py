"""Which format a file has, by its first bytes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from faultwire.errors import TapeError, UsageError
from faultwire.tape.format.file import APPLICATION_ID
from faultwire.tape.import_._source import opened

if TYPE_CHECKING:
    from pathlib import Path

_HEAD = 1 << 16
_HAR = re.compile(rb'\s*\{\s*"log"\s*:')
_FLOWS = re.compile(rb"[0-9]{1,12}:")
_AGENTOPS = re.compile(rb'"(?:event_hash|event_type|export_version)"\s*:')
_TRACEFORK = re.compile(rb'"(?:boundary|draws)"\s*:')


def format_of(path: Path) -> str:
    """`har`, `flows`, `tracefork` or `agentops`. Raises TapeError where it looks like none of them, and
    UsageError where it is a tape of ours."""
    with opened(path) as source:
        head = source.read(_HEAD).removeprefix(b"\xef\xbb\xbf")
    if head.startswith(b"SQLite format 3\0"):
        if head[68:72] == APPLICATION_ID.to_bytes(4, "big"):
            raise UsageError(
                f"`{path}` is a tape already",
                code="tape.import_tape",
                hint="to copy it: faultwire tape merge",
            )
        return "tracefork"
    if head.startswith(b"TFTAPE\0"):
        return "tracefork"
    if _HAR.match(head):
        return "har"
    if _FLOWS.match(head):
        return "flows"
    if _AGENTOPS.search(head):
        return "agentops"
    if _TRACEFORK.search(head):
        return "tracefork"
    raise TapeError(
        f"`{path}` looks like no format that can be imported",
        code="tape.import_unknown",
        hint="say which with --from har, flows, tracefork or agentops",
    )
