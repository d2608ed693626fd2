from __future__ import annotations

from pathlib import Path

import pytest

from faultwire.errors import ScenarioError
from faultwire.runner.incident_sources import as_session


def test_a_document_is_the_session_that_its_file_would_be() -> None:
    document = {
        "id": "a",
        "input": "hi",
        "context": [],
        "tape": "run.tape",
        "contract": "honest",
        "name": None,
    }
    one = as_session(document, "runs/x/run.tape#a", ("noted",))
    assert (one.id, one.turns, one.contract, one.folder) == ("a", ("hi",), "honest", Path())
    assert one.notes == ("runs/x/run.tape#a: noted",)
    assert one.tape == Path("run.tape"), "a path that starts here"


def test_a_document_that_is_no_session_is_refused() -> None:
    with pytest.raises(ScenarioError, match="found no `input` in the session"):
        as_session({"id": "a"}, "x.tape#a")
