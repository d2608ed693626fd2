"""The engine's event loop: its look-ups go through the guard."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from faultwire.mitm.limits import Guard


class GuardedLoop(asyncio.SelectorEventLoop):
    """An event loop whose look-ups leave only addresses that may be connected to. The connection then
    goes to one of these, so that a name cannot change its mind in between."""

    guard: Guard | None = None

    async def getaddrinfo(self, host: Any, port: Any, **arguments: Any) -> Any:
        """As in asyncio. Raises Refused (an OSError) where no allowed address is left."""
        try:
            infos: Any = await super().getaddrinfo(host, port, **arguments)
        except UnicodeError as error:  # no name can be like that (RFC 1035 §2.3.4); nobody expects this
            raise OSError(f"`{host}` is no host name") from error
        if self.guard is None or not isinstance(host, str):
            return infos
        return self.guard.filter(host, int(port or 0), infos)
