"""What libraries log of their own failures: they go on, and to us it voids the run."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from faultwire.mitm.flow.gateway import Gateway

LOGGERS = ("mitmproxy", "asyncio", "hpack", "h2", "hyperframe", "wsproto")
"""Who else logs in this process."""


class Logged(Exception):
    """Something was logged as an error, and no exception with it."""


class _Crashes(logging.Handler):
    """Libraries log their own failures and go on; to us they void the run. No text is kept of them."""

    def __init__(self, gateway: Gateway) -> None:
        super().__init__(logging.ERROR)
        self._gateway = gateway

    def emit(self, record: logging.LogRecord) -> None:
        """Called by logging."""
        error = record.exc_info[1] if record.exc_info else None
        self._gateway.crashed(None, error or Logged())


def quiet(gateway: Gateway) -> None:
    """Log our own errors only: the messages of these quote traffic."""
    crashes = _Crashes(gateway)
    for name in LOGGERS:
        logger = logging.getLogger(name)
        logger.setLevel(logging.ERROR)
        logger.propagate = False
        logger.addHandler(crashes)
