"""`python -O -m faultwire.mitm`: the engine's process, see `serve`."""

from __future__ import annotations

import sys

from faultwire import plugins
from faultwire.mitm.engine.lazy_imports import import_later, spare_addons
from faultwire.plugins import frozen

if __name__ == "__main__":
    spare_addons()
    import_later()
    if not plugins.are_there():
        frozen.leave_unchecked()
    from faultwire.mitm.engine.main import main

    sys.exit(main())
