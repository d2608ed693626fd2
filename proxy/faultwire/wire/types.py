"""What protocols and their edits hand to one another, and what a protocol declares of itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol as Structure

if TYPE_CHECKING:
    from collections.abc import Iterable

    from faultwire.events import Response, ResponseView, ToolResult


class Errors(Structure):
    """Makes error answers."""

    def __call__(self, status: int, message: str | None, retry_after_s: float | None, /) -> Response:
        """The answer for a status; `message` None: what is usual."""


@dataclass(frozen=True, slots=True)
class Rewrite:
    """What a tool result is replaced with.

    `raw` leaves the text as it is even where the original is JSON and this is not; `canary` is a word
    in the text that is looked for in all that the agent sends from then on.
    """

    text: str
    is_error: bool = False
    raw: bool = False
    canary: str | None = None

    def adds_to(self, result: ToolResult) -> bool:
        """Does all of the result stand in it, with more in one place, and is it told as the result was?"""
        old, new = result.text, self.text
        if not old or self.is_error != result.is_error or len(new) <= len(old):
            return False
        low, high = 0, len(old)  # how many characters both begin with
        while low < high:
            middle = (low + high + 1) // 2
            if new.startswith(old[:middle]):
                low = middle
            else:
                high = middle - 1
        return new.endswith(old[low:])

    def effect(self, result: ToolResult, delay_s: float = 0) -> str:
        """What became of the result, in words."""
        name = f"`{result.name}`"
        if delay_s > 0:
            did = "text added to it" if self.adds_to(result) else "replaced"
            return f"result of {name} delayed by {delay_s * 1000:g} ms and {did}"
        return f"text added to the result of {name}" if self.adds_to(result) else f"result of {name} replaced"


class StreamReader(ABC):
    """Gathers the events of one stream into a view; `feed` takes whole framed events."""

    @abstractmethod
    def feed(self, event: bytes) -> None:
        """Take one event with its framing bytes."""

    @abstractmethod
    def view(self) -> ResponseView:
        """The answer so far; `complete` once its closing event was seen."""


class StreamEditor(ABC):
    """Edits a stream event by event; `changed` turns True with the first byte that differs."""

    changed: bool = False

    @abstractmethod
    def feed(self, event: bytes) -> Iterable[bytes]:
        """The events to deliver in place of this one."""

    def finish(self) -> Iterable[bytes]:
        """Events to deliver after the last one."""
        return ()


class BaseUrl(NamedTuple):
    """Where a provider is by default, and which environment variables of its SDKs name another place.

    `route` names it among all. `suffix` is what the SDKs want behind the host. An empty `url` says that each
    customer has a host of their own: the variables are then turned only where the user has set them. The mock
    answers for `mocked` where the default is on this machine.
    """

    route: str
    url: str
    variables: tuple[str, ...]
    suffix: str = ""
    mocked: str = ""


class Page(NamedTuple):
    """A protocol's rows in `docs/reference/protocols.md`, in Markdown.

    `recognised` is by what a request is recognised, `provider` the provider's word where the host names none;
    then what is read, what can be changed, what can be made up, and how the mock speaks it.
    """

    recognised: str
    provider: str
    read: str
    changed: str
    made_up: str
    mock: str = "yes"
