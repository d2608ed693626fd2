"""`wrong_content_type`: the label does not fit the content."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field

from faultwire.events import header, with_header
from faultwire.faults._api import Fault, Mutator, Site

if TYPE_CHECKING:
    from faultwire.dice import FaultDice
    from faultwire.events import Exchange, Response


class WrongContentType(Fault):
    """Label the body as something else.

    What it does:
        Replaces the `content-type` of upstream's answer; its body is untouched.

    Why agents break:
        Clients choose how to read a body by its label: JSON comes back as text and is used as an
        object, a stream is not recognised as one, some clients refuse outright.

    Real-world source:
        Static file servers and caches in front of an API, gateways that guess, login pages.

    Example:
        faults:
          - wrong_content_type: {type: text/html}
            on: {kind: llm}
    """

    name: ClassVar[str] = "wrong_content_type"
    site: ClassVar[Site] = "response"

    type: Annotated[
        str,
        Field(
            pattern=r"^[a-z0-9.+-]{1,60}/[a-z0-9.+-]{1,60}(; ?[a-z0-9-]{1,20}=[A-Za-z0-9_.-]{1,40})?$",
            description="the label, like `text/html; charset=utf-8`",
        ),
    ] = "text/html"

    def start(self, exchange: Exchange, dice: FaultDice) -> Mutator:
        """Start before the head."""
        return _Mislabelled(self.type)


class _Mislabelled(Mutator):
    def __init__(self, label: str) -> None:
        self._label = label

    def head(self, response: Response) -> Response:
        was = header(response.headers, "content-type")
        if was == self._label:
            return response
        self.effect = f"labelled `{self._label}`"
        return replace(response, headers=with_header(response.headers, "content-type", self._label))
