"""Starting without what we do not use.

`mitmproxy.addons` imports all of mitmproxy's addons, with a web framework and an LDAP client behind
them; we use three. Under a bare package of the same name and path, its modules are imported one by one.
That saves about 0.7 of 1.8 s of CPU at every start (mitmproxy 11.0.2).

What reads the names in certificates for QUIC, with an ASN.1 library behind it, is imported when it is first
asked: we speak no QUIC. That is a tenth of the rest.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from types import ModuleType
from typing import Any

PACKAGE = "mitmproxy.addons"
LATER = "service_identity"
"""What `aioquic` imports at its start and asks in a handshake."""


def spare_addons() -> bool:
    """Put the bare package in place; False where mitmproxy's own is loaded already."""
    if PACKAGE in sys.modules:
        return False
    spec = importlib.util.find_spec("mitmproxy")
    if spec is None or not spec.submodule_search_locations:
        return False
    bare = ModuleType(PACKAGE)
    bare.__path__ = [f"{place}/addons" for place in spec.submodule_search_locations]
    sys.modules[PACKAGE] = bare
    return True


class _Later(ModuleType):
    """Imports the module of its name when something of it is asked for. (`importlib.util.LazyLoader` does so
    at the next `import` of it already, before Python 3.12.3.)"""

    def __getattr__(self, name: str) -> Any:
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        found = importlib.import_module(self.__name__)
        self.__dict__.update(found.__dict__)
        return getattr(found, name)


def import_later(name: str = LATER) -> bool:
    """Put a module in place that loads itself when it is first used; False where there is one already."""
    if name in sys.modules:
        return False
    sys.modules[name] = _Later(name)
    return True
