"""An agent that cleans its project while it runs, as `git clean -fdx` does, removes the run's folder."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

ASK = """
import json, shutil, sys, urllib.request
def ask():
    request = urllib.request.Request(
        "https://api.openai.com/v1/chat/completions",
        json.dumps({"model": "m", "messages": [{"role": "user", "content": "hi"}]}).encode(),
        {"authorization": "Bearer none", "content-type": "application/json"},
    )
    try:
        print(urllib.request.urlopen(request).status)
    except OSError as error:
        print(type(error).__name__)
ask()
shutil.rmtree(sys.argv[1], ignore_errors=True)
ask()
"""


@pytest.mark.parametrize(("what", "code"), [(".faultwire", 3), ("build", 0)])
def test_its_client_is_not_blamed_for_the_certificates_that_it_removed(
    faultwire: Callable[..., Any], what: str, code: int
) -> None:
    done = faultwire("exec", "--mock", "--", sys.executable, "-c", ASK, what)
    printed = done.stderr.decode()
    assert done.returncode == code, printed
    assert done.stdout.split()[0] == b"200"
    assert "Traceback" not in printed
    assert "refused faultwire's certificate" not in printed
    assert ("run.folder: the run is inconclusive: its folder" in printed) == (code == 3)
    assert ("hint: keep `.faultwire` out of what the command cleans" in printed) == (code == 3)
