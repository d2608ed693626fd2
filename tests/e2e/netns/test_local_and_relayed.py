"""Services of this machine at their own addresses, relays, and faults on connections without a proxy."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from tests.e2e.netns.conftest import Outside, command

from faultwire.tape.read.reader import TapeReader

NETNS = ("exec", "--capture", "netns", "--record", "t.tape")
only_nobody = pytest.mark.parametrize("outside", ["nobody"], indirect=True)
SERVER = """
import http.server, socket, sys, threading
class Hello(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.send_header("content-length", "5"); self.end_headers()
        self.wfile.write(b"hello")
    def log_message(self, *_): pass
web = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hello)
threading.Thread(target=web.serve_forever, daemon=True).start()
first = socket.create_server(("127.0.0.1", 0))
print(web.server_port, first.getsockname()[1], flush=True)
while True:
    one, _ = first.accept(); one.sendall(b"220 ready\\n"); one.sendall(one.recv(9)); one.close()
"""
"""One that speaks HTTP, and one that speaks first and then repeats what it hears."""
TALK = """
import socket, sys
s = socket.create_connection(("127.0.0.1", int(sys.argv[1])), 10)
print(s.makefile("rb").readline()); s.sendall(b"again"); s.settimeout(10); print(s.recv(9))
"""


@pytest.fixture
def ports(outside: Outside) -> tuple[str, str]:
    """The ports of both servers, on the loopback of the network outside."""
    server = outside.start(sys.executable, "-c", SERVER)
    try:
        assert server.stdout is not None
        web, first = server.stdout.readline().split()
        yield web, first  # type: ignore[misc]
    finally:
        server.kill()
        server.communicate()


@only_nobody
def test_an_allowed_service_is_reached_at_its_own_address(outside: Outside, ports: tuple[str, str]) -> None:
    url = f"http://127.0.0.1:{ports[0]}/"
    done = outside.run(*command(), *NETNS, "--allow-host", "localhost", "--", "curl", "-sS", url)
    assert done.stdout == "hello", done.stderr
    with TapeReader.open(outside.work / "t.tape") as tape:
        (one,) = tape.exchanges()
    assert (one.request.host, one.request.port) == ("127.0.0.1", int(ports[0]))


@only_nobody
def test_a_service_that_is_not_allowed_is_not_reached(outside: Outside, ports: tuple[str, str]) -> None:
    url = f"http://127.0.0.1:{ports[0]}/"
    done = outside.run(*command(), *NETNS, "--allow-no-traffic", "--", "curl", "-sS", url)
    assert done.stdout == ""
    assert f"`127.0.0.1:{ports[0]}` was refused: nothing listens there" in done.stderr
    assert f"--allow-host 127.0.0.1:{ports[0]}" in done.stderr


@only_nobody
def test_a_relay_passes_on_a_protocol_in_which_the_server_speaks_first(
    outside: Outside, ports: tuple[str, str]
) -> None:
    place = f"localhost:{ports[1]}"
    done = outside.run(
        *command(), *NETNS, "--relay", place, "--allow-host", place, "--allow-no-traffic",
        "--", sys.executable, "-c", TALK, ports[1],
    )  # fmt: skip
    assert done.stdout.split("\n")[:2] == ["b'220 ready\\n'", "b'again'"], done.stderr
    assert f"1 connection to `127.0.0.1:{ports[1]}` was relayed, and not recorded" in done.stderr


@only_nobody
def test_a_relay_goes_only_where_traffic_may_go(outside: Outside, ports: tuple[str, str]) -> None:
    done = outside.run(
        *command(), *NETNS, "--relay", f"localhost:{ports[1]}", "--allow-no-traffic",
        "--", sys.executable, "-c", TALK, ports[1],
    )  # fmt: skip
    assert "ready" not in done.stdout
    assert f"`127.0.0.1:{ports[1]}` could not be relayed: `127.0.0.1` is a loopback address" in done.stderr
    assert "--allow-host 127.0.0.1" in done.stderr


WAIT = """
import socket, sys
s = socket.create_connection(("smtp.example.com", 443), 10); s.settimeout(float(sys.argv[1]))
try: print(s.recv(9))
except TimeoutError: print("gave up")
"""


@only_nobody
@pytest.mark.parametrize(("limit", "patience", "sees"), [("1.5", "30", "b''"), ("30", "2", "gave up")])
def test_a_client_that_waits_for_the_server_to_speak_is_in_the_summary(
    outside: Outside, limit: str, patience: str, sees: str
) -> None:
    words = (*command(), *NETNS, "--allow-no-traffic", "--", sys.executable, "-c", WAIT, patience)
    done = outside.run(*words, env={"FAULTWIRE_HANDSHAKE_S": limit})
    assert done.stdout.strip() == sees, done.stderr
    assert "1 connection to `smtp.example.com:443` said nothing and came to nothing" in done.stderr
    assert "`--relay smtp.example.com:443`" in done.stderr


KNOCK = 'import socket; socket.create_connection(("smtp.example.com", 443), 10).close()'
"""Is the port open?"""
SERVE = 'import socket; socket.create_server(("127.0.0.1", {})).close()'


@only_nobody
def test_a_server_of_its_own_cannot_have_a_captured_port_and_the_summary_says_so(outside: Outside) -> None:
    words = (*command(), *NETNS, "--capture-port", "8443", "--allow-no-traffic", "--", sys.executable, "-c")
    failed = outside.run(*words, SERVE.format(8443))
    assert failed.returncode == 1
    assert "Address already in use" in failed.stderr
    told = "a server of the command's own cannot listen on the captured ports (80, 443, 8443)"
    assert told in failed.stderr
    (outside.work / "t.tape").unlink()
    free = outside.run(*words, SERVE.format(8444) + KNOCK.replace("import socket", ""))
    assert free.returncode == 0, free.stderr
    assert told not in free.stderr
    assert "said nothing" not in free.stderr


CALL = ("curl", "-sS", "-o", "/dev/null", "-w", "%{http_code}", "https://api.openai.com/v1/models")


@only_nobody
@pytest.mark.parametrize(
    ("fault", "exits", "effect"),
    [
        ("{refuse: {}, on: {host: api.openai.com}}", 35, "the connection was reset before TLS"),
        ("{dns_failure: {}, on: {host: api.openai.com}}", 35, "the connection was reset before TLS"),
        ("{tls_failure: {reason: expired}, on: {host: api.openai.com}}", 60, "a certificate that expired"),
    ],
)
def test_faults_act_on_connections_as_if_there_were_no_proxy(
    outside: Outside, fault: str, exits: int, effect: str
) -> None:
    done = outside.run(*command(), *NETNS, "--mock", "--fault", fault, "--", *CALL)
    assert done.returncode == exits, done.stderr
    with TapeReader.open(Path(outside.work) / "t.tape") as tape:
        (one,) = tape.exchanges()
    assert [line.outcome for line in one.faults] == ["fired"]
    assert effect in (one.faults[0].effect or "")
    assert "502" not in (one.faults[0].effect or "")
    assert "certificate for" not in done.stderr


@only_nobody
def test_without_the_fault_the_same_call_is_answered(outside: Outside) -> None:
    done = outside.run(*command(), *NETNS, "--mock", "--", *CALL)
    assert (done.returncode, done.stdout) == (0, "200"), done.stderr
