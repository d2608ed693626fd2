"""The engine that `--on` names: `local:N` for processes here, `dask://HOST:PORT` for a scheduler of Dask,
`kube://NAMESPACE?…` for Jobs of Kubernetes."""

from __future__ import annotations

import os
import re  # noqa: TID251 - the patterns are fixed
from typing import TYPE_CHECKING

from faultwire.errors import UsageError

if TYPE_CHECKING:
    from faultwire.campaign.engine import Engine

_LOCAL = re.compile(r"local:([1-9][0-9]{0,2})\Z")
_DASK = re.compile(r"(?:dask://)?(?:(tcp|tls)://)?([^/\s@]+:[0-9]{1,5})\Z")
HINT = (
    "`local:2` for two workers here, `dask://HOST:8786` for those of a Dask scheduler, "
    "`kube://NAMESPACE?…` for pods of Kubernetes"
)


def open_engine(place: str) -> Engine:
    """The engine that `--on` names. Raises UsageError where there is none, or it cannot be reached."""
    local = _LOCAL.match(place)
    if local is not None:
        from faultwire.campaign.local_engine import LocalEngine

        return LocalEngine(int(local[1]))
    scheme = place.partition("://")[0]
    if scheme == "ray":
        raise UsageError(
            f"found `{place}` for --on, expected `local:N`, `dask://HOST:PORT` or `kube://NAMESPACE?…`",
            code="usage.on",
            hint=f"there is no engine for {scheme} yet; {HINT}",
        )
    if scheme == "kube":
        return _pods(place)
    dask = _DASK.match(place) if place.startswith("dask://") else None
    if dask is not None:
        from faultwire.campaign.dask_engine import DaskEngine

        return DaskEngine(f"{dask[1] or 'tcp'}://{dask[2]}")
    raise UsageError(f"found `{place}` for --on, expected an engine", code="usage.on", hint=HINT)


def _pods(place: str) -> Engine:
    from faultwire.campaign.kube_api import KubeApi
    from faultwire.campaign.kube_config import access
    from faultwire.campaign.kube_engine import KubeEngine
    from faultwire.campaign.kube_place import parse

    wanted = parse(place)
    api = KubeApi(access(wanted.context, os.environ), wanted.namespace)
    try:
        return KubeEngine(wanted, api)
    except BaseException:
        api.close()
        raise
