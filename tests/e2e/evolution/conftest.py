"""Commands are run as `exec`'s are."""

from tests.e2e.exec.conftest import *  # noqa: F403
