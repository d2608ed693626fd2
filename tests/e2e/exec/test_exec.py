"""What `faultwire exec` passes on, and how it ends."""

from __future__ import annotations

import json
import os
import pty
import re
import shlex
import signal
import socket
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization

from faultwire import clock
from faultwire.mitm.network import ca

if TYPE_CHECKING:
    from collections.abc import Callable

    Faultwire = Callable[..., subprocess.CompletedProcess[bytes]]

COMMAND = [sys.executable, "-m", "faultwire"]
URL = "https://api.openai.com/v1/chat/completions"
BODY = json.dumps({"model": "gpt-4o-mini", "messages": [{"role": "user", "content": "Hello"}]})
HEADERS = ["-H", "content-type: application/json", "-H", "authorization: Bearer any"]
CURL = ["curl", "-sS", "-w", "%{http_code}", "-o", "/dev/null", *HEADERS, "-d", BODY, URL]


def runs(here: Path) -> list[Path]:
    return sorted((here / ".faultwire" / "runs").glob("*"))


def about(here: Path) -> dict[str, object]:
    (run,) = runs(here)
    told: dict[str, object] = json.loads((run / "run.json").read_text())
    return told


# ---------------------------------------------------------------- passing on


def test_streams_pass_untouched(faultwire: Faultwire) -> None:
    data = bytes(range(256)) * 4096
    done = faultwire("exec", "--allow-no-traffic", "--", "cat", data=data)
    assert done.stdout == data
    assert done.returncode == 0


@pytest.mark.by_day("exit 41-41")
@pytest.mark.parametrize(("script", "code"), [("exit 0", 0), ("exit 41", 41), ("kill -KILL $$", 137)])
def test_the_exit_code_is_the_childs(script: str, code: int, faultwire: Faultwire, here: Path) -> None:
    assert faultwire("exec", "--allow-no-traffic", "--", "sh", "-c", script).returncode == code
    assert about(here)["exit_code"] == code
    assert about(here)["status"] == "finished"


@pytest.mark.nightly
def test_options_of_the_child_are_its_own(faultwire: Faultwire) -> None:
    done = faultwire("exec", "--allow-no-traffic", "sh", "-c", 'echo "$1"', "sh", "--seed")
    assert done.stdout == b"--seed\n"


