"""`malformed_body`: JSON with a mistake in it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from faultwire.faults._api import Fault, Mutator, Need, Site
from faultwire.faults._mutators import BodyEdit
from faultwire.faults._wire import no_body

if TYPE_CHECKING:
    from faultwire.dice import FaultDice
    from faultwire.events import Exchange

Mistake = Literal["unclosed", "trailing_comma", "unquoted_key", "html_after"]


class MalformedBody(Fault):
    """Deliver a body that is almost JSON.

    What it does:
        Makes one mistake in a JSON body: the last bracket is missing (`unclosed`), a comma stands
        before it (`trailing_comma`), the first key has no quotes (`unquoted_key`), or an error page
        follows (`html_after`). A body that is no JSON is left alone.

    Why agents break:
        The parser's error comes with status 200, where nothing is caught. Lenient parsers accept some
        of these, so the same answer works in one language and not in another.

    Real-world source:
        Servers that fail while they write, templates that make JSON, proxies that append a page.

    Example:
        faults:
          - malformed_body: {mistake: trailing_comma}
            on: {kind: tool}
    """

    name: ClassVar[str] = "malformed_body"
    site: ClassVar[Site] = "response"
    needs: ClassVar[Need] = Need.BODY

    mistake: Annotated[Mistake, Field(description="what is wrong with it")] = "unclosed"

    def inapplicable(self, exchange: Exchange) -> str | None:
        """Only a whole body is one JSON text."""
        return super().inapplicable(exchange) or no_body(exchange)

    def start(self, exchange: Exchange, dice: FaultDice) -> Mutator:
        """Start before the body."""
        return BodyEdit(lambda body: broken(body, self.mistake), f"JSON broken: {self.mistake}")


def broken(body: bytes, mistake: Mistake) -> bytes:
    """The body with a mistake that strict parsers refuse; as it is where it is no JSON."""
    if not _parses(body):
        return body
    text = body.rstrip()
    made = text[:-1]
    if mistake == "html_after":
        made = text + b"\n<html><body><h1>502 Bad Gateway</h1></body></html>"
    elif mistake == "trailing_comma" and text[-1:] in (b"}", b"]"):
        made = text[:-1].rstrip() + b"," + text[-1:]
    elif mistake == "unquoted_key":
        made = _unquoted(text) or made
    return made if not _parses(made) else text + b"}"


def _unquoted(body: bytes) -> bytes | None:
    start = body.find(b'"')
    end = body.find(b'"', start + 1)
    if not body.lstrip().startswith(b"{") or start < 0 or end < 0:
        return None
    return body[:start] + body[start + 1 : end] + body[end + 1 :]


def _parses(body: bytes) -> bool:
    try:
        json.loads(body)
    except (ValueError, RecursionError):
        return False
    return True
