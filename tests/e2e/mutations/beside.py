"""`faultwire ARGUMENTS…` with an SDK installed beside it: `beside.py SITE ARGUMENTS…`.

SITE holds the provider's SDK and what it needs. It stands last in the path, so that what both need is
faultwire's own, as after `pip install 'faultwire[ollama]'`.
"""

import importlib
import sys

sys.path.append(sys.argv.pop(1))
importlib.import_module("faultwire.cli").main()