@pytest.mark.cold
@pytest.mark.parametrize(
    "sent", [signal.SIGINT, signal.SIGTERM, pytest.param(signal.SIGHUP, marks=pytest.mark.nightly)]
)
def test_a_signal_for_us_ends_the_child_in_its_own_way(sent: signal.Signals, here: Path) -> None:
    script = (
        f"trap 'echo told; exit 43' {sent.name.removeprefix('SIG')}; echo ready; while :; do sleep 0.05; done"
    )
    command = [*COMMAND, "exec", "--allow-no-traffic", "--", "sh", "-c", script]
    with subprocess.Popen(command, cwd=here, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(sent)
        out, errors = process.communicate(timeout=60)
    assert out == b"told\n"
    assert process.returncode == 43
    assert b"ledger: " in errors


@pytest.mark.cold
@pytest.mark.parametrize("group", [True, False], ids=["at a terminal", "to us alone"])
def test_ctrl_c_before_any_traffic_is_an_interrupt_and_no_void_run(group: bool, here: Path) -> None:
    script = "echo ready; exec sleep 60"
    command = [*COMMAND, "exec", "--mock", "--", "sh", "-c", script]
    with subprocess.Popen(
        command, cwd=here, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        (os.killpg if group else os.kill)(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert about(here)["status"] == "interrupted"
    assert b"inconclusive" not in errors
    alone = [*COMMAND, "exec", "--mock", "--", "sh", "-c", "exit 0"]
    silent = subprocess.run(alone, cwd=here, capture_output=True, check=False)
    assert silent.returncode == 3, "the control: a command that sends nothing by itself"
    assert b"inconclusive" in silent.stderr


@pytest.mark.cold
def test_an_agent_that_its_user_ended_is_not_blamed_for_how_it_ended(here: Path) -> None:
    post = "curl --silent --fail --data {} https://api.openai.com/v1/chat/completions"
    script = f"trap 'exit 1' TERM; {post}; echo ready; while :; do sleep 0.05; done"
    options = ("--mock", "--fault", "status: {code: 503}")
    command = [*COMMAND, "exec", *options, "--", "sh", "-c", script]
    with subprocess.Popen(command, cwd=here, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 1
    assert b"faults     1 fired" in errors
    assert b"noticed" not in errors
    crashed = [*COMMAND, "exec", *options, "--", "sh", "-c", f"{post}; exit 1"]
    told = subprocess.run(crashed, cwd=here, capture_output=True, check=False).stderr
    assert b"the command exited with 1 after #1" in told, "the control"


def test_ctrl_c_at_a_terminal_reaches_the_child_once(here: Path) -> None:
    script = (
        "import signal, sys\n"
        "got = []\n"
        "signal.signal(signal.SIGINT, lambda *_: got.append(1))\n"
        "print('ready', flush=True)\n"
        "sys.stdin.readline()\n"
        "print('got', len(got), 'isatty', sys.stdin.isatty(), flush=True)\n"
        "sys.exit(44)\n"
    )
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(here)
        os.execv(
            sys.executable, [*COMMAND, "exec", "-q", "--allow-no-traffic", "--", sys.executable, "-c", script]
        )
    seen = _read_until(terminal, b"ready")
    os.write(terminal, b"\x03")
    seen += _read_until(terminal, b"^C")
    os.write(terminal, b"\n")
    seen += _read_until(terminal, b"isatty")
    _, status = os.waitpid(pid, 0)
    os.close(terminal)
    assert b"got 1 isatty True" in seen
    assert os.waitstatus_to_exitcode(status) == 44


def _read_until(terminal: int, word: bytes) -> bytes:
    seen = b""
    while word not in seen or not seen.endswith(b"\n"):
        if word == b"^C" and word in seen:
            break
        try:
            seen += os.read(terminal, 1024)
        except OSError as error:  # EIO: the other side is closed
            raise AssertionError(f"{word!r} never came: {seen!r}") from error
    return seen


# ---------------------------------------------------------------- what a run says


def test_a_fault_is_triggered_reported_and_repeated_by_the_same_seed(faultwire: Faultwire) -> None:
    first, second = (
        faultwire("exec", "--mock", "--fault", "status: {code: 503}", "--seed", "7", "--", *CURL)
        for _ in (1, 2)
    )
    assert first.stdout == b"503"
    assert re.search(rb"faults     1 fired\n  #1 llm  status: .+\n", first.stderr)
    ledger = re.search(rb"ledger: [0-9a-f]{64}\n", first.stderr)
    assert ledger is not None
    assert ledger[0] in second.stderr


@pytest.mark.nightly
def test_a_calm_run_has_another_ledger(faultwire: Faultwire) -> None:
    calm = faultwire("exec", "--mock", "--", *CURL)
    broken = faultwire("exec", "--mock", "--fault", "status: {code: 503}", "--", *CURL)
    assert calm.stdout == b"200"
    ledgers = [re.search(rb"ledger: (\S+)", done.stderr) for done in (calm, broken)]
    assert ledgers[0] is not None
    assert ledgers[1] is not None
    assert ledgers[0][1] != ledgers[1][1]


def test_the_tape_goes_where_record_says_and_verifies(faultwire: Faultwire, here: Path) -> None:
    done = faultwire("exec", "--mock", "--record", "first", "--", *CURL)
    assert done.returncode == 0
    tape = here / ".faultwire" / "tapes" / "first.tape"
    beside = sorted(path.name for path in tape.parent.iterdir())
    assert beside == ["first.tape", "first.tape.seal"]  # whole: no log of SQLite's beside it
    assert faultwire("tape", "verify", str(tape)).returncode == 0
    again = faultwire("exec", "--mock", "--record", "first", "--", *CURL)
    assert again.returncode == 2
    assert b"tape.exists: " in again.stderr


def test_a_planted_key_is_nowhere_on_disk(faultwire: Faultwire, here: Path) -> None:
    key = b"sk-proj-planted0123456789abcdefghijklmnop"
    command = [word.replace("any", key.decode()) for word in CURL]
    done = faultwire("exec", "--mock", "--", *command)
    assert done.returncode == 0
    files = [path for path in (here / ".faultwire").rglob("*") if path.is_file()]
    assert any(path.suffix == ".tape" for path in files)
    assert [path for path in files if key in path.read_bytes()] == []


def test_everything_written_is_for_its_owner_alone(faultwire: Faultwire, here: Path) -> None:
    faultwire("exec", "--allow-no-traffic", "--", "true")
    assert (here / ".faultwire").stat().st_mode & 0o777 == 0o700
    assert (here / ".faultwire" / ".gitignore").read_text() == "*\n"


@pytest.mark.nightly
def test_quiet_says_nothing(faultwire: Faultwire) -> None:
    done = faultwire("exec", "-q", "--allow-no-traffic", "--", "true")
    assert (done.stdout, done.stderr) == (b"", b"")


# ---------------------------------------------------------------- this machine


@pytest.mark.nightly
def test_a_private_server_is_refused_with_the_flag_that_allows_it(faultwire: Faultwire, server: str) -> None:
    refused = faultwire("exec", "--", "curl", "-sS", server)
    flag = re.search(rb"add `(--allow-host) ([^`]+)`", refused.stderr)
    assert flag is not None
    assert flag[0] in refused.stdout
    allowed = faultwire("exec", flag[1].decode(), flag[2].decode(), "--", "curl", "-sS", server)
    assert allowed.stdout == b"hello"
    assert b"refused" not in allowed.stderr


@pytest.mark.nightly
def test_localhost_allows_every_name_of_this_machine(faultwire: Faultwire, server: str) -> None:
    done = faultwire(
        "exec", "--allow-host", "localhost", "--", "curl", "-sS", server.replace("localhost", "127.0.0.1")
    )
    assert done.stdout == b"hello"


# ---------------------------------------------------------------- void


def test_without_traffic_the_run_is_void(faultwire: Faultwire, here: Path) -> None:
    done = faultwire("exec", "--", sys.executable, "-c", "print('done')")
    assert done.returncode == 3
    assert done.stdout == b"done\n"
    assert b"capture.no_traffic: " in done.stderr
    assert b"trust_env=True" in done.stderr  # what a Python program needs
    assert about(here)["status"] == "void"


@pytest.mark.nightly
def test_traffic_that_was_turned_away_is_reported(faultwire: Faultwire) -> None:
    """Without the proxy user nobody can tell whose traffic it is: it is refused, and missing."""
    stray = "curl -s -o /dev/null --proxytunnel -x http://${HTTPS_PROXY#*@} https://lost.test/"
    done = faultwire("exec", "--mock", "--", "sh", "-c", f"{stray}; {shlex.join(CURL)}")
    assert done.returncode == 0
    assert b"1 call to `lost.test` came without the session's proxy user" in done.stderr
    alone = faultwire("exec", "--", "sh", "-c", f"{stray}; true")
    assert alone.returncode == 3
    assert b"`lost.test`" in alone.stderr


def test_the_childs_own_failure_does_not_hide_that_the_run_is_void(faultwire: Faultwire) -> None:
    assert faultwire("exec", "--", "false").returncode == 3
    assert faultwire("exec", "--allow-no-traffic", "--", "false").returncode == 1


def test_an_engine_that_dies_voids_the_run(faultwire: Faultwire, here: Path) -> None:
    script = "kill -KILL $(sed -n 's/.*\"engine_pid\": \\([0-9]*\\).*/\\1/p' .faultwire/runs/*/run.json)"
    done = faultwire("exec", "--allow-no-traffic", "--", "sh", "-c", script)
    assert done.returncode == 3
    assert b"engine.lost: " in done.stderr
    assert about(here)["status"] == "void"


# ---------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["--profile", "api_outag", "--", "touch", "started"],
            rb"profile.not_found: .*\nhint: did you mean `api_outage`\?",
        ),
        (
            ["--profile", "bad.yaml", "--", "touch", "started"],
            rb"bad.yaml:3:5: profile.unknown_fault: .*\nhint: did you",
        ),
        (
            ["--fault", "latenc: {}", "--", "touch", "started"],
            rb"profile.unknown_fault: .*\nhint: did you mean `latency`\?",
        ),
        (["--", "no-such-program"], rb"agent.not_found: found no program `no-such-program`"),
        (
            ["--upstream-ca", "absent.pem", "--", "touch", "started"],
            rb"usage.file: found no file `absent.pem`",
        ),
        (["--listen", "nonsense", "--", "touch", "started"], rb"found `nonsense`, expected `HOST:PORT`"),
    ],
    ids=["profile", "fault-in-file", "fault", "program", "upstream-ca", "listen"],
)
def test_bad_input_exits_2_and_starts_nothing(
    arguments: list[str], said: bytes, faultwire: Faultwire, here: Path
) -> None:
    (here / "bad.yaml").write_text("name: bad\nfaults:\n  - ratelimit: {}\n")
    done = faultwire("exec", *arguments)
    assert done.returncode == 2
    assert re.search(said, done.stderr), done.stderr
    assert runs(here) == []
    assert not (here / "started").exists()


def test_a_taken_port_is_named(faultwire: Faultwire, here: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = faultwire("exec", "--listen", f"127.0.0.1:{port}", "--", "true")
    assert done.returncode == 2
    assert str(port).encode() in done.stderr
    assert runs(here) == []


@pytest.mark.nightly
def test_an_expired_authority_is_refused_and_renewed_by_the_command_it_names(
    faultwire: Faultwire, here: Path
) -> None:
    expire(here / ".faultwire" / "ca")
    done = faultwire("exec", "--allow-no-traffic", "--", "true")
    assert done.returncode == 2
    assert b"ca.expired: " in done.stderr
    assert b"`faultwire ca renew`" in done.stderr
    assert faultwire("ca", "renew").returncode == 0
    assert faultwire("exec", "--allow-no-traffic", "--", "true").returncode == 0


def expire(folder: Path) -> None:
    """Put an authority there that is ours in all but its age."""
    ca.ensure(folder)
    signer = ca.load_signer(folder)
    old = signer.certificate
    now = clock.utc_now()
    builder = (
        x509.CertificateBuilder()
        .subject_name(old.subject)
        .issuer_name(old.issuer)
        .public_key(old.public_key())
        .serial_number(old.serial_number)
        .not_valid_before(now - timedelta(days=15))
        .not_valid_after(now - timedelta(days=1))
    )
    for extension in old.extensions:
        builder = builder.add_extension(extension.value, extension.critical)
    pem = builder.sign(signer.key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
    secret = signer.key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.NoEncryption(),
    )
    (folder / "mitmproxy-ca.pem").write_bytes(secret + pem)
    (folder / "mitmproxy-ca-cert.pem").write_bytes(pem)
