"""`python -I -O child_main.py faultwire.mitm`: the engine's process, see `engine.main`."""

from __future__ import annotations

import gc
import importlib

from faultwire import child_process, plugins
from faultwire.mitm.engine.lazy_imports import LATER, import_later, spare_addons
from faultwire.plugins import frozen

STEPS = {
    "importing TLS and pydantic": "faultwire.mitm.settings",
    "importing the protocols": "faultwire.exchange.pipeline",
    "importing mitmproxy's options": "mitmproxy.addons.core",
    "importing mitmproxy's layers": "mitmproxy.addons.proxyserver",
    "importing the engine": "faultwire.mitm.engine.main",
}
"""Imports are most of a start: 0.9 s of CPU, and ten times as long on a machine with much to do."""

if __name__ == "__main__":
    # What is imported stays: collections would find nothing, and are a tenth of the start.
    gc.disable()
    spare_addons()
    for later in LATER:
        import_later(later)
    if not plugins.are_there():
        frozen.leave_unchecked()
    for stage, module in STEPS.items():
        child_process.report(stage)
        importlib.import_module(module)
    from faultwire.mitm.engine.main import main

    gc.enable()
    child_process.leave(main())
