"""mitmproxy's addons import libraries that warn of themselves; that is not for our tests to judge."""

import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    import mitmproxy.addons  # noqa: F401
