"""Others than our own user at the listeners: a process of another user, and clients of an address that is not
loopback. Each attack works where the checks are off."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from faultwire.mitm.engine.client import Engine
from faultwire.mitm.settings import EngineSettings, SessionSettings
from faultwire.mock.client import Mock

STRANGER = 54321
ASK = """
import base64, os, socket, sys
host, port, user, token = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
if user:
    os.setgroups([]); os.setgid(user); os.setuid(user)
head = "GET http://api.openai.com/v1/models HTTP/1.1\\r\\nhost: api.openai.com\\r\\nconnection: close\\r\\n"
if token:
    head += "proxy-authorization: Basic " + base64.b64encode(token.encode()).decode() + "\\r\\n"
s = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
s.connect((host, port))
s.sendall((head + "\\r\\n").encode())
got = s.makefile("rb").read().decode()
status = got.split()[1]
print(status if status in ("200", "407") else got)
"""
CALM = SessionSettings(name="proxy", profile={"name": "calm"}, seed=1)
as_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")


def ask(host: str, port: int, *, user: int = 0, token: str = "") -> str:
    command = [sys.executable, "-I", "-c", ASK, host, str(port), str(user), token]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=True)
    return done.stdout.strip()


def engine(folder: Path, mock: Mock, *, listen: str = "127.0.0.1:0", auth: bool = True) -> Engine:
    return Engine.start(
        EngineSettings(
            run_dir=folder / "run",
            ca_dir=folder / "ca",
            listen=listen,
            auth=auth,
            routes=mock.routes,
            implicit=CALM,
        )
    )


@as_root
@pytest.mark.parametrize("listen", ["127.0.0.1:0", "[::1]:0"])
def test_another_user_gets_onto_no_tape(listen: str, tmp_path: Path) -> None:
    with Mock.start() as mock, engine(tmp_path, mock, listen=listen) as proxy:
        handle = proxy.open_session("one", {"name": "calm"}, 1)
        for port in (proxy.port, handle.port):
            assert ask(proxy.host, port, user=STRANGER) == "407"
            assert ask(proxy.host, port) == "200"
        token = f"{handle.user}:{handle.token}"
        assert ask(proxy.host, proxy.port, user=STRANGER, token=token) == "200"
        assert (
            f"2 calls without a token by processes of user {STRANGER} were turned away (407)" in proxy.notes()
        )
        assert proxy.close_session("one").exchanges == 2
        assert proxy.close_session("proxy").exchanges == 1


def test_a_server_on_the_same_port_of_the_other_version_of_ip_is_not_the_proxy(tmp_path: Path) -> None:
    with Mock.start() as mock, engine(tmp_path, mock, listen=f"[::1]:{mock.http}") as proxy:
        assert proxy.port == mock.http
        assert ask(proxy.host, proxy.port) == "200"
        assert proxy.close_session("proxy").exchanges == 1


@as_root
def test_without_the_check_another_user_does(tmp_path: Path) -> None:
    with Mock.start() as mock, engine(tmp_path, mock, auth=False) as proxy:
        assert ask(proxy.host, proxy.port, user=STRANGER) == "200"
        assert proxy.close_session("proxy").exchanges == 1


@pytest.mark.parametrize("listen", ["0.0.0.0:0", "[::]:0"])
def test_a_wide_listener_demands_the_token_of_everybody(listen: str, tmp_path: Path) -> None:
    with Mock.start() as mock, engine(tmp_path, mock, listen=listen) as proxy:
        assert proxy.guarded
        assert ask(proxy.host, proxy.port) == "407"
        assert ask(proxy.host, proxy.port, token=f"{proxy.user}:wrong") == "407"
        assert ask(proxy.host, proxy.port, token=f"{proxy.user}:{proxy.token}") == "200"
        handle = proxy.open_session("one", {"name": "calm"}, 1)
        with pytest.raises(subprocess.CalledProcessError):
            ask("127.0.0.2", handle.port)  # a listener that needs no token is on the loopback address alone
        assert ask(proxy.host, handle.port) == "200"
        assert proxy.close_session("proxy").exchanges == 1


def test_a_wide_listener_without_authentication_is_an_open_proxy(tmp_path: Path) -> None:
    with Mock.start() as mock, engine(tmp_path, mock, listen="0.0.0.0:0", auth=False) as proxy:
        assert not proxy.guarded
        assert ask("127.0.0.2", proxy.port) == "200"
