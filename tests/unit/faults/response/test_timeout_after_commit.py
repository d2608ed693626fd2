from __future__ import annotations

import json
from dataclasses import replace

from faultwire.events import Response
from faultwire.faults.response.timeout_after_commit import TimeoutAfterCommit


def test_the_call_is_made_and_a_timeout_returned(run, web, dice):
    mutator = TimeoutAfterCommit().start(web, dice())
    assert mutator.answer() is None, "upstream must be called"
    head = mutator.head(Response(201, "Created", (("location", "/orders/7"),)))
    assert (head.status, head.body) == (504, None)
    (sent,) = run(mutator, web, [b'{"id": 7}'], "bytes")
    assert json.loads(sent.data)["error"]["status"] == 504
    assert mutator.effect == "upstream did it (201), and a timeout (504) was told"


def test_what_failed_by_itself_is_left_alone(web):
    fault = TimeoutAfterCommit()
    assert fault.inapplicable(web) is None
    assert fault.inapplicable(replace(web, response=Response(201))) is None
    why = fault.inapplicable(replace(web, response=Response(409)))
    assert why == "upstream answered 409, so nothing was done"
