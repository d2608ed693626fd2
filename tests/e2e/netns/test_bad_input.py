"""What a system forbids, and what an agent does that cannot be captured: one line each, with the remedy."""

from __future__ import annotations

import platform
import shutil
import sys
from pathlib import Path

import pytest
from tests.e2e.netns.conftest import Outside, command

FORBID = str(Path(__file__).parent / "forbid.py")
NETNS = ("exec", "--capture", "netns", "--mock")
CALL = ("curl", "-sS", "-o", "/dev/null", "-w", "%{http_code}", "https://api.openai.com/v1/models")
only_nobody = pytest.mark.parametrize("outside", ["nobody"], indirect=True)
x86 = pytest.mark.skipif(platform.machine() != "x86_64", reason="the filter has numbers of x86-64")


def lines(text: str, about: str) -> list[str]:
    return [line for line in text.splitlines() if about in line]


@only_nobody
def test_a_limit_on_user_namespaces_is_named(outside: Outside) -> None:
    """The limit holds below the namespace in which it is set: nobody else on this machine feels it."""
    done = outside.run(
        "unshare", "--user", "--map-root-user", "sh", "-c",
        'echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"', "sh", *command(), *NETNS, "--", *CALL,
    )  # fmt: skip
    assert done.returncode == 3, done.stderr
    assert "`user.max_user_namespaces` is `0`, expected `1` or more" in done.stderr
    assert "sysctl -w user.max_user_namespaces=" in done.stderr
    assert done.stdout == ""


@x86
@only_nobody
def test_a_policy_of_a_container_is_reported_from_a_setting(outside: Outside) -> None:
    done = outside.run(sys.executable, FORBID, "unshare", *command(), *NETNS, "--", *CALL)
    assert done.returncode == 3, done.stderr
    assert "`unshare` failed (EPERM)" in done.stderr
    assert "seccomp" in done.stderr
    assert done.stdout == ""


@x86
@only_nobody
def test_a_system_without_ipv6_is_captured_by_ipv4_and_reported(outside: Outside) -> None:
    done = outside.run(sys.executable, FORBID, "ipv6", *command(), *NETNS, "--", *CALL)
    assert (done.returncode, done.stdout) == (0, "200"), done.stderr
    assert "IPv4 only: this system has no IPv6" in done.stderr


@only_nobody
def test_ports_below_1024_need_no_rights(outside: Outside) -> None:
    call = (*CALL[:-1], "https://api.openai.com:853/v1/models")
    done = outside.run(*command(), *NETNS, "--capture-port", "853", "--", *call)
    assert (done.returncode, done.stdout) == (0, "200"), done.stderr
    assert "IPv4 only" not in done.stderr


@only_nobody
@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--capture", "netns", "--capture-port", "53"), "names are answered there"),
        (("--capture-port", "8080"), "found `--capture-port` without `--capture netns`"),
        (("--relay", "db.example:5432"), "found `--relay` without `--capture netns`"),
        (("--capture", "netns", "--relay", "db.example"), "expected `HOST:PORT`"),
    ],
)
def test_options_that_do_not_fit_are_reported(outside: Outside, options: tuple[str, ...], said: str) -> None:
    done = outside.run(*command(), "exec", "--mock", *options, "--", *CALL)
    assert done.returncode == 2
    assert said in done.stderr


@only_nobody
def test_other_commands_say_that_it_is_not_theirs(outside: Outside) -> None:
    done = outside.run(*command(), "proxy", "--capture", "netns")
    assert done.returncode == 2
    assert "expected it for `exec`" in done.stderr


@only_nobody
def test_a_name_that_nobody_knows_is_reported(outside: Outside) -> None:
    """In the namespace it has an address; that there is none comes out when the server is called."""
    call = (*CALL[:-1], "https://no-such-name.invalid/")
    done = outside.run(*command(), "exec", "--capture", "netns", "--", *call)
    assert done.stdout == "502", done.stderr
    assert lines(done.stderr, "no-such-name.invalid")


UDP = (
    "import socket; s = socket.socket(type=socket.SOCK_DGRAM); s.connect(('a.example', {port})); s.send(b'x')"
)
TCP = "import socket; s = socket.create_connection(('{host}', 5432)); s.sendall(b'{data}'); print(s.recv(9))"


@only_nobody
def test_what_is_not_captured_is_refused_and_counted(outside: Outside) -> None:
    agent = "; ".join(
        f'python3 -c "{code}" 2>&1 | tail -1'
        for code in (
            UDP.format(port=443),
            UDP.format(port=9),
            TCP.format(host="db.example", data=""),
            TCP.replace("5432", "443").format(host="ssh.example", data="SSH-2.0-x y"),
        )
    )
    done = outside.run(*command(), *NETNS, "--allow-no-traffic", "--", "sh", "-c", agent)
    assert done.stdout.count("ConnectionRefusedError") == 1
    assert done.stdout.count("ConnectionResetError") == 1
    assert len(lines(done.stderr, "by UDP to `a.example:443` was refused: HTTP/3")) == 1
    assert len(lines(done.stderr, "by UDP to `a.example:9` was refused: UDP is not captured")) == 1
    assert len(lines(done.stderr, "to `db.example:5432` were refused: port 5432 is not captured")) == 1
    assert len(lines(done.stderr, "to `ssh.example:443` spoke neither HTTP nor TLS and was reset")) == 1


@only_nobody
def test_what_is_captured_is_not_reported_as_refused(outside: Outside) -> None:
    done = outside.run(*command(), *NETNS, "--", *CALL)
    assert done.stdout == "200"
    assert not lines(done.stderr, "refused")
    assert not lines(done.stderr, "reset")


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")
def test_the_hashed_name_is_the_one_that_openssl_looks_for(tmp_path: Path) -> None:
    import subprocess

    from faultwire.capture.netns.trust_stores import hashed_name
    from faultwire.mitm.network import ca

    file = ca.ensure(tmp_path).certificate
    asked = ["openssl", "x509", "-noout", "-subject_hash", "-in", str(file)]
    found = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    assert hashed_name(file.read_bytes(), 0) == f"{found}.0"
