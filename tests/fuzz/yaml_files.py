"""YAML: profiles and configurations load, or are refused in words, within a bound of time."""

from __future__ import annotations

import tempfile
import time
from functools import cache
from pathlib import Path

from hypothesis import strategies as st
from tests.fuzz.targets import Target, damaged
from tests.property import test_config

from faultwire.errors import UsageError
from faultwire.profile.load import parse
from faultwire.profile.yaml import read

LONGEST_S = 2.0
"""Seconds for one file; a busy machine is slow, a bomb is much slower."""
WORDS = (
    *(
        b"\n",
        b"  ",
        b": ",
        b"- ",
        b"{",
        b"}",
        b"[",
        b"]",
        b",",
        b"#",
        b"&a ",
        b"*a",
        b"<<: *a",
        b"? ",
        b"| ",
        b">\n",
    ),
    *(
        b"!!python/name:os.system ",
        b"!!binary ",
        b"!!set ",
        b"!x ",
        b"---\n",
        b"...\n",
        b"%YAML 1.1\n",
        b"'",
        b'"',
    ),
    *(b"\\x1b", b"\x1b[31m", b"\t", b"\x00", b"\xff", b"\xc2\x85", b"\xe2\x80\xa8", b"~", b"null", b"1e999"),
    *(b".nan", b"0o7", b"2001-01-01", b"1:30", b"{a: " * 40, b"[" * 60, b"9" * 400, b"${A}"),
    *(b"faults:\n  - latency: {ms: 1}\n", b"extends: api_outage\n"),
)
PROFILES = (
    b"faults:\n  - latency: {ms: 100, jitter_ms: 10}\n    on: {kind: llm, host: '*.openai.com'}\n"
    b"    trigger: {probability: 0.5, after_calls: 2, max_times: 3}\n  - rate_limit\n",
    b"name: x\ndescription: y\ntools: {search: {url: 'http://h/*'}}\nfaults:\n  - tool_error: {message: no}\n"
    b"    on: {tool: search}\n",
)
TEXTS = st.sampled_from([*PROFILES, *(text.encode() for text in test_config.TEXTS)])


@cache
def _folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="faultwire-fuzz-"))


def check(data: bytes) -> bool:
    """A profile and a configuration of these bytes; each loads, or names what is wrong and where."""
    began = time.process_time()
    taken = False
    for load in (read, parse):
        try:
            load(data, "f.yaml")
            taken = True
        except UsageError as error:
            refused = error
        else:
            continue
        assert refused.exit_code == 2
        assert refused.render().replace("\n", "").isprintable()
    test_config.understood(data, _folder())
    lasted = time.process_time() - began
    assert lasted < LONGEST_S, f"{lasted:.1f} s of CPU"
    return taken


YAML = Target("yaml", damaged(TEXTS, WORDS), check, batch=100)
