"""`python -O -m faultwire.mitm`: the engine's process, see `serve`."""

from __future__ import annotations

import sys

from faultwire.mitm.lean import import_later, spare_addons

if __name__ == "__main__":
    spare_addons()
    import_later()
    from faultwire.mitm.serve import main

    sys.exit(main())
