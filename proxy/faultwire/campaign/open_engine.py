"""The engine that `--on` names: `local:N` for processes here, `dask://HOST:PORT` for a scheduler of Dask."""

from __future__ import annotations

import re  # noqa: TID251 - the patterns are fixed
from typing import TYPE_CHECKING

from faultwire.errors import UsageError

if TYPE_CHECKING:
    from faultwire.campaign.engine import Engine

_LOCAL = re.compile(r"local:([1-9][0-9]{0,2})\Z")
_DASK = re.compile(r"(?:dask://)?(?:(tcp|tls)://)?([^/\s@]+:[0-9]{1,5})\Z")
HINT = "`local:2` for two workers here, `dask://HOST:8786` for those of a Dask scheduler"


def open_engine(place: str) -> Engine:
    """The engine that `--on` names. Raises UsageError where there is none, or it cannot be reached."""
    local = _LOCAL.match(place)
    if local is not None:
        from faultwire.campaign.local_engine import LocalEngine

        return LocalEngine(int(local[1]))
    scheme = place.partition("://")[0]
    if scheme in ("ray", "kube"):
        raise UsageError(
            f"found `{place}` for --on, expected `local:N` or `dask://HOST:PORT`",
            code="usage.on",
            hint=f"there is no engine for {scheme} yet; {HINT}",
        )
    dask = _DASK.match(place) if place.startswith("dask://") else None
    if dask is not None:
        from faultwire.campaign.dask_engine import DaskEngine

        return DaskEngine(f"{dask[1] or 'tcp'}://{dask[2]}")
    raise UsageError(f"found `{place}` for --on, expected an engine", code="usage.on", hint=HINT)
