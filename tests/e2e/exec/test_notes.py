"""Traffic outside exchanges is told, not lost."""

from __future__ import annotations

from collections.abc import Callable

# A client that takes the proxy's address and drops its user, once and twice.
STRANGER = 'curl -sS -o out.txt -x "http://${http_proxy#*@}" http://example.test/'


def test_calls_without_the_sessions_user_are_counted_in_the_summary(faultwire: Callable, server: str) -> None:
    script = f"{STRANGER}; {STRANGER}; curl -sS -o out.txt {server}; cat out.txt"
    done = faultwire("exec", "--allow-host", "localhost", "--", "sh", "-c", script)
    assert (done.returncode, done.stdout) == (0, b"hello"), done.stderr
    said = done.stderr.decode()
    assert "exchanges  1: 1 other" in said
    assert (
        "  2 calls to `example.test` came without the session's proxy user and were turned away (407)" in said
    )


def test_where_nothing_else_came_they_give_the_reason(faultwire: Callable) -> None:
    done = faultwire("exec", "--", "sh", "-c", STRANGER)
    assert done.returncode == 3
    assert b"1 call to `example.test` came without the session's proxy user" in done.stderr


def test_doctor_reports_them(faultwire: Callable) -> None:
    done = faultwire("doctor", "--", "sh", "-c", STRANGER)
    assert b"1 call to `example.test` came without the session's proxy user" in done.stdout + done.stderr


def test_nothing_is_reported_where_there_is_nothing_to_report(faultwire: Callable, server: str) -> None:
    done = faultwire("exec", "--allow-host", "localhost", "--", "curl", "-sS", server)
    assert done.returncode == 0
    assert b"(407)" not in done.stderr
    assert b"turned away" not in done.stderr


H2C = "2>&1 curl -sS --http2-prior-knowledge -o out.txt $OPENAI_BASE_URL/models"


def test_http2_without_tls_is_named(faultwire: Callable) -> None:
    done = faultwire("exec", "--mock", "--capture", "base-url", "--", "sh", "-c", H2C)
    said = done.stderr.decode()
    assert done.returncode == 3, said
    assert "1 connection spoke HTTP/2 without TLS (h2c), which is not served: use HTTP/1.1, or TLS" in said
    assert "malformed" not in said


def test_a_head_that_is_malformed_is_not_called_http2(faultwire: Callable) -> None:
    """The control."""
    broken = "2>&1 curl -sS -H 'a b: c' -o out.txt $OPENAI_BASE_URL/models; true"
    done = faultwire("exec", "--mock", "--capture", "base-url", "--", "sh", "-c", broken)
    assert b"1 call had a malformed or oversized head and went nowhere" in done.stderr
    assert b"h2c" not in done.stderr


def test_what_a_command_left_behind_is_no_reason_for_a_run_without_traffic(faultwire: Callable) -> None:
    done = faultwire("exec", "--mock", "--", "sh", "-c", "sleep 100 > left.txt 2>&1 & exit 0")
    said = done.stderr.decode()
    assert done.returncode == 3
    assert "  1 process that the command left behind ended with the run" in said, "it is told all the same"
    (reason,) = (line for line in said.splitlines() if line.startswith("capture.no_traffic"))
    assert "left behind" not in reason
