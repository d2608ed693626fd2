from faultwire.capture.traceparent import traced

TRACE = "0123456789abcdef" * 2


def test_the_trace_context_of_a_session():
    child = traced({"A": "1"}, TRACE)
    assert child == {
        "A": "1",
        "TRACEPARENT": f"00-{TRACE}-{TRACE[16:]}-01",
        "BAGGAGE": f"faultwire-session={TRACE}",
    }


def test_the_users_own_baggage_stays_and_a_foreign_trace_goes():
    base = {"BAGGAGE": "tenant=1", "TRACEPARENT": "00-x-y-00", "TRACESTATE": "vendor=1"}
    child = traced(base, TRACE)
    assert child["BAGGAGE"] == f"tenant=1,faultwire-session={TRACE}"
    assert child["TRACEPARENT"].startswith(f"00-{TRACE}-")
    assert "TRACESTATE" not in child
    assert base["TRACESTATE"] == "vendor=1"


def test_no_parent_is_all_zeros():
    assert traced({}, "1" * 16 + "0" * 16)["TRACEPARENT"].split("-")[2] == "0" * 15 + "1"
