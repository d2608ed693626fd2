"""Starting without what we do not use.

`mitmproxy.addons` imports all of mitmproxy's addons, with a web framework and an LDAP client behind
them; we use three. Under a bare package of the same name and path, its modules are imported one by one.
That saves about 0.7 of 1.8 s of CPU at every start (mitmproxy 11.0.2).

What is imported when something of it is first asked for, a sixth of the rest: what reads the names in
certificates for QUIC, with an ASN.1 library behind it (we speak no QUIC); what reads and writes mitmproxy's
options in files, and the grammar of its commands (we have neither files nor commands).
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

PACKAGE = "mitmproxy.addons"
LATER = ("service_identity", "ruamel.yaml", "pyparsing", "mitmproxy.command_lexer")
"""What `aioquic`, mitmproxy's `optmanager` and its `command` import at their start, and seldom ask."""
FUNCTIONS = {"mitmproxy.command_lexer": ("unquote",)}
"""What `from … import …` takes out of such a module, which is no package."""


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
        if name == "__path__" and self.__name__ in FUNCTIONS:  # `from … import …` asks for it
            raise AttributeError(name)
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        found = importlib.import_module(self.__name__)
        self.__dict__.update(found.__dict__)
        return getattr(found, name)


def import_later(name: str) -> bool:
    """Put a module in place that loads itself when it is first used; False where there is one already."""
    if name in sys.modules:
        return False
    later = _Later(name)
    for function in FUNCTIONS.get(name, ()):
        setattr(later, function, _asking(name, function))
    parent, _, own = name.rpartition(".")
    if parent:
        setattr(importlib.import_module(parent), own, later)
    sys.modules[name] = later
    return True


def _asking(module: str, function: str) -> Callable[..., Any]:
    """The function of a module that is imported at the first call."""

    def call(*arguments: Any) -> Any:
        later = sys.modules[module]
        if isinstance(later, _Later):
            del sys.modules[module]
        return getattr(importlib.import_module(module), function)(*arguments)

    return call
