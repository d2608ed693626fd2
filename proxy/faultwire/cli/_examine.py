"""The checks of `faultwire doctor` and their findings."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from contextlib import contextmanager
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from faultwire.cli._findings import Finding as Finding
from faultwire.errors import FaultwireError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from faultwire.capture.bypass_watch import InvocationWatch
    from faultwire.capture.runtime import Runtime
    from faultwire.mitm.engine.client import SessionSummary
    from faultwire.runner.started_run import Run

PROBE_HOST = "api.openai.com"
PROBE_URL = f"https://{PROBE_HOST}/v1/models"
PROBE_TIMEOUT_S = 60
_PYTHON = f"import urllib.request as r; r.urlopen({PROBE_URL!r}).read()"
_FETCH = f"await (await fetch({PROBE_URL!r})).text()"
BYPASS = "bypass"
_NODE = f"fetch({PROBE_URL!r}).then((r) => r.text())"

PROBES: dict[str, tuple[str, ...]] = {
    "python3": ("python3", "-c", _PYTHON),
    "node": ("node", "-e", _NODE),
    "curl": ("curl", "--silent", "--show-error", PROBE_URL),
    "deno": ("deno", "eval", _FETCH),
    "bun": ("bun", "-e", _FETCH),
    "ruby": ("ruby", "-rnet/http", "-e", f"Net::HTTP.get(URI({PROBE_URL!r}))"),
}
"""By program, the smallest call that its own HTTP client makes; only the runtime itself is needed.
An answer with an error in it counts: what is asked is whether the call arrives and its TLS holds."""


UNPROBED = ("java", "go")
"""Runtimes in which no small call can be made without compiling something."""


FIXED = {"h2": ("4.3.0", "CVE-2025-57804"), "h11": ("0.16.0", "CVE-2025-43859")}
"""The first versions of mitmproxy's HTTP libraries without a flaw that lets malformed messages pass. The
newest mitmproxy for Python 3.11 pins older ones."""


def machine() -> list[Finding]:
    """Check versions, the CA, and the environment variables."""
    from faultwire._core import __version__

    versions = (
        f"{__version__}, Python {platform.python_version()}, mitmproxy {version('mitmproxy')}, "
        f"click {version('click')}"
    )
    return [
        Finding("ok", "faultwire", versions),
        _libraries(version),
        _authority(),
        *_environment(os.environ),
    ]


def _libraries(installed: Callable[[str], str]) -> Finding:
    """The HTTP libraries below mitmproxy, and the flaws that their versions are known for."""
    found = {name: installed(name) for name in FIXED}
    text = ", ".join(f"{name} {number}" for name, number in found.items())
    flawed = [
        f"{name} below {FIXED[name][0]} has {FIXED[name][1]}"
        for name, number in found.items()
        if _numbers(number) < _numbers(FIXED[name][0])
    ]
    if not flawed:
        return Finding("ok", "HTTP", text)
    return Finding("note", "HTTP", f"{text}: {', '.join(flawed)}; faultwire validates every head itself")


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".")[:3] if part.isdigit())


def _authority() -> Finding:
    from faultwire.mitm.network.ca import describe
    from faultwire.runner.folder import STATE

    try:
        found = describe(STATE / "ca")
    except FaultwireError as error:
        return Finding("fail", "CA", str(error), error.hint)
    if found is None:
        return Finding("ok", "CA", "none yet; the first run creates one")
    until = f"{found.not_after:%Y-%m-%d %H:%M} UTC"
    if found.expired:
        return Finding("fail", "CA", f"expired on {until}", "run `faultwire ca renew`")
    return Finding("ok", "CA", f"valid until {until}")


def _environment(environment: Mapping[str, str]) -> list[Finding]:
    from faultwire.mitm.network.upstream_proxy import from_environment

    findings = []
    try:
        proxies = from_environment(environment)
    except FaultwireError as error:
        return [Finding("fail", "environment", str(error), error.hint)]
    if proxies is not None:
        through = ", ".join(proxies.urls)
        text = f"faultwire calls servers through {through}; the agent gets faultwire's own proxy"
        hint = "a server that is to be called directly belongs into `NO_PROXY`"
        findings.append(Finding("note", "environment", text, hint))
    excepted = sorted(name for name in environment if name.lower() == "no_proxy")
    if excepted:
        use = "; faultwire calls directly what it names" if proxies is not None else ""
        text = f"{', '.join(excepted)} is set; it is not passed to the agent{use}"
        findings.append(Finding("note", "environment", text))
    return findings


def capture(listen: str) -> list[Finding]:
    """Start a proxy in front of the mock, and make a call through it from every runtime found."""
    from faultwire.runner.launch import LaunchSettings, start_run

    findings: list[Finding] = []
    try:
        with start_run(LaunchSettings("doctor", listen=listen, mock=True)) as run:
            findings.append(Finding("ok", "proxy", f"listens on {run.engine.host}:{run.engine.port}"))
            for name, probe in PROBES.items():
                if shutil.which(name):
                    findings.append(_probed(run, name, probe))
            findings += [_unprobed(name) for name in UNPROBED if shutil.which(name)]
            findings += native_path(run.engine.stats())
            run.folder.end("finished")
    except FaultwireError as error:
        findings.append(Finding("fail", "proxy", str(error), error.hint))
    return findings


def native_path(stats: Mapping[str, Any]) -> list[Finding]:
    """What an engine says of the native path where its self-tests left it a slower way."""
    from faultwire.mitm.native.ways import WAYS

    text = WAYS.get(stats["native_path"], "")
    return [Finding("note", "native path", text, "it is slower, and does the same")] if text else []


def _probed(run: Run, name: str, probe: Sequence[str]) -> Finding:
    from faultwire.capture.runtime import needs, recognise
    from faultwire.profile.model import Profile

    environment = run.open_session(name, Profile(name="calm"), 0)
    stderr_line = _last_stderr_line(probe, environment)
    run.close_session(name)
    arrived = [e for e in run.history(name).exchanges if e.request.host == PROBE_HOST]
    if arrived:
        return Finding("ok", name, "uses the proxy and trusts its CA")
    return Finding(
        "fail",
        name,
        f"its call did not arrive{f': {stderr_line}' if stderr_line else ''}",
        needs(recognise(probe)),
    )


def _last_stderr_line(probe: Sequence[str], environment: Mapping[str, str]) -> str:
    try:
        done = subprocess.run(
            probe,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PROBE_TIMEOUT_S,
        )
    except subprocess.TimeoutExpired:
        return f"it did not end within {PROBE_TIMEOUT_S} s"
    lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
    return lines[-1][:200] if lines else ""


def _unprobed(name: str) -> Finding:
    from faultwire.capture.runtime import recognise

    tried = {"java": "captured by JAVA_TOOL_OPTIONS", "go": "captured by HTTPS_PROXY and SSL_CERT_FILE"}[name]
    hint = "Go never sends localhost traffic through a proxy" if recognise([name]) == "go" else None
    return Finding("ok", name, f"{tried}; try yours with `faultwire doctor -- CMD`", hint)


def command(words: Sequence[str], *, listen: str, allow_hosts: tuple[str, ...]) -> list[Finding]:
    """Run a command once without faults and list its traffic through the proxy. Its stdout goes to stderr."""
    from faultwire.capture import child
    from faultwire.capture.bypass_watch import BypassWatch
    from faultwire.capture.runtime import needs, recognise
    from faultwire.capture.trust import needed
    from faultwire.cli import _arrivals
    from faultwire.events import past
    from faultwire.profile.model import Profile
    from faultwire.runner.launch import LaunchSettings, start_run

    child.find(words, os.environ)
    watch = BypassWatch().watch()
    runtime = recognise(words)
    findings = [Finding("ok", "runtime", runtime)]
    with start_run(LaunchSettings("doctor", listen=listen, allow_hosts=allow_hosts)) as run:
        environment = run.open_session("doctor", Profile(name="calm"), 0)
        with stdout_to_stderr():
            code = child.shell_code(child.run(words, environment, watch))
        closed = run.close_session("doctor", watch.found, watch.more)
        history, notes = run.history("doctor"), (*closed.notes, *run.engine.notes())
        run.folder.end("finished", exit_code=code)
    findings.append(Finding("ok" if code == 0 else "note", "exit code", str(code)))
    findings += _arrivals.arrivals(history)
    findings += bypasses(closed, watch, runtime)
    findings += [Finding("fail", "TLS", one.text, needed(one, words)) for one in closed.handshakes]
    reported = {past(closed.bypassed, closed.bypassed_more), *explained_handshakes(closed)}
    findings += [Finding("note", "traffic", note) for note in notes if note not in reported]
    findings += [Finding("fail", "proxy", why) for why in closed.voids if why not in reported]
    if not history.exchanges and not closed.handshakes:
        findings.append(Finding("fail", "traffic", "no traffic came through the proxy", needs(runtime)))
    return findings


def explained_handshakes(closed: SessionSummary) -> tuple[str, ...]:
    """What the notes say of handshakes that clients gave up."""
    from faultwire.capture.trust import explained

    return explained([one.text for one in closed.handshakes], closed.handshakes)


def bypasses(closed: SessionSummary, watch: InvocationWatch, runtime: Runtime) -> list[Finding]:
    """Traffic past the proxy, processes that could not be watched, or a note that none was seen."""
    from faultwire.capture.bypass import is_loopback
    from faultwire.capture.runtime import needs
    from faultwire.events import past

    far = tuple(one for one in closed.bypassed if not is_loopback(one.address))
    near = tuple(one for one in closed.bypassed if is_loopback(one.address))
    more = closed.bypassed_more
    findings = []
    if far or (more and not near):
        findings.append(Finding("fail", BYPASS, past(far, more), needs(runtime)))
    if near:
        findings.append(Finding("note", BYPASS, past(near, 0 if far else more), needs(runtime)))
    if watch.unread:
        count = len(watch.unread)
        why = "it belongs to another user" if count == 1 else "they belong to another user"
        findings.append(Finding("note", BYPASS, f"{count} of its processes cannot be watched: {why}"))
    if watch.blind is not None:
        findings.append(Finding("note", BYPASS, f"cannot be watched here: {watch.blind}"))
    elif not findings:
        looks = f"{watch.looks} {'look' if watch.looks == 1 else 'looks'}"
        findings.append(
            Finding("ok", BYPASS, f"no traffic past the proxy was seen in {looks}; this is not a proof")
        )
    return findings


@contextmanager
def stdout_to_stderr() -> Iterator[None]:
    """Redirect stdout to stderr: stdout carries the findings only."""
    sys.stdout.flush()
    saved = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        os.dup2(saved, 1)
        os.close(saved)
