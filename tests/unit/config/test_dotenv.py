"""`faultwire.config.dotenv`: variables beside a configuration, whatever else is in the file."""

from __future__ import annotations

import os
import re

import pytest
from hypothesis import given, strategies as st

from faultwire.config import dotenv
from faultwire.errors import ConfigError


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("A=1", {"A": "1"}),
        ("export A=1\nB = two words  \n", {"A": "1", "B": "two words"}),
        ("A=1 # why\nB=a#b\nC=#x\n", {"A": "1", "B": "a#b", "C": "#x"}),
        ("A= # why\nB=\t#x\nC='#x'\n", {"A": "", "B": "", "C": "#x"}),
        ('A=\'$B \\n\'\nB="x\\ny\\t\\"\\$\\\\" # z', {"A": "$B \\n", "B": 'x\ny\t"\\$\\'}),
        ('KEY="-----BEGIN\nabc\n-----END"\nA=1', {"KEY": "-----BEGIN\nabc\n-----END", "A": "1"}),
        ("A=1\r\nB=2\r\n", {"A": "1", "B": "2"}),
        ("A=1\nA=2", {"A": "2"}),
        ("A=", {"A": ""}),
        ("A=${B}`id`$(id)", {"A": "${B}`id`$(id)"}),
        ("A=a=b==", {"A": "a=b=="}),
        ("A='it\\'s'\nB='a\\\\b'\nC=\"C:\\dir\"", {"A": "it's", "B": "a\\b", "C": "C:\\dir"}),
        ("'A'=1\rB=2\r", {"A": "1", "B": "2"}),
        ("\ufeff\ufeffA=1", {"A": "1"}),
        ("\n# only\n  # comments\n", {}),
    ],
)
def test_lines(text, found):
    assert dotenv.parse(text) == (found, [])


@pytest.mark.parametrize(
    ("text", "found", "unread"),
    [
        ("A B\nC=1", {"C": "1"}, [1]),
        ("1A=2\nB=1", {"B": "1"}, [1]),
        ('A="open\nB=1', {"B": "1"}, [1]),
        ("A='x' y\nB=1", {"B": "1"}, [1]),
        ("A=x\0y\nB=1", {"B": "1"}, [1]),
        ("B=1\n\n=x\n", {"B": "1"}, [3]),
        ("A B\r\nB=1\r\n\r\n=x\r\n?", {"B": "1"}, [1, 4, 5]),
        ("A\nexport C\nB=1", {"B": "1"}, [1, 2]),
        ("A-B=1\nB=1", {"B": "1"}, [1]),
        ("A='C:\\'\nB=1", {"B": "1"}, [1]),
        ('A="open\nB="x"\nC=1', {"B": "x", "C": "1"}, [1]),
        ("B=1\n\ufeff?\n\ufeffC=1\n?", {"B": "1"}, [2, 3, 4]),
    ],
)
def test_invalid_lines_are_skipped(text, found, unread):
    assert dotenv.parse(text) == (found, unread)


def test_a_file_is_read_and_a_strange_line_named_but_not_shown(tmp_path):
    path = tmp_path / ".env"
    path.write_bytes(b"\xef\xbb\xbfA=1\nsecret stuff\n")
    found, told = dotenv.read(path)
    assert found == {"A": "1"}
    assert told == (f"{path}:2: this line is not `NAME=value` and is ignored",)


def test_a_missing_file_gives_no_variables(tmp_path):
    assert dotenv.read(tmp_path / ".env") == ({}, ())
    (tmp_path / ".env").mkdir()
    assert dotenv.read(tmp_path / ".env") == ({}, ())


def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / ".env")
    assert dotenv.read(tmp_path / ".env") == ({}, ())


@pytest.mark.parametrize(
    ("data", "said"),
    [(b"A=1\nB=\xff", "found byte 0xff, expected UTF-8"), (b"#" * 300_000, "found more than 256000 bytes")],
)
def test_what_cannot_be_read_is_refused(tmp_path, data, said):
    path = tmp_path / ".env"
    path.write_bytes(data)
    with pytest.raises(ConfigError, match=said) as caught:
        dotenv.read(path)
    assert caught.value.exit_code == 2


@given(st.text(max_size=80) | st.text(alphabet="A=\"'#\\\n\r $x", max_size=40))
def test_any_text(text):
    found, unread = dotenv.parse(text)
    assert all("\0" not in value for value in found.values())
    assert unread == sorted(set(unread))
    assert all(1 <= line <= len(re.findall("\r\n|\r|\n", text)) + 1 for line in unread)
