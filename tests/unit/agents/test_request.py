import io
import json
from base64 import b64decode
from urllib.parse import urlsplit

import pytest

from faultwire.agents._request import call, pieces
from faultwire.mutations._request import RequestChange

URL = urlsplit("http://u:p@localhost:8000/ask?a=1")
BODY = b'{"input": "hi"}'


def sent(change=None, body=BODY, **more):
    told = call("POST", URL, headers=(("content-type", "application/json"),), body=body, **more)
    return b"".join(pieces(told, change))


def split(data):
    head, _, body = data.partition(b"\r\n\r\n")
    line, *fields = head.decode("latin-1").split("\r\n")
    return line, [tuple(f.split(": ", 1)) for f in fields], body


def test_a_request_as_it_is():
    line, fields, body = split(sent(query=[("b", "x y&")]))
    assert line == "POST /ask?a=1&b=x+y%26 HTTP/1.1"
    assert dict(fields) == {
        "host": "localhost:8000",
        "content-type": "application/json",
        "accept": "*/*",
        "accept-encoding": "identity",
        "connection": "close",
        "authorization": "Basic dTpw",
        "content-length": "15",
    }
    assert body == BODY


def test_a_user_in_the_url_is_percent_decoded_and_gives_way_to_a_header():
    url = urlsplit("http://a%40b:c%3A@h/")
    told = dict(call("GET", url).headers)
    assert b64decode(told["authorization"].removeprefix("Basic ")) == b"a@b:c:"
    assert told["host"] == "h"
    own = call("GET", url, headers=(("Authorization", "Bearer k"),)).headers
    assert [value for name, value in own if name.lower() == "authorization"] == ["Bearer k"]


def test_a_user_may_name_host_and_accept():
    told = call("GET", urlsplit("https://h"), headers=(("Host", "other"), ("Accept", "text/plain")))
    assert (told.target, told.port, told.tls) == ("/", 443, True)
    line, fields, body = split(b"".join(pieces(told)))
    assert (line, body) == ("GET / HTTP/1.1", b"")
    assert [name.lower() for name, _ in fields] == ["host", "accept", "accept-encoding", "connection"]


def test_a_body_gets_a_length_whatever_the_method():
    told = call("DELETE", URL, body=b"x")
    assert ("content-length", "1") in split(b"".join(pieces(told)))[1]


def test_an_empty_change_changes_nothing():
    assert sent(RequestChange()) == sent()


def test_head_changes_stand_as_they_are():
    change = RequestChange(
        method="FOO",
        headers=(("x-role", "admin"), ("via", "x\r\nx-injected: 1"), ("host", "internal.invalid")),
        content_type="image/png; charset=x",
        query=(("q", "<script>"), ("q", "%00")),
        http_version="HTTP/0.9",
    )
    line, fields, body = split(sent(change))
    assert line == "FOO /ask?a=1&q=%3Cscript%3E&q=%2500 HTTP/0.9"
    assert ("content-type", "image/png; charset=x") in fields
    assert [value for name, value in fields if name == "host"] == ["localhost:8000", "internal.invalid"]
    assert ("x-injected", "1") in fields
    assert body == BODY


@pytest.mark.parametrize("size", [1, 4, 4096])
def test_chunks(size):
    change = RequestChange(chunk_bytes=size)
    told = call("POST", URL, body=BODY)
    parts = pieces(told, change)
    assert len(parts) == 2 + -(-len(BODY) // size)
    _, fields, body = split(b"".join(parts))
    assert ("transfer-encoding", "chunked") in fields
    assert "content-length" not in dict(fields)
    assert unchunked(body) == BODY


def unchunked(data):
    file, found = io.BytesIO(data), b""
    while size := int(file.readline(), 16):
        found += file.read(size)
        assert file.read(2) == b"\r\n"
    assert file.read() == b"\r\n"
    return found


def test_two_lengths():
    _, fields, _ = split(sent(RequestChange(chunk_bytes=5, both_lengths=True)))
    assert ("transfer-encoding", "chunked") in fields
    assert ("content-length", "15") in fields


def test_a_body_grows_by_members_and_stays_json():
    _, fields, body = split(sent(RequestChange(pad_bytes=1000, nested=50)))
    document = json.loads(body)
    assert document["input"] == "hi"
    assert document["padding"] == "x" * 1000
    depth, inner = 0, document["nested"]
    while inner:
        depth, inner = depth + 1, inner[0]
    assert depth == 49
    assert ("content-length", str(len(body))) in fields


def test_an_empty_object_gets_no_comma_and_other_bodies_get_white_space():
    assert json.loads(split(sent(RequestChange(pad_bytes=3), b" {} "))[2]) == {"padding": "xxx"}
    assert split(sent(RequestChange(pad_bytes=3), b"q=1"))[2] == b"q=1   "
    assert split(sent(RequestChange(nested=2), b"[1]"))[2] == b"[1][[]]"
    assert split(sent(RequestChange(nested=100_000), b"{}"))[2].count(b"[") == 100_000
