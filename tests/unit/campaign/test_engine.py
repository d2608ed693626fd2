"""What a worker starts."""

from __future__ import annotations

import sys

from faultwire.campaign.engine import worker_words


def test_workers_start_faultwire_in_their_own_environment_and_import_nothing_of_the_project() -> None:
    assert worker_words(None) == (sys.executable, "-P", "-m", "faultwire", "worker")
    assert worker_words("/opt/fw/bin/python")[0] == "/opt/fw/bin/python"
