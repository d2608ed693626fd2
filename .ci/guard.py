"""Put into a test environment as a `.pth`: no process of it may read the sources of the checkout.

`FAULTWIRE_FORBIDDEN` names the folder. Whoever opens a file in it gets an error, so that a test which
passes has used the installed package and nothing else.
"""

import os
import sys

_FOLDER = os.environ.get("FAULTWIRE_FORBIDDEN")


def _watch(event: str, arguments: tuple) -> None:
    if event == "open" and isinstance(arguments[0], str) and arguments[0].startswith(f"{_FOLDER}{os.sep}"):
        raise RuntimeError(f"`{arguments[0]}` was read from the checkout")


if _FOLDER:
    sys.addaudithook(_watch)
