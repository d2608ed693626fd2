"""mitmproxy's flow files as what an import tells: `faultwire tape import FILE --from flows`."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from faultwire.errors import TapeError
from faultwire.mitm.flowfile.flowfile import read as flows
from faultwire.tape.import_._api import SESSION, Elsewhere, Exchanged, Found
from faultwire.tape.import_._clean import instant
from faultwire.tape.import_._source import opened

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from faultwire.mitm.flowfile.flowfile import FlowFileExchange
    from faultwire.tape.import_._api import Item


def read(path: Path) -> Iterator[Item]:
    """The HTTP exchanges of a flow file. Raises TapeError where it is none, or is cut short."""
    others: Counter[str] = Counter()
    with opened(path) as source:
        if source.peek(4).removeprefix(b"\xef\xbb\xbf").startswith(b"{"):
            raise TapeError(f"`{path}` is JSON, and no flow file", code="tape.import_unreadable")
        for one in flows(source, others):
            yield Exchanged(_foreign(one), one.session or SESSION)
    for kind, count in others.items():
        yield Found("flows_not_http", f"{count} flows of type {kind} are left out", note=True)


def _foreign(one: FlowFileExchange) -> Elsewhere:
    regular = "complete" if one.response is not None else "open"
    ending = regular if one.error is None else "upstream_aborted"
    began_ms, lasted_ns = instant(one.began_s * 1000), instant(one.lasted_s * 1e9, 1 << 53)
    return Elsewhere(
        one.request, one.response, one.response, began_ms, lasted_ns, ending, one.error, one.messages
    )
